"""Intervals cover as often as they say where votes are few, where noise is rare, and where people
share it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, nbinom

from shuffledp import KRR, Poll
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.mechanisms.exact_limits import Votes, noise_above, noise_reach
from shuffledp.mechanisms.rows import Weighted, widest_gap
from tests.mechanisms.simulation import coins, counts_of, ends, grid_counts


@pytest.mark.parametrize(
    ("n", "k", "epsilon0", "size", "held"),
    [(20, 4, 2.0, 2, 4), (30, 4, 1.0, 2, 15), (50, 4, 3.0, 2, 10), (30, 6, 0.5, 1, 0), (30, 6, 1.0, 1, 15)],
)
def test_a_limit_of_few_votes_is_missed_no_more_often_than_it_says(
    n: int, k: int, epsilon0: float, size: int, held: int
) -> None:
    """By adding up every number of votes. The score test alone misses 7.5 to 8.5 % of these."""
    law = KRR(k=k, epsilon0=epsilon0).group_law(size, n)
    chances = np.convolve(
        binom.pmf(np.arange(held + 1), held, law.hit), binom.pmf(np.arange(n - held + 1), n - held, law.miss)
    )
    rows = coins(np.arange(n + 1), n, *law[:3])
    for tail in (0.025, 0.0025):
        low, high = ends(rows, tail)
        assert chances[low > held].sum() <= tail
        assert chances[high < held].sum() <= tail


def test_without_half_a_vote_the_same_limits_are_missed() -> None:
    """The control: what the test above would find."""
    law = KRR(k=4, epsilon0=2.0).group_law(2, 20)
    values = law.estimate(np.arange(21.0), 20)
    held = np.clip(values, 0.0, 20)
    base = law.variance(held, 20)
    own, other = (chance * (1.0 - chance) for chance in law[:2])
    thirds = (own * (1.0 - 2.0 * law.hit), other * (1.0 - 2.0 * law.miss))
    skew = (held * thirds[0] + (20 - held) * thirds[1]) / ((held * own + (20 - held) * other) * law.contrast)
    low, high = ends(Weighted(values, np.sqrt(base), base, np.zeros(21), skew), 0.025)
    chances = np.convolve(binom.pmf(np.arange(5), 4, law.hit), binom.pmf(np.arange(17), 16, law.miss))
    assert chances[(low > 4) | (high < 4)].sum() > 0.08


def test_a_mean_with_hardly_a_random_report_is_covered_by_a_bound() -> None:
    """Of 100 reports on a grid of 40 steps 0.2 are random: most collections hold none, and do not
    tell how far off one would be. A normal law misses 8 %.
    """
    law = KRR.from_gamma(k=41, gamma=0.002)
    survey = Poll("mean", n=100, k=40, epsilon0=law.epsilon0)
    drawn = grid_counts(law, [(0.0, 50), (1.0, 50)], np.random.default_rng(2), 1000)
    ends, back = np.unique(drawn, axis=0, return_inverse=True)
    limits = [survey.analyse_counts(each).interval() for each in ends]
    missed = np.array([not low[0] <= 0.5 <= high[0] for low, high in limits])[back.ravel()].mean()
    assert missed < 0.05


def test_the_grain_of_an_estimate_is_the_widest_gap_between_weights() -> None:
    assert widest_gap(np.array([[0.0, 1.0, 1.0], [2.0, 2.0, 2.0]])).tolist() == [1.0, 0.0]


def test_votes_of_many_people_are_as_good_as_continuous() -> None:
    law = KRR(k=4, epsilon0=2.0)
    held = np.array([40_000, 30_000, 20_000, 10_000])
    missed = np.zeros(4)
    for votes in counts_of(law, held, np.random.default_rng(5), 2000):
        low, high = ends(coins(votes, 100_000, law.hit, law.miss, law.contrast), 0.025)
        missed += (low > held) | (high < held)
    error = math.sqrt(0.05 * 0.95 / 2000)
    assert np.all(np.abs(missed / 2000 - 0.05) < 6.0 * error)


N = 1000


def law_of(n: int, hit: float, miss: float, held: int) -> NDArray[np.float64]:
    """The exact law of how many reports support a value, up to far beyond what happens."""
    return np.convolve(binom.pmf(np.arange(held + 1), held, hit), binom.pmf(np.arange(120), n - held, miss))


@pytest.mark.parametrize("stray", [1e-3, 0.01, 0.3, 1.0, 2.9])
@pytest.mark.parametrize("hit", [0.5, 0.99, 1.0 - 1e-6])
def test_a_support_that_hardly_strays_is_covered_at_every_level_and_count(stray: float, hit: float) -> None:
    for held in (0, 1, 3, 10, 40):
        law = law_of(N, hit, stray / N, held)
        rows = coins(np.arange(len(law)), N, hit, stray / N)
        values = rows.values
        for tail in (0.025, 1e-4):
            low, high = ends(rows, tail)
            missed = law[(low > held) | (held > high)].sum()
            assert missed <= (2.0 * tail if held <= 10 else 2.5 * tail)
            assert np.all((low <= values) & (values <= high))


def test_exact_limits_are_the_first_counts_that_a_test_does_not_reject() -> None:
    seen, tail = np.array([0, 4, 60, 90]), 0.025
    low, high = Votes(100, 0.9, 0.02).limits(seen, tail)
    for place, value in enumerate(seen):
        above = [law_of(100, 0.9, 0.02, held)[value:].sum() for held in range(101)]
        below = [law_of(100, 0.9, 0.02, held)[: value + 1].sum() for held in range(101)]
        assert low[place] == min(held for held in range(101) if above[held] > tail)
        assert high[place] == max(held for held in range(101) if below[held] > tail)


def test_the_interval_of_a_nearly_noiseless_histogram_contains_its_estimate() -> None:
    estimate = Poll("histogram", categories=4, n=N, epsilon0=12.0).analyse_counts([900, 90, 10, 0])
    for low, high in (estimate.interval(), estimate.simultaneous(0.999)):
        assert np.all((low <= estimate.values) & (estimate.values <= high))
        assert np.all((low <= [900, 90, 10, 0]) & (high >= [900, 90, 10, 0]))
        assert np.all(high - low < 10.0)


@pytest.mark.long
def test_the_average_of_nearly_noiseless_rounds_covers() -> None:
    poll, truth = Poll("histogram", categories=4, n=N, epsilon0=8.0, rounds=3), np.array([900, 90, 10, 0])
    rounds = counts_of(poll.randomizer, truth, np.random.default_rng(4), 1500).reshape(500, 3, 4)
    averages = [poll.analyse_counts(*three) for three in rounds]
    for level in (0.95, 0.999):
        covered = []
        for average in averages:
            low, high = average.interval(level)
            assert np.all((low <= average.values) & (average.values <= high))
            covered.append((low <= truth) & (truth <= high))
        assert np.all(np.mean(covered, axis=0) >= level - 0.02)


def estimates_of(words: Poll, truth: NDArray[np.int64], repetitions: int) -> list[Estimate]:
    people, rng = np.repeat(np.arange(len(truth)), truth), np.random.default_rng(6)
    return [words.analyse(words.shuffle(words.encode(people, rng=rng))) for _ in range(repetitions)]


@pytest.mark.long
@pytest.mark.parametrize("mechanism", ["hadamard", "hash", "subset", "oue"])
def test_common_rare_and_absent_values_of_a_large_domain_are_covered_together(mechanism: str) -> None:
    truth = np.array([600, 300, 90, 10, *[0] * 16])
    words = Poll("histogram", categories=20, n=N, epsilon0=9.0, mechanism=mechanism)  # type: ignore[arg-type]
    estimates = estimates_of(words, truth, 400)
    together = [np.all((low <= truth) & (truth <= high)) for low, high in (each.simultaneous() for each in estimates)]
    assert np.mean(together) > 0.93
    assert all(
        np.all((low <= each.values) & (each.values <= high)) for each in estimates for low, high in (each.interval(),)
    )


def test_hadamard_standard_errors_hold_for_rare_values_too() -> None:
    truth = np.array([600, 300, 90, 10, *[0] * 16])
    words = Poll("histogram", categories=20, mechanism="hadamard", n=N, epsilon0=6.97)
    stated = np.mean([each.stderr for each in estimates_of(words, truth, 200)], axis=0)
    np.testing.assert_allclose(stated, words.predicted_stderrs(truth), rtol=0.05)


@pytest.mark.parametrize("k", [200, 40_000])
def test_hadamard_reports_of_a_single_block_that_fills_their_type_are_analysed(k: int) -> None:
    words = Poll("histogram", categories=k, mechanism="hadamard", n=50, epsilon0=0.5)
    columns = words.randomizer.block_count * words.randomizer.block_size
    assert columns == 1 << (8 * words.shuffle(np.zeros(50, dtype=f"u{1 if k == 200 else 2}")).rows.dtype.itemsize)
    estimate = words.analyse(words.shuffle(np.arange(50, dtype=f"u{1 if k == 200 else 2}")))
    assert np.all(np.isfinite(estimate.stderr))


@pytest.mark.parametrize("shape", [0.5, 1.0, 1.3, 4.0])
@pytest.mark.parametrize("ratio", [0.3, 0.9])
def test_the_law_is_that_of_the_difference(shape: float, ratio: float) -> None:
    above = noise_above(shape, ratio)
    one = nbinom.pmf(np.arange(600), shape, 1.0 - ratio)
    for steps in (0, 1, 2, 5, 20):
        exact = float(one @ nbinom.sf(np.arange(600) + steps - 1, shape, 1.0 - ratio))
        assert exact <= above[steps] <= exact + 1e-12


def test_complete_noise_is_discrete_laplace() -> None:
    q = 0.8
    assert noise_above(1.0, q)[1:20] == pytest.approx([q**j / (1.0 + q) for j in range(1, 20)], abs=1e-13)


@pytest.mark.parametrize("tail", [0.3, 0.025, 1e-4, 1e-9])
def test_limits_without_rounding_are_exact(tail: float) -> None:
    q = 0.8
    far = int(noise_reach(1.0, q, 0, tail))
    assert q ** (far + 1) / (1.0 + q) <= tail < max(q**far / (1.0 + q), tail * 1.0001)


@pytest.mark.parametrize("shape", [1.0, 1.4])
def test_limits_with_rounding_cover_by_enumeration(shape: float) -> None:
    """Ten numbers at p between two points: noise and rounding together, exactly, for every p."""
    q, people = 0.7, 10
    chances = nbinom.pmf(np.arange(300), shape, 1.0 - q)
    noise = np.convolve(chances, chances[::-1])  # -299, ..., 299
    for tail in (0.1, 0.025, 1e-3):
        far = noise_reach(shape, q, people, tail)
        for p in np.linspace(0.0, 0.95, 20):
            ups = [math.comb(people, j) * p**j * (1.0 - p) ** (people - j) for j in range(people + 1)]
            total = np.convolve(noise, ups)
            off = np.arange(len(total)) - 299 - people * p
            assert total[off > far].sum() <= tail
            assert total[off < -far].sum() <= tail
