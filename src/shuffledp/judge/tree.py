"""Dummies in all levels of a tree, from the whole numbers in a record: how people spread over bins,
by least squares on all nodes at once, and how far that may be off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from shuffledp.judge.fakes import CountedFakes
from shuffledp.judge.lattice import UNIT, Array
from shuffledp.judge.rows import Estimated

__all__ = ["TREE", "CountedTree"]

TREE = "tree"
MOST_LEVELS, MOST_BINS = 16, 1 << 12
SOLVED = 1e-9  # of a standard error: what solving equations in floats may lose


@dataclass(frozen=True)
class CountedTree(CountedFakes):
    """A law of ``tree``: a node of every level is named, and every node gets dummies."""

    def _sound(self) -> bool:
        levels, branches = self.own["levels"], self.own["branches"]
        whole = type(levels) is int and type(branches) is int and 1 <= levels <= MOST_LEVELS and branches >= 2
        shaped = whole and self.k <= MOST_BINS and branches ** (levels - 1) < self.k
        return shaped and self.epsilon0 == math.inf and super()._sound()

    @property
    def repeats(self) -> int:
        return int(self.own["levels"])

    @property
    def messages(self) -> int:
        return self.repeats

    @property
    def widths(self) -> list[int]:
        """How many bins a node of each level holds."""
        return [int(self.own["branches"]) ** (self.repeats - level) for level in range(1, self.repeats + 1)]

    @property
    def places(self) -> int:
        return sum(-(-self.k // width) for width in self.widths)

    @property
    def theorems(self) -> tuple[tuple[str, ...], ...]:
        return ((TREE,),)

    @cached_property
    def _holding(self) -> Array:
        """Which node, a row, holds which bin."""
        rows = []
        for width in self.widths:
            for first in range(0, self.k, width):
                rows.append([float(first <= bin_ < first + width) for bin_ in range(self.k)])
        return np.array(rows)

    @cached_property
    def _solved(self) -> Array:
        """What the counts of all nodes say of every bin but the last, which has the others of a
        known number of people.
        """
        return np.asarray(np.linalg.pinv(self._holding[:, :-1] - self._holding[:, -1:]))

    def weights(self, groups: Sequence[tuple[int, int]]) -> Array:
        """What the count of each node adds to that of each group of bins."""
        inside = np.array([[float(first <= bin_ < end) for bin_ in range(self.k)] for first, end in groups])
        return np.asarray((inside[:, :-1] - inside[:, -1:]) @ self._solved)

    def in_groups(self, votes: Sequence[int], groups: Sequence[tuple[int, int]], n: int) -> Estimated:
        """How many of n people are in each group of bins, from its first one to before its
        second.
        """
        weights, last = self.weights(groups), np.array([float(end == self.k) for _, end in groups])
        first, chances = self.table
        counts = first + np.arange(len(chances)) - float(self.moments(n)[0])
        over = np.array(votes, dtype=np.float64) - float(self.moments(n)[0]) - n * self._holding[:, -1]
        values = weights @ over + n * last
        second, third, fourth = (float(counts**power @ chances) for power in (2, 3, 4))
        variance = second * (weights**2).sum(axis=1)
        errors = np.sqrt(variance)
        lean = third * (weights**3).sum(axis=1) / variance
        heavy = (fourth - 3.0 * second**2) * (weights**4).sum(axis=1) / variance**2
        step = np.abs(weights).max(axis=1)

        def limits(tail: float) -> tuple[Array, Array]:
            """Cornish and Fisher's expansion, and half a step of the noise."""
            z = float(ndtri(1.0 - tail))
            bent = heavy * (z**3 - 3.0 * z) / 24.0 - (lean / errors) ** 2 * (2.0 * z**3 - 5.0 * z) / 36.0
            far, aside = errors * (z + np.maximum(bent, 0.0)) + step / 2.0, lean * (z * z - 1.0) / 6.0
            return np.minimum(values - aside - far, values), np.maximum(values - aside + far, values)

        return Estimated(values, errors, limits, math.sqrt(UNIT * n) + SOLVED * float(errors.max(initial=0.0)))

    def sway(self, groups: Sequence[tuple[int, int]]) -> Array:
        """All messages of one person may name the node that counts most, or least."""
        return np.asarray(self.messages * np.ptp(self.weights(groups), axis=1))
