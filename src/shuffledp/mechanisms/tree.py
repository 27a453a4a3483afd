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
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from shuffledp._types import Floats
from shuffledp.mechanisms.dummies import Dummies
from shuffledp.mechanisms.mechanism import Target
from shuffledp.mechanisms.results import Tally
from shuffledp.randomizers.messages import TreeDummies
from shuffledp.randomizers.messages.dummies import MOST_LEVELS, DummiesKind
from shuffledp.randomizers.randomizer import Ints
from shuffledp.workload import Workload

if TYPE_CHECKING:
    from shuffledp.mechanisms.rows import Known

LEAST_BRANCHES = 4  # fewer make levels that nearly repeat each other


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


@dataclass(frozen=True, eq=False)
class Tree(Dummies):
    """The estimates that a tree's counts give of groups of bins."""

    law: TreeDummies

    @classmethod
    def of_shape(cls, target: Target, k: int, shape: tuple[int, int], *, kind: DummiesKind | None = None) -> Self:
        """The least dummies that keep the promise in so many levels and branches, each level of
        which is a round.
        """
        from shuffledp.mechanisms.noise_search import fewest_dummies

        levels, branches = shape
        each = replace(target, rounds=target.rounds * levels)
        one = fewest_dummies(2, *each.terms, keep=1.0, kind=kind, epsilon0=math.inf)
        numbers = {name: getattr(one, name) for name in ("kind", "center", "left", "right", "rate")}
        return cls(TreeDummies(k=k, levels=levels, branches=branches, **numbers))

    @classmethod
    def best(cls, target: Target, k: int, workload: Workload, *, kind: DummiesKind | None = None) -> Self:
        """The shape with the least error: that is the same for all data, and known beforehand."""
        every = [cls.of_shape(target, k, shape, kind=kind) for shape in tree_shapes(k)]
        return min(every, key=lambda each: each.worst(workload, target.n))

    def _rows(self, tally: Tally, workload: Workload) -> Known:
        weights, shares = self.weights(workload.dense(self.size))
        dummies = float(self.law.numbers.mean) * len(tally.rounds)
        values = weights @ (tally.votes - dummies) + shares * tally.reports
        return replace(self._noise(weights, len(tally.rounds)), values=values)

    def _noise(self, weights: Floats, rounds: int = 1) -> Known:
        """Of sums of counts with these weights: the same for all data."""
        from shuffledp.mechanisms.rows import Known

        numbers = self.law.numbers
        counts = numbers.first + np.arange(len(numbers.weights)) - float(numbers.mean)
        second, third, fourth = (float(counts**power @ numbers.chances) for power in (2, 3, 4))
        cumulants = (float(numbers.variance), third, fourth - 3.0 * second**2)
        sums = [rounds * each * (weights**power).sum(axis=1) for power, each in enumerate(cumulants, start=2)]
        second, third, fourth = sums
        return Known(np.zeros(len(weights)), second, third, fourth, np.abs(weights).max(axis=1))

    def predicted(self, workload: Workload, held: Any) -> Floats:
        return self._noise(self.weights(workload.dense(self.size))[0]).stderr

    def worst(self, workload: Workload, people: int) -> float:
        return float(self.predicted(workload, None).max())

    def influence(self, workload: Workload) -> Floats:
        """All messages may name one node: nobody sees whether one person's fit together."""
        weights, _ = self.weights(workload.dense(self.size))
        return np.asarray(self.law.messages * np.ptp(weights, axis=1))

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
