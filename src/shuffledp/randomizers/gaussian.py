"""Gaussian noise on a number in [0, 1].

scipy is loaded by the functions that compute with it: who only draws reports needs none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from shuffledp._types import Floats
from shuffledp.errors import check_finite
from shuffledp.randomizers.family import Family, register
from shuffledp.randomizers.location import FirstScores, ScaledNoise
from shuffledp.randomizers.parameters import check_between, checked
from shuffledp.randomizers.randomizer import Strength
from shuffledp.sampling.tables import discrete_gaussian
from shuffledp.wording import statement

SMALLEST_SIGMA, LARGEST_SIGMA = 0.05, 1e9
WIDEST_CELL = 1.0 / 16.0
CELLS = (80, 800)
UNUSUAL, EXPOSED = 1e-7, 1e-60
OUTPUTS, OUTPUT_CELL = (160, 480), 0.1  # cells, and how far log-ratios may go in one
NEAR, FAR, FAR_CELLS = 6.0, 16.5, 24  # deviations: N(0, 1) has mass 2e-61 beyond the last

BY_SIGMA = Strength(  # the chi-square divergence of two normal laws at distance 1
    name="sigma",
    safe=1e6,
    risky=SMALLEST_SIGMA,
    loss=lambda sigma: 0.5 * (sigma**-2.0 + math.log(-math.expm1(-(sigma**-2.0)))),
    value=lambda loss: max(math.log1p(math.exp(min(2.0 * loss, 700.0))), 1e-12) ** -0.5,
)


def _check_sigma(value: object) -> float:
    remedy = "It is the noise's standard deviation, for inputs in [0, 1]."
    return check_between("sigma", value, SMALLEST_SIGMA, LARGEST_SIGMA, remedy=remedy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaussian(ScaledNoise):
    """Report x + N(0, sigma^2), for x in [0, 1]; gamma = 2 Phi(-1 / (2 sigma)).

    log(mu_0/mu_1) = (1 - 2y) / (2 sigma^2) is unbounded: there is no pure local guarantee, but
    ``local_delta`` is exact (Balle and Wang 2018, Thm 8). Balle et al. 2019 leave its blanket open;
    here the outputs beyond probability 1e-60 count as seen.

    >>> Gaussian(sigma=2.0).describe()
    {'randomizer': 'gaussian', 'sigma': 2.0}
    """

    sigma: float = field(metadata=checked(_check_sigma))

    strength: ClassVar[Strength] = BY_SIGMA

    @property
    def epsilon0(self) -> float:
        return math.inf

    @property
    def gamma(self) -> float:
        from scipy.special import ndtr

        return float(2.0 * ndtr(-0.5 / self.sigma))

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (statement("worst pair"),)

    def local_delta(self, *, epsilon: float) -> float:
        """The delta of one report at ``epsilon``, any real number; see ``gaussian_delta``.

        >>> round(Gaussian(sigma=1.0).local_delta(epsilon=1.0), 6)
        0.126937
        """
        from shuffledp.randomizers.gaussian_delta import gaussian_delta

        epsilon = check_finite("epsilon", epsilon, remedy="delta(epsilon) is defined for every real epsilon.")
        return gaussian_delta(self.sigma, epsilon)

    def local_rdp(self, *, order: float) -> float:
        """order / (2 sigma^2): the divergence of two normal laws at distance 1."""
        return order / (2.0 * self.sigma**2)

    @property
    def scale(self) -> float:
        return self.sigma

    def reach(self, steps: int) -> int:
        return math.ceil(math.sqrt(2.0 * 64.0 * math.log(2.0)) * self.sigma * steps)

    def noise_weights(self, steps: int, reach: int) -> list[int]:
        return discrete_gaussian((Fraction(self.sigma) * steps) ** 2, reach)

    def describe(self) -> dict[str, object]:
        return {"randomizer": "gaussian", "sigma": self.sigma}

    def cuts(self) -> Floats:
        """Cells equal in y and so in log u, wider where mu_0 is rare, down to where it has mass
        1e-60; then one cell to -infinity.
        """
        from scipy.special import ndtri

        usual, lowest = (float(ndtri(rest)) * self.sigma for rest in (UNUSUAL, EXPOSED))
        near = np.linspace(0.5, usual, self._cells(0.5 - usual, 1.0) + 1)
        far = np.linspace(usual, lowest, self._cells(usual - lowest, 4.0) + 1)
        return np.concatenate([near, far[1:], [-np.inf]])

    def _cells(self, length: float, stretch: float) -> int:
        fewest, most = CELLS
        return math.ceil(min(max(fewest, length / self.sigma**2 / WIDEST_CELL), most) / stretch)

    def mass(self, low: Floats, high: Floats) -> Floats:
        from scipy.special import ndtr

        mirror = low + high > 0.0
        bottom, top = np.where(mirror, -high, low), np.where(mirror, -low, high)
        mass: Floats = ndtr(top / self.sigma) - ndtr(bottom / self.sigma)
        return mass

    def log_ratio(self, y: Floats) -> Floats:
        ratio: Floats = (1.0 - 2.0 * y) / (2.0 * self.sigma**2)
        return ratio

    def log_shift(self, y: Floats, x: float | Floats, other: Floats) -> Floats:
        with np.errstate(invalid="ignore"):  # an infinite y times 0
            shift = (x - other) * (2.0 * y - x - other) / (2.0 * self.sigma**2)
        return np.where(x == other, 0.0, shift)

    def outputs(self, points: Floats) -> Floats:
        """Equal cells to six deviations from the outermost points, and wider ones from there."""
        fewest, most = OUTPUTS
        cells = math.ceil(min(max(fewest, (1.0 + 2.0 * NEAR * self.sigma) / self.sigma**2 / OUTPUT_CELL), most))
        low, high = points.min(axis=0) - NEAR * self.sigma, points.max(axis=0) + NEAR * self.sigma
        near = low + (high - low) * np.linspace(0.0, 1.0, cells + 1)[:, None]
        far = self.sigma * np.linspace(0.0, FAR - NEAR, FAR_CELLS + 1)[1:, None]
        return np.sort(np.concatenate([low - far, near, high + far, points]), axis=0).T

    def turning(self, one: Floats, two: Floats, other: Floats, growth: float) -> Floats:
        """Where the derivatives of the two ratios are equal: both rise, or both fall."""
        first, second = one - other, two - other
        with np.errstate(divide="ignore", invalid="ignore"):
            level = self.sigma**2 * np.log(growth * second / first)
            return np.asarray((level + 0.5 * (first * (one + other) - second * (two + other))) / (first - second))

    def first_scores(self, growth: float) -> FirstScores:
        """Without the subtrahend: mu_a is at most e^(1/(8 sigma^2)) times the mixture (1 - a) mu_0
        + a mu_1, by the inequality of the means, and mu_0 / omega and mu_1 / omega have one law.
        """
        hay, needle = self._spread()
        kept = hay > 0.0
        factor = math.exp(0.125 / self.sigma**2)
        score = factor * self.gamma * np.append(needle[kept] / hay[kept], 1.0)
        return FirstScores(np.append(hay[kept] / self.gamma, 0.5), score, factor * float(needle[~kept].sum()))

    def delta_apart(self, distance: float, epsilon: float) -> float:
        from shuffledp.randomizers.gaussian_delta import SLACK, gaussian_delta

        return gaussian_delta(self.sigma / distance, epsilon) * (1.0 + SLACK)

    @property
    def grain(self) -> float:
        return max(self.sigma, 1.0)


register(Family(make=Gaussian))
