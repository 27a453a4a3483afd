"""Counts by +1 and -1: against all that a handful of people may send, and the least flood that is
known.
"""

import math

import numpy as np
import pytest
from scipy.stats import nbinom, poisson

from shuffledp import InvalidInput
from shuffledp.accounting.messages.reductions import Inexact
from shuffledp.accounting.messages.sums import Pairs, signed_pair
from tests.accounting.messages.enclosed import above_exact, below_exact, both_orders
from tests.oracle.views import signed_share, signed_view

ONE = np.array([1.0])


def cut(chances: np.ndarray) -> tuple[list[float], float]:
    """A law that is never beyond the last entry, which is nothing instead; and what that changes."""
    beyond = 1.0 - float(chances.sum())
    return [float(chances[0]) + beyond, *chances[1:].tolist()], beyond


def test_people_by_all_that_they_may_send() -> None:
    rng = np.random.default_rng(8)
    for _ in range(25):
        honest, t = int(rng.integers(1, 3)), float(rng.choice([1.0, 0.4, 1.7]))
        ratio, mean, epsilon = float(rng.uniform(0.05, 0.3)), float(rng.uniform(0.1, 1.0)), float(rng.uniform(0.0, 3.0))
        noise, missing = cut(nbinom.pmf(np.arange(7), t / honest, 1.0 - ratio))
        flood, more = cut(poisson.pmf(np.arange(6), mean / honest))
        share = signed_share(noise, flood)
        others = [1] * int(rng.integers(0, 2)) + [0] * (honest - 1)
        one, two = (signed_view([target, *others], share, honest) for target in (1, 0))
        curve = Inexact.of(signed_pair(t, ratio, Pairs(mean)), honest * (2.0 * missing + more))
        for exact, pair in zip(both_orders(one, two, epsilon), (curve, curve.swapped()), strict=True):
            below_exact([pair], exact, epsilon)
            above_exact([pair], exact, epsilon)


def test_the_closed_form_is_the_sum_along_diagonals() -> None:
    epsilons = np.array([0.0, 0.3, 0.9, 1.0, 1.5])
    for pairs in (Pairs(20.0), Pairs(20.0, 0.8)):
        closed, summed = (signed_pair(t, 0.5, pairs) for t in (1.0, 1.0 + 1e-13))
        for one, two in ((closed, summed), (closed.swapped(), summed.swapped())):
            for (low, high), (least, most) in zip(
                np.transpose(one.bounds(epsilons)), np.transpose(two.bounds(epsilons)), strict=True
            ):
                assert low <= most * (1.0 + 1e-9)
                assert least <= high * (1.0 + 1e-9)
                assert most - least <= 1e-8 * most + 1e-27


@pytest.mark.parametrize(
    ("ratio", "pairs"), [(0.4, Pairs(0.0)), (0.4, Pairs(1.0)), (0.999, Pairs(1000.0)), (0.9, Pairs(3.0, 0.5))]
)
def test_nothing_is_left_out_however_slowly_the_noise_falls(ratio: float, pairs: Pairs) -> None:
    curve = signed_pair(1.0, ratio, pairs)
    assert curve.first.sum() == pytest.approx(1.0, abs=1e-10)
    assert curve.second.sum() == pytest.approx(1.0, abs=1e-10)


def test_without_pairs_a_count_is_known_from_one_sign() -> None:
    """One sign's number is a geometric one, moved by 1; the other says nothing."""
    curve, epsilon = signed_pair(1.0, 0.4, Pairs(0.0)), 0.3
    chances = 0.6 * 0.4 ** np.arange(200.0)
    more = {(j + 1,): chance for j, chance in enumerate(chances.tolist())}
    for exact, pair in zip(
        both_orders(more, {(j,): chance for j, chance in enumerate(chances.tolist())}, epsilon),
        (curve, curve.swapped()),
        strict=True,
    ):
        below_exact([pair], exact, epsilon)
        above_exact([pair], exact, epsilon)


def test_pairs_enough() -> None:
    """(1, 1e-6) with a deviation of 1.520, where a curator's is 1.357."""
    ratio = math.exp(-0.9)
    assert math.sqrt(2.0 * ratio) / (1.0 - ratio) == pytest.approx(1.520, abs=1e-3)
    assert math.sqrt(2.0 * math.exp(-1.0)) / (1.0 - math.exp(-1.0)) == pytest.approx(1.357, abs=1e-3)
    for kind, enough in ((math.exp(-0.05), 300.0), (0.0, 1348.0)):
        curve, fewer = (signed_pair(1.0, ratio, Pairs(mean, kind)) for mean in (enough, 0.99 * enough))
        assert max(pair.bounds(ONE)[1][0] for pair in (curve, curve.swapped())) < 1e-6
        assert fewer.swapped().bounds(ONE)[0][0] > 1e-6


def test_more_people_hide_more_and_fewer_less() -> None:
    deltas = [signed_pair(t, math.exp(-0.9), Pairs(300.0 * t)).swapped().bounds(ONE)[1][0] for t in (0.8, 1.0, 1.3)]
    assert deltas[0] > deltas[1] > deltas[2]


def test_what_would_take_too_long_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must be complete"):
        signed_pair(0.5, math.exp(-1e-3), Pairs(1e6))
