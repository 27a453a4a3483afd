"""E(G_1 + ... + G_n)_+ / n by adding positions up on a mesh: for scores spread over many orders of
magnitude, where a contour sees only the largest.

The law of a sum of m positions is kept on the points w sinh(step j): evenly spaced near 0,
relatively spaced far out. Sums of two laws fall between the points. x -> x_+ is convex, so
spreading each to its two neighbors *preserving the mean* can only raise the value, and merging
cells to their means can only lower it: the two ends are proven by the same steps. The last addition
is not rounded at all.

What falls below the mesh is raised to its lowest point at the upper end and dropped at the lower
end; what falls above it is moved to its highest point, and the upper end adds the difference for
every block of positions that could have it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.accounting.haystack.contour import UNIT, absences

__all__ = ["mesh_bounds", "pair_bounds"]

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
