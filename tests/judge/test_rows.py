"""Limits from definitions against the closed forms that reports are made of."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shuffledp import KRR, Hadamard, Poll
from shuffledp.accounting.analytic_gaussian import sigma
from shuffledp.judge.laws import CountedLaw
from shuffledp.judge.reports import counted
from shuffledp.judge.rows import counted_groups, counted_mean, counts, signed_counts
from shuffledp.randomizers import UserFakes
from shuffledp.randomizers.law_file import law_of
from shuffledp.verify.check_comparison import _sigma
from tests.mechanisms.simulation import coins, ends, rows_of_votes

TAILS = (0.025, 0.0005)


@settings(deadline=None, max_examples=40)
@given(votes=st.lists(st.integers(0, 400), min_size=1, max_size=5), k=st.integers(2, 40), epsilon0=st.floats(0.2, 9.0))
def test_limits_of_counts_agree_with_the_estimator(votes: list[int], k: int, epsilon0: float) -> None:
    randomizer, n = KRR(k=k, epsilon0=epsilon0), 400
    rows = coins(votes, n, randomizer.hit, randomizer.miss, randomizer.contrast)
    values = rows.values
    law = CountedLaw.of(law_of(randomizer))
    mine, errors, limits = counts(votes, n, law.hit, law.miss)
    assert np.allclose(mine, values, rtol=1e-9, atol=1e-9)
    assert np.allclose(errors, rows.stderr, rtol=1e-9)
    for tail in TAILS:
        for found, theirs in zip(limits(tail), ends(rows, tail), strict=True):
            assert np.all(np.abs(found - theirs) <= 1e-6 * errors + 1e-9)


@pytest.mark.parametrize(
    ("n", "votes", "hit", "miss"),
    [
        (
            3_000_000,
            2_999_980,
            Fraction(99_999, 100_000),
            Fraction(1, 2),
        ),  # hashing: nearly all votes, half of them stray
        (10**9, 10**9 - 3, 1 - Fraction(9, 10**18), Fraction(1, 10**18)),  # hardly a stray vote in a billion
    ],
    ids=["many strays", "no strays"],
)
def test_limits_agree_where_nearly_everybody_votes(n: int, votes: int, hit: Fraction, miss: Fraction) -> None:
    """Those who do not are counted: a sum over a million strays overflowed, or was too long."""
    rows = coins([votes], n, float(hit), float(miss), float(hit - miss))
    *_, limits = counts([votes], n, hit, miss)
    for tail in TAILS:
        low, high = ends(rows, tail)
        assert np.allclose(limits(tail), (low, high), rtol=0.0, atol=1e-6)
        assert high[0] - low[0] < 60.0


@pytest.mark.parametrize(
    ("people", "votes", "tail"), [(5000, 2908, 0.025), (5000, 5300, 0.0005), (200_000, 120_000, 0.025)]
)
def test_limits_of_many_strays_among_fakes_agree_to_the_person(people: int, votes: int, tail: float) -> None:
    """One side was a series: honest pages failed; the other counted strays from 0 on."""
    law = UserFakes(k=2, slots=2, chance=0.3, epsilon0=1.0)
    rows = rows_of_votes(law, np.array([votes, 0]), people).at([0])
    *_, limits = counted_groups([votes], 1, people, counted(law_of(law)))
    assert np.array_equal(limits(tail), ends(rows, tail))


def test_a_tie_between_two_kinds_of_limits_is_settled_alike() -> None:
    """200 votes vary by 50 but for 1e-13; 0.2 % of 1,000 random reports are 2 but for the last digits."""
    coin = KRR(k=2, epsilon0=1e-7)
    rows = coins([100], 200, coin.hit, coin.miss, coin.contrast)
    counted = CountedLaw.of(law_of(coin))
    *_, limits = counts([100], 200, counted.hit, counted.miss)
    assert np.allclose(limits(0.025), ends(rows, 0.025), rtol=1e-6)
    for gamma in (0.002, 0.002 - 1e-18, 0.002 + 1e-18):
        law, seen = KRR.from_gamma(k=41, gamma=gamma), np.full(41, 24) + 16 * (np.arange(41) == 0)
        claimed = Poll("mean", n=1000, randomizer=law).analyse_counts(seen).interval()
        found = counted_mean(seen.tolist(), CountedLaw.of(law_of(law)), (0.0, 1.0))
        assert np.allclose(found.limits(0.025), claimed, rtol=1e-9)


@settings(deadline=None, max_examples=20)
@given(k=st.integers(2, 60), epsilon0=st.floats(0.3, 7.0), seed=st.integers(0, 1000), n=st.sampled_from([3, 40, 500]))
def test_limits_of_signed_votes_agree_with_the_estimator(k: int, epsilon0: float, seed: int, n: int) -> None:
    randomizer, rng = Hadamard(k=k, epsilon0=epsilon0), np.random.default_rng(seed)
    reports = randomizer.randomize(rng.integers(0, min(k, 3), n), rng=rng)
    votes, blocks = (
        randomizer.supports(reports),
        np.bincount(reports.astype(np.intp) // randomizer.block_size, minlength=randomizer.block_count),
    )
    rows = rows_of_votes(randomizer, votes, n, blocks)
    mine, errors, limits = signed_counts(
        votes.tolist(), blocks.tolist(), list(range(k)), n, CountedLaw.of(law_of(randomizer))
    )
    assert np.allclose(mine, rows.values, rtol=1e-9, atol=1e-9)
    assert np.allclose(errors, rows.stderr, rtol=1e-9, atol=1e-9)
    for tail in TAILS:
        for found, theirs in zip(limits(tail), ends(rows, tail), strict=True):
            assert np.all(np.abs(found - theirs) <= 1e-6 * errors + 1e-9)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 5.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_the_gaussian_noise_is_the_analytic_one(epsilon: float, delta: float) -> None:
    assert _sigma(epsilon, delta) == pytest.approx(sigma(epsilon=epsilon, delta=delta), rel=1e-9)
