"""A release in the ledger: recorded before anything is written, marked as published once its output
stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from shuffledp.accounting.accountant import Accountant
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.shuffled import Shuffled, shuffle, shuffled_parts
from shuffledp.design import Design
from shuffledp.errors import Argument, InvalidInput, Refusal, ShuffledpError
from shuffledp.ledger import Entry, Ledger, Receipt, Turn
from shuffledp.ledger.total import composed
from shuffledp.record import LedgerEntry, Limit, Total


class Charged(Protocol):
    """What a release costs: that of a ``Design``, or of a search that issues several."""

    @property
    def charge(self) -> tuple[Design, Shuffled | None]:
        """A design, and what is shown besides."""


class Unnoted(ShuffledpError):
    """A release stands and was charged, and the ledger could not note that it stands: asking for it
    again would be another one.
    """


@dataclass(frozen=True, slots=True)
class Spent:
    """A record in the ledger, to be marked as published."""

    ledger: Ledger
    receipt: Receipt

    def begin(self) -> None:
        """Say, of a release that was held back, that its output is about to be seen: to be called
        just before a finished file is put in place.
        """
        self.ledger.begin(self.receipt.id)

    def publish(self, digest: str, place: Path | None) -> None:
        """Say that the output stands, at ``place`` or in memory. What goes wrong here goes wrong
        too late to undo anything, and is said so.
        """
        try:
            self.ledger.publish(self.receipt.id, digest)
        except InvalidInput as error:
            reason = str(error).partition(". ")[0]  # its remedy is for those who have nothing yet
            whole = "the release" if place is None else repr(str(place))
            raise Unnoted(
                f"{whole} is complete and was charged as release {self.receipt.id}, but the ledger must note "
                f"that it is in place, got: {reason}. "
                "Do not ask again, which would be charged again; `shuffledp ledger show` lists this one as recorded."
            ) from None

    def entry(self) -> LedgerEntry:
        """For the record of the release."""
        receipt = self.receipt
        return LedgerEntry(
            population=receipt.population,
            id=receipt.id,
            record=receipt.record,
            releases=receipt.releases,
            limit=Limit(epsilon=receipt.limit_epsilon, delta=receipt.limit_delta),
            total=Total(lower=receipt.total.lower, upper=receipt.total.upper),
        )


@dataclass(frozen=True, slots=True)
class Budget:
    """Where a population's releases are recorded, and what they may add up to. With a ``turn``,
    the next one is a week of a series that was paid for in advance.
    """

    path: Path
    population: str
    limit_epsilon: float | None = None
    limit_delta: float | None = None
    turn: Turn | None = None

    @classmethod
    def of(
        cls, path: Path | None, population: str | None, limit_epsilon: float | None, limit_delta: float | None
    ) -> Budget | None:
        """The budget that the options describe, if any."""
        if path is None:
            others = {"population": population, "limit-epsilon": limit_epsilon, "limit-delta": limit_delta}
            for name in [name for name, value in others.items() if value is not None]:
                rule = (Argument(name), " must come with ", Argument("ledger"))
                raise InvalidInput(Refusal(rule, "none", ("Add ", Argument("ledger", "budget.sqlite"), ".")))
            return None
        if population is None:
            people = Argument("population", "app-users")
            rule = (Argument("ledger"), " must come with ", Argument("population"))
            remedy = ("Name the people whose budget this is, for example ", people, ".")
            raise InvalidInput(Refusal(rule, "none", remedy))
        return cls(path, population, limit_epsilon, limit_delta)

    def spend(self, design: Charged, what: str, *, batches: tuple[str, ...] = (), held_back: bool = False) -> Spent:
        """Record one round of a design, or refuse it. With ``held_back``, nothing of it may be seen
        before ``Spent.begin``.
        """
        return self._record(entry_of(design, what, batches, self.turn), held_back=held_back)

    def pay(self, design: Design, name: str) -> Spent:
        """Record all rounds of a design in advance, as the series ``name``, or refuse it; paid once
        is paid.
        """
        turn = Turn(name=name, weeks=design.rounds)
        whole = _once(design).compose(design.rounds)
        epsilon = whole.epsilon_at_most(delta=design.delta)
        entry = Entry.of(
            whole,
            what=f"{turn}: {design.question.type}",
            design=design.digest,
            epsilon=epsilon,
            delta=design.delta,
            series=turn,
        )
        return self._record(entry, held_back=False)

    def _record(self, entry: Entry, *, held_back: bool) -> Spent:
        ledger = Ledger(self.path)
        return Spent(ledger, ledger.spend(self.population, entry, **self._limits, held_back=held_back))

    @property
    def _limits(self) -> dict[str, Any]:
        return {"limit_epsilon": self.limit_epsilon, "limit_delta": self.limit_delta}

    def afford(self, design: Charged, what: str) -> dict[str, Any]:
        """What spending would come to, and how many ``more`` like it would fit after it; nothing is
        recorded.
        """
        ledger = Ledger(self.path)
        receipt = ledger.afford(self.population, entry_of(design, what, series=self.turn), **self._limits)
        return Spent(ledger, receipt).entry().as_json() | {"more": max(self.more(design) - 1, 0)}

    def more(self, design: Charged) -> int:
        """How many more rounds of a design fit within the limit."""
        entry = entry_of(design, design.charge[0].question.type)
        return Ledger(self.path).more(self.population, entry, **self._limits)


def entry_of(
    charged: Charged,
    what: str,
    batches: tuple[str, ...] = (),
    series: Turn | None = None,
) -> Entry:
    """One round of a design, or a whole search, as the ledger records it."""
    design, besides = charged.charge
    once, whole, delta = _once(design), design.poll.guarantee, design.delta
    if besides is not None:
        once = Accountant().add(once, rounds=1).add(besides, rounds=1).total
        whole, delta = composed(shuffled_parts(once)), delta + besides.delta_at_most(epsilon=0.0)
    # What one of several rounds is worth; of a single one the certificate says it.
    epsilon = (whole if design.rounds == 1 else once).epsilon_at_most(delta=delta)
    said = what if series is None else f"{series}: {what}"
    return Entry.of(
        once,
        what=said,
        design=design.digest,
        epsilon=epsilon,
        delta=delta,
        batches=batches,
        series=series,
        at_most=not design.resolved.alone,
    )


def _once(design: Design) -> Guarantee:
    """One round: the mechanism that is certified, where it counts the same people."""
    part, _ = shuffled_parts(design.poll.guarantee)[0]
    if part.n == design.n:
        return part
    return shuffle(part.randomizer, n=design.n, honest=design.honest)
