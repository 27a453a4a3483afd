"""On what terms a release is charged: whose budget, what was spent before, whether it fits, and
what would.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from shuffledp.accounting.curves import Bound
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import (
    Argument,
    InvalidInput,
    Refusal,
    check_delta,
    check_epsilon,
    check_positive,
    check_probability,
)
from shuffledp.ledger.book import Book
from shuffledp.ledger.chain import Population
from shuffledp.ledger.entry import Entry
from shuffledp.ledger.populations import check_name, check_new_name, lookalikes
from shuffledp.ledger.remainder import largest
from shuffledp.ledger.series import check_turn
from shuffledp.ledger.total import Mechanism, composed
from shuffledp.storage.canonical import canonical
from shuffledp.wording import rounded

__all__ = [
    "OverLimit",
    "Receipt",
    "Terms",
    "check_batches",
    "limits_of",
    "refusal",
    "situation",
    "terms_asked",
    "terms_of",
    "this_moment",
]


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


@dataclass(frozen=True, slots=True)
class Terms:
    """Whose budget a release is charged to, what all becomes with it, and the record that waits for
    it, if one does.
    """

    owner: Population
    total: Guarantee
    waiting: tuple[int, str] | None

    def receipt(self, book: Book, id: int | None, record: str | None) -> Receipt:
        """What whoever asked is told."""
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


def terms_of(
    book: Book,
    population: str,
    entry: Entry,
    limit_epsilon: float | None,
    limit_delta: float | None,
    *,
    held_back: bool,
) -> Terms:
    """The terms of a release that keeps the limit; one that does not is refused, with what would
    fit.
    """
    check_batches(book, entry)
    try:
        return terms_asked(book, population, entry, limit_epsilon, limit_delta, held_back=held_back)
    except OverLimit:
        owner = limits_of(book, population, limit_epsilon, limit_delta)
        raise refusal(owner, book.mechanisms(owner.name), entry) from None


def terms_asked(
    book: Book,
    population: str,
    entry: Entry,
    limit_epsilon: float | None,
    limit_delta: float | None,
    *,
    held_back: bool,
) -> Terms:
    """The same, without a word about what would fit."""
    owner = limits_of(book, population, limit_epsilon, limit_delta)
    standing = check_turn(book.rows_of(owner.name), entry)
    earlier, waiting = book.mechanisms(owner.name), standing
    if waiting is None and held_back:
        waiting = _waiting(book, owner, entry)
    free = waiting is not None or (entry.series is not None and entry.series.week is not None)
    return Terms(owner, _within(owner, earlier, None if free else entry), waiting)


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


def situation(book: Book, owner: Population) -> list[tuple[str, bool]]:
    """The seals of all that a population has released, and what of it was begun: equal situations,
    equal terms.
    """
    return [(row.record, row.begun is None) for row in book.rows if row.population == owner.name]


def check_batches(book: Book, entry: Entry, *, but: int | None = None) -> None:
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


def limits_of(book: Book, name: str, limit_epsilon: float | None, limit_delta: float | None) -> Population:
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
            both = (Argument("limit-epsilon"), " and ", Argument("limit-delta"))
            remedy = ("Give ", both, " with its first release.")
            raise InvalidInput(Refusal(f"the population {name!r} must have a limit", "none yet", remedy))
        return Population(name, limit_epsilon, limit_delta, this_moment())
    for what, given, stored in (
        ("limit-epsilon", limit_epsilon, known.limit_epsilon),
        ("limit-delta", limit_delta, known.limit_delta),
    ):
        if given is not None and given != stored:
            rule = (Argument(what), f" of {name!r} must stay {stored:g}, as its first release set it")
            raise InvalidInput(Refusal(rule, f"{given:g}", "Leave it out; a limit that moves limits nothing."))
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


def refusal(owner: Population, earlier: list[Mechanism], entry: Entry) -> OverLimit:
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


def _records(book: Book, owner: Population) -> list[str]:
    """The seals of all that a population has released: equal seals, equal releases."""
    return [row.record for row in book.rows if row.population == owner.name]


def this_moment() -> str:
    """The moment, as the ledger writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
