"""Protocols whose people send several messages, or whose shuffler adds dummies."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.protocols.bag import Bag, Reports, notes_of
from shuffledp.protocols.lazily import settled
from shuffledp.protocols.protocol import ReportingProtocol
from shuffledp.randomizers.messages import MessageLaw
from shuffledp.randomizers.randomizer import Opened
from shuffledp.sampling import Rng

__all__ = ["MessageProtocol"]


@dataclass(frozen=True, kw_only=True, eq=False)
class MessageProtocol(ReportingProtocol):
    """A protocol with reports of several messages. It is described by a promise, which chooses the
    least noise that is certified to keep it, or by its law, ``randomizer``.

    A bag holds messages, not reports: those of one person do not lie together.
    """

    randomizer: MessageLaw = settled()

    @abstractmethod
    def _calibrated(self) -> MessageLaw:
        """The law with the least noise that keeps the promise with ``least`` honest people."""

    @abstractmethod
    def _answers(self, law: MessageLaw) -> bool:
        """Whether a law that is given answers the question."""

    def _check_given(self) -> None:
        given = vars(self)["randomizer"]
        if vars(self)["epsilon0"] is not None or (given is None) == (self.epsilon is None):
            raise InvalidInput(
                f"exactly one of epsilon and randomizer must be given to a {type(self).__name__}, got others. epsilon "
                f"is a promise, a randomizer is the law that runs."
            )
        self._set(_worked_out=("epsilon0",) if given is not None else ("epsilon0", "randomizer"))

    def _prepare(self) -> None:
        if (given := vars(self)["randomizer"]) is None:
            return
        if not isinstance(given, MessageLaw) or not self._answers(given):
            raise InvalidInput(
                f"the randomizer must be the law of a {type(self).__name__}, got {given!r}. Leave it out, and promise "
                f"an epsilon."
            )
        self._set(epsilon0=given.epsilon0)

    def settle(self) -> Self:
        if vars(self)["randomizer"] is not None:
            return self
        law = self._calibrated()
        guarantee = self._guarantee_of(law, self._crowd(self.honest))
        self._check_promise(guarantee)
        # The law last: whoever sees it, in another thread, takes everything to be settled.
        self._set(guarantee=guarantee, epsilon0=law.epsilon0, randomizer=law)
        return self

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

    def describe(self) -> dict[str, Any]:
        return {"protocol": type(self).__name__, "n": self.n, **self.randomizer.describe()}
