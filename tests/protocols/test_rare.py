"""Where noise is rare, intervals still contain their estimate and cover."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from shuffledp import Poll
from shuffledp.mechanisms.estimate import combine
from shuffledp.mechanisms.exact_limits import Votes
from shuffledp.protocols import Estimate
from tests.protocols.simulation import coins, counts_of, ends

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
    averages = [combine([poll.analyse_counts(each) for each in three]) for three in rounds]
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
