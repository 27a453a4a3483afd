"""Laplace noise on a number in [0, 1]."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from shuffledp._types import Floats
from shuffledp.errors import check_positive
from shuffledp.randomizers.family import Family, register
from shuffledp.randomizers.location import FirstScores, ScaledNoise
from shuffledp.randomizers.parameters import check_epsilon0, checked
from shuffledp.sampling.tables import discrete_laplace

WIDEST_CELL = 1.0 / 32.0
CELLS = (64, 512)
OUTPUTS, OUTPUT_CELL = (64, 512), 1.0 / 16.0  # cells between inputs, and how far log-ratios may go in one
ROUNDING = Fraction(1, 1 << 58)  # more than the integers' rounding can add to epsilon0


@dataclass(frozen=True, slots=True, kw_only=True)
class Laplace(ScaledNoise):
    """Report x + Laplace noise of scale 1/epsilon0, for x in [0, 1]; gamma = e^(-epsilon0/2) (Balle
    et al. 2019, section 5.1).

    log(mu_0/mu_1) = epsilon0 (1 - 2y) on [0, 1] and constant outside: below 0 all outputs are one
    class.

    >>> Laplace.from_scale(scale=0.5).describe()
    {'randomizer': 'laplace', 'epsilon0': 2.0}
    """

    epsilon0: float = field(metadata=checked(check_epsilon0))

    @classmethod
    def from_scale(cls, *, scale: float) -> Laplace:
        """Noise of density e^(-|z|/scale) / (2 scale).

        >>> Laplace.from_scale(scale=2.0).epsilon0
        0.5
        """
        return cls(
            epsilon0=1.0 / check_positive("scale", scale, remedy="It is the noise's mean absolute value; 1/epsilon0.")
        )

    @property
    def gamma(self) -> float:
        return math.exp(-self.epsilon0 / 2.0)

    @property
    def scale(self) -> float:
        return 1.0 / self.epsilon0

    def reach(self, steps: int) -> int:
        return math.ceil(64.0 * math.log(2.0) * steps / self.epsilon0)

    def noise_weights(self, steps: int, reach: int) -> list[int]:
        return discrete_laplace((Fraction(self.epsilon0) - ROUNDING) / steps, reach)

    def describe(self) -> dict[str, object]:
        return {"randomizer": "laplace", "epsilon0": self.epsilon0}

    def cuts(self) -> Floats:
        """A power of two of equal cells on [0, 1/2]: borders and mirror images are exact."""
        fewest, most = CELLS
        cells = 1 << math.ceil(math.log2(min(max(fewest, self.epsilon0 / WIDEST_CELL), most)))
        return np.append(np.linspace(0.5, 0.0, cells + 1), -np.inf)

    def mass(self, low: Floats, high: Floats) -> Floats:
        below = self._left(np.minimum(low, 0.0), np.minimum(high, 0.0))
        above = self._left(np.minimum(-high, 0.0), np.minimum(-low, 0.0))
        return below + above

    def _left(self, low: Floats, high: Floats) -> Floats:
        """The mass between two points of the negative half-line."""
        mass: Floats = -0.5 * np.exp(self.epsilon0 * high) * np.expm1(self.epsilon0 * (low - high))
        return mass

    def log_ratio(self, y: Floats) -> Floats:
        ratio: Floats = self.epsilon0 * (1.0 - 2.0 * np.clip(y, 0.0, 1.0))
        return ratio

    def log_shift(self, y: Floats, x: float | Floats, other: Floats) -> Floats:
        between = np.clip(y, np.minimum(x, other), np.maximum(x, other))
        return np.asarray(self.epsilon0 * (np.abs(between - other) - np.abs(between - x)))

    def outputs(self, points: Floats) -> Floats:
        """Equal cells between the outermost points; beyond them ratios are constant."""
        fewest, most = OUTPUTS
        cells = math.ceil(min(max(fewest, 2.0 * self.epsilon0 / OUTPUT_CELL), most))
        low, high = points.min(axis=0), points.max(axis=0)
        inside = low + (high - low) * np.linspace(0.0, 1.0, cells + 1)[1:-1, None]
        return np.sort(np.concatenate([inside, points]), axis=0).T

    def turning(self, one: Floats, two: Floats, other: Floats, growth: float) -> Floats:
        """Nowhere: between kinks ratios are constant or multiples of one exponential."""
        return np.full(one.shape, np.nan)

    def first_scores(self, growth: float) -> FirstScores:
        """On the scores gamma (e^epsilon0 - growth), gamma (1 - growth e^epsilon0); mean kept."""
        high = self.gamma * (math.exp(self.epsilon0) - growth)
        low = self.gamma * (1.0 - growth * math.exp(self.epsilon0))
        share = min(max((1.0 - growth - low) / (high - low), 0.0), 1.0)
        return FirstScores(np.array([1.0 - share, share]), np.array([low, high]), 0.0)

    def delta_apart(self, distance: float, epsilon: float) -> float:
        """1 - e^((epsilon - distance epsilon0) / 2)."""
        return -math.expm1(min(epsilon - distance * self.epsilon0, 0.0) / 2.0) * (1.0 + 1e-12)

    @property
    def grain(self) -> float:
        return 1.0


register(Family(make=Laplace))
