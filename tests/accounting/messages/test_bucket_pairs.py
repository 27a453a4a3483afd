"""Fakes per bucket: against sums over all counts, and the least noise that is known."""

import math
import tracemalloc

import numpy as np
import pytest
from scipy.stats import binom, poisson

from shuffledp import InvalidInput
from shuffledp.accounting.messages.bucket_pairs import BucketDummies
from shuffledp.literature.exact import hockey_stick
from shuffledp.literature.exact.message_views import dummies_view
from tests.accounting.messages.enclosed import above_exact, below_exact, both_orders

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


def test_a_coin_for_every_dummy_needs_148_of_them() -> None:
    assert (
        BucketDummies.binomial(148, 0.5).bounds(ONE)[1][0] < 1e-6 < BucketDummies.binomial(146, 0.5).bounds(ONE)[0][0]
    )


@pytest.mark.parametrize("others", [0, 1])
def test_randomized_reports_by_all_that_may_be_seen(others: int) -> None:
    rng = np.random.default_rng(5)
    for _ in range(15):
        k, epsilon0 = int(rng.integers(2, 4)), float(rng.uniform(0.3, 4.0))
        chances, keep = rng.dirichlet(np.ones(int(rng.integers(2, 5)))), float(rng.choice([1.0, 0.6]))
        truth, epsilon = 1.0 / (1.0 + (k - 1) * math.exp(-epsilon0)), float(rng.uniform(0.0, 0.9)) * epsilon0
        views = [dummies_view([target] + [k - 1] * others, k, chances, keep, truth) for target in (0, 1)]
        curve = BucketDummies("any", chances, keep).randomized(k, epsilon0)
        for exact in both_orders(*views, epsilon):
            above_exact([curve], exact, epsilon)
            if not others:
                below_exact([curve], exact, epsilon)


def test_two_sided_geometric_noise_is_as_good_as_a_curators() -> None:
    dummies = BucketDummies.geometric(25, math.exp(-0.5), math.exp(-0.5))
    assert dummies.bounds(ONE)[1][0] < 1e-6
    assert math.sqrt(dummies.variance) == pytest.approx(2.80, abs=0.01)


def test_rare_dummies_at_the_largest_epsilon() -> None:
    lower, upper = BucketDummies("rare", np.array([1.0 - 1e-10, 1e-10])).bounds(np.array([700.0]))
    assert 0.99 < lower[0] <= upper[0] <= 1.0


def test_bad_input_is_refused() -> None:
    for build in (
        lambda: BucketDummies.poisson(-1.0),
        lambda: BucketDummies.poisson(1e14),
        lambda: BucketDummies.binomial(10, 0.5, keep=0.0),
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
