"""The tables of a ledger, which only grow, and the proof that a file has these tables and nothing
else.

Whoever may write to a database may plant a trigger, a view or an index in it, and SQLite would run
that within our own transaction. So before anything else is asked of a file, all of its
``sqlite_master`` is compared with what we would have created, text by text.

*The seals of a ledger: SHA-256 over what a record says, under which limits, and after which other
record.*

So a row that is changed, removed or slipped in breaks the chain. Whoever rewrites the whole file
can seal it again: keep the last seal elsewhere, as every page does, and ask ``ledger check
--last``.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring as quoted
from pathlib import Path

from shuffledp.errors import InvalidInput, Refusal
from shuffledp.storage.canonical import digest_of

APPLICATION = 0x53447031  # "SDp1", in the header of the file
FORMAT = 2
LISTED = 8  # names in a sentence
# once it is known to be ours: some SQLites take json_extract, which it uses, for unsafe
TRUST = "PRAGMA trusted_schema = ON"
ONLY_GROWS = "SELECT RAISE(ABORT, 'the ledger only grows')"

# These texts are compared byte by byte with what files hold: not a blank in them may change.
_TABLES = {
    "populations": """CREATE TABLE populations (
        name TEXT PRIMARY KEY NOT NULL, limit_epsilon REAL NOT NULL, limit_delta REAL NOT NULL, created TEXT NOT NULL) STRICT""",
    "releases": """CREATE TABLE releases (
        id INTEGER PRIMARY KEY AUTOINCREMENT, population TEXT NOT NULL REFERENCES populations(name), recorded TEXT NOT NULL, entry TEXT NOT NULL,
        version TEXT NOT NULL, previous TEXT NOT NULL UNIQUE, record TEXT NOT NULL UNIQUE,
        what TEXT GENERATED ALWAYS AS (json_extract(entry, '$.what')) VIRTUAL,
        design TEXT GENERATED ALWAYS AS (json_extract(entry, '$.design')) VIRTUAL) STRICT""",
    "published": """CREATE TABLE published (
        release INTEGER PRIMARY KEY NOT NULL REFERENCES releases(id), published TEXT NOT NULL, output TEXT NOT NULL, seal TEXT NOT NULL) STRICT""",
    "begun": """CREATE TABLE begun (
        release INTEGER PRIMARY KEY NOT NULL REFERENCES releases(id), begun TEXT NOT NULL, seal TEXT NOT NULL) STRICT""",
}
_TWICE = {  # what INSERT OR REPLACE would remove without asking the guard of DELETE
    "populations": "name = NEW.name",
    "releases": "id = NEW.id OR previous = NEW.previous OR record = NEW.record",
    "published": "release = NEW.release",
    "begun": "release = NEW.release",
}


def _guard(table: str, change: str, when: str = "") -> dict[str, str]:
    name = f"{table}_{change.lower()}"
    return {name: f"CREATE TRIGGER {name} BEFORE {change} ON {table}{when} BEGIN {ONLY_GROWS}; END"}


SCHEMA = dict(_TABLES)
for table, twice in _TWICE.items():
    SCHEMA |= _guard(table, "UPDATE") | _guard(table, "DELETE")
    SCHEMA |= _guard(table, "INSERT", f" WHEN EXISTS (SELECT 1 FROM {table} WHERE {twice})")
_MADE_BY_SQLITE = (
    ("index", "sqlite_autoindex_populations_1", "populations", None),
    ("index", "sqlite_autoindex_releases_1", "releases", None),
    ("index", "sqlite_autoindex_releases_2", "releases", None),
    ("table", "sqlite_sequence", "sqlite_sequence", "CREATE TABLE sqlite_sequence(name,seq)"),
)

Thing = tuple[str, str, str, str | None]


def _thing(name: str, text: str) -> Thing:
    if text.startswith("CREATE TRIGGER"):
        return "trigger", name, name.rpartition("_")[0], text
    return "table", name, name, text


# Everything that ``sqlite_master`` holds when nothing but the schema was created.
EXPECTED: list[Thing] = [*(_thing(name, text) for name, text in SCHEMA.items()), *_MADE_BY_SQLITE]


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    return ", ".join(names[:LISTED]) + f" and {len(names) - LISTED} more" * (len(names) > LISTED)


class Damaged(InvalidInput):
    """The file was a ledger, and cannot be trusted any more; ``fault`` says why, without its name
    and without a remedy.
    """

    fault: str = ""


def damaged(path: Path, fault: str) -> Damaged:
    """What is wrong with a ledger, as one sentence with a remedy."""
    remedy = "Restore it from a copy; `shuffledp ledger check` says more."
    error = Damaged(f"the ledger {str(path)!r} must be intact, got: {fault}. {remedy}")
    error.fault = fault
    return error


def check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse what is not a ledger that we can read, and one that holds anything but our tables and
    guards.
    """
    application, version = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("application_id", "user_version")
    )
    if application != APPLICATION:
        rule = f"{str(path)!r} must be a ledger of shuffledp"
        raise InvalidInput(Refusal(rule, "another program's database", "Choose another file."))
    rule = f"the ledger {str(path)!r} must have format {FORMAT}"
    if version > FORMAT:
        raise InvalidInput(Refusal(rule, f"{version}: a newer shuffledp wrote it", "Upgrade shuffledp."))
    found: list[Thing] = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    ours = sorted(found, key=repr) == sorted(EXPECTED, key=repr)
    if version < FORMAT and (ours or version < 1):
        raise damaged(path, f"the number of its format was changed to {version}")
    if version < FORMAT:
        remedy = "Open it with that version, or start a new ledger and lower its limit by what this one spent."
        error = Damaged(Refusal(rule, f"{version}, which an earlier version of shuffledp wrote", remedy))
        error.fault = f"it has format {version}; the earlier version of shuffledp that wrote it can open it"
        raise error
    if not ours:
        things = {repr(str(thing[1]))[1:-1] for thing in set(found) ^ set(EXPECTED)}
        changed = listed(sorted(things or {str(thing[1]) for thing in found}))
        raise damaged(path, f"the tables or their guards were changed: {changed}")
    connection.execute(TRUST)


START = "0" * 64  # what the first record follows


@dataclass(frozen=True, slots=True)
class Population:
    """The same users, release after release, and what may be learned about any of them in all."""

    name: str
    limit_epsilon: float
    limit_delta: float
    created: str


def seal_of(population: Population, *, id: int, recorded: str, entry: str, version: str, previous: str) -> str:
    """The seal of a record: what it says, under which limits, and after what.

    This is ``digest_of`` of these facts by their names, spelled out: a ledger of ten thousand
    releases is sealed again whenever it is read.
    """
    if not (math.isfinite(population.limit_epsilon) and math.isfinite(population.limit_delta)):
        raise ValueError("an infinite limit has no seal")
    limits = (
        f'"limit_delta":{population.limit_delta!r},"limit_epsilon":{population.limit_epsilon!r},'
        f'"population":{quoted(population.name)}'
    )
    chained = f'"previous":{quoted(previous)},"recorded":{quoted(recorded)},"version":{quoted(version)}'
    return _sha256(f'{{"created":{quoted(population.created)},"entry":{quoted(entry)},"id":{id},{limits},{chained}}}')


def begun_seal(record: str, begun: str) -> str:
    """The seal of the note that the output of a release was about to appear."""
    return _sha256(f"{record} begun {begun}")


def output_seal(record: str, published: str, output: str) -> str:
    """The seal of the note that a release was published."""
    return digest_of({"record": record, "published": published, "output": output})


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
