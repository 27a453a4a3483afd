"""A law that runs is not quite the one that was accounted: the distance is paid in delta.

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

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP, ROUGH_GAP
from shuffledp.accounting.reductions import Curve

__all__ = ["Inexact"]

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
