"""A collection whose people send several messages each, by a law that needs no accountant."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.client import Reporter
from shuffledp.randomizers.messages import MessageLaw
from shuffledp.randomizers.randomizer import Form, Ints
from shuffledp.sampling import Source
from shuffledp.survey.collection import Collection
from shuffledp.survey.wire import Delivery
from tests.survey.studies import study

MESSAGES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AmongBlanks(MessageLaw):
    """The value, and blanks: it hides nothing."""

    k: int = 3
    messages: int = MESSAGES
    epsilon0: float = np.inf

    @property
    def message(self) -> Form:
        return Form(np.dtype(np.uint8), outputs=self.k + 1)

    @property
    def integers(self) -> tuple[int, ...]:
        return (0,)

    @property
    def tally_size(self) -> int:
        return 1 + self.k

    def describe(self) -> dict[str, object]:
        return {"randomizer": "among blanks", "k": self.k}

    def expected_stderr(self, people: int) -> float:
        return 1.0

    def adds_up(self, tally: Ints, reports: int) -> bool:
        return bool(tally[0] == reports * self.messages)

    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        rows = np.full((len(values), self.messages), self.k, dtype=np.uint8)
        rows[:, 0] = values
        return rows

    def _tally(self, messages: NDArray[Any]) -> Ints:
        return np.bincount(messages, minlength=self.k + 1)[: self.k].astype(np.int64)


def with_law(law: MessageLaw, **changed: Any) -> Collection:
    """The first study, with another law instead of its own, for whoever asks no more than that."""
    collection = study(**changed)
    vars(collection)["reporter"] = Reporter(collection.design, law)
    return collection


def several(messages: int = MESSAGES, **changed: Any) -> Collection:
    """A study whose people send so many messages."""
    return with_law(AmongBlanks(messages=messages), **changed)


def messages_of(person: int, messages: int = MESSAGES) -> list[bytes]:
    """What looks like a person's envelopes."""
    return [hashlib.shake_128(b"%d %d" % (person, each)).digest(49) for each in range(messages)]


def delivery(*envelopes: bytes, code: bytes | None = None) -> Delivery:
    """What one person brings."""
    return Delivery(b"".join(envelopes), code)
