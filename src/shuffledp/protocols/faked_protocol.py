"""What all questions have in common that are answered from true values among fakes, which users
send or the shuffler adds: the choice of the noise, and whether it is there.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from shuffledp.mechanisms.dummies import Dummies
from shuffledp.mechanisms.fakes import Fakes
from shuffledp.protocols.lazily import settled
from shuffledp.protocols.message_protocol import MessageProtocol
from shuffledp.randomizers.messages import MessageLaw, ShufflerDummies, UserFakes
from shuffledp.randomizers.messages.dummies import AddedDummies, DummiesKind, check_dummies_kind, check_keep
from shuffledp.randomizers.messages.fakes import FakesKind, check_fakes_kind, check_slots
from shuffledp.randomizers.messages.message import FakedValues, check_light

__all__ = ["DummiesOfShuffler", "FakedProtocol", "FakesOfUsers"]


@dataclass(frozen=True, kw_only=True, eq=False)
class FakedProtocol(MessageProtocol):
    """A question about values that messages name, true ones and fakes alike."""

    makes: ClassVar[type[FakedValues]]

    randomizer: FakedValues = settled()
    light_epsilon0: float | None = None

    @property
    @abstractmethod
    def _size(self) -> int:
        """How many values there are."""

    @abstractmethod
    def _ask(self) -> None:
        """Check the question."""

    def _prepare(self) -> None:
        self._ask()
        if self.light_epsilon0 is not None:
            self._set(light_epsilon0=check_light(self.light_epsilon0))
        super()._prepare()

    @property
    def _light(self) -> float:
        return math.inf if self.light_epsilon0 is None else self.light_epsilon0

    def _answers(self, law: MessageLaw) -> bool:
        return isinstance(law, self.makes) and law.k == self._size


@dataclass(frozen=True, kw_only=True, eq=False)
class FakesOfUsers(FakedProtocol):
    """Users send their true value, and some of them random ones beside it."""

    makes: ClassVar[type[FakedValues]] = UserFakes

    slots: int | None = None
    kind: FakesKind | None = None

    def _prepare(self) -> None:
        if self.slots is not None:
            self._set(slots=check_slots(self.slots))
        if self.kind is not None:
            self._set(kind=check_fakes_kind(self.kind))
        super()._prepare()

    def _calibrated(self) -> UserFakes:
        own = Fakes.calibrated(self._target, self._size, slots=self.slots, kind=self.kind, epsilon0=self._light)
        return own.law


@dataclass(frozen=True, kw_only=True, eq=False)
class DummiesOfShuffler(FakedProtocol):
    """Users send their true value, and the shuffler adds dummies before it hands messages on."""

    makes: ClassVar[type[FakedValues]] = ShufflerDummies

    keep: float | None = None
    kind: DummiesKind | None = None

    def _prepare(self) -> None:
        if self.keep is not None:
            self._set(keep=check_keep(self.keep))
        if self.kind is not None:
            self._set(kind=check_dummies_kind(self.kind))
        super()._prepare()

    def _calibrated(self) -> AddedDummies:
        own = Dummies.calibrated(self._target, self._size, keep=self.keep, kind=self.kind, epsilon0=self._light)
        return own.law
