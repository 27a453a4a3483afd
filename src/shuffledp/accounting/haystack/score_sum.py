"""E(G_1 + ... + G_n)_+ / n between two ends, whatever the scores are: capped where they are rare
and large, scaled so that nothing overflows, and added up on a mesh where that helps.

Large rare scores spoil the contour's tilt, so scores are capped at some k first. With J = (G - k)_+
and S the capped sum,

    E S_+ + n E J P(S' >= -k)  <=  E(G_1 + ... + G_n)_+  <=  E S_+ + n E J,

S' being the sum without the position that jumps. n E J is a sum over masses, not over scores:
mass(needle0) - e^eps mass(needle1) - k mass(hay) where that is positive, so that scores too large
for a float do no harm. Everything else is measured in units of k: capped scores lie between -n and
1, since a score below -n k leaves the sum negative whatever else happens.

The probability that S' misses -k is bounded from scores that are fatal alone and Chernoff's
inequality for the others: scores may be spread over many orders of magnitude on both sides. Every
pass gives valid ends and the best are kept.

Scores that are spread over many orders of magnitude are added up position by position on a mesh,
since a contour sees only the largest of them. The law of a sum of m positions is kept on the points
w sinh(step j): evenly spaced near 0, relatively spaced far out. Sums of two laws fall between the
points. x -> x_+ is convex, so spreading each to its two neighbors *preserving the mean* can only
raise the value, and merging cells to their means can only lower it: the two ends are proven by the
same steps. The last addition is not rounded at all.

What falls below the mesh is raised to its lowest point at the upper end and dropped at the lower
end; what falls above it is moved to its highest point, and the upper end adds the difference for
every block of positions that could have it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import MANY_POINTS_GAP
from shuffledp.accounting.haystack.contour import (
    UNIT,
    PositionLaw,
    absences,
    chernoff,
    contour_ends,
    count_bounds,
    views,
)
from shuffledp.accounting.inversion import halve, whole

STEPS = (0.01, 0.015, 0.02, 0.03, 0.045, 0.065, 0.09, 0.13, 0.2, 0.3, 0.5, 1.0)
VANISHED = 1e-300  # products of probabilities too small for a float, for every position
ROUNDING = 1e-11  # relative, of all sums of non-negative terms together


@dataclass(frozen=True, slots=True, eq=False)
class _Law:
    """Probabilities and values; ``excess`` is the mean of what was taken off the values because it
    reached beyond the mesh.
    """

    mass: Floats
    value: Floats
    excess: float = 0.0


def pair_bounds(mass: Floats, value: Floats, other_mass: Floats, other_value: Floats) -> tuple[float, float]:
    """Both ends of E(A + B)_+ for independent A and B, by sorting: no mesh, no smoothing."""
    order = np.argsort(value)
    mass, value = mass[order], value[order]
    tail = np.append(np.cumsum(mass[::-1])[::-1], 0.0)
    moment = np.append(np.cumsum((mass * value)[::-1])[::-1], 0.0)
    size = np.append(np.cumsum((mass * np.abs(value))[::-1])[::-1], 0.0)
    first = np.searchsorted(value, -other_value, side="right")
    total = float(other_mass @ (moment[first] + other_value * tail[first]))
    rounding = 4.0 * UNIT * (value.size + 16)
    # Values may be off, and sums that seem negative are not.
    close = np.searchsorted(value, -other_value - rounding * np.abs(other_value))
    error = rounding * float(other_mass @ (size[close] + np.abs(other_value) * tail[close]))
    return max(total - error, 0.0), total + error


def mesh_bounds(n: int, hay: Floats, low: Floats, high: Floats, unit: float, reach: int) -> tuple[float, float]:
    """Both ends for n >= 2 positions with scores between ``low`` and ``high``, which are finite and
    about 1 at most.

    Scores below ``unit`` are hardly told from 0. The mesh has 2 ``reach`` + 1 points; the work
    grows with the square of that and with log n.
    """
    lower_law, upper_law = (
        _Law(np.append(hay, absent), np.append(g, 0.0)) for g, absent in zip((low, high), absences(hay), strict=True)
    )
    if n == 2:
        lower = pair_bounds(lower_law.mass, lower_law.value, lower_law.mass, lower_law.value)[0]
        upper = pair_bounds(upper_law.mass, upper_law.value, upper_law.mass, upper_law.value)[1]
    else:
        step = next((step for step in STEPS if unit * np.sinh(step * reach) >= 2.0), STEPS[-1])
        mesh = _Mesh(step, float(max(unit, 2.0 / np.sinh(step * reach))), reach)
        lower, upper = mesh.lower(lower_law, n), mesh.upper(upper_law, n)
    blur = np.exp(8.0 * n * UNIT)  # of the masses' own rounding
    return max(lower / n / blur * (1.0 - ROUNDING), 0.0), upper / n * blur * (1.0 + ROUNDING) + VANISHED


@lru_cache(maxsize=3)
def _table(step: float, reach: int) -> tuple[NDArray[np.int64], Floats]:
    """For every pair of points: the point below their sum, and the share of the way to the next
    one. Sums outside are moved to the ends.
    """
    points = np.sinh(step * np.arange(-reach, reach + 1))
    sums = np.clip(points[:, None] + points[None, :], points[0], points[-1])
    below = np.clip(np.floor(np.arcsinh(sums) / step).astype(np.int64) + reach, 0, 2 * reach - 1)
    share = np.clip((sums - points[below]) / (points[below + 1] - points[below]), 0.0, 1.0)
    return below.ravel(), share.ravel()


@dataclass(frozen=True, slots=True)
class _Mesh:
    step: float
    width: float
    reach: int

    @property
    def points(self) -> Floats:
        """From the lowest to the highest, with 0 in the middle."""
        return np.asarray(self.width * np.sinh(self.step * np.arange(-self.reach, self.reach + 1)))

    def lower(self, law: _Law, n: int) -> float:
        first, second = _halves(self._merged(law.mass, law.value), n, self._merged_sum)
        return pair_bounds(first.mass, first.value, second.mass, second.value)[0]

    def upper(self, law: _Law, n: int) -> float:
        first, second = _halves(self._spread(law), n, self._spread_sum)
        return pair_bounds(first.mass, first.value, second.mass, second.value)[1] + first.excess + second.excess

    def _spread(self, law: _Law) -> _Law:
        points = self.points
        value = np.clip(law.value, points[0], points[-1])
        below = np.clip(np.searchsorted(points, value, side="right") - 1, 0, points.size - 2)
        share = np.clip((value - points[below]) / (points[below + 1] - points[below]), 0.0, 1.0)
        beyond = float(law.mass @ np.maximum(law.value - points[-1], 0.0))
        return _Law(self._bins(below, law.mass, share), points, beyond)

    def _spread_sum(self, one: _Law, two: _Law) -> _Law:
        below, share = _table(self.step, self.reach)
        _, beyond = pair_bounds(one.mass, one.value - self.points[-1], two.mass, two.value)
        return _Law(
            self._bins(below, np.multiply.outer(one.mass, two.mass).ravel(), share),
            self.points,
            one.excess + two.excess + beyond,
        )

    def _bins(self, below: NDArray[np.int64], mass: Floats, share: Floats) -> Floats:
        far, size = mass * share, 2 * self.reach + 1
        return np.asarray(np.bincount(below, mass - far, minlength=size) + np.bincount(below + 1, far, minlength=size))

    def _merged_sum(self, one: _Law, two: _Law) -> _Law:
        return self._merged(np.multiply.outer(one.mass, two.mass).ravel(), np.add.outer(one.value, two.value).ravel())

    def _merged(self, mass: Floats, value: Floats) -> _Law:
        """The means of cells; cells without mass, and what lies below the mesh, are left out."""
        last = 2 * self.reach
        cell = np.arcsinh(value / self.width) / self.step + self.reach
        np.clip(cell, -1.0, last, out=cell)
        below = cell.astype(np.int64) + 1  # towards zero is down here: cell 0 holds what is dropped
        below[cell < 0.0] = 0
        total = np.bincount(below, mass, minlength=last + 2)[1:]
        moment = np.bincount(below, mass * np.minimum(value, self.points[-1]), minlength=last + 2)[1:]
        kept = total > 1e-300
        return _Law(np.asarray(total[kept], dtype=np.float64), moment[kept] / total[kept])


def _halves(law: _Law, n: int, add: Callable[[_Law, _Law], _Law]) -> tuple[_Law, _Law]:
    """Two laws whose sum is that of n >= 3 positions, by repeated doubling."""
    block, blocks = law, n
    rest: _Law | None = None
    while blocks > 2 or (blocks == 2 and rest is not None):
        if blocks % 2:
            rest = block if rest is None else add(rest, block)
        block, blocks = add(block, block), blocks // 2
    return (block, block) if rest is None else (block, rest)


SMALLEST, LARGEST = 1e-290, 1e290  # no cap is outside
TINIEST = 1e-200  # deltas below are nobody's question, and may stay far apart
WIDE = 5e-4  # ends that are farther apart than that are worth another method
SMALL, NEGLECTED = 0.02, 1e-5
MANY_VIEWS, MOST_VIEWS = 3_000, 200_000
MOST_COUNTS = 4_000_000  # views times classes, which are kept in memory
TINY = 1e-322  # products below the least normal number are off by no more
VAGUE = 1e-4  # relative to the cap: scores less certain than that
MOST_PASSES = 10
MOST_NODES, MOST_WORK = 1 << 18, 1 << 26  # nodes, and nodes times classes, where the first try was not close enough
LADDER = 2.0
FATAL = np.array([1.0, 0.25, 0.0625, 0.0156, 0.004, 0.001])  # shares of k that count as fatal alone
TILTS = np.array([0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0])


class _Capped(NamedTuple):
    """Capped scores as computed and from below; the sizes that they were subtracted from, which
    their rounding errors are relative to.

    The tilt is good for small errors only. Larger ones are left out of ``sizes`` and counted as
    masses in ``spilt``, at both ends.
    """

    value: Floats
    low: Floats
    sizes: Floats
    spilt: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores of every class (columns) at every epsilon (rows), as masses.

    ``mass`` is needle0 - e^eps needle1, ``pad`` how far rounding may have moved it, and the score
    is mass / hay.
    """

    hay: Floats
    mass: Floats
    pad: Floats

    @classmethod
    def of(
        cls, hay: Floats, needle0: Floats, needle1: Floats, epsilons: Floats, subtracted: Floats, off: float = 0.0
    ) -> Scores:
        """If the needles, where they are not 0, are what a subtraction of ``subtracted`` left, they
        have the rounding errors of what was there before; ``off`` more, relatively, if that is
        said.
        """
        growth = np.expm1(epsilons)[:, None]
        sizes = needle0 + subtracted * (needle0 > 0.0) + (growth + 1.0) * (needle1 + subtracted * (needle1 > 0.0))
        return cls(hay, (needle0 - needle1) - growth * needle1, (8.0 * UNIT + off) * sizes + TINY)

    def rows(self, block: NDArray[np.intp]) -> Scores:
        return Scores(self.hay, self.mass[block], self.pad[block])

    @property
    def values(self) -> Floats:
        """The scores; infinite where they are too large for a float."""
        with np.errstate(over="ignore"):
            return self.mass / self.hay

    def alone(self) -> tuple[Floats, Floats]:
        """The sum over classes of the positive masses, from below and from above: delta of one
        user, and at most that for more.
        """
        return (self.mass - self.pad).clip(min=0.0).sum(axis=1) * (1.0 - 1e-14), (self.mass + self.pad).clip(
            min=0.0
        ).sum(axis=1) * (1.0 + 1e-14)

    def jumps(self, cap: Floats) -> tuple[Floats, Floats]:
        """E(G - k)_+ from below and from above, a row each, over the scores that are above k as
        computed: the others are not cut.
        """
        held = cap[:, None] * self.hay
        pad = np.where(self.values > cap[:, None], self.pad + 4.0 * UNIT * held, 0.0)
        low, high = (
            np.where(pad > 0.0, self.mass - held + sign * pad, 0.0).clip(min=0.0).sum(axis=1) for sign in (-1.0, 1.0)
        )
        return low * (1.0 - 1e-14), high * (1.0 + 1e-14)

    def between(self, n: int, cap: Floats) -> tuple[Floats, Floats, Floats]:
        """Scores in units of k from below and from above, cut at 1, and so negative where they are
        very that n of them cannot make up for one.

        Scores so uncertain that they may be no float are taken as computed; what they may be wrong
        by, as a mass, is the third value, and belongs to the upper end: the positive part of a sum
        grows by no more than its terms do.
        """
        values = self.values
        with np.errstate(over="ignore"):
            low, high = ((self.mass + sign * self.pad) / self.hay / cap[:, None] + sign * TINY for sign in (-1.0, 1.0))
            cut, vague = values > cap[:, None], high > 1e200
            high = np.where(cut, 1.0, np.where(vague, np.minimum(values / cap[:, None], 1.0), high))
        spilt = np.where(vague & ~cut, self.pad, 0.0).sum(axis=1) * (1.0 + 1e-14)
        return np.clip(low, -2.0 * n, 1.0), np.maximum(high, -2.0 * n), spilt

    def capped(self, n: int, cap: Floats) -> _Capped:
        """Scores between -n k and k in units of k; one that is certainly beyond is exact."""
        with np.errstate(over="ignore"):
            low, value, high = ((self.mass + sign * self.pad) / self.hay / cap[:, None] for sign in (-1.0, 0.0, 1.0))
            error = np.where((high <= -n) | (low >= 1.0), 0.0, self.pad / self.hay / cap[:, None])
        vague = error > VAGUE
        spilt = np.where(vague, self.pad, 0.0).sum(axis=1) * (1.0 + 1e-14)
        return _Capped(
            np.clip(value, -float(n), 1.0),
            np.clip(low, -float(n), 1.0),
            np.where(vague, 0.0, error / (8.0 * UNIT)),
            spilt,
        )


def ramp_bounds(n: int, scores: Scores, gap: float, reach: int = 0) -> tuple[Floats, Floats]:
    """Both ends of E(G_1 + ... + G_n)_+ / n per row, G = mass / hay with probability hay, else 0.

    ``reach`` is the size of the mesh to use where the contour leaves the ends far apart; 0 for
    none.
    """
    alone_low, upper = scores.alone()
    if n == 1:
        return alone_low, upper
    top = scores.values.max(axis=1, initial=0.0)
    rows = np.flatnonzero(top > SMALLEST)
    number = views(n, scores.hay.size)
    lower = np.zeros_like(upper)
    if rows.size and number <= MANY_VIEWS and number * rows.size <= MOST_VIEWS:
        low, high = _counted(n, scores.rows(rows), top[rows])
        lower[rows], upper[rows] = low, np.minimum(upper[rows], high)
        return lower, upper
    _integrate(n, scores, gap, lower, upper)
    if reach == 0:
        return lower, upper
    wide = np.flatnonzero((upper - lower > WIDE * upper) & (top > SMALLEST) & (upper > TINIEST))
    most = min(MOST_VIEWS, MOST_COUNTS / (scores.hay.size + 1))
    for row in np.split(wide, wide.size) if wide.size else []:
        part = scores.rows(row)
        low, high = _counted(n, part, top[row]) if number <= most else _meshed(n, part, float(upper[row[0]]), reach)
        lower[row], upper[row] = np.maximum(lower[row], low), np.minimum(upper[row], high)
    return lower, upper


def _counted(n: int, scores: Scores, top: Floats) -> tuple[Floats, Floats]:
    """By adding up all views, in units of the largest finite score; larger ones jump."""
    cap = np.minimum(top, LARGEST)
    low, high, spilt = scores.between(n, cap)
    lower, upper = count_bounds(n, scores.hay, low, high, cap)
    jump_low, jump_high = scores.jumps(cap)
    lower = lower + jump_low * (1.0 - _missed(n, scores.hay, scores.capped(n, cap).low, cap < top))
    return np.maximum(lower * (1.0 - 4.0 * UNIT) - spilt, 0.0), (upper + jump_high + spilt) * (1.0 + 4.0 * UNIT)


def _meshed(n: int, scores: Scores, upper: float, reach: int) -> tuple[Floats, Floats]:
    """On a mesh of the scores that matter; those above are jumps that may win or not."""
    lower = 0.0
    for _ in range(6):
        least, cap = _relevant(n, scores, upper)
        (jump_low,), (jump_high,) = scores.jumps(np.array([cap]))
        (missed,) = _missed(n, scores.hay, scores.capped(n, np.array([cap])).low, np.array([jump_high > 0.0]))
        (low,), (high,), (spilt,) = scores.between(n, np.array([cap]))
        ends = mesh_bounds(n, scores.hay, low, high, SMALL * least / cap, reach)
        before, upper = upper, min(upper, (cap * ends[1] + jump_high + spilt) * (1.0 + 4.0 * UNIT) + TINY)
        lower = max(lower, (cap * ends[0] + jump_low * (1.0 - missed)) * (1.0 - 4.0 * UNIT))
        if upper > 0.5 * before or upper - lower <= WIDE * upper:
            break
    return np.array([lower]), np.array([upper])


def _relevant(n: int, scores: Scores, upper: float) -> tuple[float, float]:
    """Scores from where to where matter for delta of about ``upper``: less than a share NEGLECTED
    of it comes from outside.
    """
    (values,) = scores.values
    ladder = np.unique(np.minimum(values[(values > SMALLEST) & (scores.mass[0] > 0.0)], LARGEST))

    def rare(place: int) -> bool:
        return bool(scores.jumps(ladder[[place]])[1][0] <= NEGLECTED * upper)

    last, _ = halve(rare, ladder.size - 1, -1, middle=whole)  # the first cap that hardly anything jumps over

    def negligible(place: int) -> bool:
        capped = scores.capped(n, ladder[[place]])
        return bool(ladder[place] * chernoff(PositionLaw(n, scores.hay, capped.value))[0] <= NEGLECTED * upper)

    least, _ = halve(negligible, 0, last, middle=whole)  # the last cap whose capped sum does not matter
    return float(ladder[least]), float(ladder[last])


def _integrate(n: int, scores: Scores, gap: float, lower: Floats, upper: Floats) -> None:
    """Raise ``lower`` and bring down ``upper`` by contour integrals over capped scores."""
    values = scores.values
    top = np.minimum(values.max(axis=1, initial=0.0), LARGEST)
    rows = np.flatnonzero(top > SMALLEST)
    tolerance = 0.1 * np.sqrt(gap) if gap < MANY_POINTS_GAP else 0.05
    cap, sharp = np.ones_like(top), np.ones_like(top)
    care, tries = np.zeros(top.size, dtype=np.int64), np.zeros(top.size, dtype=np.int64)
    cap[rows] = _first_cap(n, scores.hay, values[rows], top[rows])
    for _ in range(MOST_PASSES):
        if rows.size == 0:
            break
        part = scores.rows(rows)
        capped = part.capped(n, cap[rows])
        jump_low, jump_high = part.jumps(cap[rows])
        missed = _missed(n, scores.hay, capped.low, cap[rows] < top[rows])
        ends = contour_ends(PositionLaw(n, scores.hay, capped.value), capped.sizes, gap, care[rows], sharp[rows])
        low = (cap[rows] * ends.lower + jump_low * (1.0 - missed)) * (1.0 - 4.0 * UNIT) - capped.spilt
        high = (cap[rows] * ends.upper + jump_high + capped.spilt) * (1.0 + 4.0 * UNIT) + TINY
        lower[rows], upper[rows] = np.maximum(lower[rows], low), np.minimum(upper[rows], high)

        allowed = tolerance * upper[rows]
        close = upper[rows] - lower[rows] <= allowed
        blurred = cap[rows] * ends.smoothing
        with np.errstate(divide="ignore", invalid="ignore"):
            finer = np.clip(0.7 * np.sqrt(allowed / blurred), 0.01, 0.7)
        unsure = ~close & (cap[rows] * ends.error > 0.3 * allowed) & (care[rows] < 3)
        jumping = ~close & ~unsure & (jump_high * missed > 0.3 * allowed) & (cap[rows] < top[rows])
        coarse = ~close & ~unsure & ~jumping & (blurred > 0.3 * allowed)
        affordable = (
            coarse & (ends.nodes / finer <= min(MOST_NODES, MOST_WORK / scores.hay.size)) & (gap < MANY_POINTS_GAP)
        )
        # Jumps that may not win ask for a higher cap, and an integral too coarse for what is left
        # asks for the lowest that does.
        ladder = np.flatnonzero(jumping | (coarse & ~affordable & (tries[rows] == 0)))
        care[rows[unsure]] += 1
        sharp[rows[affordable]] *= finer[affordable]
        moved = np.zeros_like(close)
        if ladder.size:
            chosen = _least_cap(n, part.rows(ladder), values[rows[ladder]], top[rows[ladder]], 0.2 * allowed[ladder])
            moved[ladder] = np.abs(np.log(chosen / cap[rows[ladder]])) > 0.1
            cap[rows[ladder]], sharp[rows[ladder]] = chosen, 1.0
            tries[rows[ladder]] += 1
        rows = rows[unsure | affordable | moved]


def _first_cap(n: int, hay: Floats, values: Floats, top: Floats) -> Floats:
    """A score that alone lifts the sum twelve deviations above 0, or the largest."""
    with np.errstate(over="ignore"):
        tame = np.clip(values / top[:, None], -float(n), 1.0)
    mean, deviation = -n * (tame @ hay), np.sqrt(n * (tame**2 @ hay))
    for _ in range(3):
        cap = mean + 12.0 * deviation
        deviation = np.sqrt(n * (np.minimum(tame, cap[:, None]) ** 2 @ hay))
    return np.asarray(top * np.clip(np.maximum(mean, 0.0) + 12.0 * deviation, 1e-250, 1.0))


def _least_cap(n: int, scores: Scores, values: Floats, top: Floats, allowed: Floats) -> Floats:
    """About the least cap whose jumps leave no more open than ``allowed``, a row each; the largest
    score if there is none.
    """
    floor = np.maximum(np.where(values > 0.0, values, np.inf).min(axis=1, initial=np.inf), SMALLEST)
    low, high = np.zeros_like(top), np.ceil(np.log(top / np.minimum(floor, top)) / np.log(LADDER))
    for _ in range(int(np.log2(1.0 + high.max())) + 1):
        middle = np.floor(0.5 * (low + high))
        cap = np.minimum(floor * LADDER**middle, top)
        _, jump = scores.jumps(cap)
        enough = jump * _missed(n, scores.hay, scores.capped(n, cap).low, jump > allowed) <= allowed
        low, high = np.where(enough, low, np.minimum(middle + 1.0, high)), np.where(enough, middle, high)
    return np.asarray(np.minimum(floor * LADDER**high, top))


def _missed(n: int, hay: Floats, capped: Floats, asked: NDArray[np.bool_]) -> Floats:
    """P(S' < -1) at most, for the sum S' of n - 1 capped scores; 1 in rows that are not asked for.

    For every level K: either some score is below -K, or Chernoff's inequality holds for scores
    raised to -K.
    """
    missed = np.ones(asked.size)
    rows = np.flatnonzero(asked)
    if rows.size == 0:
        return missed
    g = capped[rows]
    best = np.ones(rows.size)
    for level in FATAL:
        fatal = (n - 1) * ((g < -level) @ hay)
        raised = np.maximum(g, -level)
        for tilt in TILTS / level if level < 1.0 else TILTS:
            with np.errstate(over="ignore"):
                chernoff = (n - 1) * np.log1p(np.maximum(np.expm1(-tilt * raised) @ hay, UNIT - 1.0)) - tilt
            best = np.minimum(best, fatal * (1.0 + 1e-12) + np.exp(np.minimum(chernoff + 1e-13 * (n + tilt), 0.0)))
    missed[rows] = best
    return missed
