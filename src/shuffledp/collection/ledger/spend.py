"""``Ledger``: a release is recorded, if it fits, before anything of it is made."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shuffledp.accounting.curves import Bound
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.collection.ledger.alike import Mechanism
from shuffledp.collection.ledger.book import Book, Release, book_of, parsed, read, refreshed
from shuffledp.collection.ledger.check import Check, checked
from shuffledp.collection.ledger.entry import Entry, check_digest
from shuffledp.collection.ledger.export import exported
from shuffledp.collection.ledger.fit import largest, more
from shuffledp.collection.ledger.in_advance import PaidSeries, check_turn, turn_of
from shuffledp.collection.ledger.names import check_name, check_new_name, lookalikes
from shuffledp.collection.ledger.schema import Damaged, damaged
from shuffledp.collection.ledger.seal import START, Population, begun_seal, output_seal, seal_of
from shuffledp.collection.ledger.store import check_place, held, reading
from shuffledp.collection.ledger.total import composed
from shuffledp.errors import InvalidInput, check_count, check_delta, check_epsilon, check_positive, check_probability
from shuffledp.storage.canonical import canonical
from shuffledp.wording import rounded

__all__ = ["Ledger", "OverLimit", "Receipt"]

UNSEEN = (0, START)  # how many records were seen, and the seal of the last


class OverLimit(InvalidInput):
    """A release would exceed its population's limit; ``fitting`` is the same kind of release, as
    large as would fit, if any does.
    """

    fitting: Entry | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """A release was recorded under ``id``, and sealed by ``record``; ``total`` is the epsilon of
    all ``releases`` so far at ``limit_delta``.

    Of a release that was only asked about (``afford``), ``id`` and ``record`` are ``None``.
    ``lookalikes`` are other populations whose names a reader may take for this one: if they are the
    same users, they should have one budget.
    """

    id: int | None
    record: str | None
    population: str
    releases: int
    total: Bound
    limit_epsilon: float
    limit_delta: float
    lookalikes: tuple[str, ...] = ()


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
        seen = self._whole()
        terms = _terms(seen, population, entry, limit_epsilon, limit_delta, held_back=held_back)
        try:
            with held(self.path, create=self._seen == UNSEEN) as file:
                with file.transaction() as connection:
                    book = _whole(self._sound(refreshed(seen, connection)), self.path)
                    if _situation(book, terms.owner) != _situation(seen, terms.owner):
                        terms = _asked(book, population, entry, limit_epsilon, limit_delta, held_back=held_back)
                    _check_batches(book, entry)
                    taken = terms.waiting or _record(connection, book, terms.owner, entry, begun=not held_back)
                file.confirm(lambda connection: _there(connection, taken, terms.owner))
        except OverLimit:
            raise _refusal(terms.owner, terms.earlier, entry) from None
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
        book = self._whole()
        return _terms(book, population, entry, limit_epsilon, limit_delta, held_back=held_back).receipt(
            book, None, None
        )

    def begin(self, id: int | None) -> None:
        """Note that something of a release that was held back is about to be seen; from here on its
        batches are taken. Once only.
        """
        number = _number(id)
        with held(self.path) as file:
            with file.transaction() as connection:
                book = self._sound(_whole(book_of(connection, self.path), self.path))
                row = next((each for each in book.rows if each.id == number), None)
                if row is None:
                    raise _no_release(number)
                if row.begun is not None:
                    raise InvalidInput(
                        f"release {number} must begin once, got a second beginning: another run has taken it over. "
                        f"Spend again."
                    )
                entry = parsed(row).entry
                if entry.series is not None and entry.series.week is None:
                    raise InvalidInput(
                        f"release {number} must be one that can be seen, got the payment for a series. Begin one of "
                        f"its weeks."
                    )
                _check_batches(book, entry, but=number)
                check_turn(book.rows_of(row.population), entry, but=number)
                _note_begun(connection, number, row.record)
            file.confirm(
                lambda connection: (
                    connection.execute("SELECT 1 FROM begun WHERE release = ?", (number,)).fetchone() is not None
                )
            )

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
                    raise InvalidInput(
                        f"release {number} must be begun before it is published, got one of a series that was not. "
                        f"Call begin({number}) first: another run may have begun its week."
                    )
                if before is not None and before != output:
                    raise InvalidInput(
                        f"release {number} must be published once, got another output. Spend again for another release."
                    )
                if begun is None:
                    _note_begun(connection, number, record)
                if before is None:
                    now = _now()
                    connection.execute(
                        "INSERT INTO published VALUES (?, ?, ?, ?)",
                        (number, now, output, output_seal(record, now, output)),
                    )
            file.confirm(
                lambda connection: (
                    connection.execute("SELECT output FROM published WHERE release = ?", (number,)).fetchone()
                    == (output,)
                )
            )

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
        row = next((each for each in book.rows if each.id == number), None)
        if row is None:
            raise _no_release(number)
        before = [each for each in book.charged(row.population) if each.id <= number]
        return composed(part for each in before for part in each.entry.mechanisms).epsilon_at_least(delta=delta)

    def more(
        self, population: str, like: Entry, *, limit_epsilon: float | None = None, limit_delta: float | None = None
    ) -> int:
        """How many more releases like this one fit within the limit of ``population``, one after
        the other; at most ``fit.MANY``.
        """
        book = self._whole()
        owner = _limits(book, population, limit_epsilon, limit_delta)
        return more(book.mechanisms(owner.name), like, limit_epsilon=owner.limit_epsilon, limit_delta=owner.limit_delta)

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
        if book is None or (
            count and not book.damage and (len(book.rows) < count or book.rows[count - 1].record != seal)
        ):
            raise damaged(
                self.path,
                "records that were there a moment ago are gone; an older copy was put in its place, or somebody "
                "removed them",
            )
        if book.rows and not book.damage:
            self._seen = max(self._seen, (len(book.rows), book.last))
        return book


@dataclass(frozen=True, slots=True)
class _Terms:
    """Whose budget a release is charged to, what was released before, what it all becomes, and the
    record that waits for it, if one does.
    """

    owner: Population
    earlier: list[Mechanism]
    total: Guarantee
    waiting: tuple[int, str] | None

    def receipt(self, book: Book, id: int | None, record: str | None) -> Receipt:
        releases = len(_records(book, self.owner)) + (self.waiting is None)
        names = lookalikes(self.owner.name, (each.name for each in book.populations))
        return Receipt(
            id,
            record,
            self.owner.name,
            releases,
            _spent(self.owner, self.total),
            self.owner.limit_epsilon,
            self.owner.limit_delta,
            names,
        )


def _terms(
    book: Book,
    population: str,
    entry: Entry,
    limit_epsilon: float | None,
    limit_delta: float | None,
    *,
    held_back: bool,
) -> _Terms:
    """The terms of a release that keeps the limit; one that does not is refused, with what would
    fit.
    """
    _check_batches(book, entry)
    try:
        return _asked(book, population, entry, limit_epsilon, limit_delta, held_back=held_back)
    except OverLimit:
        owner = _limits(book, population, limit_epsilon, limit_delta)
        raise _refusal(owner, book.mechanisms(owner.name), entry) from None


def _asked(
    book: Book,
    population: str,
    entry: Entry,
    limit_epsilon: float | None,
    limit_delta: float | None,
    *,
    held_back: bool,
) -> _Terms:
    owner = _limits(book, population, limit_epsilon, limit_delta)
    standing = check_turn(book.rows_of(owner.name), entry)
    earlier, waiting = book.mechanisms(owner.name), _waiting(book, owner, entry) if held_back else standing
    free = waiting is not None or (entry.series is not None and entry.series.week is not None)
    return _Terms(owner, earlier, _within(owner, earlier, None if free else entry), waiting)


def _waiting(book: Book, owner: Population, entry: Entry) -> tuple[int, str] | None:
    """The last record of a population, if it is of the very same release and was never begun: all
    that it says is the same, so it is paid for.

    Only the last: a report states how many releases there were up to its own, and what they cost
    together. And never a week that is drawn afresh by every run: by its own record each is known
    from the others, of which one begins.
    """
    if entry.series is not None and not entry.batches:
        return None
    last = next((row for row in reversed(book.rows) if row.population == owner.name), None)
    if last is None or last.begun is not None or last.entry != canonical(entry.as_json()):
        return None
    return last.id, last.record


def _situation(book: Book, owner: Population) -> list[tuple[str, bool]]:
    """The seals of all that a population has released, and what of it was begun: equal situations,
    equal terms.
    """
    return [(row.record, row.begun is None) for row in book.rows if row.population == owner.name]


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


def _check_batches(book: Book, entry: Entry, *, but: int | None = None) -> None:
    """Refuse reports that an earlier release holds together with others: the difference of the two
    shows what a few people sent.

    The very same batches again are the same multiset, which gives away nothing new; it is charged
    all the same. A release of which nothing was ever seen gives away nothing either.
    """
    for row, batches in book.sharing(entry.batches):
        if row.begun is not None and row.id != but and batches != entry.batches:
            raise InvalidInput(
                f"the reports of a release must be new, got some of release {row.id} with others: anyone who compares "
                f"the two sees what a few people sent. "
                "Shuffle exactly the same files again, or let everybody encode again."
            )


def _limits(book: Book, name: str, limit_epsilon: float | None, limit_delta: float | None) -> Population:
    """The population with its limits: as recorded, or as given for the first time."""
    name = check_name(name)
    if limit_epsilon is not None:
        limit_epsilon = check_epsilon(
            check_positive(
                "limit_epsilon", limit_epsilon, remedy="It is the most that all releases together may reach."
            )
        )
    if limit_delta is not None:
        limit_delta = check_delta(
            check_probability(
                "limit_delta", limit_delta, remedy="It is a small probability, such as 1e-6, well below 1/n."
            )
        )
    known = book.population(name)
    if known is None:
        check_new_name(name, [each.name for each in book.populations])
        if limit_epsilon is None or limit_delta is None:
            raise InvalidInput(
                f"the population {name!r} must have a limit, got none yet. Give --limit-epsilon and --limit-delta with "
                f"its first release."
            )
        return Population(name, limit_epsilon, limit_delta, _now())
    for what, given, stored in (
        ("limit-epsilon", limit_epsilon, known.limit_epsilon),
        ("limit-delta", limit_delta, known.limit_delta),
    ):
        if given is not None and given != stored:
            raise InvalidInput(
                f"--{what} of {name!r} must stay {stored:g}, as its first release set it, got {given:g}. Leave it out; "
                f"a limit that moves limits nothing."
            )
    return known


def _within(owner: Population, earlier: list[Mechanism], entry: Entry | None) -> Guarantee:
    """The new total, if it keeps the limit."""
    total = composed([*earlier, *(() if entry is None else entry.mechanisms)])
    if total.delta_at_most(epsilon=owner.limit_epsilon) > owner.limit_delta:
        raise OverLimit
    return total


def _spent(owner: Population, total: Guarantee) -> Bound:
    """The epsilon of a total within the limit. That it is within certifies the limit too, which
    solving for epsilon may miss in the last digits.
    """
    bound = total.epsilon(delta=owner.limit_delta)
    return replace(bound, lower=min(bound.lower, owner.limit_epsilon), upper=min(bound.upper, owner.limit_epsilon))


def _record(
    connection: sqlite3.Connection, book: Book, owner: Population, entry: Entry, *, begun: bool
) -> tuple[int, str]:
    """One more row, sealed after the last one."""
    if book.population(owner.name) is None:
        connection.execute(
            "INSERT INTO populations VALUES (?, ?, ?, ?)",
            (owner.name, owner.limit_epsilon, owner.limit_delta, owner.created),
        )
    made: dict[str, Any] = {"id": len(book.rows) + 1, "recorded": _now(), "version": version("shuffledp")}
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
    now = _now()
    connection.execute("INSERT INTO begun VALUES (?, ?, ?)", (id, now, begun_seal(record, now)))


def _refusal(owner: Population, earlier: list[Mechanism], entry: Entry) -> OverLimit:
    """The refusal in words: what is spent, what it would become, and what would still fit. Computed
    when the lock is free again.
    """
    delta = owner.limit_delta
    spent = min(composed(earlier).epsilon_at_most(delta=delta), owner.limit_epsilon) if earlier else 0.0
    would = composed([*earlier, *entry.mechanisms]).epsilon_at_most(delta=delta)
    fitting = largest(earlier, entry, limit_epsilon=owner.limit_epsilon, limit_delta=delta)
    if fitting is None:
        remedy = "Nothing of this kind fits any more"
    else:
        strength = " and ".join(
            dict.fromkeys(rounded(part.law["epsilon0"], up=False, digits=5, zeros=False) for part in fitting.parts)
        )
        least = rounded(fitting.epsilon, up=False, digits=3, zeros=False)
        remedy = f"By itself, epsilon = {least} at delta = {fitting.delta:g} (epsilon0 = {strength}) would still fit"
    answer = OverLimit(
        f"the releases of {owner.name!r} together must keep epsilon = {owner.limit_epsilon:g} at delta = {delta:g}, "
        f"got {rounded(would, up=True, zeros=False)} with this one"
        f" ({rounded(spent, up=True, zeros=False)} without). {remedy}."
    )
    answer.fitting = fitting
    return answer


def _whole(book: Book, path: Path) -> Book:
    """Refuse to build on a damaged book."""
    if book.damage:
        raise damaged(path, book.damage[0])
    return book


def _records(book: Book, owner: Population) -> list[str]:
    """The seals of all that a population has released: equal seals, equal releases."""
    return [row.record for row in book.rows if row.population == owner.name]


def _number(id: int | None) -> int:
    return check_count("id", id, least=1, remedy="It is the id of a receipt.")


def _no_release(number: int) -> InvalidInput:
    return InvalidInput(f"id must be that of a recorded release, got {number}. `shuffledp ledger show` lists them.")


def _unknown(book: Book, population: str) -> InvalidInput:
    names = ", ".join(each.name for each in book.populations) or "none yet"
    return InvalidInput(
        f"population must be one of those in the ledger ({names}), got {population!r}. Check the spelling."
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
