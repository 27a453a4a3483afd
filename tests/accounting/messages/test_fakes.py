"""Fakes per bucket: against sums over all counts, and the least noise that is known."""

import itertools
import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, poisson

from shuffledp import InvalidInput, ShufflerDummies, shuffle
from shuffledp.accounting.messages.fakes import BucketDummies
from shuffledp.errors import LARGEST_EPSILON
from shuffledp.judge import hockey_stick
from tests.accounting.messages.enclosed import above_exact, below_exact, both_orders
from tests.oracle.views import dummies_view

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


def exact_rounds(weights: list[int], keep: Fraction, rounds: int, x: Fraction) -> Fraction:
    """delta of two buckets over so many rounds, in fractions: by every view."""
    without = [Fraction(each, sum(weights)) for each in (*weights, 0)]
    held = [keep * one + (1 - keep) * two for one, two in zip([Fraction(0), *without], without, strict=False)]
    views = [(a * d, c * b) for (a, c), (b, d) in itertools.product(zip(held, without, strict=True), repeat=2)]
    whole = {Fraction(1): Fraction(1)}  # how likely a ratio is under the first law; those that are infinite come last
    for _ in range(rounds):
        more: dict[Fraction, Fraction] = {}
        for (ratio, likely), (one, two) in itertools.product(whole.items(), views):
            if one and two:
                more[ratio * one / two] = more.get(ratio * one / two, Fraction(0)) + likely * one
        whole = more
    finite = sum((likely * max(1 - x / ratio, Fraction(0)) for ratio, likely in whole.items()), Fraction(0))
    return finite + 1 - sum(whole.values(), Fraction(0))


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_losses_of_rounds_are_rounded_down(rounds: int) -> None:
    rng = np.random.default_rng(rounds)
    for trial in range(12):
        weights = [1, 3, 9, 3, 1][trial % 3 :] if trial % 2 else [*rng.integers(0, 9, 4).tolist(), 1]
        keep = Fraction(1) if trial % 4 else Fraction(3, 5)
        pair = BucketDummies("any", np.array(weights) / sum(weights), float(keep))
        for spacing in (math.log(3.0) / 4.0, 0.013):
            composed = pair.repeated(rounds, spacing)
            assert composed is not None
            for epsilon in (0.0, 0.3, math.log(3.0), 2.0):
                exact = float(exact_rounds(weights, keep, rounds, Fraction(math.exp(epsilon))))
                lower = float(composed.deltas(np.array([epsilon]), "lower")[0])
                assert lower <= exact * (1.0 + 1e-12)
                if trial % 2 and keep == 1 and spacing > 0.1:  # all losses lie on the grid
                    assert lower == pytest.approx(exact, rel=1e-6)


def test_the_lower_end_of_rounds_of_dummies_is_next_to_the_upper_one() -> None:
    law = ShufflerDummies(k=6, center=51, left=0.8, right=0.8)
    for rounds in (2, 3, 13):  # over two rounds it was 0: only what is seen for certain is left
        lower, upper = shuffle(law, n=3000).compose(rounds).delta(epsilon=1.0)
        assert upper * (1.0 - 1e-5) < lower <= upper
    shown = shuffle(ShufflerDummies(k=6, center=20, left=0.8, right=0.8), n=3000)
    assert shown.compose(3).epsilon_at_least(delta=1e-4) == shown.epsilon_at_least(delta=1e-4) == LARGEST_EPSILON


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
