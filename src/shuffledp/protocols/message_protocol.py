"""Protocols whose people send several messages, or whose shuffler adds dummies."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.dummies import Dummies
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.mechanisms.fakes import Fakes
from shuffledp.mechanisms.mechanism import Mechanism
from shuffledp.protocols.bag import Bag, Reports, notes_of
from shuffledp.protocols.protocol import FOUND, Protocol
from shuffledp.randomizers.messages import MessageLaw, ShufflerDummies, UserFakes
from shuffledp.randomizers.messages.dummies import DummiesKind, check_dummies_kind, check_keep
from shuffledp.randomizers.messages.fakes import FakesKind, check_fakes_kind, check_slots
from shuffledp.randomizers.messages.message import check_light
from shuffledp.randomizers.randomizer import Opened
from shuffledp.sampling import Rng

__all__ = ["DummiesOfShuffler", "FakesOfUsers", "MessageProtocol"]


@dataclass(frozen=True, kw_only=True, eq=False)
class MessageProtocol(Protocol):
    """A protocol with reports of several messages. It is described by a promise, which chooses the
    least noise that is certified to keep it, or by its law, ``randomizer``.

    A bag holds messages, not reports: those of one person do not lie together.
    """

    makes: ClassVar[type[MessageLaw]]

    randomizer: MessageLaw = FOUND

    @abstractmethod
    def _calibrated(self) -> Mechanism:
        """The least noise that keeps the promise with ``honest`` people."""

    def _answers(self, law: MessageLaw) -> bool:
        """Whether a law that is given answers the question."""
        return isinstance(law, self.makes) and law.k == self._size

    def _check_given(self) -> None:
        if "epsilon0" not in self._found or ("randomizer" in self._found) == (self.epsilon is None):
            raise InvalidInput(
                f"exactly one of epsilon and randomizer must be given to a {type(self).__name__}, got others. epsilon "
                f"is a promise, a randomizer is the law that runs."
            )

    def _drawn_by(self) -> MessageLaw:
        law: MessageLaw = self._calibrated().law
        return law

    def _check_randomizer(self, given: Any) -> MessageLaw:
        if not isinstance(given, MessageLaw) or not self._answers(given):
            raise InvalidInput(
                f"the randomizer must be the law of a {type(self).__name__}, got {given!r}. Leave it out, and promise "
                f"an epsilon."
            )
        return given

    def shuffle(self, reports: Reports | Iterable[Reports] | ArrayLike, *, colluding: int = 0, rng: Rng = None) -> Bag:
        """Forget who sent what, message by message; a law that gives the shuffler something to do
        has it done.
        """
        rows, secure = self._gather(reports)
        self._check_arrived(len(rows), colluding)
        messages = self.randomizer.mixed_messages(rows.ravel(), rng=rng)
        return Bag(self.describe(), messages, secure and rng is None, people=len(rows))

    def analyse(self, bag: Bag) -> Estimate:
        if not isinstance(bag, Bag):
            raise InvalidInput(f"bag must come from shuffle(...), got {type(bag).__name__}. Shuffle the reports first.")
        self._check_same(bag)
        self._check_most(len(bag))
        tally = self.randomizer.of_people(self.tally(bag.rows), len(bag))
        return self.analyse_counts(tally, secure=bag.secure, notes=notes_of(bag, self.n))

    def _opened(self, counts: ArrayLike) -> Opened:
        law, tally = self.randomizer, np.asarray(counts)
        whole = tally.shape == (law.tally_size,)
        if not whole or tally.dtype.kind not in "iu" or tally.min() < 0:
            found = repr(tally.tolist())[:60] if whole else f"shape {tally.shape}"
            raise InvalidInput(
                f"counts must be the {law.tally_size} whole numbers of tally(...), none below 0, got {found}. Add up "
                f"the tallies of a bag."
            )
        opened = law.opened(tally)
        self._check_most(opened.people)
        self.check_noise(tally)
        return opened


@dataclass(frozen=True, kw_only=True, eq=False)
class FakedProtocol(MessageProtocol):
    """A question about values that messages name, true ones and fakes alike."""

    light_epsilon0: float | None = None

    @property
    @abstractmethod
    def _size(self) -> int:
        """How many values there are."""

    @property
    def _light(self) -> float:
        return math.inf if self.light_epsilon0 is None else check_light(self.light_epsilon0)


@dataclass(frozen=True, kw_only=True, eq=False)
class FakesOfUsers(FakedProtocol):
    """Users send their true value, and some of them random ones beside it.

    It needs more trust than one noisy message: messages must be sealed to the analyst, since a true
    one says what its sender holds. ``light_epsilon0`` has the true value randomized a little before
    it is sent, so that even whoever links a message to its sender learns no more than that allows.
    """

    makes = UserFakes

    slots: int | None = None
    kind: FakesKind | None = None

    def _calibrated(self) -> Fakes:
        slots = None if self.slots is None else check_slots(self.slots)
        kind = None if self.kind is None else check_fakes_kind(self.kind)
        return Fakes.calibrated(self._target, self._size, slots=slots, kind=kind, epsilon0=self._light)


@dataclass(frozen=True, kw_only=True, eq=False)
class DummiesOfShuffler(FakedProtocol):
    """Users send their true value, and the shuffler adds dummies before it hands messages on.

    It needs the most trust: messages must be sealed to the analyst, and the shuffler must add its
    dummies, which nobody else can do. In return the noise is as small as a curator's.
    """

    makes = ShufflerDummies

    keep: float | None = None
    kind: DummiesKind | None = None

    def _calibrated(self) -> Dummies:
        keep = None if self.keep is None else check_keep(self.keep)
        kind = None if self.kind is None else check_dummies_kind(self.kind)
        return Dummies.calibrated(self._target, self._size, keep=keep, kind=kind, epsilon0=self._light)
