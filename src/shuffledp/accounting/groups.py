"""``shuffle_groups(...)``: k-ary randomized response with one epsilon0 per group of people."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from shuffledp._types import End, Floats
from shuffledp.accounting.curves import Bound
from shuffledp.accounting.guarantee import Row
from shuffledp.accounting.haystack import MixedBlanket, MixedDataset, Needle
from shuffledp.accounting.inversion import crossing
from shuffledp.accounting.reductions import MODEL, Curve, Reduction, Theorem, reduce
from shuffledp.accounting.rounds import Round
from shuffledp.errors import MOST_USERS, InvalidInput, check_count
from shuffledp.randomizers import KRR
from shuffledp.wording import people, statement

MOST_GROUPS = 64
BLANKET, UNLABELED = statement("blanket of groups"), statement("unlabeled groups")
SHARES = (0.0, 0.5, 1.0)  # of every group that hold x0, where there are two values only


@dataclass(frozen=True, eq=False, repr=False)
class ShuffledGroups(Round):
    """One round in which every group has its own epsilon0, built with ``shuffle_groups``."""

    groups: tuple[tuple[KRR, int], ...]
    target: int | None = None

    def __repr__(self) -> str:
        chosen = "" if self.target is None else f".of({self.target})"
        return f"shuffle_groups([{', '.join(f'({krr!r}, {number})' for krr, number in self.groups)}]){chosen}"

    @property
    def n(self) -> int:
        """How many users there are."""
        return sum(number for _, number in self.groups)

    @property
    def key(self) -> Hashable:
        return self.groups, self.target

    def describe(self) -> str:
        """The groups, and whose privacy is asked for.

        >>> from shuffledp import KRR
        >>> shuffle_groups(
        ...     [(KRR(k=16, epsilon0=1.0), 10), (KRR(k=16, epsilon0=4.0), 20)]
        ... ).describe()
        'krr, k = 16; 10 people with epsilon0 = 1, 20 people with epsilon0 = 4; the worst of them'
        """
        crowds = [_crowd(krr, number) for krr, number in self.groups]
        whose = "the worst of them" if self.target is None else f"one of those with epsilon0 = {self.ceiling:g}"
        return f"krr, k = {self.groups[0][0].k}; {', '.join(crowds)}; {whose}"

    def of(self, group: int) -> ShuffledGroups:
        """The same round, and the privacy of a user of one group, counted from 0."""
        remedy = "Groups are counted from 0, in the order they were given."
        return replace(self, target=check_count("group", group, least=0, most=len(self.groups) - 1, remedy=remedy))

    def epsilon(self, *, delta: float, group: int | None = None) -> Bound:
        """The least epsilon of (epsilon, delta)-DP for everybody, or for one ``group``."""
        return super().epsilon(delta=delta) if group is None else self._targets[self._index(group)].epsilon(delta=delta)

    def delta(self, *, epsilon: float, group: int | None = None) -> Bound:
        """The least delta of (epsilon, delta)-DP for everybody, or for one ``group``."""
        if group is None:
            return super().delta(epsilon=epsilon)
        return self._targets[self._index(group)].delta(epsilon=epsilon)

    def _index(self, group: int) -> int:
        chosen = self.of(group).target
        assert chosen is not None
        return chosen

    @cached_property
    def _targets(self) -> tuple[ShuffledGroups, ...]:
        """One round per group, asked for its own users; kept, so that nothing is computed twice."""
        return tuple(self.of(group) for group in range(len(self.groups)))

    @cached_property
    def reduction(self) -> Reduction:
        asked = range(len(self.groups)) if self.target is None else (self.target,)
        ceiling = max(self.groups[group][0].epsilon0 for group in asked)
        assumptions = (*MODEL, UNLABELED)
        if len({krr for krr, _ in self.groups}) == 1:
            alike = reduce(self.groups[0][0], self.n, "shuffled")
            return replace(alike, assumptions=assumptions)
        blankets = {needle: MixedBlanket(needle) for needle in dict.fromkeys(self._needle(group) for group in asked)}
        lowers = tuple(dataset for blanket in blankets.values() for dataset in _datasets(blanket))
        return Reduction((Theorem(BLANKET, tuple(blankets.values())),), assumptions, lowers, ceiling)

    def _needle(self, group: int) -> Needle:
        numbers: dict[float, int] = {}
        for place, (krr, number) in enumerate(self.groups):
            numbers[krr.epsilon0] = numbers.get(krr.epsilon0, 0) + number - (place == group)
        target = self.groups[group][0]
        return Needle(target.k, target.epsilon0, tuple((e, number) for e, number in sorted(numbers.items()) if number))

    def _epsilon_end(self, end: End, delta: float) -> float:
        if end == "upper" or not isinstance(self.reduction.lowers[0], MixedDataset):
            return super()._epsilon_end(end, delta)

        # The gain of a test: there is nothing above it that would be worth looking for.
        def gains(epsilons: Floats, gap: float) -> tuple[Floats, Floats]:
            values = self._lower()(epsilons, gap)
            return values, values

        return crossing(gains, delta, self.ceiling, end="lower")

    def _rows(self, delta: float, bound: Bound) -> tuple[list[Row], tuple[str, ...]]:
        rows = []
        for place, (each, (krr, number)) in enumerate(zip(self._targets, self.groups, strict=True)):
            own = each.epsilon(delta=delta)
            who = f"group {place}: {_crowd(krr, number)}"
            rows += [Row("upper", own.upper, who), Row("lower", own.lower, who)]
        return rows, ()


def _crowd(krr: KRR, number: int) -> str:
    return f"{people(number)} with epsilon0 = {krr.epsilon0:g}"


def _datasets(blanket: MixedBlanket) -> tuple[Curve, ...]:
    if blanket.needle.k == 2:
        return tuple(MixedDataset(blanket, share=share) for share in SHARES)
    return tuple(MixedDataset(blanket, holder=holder) for holder in range(3))


def shuffle_groups(groups: Iterable[tuple[KRR, int]]) -> ShuffledGroups:
    """One round of k-ary randomized response in which users choose how much noise they add: each
    group is a randomizer and the number of honest users who use it.

    ``epsilon(delta=...)`` is that of the worst user, ``epsilon(delta=..., group=0)`` that of the
    users of one group. All groups must have the same k: then all noise is uniform and hides
    everybody, whoever adds it.

    >>> from shuffledp import KRR
    >>> survey = shuffle_groups(
    ...     [(KRR(k=16, epsilon0=1.0), 5_000), (KRR(k=16, epsilon0=4.0), 5_000)]
    ... )
    >>> survey.epsilon(delta=1e-6), survey.epsilon(delta=1e-6, group=0)
    (Bound(lower=0.2219, upper=0.2220), Bound(lower=0.02392, upper=0.02393))
    """
    try:
        pairs = [(randomizer, number) for randomizer, number in groups]
    except (TypeError, ValueError):
        raise InvalidInput(
            f"groups must be pairs of a randomizer and a number of people, got {groups!r}. Write [(KRR(...), 5_000)]."
        ) from None
    if not 1 <= len(pairs) <= MOST_GROUPS:
        raise InvalidInput(
            f"groups must be 1 to {MOST_GROUPS}, got {len(pairs)}. Merge those of nearly the same epsilon0."
        )
    for randomizer, _ in pairs:
        if not isinstance(randomizer, KRR):
            raise InvalidInput(
                f"every group must use k-ary randomized response, got {randomizer!r}. Account others apart."
            )
    first = pairs[0][0]
    for randomizer, _ in pairs:
        if randomizer.k != first.k:
            raise InvalidInput(
                f"all groups must have the same k, got {first.k} and {randomizer.k}. Account each group by itself."
            )
    counted = tuple(
        (krr, check_count("the people of a group", number, least=1, remedy="Leave out empty groups."))
        for krr, number in pairs
    )
    total = sum(number for _, number in counted)
    if total > MOST_USERS:
        raise InvalidInput(f"all groups must have at most {MOST_USERS:g} people, got {total:g}. Count fewer.")
    return ShuffledGroups(counted)
