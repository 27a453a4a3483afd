"""What all questions have in common that are answered from true values among fakes, which users
send or the shuffler adds: the choice of the noise, and whether it is there.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from shuffledp._types import Floats
from shuffledp.protocols.fake_votes import check_fakes
from shuffledp.protocols.histogram import check_held
from shuffledp.protocols.lazily import settled
from shuffledp.protocols.least_noise import fewest_dummies, fewest_fakes
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

    def check_noise(self, counts: ArrayLike) -> None:
        people, _, votes = self.randomizer.opened(np.asarray(counts))
        assert self.honest is not None
        check_fakes(self.randomizer, people, votes, self.honest)

    def predicted_stderr(self) -> float:
        """The standard error of a count that a k-th of all n users hold; the mean square over the
        categories is the same for all data.
        """
        return self.randomizer.expected_stderr(self.n)

    def predicted_stderrs(self, counts: ArrayLike) -> Floats:
        """The standard error of each category's estimated count if ``counts`` users hold it:
        exact.
        """
        held = check_held(counts)
        people = round(float(held.sum()))
        deviations: Floats = np.sqrt(self.randomizer.group_law(1, people).variance(held, people))
        return deviations


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
        terms = (self._size, self._crowd(self.honest), *self._promised())
        return fewest_fakes(*terms, slots=self.slots, kind=self.kind or "bernoulli", epsilon0=self._light)


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
        terms = (self._size, self._crowd(self.honest), *self._promised())
        keep = 1.0 if self.keep is None else self.keep
        return fewest_dummies(*terms, keep=keep, kind=self.kind, epsilon0=self._light)
