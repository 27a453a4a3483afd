"""``Ledger``: a release is recorded, if it fits, before anything of it is made."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import InvalidInput, Refusal, check_count
from shuffledp.ledger.book import Book, Release, Row, book_of, parsed, read, refreshed
from shuffledp.ledger.charge import (
    Charge,
    OverLimit,
    Receipt,
    check_batches,
    more,
    owner_of,
    refusal,
    situation,
    terms_asked,
    terms_of,
    this_moment,
)
from shuffledp.ledger.check import Check, checked, exported
from shuffledp.ledger.entry import Entry, check_digest
from shuffledp.ledger.file import check_place, held, reading
from shuffledp.ledger.populations import check_name
from shuffledp.ledger.schema import START, Damaged, Population, begun_seal, damaged, output_seal, seal_of
from shuffledp.ledger.series import PaidSeries, check_turn, turn_of
from shuffledp.ledger.total import composed
from shuffledp.storage.canonical import canonical

__all__ = ["Ledger", "OverLimit", "Receipt"]

UNSEEN = (0, START)  # how many records were seen, and the seal of the last


class Ledger:
    """The budget in the SQLite file at ``path``. The first ``spend`` creates it; nothing else does,
    and questions leave no trace.

    A connection lives for one call, so a ledger may be shared between threads and processes:
    whoever spends waits for the others. What this object has seen recorded must still be there the
    next time: an older copy put in the ledger's place is refused.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = check_place(Path(path))
        self._seen = UNSEEN
        if self.path.exists() and self.path.stat().st_size:
            with suppress(Damaged):  # ``check`` tells more about it, and everything else refuses it
                reading(self.path, lambda _: None)

    def spend(
        self,
        population: str,
        entry: Entry,
        *,
        limit_epsilon: float | None = None,
        limit_delta: float | None = None,
        held_back: bool = False,
    ) -> Receipt:
        """Record ``entry`` if all releases of ``population``, with it, stay within the limit; then
        it may be released.

        The limit means: certified delta(limit_epsilon) <= limit_delta. The first release of a
        population sets it; later ones may leave it out. The sum is computed before the lock is
        taken, and again under it if somebody else spent from this population meanwhile: two
        processes at once never overspend, and other populations do not wait. When this returns, the
        record is on the disk, and was read back.

        ``held_back`` is a promise: nothing of the release can be seen by anybody before ``begin``
        has been called with its id. A record that was never begun, because its program failed or
        was killed, then keeps its batches from no one; and the very same release, asked for again
        as the next one, takes over that record instead of paying twice. At most one output ever
        comes of a record, since a record begins once.

        An entry that pays for a series (``Entry.series``) is recorded once, however often it is
        asked for; its weeks cost nothing more, and each of them begins once.
        """
        seen, asked = self._whole(), Charge(population, entry, limit_epsilon, limit_delta, held_back)
        terms = terms_of(seen, asked)
        try:
            with held(self.path, create=self._seen == UNSEEN) as file:
                with file.transaction() as connection:
                    book = _whole(self._sound(refreshed(seen, connection)), self.path)
                    if situation(book, terms.owner) != situation(seen, terms.owner):
                        terms = terms_asked(book, asked)
                    check_batches(book, entry)
                    taken = terms.waiting or _record(connection, book, terms.owner, entry, begun=not held_back)
                file.confirm(lambda connection: _there(connection, taken, terms.owner))
        except OverLimit:  # what others spent meanwhile counts
            raise refusal(book, asked) from None
        self._seen = max(self._seen, taken)
        return terms.receipt(book, *taken)

    def afford(
        self,
        population: str,
        entry: Entry,
        *,
        limit_epsilon: float | None = None,
        limit_delta: float | None = None,
        held_back: bool = False,
    ) -> Receipt:
        """What ``spend`` would answer now, or refuse; nothing is recorded, and no file is made."""
        book, asked = self._whole(), Charge(population, entry, limit_epsilon, limit_delta, held_back)
        return terms_of(book, asked).receipt(book, None, None)

    def begin(self, id: int | None) -> None:
        """Note that something of a release that was held back is about to be seen; from here on its
        batches are taken. Once only.
        """
        number = _number(id)
        with held(self.path) as file:
            with file.transaction() as connection:
                book = self._sound(_whole(book_of(connection, self.path), self.path))
                row = _row(book, number)
                if row.begun is not None:
                    again = "a second beginning: another run has taken it over"
                    raise InvalidInput(Refusal(f"release {number} must begin once", again, "Spend again."))
                entry = parsed(row).entry
                if entry.series is not None and entry.series.week is None:
                    rule = f"release {number} must be one that can be seen"
                    raise InvalidInput(Refusal(rule, "the payment for a series", "Begin one of its weeks."))
                check_batches(book, entry, but=number)
                check_turn(book.rows_of(row.population), entry, but=number)
                _note_begun(connection, number, row.record)
            noted = "SELECT 1 FROM begun WHERE release = ?"
            file.confirm(lambda connection: connection.execute(noted, (number,)).fetchone() is not None)

    def publish(self, id: int | None, output: str) -> None:
        """Note that the output of a recorded release stands, and its SHA-256 digest. Noting the
        same again changes nothing.
        """
        number, output = _number(id), check_digest("output", output)
        with held(self.path) as file:
            with file.transaction() as connection:
                row = connection.execute(
                    "SELECT record, output, begun, entry FROM releases LEFT JOIN begun ON begun.release = id"
                    " LEFT JOIN published ON published.release = id WHERE id = ?",
                    (number,),
                ).fetchone()
                if row is None:
                    raise _no_release(number)
                record, before, begun, entry = row
                if begun is None and turn_of(entry) is not None:
                    rule = f"release {number} must be begun before it is published"
                    remedy = f"Call begin({number}) first: another run may have begun its week."
                    raise InvalidInput(Refusal(rule, "one of a series that was not", remedy))
                if before is not None and before != output:
                    rule, remedy = f"release {number} must be published once", "Spend again for another release."
                    raise InvalidInput(Refusal(rule, "another output", remedy))
                if begun is None:
                    _note_begun(connection, number, record)
                if before is None:
                    now = this_moment()
                    row = (number, now, output, output_seal(record, now, output))
                    connection.execute("INSERT INTO published VALUES (?, ?, ?, ?)", row)
            noted = "SELECT output FROM published WHERE release = ?"
            file.confirm(lambda connection: connection.execute(noted, (number,)).fetchone() == (output,))

    def total(self, population: str, adding: Entry | None = None) -> Guarantee:
        """Everything released about ``population``, composed; with ``adding``, as it would be."""
        book, name = self._book(), check_name(population)
        if book.population(name) is None and adding is None:
            raise _unknown(book, name)
        return composed([*book.mechanisms(name), *(() if adding is None else adding.mechanisms)])

    def spent_at_least(self, release: int, *, delta: float) -> float:
        """The certified lower end of epsilon at ``delta`` of everything about a release's
        population up to that release: what its page may not go below.
        """
        book, number = self._book(), _number(release)
        before = [each for each in book.charged(_row(book, number).population) if each.id <= number]
        return composed(part for each in before for part in each.entry.mechanisms).epsilon_at_least(delta=delta)

    def more(
        self, population: str, like: Entry, *, limit_epsilon: float | None = None, limit_delta: float | None = None
    ) -> int:
        """How many more releases like this one fit within the limit of ``population``, one after
        the other; at most ``fit.MANY``.
        """
        book = self._whole()
        owner = owner_of(book, Charge(population, like, limit_epsilon, limit_delta))
        return more(book.mechanisms(owner.name), like, owner)

    def populations(self) -> tuple[Population, ...]:
        """Every population, by name."""
        return self._book().populations

    def releases(self, population: str | None = None) -> tuple[Release, ...]:
        """Every release, or those of one population, in the order in which they were recorded."""
        book, name = self._book(), None if population is None else check_name(population)
        if name is not None and book.population(name) is None:
            raise _unknown(book, name)
        return book.releases(name)

    def series(self, population: str) -> dict[str, PaidSeries]:
        """What was paid for in advance about ``population``, by name, and the weeks that have
        begun.
        """
        return self._whole().series(check_name(population))

    def check(self, *, last: str | None = None) -> Check:
        """The file, the chain of records, every entry and every total, checked again; and whether
        the record sealed ``last`` is still there.
        """
        seal = None if last is None else check_digest("last", last)
        try:
            return checked(self._book(), seal)
        except Damaged as error:
            return Check((error.fault,), ())

    def export(self) -> dict[str, Any]:
        """Everything as strict JSON, the same for the same ledger."""
        return exported(self._whole())

    def _book(self) -> Book:
        return self._sound(read(self.path))

    def _whole(self) -> Book:
        return _whole(self._book(), self.path)

    def _sound(self, book: Book | None) -> Book:
        """Refuse a book that is not the one that was seen before, and more; and a damaged one that
        was sound a moment ago.
        """
        count, seal = self._seen
        there = [] if book is None else [row.record for row in book.rows[max(count - 1, 0) : count]]
        if book is None or (count and not book.damage and there != [seal]):
            gone = "records that were there a moment ago are gone"
            raise damaged(self.path, f"{gone}; an older copy was put in its place, or somebody removed them")
        if book.rows and not book.damage:
            self._seen = max(self._seen, (len(book.rows), book.last))
        return book


def _there(connection: sqlite3.Connection, taken: tuple[int, str], owner: Population) -> bool:
    """Whether a record is there, is the last or followed by others, and counts for its population
    under its limits.
    """
    limits = (owner.name, owner.limit_epsilon, owner.limit_delta)
    found = connection.execute(
        "SELECT id, record, population, limit_epsilon, limit_delta FROM releases NOT INDEXED, populations WHERE id = ? "
        "AND name = population",
        taken[:1],
    ).fetchall()
    count = connection.execute("SELECT count(*) FROM releases NOT INDEXED").fetchone()[0]
    return found == [(*taken, *limits)] and count >= taken[0]


def _record(
    connection: sqlite3.Connection, book: Book, owner: Population, entry: Entry, *, begun: bool
) -> tuple[int, str]:
    """One more row, sealed after the last one."""
    if book.population(owner.name) is None:
        connection.execute(
            "INSERT INTO populations VALUES (?, ?, ?, ?)",
            (owner.name, owner.limit_epsilon, owner.limit_delta, owner.created),
        )
    made: dict[str, Any] = {"id": len(book.rows) + 1, "recorded": this_moment(), "version": version("shuffledp")}
    facts = made | {"entry": canonical(entry.as_json()), "previous": book.last}
    record = seal_of(owner, **facts)
    connection.execute(
        "INSERT INTO releases (id, population, recorded, entry, version, previous, record)"
        " VALUES (:id, :population, :recorded, :entry, :version, :previous, :record)",
        {**facts, "population": owner.name, "record": record},
    )
    if begun:
        _note_begun(connection, facts["id"], record)
    return facts["id"], record


def _note_begun(connection: sqlite3.Connection, id: int, record: str) -> None:
    now = this_moment()
    connection.execute("INSERT INTO begun VALUES (?, ?, ?)", (id, now, begun_seal(record, now)))


def _whole(book: Book, path: Path) -> Book:
    """Refuse to build on a damaged book."""
    if book.damage:
        raise damaged(path, book.damage[0])
    return book


def _number(id: int | None) -> int:
    return check_count("id", id, least=1, remedy="It is the id of a receipt.")


def _row(book: Book, number: int) -> Row:
    found = next((each for each in book.rows if each.id == number), None)
    if found is None:
        raise _no_release(number)
    return found


def _no_release(number: int) -> InvalidInput:
    return InvalidInput(f"id must be that of a recorded release, got {number}. `shuffledp ledger show` lists them.")


def _unknown(book: Book, population: str) -> InvalidInput:
    names = ", ".join(each.name for each in book.populations) or "none yet"
    return InvalidInput(
        f"population must be one of those in the ledger ({names}), got {population!r}. Check the spelling."
    )
