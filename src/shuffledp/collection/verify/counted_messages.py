"""What a design says of a law of several messages, read and refused alike."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from shuffledp.collection.verify.counted_law import WORD, CountedLaw, not_run, read_integers
from shuffledp.collection.verify.effort import MOST_VALUES

__all__ = ["CountedMessages"]


@dataclass(frozen=True)
class CountedMessages(CountedLaw):
    """A law of several messages; ``own`` are its parameters beside k and epsilon0, which is
    infinite where a message is the plain truth.
    """

    parameters: ClassVar[Mapping[str, tuple[str, ...]]]  # by family

    own: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, law: Mapping[str, Any]) -> Self:
        """Read what a design says."""
        try:
            family, k = law["randomizer"], law["k"]
            own = {name: law[name] for name in cls.parameters[family]}
            epsilon0 = math.inf if law["epsilon0"] is None else float(law["epsilon0"])
            made = cls(family, k, read_integers(law), 0, epsilon0, own)
            sound = type(k) is int and 2 <= k <= MOST_VALUES and made._sound()
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            sound = False
        if not sound:
            raise not_run(law)
        return made

    @abstractmethod
    def _sound(self) -> bool:
        """Whether its parameters and integers are such as shuffledp runs."""

    @property
    def names(self) -> set[str]:
        return {"randomizer", "k", "epsilon0", "integers", *self.parameters[self.family]}

    @property
    def binary(self) -> bool:
        return False

    @property
    def support(self) -> int | None:
        return None

    @property
    def lone(self) -> CountedLaw:
        """Randomized response with as many values: what a report without a shuffler would be."""
        return CountedLaw("krr", self.k, (WORD // 2,), 0, 1.0)
