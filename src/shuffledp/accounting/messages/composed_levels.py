"""Levels of a tree that are seen side by side, as one curve.

Given the data the counts of different levels are independent, and one person's value changes two
nodes of every level at most: the pair of all levels is the product of theirs, which are all alike.
It is that of as many rounds, and both ends are as good as composition is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shuffledp._types import End, Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP
from shuffledp.accounting.guarantee import Guarantee

__all__ = ["ComposedLevels"]


@dataclass(frozen=True, eq=False)
class ComposedLevels:
    """``one`` is the guarantee of a level, ``all`` that of as many rounds of it as there are
    levels.
    """

    one: Guarantee
    all: Guarantee

    @property
    def name(self) -> str:
        """The pair in words."""
        return "two values that differ on every level; all others hold a third"

    def swapped(self) -> ComposedLevels:
        """The same: of the two nodes of a level either may lose what the other gains."""
        return self

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """Both ends of delta at every epsilon >= 0."""
        return self.end("lower", epsilons, gap), self.end("upper", epsilons, gap)

    def end(self, end: End, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        """One end of delta. All levels show no less than one does, of which composition leaves out
        losses that are too rare, or infinite.
        """
        values = self.all.deltas(epsilons, end=end, gap=gap)
        return values if end == "upper" else np.maximum(values, self.one.deltas(epsilons, end=end, gap=gap))

    def epsilon(self, end: End, delta: float) -> float:
        """One end of epsilon."""
        if end == "upper":
            return self.all.epsilon_at_most(delta=delta)
        return max(self.all.epsilon_at_least(delta=delta), self.one.epsilon_at_least(delta=delta))
