"""Everything released over the same users, composed: exactly for a few mechanisms, and with a safe
short cut for many.

A privacy loss distribution per mechanism takes tens of milliseconds, and a population whose size
changes daily has a new mechanism every day. So above ``EXACT`` different mechanisms, alike ones are
counted as one: for the upper end as the harshest of their group, for the lower end as the gentlest
(why that is safe stands below). The short cut costs a few per cent of epsilon, or more if the
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

Mechanisms that are alike differ in their users and in epsilon0. Counting them as one that is
harsher than all of them, or gentler, is safe, because the gentler mechanism can be computed from
the harsher one's output:

* more users: add the other users' reports, and shuffle again;
* a smaller epsilon0 of the same family: randomize every report again. Families that mix a fixed law
  with noise replace a report by noise with some probability; fixed means the same k, hash range,
  subset size, and Hadamard blocks, which epsilon0 chooses: across such a step a smaller epsilon0
  may leak more. Unary encodings pass every bit through one binary channel: for RAPPOR another
  symmetric flip, and for OUE, from q to q' with p = 1/2, one that keeps a bit with probability (1 -
  q - q') / (1 - 2 q).

So any group of one kind has a harshest and a gentlest corner. Narrow groups cost little; if there
are too many of them, they are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shuffledp._types import End, Floats, that_of
from shuffledp.accounting.accountant import Accountant
from shuffledp.accounting.accuracy import DEFAULT_GAP
from shuffledp.accounting.curves import Bound
from shuffledp.accounting.guarantee import Explanation, Guarantee, Row
from shuffledp.accounting.shuffled import Shuffled, shuffle
from shuffledp.errors import InvalidInput, check_rounds

MOST = 64  # groups, if there are no more kinds than that
COMPARED = 512  # groups are made wider until there are at most so many, and only then compared in pairs
USERS = 1.05  # alike: honest users within this factor, which is 2.5 % of epsilon
STRENGTH = 0.05  # alike: epsilon0 within this much, or this share of it if it is below 1; again about 2.5 % of epsilon

Mechanism = tuple[Shuffled, int]
Group = list[Mechanism]


class AtMost(Shuffled):
    """A mechanism that shows at least as much as what ran: no lower end follows from it."""


def grouped(mechanisms: Group) -> list[Group]:
    """Alike mechanisms together: of one kind, with epsilon0 and honest users in narrow ranges, or
    in wider ones if the groups were too many.
    """
    groups, width = _runs(mechanisms, 1.0), 1.0
    while len(groups) > COMPARED and width < COMPARED:
        width *= 2.0
        groups = _runs(mechanisms, width)
    return _joined(groups) if len(groups) > MOST else groups


def corner(group: Group, *, harsh: bool) -> Mechanism:
    """A mechanism at least as harsh as every one in the group, or at most as harsh, run as often as
    all of them.
    """
    strongest, fewest = (max, min) if harsh else (min, max)
    randomizer = strongest((each.randomizer for each, _ in group), key=lambda each: each.epsilon0)
    users = fewest(each.honest for each, _ in group)
    return shuffle(randomizer, n=users), sum(rounds for _, rounds in group)


def _runs(mechanisms: Group, width: float) -> list[Group]:
    """Groups of one kind whose ranges are ``width`` times the narrow ones."""

    def close(first: Shuffled, each: Shuffled) -> bool:
        low, high = first.randomizer.epsilon0, each.randomizer.epsilon0
        return low == high or high - low <= width * STRENGTH * min(1.0, low)  # both may be infinite

    groups: list[Group] = []
    for alike in _split(mechanisms, lambda each: repr(_kind(each)), lambda first, each: _kind(first) == _kind(each)):
        for strong in _split(alike, lambda each: each.randomizer.epsilon0, close):
            groups += _split(
                strong, lambda each: each.honest, lambda first, each: each.honest <= USERS**width * first.honest
            )
    return groups


def _joined(groups: list[Group]) -> list[Group]:
    """Joined until ``MOST`` are left, or one of every kind: each time the two whose union adds
    least to the variance of the loss.
    """
    groups, numbers = list(groups), dict[Hashable, int]()
    kinds = np.array([numbers.setdefault(_kind(group[0][0]), len(numbers)) for group in groups])
    corners = [corner(group, harsh=True) for group in groups]
    strength, users, rounds = (
        np.array(column, dtype=np.float64)
        for column in zip(*((each.randomizer.epsilon0, each.honest, times) for each, times in corners), strict=True)
    )

    def added(one: int) -> Floats:
        """What joining one group with every other would add; with itself, or with another kind, it
        is not possible.
        """
        union = _variance(np.maximum(strength, strength[one]), np.minimum(users, users[one])) * (rounds + rounds[one])
        alone = _variance(strength, users) * rounds
        possible = (kinds == kinds[one]) & (rounds > 0.0) & (np.arange(rounds.size) != one)
        return np.where(possible, union - alone - alone[one], np.inf)

    costs = np.stack([added(one) for one in range(len(groups))])
    for _ in range(len(groups) - MOST):
        one, other = divmod(int(costs.argmin()), len(groups))
        if costs[one, other] == np.inf:
            break
        groups[one], groups[other] = groups[one] + groups[other], []
        strength[one], users[one] = max(strength[one], strength[other]), min(users[one], users[other])
        rounds[one], rounds[other] = rounds[one] + rounds[other], 0.0
        costs[one], costs[other] = added(one), np.inf
        costs[:, one], costs[:, other] = costs[one], np.inf
    return [group for group in groups if group]


def _variance(strength: Floats, users: Floats) -> Floats:
    """Roughly that of the loss of one round. It only chooses which groups are joined; any choice is
    safe.
    """
    return np.asarray(np.minimum(strength**2, 4.0 * np.sinh(np.minimum(strength, 60.0) / 2.0) ** 2 / users))


def _kind(mechanism: Shuffled) -> Hashable:
    """What randomizers must share so that the one with the smaller epsilon0 is gentler."""
    return type(mechanism.randomizer), mechanism.randomizer.gentler


def _split(
    mechanisms: Group, key: Callable[[Shuffled], Any], alike: Callable[[Shuffled, Shuffled], bool]
) -> list[Group]:
    """Runs, in the order of ``key``, of mechanisms that are alike to the first of their run."""
    runs: list[Group] = []
    for each in sorted(mechanisms, key=lambda each: key(each[0])):
        if runs and alike(runs[-1][0][0], each[0]):
            runs[-1].append(each)
        else:
            runs.append([each])
    return runs


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

    parts = that_of("harsh")
    describe = that_of("harsh")
    method = that_of("harsh")
    assumptions = that_of("harsh")
    ceiling = that_of("harsh")
    pessimistic_loss = that_of("harsh")

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

    parts = that_of("whole")
    describe = that_of("whole")
    method = that_of("whole")
    assumptions = that_of("whole")
    ceiling = that_of("whole")
    pessimistic_loss = that_of("whole")
    rdp = that_of("whole")

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
        if end == "lower":
            return (self.whole if delta <= self.rare else self.usual).epsilon_at_least(delta=delta)
        if delta <= self.rare:
            return self.whole.epsilon_at_most(delta=delta)
        epsilon = self.usual.epsilon_at_most(delta=delta - self.rare)
        if self.rare <= MATTERS * delta:
            return epsilon
        return min(epsilon, self.whole.epsilon_at_most(delta=delta))

    def compose(self, rounds: int) -> Guarantee:
        return RarelySeen(self.whole.compose(rounds), self.usual.compose(rounds), self.rare * rounds)

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
        return added(mechanisms)
    shown = sum(rounds * part.delta_at_most(epsilon=0.0) for part, rounds in mechanisms if _is_rare((part, rounds)))
    return RarelySeen(added(mechanisms), added(usual), shown * (1.0 + 1e-12))


def _is_rare(mechanism: Mechanism) -> bool:
    """Whether all rounds of a mechanism change what is released by very little."""
    part, rounds = mechanism
    return rounds * part.typical_loss < RARE and rounds * part.delta_at_most(epsilon=0.0) < RARE


def added(mechanisms: Iterable[Mechanism]) -> Guarantee:
    """All of them in one accountant."""
    accountant = Accountant()
    for mechanism, rounds in mechanisms:
        accountant = accountant.add(mechanism, rounds=rounds)
    return accountant.total
