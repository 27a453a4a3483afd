"""Adding up different mechanisms over the same users."""

from __future__ import annotations

from collections.abc import Hashable

from shuffledp.accounting.curves import Bound
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.rounds import Parts, Round, Rounds, added
from shuffledp.errors import InvalidInput, check_rounds


class Accountant:
    """Adds up different mechanisms over the same users.

    >>> from shuffledp import KRR, RR, shuffle
    >>> survey, vote = (
    ...     shuffle(KRR(k=16, epsilon0=4.0), n=10_000),
    ...     shuffle(RR(epsilon0=1.0), n=10_000),
    ... )
    >>> total = Accountant().add(survey, rounds=30).add(vote)
    >>> 2.0 < total.epsilon(delta=1e-6).upper < 2.4
    True
    """

    def __init__(self, parts: Parts = ()) -> None:
        self._parts = parts

    def __repr__(self) -> str:
        return added(self._parts)

    def add(self, mechanism: Guarantee, *, rounds: int = 1) -> Accountant:
        """A new accountant with ``rounds`` more rounds of ``mechanism``; this one stays."""
        rounds = check_rounds(rounds)
        if getattr(mechanism, "parts", ()):
            more = tuple((part, check_rounds(times * rounds)) for part, times in mechanism.parts)
            return Accountant(_merged((*self._parts, *more)))
        raise InvalidInput(
            f"mechanism must come from shuffle(...) or RandomAllocation(...), got {mechanism!r}. Wrap it: shuffle(...)."
        )

    @property
    def total(self) -> Guarantee:
        """The guarantee of everything added so far."""
        if not self._parts:
            raise InvalidInput("the accountant must hold at least one mechanism, got none. Call add(...) first.")
        (first, rounds), *more = (
            self._parts if all(part.ceiling == 0.0 for part, _ in self._parts) else _leaking(self._parts)
        )
        return first if first.ceiling == 0.0 or (rounds == 1 and not more) else Rounds(_leaking(self._parts))

    def delta(self, *, epsilon: float) -> Bound:
        return self.total.delta(epsilon=epsilon)

    def epsilon(self, *, delta: float) -> Bound:
        return self.total.epsilon(delta=delta)


def _leaking(parts: Parts) -> Parts:
    """Without the mechanisms whose reports say nothing."""
    return tuple((part, rounds) for part, rounds in parts if part.ceiling > 0.0)


def _merged(parts: Parts) -> Parts:
    """Equal mechanisms counted together."""
    totals: dict[Hashable, tuple[Round, int]] = {}
    for part, rounds in parts:
        first, before = totals.get(part.key, (part, 0))
        totals[part.key] = (first, check_rounds(before + rounds))
    return tuple(totals.values())
