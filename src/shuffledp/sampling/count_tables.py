"""Integer tables of counts, for fakes and dummies: a first count, and weights out of 2^64.

Terms are computed as whole multiples of 2^-BITS, from the likeliest count outwards, so that every
machine finds the same table. What a table gives no weight has a probability of about 2^-64; what is
accounted is the table itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput
from shuffledp.sampling.draws import WORD, Table

__all__ = ["MOST_COUNTS", "CountTable", "geometric_table", "poisson_table"]

BITS = 256  # of a term; those below 2^-BITS of the likeliest are nothing
MOST_COUNTS = 1 << 13  # a table is written down with its law


class CountTable(NamedTuple):
    """``first + i`` has probability weights[i] / 2^64."""

    first: int
    weights: tuple[int, ...]

    @property
    def last(self) -> int:
        """The largest count."""
        return self.first + len(self.weights) - 1

    @property
    def chances(self) -> Floats:
        """The probabilities, as floats."""
        return np.array([weight / WORD for weight in self.weights])

    @property
    def mean(self) -> Fraction:
        """Exactly."""
        return self.first + Fraction(sum(i * weight for i, weight in enumerate(self.weights)), WORD)

    @property
    def variance(self) -> Fraction:
        """Exactly."""
        square = Fraction(sum(i * i * weight for i, weight in enumerate(self.weights)), WORD)
        return square - (self.mean - self.first) ** 2

    @property
    def sampler(self) -> Table:
        """What draws from it, less ``first``."""
        return _sampler(self.weights)


@lru_cache(maxsize=64)
def _sampler(weights: tuple[int, ...]) -> Table:
    return Table(weights)


@lru_cache(maxsize=64)
def poisson_table(mean: float, most: int | None = None) -> CountTable:
    """A Poisson number; what lies above ``most`` counts as ``most``.

    >>> table = poisson_table(0.5, 2)
    >>> table.first, [round(float(chance), 4) for chance in table.chances]
    (0, [0.6065, 0.3033, 0.0902])
    """
    _check_size(18.0 * math.sqrt(mean) + 60.0)
    mode = math.floor(mean)
    rate, unit = mean.as_integer_ratio()
    below = _terms(lambda step: ((mode + 1 - step) * unit, rate), mode)
    above = _terms(lambda step: (rate, (mode + step) * unit))
    return _table(mode, below, above, most)


@lru_cache(maxsize=64)
def geometric_table(center: int, left: float, right: float) -> CountTable:
    """Two-sided geometric: ``center`` is the likeliest count, and the probability falls by the
    factor ``left`` with every step below it, to 0 at the least, and by ``right`` above.

    >>> table = geometric_table(1, 0.5, 0.25)
    >>> table.first, [round(float(chance), 4) for chance in table.chances[:4]]
    (0, [0.2727, 0.5455, 0.1364, 0.0341])
    """
    _check_size(sum(64.0 * math.log(2.0) / -math.log(each) for each in (left, right) if each))
    lower, upper = left.as_integer_ratio(), right.as_integer_ratio()
    return _table(center, _terms(lambda _: lower, center), _terms(lambda _: upper), None)


def _terms(ratio: Callable[[int], tuple[int, int]], most: int | None = None) -> list[int]:
    """What follows 1, as multiples of 2^-BITS: the i-th is ``ratio(i)``, a numerator over a
    denominator, times the one before.
    """
    terms: list[int] = []
    term = 1 << BITS
    while most is None or len(terms) < most:
        above, below = ratio(len(terms) + 1)
        term = term * above // below
        if not term:
            break
        terms.append(term)
    return terms


def _table(likeliest: int, below: list[int], above: list[int], most: int | None) -> CountTable:
    """The terms as weights; what rounding leaves over goes to the likeliest count."""
    terms = [*reversed(below), 1 << BITS, *above]
    first = likeliest - len(below)
    if most is not None and most < first + len(terms) - 1:
        place = max(most - first, 0)
        first, terms = min(first, most), [*terms[:place], sum(terms[place:])]
    whole = sum(terms)
    weights = [term * WORD // whole for term in terms]
    weights[weights.index(max(weights))] += WORD - sum(weights)
    empty = next(place for place, weight in enumerate(weights) if weight)
    while not weights[-1]:
        weights.pop()
    return CountTable(first + empty, tuple(weights[empty:]))


def _check_size(size: float) -> None:
    if size > MOST_COUNTS:
        raise InvalidInput(
            f"the fakes of one value must range over at most {MOST_COUNTS:,} counts, got about {size:,.0f}. Allow a "
            f"larger epsilon, and fewer will do."
        )
