"""What a shuffler asks of the place where envelopes wait, and what it does to them itself.

A store takes an upload whole or not at all, which is decided before anything is written.

At the close, where the law of a collection asks for that, the shuffler drops some messages, by a
coin for each, and adds dummies, sealed to the analyst like all. Coins and dummies are drawn once
for a close that stands. They are in memory, or where nothing of them stays: which envelopes were
dropped, and which are dummies, is written down nowhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput
from shuffledp.sampling import WORD, bernoulli, source_of
from shuffledp.survey.all_cores import sealed
from shuffledp.survey.collection import Collection
from shuffledp.survey.wire import Records, Refused


class Added(NamedTuple):
    """How many records of an upload are stored now, and how many of them were not before."""

    reports: int
    new: int


@dataclass(frozen=True, slots=True)
class Stocked:
    """How many people have reported, and whether the collection is closed; where the shuffler has
    dropped some of their messages and added dummies, how many it has ``released``.
    """

    reports: int
    closed: bool
    released: int | None = None


class Unavailable(Refused):
    """The store cannot write now: a full disk, a lost connection. Nothing was acknowledged."""

    def __init__(self, sentence: str) -> None:
        super().__init__(503, sentence, wait=30)


class Store(ABC):
    """Envelopes of one collection, for one shuffler or several.

    Uploads of many clients are added together, in one transaction. When ``add`` returns, what it
    acknowledges is on the disk, whatever happens next; what it refuses has left no trace. After
    ``close`` nothing on the disk depends on when, in which order or with which code envelopes came,
    or on which of them came together.
    All methods are called from one thread of the shuffler.
    """

    @abstractmethod
    def invite(self, hashes: Iterable[bytes]) -> int:
        """Let whoever has one of the codes with these hashes send a report; return how many were
        not known before. Codes that are known stay as they are, used or not.
        """

    @abstractmethod
    def add(self, uploads: Sequence[Records]) -> list[Added | Refused]:
        """Add uploads, each whole or not at all, in one commit. Of each: what was added, or why it
        was refused.

        A person whose envelopes are all stored already is acknowledged again, whatever code comes
        with them, and uses none up. New envelopes need a code that is known and unused, if the
        collection has codes; the same upload may not bring one code twice. Refused are more people
        than the design has, all that come after the close, but for those whose envelopes are
        stored, and whoever brings an envelope twice, or some that are stored and others that are
        not: nobody who keeps to the rules does. Where the close drops messages, everything is
        refused after it.
        """

    @abstractmethod
    def stock(self) -> Stocked:
        """How far the collection is."""

    @abstractmethod
    def close(self, least: int) -> Stocked:
        """End the collection, if at least so many people have reported; else leave it open. To
        close what is closed changes nothing: what the law lets the shuffler draw is drawn once.
        """

    @abstractmethod
    def sealed(self) -> Iterator[bytes]:
        """The envelopes of a closed collection, in the order of their bytes, some at a time."""

    @abstractmethod
    def stop(self) -> None:
        """Let go of files and connections; what was acknowledged stays."""


# What is said to whoever comes after the close, brings more than there is room for, or would have
# the messages of one report counted with those of another; has no code, or comes twice with one.
CLOSED = 410, "this collection is closed, and takes no more reports. Nothing was stored."
FULL = (
    409,
    "this collection takes the {most:,} reports that it was designed for, and these would be more. Nothing of this "
    "upload was stored.",
)
OTHERS = (
    409,
    "the messages of a report must be all new, or all stored already, got some of each, or one twice. Send the report "
    "as it was stored on the device that drew it; nothing was stored.",
)
UNKNOWN = 403, "this code is not one that this collection knows. Check it letter by letter."
USED = 409, "this code was used for another report already, and counts once. Nothing was stored."


@dataclass
class Admission:
    """Uploads one after another, before what a store holds: of the envelopes and codes that they
    bring, those that are ``stored``, and whether each code that is known was used. ``codes`` is
    None where none are asked for; ``reports`` of at most ``most`` people are there, each of so many
    ``messages``.

    What is to be written is ``new`` and ``spent``: in the order of their bytes, nothing says which
    came with which.
    """

    stored: AbstractSet[bytes]
    codes: Mapping[bytes, bool] | None
    reports: int
    most: int
    closed: bool
    messages: int = 1
    _new: set[bytes] = field(default_factory=set, init=False)
    _spent: set[bytes] = field(default_factory=set, init=False)

    @property
    def new(self) -> list[bytes]:
        """Envelopes to store."""
        return sorted(self._new)

    @property
    def spent(self) -> list[bytes]:
        """Codes to mark."""
        return sorted(self._spent)

    def decide(self, upload: Records) -> Added | Refused:
        """Take an upload, or say why it is refused."""
        new: set[bytes] = set()
        spent: set[bytes] = set()
        for at, person in enumerate(upload):
            brought, code = set(person.apart(self.messages)), person.code
            known = {each for each in brought if each in self.stored or each in self._new or each in new}
            if known == brought and len(brought) == self.messages:
                continue
            if self.closed:
                return Refused(*CLOSED)
            if known or len(brought) < self.messages:
                return Refused(*OTHERS)
            if self.codes is not None:
                assert code is not None
                if code not in self.codes:
                    return Refused(*UNKNOWN, at=at)
                if self.codes[code] or code in self._spent or code in spent:
                    return Refused(*USED, at=at)
                spent.add(code)
            new |= brought
        if self.reports + (len(self._new) + len(new)) // self.messages > self.most:
            return Refused(FULL[0], FULL[1].format(most=self.most))
        self._new |= new
        self._spent |= spent
        return Added(len(upload), len(new) // self.messages)


CHUNK = 1 << 16  # dummies whose values are in memory at once


@dataclass(frozen=True, slots=True)
class SealedDummies:
    """The shuffler's part in the law of a collection."""

    collection: Collection
    law: Any

    @classmethod
    def of(cls, collection: Collection) -> Self | None:
        """If it has one."""
        law = collection.reporter.randomizer
        return cls(collection, law) if law.mixes else None

    @property
    def drops(self) -> bool:
        """Whether it drops any. Then nobody is told after the close whether an envelope is there:
        that a person's was handed on is for nobody to know.
        """
        return bool(self.law.kept_threshold < WORD)

    def kept(self, count: int) -> NDArray[np.bool_]:
        """Of so many messages, which are handed on."""
        if not self.drops:
            return np.ones(count, dtype=bool)
        return bernoulli(source_of(None), self.law.kept_threshold, count)

    def numbers(self) -> NDArray[np.int64]:
        """How many dummies each value gets."""
        return np.asarray(self.law.dummies())

    def sealed(self, numbers: NDArray[np.int64]) -> Iterator[list[bytes]]:
        """So many dummies for each value, in envelopes, some at a time. Their order says which
        value each has: it must not stay.
        """
        return sealed(self.collection, _values(numbers))


def _values(numbers: NDArray[np.int64]) -> Iterator[NDArray[Any]]:
    """Each value as often as its number says, some at a time."""
    ends = np.cumsum(numbers)
    for start in range(0, int(ends[-1]), CHUNK):
        yield np.searchsorted(ends, np.arange(start, min(start + CHUNK, int(ends[-1]))), side="right")


def open_store(place: str, collection: Collection) -> Store:
    """The store that a command names, for reports of ``collection``."""
    from shuffledp.survey.stores.postgres import SCHEMES, PostgresStore
    from shuffledp.survey.stores.sqlite import SQLiteStore

    if place.startswith(SCHEMES):
        return PostgresStore(place, collection)
    if "://" in place:
        raise InvalidInput(
            f"--store must be a file for SQLite, or postgresql://user@host/name, got {place.partition(':')[0]}://... "
            f"Name one of those."
        )
    return SQLiteStore(Path(place), collection)
