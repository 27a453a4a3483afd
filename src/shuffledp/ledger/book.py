"""The ledger as it stands: populations, releases, and whether the chain of seals that makes a
change to either visible holds.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from shuffledp.errors import InvalidInput
from shuffledp.ledger.entry import ENTRY, Entry, Part, mechanism_of
from shuffledp.ledger.file import reading
from shuffledp.ledger.schema import START, Population, begun_seal, check_schema, output_seal, seal_of
from shuffledp.ledger.series import PaidSeries, covered_ids, paid_series
from shuffledp.ledger.total import Mechanism
from shuffledp.storage.canonical import canonical

LOWEST = -(1 << 63)  # of all ids, also of rows that have no business there
BATCHES = re.compile(r'\{"batches":\[("[0-9a-f]{32}"(,"[0-9a-f]{32}")*)?\],')  # how the text of an entry begins
UNREADABLE = (InvalidInput, ValueError, TypeError, KeyError, RecursionError)


class Row(NamedTuple):
    """A release as it is stored."""

    id: int
    population: str
    recorded: str
    entry: str
    version: str
    previous: str
    record: str
    begun: str | None
    begun_seal: str | None
    published: str | None
    output: str | None
    output_seal: str | None


@dataclass(frozen=True, slots=True)
class Release:
    """A release that was recorded, then begun, and, once its output stood, published."""

    id: int
    population: str
    recorded: str
    entry: Entry
    version: str
    record: str
    begun: str | None
    published: str | None
    output: str | None

    @property
    def state(self) -> str:
        """Either "published" or "recorded": then its output may never have been put in place, and
        it counts all the same. What pays for a series has no output: it is "paid in advance".
        """
        if self.entry.series is not None and self.entry.series.week is None:
            return "paid in advance"
        return "recorded" if self.published is None else "published"


@dataclass(frozen=True, slots=True)
class Book:
    """All that a ledger holds, read at one moment; ``damage`` is what SQLite and the chain find
    wrong with it.
    """

    populations: tuple[Population, ...] = ()
    rows: tuple[Row, ...] = ()
    damage: tuple[str, ...] = ()

    def population(self, name: str) -> Population | None:
        """The population of that name, if there is one."""
        return next((each for each in self.populations if each.name == name), None)

    def releases(self, name: str | None = None) -> tuple[Release, ...]:
        """The releases of a population, or of all."""
        return tuple(parsed(row) for row in self.rows if name is None or row.population == name)

    def rows_of(self, name: str) -> list[Row]:
        """The releases of a population, as they are stored."""
        return [row for row in self.rows if row.population == name]

    def covered(self, name: str) -> frozenset[int]:
        """The releases of a population that were paid for in advance, as weeks of a series."""
        return covered_ids(self.rows_of(name))

    def series(self, name: str) -> dict[str, PaidSeries]:
        """The series of a population, by name."""
        return paid_series(self.rows_of(name))

    def charged(self, name: str) -> tuple[Release, ...]:
        """The releases of a population that cost something: all but the weeks of its series, which
        were paid for in advance.
        """
        covered = self.covered(name)
        return tuple(release for release in self.releases(name) if release.id not in covered)

    def mechanisms(self, name: str) -> list[Mechanism]:
        """All that was released about a population, equal mechanisms counted together.

        A sum needs the laws, users and rounds of every entry, each of which is checked; what else
        an entry says, ``parsed`` checks. Entries that differ in nothing but the names of their
        batches are read once.
        """
        rounds: Counter[tuple[str, int, int, bool]] = Counter()
        known: dict[tuple[bool, str], list[tuple[tuple[str, int, int, bool], int]]] = {}
        covered = self.covered(name)
        for row in self.rows_of(name):
            if row.id not in covered:
                batches = BATCHES.match(row.entry)
                rest = (batches is None, row.entry if batches is None else row.entry[batches.end() :])
                if rest not in known:
                    known[rest] = _counted(row)
                for key, times in known[rest]:
                    rounds[key] += times
        return [(mechanism_of(*key), times) for key, times in rounds.items()]

    def sharing(self, batches: Iterable[str]) -> Iterator[tuple[Row, tuple[str, ...]]]:
        """The releases that hold some of these batches, with all that they hold."""
        asked = set(batches)
        for row in self.rows if asked else ():
            if any(batch in row.entry for batch in asked):
                yield row, tuple(_facts_of(row)["batches"])

    @property
    def last(self) -> str:
        """The seal that the next record follows."""
        return self.rows[-1].record if self.rows else START


def read(path: Path) -> Book:
    """The book at ``path``; an empty one if there is no file yet, or an empty one."""
    there = path.exists() and path.stat().st_size
    return reading(path, lambda connection: book_of(connection, path)) if there else Book()


def refreshed(seen: Book, connection: sqlite3.Connection) -> Book | None:
    """The book now, if it is ``seen``, which was sound, and what others have added since; ``None``
    if it is another one.

    A seal stands for all that it was computed from, so a record whose seal was seen need not be
    read again: only new ones are.
    """
    seals = connection.execute("SELECT id, record FROM releases ORDER BY id").fetchall()
    before = [(row.id, row.record) for row in seen.rows]
    if seals[: len(before)] != before:
        return None
    asked, begun = "SELECT begun, seal FROM begun WHERE release = ?", dict[int, tuple[str, str]]()
    for row in seen.rows:
        if row.begun is None and (note := connection.execute(asked, (row.id,)).fetchone()) is not None:
            begun[row.id] = note
    old = seen.rows
    if begun:
        notes = ((row, *begun.get(row.id, (row.begun, row.begun_seal))) for row in seen.rows)
        old = tuple(row._replace(begun=when, begun_seal=seal) for row, when, seal in notes)
    populations = _populations(connection)
    rows = (*old, *_rows(connection, after=len(old)))
    return Book(populations, rows, (*_broken(populations, rows, trusted=len(old)), *_miscounted(connection, len(rows))))


def parsed(row: Row) -> Release:
    """A stored release, with every rule checked again."""
    try:
        entry = Entry.from_json(json.loads(row.entry))
    except UNREADABLE as error:
        raise _unreadable(row, error) from None
    return Release(
        row.id, row.population, row.recorded, entry, row.version, row.record, row.begun, row.published, row.output
    )


def book_of(connection: sqlite3.Connection, path: Path) -> Book:
    """The book through an open connection, all of it checked."""
    found = [each for (each,) in connection.execute("PRAGMA integrity_check(5)") if each != "ok"]
    if found:
        return Book(damage=tuple(f"SQLite finds the file damaged: {each}" for each in found))
    populations = _populations(connection)
    check_schema(connection, path)
    rows = _rows(connection)
    damage = (*_broken(populations, rows), *_miscounted(connection, len(rows)), *_strays(connection))
    return Book(populations, rows, damage)


def _populations(connection: sqlite3.Connection) -> tuple[Population, ...]:
    asked = "SELECT name, limit_epsilon, limit_delta, created FROM populations NOT INDEXED ORDER BY name"
    return tuple(Population(*row) for row in connection.execute(asked))


def _rows(connection: sqlite3.Connection, *, after: int = 0) -> tuple[Row, ...]:
    rows = connection.execute(
        "SELECT id, population, recorded, entry, version, previous, record, begun, begun.seal, published, output, "
        "published.seal FROM releases LEFT JOIN begun ON begun.release = id LEFT JOIN published ON published.release = "
        "id WHERE id >= ? ORDER BY id",
        (after + 1 if after else LOWEST,),
    )
    return tuple(Row(*row) for row in rows)


def _broken(populations: tuple[Population, ...], rows: tuple[Row, ...], *, trusted: int = 0) -> list[str]:
    """Where the chain does not hold; the first ``trusted`` rows were found to hold before."""
    named, faults = {each.name: each for each in populations}, []
    previous = START if not trusted else rows[trusted - 1].record
    for place, row in enumerate(rows[trusted:], 1 + trusted):
        it = f"release {row.id}"
        if not _sealed(named.get(row.population), row):
            changed = "were changed after they were recorded: the seal does not match"
            faults.append(f"{it}, or the limits of its population, {changed}")
        if row.previous != previous or row.id != place:
            faults.append(f"records are missing or out of order before {it}: its seal does not follow the one before")
        if row.begun is not None and row.begun_seal != begun_seal(row.record, row.begun):
            faults.append(f"the note that {it} was begun was changed: its seal does not match")
        if row.published is not None and row.begun is None:
            faults.append(f"the note that {it} was begun is missing: it was published")
        if row.published is not None and row.output_seal != output_seal(row.record, row.published, row.output or ""):
            faults.append(f"the note that {it} was published was changed: its seal does not match")
        previous = row.record
    if strangers := sorted(set(named) - {row.population for row in rows}):
        first = "a population begins with its first release"
        faults.append(f"populations without a single release: {', '.join(strangers)}; {first}")
    return faults


def _miscounted(connection: sqlite3.Connection, rows: int) -> list[str]:
    """Whether SQLite's own count of all records ever made is that of those that are there."""
    counted = connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
    if counted == ([("releases", rows)] if rows else []):
        return []
    ever = dict(counted).get("releases", 0)
    were, are = "release was" if ever == 1 else "releases were", "is" if rows == 1 else "are"
    return [f"{ever} {were} recorded, and {rows} {are} left"]


def _strays(connection: sqlite3.Connection) -> list[str]:
    """Notes that wait for a release that is still to come, and would speak for it."""
    faults = []
    for table in ("published", "begun"):
        asked = f"SELECT release FROM {table} WHERE release NOT IN (SELECT id FROM releases) LIMIT 1"
        if (stray := connection.execute(asked).fetchone()) is not None:
            faults.append(f"a note says that release {stray[0]} was {table}, and there is no such release")
    return faults


def _sealed(owner: Population | None, row: Row) -> bool:
    try:
        return owner is not None and row.record == seal_of(
            owner, id=row.id, recorded=row.recorded, entry=row.entry, version=row.version, previous=row.previous
        )
    except (ValueError, TypeError):  # an infinite limit has no seal, nor has text that is none
        return False


def _facts_of(row: Row) -> Mapping[str, Any]:
    try:
        facts: Mapping[str, Any] = json.loads(row.entry)
        if not facts["parts"] or not isinstance(facts["parts"], list) or not isinstance(facts["batches"], list):
            raise ValueError("an entry has a list of parts, and one of batches.")
        return facts
    except UNREADABLE as error:
        raise _unreadable(row, error) from None


def _counted(row: Row) -> list[tuple[tuple[str, int, int, bool], int]]:
    """Of every part of an entry: the law as text, users, honest users, and whether what ran shows
    at most that; and rounds.
    """
    try:
        parts = [Part.read(part, ENTRY, "parts.") for part in _facts_of(row)["parts"]]
        for part in parts:
            mechanism_of(canonical(part.law), part.n, part.honest)
        return [((canonical(part.law), part.n, part.honest, part.at_most), part.rounds) for part in parts]
    except UNREADABLE as error:
        raise _unreadable(row, error) from None


def _unreadable(row: Row, error: BaseException) -> InvalidInput:
    return InvalidInput(
        f"release {row.id} must be readable by this version of shuffledp, got: {error} It was written by {row.version}."
    )
