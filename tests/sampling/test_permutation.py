"""Every order is equally likely: by enumerating all words where people are few, by counting where
they are many.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from shuffledp.sampling import SeededSource, source_of
from shuffledp.sampling.draws import FEW, permutation
from tests.sampling.enumerated import laws


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_all_orders_of_few_have_exactly_the_same_probability(n: int) -> None:
    """Keys of two bits: most tie, and all of those are drawn anew; of four people, where that
    begins the same again, not followed further.
    """
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
    """100,000 people: where each tenth of them ends up, and how often neighbours stay neighbours (2
    / n of them, on average).
    """
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
