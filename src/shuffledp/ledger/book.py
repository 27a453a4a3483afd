"""The ledger as it stands: populations, releases, and the chain of seals that makes a change to either visible.

Every record's seal is the SHA-256 of its content, its population's limits, and the seal before it. So a row that is changed, removed or slipped in
breaks the chain. Whoever rewrites the whole file can seal it anew: keep the last seal elsewhere, as every report does.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from shuffledp.canonical import canonical
from shuffledp.errors import InvalidInput
from shuffledp.ledger.entry import Entry
from shuffledp.ledger.schema import SCHEMA, identified, reading

__all__ = ["START", "Book", "Population", "Release", "Row", "output_seal", "parsed", "read", "rows_of", "seal_of"]

START = "0" * 64  # what the first record follows


@dataclass(frozen=True, slots=True)
class Population:
    """The same users, release after release, and what may be learnt about any of them in all."""

    name: str
    limit_epsilon: float
    limit_delta: float
    created: str


@dataclass(frozen=True, slots=True)
class Row:
    """A release as it is stored."""

    id: int
    population: str
    recorded: str
    entry: str
    version: str
    previous: str
    record: str
    published: str | None
    output: str | None
    seal: str | None


@dataclass(frozen=True, slots=True)
class Release:
    """A release that was recorded, and, once its output stood, published."""

    id: int
    population: str
    recorded: str
    entry: Entry
    version: str
    record: str
    published: str | None
    output: str | None

    @property
    def state(self) -> str:
        """Either "published" or "recorded": then its output may never have stood, and it counts all the same."""
        return "recorded" if self.published is None else "published"


@dataclass(frozen=True, slots=True)
class Book:
    """All that a ledger holds, read at one moment; ``damage`` is what SQLite and the chain find wrong with it."""

    populations: tuple[Population, ...] = ()
    rows: tuple[Row, ...] = ()
    damage: tuple[str, ...] = ()

    def population(self, name: str) -> Population | None:
        """The population of that name, if there is one."""
        return next((each for each in self.populations if each.name == name), None)

    def releases(self, name: str | None = None) -> tuple[Release, ...]:
        """The releases of a population, or of all."""
        return tuple(parsed(row) for row in self.rows if name is None or row.population == name)

    @property
    def last(self) -> str:
        """The seal that the next record follows."""
        return self.rows[-1].record if self.rows else START


def read(path: Path) -> Book:
    """The book at ``path``; an empty one if there is no file yet, or an empty one."""
    return reading(path, lambda connection: rows_of(connection, path)) if path.exists() and path.stat().st_size else Book()


def rows_of(connection: sqlite3.Connection, path: Path) -> Book:
    """The book through an open connection."""
    identified(connection, path)
    damage = [f"SQLite finds the file damaged: {each}" for (each,) in connection.execute("PRAGMA integrity_check(5)") if each != "ok"]
    if damage:
        return Book(damage=tuple(damage))
    populations = tuple(Population(*row) for row in connection.execute("SELECT name, limit_epsilon, limit_delta, created FROM populations ORDER BY name"))
    rows = tuple(
        Row(*row)
        for row in connection.execute(
            "SELECT id, population, recorded, entry, version, previous, record, published, output, seal"
            " FROM releases LEFT JOIN published ON release = id ORDER BY id"
        )
    )
    found = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"))
    if changed := sorted(name for name in {*found, *SCHEMA} if found.get(name) != SCHEMA.get(name)):
        damage.append(f"the tables or their guards were changed: {', '.join(changed)}")
    ever = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'releases'").fetchone()
    return Book(populations, rows, (*damage, *_broken(populations, rows, 0 if ever is None else ever[0])))


def seal_of(population: Population, *, id: int, recorded: str, entry: str, version: str, previous: str) -> str:
    """The seal of a record: what it says, under which limits, and after what."""
    limits = {"population": population.name, "limit_epsilon": population.limit_epsilon, "limit_delta": population.limit_delta, "created": population.created}
    return _sha256({**limits, "id": id, "recorded": recorded, "entry": entry, "version": version, "previous": previous})


def output_seal(record: str, published: str, output: str) -> str:
    """The seal of the note that a release was published."""
    return _sha256({"record": record, "published": published, "output": output})


def parsed(row: Row) -> Release:
    """A stored release, with every rule checked again."""
    try:
        entry = Entry.from_json(json.loads(row.entry))
    except (InvalidInput, ValueError, TypeError, KeyError) as error:
        raise InvalidInput(f"release {row.id} must be readable by this version of shuffledp, got: {error} It was written by {row.version}.") from None
    return Release(row.id, row.population, row.recorded, entry, row.version, row.record, row.published, row.output)


def _broken(populations: tuple[Population, ...], rows: tuple[Row, ...], ever: int) -> list[str]:
    """Where the chain does not hold."""
    named, previous, faults = {each.name: each for each in populations}, START, []
    for place, row in enumerate(rows, 1):
        owner = named.get(row.population)
        if owner is None or row.record != seal_of(owner, id=row.id, recorded=row.recorded, entry=row.entry, version=row.version, previous=row.previous):
            faults.append(f"release {row.id}, or the limits of its population, were changed after they were recorded: the seal does not match")
        if row.previous != previous or row.id != place:
            faults.append(f"records are missing or out of order before release {row.id}: its seal does not follow the one before")
        if row.published is not None and row.seal != output_seal(row.record, row.published, row.output or ""):
            faults.append(f"the note that release {row.id} was published was changed: its seal does not match")
        previous = row.record
    if ever != len(rows):
        faults.append(f"{ever} releases were recorded, and {len(rows)} are left")
    if strangers := sorted(set(named) - {row.population for row in rows}):
        faults.append(f"populations without a single release: {', '.join(strangers)}; a population begins with its first release")
    return faults


def _sha256(facts: dict[str, object]) -> str:
    return hashlib.sha256(canonical(facts).encode()).hexdigest()
