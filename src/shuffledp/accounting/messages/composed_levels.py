"""Levels of a tree that are seen side by side, as one curve.

Given the data the counts of different levels are independent, and one person's value changes two
nodes of every level at most: the pair of all levels is the product of theirs, which are all alike.
It is that of as many rounds, and both ends are as good as composition is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shuffledp._types import End, Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.messages.bucket_pairs import BucketDummies
from shuffledp.accounting.pld import Composition, LossDistribution
from shuffledp.accounting.rounds import Round

__all__ = ["ComposedLevels"]


FINER = 8  # than a level's own grid
ROUNDED = 1e-12  # relative, of probabilities that were added up; absolute, of what is left of 1
NEAR = 1e-9  # of a step: what is so close to the grid is on it, and epsilon is moved by as much


@dataclass(frozen=True, eq=False)
class ComposedLevels:
    """``one`` is what a level is by itself, of which there are so ``many``."""

    one: Round
    many: int

    @property
    def name(self) -> str:
        """The pair in words."""
        return "two values that differ on every level; all others hold a third"

    def swapped(self) -> ComposedLevels:
        """The same: of the two nodes of a level either may lose what the other gains."""
        return self

    @cached_property
    def composed(self) -> Guarantee:
        """What that of as many rounds is."""
        return self.one.compose(self.many)

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """Both ends of delta at every epsilon >= 0."""
        return self.end("lower", epsilons, gap), self.end("upper", epsilons, gap)

    @cached_property
    def _below(self) -> Composition | None:
        """The losses of two counts of every level, rounded down: what is seen for certain counts,
        which a composition of curves from below leaves out.
        """
        pair = self.one.reduction.lowers[0]
        if not isinstance(pair, BucketDummies) or pair.epsilon0 < math.inf:
            return None
        spacing = self.one.spacing() / FINER
        without = np.append(pair.chances, 0.0)
        held = pair.keep * np.append(0.0, pair.chances) + (1.0 - pair.keep) * without
        both = (held > 0.0) & (without > 0.0)
        if not np.any(both):  # always as many dummies: no loss is finite
            return None
        loss = np.log(held[both]) - np.log(without[both])
        places = [np.floor(each / spacing + NEAR).astype(np.int64) for each in (loss, -loss)]
        laws = [
            np.bincount(place - place.min(), weights=law[both])
            for place, law in zip(places, (held, without), strict=True)
        ]
        mass: Floats = np.convolve(laws[0], laws[1]).astype(np.float64) * (1.0 - 4.0 * pair.doubt - ROUNDED)
        first, seen = sum(int(place.min()) for place in places), mass > 0.0
        certain = max(1.0 - float(held[both].sum()) * float(without[both].sum()) - 4.0 * pair.outside - ROUNDED, 0.0)
        return Composition(
            [(LossDistribution(spacing, (first + np.flatnonzero(seen)).astype(float), mass[seen], certain), self.many)]
        )

    def end(self, end: End, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        """One end of delta."""
        values = self.composed.deltas(epsilons, end=end, gap=gap)
        if end == "upper" or (below := self._below) is None:
            return values
        moved = epsilons + 2.0 * self.many * NEAR * below.spacing
        larger: Floats = np.maximum(values, below.deltas(moved, "lower"))
        return larger

    def epsilon(self, end: End, delta: float) -> float:
        """One end of epsilon."""
        if end == "upper":
            return self.composed.epsilon_at_most(delta=delta)
        values = self.composed.epsilon_at_least(delta=delta)
        if (below := self._below) is None:
            return values
        found = below.epsilon(delta, "lower") if below.infinite < delta else values
        return max(values, found - 2.0 * self.many * NEAR * below.spacing)
