"""On what terms a release is charged: whose budget, what was spent before, whether it fits, and
what would.

What would still fit is how many more of the same release, or the largest with all its epsilon0 made
smaller by one factor.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from shuffledp.accounting.curves import Bound
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.inversion import geometric, halve, whole, within
from shuffledp.accounting.rounds import Rounds
from shuffledp.errors import (
    MOST_ROUNDS,
    Argument,
    InvalidInput,
    Refusal,
    check_delta,
    check_epsilon,
    check_positive,
    check_probability,
)
from shuffledp.ledger.book import Book
from shuffledp.ledger.entry import Entry
from shuffledp.ledger.populations import check_name, check_new_name, lookalikes
from shuffledp.ledger.schema import Population
from shuffledp.ledger.series import check_turn
from shuffledp.ledger.total import Mechanism, composed, harshest
from shuffledp.randomizers.law_file import law_of, randomizer_of, scaled
from shuffledp.storage.canonical import canonical
from shuffledp.wording import rounded


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
        owner = self.owner
        releases = len(book.rows_of(owner.name)) + (self.waiting is None)
        names, spent = lookalikes(owner.name, (each.name for each in book.populations)), _spent(owner, self.total)
        return Receipt(id, record, owner.name, releases, spent, owner.limit_epsilon, owner.limit_delta, names)


class Charge(NamedTuple):
    """What is asked of a ledger: whose budget, under which limits, for what, and whether nothing of
    it can be seen before it begins.
    """

    population: str
    entry: Entry
    limit_epsilon: float | None
    limit_delta: float | None
    held_back: bool = False


def terms_of(book: Book, asked: Charge) -> Terms:
    """The terms of a release that keeps the limit; one that does not is refused, with what would
    fit.
    """
    check_batches(book, asked.entry)
    try:
        return terms_asked(book, asked)
    except OverLimit:
        raise refusal(book, asked) from None


def terms_asked(book: Book, asked: Charge) -> Terms:
    """The same, without a word about what would fit."""
    owner, entry = owner_of(book, asked), asked.entry
    earlier, waiting = book.mechanisms(owner.name), check_turn(book.rows_of(owner.name), entry)
    if waiting is None and asked.held_back:
        waiting = _waiting(book, owner, entry)
    free = waiting is not None or (entry.series is not None and entry.series.week is not None)
    total = composed([*earlier, *(() if free else entry.mechanisms)])
    if total.delta_at_most(epsilon=owner.limit_epsilon) > owner.limit_delta:
        raise OverLimit
    return Terms(owner, total, waiting)


def _waiting(book: Book, owner: Population, entry: Entry) -> tuple[int, str] | None:
    """The last record of a population, if it is of the very same release and was never begun: all
    that it says is the same, so it is paid for.

    Only the last: a report states how many releases there were up to its own, and what they cost
    together. And never a week that is drawn afresh by every run: by its own record each is known
    from the others, of which one begins.
    """
    if entry.series is not None and not entry.batches:
        return None
    last = next(reversed(book.rows_of(owner.name)), None)
    if last is None or last.begun is not None or last.entry != canonical(entry.as_json()):
        return None
    return last.id, last.record


def situation(book: Book, owner: Population) -> list[tuple[str, bool]]:
    """The seals of all that a population has released, and what of it was begun: equal situations,
    equal terms.
    """
    return [(row.record, row.begun is None) for row in book.rows_of(owner.name)]


def check_batches(book: Book, entry: Entry, *, but: int | None = None) -> None:
    """Refuse reports that an earlier release holds together with others: the difference of the two
    shows what a few people sent.

    The very same batches again are the same multiset, which gives away nothing new; it is charged
    all the same. A release of which nothing was ever seen gives away nothing either.
    """
    for row, batches in book.sharing(entry.batches):
        if row.begun is not None and row.id != but and batches != entry.batches:
            rule, remedy = (
                "the reports of a release must be new",
                "Shuffle exactly the same files again, or let everybody encode again.",
            )
            some = f"some of release {row.id} with others: anyone who compares the two sees what a few people sent"
            raise InvalidInput(Refusal(rule, some, remedy))


def owner_of(book: Book, asked: Charge) -> Population:
    """The population with its limits: as recorded, or as given for the first time."""
    name, limit_epsilon, limit_delta = check_name(asked.population), asked.limit_epsilon, asked.limit_delta
    if limit_epsilon is not None:
        remedy = "It is the most that all releases together may reach."
        limit_epsilon = check_epsilon(check_positive("limit_epsilon", limit_epsilon, remedy=remedy))
    if limit_delta is not None:
        remedy = "It is a small probability, such as 1e-6, well below 1/n."
        limit_delta = check_delta(check_probability("limit_delta", limit_delta, remedy=remedy))
    known = book.population(name)
    if known is None:
        check_new_name(name, [each.name for each in book.populations])
        if limit_epsilon is None or limit_delta is None:
            both = ("Give ", Argument("limit-epsilon"), " and ", Argument("limit-delta"), " with its first release.")
            raise InvalidInput(Refusal(f"the population {name!r} must have a limit", "none yet", both))
        return Population(name, limit_epsilon, limit_delta, this_moment())
    for what, given, stored in (
        ("limit-epsilon", limit_epsilon, known.limit_epsilon),
        ("limit-delta", limit_delta, known.limit_delta),
    ):
        if given is not None and given != stored:
            rule = (Argument(what), f" of {name!r} must stay {stored:g}, as its first release set it")
            raise InvalidInput(Refusal(rule, f"{given:g}", "Leave it out; a limit that moves limits nothing."))
    return known


def _spent(owner: Population, total: Guarantee) -> Bound:
    """The epsilon of a total within the limit. That it is within certifies the limit too, which
    solving for epsilon may miss in the last digits.
    """
    bound = total.epsilon(delta=owner.limit_delta)
    return replace(bound, lower=min(bound.lower, owner.limit_epsilon), upper=min(bound.upper, owner.limit_epsilon))


def refusal(book: Book, asked: Charge) -> OverLimit:
    """The refusal in words: what is spent, what it would become, and what would still fit. Computed
    when the lock is free again.
    """
    owner, entry = owner_of(book, asked), asked.entry
    earlier = book.mechanisms(owner.name)
    delta = owner.limit_delta
    spent = min(composed(earlier).epsilon_at_most(delta=delta), owner.limit_epsilon) if earlier else 0.0
    would = composed([*earlier, *entry.mechanisms]).epsilon_at_most(delta=delta)
    fitting = largest(earlier, entry, owner)
    remedy = "Nothing of this kind fits any more."
    if fitting is not None:
        strengths = (rounded(part.law["epsilon0"], up=False, digits=5, zeros=False) for part in fitting.parts)
        least, strength = (
            rounded(fitting.epsilon, up=False, digits=3, zeros=False),
            " and ".join(dict.fromkeys(strengths)),
        )
        remedy = f"By itself, epsilon = {least} at delta = {fitting.delta:g} (epsilon0 = {strength}) would still fit."
    rule = f"the releases of {owner.name!r} together must keep epsilon = {owner.limit_epsilon:g} at delta = {delta:g}"
    became, was = (rounded(each, up=True, zeros=False) for each in (would, spent))
    answer = OverLimit(Refusal(rule, f"{became} with this one ({was} without)", remedy))
    answer.fitting = fitting
    return answer


def this_moment() -> str:
    """The moment, as the ledger writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


SMALLEST = 1e-3  # a release with a thousandth of the epsilon0 says nothing any more
DIGITS = 2e-3  # relative accuracy of the factor; it is rounded down
TRIES = 6
LEAST = 1e-12  # an epsilon that stands for 0, which no release promises
MANY = 10_000  # more releases than anybody counts


def largest(earlier: Iterable[Mechanism], entry: Entry, owner: Population) -> Entry | None:
    """``entry`` with the largest epsilon0 found to fit, checked as a release would be; ``None`` if
    nothing does.

    The search is quick and conservative, on a grid of its own, and takes for granted that less
    epsilon0 leaks less. The answer is checked again as ``spend`` would check it.
    """
    earlier = list(earlier)
    harsh = harshest(earlier)

    def smaller_fits(factor: float) -> bool:
        smaller = _scaled(entry, factor)
        return smaller is not None and _fits(harsh, smaller, owner)

    if not smaller_fits(SMALLEST):
        return None
    good, _ = halve(smaller_fits, SMALLEST, 1.0, middle=geometric, close=within(DIGITS))
    for attempt in range(TRIES):
        answer = _scaled(entry, good * (1.0 - DIGITS * attempt))
        if answer is not None and keeps([*earlier, *answer.mechanisms], owner):
            return replace(answer, epsilon=max(answer.guarantee.epsilon_at_most(delta=entry.delta), LEAST))
    return None


def keeps(mechanisms: Iterable[Mechanism], owner: Population) -> bool:
    """Whether all of these together stay within the limit."""
    return composed(mechanisms).delta_at_most(epsilon=owner.limit_epsilon) <= owner.limit_delta


def more(earlier: Iterable[Mechanism], entry: Entry, owner: Population) -> int:
    """How many more releases like ``entry`` fit, one after the other; at most ``MANY``.

    Upper ends only, in doubling steps and then by bisection, to a hundredth. What is said to fit is
    checked as ``spend`` would check it.
    """
    earlier = list(earlier)
    room = MOST_ROUNDS - sum(rounds for _, rounds in earlier)
    most = min(MANY, room // sum(part.rounds for part in entry.parts))
    harsh, good, bad = harshest(earlier), 0, 1

    def fits(times: int) -> bool:
        return _fits(harsh, entry, owner, times=times)

    while bad <= most and fits(bad):
        good, bad = bad, min(2 * bad, most) if bad < most else most + 1
    good, _ = halve(fits, good, bad, middle=whole, close=lambda good, bad: bad - good <= max(1, good // 100))
    for times in range(good, 0, -max(1, good // 100)):
        if keeps([*earlier, *_repeated(entry, times)], owner):
            return times
    return 0


def _repeated(entry: Entry, times: int) -> list[Mechanism]:
    return [(mechanism, times * rounds) for mechanism, rounds in entry.mechanisms]


def _fits(earlier: list[Mechanism], entry: Entry, owner: Population, *, times: int = 1) -> bool:
    """Upper end only. A step that is a power of two is part of every finer such grid, so earlier
    releases are laid out once for all questions.
    """
    total = Rounds((*earlier, *_repeated(entry, times)))
    spacing = 2.0 ** math.floor(math.log2(total.spacing))
    limit = np.array([owner.limit_epsilon])
    return all(each.deltas(limit, "upper")[0] <= owner.limit_delta for each in total.dominating(spacing))


def _scaled(entry: Entry, factor: float) -> Entry | None:
    """The same release with every epsilon0 times ``factor``; ``None`` if its reports would be noise
    only.
    """
    try:
        laws = [law_of(scaled(randomizer_of(part.law), factor)) for part in entry.parts]
        parts = (replace(part, law=law) for part, law in zip(entry.parts, laws, strict=True))
        return replace(entry, parts=tuple(parts))
    except InvalidInput:
        return None
