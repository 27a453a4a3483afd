"""Integer tables of counts are the laws that they are named after, to 2^-60."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from shuffledp.errors import InvalidInput
from shuffledp.sampling import WORD, source_of
from shuffledp.sampling.tables import CountTable, geometric_table, poisson_table


def check(table: CountTable) -> None:
    assert sum(table.weights) == WORD
    assert table.weights[0] > 0
    assert table.weights[-1] > 0
    assert table.first >= 0
    counts = np.arange(table.first, table.last + 1)
    assert float(table.mean) == pytest.approx(float(table.chances @ counts), rel=1e-12)
    assert float(table.variance) == pytest.approx(
        float(table.chances @ (counts - float(table.mean)) ** 2), rel=1e-9, abs=1e-15
    )


@given(st.floats(1e-9, 3000.0))
def test_poisson(mean: float) -> None:
    table = poisson_table(mean)
    check(table)
    counts = np.arange(table.first, table.last + 1)
    np.testing.assert_allclose(table.chances, stats.poisson.pmf(counts, mean), rtol=1e-10, atol=1e-18)
    assert stats.poisson.cdf(table.first - 1, mean) + stats.poisson.sf(table.last, mean) < 1e-18


@given(st.floats(1e-6, 20.0), st.integers(1, 30))
def test_poisson_that_is_cut_counts_what_is_beyond_at_its_end(mean: float, most: int) -> None:
    table = poisson_table(mean, most)
    check(table)
    assert table.last <= most
    whole = poisson_table(mean)
    for count in range(most):
        inside = whole.first <= count <= whole.last
        mine = table.weights[count - table.first] if table.first <= count <= table.last else 0
        assert abs(mine - (whole.weights[count - whole.first] if inside else 0)) <= len(whole.weights)


@given(st.integers(0, 60), st.floats(0.0, 0.9), st.floats(0.0, 0.9))
def test_geometric(center: int, left: float, right: float) -> None:
    table = geometric_table(center, left, right)
    check(table)
    counts = np.arange(table.first, table.last + 1)
    steps = np.where(counts < center, np.power(left, np.maximum(center - counts, 0)), 0.0)
    steps += np.where(counts >= center, np.power(right, np.maximum(counts - center, 0)), 0.0)
    total = sum(left**step for step in range(1, center + 1)) + 1.0 / (1.0 - right)
    np.testing.assert_allclose(table.chances, steps / total, rtol=1e-9, atol=1e-18)


def test_mean_and_variance_are_exact() -> None:
    table = CountTable(5, (WORD // 2, WORD // 4, WORD // 4))
    assert table.mean == 5 + Fraction(3, 4)
    assert table.variance == Fraction(1, 4) + 1 - Fraction(9, 16)


def test_draws_follow_the_table() -> None:
    table = geometric_table(4, 0.5, 0.7)
    drawn = table.sampler.draw(source_of(np.random.default_rng(3)), 200_000)
    seen = np.bincount(drawn, minlength=len(table.weights))[:20]
    expected = 200_000 * table.chances[:20]
    assert stats.chi2.sf(float(((seen - expected) ** 2 / expected).sum()), 19) > 1e-6


@pytest.mark.parametrize("make", [lambda: poisson_table(1e9), lambda: geometric_table(10, math.exp(-1e-3), 0.5)])
def test_tables_that_are_too_long_are_refused(make: object) -> None:
    with pytest.raises(InvalidInput, match="Allow a larger epsilon"):
        make()  # type: ignore[operator]
