"""All levels of a tree of bins at once: least squares brings them together.

Every node v of every level is counted with noise of the same variance, y_v = c_v + noise, and a
node's people are those of its children; how many people there are in all is known. Two passes give
the best of all unbiased linear estimates (Hay et al. 2010). Upwards, in units of the noise's
variance: what a node's own count and those below it say together is z_v, of variance V_v,

    S_v = sum of V_u over the children u,    V_v = S_v / (1 + S_v)  (1 at a bin),
    z_v = V_v y_v + V_v / S_v (sum of z_u) ;

downwards, what the children are off is shared out: c_u = z_u + V_u / S_v (c_v - sum of z_u'). What
a count adds to an estimated group of bins follows by the same passes the other way round: with G of
the bins the group, 1 for its bins and 0 for others,

    G_v = sum of V_u G_u / S_v ,    H_u = G_u - G_v + H_v V_v / S_v  (the last term not at the top),

the weight of y_v is V_v H_v, and that of the number of people G of the root. The noise is that of
the dummies alone: its law is known, and is the same whatever the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from shuffledp._types import Floats
from shuffledp.protocols.estimate import Interval, Noise
from shuffledp.randomizers.messages import TreeDummies
from shuffledp.randomizers.messages.dummies import MOST_LEVELS
from shuffledp.randomizers.randomizer import Ints

__all__ = ["DummyNoise", "TreeSquares", "tree_shapes"]

AT_ONCE = 1 << 22  # weights that are in memory at once
LEAST_BRANCHES = 4  # fewer make levels that nearly repeat each other
Group = tuple[int, int]


def tree_shapes(bins: int) -> list[tuple[int, int]]:
    """The numbers of levels and branches to choose from: all bins at once, and trees whose levels
    grow by about the same factor.

    >>> tree_shapes(64)
    [(1, 4), (2, 8), (3, 4)]
    """
    shapes = [(1, LEAST_BRANCHES)]
    for levels in range(2, MOST_LEVELS + 1):
        branches = math.ceil(bins ** (1.0 / levels) - 1e-9)
        if branches < LEAST_BRANCHES or branches ** (levels - 1) >= bins:
            break
        shapes.append((levels, branches))
    return shapes


@dataclass(frozen=True, slots=True, eq=False)
class DummyNoise(Noise):
    """Noise whose law is known: independent terms, of which ``skew`` has the third cumulant over
    the variance as elsewhere, ``heavy`` the fourth over its square, and ``unit`` the largest step.
    """

    heavy: Floats = None  # type: ignore[assignment]

    def interval(self, values: Floats, tail: float) -> Interval:
        """By Cornish and Fisher's expansion to the fourth cumulant, never nearer than a normal law
        would put the limits, and half a step farther: noise comes in steps.
        """
        z, deviation = -float(ndtri(tail)), np.sqrt(self.base)
        third = np.divide(self.skew, deviation, out=np.zeros_like(values), where=deviation > 0.0)
        bent = (z**3 - 3.0 * z) / 24.0 * self.heavy - (2.0 * z**3 - 5.0 * z) / 36.0 * third**2
        reach = deviation * (z + np.maximum(bent, 0.0)) + np.asarray(self.unit) / 2.0
        shift = (z * z - 1.0) / 6.0 * self.skew
        return Interval(np.minimum(values - shift - reach, values), np.maximum(values - shift + reach, values))

    def at(self, chosen: Any) -> Noise:
        unit = np.broadcast_to(self.unit, self.base.shape)[chosen]
        return DummyNoise(self.base[chosen], self.slope[chosen], self.skew[chosen], unit, heavy=self.heavy[chosen])

    def averaged(self, others: Sequence[Noise]) -> Noise | None:
        """Of rounds with the same law: the fourth cumulant falls with their number cubed."""
        if not all(isinstance(each, DummyNoise) and np.array_equal(each.base, self.base) for each in others):
            return None
        many = 1 + len(others)
        return DummyNoise(self.base / many, self.slope, self.skew / many, self.unit / many, heavy=self.heavy / many)


@dataclass(frozen=True, eq=False)
class TreeSquares:
    """The estimates that a tree's counts give of groups of bins, each from its first bin to below
    its second.
    """

    law: TreeDummies

    @cached_property
    def _parents(self) -> list[Ints]:
        """The node of the next coarser level that holds each node of a level; of the coarsest, the
        root.
        """
        coarsest = np.zeros(self.law.sizes[0], dtype=np.int64)
        return [coarsest, *(np.arange(size) // self.law.branches for size in self.law.sizes[1:])]

    @cached_property
    def _spread(self) -> tuple[list[Floats], list[Floats]]:
        """V of the nodes of every level, coarse ones first, and S of what is above each level: the
        root's first.
        """
        known: list[Floats] = [np.ones(self.law.sizes[-1])]
        below: list[Floats] = []
        for parents in reversed(self._parents):
            below.insert(0, np.bincount(parents, weights=known[0]).astype(np.float64))
            known.insert(0, below[0] / (1.0 + below[0]))
        return known[1:], below

    def weights(self, groups: Floats) -> tuple[Floats, Floats]:
        """What each count adds to the estimate of each group, and what each person does; ``groups``
        has a row for each group, 1 for its bins and 0 for others.
        """
        known, below = self._spread
        levels = list(zip(self._parents, known, below, strict=True))
        shared = [groups]  # G, from the bins upwards
        for parents, own, total in reversed(levels):
            starts = np.searchsorted(parents, np.arange(len(total)))
            shared.append(np.add.reduceat(own * shared[-1], starts, axis=1) / total)
        shared.reverse()
        found, above = [], np.zeros_like(shared[0])
        for place, (parents, own, _) in enumerate(levels):
            turned = (shared[place + 1] - shared[place][:, parents]) + above[:, parents]  # H
            found.append(own * turned)
            if place + 1 < len(levels):
                above = turned * (own / below[place + 1])
        return np.concatenate(found, axis=1), shared[0][:, 0]

    def _parts(self, groups: Sequence[Group]) -> Iterator[tuple[slice, Floats, Floats]]:
        """The weights of some groups at a time."""
        bins, step = np.arange(self.law.k), max(1, AT_ONCE // self.law.places)
        for start in range(0, len(groups), step):
            ends = np.array(groups[start : start + step])
            rows = ((bins >= ends[:, :1]) & (bins < ends[:, 1:])).astype(np.float64)
            yield slice(start, start + step), *self.weights(rows)

    def estimate(self, votes: Ints, groups: Sequence[Group], people: int) -> tuple[Floats, DummyNoise, Floats]:
        """The estimates, their noise and their standard errors."""
        values = np.zeros(len(groups))
        counted = votes - float(self.law.numbers.mean)
        for part, weights, shares in self._parts(groups):
            values[part] = weights @ counted + shares * people
        noise = self.noise(groups)
        return values, noise, np.sqrt(noise.base)

    def noise(self, groups: Sequence[Group]) -> DummyNoise:
        """Of estimates of these groups: the same for all data."""
        squares, cubes, fourths, steps = np.zeros((4, len(groups)))
        for part, weights, _ in self._parts(groups):
            squares[part], cubes[part], fourths[part] = ((weights**power).sum(axis=1) for power in (2, 3, 4))
            steps[part] = np.abs(weights).max(axis=1)
        second, third, fourth = self._cumulants
        base = second * squares
        heavy = fourth * fourths / base**2
        return DummyNoise(base, np.zeros_like(base), third * cubes / base, steps, heavy=heavy)

    def sway(self, groups: Sequence[Group]) -> Floats:
        """How far one malicious person can move each estimate: all messages may name one node."""
        found = np.zeros(len(groups))
        for part, weights, _ in self._parts(groups):
            found[part] = self.law.messages * np.ptp(weights, axis=1)
        return found

    @cached_property
    def _cumulants(self) -> tuple[float, float, float]:
        """The second, third and fourth of a node's number of dummies."""
        numbers = self.law.numbers
        counts = numbers.first + np.arange(len(numbers.weights)) - float(numbers.mean)
        second, third, fourth = (float(counts**power @ numbers.chances) for power in (2, 3, 4))
        return float(numbers.variance), third, fourth - 3.0 * second**2
