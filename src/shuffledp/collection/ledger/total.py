"""Everything released over the same users, composed: exactly for a few mechanisms, and with a safe
short cut for many.

A privacy loss distribution per mechanism takes tens of milliseconds, and a population whose size
changes daily has a new mechanism every day. So above ``EXACT`` different mechanisms, alike ones are
counted as one: for the upper end as the harshest of their group, for the lower end as the gentlest
(``alike`` says why that is safe). The short cut costs a few per cent of epsilon, or more if the
mechanisms differ in everything, and the upper end is never below the truth.

Mechanisms that hardly ever show anything, such as the chance that a search meets a group with too
few honest people, are also counted another way, and the smaller upper end is taken.

**Theorem.** Let the rounds be chosen adaptively, and let neighboring data change the law of round t
by at most tau in total variation, whatever was released before. If the other rounds together keep
(eps, delta), also with rounds between them that see no data, then all together keep (eps, delta +
tau).

*Proof.* Fix the two datasets. Given what was released before, write P and Q for the two laws of
round t, and R for the smaller of both at every output: P exceeds R by at most tau in all, and Q is
nowhere below R. So for every set S of what may be released, with x = e^eps, P(S) - x Q(S) is at
most tau plus the integral over S of the two laws' difference with R in place of both P and Q. Call
C the law that is proportional to R; R is at most C. A round that draws from C sees no data, so the
positive part of that difference is at most delta. QED

It is used again for every such round: their tau add up. tau is the upper end of delta at eps = 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from shuffledp._types import End, Floats
from shuffledp.accounting.accountant import Accountant
from shuffledp.accounting.accuracy import DEFAULT_GAP
from shuffledp.accounting.curves import Bound
from shuffledp.accounting.explanation import Explanation, Row
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.pld import LossDistribution
from shuffledp.accounting.rounds import Parts
from shuffledp.collection.ledger.alike import AtMost, Mechanism, corner, grouped
from shuffledp.errors import InvalidInput, check_rounds

__all__ = ["EXACT", "FromAbove", "Grouped", "RarelySeen", "composed", "harshest"]

EXACT = 16  # so many different mechanisms are composed without the short cut
MATTERS = 2e-3  # of delta
RARELY = "mechanisms that hardly ever show anything added to delta"
RARE = 1e-4  # of mechanisms whose rounds change what is released by less than this, it is tried to add that to delta


def composed(mechanisms: Iterable[Mechanism]) -> Guarantee:
    """What is certified about all of ``mechanisms`` over the same users."""
    merged = _merged(mechanisms)
    if not merged:
        raise InvalidInput("a total must have at least one release, got none. Record one first.")
    known = [each for each in merged if not isinstance(each[0], AtMost)]
    if len(known) == len(merged):
        return _composed(merged)
    return FromAbove(_composed(merged), _composed(known) if known else None)


def _composed(merged: list[Mechanism]) -> Guarantee:
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
class FromAbove(Guarantee):
    """Mechanisms of which some bound from above what ran: the upper end is that of ``harsh``, all
    of them, and the lower end that of ``mild``, the others, or 0 if there are none.
    """

    harsh: Guarantee
    mild: Guarantee | None

    @property
    def parts(self) -> Parts:  # type: ignore[override]
        """Those of the upper end."""
        return self.harsh.parts

    def describe(self) -> str:
        """Every mechanism."""
        return self.harsh.describe()

    @property
    def method(self) -> str:  # type: ignore[override]
        """The theorems behind the upper end."""
        return self.harsh.method

    @property
    def assumptions(self) -> tuple[str, ...]:  # type: ignore[override]
        """Those of every round, and what joins them."""
        return self.harsh.assumptions

    @property
    def ceiling(self) -> float:
        return self.harsh.ceiling

    def _end(self, end: End, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        one = self.harsh if end == "upper" else self.mild
        return np.zeros_like(epsilons) if one is None else one.deltas(epsilons, end=end, gap=gap)

    def _epsilon_end(self, end: End, delta: float) -> float:
        if end == "upper":
            return self.harsh.epsilon_at_most(delta=delta)
        return 0.0 if self.mild is None else self.mild.epsilon_at_least(delta=delta)

    def compose(self, rounds: int) -> Guarantee:
        mild = None if self.mild is None else self.mild.compose(rounds)
        return replace(self, harsh=self.harsh.compose(rounds), mild=mild)

    def pessimistic_loss(self, *, spacing: float) -> LossDistribution:
        return self.harsh.pessimistic_loss(spacing=spacing)

    def rdp(self, *, order: float) -> Bound:
        least = 0.0 if self.mild is None else self.mild.rdp(order=order).lower
        return self._bound(least, self.harsh.rdp(order=order).upper)

    def explain(self, *, delta: float) -> Explanation:
        ends = (("upper", self.harsh), ("lower", self.mild))
        each = [(side, one.explain(delta=delta)) for side, one in ends if one is not None]
        rows = tuple(row for side, found in each for row in found.rows if row.side == side)
        return Explanation(self.describe(), delta, self.epsilon(delta=delta), rows, each[0][1].skipped)


@dataclass(frozen=True, eq=False)
class Grouped(FromAbove):
    """Many mechanisms: the upper end is that of ``harsh``, the groups, each counted as its harshest
    mechanism, and the lower end that of ``mild``, which is better.
    """

    mechanisms: int
    groups: int

    def describe(self) -> str:
        """How many mechanisms, of how many kinds."""
        return f"{self.mechanisms} mechanisms of {self.groups} kinds"

    @property
    def method(self) -> str:  # type: ignore[override]
        """The theorems behind the upper end."""
        return f"{self.harsh.method}; {self.mechanisms} mechanisms counted as the harshest of {self.groups} kinds"


@dataclass(frozen=True, eq=False)
class RarelySeen(Guarantee):
    """All mechanisms, ``whole``: the upper end is that, or ``rare`` more than the delta of the
    ``usual`` ones, without those that differ in total variation by so little.

    A common grid for all is fine and slow, so ``whole`` is asked only where ``rare`` matters. The
    lower end looks at one mechanism at a time, and what differs by ``rare`` shows no larger delta.
    """

    whole: Guarantee
    usual: Guarantee
    rare: float

    @property
    def parts(self) -> Parts:  # type: ignore[override]
        """All of them."""
        return self.whole.parts

    def describe(self) -> str:
        """Every mechanism."""
        return self.whole.describe()

    @property
    def method(self) -> str:  # type: ignore[override]
        """The theorems behind the upper end."""
        return self.whole.method

    @property
    def assumptions(self) -> tuple[str, ...]:  # type: ignore[override]
        """Those of every round, and what joins them."""
        return self.whole.assumptions

    @property
    def ceiling(self) -> float:
        return self.whole.ceiling

    def _end(self, end: End, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        values = self.usual.deltas(epsilons, end=end, gap=gap)
        if end == "lower":
            if np.all(values >= self.rare):
                return values
            return np.asarray(np.maximum(values, self.whole.deltas(epsilons, end=end, gap=gap)))
        values = np.minimum(values + self.rare, 1.0)
        if np.all(self.rare <= MATTERS * values):
            return values
        return np.asarray(np.minimum(values, self.whole.deltas(epsilons, end=end, gap=gap)))

    def _epsilon_end(self, end: End, delta: float) -> float:
        if delta <= self.rare:
            return (
                self.whole.epsilon_at_least(delta=delta) if end == "lower" else self.whole.epsilon_at_most(delta=delta)
            )
        if end == "lower":
            return self.usual.epsilon_at_least(delta=delta)
        epsilon = self.usual.epsilon_at_most(delta=delta - self.rare)
        if self.rare <= MATTERS * delta:
            return epsilon
        return min(epsilon, self.whole.epsilon_at_most(delta=delta))

    def compose(self, rounds: int) -> Guarantee:
        return RarelySeen(self.whole.compose(rounds), self.usual.compose(rounds), self.rare * rounds)

    def pessimistic_loss(self, *, spacing: float) -> LossDistribution:
        return self.whole.pessimistic_loss(spacing=spacing)

    def rdp(self, *, order: float) -> Bound:
        return self.whole.rdp(order=order)

    def explain(self, *, delta: float) -> Explanation:
        bound, whole = self.epsilon(delta=delta), self.whole.explain(delta=delta)
        rows = (Row("upper", bound.upper, RARELY), *whole.rows)
        return Explanation(self.describe(), delta, bound, rows, whole.skipped)


def _merged(mechanisms: Iterable[Mechanism]) -> list[Mechanism]:
    """Equal mechanisms counted together, in an order that does not depend on when they were
    recorded.
    """
    totals: dict[tuple[str, int, int, bool], Mechanism] = {}
    for mechanism, rounds in mechanisms:
        key = (repr(mechanism.randomizer), mechanism.n, mechanism.honest, isinstance(mechanism, AtMost))
        first, before = totals.get(key, (mechanism, 0))
        totals[key] = (first, check_rounds(before + rounds))
    return [totals[key] for key in sorted(totals)]


def _accounted(mechanisms: list[Mechanism]) -> Guarantee:
    usual = [each for each in mechanisms if not _is_rare(each)]
    if not usual or len(usual) == len(mechanisms):
        return _added(mechanisms)
    shown = sum(rounds * part.delta_at_most(epsilon=0.0) for part, rounds in mechanisms if _is_rare((part, rounds)))
    return RarelySeen(_added(mechanisms), _added(usual), shown * (1.0 + 1e-12))


def _is_rare(mechanism: Mechanism) -> bool:
    """Whether all rounds of a mechanism change what is released by very little."""
    part, rounds = mechanism
    return rounds * part.typical_loss < RARE and rounds * part.delta_at_most(epsilon=0.0) < RARE


def _added(mechanisms: list[Mechanism]) -> Guarantee:
    accountant = Accountant()
    for mechanism, rounds in mechanisms:
        accountant = accountant.add(mechanism, rounds=rounds)
    return accountant.total
