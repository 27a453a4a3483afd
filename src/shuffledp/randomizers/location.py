"""Location randomizers: a number in [0, 1] plus symmetric noise, in classes with a proven side.

The density falls away from the input, so the blanket is c = min(mu_0, mu_1), and for the pair (0,
1)

    y < 1/2:  c = mu_1,  (mu_0/c, mu_1/c) = (u, 1)        y > 1/2:  c = mu_0,  (mu_0/c, mu_1/c) =
              (1, v).

One ratio moves at a time, and y -> 1 - y exchanges the two sides. Cut the side y < 1/2 into cells.
*Upper*: spread the hay of a cell to its two end points, preserving the masses of mu_0 and mu_1; u -
e^eps v is affine in u there, so this is a mean-preserving spread of the loss for every eps at once,
and every haystack value can only grow. *Lower*: merge each cell, a post-processing. The masses come
from the cumulative distribution in closed form; nothing is integrated numerically.

*On a grid.* The noise that runs comes from an integer table, within a common range, and this is the
law that is accounted. The interval is cut into m steps. An input is rounded to one of its two
neighbors on the grid at random, so that its mean is kept, and noise on the grid is added; sums
outside [-c, m + c] are moved to its ends, which are so far out that this happens about once in 2^64
reports. So every output is possible for every input. All laws are integers over a power of 2^64.

A rounded input is a mixture of two grid points, and what two mixtures leak is at most what two of
their parts do, so the grid points are all the inputs that the accountant must consider. Noise is
rarer the farther out, so the blanket is the lesser of the laws of the two ends.

*Scaled noise.* Some noise is a shrunk copy of itself plus other noise. For every 0 < r < 1 the
noise Z has the law of rZ + Z', with Z' independent of it (Z is *self-decomposable*): for Gaussian
noise Z' has the variance (1 - r^2) sigma^2, for Laplace noise Z' is 0 with probability r^2 and a
fresh copy of Z otherwise. So y -> ry + s + Z' turns reports on the inputs a, b, v, ... into reports
on ra + s, rb + s, rv + s, ...: inputs farther apart, in proportion, are told apart more easily. The
first-clone swap for a continuum of inputs rests on this (theory, "The swap for continuous
reports").
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import End, Floats, that_of
from shuffledp.errors import InvalidInput, check_finite
from shuffledp.randomizers.parameters import LARGEST_EPSILON0, check_numbers, check_range
from shuffledp.randomizers.randomizer import Atoms, Listed, Randomizer
from shuffledp.randomizers.support import chunks
from shuffledp.sampling import Rng, Table, source_of
from shuffledp.sampling.draws import log_at_least
from shuffledp.wording import statement

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
        """m: the steps in [0, 1], a power of two; 256, or fewer with much noise."""
        most = NOISE_STEPS / self.ideal.scale
        if most < 1.0:
            raise InvalidInput(
                f"the noise's scale must be at most {NOISE_STEPS} to run, got {self.ideal.scale:g}. Add less noise."
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
        """From the integers of the two ends, rounded up; infinite above 50."""
        exact = _law(self).epsilon0
        return exact if exact <= LARGEST_EPSILON0 else math.inf

    @property
    def gamma(self) -> float:
        return _law(self).gamma

    worst_pair = that_of("ideal")

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
        """The pair (0, 1), hay min(mu_0, mu_1), spread or merged within cells of outputs."""
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

    @property
    def listed(self) -> Listed:
        """The points of the grid; a number between two of them is rounded."""
        m, words = self.steps, {0: _law(self).ends, self.steps: _law(self).ends[::-1]}
        return Listed(np.arange(m + 1) / m, self._at, np.dtype(np.int64), -self.margin, words, rounded=True)

    def check_reports(self, reports: ArrayLike) -> NDArray[np.int64]:
        """The reports as an array, if ``randomize`` could have sent them."""
        remedy = f"A report counts steps of {self.grid:g}."
        return check_range("reports", reports, -self.margin, self.steps + self.margin, remedy=remedy).astype(
            np.int64, copy=False
        )

    @property
    def deviation(self) -> float:
        """The standard deviation of one report: of the noise and of rounding, at most."""
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
    """The same on the extreme ratios of each cell, masses kept: values can only grow."""
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
    ends: list[int]  # the weights of the reports of input 0
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
        ends,
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


OTHERS = (0.0, 0.25, 0.5, 0.75, 1.0)


class LocationRandomizer(Randomizer):
    """Input x in [0, 1], report x + symmetric noise with log(mu_0/mu_1) falling in y."""

    __slots__ = ()

    @abstractmethod
    def cuts(self) -> Floats:
        """Cell borders from 1/2 down to -infinity."""

    @abstractmethod
    def mass(self, low: Floats, high: Floats) -> Floats:
        """The noise's mass between low and high, to full relative accuracy in both tails."""

    @abstractmethod
    def log_ratio(self, y: Floats) -> Floats:
        """log(mu_0(y) / mu_1(y)); infinite at -infinity if it is unbounded."""

    @abstractmethod
    def log_shift(self, y: Floats, x: float | Floats, other: Floats) -> Floats:
        """log(mu_x(y) / mu_other(y)): monotone in y between x and other, and beside them."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """The size of the noise: its standard deviation, or nearly."""

    @abstractmethod
    def reach(self, steps: int) -> int:
        """How many of ``steps`` to the unit the noise goes with all but about 2^-64 of its mass."""

    @abstractmethod
    def noise_weights(self, steps: int, reach: int) -> list[int]:
        """The noise as it runs: integer weights of -reach, ..., reach, in ``steps`` to the unit."""

    @property
    def realised(self) -> OnGrid:
        """The same noise on a grid, from an integer table: what can be drawn."""
        return OnGrid(ideal=self)

    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> NDArray[np.int64]:
        return self.realised.randomize(values, rng=rng)

    grid = that_of("realised")
    check_reports = that_of("realised")
    mean = that_of("realised")

    @property
    def worst_pair(self) -> tuple[object, object]:
        return (0.0, 1.0)

    def blankets(self, end: End) -> tuple[Atoms, ...]:
        """The pair (0, 1) with hay min(mu_0, mu_1); the pair (1, 0) is its mirror image."""
        hay, needle = self._spread() if end == "upper" else self._merged()
        kept = (hay > 0.0) | (needle > 0.0)
        hay, needle = hay[kept], needle[kept]
        both = np.concatenate([hay[::-1], hay])
        return (
            Atoms(
                f"blanket, {end} end", both, np.concatenate([needle[::-1], hay]), np.concatenate([hay[::-1], needle])
            ),
        )

    def datasets(self) -> tuple[Atoms, ...]:
        """All others hold 0, 1/4, 1/2, 3/4 or 1; merged cells. The list is its own mirror image."""
        left = self.cuts()[::-1]
        borders = np.concatenate([left, 1.0 - left[-2::-1]])
        laws = {x: self.mass(borders[:-1] - x, borders[1:] - x) for x in OTHERS}
        return tuple(Atoms(f"all others hold {x:g}", laws[x], laws[0.0], laws[1.0]) for x in OTHERS)

    def _merged(self) -> tuple[Floats, Floats]:
        """The masses of mu_1 (the hay) and of mu_0 in every cell below 1/2."""
        cuts = self.cuts()
        return self.mass(cuts[1:] - 1.0, cuts[:-1] - 1.0), self.mass(cuts[1:], cuts[:-1])

    def _spread(self) -> tuple[Floats, Floats]:
        """The same at the cell borders; a last cell without a far end exposes the rest."""
        hay, needle = self._merged()
        u = np.exp(self.log_ratio(self.cuts()))
        gap = np.diff(u)
        excess = np.maximum(needle - hay * u[:-1], 0.0)
        far = np.minimum(np.divide(excess, gap, out=np.zeros_like(gap), where=gap > 0.0), hay)
        spread_hay = np.append(hay - far, 0.0) + np.insert(far, 0, 0.0)
        carried = spread_hay[:-1] * u[:-1]
        last = spread_hay[-1] * u[-1] if np.isfinite(u[-1]) else excess[-1]
        return spread_hay, np.append(carried, last)


class FirstScores(NamedTuple):
    """Probabilities and scores, and the mass of what is seen without any hay."""

    mass: Floats
    score: Floats
    seen: float


class ScaledNoise(LocationRandomizer):
    """Symmetric, unimodal, self-decomposable noise; mu_v is v plus noise, for all real v."""

    __slots__ = ()

    @abstractmethod
    def outputs(self, points: Floats) -> Floats:
        """Borders of cells of outputs, ascending, a row for every column of ``points``, which are
        all among them.

        Inside a cell ratios of laws of ``points`` change little, and smoothly. Beyond the last
        border on either side they are constant, if epsilon0 is finite; else next to nothing is
        there.
        """

    @abstractmethod
    def turning(self, one: Floats, two: Floats, other: Floats, growth: float) -> Floats:
        """Where (mu_one - growth mu_two) / mu_other has an extremum other than at a kink; NaN if
        nowhere. There is one place at most.
        """

    @abstractmethod
    def first_scores(self, growth: float) -> FirstScores:
        """A law above that of (mu_a - growth mu_b) / omega at a draw from omega, for all inputs a
        and b, in the increasing convex order; omega = min(mu_0, mu_1) / gamma.
        """

    @abstractmethod
    def delta_apart(self, distance: float, epsilon: float) -> float:
        """The delta of one report between inputs at ``distance`` or less, or slightly more."""

    @property
    @abstractmethod
    def grain(self) -> float:
        """Rounding of ``mass`` of a cell of length d is below 2^-44 (1 + grain / d)."""
