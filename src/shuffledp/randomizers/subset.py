"""Subset selection: report a random set of values that is likely to hold the input."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.errors import InvalidInput, check_count
from shuffledp.randomizers.family import Family, register
from shuffledp.randomizers.parameters import (
    SMALLEST_EPSILON0,
    check_domain,
    check_epsilon0,
    check_fields,
    check_table,
    checked,
)
from shuffledp.randomizers.support import Form, Ints, MixingRandomizer, Overlap, bits_for, histogram, hypergeometric
from shuffledp.sampling import Source, bernoulli, smallest_dtype, uniform


def _check_size(size: object) -> int | None:
    if size is None:
        return None
    return check_count("size", size, least=1, remedy="It counts the values in a report; leave it out for the best.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetSelection(MixingRandomizer):
    """Report a ``w``-subset of the k values; sets that hold the input are E times as likely.

    Ye and Barg 2018, Wang et al. 2016. ``size`` left out is w = k / (E + 1), rounded, which
    minimizes the variance of frequency estimates; size 1 is k-RR. No set holds every value, so the
    blanket is uniform on the sets.

    A report takes w draws and k flags, so it is slow where sets are large: about 40 microseconds
    for k = 2000 and 2 to 3 milliseconds for k = 20000 at epsilon0 <= 1. On large domains Hadamard
    response and local hashing draw far faster.

    >>> SubsetSelection(k=10, epsilon0=1.0).describe()
    {'randomizer': 'subset', 'k': 10, 'epsilon0': 1.0, 'size': 3}
    """

    k: int = field(metadata=checked(check_domain))
    epsilon0: float = field(metadata=checked(check_epsilon0))
    size: int | None = field(metadata=checked(_check_size), default=None)

    def __post_init__(self) -> None:
        check_fields(self)
        if self.size is not None and self.size >= self.k:
            raise InvalidInput(f"size must be below k = {self.k}, got {self.w}. Leave it out for the best.")

    @property
    def w(self) -> int:
        """The number of values in a report.

        >>> SubsetSelection(k=10, epsilon0=1.0, size=2).w
        2
        """
        return self.size if self.size is not None else max(1, round(self.k / (math.exp(self.epsilon0) + 1.0)))

    def overlaps(self) -> tuple[Overlap, ...]:
        return (hypergeometric(self.k, self.w),)

    @property
    def realised(self) -> SubsetSelection:
        """The size is written out: epsilon0 is a little smaller, and must not choose another."""
        return dataclasses.replace(self, epsilon0=max(self._integers()[1], SMALLEST_EPSILON0), size=self.w)

    @property
    def share(self) -> Fraction:
        return Fraction(self.w, self.k)

    @property
    def stray(self) -> Fraction:
        """(w - 1) / (k - 1): the sets that hold the input hold all others equally often."""
        return Fraction(self.w - 1, self.k - 1)

    @property
    def explicit(self) -> SubsetSelection:
        return dataclasses.replace(self, size=self.w)

    @property
    def form(self) -> Form:
        return Form(smallest_dtype(self.k), width=self.w)

    @property
    def votes_each(self) -> int:
        return self.w

    def extreme_reports(self, people: int) -> NDArray[Any]:
        """Neighbors, from every value on."""
        rows = (np.arange(self.k)[:, None] + np.arange(self.w)) % self.k
        return np.sort(rows, axis=1).astype(self.form.dtype)

    @property
    def bits(self) -> int:
        return self.w * bits_for(self.k)

    def check_reports(self, reports: ArrayLike) -> NDArray[Any]:
        remedy = f"A report of subset selection is {self.w} different values from 0 to {self.k - 1} in ascending order."
        table = check_table("reports", reports, self.w, remedy=remedy)
        if not np.issubdtype(table.dtype, np.integer):
            raise InvalidInput(f"reports must be whole numbers, got an array of {table.dtype}. {remedy}")
        if int(table.min()) < 0 or int(table.max()) >= self.k or not np.all(table[:, 1:] > table[:, :-1]):
            raise InvalidInput(f"reports must be sets of values, got a row that is not one. {remedy}")
        return table

    @property
    def _words(self) -> int:
        return self.k // 8 + 1  # a byte per value

    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        """Any set; or the input and w - 1 of the others, of which k - 1 stands for the input."""
        table = np.zeros((len(values), self.k), dtype=np.bool_)
        noisy = bernoulli(source, self.threshold, len(values))
        anywhere = np.flatnonzero(noisy)
        _add_sets(source, table, anywhere, self.k, self.w)
        rows = np.flatnonzero(~noisy)
        own = values[rows]
        _add_sets(source, table, rows, self.k - 1, self.w - 1)
        table[rows, self.k - 1] = table[rows, own]
        table[rows, own] = True
        return np.nonzero(table)[1].reshape(len(values), self.w)

    def _tally(self, reports: NDArray[Any]) -> Ints:
        return histogram(reports.ravel(), self.k)

    def describe(self) -> dict[str, object]:
        return {"randomizer": "subset", "k": self.k, "epsilon0": self.epsilon0, "size": self.w}


register(Family(make=SubsetSelection, law="subset", parameters=("k", "epsilon0", "size")))


def _add_sets(source: Source, table: NDArray[np.bool_], rows: NDArray[np.intp], k: int, size: int) -> None:
    """Mark a random ``size``-subset of the first k columns per row (Bentley and Floyd 1987)."""
    for last in range(k - size, k):
        drawn = uniform(source, last + 1, len(rows)).astype(np.intp)
        drawn[table[rows, drawn]] = last
        table[rows, drawn] = True
