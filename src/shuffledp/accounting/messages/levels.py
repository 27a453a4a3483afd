"""Levels of a tree that are seen side by side, as one curve, and the price in delta of a law that
runs and is not quite the one that was accounted.

Given the data the counts of different levels are independent, and one person's value changes two
nodes of every level at most: the pair of all levels is the product of theirs, which are all alike.
It is that of as many rounds, and both ends are as good as composition is.

If the laws of what is seen differ in total variation by at most tau, for either input, then

    delta(eps) <= ideal(eps) + (1 + e^eps) tau,   and at least   ideal(eps) - (1 + e^eps) tau.

Cut tables, rounded probabilities, and secrets that are shared but for a small distance all enter
here. delta falls with eps, so that beyond some point the bound is kept as it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shuffledp._types import End, Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP, ROUGH_GAP
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.pld import Composition
from shuffledp.accounting.reductions import Curve
from shuffledp.accounting.rounds import Repeated, Round

__all__ = [
    "ComposedLevels",
    "Inexact",
]


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

    def repeated(self, rounds: int, spacing: float) -> Composition | None:
        """The losses of two counts of every level, as of as many rounds."""
        pair: object = self.one.reduction.lowers[0]
        return pair.repeated(rounds * self.many, spacing) if isinstance(pair, Repeated) else None

    def end(self, end: End, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        """One end of delta."""
        return self.composed.deltas(epsilons, end=end, gap=gap)

    def epsilon(self, end: End, delta: float) -> float:
        """One end of epsilon."""
        return (
            self.composed.epsilon_at_most(delta=delta)
            if end == "upper"
            else self.composed.epsilon_at_least(delta=delta)
        )


POINTS = 257


@dataclass(frozen=True, eq=False)
class Inexact:
    """What a mechanism gives away whose view is within ``distance`` of that of ``ideal``."""

    ideal: Curve
    distance: float

    @classmethod
    def of(cls, ideal: Curve, distance: float) -> Curve:
        """The same curve, if there is no distance; what adds up to more than 1 is 1."""
        return cls(ideal, min(distance, 1.0)) if distance > 0.0 else ideal

    @property
    def name(self) -> str:
        """That of the ideal."""
        return self.ideal.name

    def swapped(self) -> Curve:
        """The pair in the other order."""
        return Inexact(self.ideal.swapped(), self.distance)

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """Both ends at every epsilon >= 0."""
        epsilons = np.asarray(epsilons, dtype=np.float64)
        near = np.minimum(epsilons, self._turning)
        lower, upper = self.ideal.bounds(epsilons, gap)
        if np.any(near < epsilons):
            upper = self.ideal.bounds(near, gap)[1]
        return np.maximum(lower - self._paid(epsilons), 0.0), np.minimum(upper + self._paid(near), 1.0)

    @cached_property
    def _turning(self) -> float:
        """About where the upper end is least; any point would be valid."""
        grid = np.linspace(0.0, max(-math.log(self.distance), 0.0), POINTS)
        return float(grid[np.argmin(self.ideal.bounds(grid, ROUGH_GAP)[1] + self._paid(grid))])

    def _paid(self, epsilons: Floats) -> Floats:
        return np.asarray((1.0 + np.exp(np.minimum(epsilons, 700.0))) * self.distance * (1.0 + 1e-12))
