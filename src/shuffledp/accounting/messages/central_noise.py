"""What a sum with discrete Laplace noise gives away of a value that moves it by ``shift``.

The noise is a difference of two numbers of the law NB(t, q). If its law f is symmetric and falls on
both sides of 0, the largest shift gives away most: (f(j) - x f(j - d))_+ is 0 for 2j >= d, and else
|j - d| > |j| grows with d.

*t = 1*: f(j) = (1-q) / (1+q) q^|j|, and f(j) > x f(j - d) up to some j = i < d/2. With lambda =
-log q,

    (1+q) delta(eps) = (1 - e^(eps - lambda (d - i))) + q (1 - q^i) ,     i >= 0 .
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP
from shuffledp.accounting.haystack.contour import UNIT
from shuffledp.accounting.messages.fakes import DiscretePair
from shuffledp.accounting.messages.sums import OUTSIDE, negative_binomial, reach
from shuffledp.errors import InvalidInput

__all__ = ["CompleteNoise", "partial_noise"]

MOST_TERMS = 4e8  # products that are added up where there is no closed form: half a second
NAME = "one person's value moves the sum"


@dataclass(frozen=True, slots=True)
class CompleteNoise:
    """Discrete Laplace noise: ``log_ratio`` is -log q, the loss per step."""

    log_ratio: float
    shift: int

    @property
    def name(self) -> str:
        """The pair in words."""
        return NAME

    @property
    def ceiling(self) -> float:
        """Where delta is 0."""
        return self.log_ratio * self.shift * (1.0 + 4.0 * UNIT)

    def swapped(self) -> CompleteNoise:
        """The same: the noise is symmetric."""
        return self

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """Both ends of delta at every epsilon >= 0."""
        del gap
        epsilons, step = np.asarray(epsilons, dtype=np.float64), self.log_ratio
        # Any number of steps i is a test, and one beside the best is as good but for rounding.
        best = np.floor(0.5 * (self.shift - epsilons / step))
        values = np.max([self._tested(np.maximum(best + off, 0.0), epsilons) for off in (-1.0, 0.0, 1.0)], axis=0)
        error = 64.0 * UNIT * (values + (1.0 + step * self.shift + epsilons))
        inside = epsilons < self.ceiling
        lower, upper = np.maximum(values - error, 0.0), np.minimum(values + error, 1.0)
        return np.where(inside, lower, 0.0), np.where(inside, upper, 0.0)

    def _tested(self, i: Floats, epsilons: Floats) -> Floats:
        step = self.log_ratio
        gained = -np.expm1(epsilons - step * (self.shift - i)) - math.exp(-step) * np.expm1(-step * i)
        return np.asarray(gained / (1.0 + math.exp(-step)))


@lru_cache(maxsize=16)
def partial_noise(t: float, ratio: float, shift: int) -> DiscretePair:
    """The same for another t, where fewer or more honest people came than the noise was meant
    for.
    """
    most = reach(t, ratio, OUTSIDE)
    if (terms := float(most) ** 2) > MOST_TERMS:
        raise InvalidInput(
            f"the noise must be complete, or so small that {MOST_TERMS:.0e} terms add it up, got {t:g} of it and "
            f"{terms:.0e} terms. Describe the law for as many honest people as there are."
        )
    noise, doubt = negative_binomial(t, ratio, most)
    law = np.correlate(noise, noise, "full")
    doubt = 2.0 * doubt + UNIT * (most + 16.0)
    half = law[most:]
    if not np.all(half[1:] <= half[:-1] * (1.0 + 4.0 * doubt)):
        raise AssertionError("a difference of two negative binomial numbers falls on both sides of 0")
    nothing = np.zeros(shift)
    return DiscretePair(NAME, np.append(law, nothing), np.append(nothing, law), doubt, 2.0 * OUTSIDE)
