"""Integer tables of counts and of shares of noise, against exact rational probabilities."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from shuffledp.errors import InvalidInput
from shuffledp.sampling import WORD, source_of
from shuffledp.sampling.tables import (
    FINE,
    CountTable,
    filled,
    geometric_cut,
    geometric_none,
    geometric_share,
    geometric_table,
    joined,
    joined_cut,
    poisson_none,
    poisson_share,
    poisson_table,
    ratio_of,
)


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


PRECISE = Context(prec=150)


def power(base: Fraction, exponent: Fraction) -> Fraction:
    """base^exponent to 140 digits."""
    log = PRECISE.ln(PRECISE.divide(Decimal(base.numerator), Decimal(base.denominator)))
    part = PRECISE.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    return Fraction(PRECISE.exp(PRECISE.multiply(log, part)))


@pytest.mark.parametrize(("decay", "people"), [(0.9, 1), (0.9, 7), (0.05, 10_000), (2.5, 10**9)])
def test_a_geometric_share_is_negative_binomial(decay: float, people: int) -> None:
    """P(j) = (1 - q)^t q^j t (t + 1) ... (t + j - 1) / j!, t = 1 / people, rounded down."""
    ratio = ratio_of(decay)
    q, t = Fraction(ratio, WORD), Fraction(1, people)
    chances = geometric_share(geometric_none(ratio, people), ratio, people, 60)
    ideal = power(1 - q, t) * FINE
    for j, chance in enumerate(chances):
        assert 0 <= ideal - chance <= j + 2
        ideal *= q * (t + j) / (j + 1)


@pytest.mark.parametrize(("mean", "people"), [(0, 5), (3, 2), (2000, 10_000), (2000, 10**9)])
def test_a_poisson_share_is_poisson(mean: int, people: int) -> None:
    chances = poisson_share(poisson_none(mean, people), mean, people, 40)
    rate = PRECISE.divide(Decimal(-mean), Decimal(people))
    none = Fraction(PRECISE.exp(rate)) * FINE
    for j, chance in enumerate(chances):
        assert 0 <= none * Fraction(mean, people) ** j / factorial(j) - chance <= j + 2


def test_the_ratio_hides_at_least_as_much() -> None:
    for decay in (1e-9, 0.001, 0.9, 3.0, 40.0):
        exact = Fraction(PRECISE.exp(Decimal(-decay))) * WORD
        assert exact < ratio_of(decay) <= exact + 2


def test_what_is_missing_goes_to_nothing_and_is_the_distance() -> None:
    ratio = ratio_of(0.9)
    chances = geometric_share(geometric_none(ratio, 5), ratio, 5, 12)
    weights = filled(chances)
    assert sum(weights) == FINE
    q, t = Fraction(ratio, WORD), Fraction(1, 5)
    ideal, distance = power(1 - q, t), Fraction(0)
    for j, weight in enumerate(weights):
        distance += max(ideal - Fraction(weight, FINE), 0)
        ideal *= q * (t + j) / (j + 1)
    beyond = 1 - sum(Fraction(each, FINE) for each in chances)  # all that the table does not have
    assert distance < beyond == Fraction(weights[0] - chances[0], FINE) < Fraction(1, 10_000)


@pytest.mark.parametrize("reach", [1, 60, 600])
@pytest.mark.parametrize("people", [1, 7, 10**12])
@pytest.mark.parametrize("decay", [0.003, 0.9, 40.0])
def test_what_a_share_misses_is_known_without_its_table(decay: float, people: int, reach: int) -> None:
    """At least that, and little more: the bound on P(j) is nearest for large j."""
    ratio = ratio_of(decay)
    none = geometric_none(ratio, people)
    missed = 1 - Fraction(sum(geometric_share(none, ratio, people, reach)), FINE)
    cut = geometric_cut(none, ratio, people, reach)
    units = Fraction((reach + 1) * (reach + 2), FINE)
    near = 1.001 + 0.25 / reach + 0.01 / (reach * decay)
    assert missed <= cut <= missed * Fraction(near) + units


@pytest.mark.parametrize(
    ("decay", "pairs", "people", "most"), [(0.9, 3, 2, 9), (0.05, 40, 7, 30), (1.5, 500, 10**6, 8)]
)
def test_what_joined_shares_miss_is_known_without_their_table(decay: float, pairs: int, people: int, most: int) -> None:
    ratio = ratio_of(decay)
    single = geometric_share(geometric_none(ratio, people), ratio, people, most)
    both = poisson_share(poisson_none(pairs, people), pairs, people, most // 2)
    cells = [(plus, minus) for plus in range(most + 1) for minus in range(most + 1 - plus)]
    missed = 1 - Fraction(sum(joined(single, both, cells)), FINE)
    assert missed <= joined_cut(single, both, most) <= missed + Fraction(len(cells), FINE)


def test_joined_shares_are_of_independent_draws() -> None:
    """(A + C, B + C), enumerated."""
    single, both = [FINE // 2, FINE // 4, FINE // 4], [FINE // 8, FINE - FINE // 8]
    cells = [(a, b) for a in range(4) for b in range(4)]
    found = dict(zip(cells, joined([*single, 0], [*both, 0, 0], cells), strict=True))
    for cell in cells:
        exact = sum(
            Fraction(single[a] * single[b] * both[c], FINE**3)
            for a in range(3)
            for b in range(3)
            for c in range(2)
            if (a + c, b + c) == cell
        )
        assert found[cell] == exact * FINE
