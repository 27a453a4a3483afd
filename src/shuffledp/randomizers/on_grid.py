"""A number in [0, 1] plus noise, as it runs: on a grid, from an integer table, within a common
range. This is the law that is accounted.

The interval is cut into m steps. An input is rounded to one of its two neighbors on the grid at
random, so that its mean is kept, and noise on the grid is added; sums outside [-c, m + c] are moved
to its ends, which are so far out that this happens about once in 2^64 reports. So every output is
possible for every input. All laws are integers over a power of 2^64.

A rounded input is a mixture of two grid points, and what two mixtures leak is at most what two of
their parts do, so the grid points are all the inputs that the accountant must consider. Noise is
rarer the farther out, so the blanket is the lesser of the laws of the two ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import End, Floats
from shuffledp.errors import InvalidInput, check_finite
from shuffledp.randomizers.parameters import LARGEST_EPSILON0, check_numbers, check_range
from shuffledp.randomizers.randomizer import Atoms, Randomizer
from shuffledp.randomizers.votes import chunks
from shuffledp.sampling import Rng, Table, source_of
from shuffledp.sampling.integers import log_at_least
from shuffledp.wording import statement

if TYPE_CHECKING:
    from shuffledp.randomizers.location import LocationRandomizer

__all__ = ["OnGrid"]

MOST_STEPS = 256
NOISE_STEPS = 1024  # the noise's scale in steps is at most this, unless m is 1
MOST_CELLS = 700
NEAR_WORST = 1e-12
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class OnGrid(Randomizer):
    """What ``ideal``, such as Laplace(epsilon0=1.0), does when it runs; see ``ideal.realised``. A
    report is a whole number of ``grid``.

    >>> from shuffledp.randomizers import Laplace
    >>> law = Laplace(epsilon0=1.0).realised
    >>> law.grid, law.epsilon0
    (0.00390625, 1.0)
    """

    ideal: LocationRandomizer

    @property
    def steps(self) -> int:
        """m: the grid's steps in [0, 1], a power of two; 256, or fewer where there is much
        noise.
        """
        most = NOISE_STEPS / self.ideal.scale
        if most < 1.0:
            raise InvalidInput(
                f"the noise's scale must be at most {NOISE_STEPS} to run, got {self.ideal.scale:g}. It drowns any "
                f"number of users; add less noise."
            )
        return min(MOST_STEPS, 1 << math.floor(math.log2(most)))

    @property
    def grid(self) -> float:
        """The number that a report of 1 stands for."""
        return 1.0 / self.steps

    @property
    def margin(self) -> int:
        """c: how far reports reach beyond [0, m]."""
        return self.ideal.reach(self.steps)

    @property
    def epsilon0(self) -> float:
        """From the integers of the two ends, rounded up; infinite above 50, where it protects
        nobody.
        """
        exact = _law(self).epsilon0
        return exact if exact <= LARGEST_EPSILON0 else math.inf

    @property
    def gamma(self) -> float:
        return _law(self).gamma

    @property
    def worst_pair(self) -> tuple[object, object]:
        """The two ends of the interval."""
        return self.ideal.worst_pair

    @property
    def assumptions(self) -> tuple[str, ...]:
        return self.ideal.assumptions or (statement("worst pair on a grid"),)

    def local_delta(self, *, epsilon: float) -> float:
        """The delta of one report at ``epsilon``, between the two ends.

        >>> from shuffledp.randomizers import Gaussian
        >>> round(Gaussian(sigma=1.0).realised.local_delta(epsilon=1.0), 4)
        0.1269
        """
        epsilon = check_finite("epsilon", epsilon, remedy="delta(epsilon) is defined for every real epsilon.")
        law = self._at(0)
        if epsilon >= _law(self).epsilon0:
            return 0.0
        return math.fsum(np.maximum(law - math.exp(epsilon) * law[::-1], 0.0))

    def blankets(self, end: End) -> tuple[Atoms, ...]:
        """The pair (0, 1) with hay min(mu_0, mu_1), spread or merged within cells of outputs as in
        ``location``.
        """
        hay, needle = _spread(self._at(0), self._cells()) if end == "upper" else _merged(self._at(0), self._cells())
        half = int(self._cells()[-1])
        middle = self._at(0)[half:-half]  # the output where both laws are equal, if there is one
        parts = ((hay[::-1], middle, hay), (needle[::-1], middle, hay), (hay[::-1], middle, needle))
        return (Atoms(f"blanket, {end} end", *(np.concatenate(part) for part in parts)),)

    def datasets(self) -> tuple[Atoms, ...]:
        """All others hold 0, 1/4, 1/2, 3/4 or 1 (or the nearest grid points); merged cells."""
        left = self._cells()
        size = self.steps + 2 * self.margin + 1
        borders = np.unique(np.concatenate([left, size - left]))[:-1]
        points = sorted({round(quarter * self.steps / 4) for quarter in range(5)})
        laws = {i: np.add.reduceat(self._at(i), borders) for i in points}
        return tuple(Atoms(f"all others hold {i / self.steps:g}", laws[i], laws[0], laws[self.steps]) for i in points)

    def describe(self) -> dict[str, object]:
        return {**self.ideal.describe(), "grid": self.grid}

    @property
    def realised(self) -> OnGrid:
        return self

    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> Ints:
        checked, source, table = check_numbers(values), source_of(rng), _law(self).table
        reports = np.empty(len(checked), dtype=np.int64)
        for chunk in chunks(len(checked), 4):
            scaled = checked[chunk] * self.steps  # exact: a power of two
            whole = np.floor(scaled)
            up = source.words(len(scaled), np.uint64) < np.ldexp(scaled - whole, 64).astype(np.uint64)
            noise = table.draw(source, len(scaled)) - (self.steps + self.margin)
            np.clip(whole.astype(np.int64) + up + noise, -self.margin, self.steps + self.margin, out=reports[chunk])
        return reports

    def check_reports(self, reports: ArrayLike) -> NDArray[np.int64]:
        """The reports as an array, if ``randomize`` could have sent them."""
        remedy = f"A report counts steps of {self.grid:g}."
        return check_range("reports", reports, -self.margin, self.steps + self.margin, remedy=remedy).astype(
            np.int64, copy=False
        )

    @property
    def deviation(self) -> float:
        """The standard deviation of one report about its input, at most: that of the noise, and of
        rounding halfway between grid points.
        """
        return math.sqrt(_law(self).variance + 0.25) * self.grid

    def mean(self, reports: ArrayLike) -> tuple[float, float]:
        """An unbiased estimate of the mean of the users' values, and its standard error."""
        checked = self.check_reports(reports)
        return float(checked.sum()) * self.grid / len(checked), self.deviation / math.sqrt(len(checked))

    def _at(self, i: int) -> Floats:
        """The law of the i-th grid point on the outputs -c, ..., m + c."""
        law = np.array(_law(self).floats[self.steps - i : 2 * self.steps - i + 2 * self.margin + 1])
        law[0], law[-1] = _law(self).below[self.steps - i], _law(self).below[i]
        return law

    def _cells(self) -> Ints:
        """The borders of cells of outputs left of the middle, in which log(mu_0 / mu_1) varies
        little; the last border is beyond the last cell.
        """
        law = self._at(0)
        left = np.arange(self.margin + (self.steps + 1) // 2)
        logs = np.log(law[left]) - np.log(law[::-1][left])
        width = max(float(logs.max()) / MOST_CELLS, NEAR_WORST)
        new = np.diff(np.floor(logs / width - NEAR_WORST)) != 0.0
        return np.concatenate([[0], np.flatnonzero(new) + 1, [len(left)]])


def _merged(law: Floats, cells: Ints) -> tuple[Floats, Floats]:
    """The masses of mu_1 (the hay) and mu_0 in each cell."""
    end = cells[-1]
    return np.add.reduceat(law[::-1][:end], cells[:-1]), np.add.reduceat(law[:end], cells[:-1])


def _spread(law: Floats, cells: Ints) -> tuple[Floats, Floats]:
    """The same moved to the least and the largest ratio of each cell, keeping both masses: every
    haystack value can only grow.
    """
    hay, needle = _merged(law, cells)
    ratio = law[: cells[-1]] / law[::-1][: cells[-1]]
    low, high = np.minimum.reduceat(ratio, cells[:-1]), np.maximum.reduceat(ratio, cells[:-1])
    gap = high - low
    wide = gap > NEAR_WORST * high
    far = np.clip(np.divide(needle - hay * low, gap, out=np.zeros_like(gap), where=wide), 0.0, hay)
    near = hay - far
    return np.concatenate([near, far[wide]]), np.concatenate([np.where(wide, near * low, needle), (far * high)[wide]])


@dataclass(frozen=True, slots=True)
class _Law:
    """The noise's table, and what follows from its integers."""

    table: Table
    floats: Floats
    below: list[float]  # below[i]: the probability that the lowest report is sent for the (m - i)-th grid point
    epsilon0: float
    gamma: float
    variance: float


@lru_cache(maxsize=8)
def _law(law: OnGrid) -> _Law:
    m, c = law.steps, law.margin
    weights = law.ideal.noise_weights(m, m + c)
    total = sum(weights)
    low = list(accumulate(weights[: m + 1]))  # low[i]: the m - i grid point's reports at -c
    ends = [low[m], *weights[m + 1 : 2 * m + 2 * c], low[0]]  # the law of input 0; that of input 1 is its mirror image
    overlap = sum(map(min, ends, reversed(ends)))
    variance = sum(weight * (j - m - c) ** 2 for j, weight in enumerate(weights)) / total
    floats = np.array([weight / total for weight in weights])
    return _Law(
        Table(weights),
        floats,
        [weight / total for weight in low],
        log_at_least(_largest_ratio(ends)),
        overlap / total,
        variance,
    )


def _largest_ratio(ends: list[int]) -> Fraction:
    pairs: Iterator[tuple[int, int]] = zip(ends, reversed(ends), strict=True)
    best, beside = 1, 1
    for one, other in pairs:
        if one * beside > best * other:
            best, beside = one, other
    return Fraction(best, beside)
