"""The best lone reports: no encoding of the package errs less, and the errors are those of laws."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from shuffledp import Poll
from shuffledp.mechanisms.baselines import _below_errors, _hybrid, counts_alone, number_alone
from shuffledp.mechanisms.one_message import strongest
from shuffledp.randomizers import KRR, OLH, OUE, RAPPOR, Hadamard, SubsetSelection

PROMISE: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}


def test_a_thousand_values_are_not_compared_with_randomized_response() -> None:
    """The issue's numbers: 192 and not 1,842; "9.0 times smaller" is 7.0."""
    found = counts_alone(1000, n=10_000, **PROMISE)
    assert (found.name, round(found.error)) == ("subset selection, sets of 269", 192)
    weak = KRR(k=1000, epsilon0=strongest(KRR, (("k", 1000),), 1, 1.0, 1e-6, 1)).count_variance(np.full(1000, 10.0))
    assert round(math.sqrt(float(np.mean(weak)))) == 1842
    thirteen = {"categories": range(13), "n": 1000}
    shuffled = Poll("histogram", **thirteen, **PROMISE).predicted_stderr()
    assert counts_alone(13, n=1000, **PROMISE).error / shuffled == pytest.approx(7.0, abs=0.05)
    assert Poll("histogram", **thirteen, **PROMISE, honest=1).predicted_stderr() / shuffled == pytest.approx(
        9.0, abs=0.05
    )


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 6.0])
def test_no_encoding_of_the_package_errs_less(epsilon: float, rounds: int) -> None:
    """Of sets, the size is rounded, which costs less than a thousandth."""
    for k in (2, 3, 5, 6, 12, 40, 500) if rounds == 1 else (6, 40):
        found = counts_alone(k, n=2000, epsilon=epsilon, delta=1e-6, rounds=rounds)
        for family in (KRR, SubsetSelection, OUE, RAPPOR, OLH, Hadamard):
            noise = strongest(family, (("k", k),), 1, epsilon, 1e-6, rounds)
            variance = family(k=k, epsilon0=noise).count_variance(np.full(k, 2000.0 / k))
            assert found.error <= 1.001 * math.sqrt(float(np.mean(variance))), (family, k)


@pytest.mark.parametrize(("k", "size"), [(2, 1), (5, 1), (6, 2), (6, 4)])
def test_counts_below_cut_points_from_sets_of_bins(k: int, size: int) -> None:
    """Every set with its probability."""
    law = SubsetSelection(k=k, epsilon0=1.2, size=size)
    sets = list(itertools.combinations(range(k), size))
    own, worst, even = math.exp(1.2), 0.0, 0.0
    for cut in range(1, k):
        each = []
        for value in range(k):
            chances = np.array([own if value in one else 1.0 for one in sets])
            votes = np.array([sum(each < cut for each in one) for one in sets])
            chances /= chances.sum()
            each.append((chances @ votes**2 - (chances @ votes) ** 2) / law.contrast**2)
        worst, even = max(worst, *each), max(even, float(np.mean(each)))
    assert _below_errors(law, 100) == pytest.approx((10 * math.sqrt(even), 10 * math.sqrt(worst)), rel=1e-9)


@pytest.mark.parametrize("number", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("epsilon0", [0.7, 1.0, 4.0])
def test_the_hybrid_mechanism_by_its_density(epsilon0: float, number: float) -> None:
    """Piecewise with probability 1 - e^(-epsilon0/2), else one bit: unbiased, and the same variance
    for all numbers.
    """
    x, root = 2.0 * number - 1.0, math.exp(epsilon0 / 2.0)
    far = (root + 1.0) / (root - 1.0)
    low = (far + 1.0) / 2.0 * x - (far - 1.0) / 2.0
    inside = (root**2 - root) / (2.0 * root + 2.0)

    def moment(power: int) -> float:
        pieces = (
            (-far, low, inside / root**2),
            (low, low + far - 1.0, inside),
            (low + far - 1.0, far, inside / root**2),
        )
        piecewise = sum(height * quad(lambda y: y**power, first, last)[0] for first, last, height in pieces)
        bit = 1.0 / math.tanh(epsilon0 / 2.0)
        up = 0.5 + x / (2.0 * bit)
        return (1.0 - 1.0 / root) * piecewise + (up * bit**power + (1.0 - up) * (-bit) ** power) / root

    assert moment(0) == pytest.approx(1.0)
    assert moment(1) == pytest.approx(x, abs=1e-9)
    assert _hybrid(epsilon0) == pytest.approx(math.sqrt(moment(2) - x**2) / 2.0)


def test_numbers_are_reported_alone_in_the_best_of_three_ways() -> None:
    names = {epsilon: number_alone(1.0, n=100, epsilon=epsilon, delta=1e-6).name for epsilon in (0.3, 1.0, 3.0, 12.0)}
    grid = "randomized response on a grid"
    assert names == {0.3: grid, 1.0: "hybrid mechanism", 3.0: grid, 12.0: grid}
    for epsilon in names:
        weak = Poll("mean", n=100, honest=1, epsilon=epsilon, delta=1e-6).predicted_stderr()
        assert number_alone(0.01, n=100, epsilon=epsilon, delta=1e-6).error <= weak * (1.0 + 1e-12)
