"""Levels of a tree that are seen side by side, as one curve.

Given the data the counts of different levels are independent, and one person's value changes two
nodes of every level at most: the pair of all levels is the product of theirs, which are all alike.
It is that of as many rounds, and both ends are as good as composition is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from shuffledp._types import End, Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.pld import Composition
from shuffledp.accounting.rounds import Repeated, Round

__all__ = ["ComposedLevels"]


@dataclass(frozen=True, eq=False)
class ComposedLevels:
    """``one`` is what a level is by itself, of which there are so ``many``."""

    one: Round
    many: int

    @property
    def name(self) -> str:
        """The pair in words."""
        return "two values that differ on every level; all others hold a third"

    def swapped(self) -> ComposedLevels:
        """The same: of the two nodes of a level either may lose what the other gains."""
        return self

    @cached_property
    def composed(self) -> Guarantee:
        """What that of as many rounds is."""
        return self.one.compose(self.many)

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """Both ends of delta at every epsilon >= 0."""
        return self.end("lower", epsilons, gap), self.end("upper", epsilons, gap)

    def repeated(self, rounds: int, spacing: float) -> Composition | None:
        """The losses of two counts of every level, as of as many rounds."""
        pair: object = self.one.reduction.lowers[0]
        return pair.repeated(rounds * self.many, spacing) if isinstance(pair, Repeated) else None

    def end(self, end: End, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        """One end of delta."""
        return self.composed.deltas(epsilons, end=end, gap=gap)

    def epsilon(self, end: End, delta: float) -> float:
        """One end of epsilon."""
        return (
            self.composed.epsilon_at_most(delta=delta)
            if end == "upper"
            else self.composed.epsilon_at_least(delta=delta)
        )
