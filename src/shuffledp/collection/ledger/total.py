"""Everything released over the same users, composed: exactly for a few mechanisms, and with a safe
short cut for many.

A privacy loss distribution per mechanism takes tens of milliseconds, and a population whose size
changes daily has a new mechanism every day. So above ``EXACT`` different mechanisms, alike ones are
counted as one: for the upper end as the harshest of their group, for the lower end as the gentlest
(``alike`` says why that is safe). The short cut costs a few per cent of epsilon, or more if the
mechanisms differ in everything, and the upper end is never below the truth.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from shuffledp._types import End, Floats
from shuffledp.accounting.accountant import Accountant
from shuffledp.accounting.accuracy import DEFAULT_GAP
from shuffledp.accounting.curves import Bound
from shuffledp.accounting.explanation import Explanation
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.pld import LossDistribution
from shuffledp.accounting.rounds import Parts
from shuffledp.collection.ledger.alike import Mechanism, corner, grouped
from shuffledp.errors import InvalidInput, check_rounds

__all__ = ["EXACT", "Grouped", "composed", "harshest"]

EXACT = 16  # so many different mechanisms are composed without the short cut


def composed(mechanisms: Iterable[Mechanism]) -> Guarantee:
    """What is certified about all of ``mechanisms`` over the same users."""
    merged = _merged(mechanisms)
    if not merged:
        raise InvalidInput("a total must have at least one release, got none. Record one first.")
    if len(merged) <= EXACT:
        return _accounted(merged)
    groups = grouped(merged)
    harsh, gentle = ([corner(group, harsh=end) for group in groups] for end in (True, False))
    mild, rounds = max(
        gentle, key=lambda each: each[1] * each[0].typical_loss ** 2
    )  # one kind by itself is a lower end; the one that leaks most
    return Grouped(_accounted(harsh), mild.compose(rounds), len(merged), len(harsh))


def harshest(mechanisms: Iterable[Mechanism]) -> list[Mechanism]:
    """A few mechanisms that leak at least as much: these themselves, or, if there are many, the
    harshest of every group.
    """
    merged = _merged(mechanisms)
    if len(merged) <= EXACT:
        return merged
    return [corner(group, harsh=True) for group in grouped(merged)]


@dataclass(frozen=True, eq=False)
class Grouped(Guarantee):
    """Many mechanisms: the upper end is that of ``harsh``, which is worse, and the lower end that
    of ``mild``, which is better.
    """

    harsh: Guarantee
    mild: Guarantee
    mechanisms: int
    groups: int

    @property
    def parts(self) -> Parts:  # type: ignore[override]
        """The groups, each counted as its harshest mechanism."""
        return self.harsh.parts

    def describe(self) -> str:
        """How many mechanisms, of how many kinds."""
        return f"{self.mechanisms} mechanisms of {self.groups} kinds"

    @property
    def method(self) -> str:  # type: ignore[override]
        """The theorems behind the upper end."""
        return f"{self.harsh.method}; {self.mechanisms} mechanisms counted as the harshest of {self.groups} kinds"

    @property
    def assumptions(self) -> tuple[str, ...]:  # type: ignore[override]
        """Those of every round, and what joins them."""
        return self.harsh.assumptions

    @property
    def ceiling(self) -> float:
        return self.harsh.ceiling

    def _end(self, end: End, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        return (self.harsh if end == "upper" else self.mild).deltas(epsilons, end=end, gap=gap)

    def _epsilon_end(self, end: End, delta: float) -> float:
        return self.harsh.epsilon_at_most(delta=delta) if end == "upper" else self.mild.epsilon_at_least(delta=delta)

    def compose(self, rounds: int) -> Guarantee:
        return Grouped(self.harsh.compose(rounds), self.mild.compose(rounds), self.mechanisms, self.groups)

    def pessimistic_loss(self, *, spacing: float) -> LossDistribution:
        return self.harsh.pessimistic_loss(spacing=spacing)

    def rdp(self, *, order: float) -> Bound:
        return self._bound(self.mild.rdp(order=order).lower, self.harsh.rdp(order=order).upper)

    def explain(self, *, delta: float) -> Explanation:
        rows = tuple(row for row in self.harsh.explain(delta=delta).rows if row.side == "upper")
        rows += tuple(row for row in self.mild.explain(delta=delta).rows if row.side == "lower")
        return Explanation(self.describe(), delta, self.epsilon(delta=delta), rows)


def _merged(mechanisms: Iterable[Mechanism]) -> list[Mechanism]:
    """Equal mechanisms counted together, in an order that does not depend on when they were
    recorded.
    """
    totals: dict[tuple[str, int, int], Mechanism] = {}
    for mechanism, rounds in mechanisms:
        key = (repr(mechanism.randomizer), mechanism.n, mechanism.honest)
        first, before = totals.get(key, (mechanism, 0))
        totals[key] = (first, check_rounds(before + rounds))
    return [totals[key] for key in sorted(totals)]


def _accounted(mechanisms: list[Mechanism]) -> Guarantee:
    accountant = Accountant()
    for mechanism, rounds in mechanisms:
        accountant = accountant.add(mechanism, rounds=rounds)
    return accountant.total
