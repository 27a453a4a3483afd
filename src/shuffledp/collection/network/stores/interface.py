"""What a shuffler asks of the place where envelopes wait."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shuffledp.collection.network.wire import Delivery, Refused

__all__ = [
    "Added",
    "Stocked",
    "Store",
    "Unavailable",
    "already_closed",
    "full",
    "other_messages",
    "unknown_code",
    "used_code",
]


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
    def add(self, uploads: Sequence[Sequence[Delivery]]) -> list[Added | Refused]:
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


def already_closed() -> Refused:
    """To whoever comes after the close."""
    return Refused(410, "this collection is closed, and takes no more reports. Nothing was stored.")


def full(most: int) -> Refused:
    """To whoever brings more than there is room for."""
    return Refused(
        409,
        f"this collection takes the {most:,} reports that it was designed for, and these would be more. Nothing of "
        f"this upload was stored.",
    )


def other_messages() -> Refused:
    """To whoever would have the messages of one report counted with those of another."""
    return Refused(
        409,
        "the messages of a report must be all new, or all stored already, got some of each, or one twice. Send the "
        "report as it was stored on the device that drew it; nothing was stored.",
    )


def unknown_code(at: int) -> Refused:
    """To whoever has no invitation."""
    return Refused(403, "this code is not one that this collection knows. Check it letter by letter.", at=at)


def used_code(at: int) -> Refused:
    """To whoever comes twice with an invitation, and another report."""
    return Refused(409, "this code was used for another report already, and counts once. Nothing was stored.", at=at)
