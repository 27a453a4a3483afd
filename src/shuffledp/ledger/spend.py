"""``Ledger``: a release is recorded, if it fits, before anything of it is made."""

from __future__ import annotations

import decimal
import math
import sqlite3
import unicodedata
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shuffledp.canonical import canonical
from shuffledp.errors import InvalidInput, check_count, check_positive, check_probability
from shuffledp.guarantee import Guarantee, check_delta, check_epsilon
from shuffledp.ledger.alike import Mechanism
from shuffledp.ledger.book import Book, Population, Release, output_seal, read, rows_of, seal_of
from shuffledp.ledger.check import Check, checked
from shuffledp.ledger.entry import Entry, check_digest, check_name
from shuffledp.ledger.export import exported
from shuffledp.ledger.fit import largest
from shuffledp.ledger.schema import Damaged, check_place, identified, reading, writing
from shuffledp.ledger.total import composed, delta_at_most
from shuffledp.profile import Bound

__all__ = ["Ledger", "OverLimit", "Receipt"]


class OverLimit(InvalidInput):
    """A release would exceed its population's limit; ``fitting`` is the same kind of release, as large as would fit, if any does."""

    fitting: Entry | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """A release was recorded under ``id``, and sealed by ``record``; ``total`` is the epsilon of all ``releases`` so far at ``limit_delta``.

    Of a release that was only asked about (``afford``), ``id`` and ``record`` are ``None``.
    """

    id: int | None
    record: str | None
    population: str
    releases: int
    total: Bound
    limit_epsilon: float
    limit_delta: float


class Ledger:
    """The budget in the SQLite file at ``path``. The first ``spend`` creates it; nothing else does, and questions leave no trace.

    A connection lives for one call, so a ledger may be shared between threads and processes: whoever spends waits for the others.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = check_place(Path(path))
        if self.path.exists() and self.path.stat().st_size:
            with suppress(Damaged):  # ``check`` tells more about it, and everything else refuses it
                reading(self.path, lambda connection: identified(connection, self.path))

    def spend(self, population: str, entry: Entry, *, limit_epsilon: float | None = None, limit_delta: float | None = None) -> Receipt:
        """Record ``entry`` if all releases of ``population``, with it, stay within the limit; then it may be released.

        The limit means: certified delta(limit_epsilon) <= limit_delta. The first release of a population sets it; later ones may leave it out. The
        sum is computed before the lock is taken, and again under it if somebody else spent from this population meanwhile: two processes at once
        never overspend, and other populations do not wait. When this returns, the record is on the disk.
        """
        seen = _whole(self._book(), self.path)
        owner, earlier, total = _affordable(seen, population, entry, limit_epsilon, limit_delta)
        try:
            with writing(self.path) as connection:
                book = _whole(rows_of(connection, self.path), self.path)
                owner = _limits(book, population, limit_epsilon, limit_delta)
                _check_batches(book, entry)
                if _records(book, owner) != _records(seen, owner):
                    earlier = _mechanisms(book, owner.name)
                    total = _within(owner, earlier, entry)
                id, record = _record(connection, book, owner, entry)
        except OverLimit:
            raise _refusal(owner, earlier, entry) from None
        return Receipt(id, record, owner.name, len(_records(book, owner)) + 1, _spent(owner, total), owner.limit_epsilon, owner.limit_delta)

    def afford(self, population: str, entry: Entry, *, limit_epsilon: float | None = None, limit_delta: float | None = None) -> Receipt:
        """What ``spend`` would answer now, or refuse; nothing is recorded, and no file is made."""
        book = _whole(self._book(), self.path)
        owner, _, total = _affordable(book, population, entry, limit_epsilon, limit_delta)
        return Receipt(None, None, owner.name, len(_records(book, owner)) + 1, _spent(owner, total), owner.limit_epsilon, owner.limit_delta)

    def publish(self, id: int | None, output: str) -> None:
        """Note that the output of a recorded release stands, and its SHA-256 digest. Noting the same again changes nothing."""
        number, output = check_count("id", id, least=1, remedy="It is the id of a receipt."), check_digest("output", output)
        with writing(self.path) as connection:
            row = connection.execute("SELECT record, output FROM releases LEFT JOIN published ON release = id WHERE id = ?", (number,)).fetchone()
            if row is None:
                raise InvalidInput(f"id must be that of a recorded release, got {number}. `shuffledp ledger show` lists them.")
            record, before = row
            if before is not None and before != output:
                raise InvalidInput(f"release {number} must be published once, got another output. Spend again for another release.")
            if before is None:
                now = _now()
                connection.execute("INSERT INTO published VALUES (?, ?, ?, ?)", (number, now, output, output_seal(record, now, output)))

    def total(self, population: str, adding: Entry | None = None) -> Guarantee:
        """Everything released about ``population``, composed; with ``adding``, as it would be."""
        book, name = self._book(), check_name(population)
        if book.population(name) is None and adding is None:
            raise _unknown(book, name)
        return composed([*_mechanisms(book, name), *(() if adding is None else adding.mechanisms)])

    def populations(self) -> tuple[Population, ...]:
        """Every population, by name."""
        return self._book().populations

    def releases(self, population: str | None = None) -> tuple[Release, ...]:
        """Every release, or those of one population, in the order in which they were recorded."""
        book, name = self._book(), None if population is None else check_name(population)
        if name is not None and book.population(name) is None:
            raise _unknown(book, name)
        return book.releases(name)

    def check(self) -> Check:
        """The file, the chain of records, every entry and every total, checked again."""
        try:
            return checked(self._book())
        except Damaged as error:
            return Check((str(error),), ())

    def export(self) -> dict[str, Any]:
        """Everything as strict JSON, the same for the same ledger."""
        return exported(_whole(self._book(), self.path))

    def _book(self) -> Book:
        return read(self.path)


def _check_batches(book: Book, entry: Entry) -> None:
    """Refuse reports that an earlier release holds together with others: the difference of the two shows what few people sent.

    The very same batches again are the same multiset, which gives away nothing new; it is charged all the same.
    """
    for release in book.releases():
        if set(release.entry.batches) & set(entry.batches) and release.entry.batches != entry.batches:
            raise InvalidInput(
                f"the reports of a release must be new, got some of release {release.id} with others: who compares the two sees what few people sent. "
                "Shuffle exactly the same files again, or let everybody encode anew."
            )


def _affordable(
    book: Book, population: str, entry: Entry, limit_epsilon: float | None, limit_delta: float | None
) -> tuple[Population, list[Mechanism], Guarantee]:
    """Whose budget it is, what was released before, and what it becomes with ``entry``, if that keeps the limit."""
    owner = _limits(book, population, limit_epsilon, limit_delta)
    _check_batches(book, entry)
    earlier = _mechanisms(book, owner.name)
    try:
        return owner, earlier, _within(owner, earlier, entry)
    except OverLimit:
        raise _refusal(owner, earlier, entry) from None


def _limits(book: Book, name: str, limit_epsilon: float | None, limit_delta: float | None) -> Population:
    """The population with its limits: as recorded, or as given for the first time."""
    name = check_name(name)
    if limit_epsilon is not None:
        limit_epsilon = check_epsilon(check_positive("limit_epsilon", limit_epsilon, remedy="It is the most that all releases together may reach."))
    if limit_delta is not None:
        limit_delta = check_delta(check_probability("limit_delta", limit_delta, remedy="It is a small probability, such as 1e-6, well below 1/n."))
    known = book.population(name)
    if known is None:
        if twin := next((each.name for each in book.populations if _letters(each.name) == _letters(name)), None):
            raise InvalidInput(
                f"a new population must differ from {twin!r} in more than case or blanks, got {name!r}. Did you mean {twin!r}? The same users share one budget."
            )
        if limit_epsilon is None or limit_delta is None:
            raise InvalidInput(f"the population {name!r} must have a limit, got none yet. Give --limit-epsilon and --limit-delta with its first release.")
        return Population(name, limit_epsilon, limit_delta, _now())
    for what, given, stored in (("limit-epsilon", limit_epsilon, known.limit_epsilon), ("limit-delta", limit_delta, known.limit_delta)):
        if given is not None and given != stored:
            raise InvalidInput(
                f"--{what} of {name!r} must stay {stored:g}, as its first release set it, got {given:g}. Leave it out; a limit that moves limits nothing."
            )
    return known


def _within(owner: Population, earlier: list[Mechanism], entry: Entry) -> Guarantee:
    """The new total, if it keeps the limit."""
    total = composed([*earlier, *entry.mechanisms])
    if delta_at_most(total, owner.limit_epsilon) > owner.limit_delta:
        raise OverLimit
    return total


def _spent(owner: Population, total: Guarantee) -> Bound:
    """The epsilon of a total within the limit. That it is within certifies the limit too, which solving for epsilon may miss in the last digits."""
    bound = total.epsilon(delta=owner.limit_delta)
    return replace(bound, lower=min(bound.lower, owner.limit_epsilon), upper=min(bound.upper, owner.limit_epsilon))


def _record(connection: sqlite3.Connection, book: Book, owner: Population, entry: Entry) -> tuple[int, str]:
    """One more row, sealed after the last one."""
    if book.population(owner.name) is None:
        connection.execute("INSERT INTO populations VALUES (?, ?, ?, ?)", (owner.name, owner.limit_epsilon, owner.limit_delta, owner.created))
    made: dict[str, Any] = {"id": len(book.rows) + 1, "recorded": _now(), "version": version("shuffledp")}
    facts = made | {"entry": canonical(entry.as_json()), "previous": book.last}
    record = seal_of(owner, **facts)
    connection.execute(
        "INSERT INTO releases (id, population, recorded, entry, version, previous, record)"
        " VALUES (:id, :population, :recorded, :entry, :version, :previous, :record)",
        {**facts, "population": owner.name, "record": record},
    )
    return facts["id"], record


def _refusal(owner: Population, earlier: list[Mechanism], entry: Entry) -> OverLimit:
    """The refusal in words: what is spent, what it would become, and what would still fit. Computed when the lock is free again."""
    delta = owner.limit_delta
    spent = _spent(owner, composed(earlier)).upper if earlier else 0.0
    would = composed([*earlier, *entry.mechanisms]).epsilon(delta=delta).upper
    fitting = largest(earlier, entry, limit_epsilon=owner.limit_epsilon, limit_delta=delta)
    if fitting is None:
        remedy = "Nothing of this kind fits any more"
    else:
        strength = " and ".join(dict.fromkeys(_down(part.law["epsilon0"], 5) for part in fitting.parts))
        remedy = f"By itself, epsilon = {_down(fitting.epsilon)} at delta = {fitting.delta:g} (epsilon0 = {strength}) would still fit"
    answer = OverLimit(
        f"the releases of {owner.name!r} together must keep epsilon = {owner.limit_epsilon:g} at delta = {delta:g}, got {_up(would)} with this one"
        f" ({_up(spent)} without). {remedy}."
    )
    answer.fitting = fitting
    return answer


def _whole(book: Book, path: Path) -> Book:
    """Refuse to build on a damaged book."""
    if book.damage:
        raise InvalidInput(f"the ledger {str(path)!r} must be intact, got: {book.damage[0]}. Restore it from a copy; `shuffledp ledger check` says more.")
    return book


def _mechanisms(book: Book, population: str) -> list[Mechanism]:
    return [each for release in book.releases(population) for each in release.entry.mechanisms]


def _records(book: Book, owner: Population) -> list[str]:
    """The seals of all that a population has released: equal seals, equal releases."""
    return [row.record for row in book.rows if row.population == owner.name]


def _letters(name: str) -> str:
    """What is left of a name that case and blanks do not tell apart, nor characters that only look different."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


def _unknown(book: Book, population: str) -> InvalidInput:
    names = ", ".join(each.name for each in book.populations) or "none yet"
    return InvalidInput(f"population must be one of those in the ledger ({names}), got {population!r}. Check the spelling.")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _down(value: float, digits: int = 3) -> str:
    return _rounded(value, digits, decimal.ROUND_FLOOR)


def _up(value: float) -> str:
    return _rounded(value, 4, decimal.ROUND_CEILING)


def _rounded(value: float, digits: int, direction: str) -> str:
    if not math.isfinite(value):
        return "infinite"
    return f"{float(decimal.Context(prec=digits, rounding=direction).create_decimal_from_float(value)):.{digits}g}"
