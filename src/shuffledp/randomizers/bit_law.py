"""One bit of a report: how often it is set by those who hold its value, and by all others."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["BitLaw"]

UNIT = 2.0**-52


@dataclass(frozen=True, slots=True)
class BitLaw:
    """The chances of a 1: ``p`` in the report of a user who holds the value, ``q`` < p in others'.

    ``not_p`` and ``not_q`` are their complements, ``up`` = log(p / q) and ``down`` = log(not_q /
    not_p), which is off by at most ``doubt``, relative to itself. All are given with a relative
    accuracy of a few units in the last place, which near 0 and 1 they would not have if they were
    computed from two of them.
    """

    p: float
    q: float
    not_p: float
    not_q: float
    up: float
    down: float
    doubt: float = 16.0 * UNIT

    @classmethod
    def symmetric(cls, epsilon0: float) -> BitLaw:
        """Binary randomized response: a bit is kept with odds e^epsilon0.

        >>> BitLaw.symmetric(math.log(3)).p
        0.75
        """
        kept, flipped = 1.0 / (math.exp(-epsilon0) + 1.0), 1.0 / (math.exp(epsilon0) + 1.0)
        return cls(kept, flipped, flipped, kept, epsilon0, epsilon0, doubt=0.0)

    @classmethod
    def half(cls, epsilon0: float) -> BitLaw:
        """p = 1/2 and q = 1 / (e^epsilon0 + 1).

        >>> BitLaw.half(math.log(3)).q
        0.25
        """
        q, not_q = 1.0 / (math.exp(epsilon0) + 1.0), 1.0 / (math.exp(-epsilon0) + 1.0)
        return cls(0.5, q, 0.5, not_q, math.log1p(0.5 * math.expm1(epsilon0)), -math.log1p(0.5 * math.expm1(-epsilon0)))

    @classmethod
    def of(cls, p: float, q: float) -> BitLaw:
        """From two chances that mean what they say.

        >>> law = BitLaw.of(0.5, 0.25)
        >>> round(math.exp(law.up), 9), round(math.exp(law.down), 9)
        (2.0, 1.5)
        """
        return cls(p, q, 1.0 - p, 1.0 - q, math.log1p((p - q) / q), math.log1p((p - q) / (1.0 - p)))

    def flipped(self) -> BitLaw:
        """The law of the bit's complement, of which holders and others have exchanged roles."""
        return BitLaw(self.not_q, self.not_p, self.q, self.p, self.down, self.up, self.doubt)
