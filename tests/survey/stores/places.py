"""Stores to try things on: one file, or the tables of a collection of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from shuffledp.survey.collection import Collection
from shuffledp.survey.stores.postgres import PostgresStore
from shuffledp.survey.stores.sqlite import SQLiteStore
from shuffledp.survey.stores.store import Added, Store
from shuffledp.survey.wire import Delivery, Refused

LEAST, MOST = 500, 1000  # of the designs in ``studies``


def envelope(number: int, length: int = 49) -> bytes:
    """One of many that differ, in an order of bytes that has nothing to do with the numbers."""
    return ((number + 1) * 0x9E3779B97F4A7C15 % 2**64).to_bytes(8) + number.to_bytes(length - 8)


def code(number: int) -> bytes:
    return envelope(number, 32)


def upload(*numbers: int, codes: bool = False) -> list[Delivery]:
    """Envelopes, each with the code of its number."""
    return [Delivery(envelope(number), code(number) if codes else None) for number in numbers]


def told(answer: Added | Refused) -> Added | tuple[int, int | None]:
    """What a client learns, to be compared."""
    return (answer.status, answer.at) if isinstance(answer, Refused) else answer


@dataclass
class Place:
    """Where the store of a collection is, and those that were opened there."""

    collection: Collection
    where: Path | str
    opened: list[Store] = field(default_factory=list)

    def open(self) -> Store:
        made: Store
        if isinstance(self.where, Path):
            made = SQLiteStore(self.where, self.collection)
        else:
            made = PostgresStore(self.where, self.collection)
        self.opened.append(made)
        return made

    def reopen(self) -> Store:
        self.stop()
        return self.open()

    def stop(self) -> None:
        while self.opened:
            self.opened.pop().stop()
