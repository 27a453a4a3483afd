"""Fake reports: against sums over all counts, and the least noise that is known."""

import math
import tracemalloc

import numpy as np
import pytest
from scipy.stats import binom, poisson

from shuffledp import InvalidInput
from shuffledp.accounting.dummies import BucketDummies, fake_users, uniform_fakes
from shuffledp.literature.exact import hockey_stick

ONE = np.array([1.0])


def product(chances: np.ndarray, keep: float, epsilon: float) -> float:
    """delta of two buckets, by all pairs of counts."""
    without = np.append(chances, 0.0)
    held = keep * np.append(0.0, chances) + (1.0 - keep) * without
    return hockey_stick(np.outer(held, without).ravel(), np.outer(without, held).ravel(), epsilon)


@pytest.mark.parametrize("keep", [1.0, 0.6])
def test_two_buckets_are_added_up(keep: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        chances, epsilon = rng.dirichlet(np.ones(int(rng.integers(1, 8)))), float(rng.uniform(0.0, 2.0))
        (lower,), (upper,) = BucketDummies("any", chances, keep).bounds(np.array([epsilon]))
        exact = product(chances, keep, epsilon)
        assert lower <= exact * (1.0 + 1e-12)
        assert exact <= upper * (1.0 + 1e-12)
        assert upper - lower < 1e-11


def test_laws_are_those_of_scipy() -> None:
    counts = np.arange(60)
    for dummies, chances in (
        (BucketDummies.poisson(5.0, keep=0.7), poisson.pmf(counts, 5.0)),
        (BucketDummies.binomial(40, 0.3, keep=0.7), binom.pmf(counts, 40, 0.3)),
    ):
        assert dummies.bounds(ONE)[1][0] == pytest.approx(product(chances, 0.7, 1.0), rel=1e-9)


@pytest.mark.parametrize(("rate", "delta"), [(42.7, 1e-6), (82.2, 1e-10)])
def test_the_least_rate(rate: float, delta: float) -> None:
    assert BucketDummies.poisson(rate).bounds(ONE)[1][0] < delta < BucketDummies.poisson(rate - 0.1).bounds(ONE)[0][0]


def test_two_sided_geometric_noise_is_as_good_as_a_curators() -> None:
    dummies = BucketDummies.geometric(25, math.exp(-0.5), math.exp(-0.5))
    assert dummies.bounds(ONE)[1][0] < 1e-6
    assert math.sqrt(dummies.variance) == pytest.approx(2.80, abs=0.01)


def test_uniform_fakes_by_all_counts() -> None:
    buckets, fakes, chance, epsilon = 4, 6, 0.5, 0.4
    share = chance / buckets
    laws: list[dict[tuple[int, int], float]] = [{}, {}]
    for a in range(fakes + 1):
        for b in range(fakes + 1 - a):
            ways = math.factorial(fakes) / (math.factorial(a) * math.factorial(b) * math.factorial(fakes - a - b))
            mass = ways * share ** (a + b) * (1.0 - 2.0 * share) ** (fakes - a - b)
            laws[0][a + 1, b] = laws[1][a, b + 1] = mass
    (lower,), (upper,) = uniform_fakes(buckets, fakes, chance).bounds(np.array([epsilon]))
    exact = hockey_stick(laws[0], laws[1], epsilon)
    assert lower <= exact * (1.0 + 1e-12)
    assert exact <= upper * (1.0 + 1e-12)


def test_fake_users_need_little_noise() -> None:
    (lower,), (upper,) = fake_users(10_000, 0.00428).bounds(ONE)
    assert lower <= upper < 1e-6
    assert math.sqrt(2.0 * 10_000 * 0.00428 * (1.0 - 0.00428)) < 9.24


def test_bad_input_is_refused() -> None:
    for build in (
        lambda: BucketDummies.poisson(-1.0),
        lambda: BucketDummies.poisson(1e14),
        lambda: BucketDummies.binomial(10, 0.5, keep=0.0),
        lambda: fake_users(10, 0.7),
        lambda: uniform_fakes(1, 10, 0.5),
    ):
        with pytest.raises(InvalidInput):
            build()


def test_too_many_counts_are_refused_before_they_are_listed() -> None:
    tracemalloc.start()
    with pytest.raises(InvalidInput, match="at most 2,000,000 counts"):
        BucketDummies.poisson(1e14)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e6
