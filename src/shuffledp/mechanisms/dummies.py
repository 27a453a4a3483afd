"""Everybody sends the true place, and the shuffler adds a random number of dummies to every place
before it hands messages on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from shuffledp.mechanisms.fakes import Expected, Faked
from shuffledp.mechanisms.mechanism import Target
from shuffledp.randomizers.messages.dummies import AddedDummies, DummiesKind

if TYPE_CHECKING:
    from shuffledp.mechanisms.exact_limits import FakeVotes

__all__ = ["Dummies"]


@dataclass(frozen=True, eq=False)
class Dummies(Faked):
    """It takes the most trust: messages must be sealed to the analyst, and the shuffler must add
    its dummies. In return the noise is as small as a curator's.
    """

    law: AddedDummies

    @classmethod
    def calibrated(
        cls,
        target: Target,
        k: int,
        *,
        keep: float | None = None,
        kind: DummiesKind | None = None,
        epsilon0: float = math.inf,
    ) -> Self:
        """The least dummies that keep a promise; the shuffler may ``keep`` a share of the messages,
        and true ones may be randomized by ``epsilon0``.
        """
        from shuffledp.mechanisms.noise_search import fewest_dummies

        terms = (target.honest, target.epsilon, target.delta, target.rounds)
        return cls(fewest_dummies(k, *terms, keep=1.0 if keep is None else keep, kind=kind, epsilon0=epsilon0))

    @property
    def _numbers(self) -> FakeVotes:
        """How many dummies a place has."""
        from shuffledp.mechanisms.exact_limits import FakeVotes

        return FakeVotes(self.law.numbers.first, self.law.numbers.chances)

    def _fakes(self, size: int, people: int) -> FakeVotes:
        return self._numbers.times(size)

    def _expected(self, people: int, honest: int) -> Expected:
        who = "Ask the shuffler whether it added them, and whether it is the one that the design names"
        return Expected(people, 0, self._numbers, self.law.places, "dummies", who)
