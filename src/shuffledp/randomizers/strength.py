"""The parameter that says how much one report hides, and where calibration looks for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from shuffledp.randomizers.parameters import LARGEST_EPSILON0

__all__ = ["BY_EPSILON0", "Strength"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """A parameter of randomizers: from ``safe`` to ``risky`` a report hides less and less.

    ``loss`` is, up to a constant, about the logarithm of the privacy loss of shuffled reports, and
    ``value`` is its inverse. Both only guide the search: what it finds is checked.
    """

    name: str
    safe: float
    risky: float
    loss: Callable[[float], float]
    value: Callable[[float], float]


# a report loses about epsilon0 / sqrt(n) where that is small, and exp(epsilon0 / 2) / sqrt(n) where
# it is large
BY_EPSILON0 = Strength(
    name="epsilon0",
    safe=1e-6,
    risky=LARGEST_EPSILON0,
    loss=lambda epsilon0: math.log(2.0 * math.sinh(epsilon0 / 2.0)),
    value=lambda loss: 2.0 * math.asinh(math.exp(min(loss, 99.0)) / 2.0),
)
