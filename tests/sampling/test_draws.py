"""Draws are exact: enumerate every word, or script the words that settle ties."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from shuffledp.errors import InvalidInput
from shuffledp.sampling import WORD, SeededSource, Table, bernoulli, smallest_dtype, source_of, uniform
from shuffledp.sampling.draws import (
    FEW,
    exp_at_most,
    flip_threshold,
    implied_ratio,
    log_at_least,
    mixing_threshold,
    permutation,
)
from shuffledp.sampling.tables import discrete_gaussian, discrete_laplace
from tests.sampling.enumerated import laws
from tests.sampling.fake import Scripted

ALL_16 = list(range(1 << 16))


@pytest.mark.parametrize("high", [0, 1, 7, 40_000, 65_535])
@pytest.mark.parametrize("low", [0, 1, 2**47, 2**48 - 1])
def test_a_coin_is_exact_over_all_words(high: int, low: int) -> None:
    """All first words once; the one that ties takes 48 bits, just below and at the threshold."""
    threshold = (high << 48) + low
    for later, wins in ((low - 1, True), (low, False)):
        if later < 0:
            continue
        script = [("u2", ALL_16)] + ([("u8", [later << 16 | 0xFFFF])] if low else [])
        coins = bernoulli(Scripted(*script), threshold, 1 << 16)
        assert coins.sum() == high + (wins and low > 0)


def test_a_coin_at_the_ends_is_certain() -> None:
    assert not bernoulli(source_of(None), 0, 100_000).any()
    assert bernoulli(source_of(None), WORD, 100_000).all()
    for wrong in (-1, WORD + 1):
        with pytest.raises(InvalidInput, match="probability times"):
            bernoulli(source_of(None), wrong, 1)


def test_a_coin_looks_at_all_64_bits() -> None:
    """Threshold 1: only the word 0 wins."""
    coins = bernoulli(Scripted(("u2", [0, 0, 1]), ("u8", [0xFFFF, 1 << 16])), 1, 3)
    assert coins.tolist() == [True, False, False]


@pytest.mark.parametrize("k", [3, 5, 100, 255, 254, 129])
def test_numbers_below_a_small_k_are_exactly_uniform(k: int) -> None:
    """All 2^16 words: every value is kept equally often; fewer than k are rejected."""
    rejected = (1 << 16) % k
    drawn = uniform(Scripted(("u2", ALL_16), ("u2", [ALL_16[-1]] * rejected)), k, 1 << 16)
    counts = np.bincount(drawn, minlength=k)
    counts[k - 1] -= rejected  # drawn again, from a word that is kept for the last value
    assert np.all(counts == (1 << 16) // k)
    assert drawn.dtype == np.uint8


@pytest.mark.parametrize("k", [257, 1000, 65_537, 10**6, (1 << 32) - 5])
def test_numbers_below_a_large_k_keep_equally_many_words_for_every_value(k: int) -> None:
    """Around borders between values: floor(2^32 / k) words are kept for each, exactly."""
    each = (1 << 32) // k
    for v in {0, 1, k // 3, k - 2, k - 1}:
        first = -(-(v << 32) // k)  # the least word whose product reaches v 2^32
        last = -(-((v + 1) << 32) // k) - 1
        words = [first, *range(first, min(first + 3, last)), *range(max(last - 3, first), last + 1)]
        kept = [w for w in set(words) if (w * k) % (1 << 32) >= (1 << 32) % k]
        lost = sum(1 for w in (first, last) if (w * k) % (1 << 32) < (1 << 32) % k)
        assert last - first + 1 - lost == each
        assert uniform(Scripted(("u4", sorted(kept))), k, len(kept)).tolist() == [v] * len(kept)


@pytest.mark.parametrize("k", [2, 16, 256, 512, 1 << 16, 1 << 20, 1 << 40])
def test_powers_of_two_mask_bits(k: int) -> None:
    kind = smallest_dtype(k)
    words = [0, 1, k - 1, 2 ** (8 * kind.itemsize) - 1]
    assert uniform(Scripted((kind.str, words)), k, 4).tolist() == [word % k for word in words]


@pytest.mark.parametrize("k", [1, (1 << 32) + 1, (1 << 63) + 1, WORD - 1, WORD])
def test_any_k_up_to_the_word_stays_in_range(k: int) -> None:
    drawn = uniform(source_of(np.random.default_rng(3)), k, 10_000)
    assert int(drawn.max()) < k
    assert stats.kstest(drawn / k, "uniform").pvalue > 1e-6 if k > 1 else not drawn.any()


def test_a_k_of_zero_is_refused() -> None:
    with pytest.raises(InvalidInput, match="k must be from 1"):
        uniform(source_of(None), 0, 1)


def test_a_table_gives_every_value_the_words_it_owns() -> None:
    """Borders in the middle of a 16-bit bucket, at its edges, and empty values."""
    weights = [0, 5 << 48, (1 << 48) + 17, 0, (1 << 47) + 3, 0]
    weights[-2] += WORD - sum(weights)
    ends = np.cumsum([Fraction(w) for w in weights])
    probes = sorted({int(end) + step for end in ends for step in (-1, 0, 1) if 0 <= end + step < WORD} | {0, WORD - 1})
    table = Table(weights)
    for word in probes:
        owner = sum(end <= word for end in ends)
        script = Scripted(("u2", [word >> 48]), ("u8", [(word << 16) % WORD]))
        assert table.draw(script, 1).tolist() == [owner], word


def test_a_wide_table_looks_at_further_words_only_where_the_first_meets_a_border() -> None:
    border = (9 << 112) + (5 << 64) + 77
    table = Table([border, WORD**2 - border])
    first, rest = 9, 5 << 16
    assert table.draw(Scripted(("u2", [8])), 1).tolist() == [0]
    assert table.draw(Scripted(("u2", [first]), ("u8", [4 << 16])), 1).tolist() == [0]
    assert table.draw(Scripted(("u2", [first]), ("u8", [rest]), ("u8", [76])), 1).tolist() == [0]
    assert table.draw(Scripted(("u2", [first]), ("u8", [rest]), ("u8", [77])), 1).tolist() == [1]
    assert table.draw(Scripted(("u2", [first]), ("u8", [6 << 16])), 1).tolist() == [1]


def test_choice_has_the_law_of_its_weights() -> None:
    weights = [1 << 60, 3 << 60, 1 << 63, 1 << 62]
    counts = np.bincount(Table(weights).draw(source_of(np.random.default_rng(8)), 10**6), minlength=4)
    assert stats.chisquare(counts, np.array([float(w) for w in weights]) / WORD * 10**6).pvalue > 1e-6


def test_weights_must_be_whole_and_sum_to_a_power_of_the_word() -> None:
    for wrong in ([1, 2], [WORD + 1, -1], [], [1 << 65]):
        with pytest.raises(InvalidInput, match="weights must be whole numbers"):
            Table(wrong)


EPSILONS = st.floats(1e-6, 50.0)


def _log(ratio: Fraction) -> mpmath.mpf:
    with mpmath.workdps(120):
        return mpmath.log(mpmath.mpf(ratio.numerator) / mpmath.mpf(ratio.denominator))


@given(st.integers(1, WORD), st.integers(0, WORD))
def test_a_logarithm_is_rounded_up_by_less_than_one_step(denominator: int, excess: int) -> None:
    ratio = 1 + Fraction(excess, denominator)
    above = log_at_least(ratio)
    exact = _log(ratio)
    assert mpmath.mpf(above) >= exact
    assert excess == 0 or mpmath.mpf(math.nextafter(above, 0.0)) < exact


@given(st.floats(-60.0, 60.0))
def test_an_exponential_is_just_below(exponent: float) -> None:
    with mpmath.workdps(120):
        below, exact = exp_at_most(Fraction(exponent)), mpmath.exp(mpmath.mpf(exponent))
        relative = 1 - mpmath.mpf(below.numerator) / mpmath.mpf(below.denominator) / exact
        assert 0 < relative < mpmath.mpf(10) ** -55


@given(EPSILONS, st.integers(2, 10**6))
def test_one_coin_gives_at_most_the_epsilon0_asked_for_and_one_word_less_gives_more(epsilon0: float, k: int) -> None:
    share = Fraction(1, k)
    threshold, implied = mixing_threshold(epsilon0, share)
    assert 1 <= threshold <= WORD
    assert implied <= epsilon0
    assert implied == log_at_least(implied_ratio(threshold, share))
    assert threshold == 1 or threshold == WORD or _log(implied_ratio(threshold - 1, share)) > implied
    assert mixing_threshold(implied, share) == (threshold, implied) or implied == 0.0


@given(EPSILONS, st.sampled_from([1, 2]))
def test_flipped_bits_give_at_most_the_epsilon0_asked_for(epsilon0: float, bits: int) -> None:
    threshold, implied = flip_threshold(epsilon0, bits)
    assert implied <= epsilon0
    assert implied == log_at_least(Fraction(WORD - threshold, threshold) ** bits)
    assert flip_threshold(implied, bits) == (threshold, implied)


def test_more_than_64_bits_of_epsilon0_become_one_word() -> None:
    threshold, implied = mixing_threshold(50.0, Fraction(1, 2))
    assert threshold == 1
    assert implied == pytest.approx(math.log(2.0**65), rel=1e-12)


@pytest.mark.parametrize("reach", [40, 400])
def test_a_laplace_table_is_symmetric_complete_and_geometric(reach: int) -> None:
    exponent = Fraction(1, 10)
    weights = discrete_laplace(exponent, reach)
    total = sum(weights)
    assert weights == weights[::-1]
    assert total & (total - 1) == 0
    assert total.bit_length() % 64 == 1
    assert min(weights) >= WORD
    middle, factor = reach, exp_at_most(exponent, 100)
    for j in range(middle + 1, 2 * reach - 1):
        assert abs(Fraction(weights[j], weights[j + 1]) / factor - 1) < Fraction(1, 1 << 60)
    with mpmath.workdps(60):
        ideal = mpmath.tanh(mpmath.mpf(1) / 20)
        assert abs(mpmath.mpf(weights[middle]) / total / ideal - 1) < 1e-18
        assert (
            abs(
                mpmath.mpf(weights[0])
                / total
                * (1 + mpmath.exp(mpmath.mpf(-1) / 10))
                * mpmath.exp(mpmath.mpf(reach) / 10)
                - 1
            )
            < 1e-17
        )


def test_a_gaussian_table_is_the_discrete_gaussian_weight_by_weight() -> None:
    variance, reach = Fraction(100), 120
    weights = discrete_gaussian(variance, reach)
    total = sum(weights)
    assert weights == weights[::-1]
    with mpmath.workdps(80):
        whole = mpmath.nsum(lambda j: mpmath.exp(-(j**2) / mpmath.mpf(200)), [-mpmath.inf, mpmath.inf])
        for j in range(reach):
            ideal = mpmath.exp(-(mpmath.mpf(j) ** 2) / 200) / whole
            assert abs(mpmath.mpf(weights[reach + j]) / total / ideal - 1) < 1e-17


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_all_orders_of_few_have_exactly_the_same_probability(n: int) -> None:
    """Keys of two bits: most tie and are drawn anew; of four people, not followed further."""
    law, left = laws(
        lambda source: tuple(permutation(source, n).tolist()),
        {"u8": [j << 62 for j in range(4)]},
        most_words=2 * n if n < 4 else n,
    )
    assert set(law) == set(permutations(range(n)))
    assert len(set(law.values())) == 1
    assert sum(law.values(), Fraction(0)) + left == 1
    assert left < 1


def test_many_are_ordered_by_a_digit_and_then_within_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shuffledp.sampling.draws.FEW", 2)
    words = {"u1": [0, 255], "u8": [0, 1 << 63]}
    law, left = laws(lambda source: tuple(permutation(source, 3).tolist()), words, most_words=10)
    assert set(law) == set(permutations(range(3)))
    assert len(set(law.values())) == 1
    assert left < Fraction(1, 2)


@pytest.mark.parametrize("n", [FEW - 1, FEW, FEW + 1, 300_000])
def test_an_order_holds_everybody_once(n: int) -> None:
    assert np.array_equal(np.sort(permutation(source_of(None), n)), np.arange(n))


def test_places_are_uniform_and_neighbours_part() -> None:
    """100,000 people: where each tenth ends up, and how often neighbors stay neighbors."""
    n = 100_000
    order = permutation(SeededSource(np.random.default_rng(5)), n)
    table = np.histogram2d(order, np.arange(n), bins=10)[0]
    assert stats.chisquare(table.ravel(), ddof=18).pvalue > 1e-3
    assert np.count_nonzero(np.abs(np.diff(order)) == 1) < 12  # Poisson with mean 2


def test_orders_of_five_are_uniform_with_real_words() -> None:
    source = SeededSource(np.random.default_rng(6))
    seen = Counter(tuple(permutation(source, 5).tolist()) for _ in range(12_000))
    assert len(seen) == 120
    assert stats.chisquare(list(seen.values())).pvalue > 1e-3
