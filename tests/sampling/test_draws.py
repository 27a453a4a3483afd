"""Draws are exact: enumerate every word, or script the words that settle ties."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from shuffledp.errors import InvalidInput
from shuffledp.sampling import WORD, Table, bernoulli, choice, smallest_dtype, source_of, uniform
from tests.sampling.fake import Scripted

ALL_16 = list(range(1 << 16))


@pytest.mark.parametrize("high", [0, 1, 7, 40_000, 65_535])
@pytest.mark.parametrize("low", [0, 1, 2**47, 2**48 - 1])
def test_a_coin_is_exact_over_all_words(high: int, low: int) -> None:
    """All first words once; the one that ties is settled by 48 further bits, just below and just at
    the threshold's.
    """
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
    """Feed all 2^16 words: every value is kept equally often, and the rejected words are fewer than
    k.
    """
    rejected = (1 << 16) % k
    drawn = uniform(Scripted(("u2", ALL_16), ("u2", [ALL_16[-1]] * rejected)), k, 1 << 16)
    counts = np.bincount(drawn, minlength=k)
    counts[k - 1] -= rejected  # drawn again, from a word that is kept for the last value
    assert np.all(counts == (1 << 16) // k)
    assert drawn.dtype == np.uint8


@pytest.mark.parametrize("k", [257, 1000, 65_537, 10**6, (1 << 32) - 5])
def test_numbers_below_a_large_k_keep_equally_many_words_for_every_value(k: int) -> None:
    """Around each border between values, of those tried: the words kept for value v number
    floor(2^32 / k) exactly.
    """
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
    counts = np.bincount(choice(source_of(np.random.default_rng(8)), weights, 10**6), minlength=4)
    assert stats.chisquare(counts, np.array([float(w) for w in weights]) / WORD * 10**6).pvalue > 1e-6


def test_weights_must_be_whole_and_sum_to_a_power_of_the_word() -> None:
    for wrong in ([1, 2], [WORD + 1, -1], [], [1 << 65]):
        with pytest.raises(InvalidInput, match="weights must be whole numbers"):
            Table(wrong)
