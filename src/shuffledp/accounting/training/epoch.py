"""One epoch of training in which every record takes part in steps chosen at random: a round.

With the step's pair (P, Q) and u = P/Q, the pair of t steps, of which a record takes part in one,
is (the average over i of Q^(i-1) P Q^(t-i), Q^t), also if steps are chosen adaptively
(docs/theory.md). So

    remove:  delta = 1/t E_Q( sum (u_i - e^eps) )_+
    add:     delta = 1/t E_Q( sum (1 - e^eps u_i) )_+

which is a haystack: the hay is Q, the needle P or Q, and t is the number of positions.

Taking part in k of t steps is a mixture, over random partitions of the steps into k blocks, of
taking part in one step of each block. So k blocks, composed, are an upper end.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shuffledp._types import End, Floats
from shuffledp.accounting.accuracy import CURVE_GAP, DEFAULT_GAP, MERGED_GAP
from shuffledp.accounting.haystack import Haystack
from shuffledp.accounting.pld import CurveBand, LossDistribution
from shuffledp.accounting.reductions import SILENT, Curve, Reduction, Theorem
from shuffledp.accounting.rounds import Parts, Round, Rounds
from shuffledp.accounting.training.step_pairs import StepPair
from shuffledp.accounting.training.sum_test import SumTest
from shuffledp.accounting.training.tail_knots import tail_knots
from shuffledp.wording import statement

__all__ = ["ADDED", "REMOVED", "Epoch", "StepSum"]

METHOD, BLOCKS = statement("allocation"), statement("allocation blocks")
MODEL = (statement("add or remove"), statement("one step"), statement("noisy steps"))
FEW = 64
REMOVED, ADDED = "one record removed", "one record added"


class StepSum(Haystack):
    """A haystack of steps. Its classes are many, being cells of a continuous law: where steps are
    many, too, what a mesh would add is not worth its time.
    """

    __slots__ = ()

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """Both ends, by the contour alone where classes and steps are many."""
        many = self.hay.size > FEW and self.n > FEW
        return Haystack.bounds(self, epsilons, max(gap, MERGED_GAP) if many else gap)


@dataclass(frozen=True, eq=False, repr=False)
class Epoch(Round):
    """``steps`` steps; every record takes part in ``participations`` of them. Build it with
    ``RandomAllocation``.
    """

    step: StepPair
    steps: int
    participations: int = 1

    def __repr__(self) -> str:
        """What builds it."""
        often = "" if self.participations == 1 else f", participations={self.participations}"
        return f"RandomAllocation({self.step.parameter}, steps={self.steps}{often})"

    @property
    def key(self) -> Hashable:
        return self.step, self.steps, self.participations

    def describe(self) -> str:
        some = "one" if self.participations == 1 else f"{self.participations:,}"
        return f"random allocation to {some} of {self.steps:,} step{'s' * (self.steps > 1)}; {self.step.describe()}"

    @cached_property
    def reduction(self) -> Reduction:
        """Both directions, each with a curve of its own."""
        ceiling = self.step.epsilon0 * self.participations
        if ceiling == 0.0:
            return Reduction((Theorem(SILENT, ()),), MODEL, (), 0.0)
        if self.participations > 1:
            curves = tuple(_Composed(self._blocks_composed, order) for order in range(2))
            return Reduction((Theorem(BLOCKS, curves[:1], curves[1:]),), MODEL, self._tests, ceiling)
        remove, add = self._both("upper")
        return Reduction((Theorem(METHOD, (remove,), (add,)),), MODEL, self._both("lower"), ceiling)

    def _both(self, end: End) -> tuple[Haystack, Haystack]:
        removed = replace(StepSum.of(self.step.atoms(end), self.steps), name=REMOVED)
        return removed, replace(removed.swapped(), name=ADDED)

    @property
    def blocks(self) -> Parts:
        """So many steps to choose one of, each time."""
        if self.participations == 1:
            return ((self, 1),)
        length, longer = divmod(self.steps, self.participations)
        blocks = (Epoch(self.step, length), self.participations - longer), (Epoch(self.step, length + 1), longer)
        return tuple((block, times) for block, times in blocks if times)

    @cached_property
    def _blocks_composed(self) -> Rounds:
        return Rounds(self.blocks)

    def _epsilon_end(self, end: End, delta: float) -> float:
        if self.participations == 1 or self.ceiling == 0.0:
            return super()._epsilon_end(end, delta)
        if end == "upper":
            return self._blocks_composed._epsilon_end(end, delta)
        return min(max(test.epsilon(delta) for test in self._tests), self.ceiling)

    @cached_property
    def _tests(self) -> tuple[SumTest, SumTest]:
        removed = SumTest(self.step, self.steps, self.participations)
        return removed, removed.swapped()

    def optimistic_losses(self, *, spacing: float) -> tuple[LossDistribution, ...]:
        if self.participations > 1:  # a test is no pair of laws: in a sum with others nothing is claimed
            return (LossDistribution(spacing, np.zeros(1), np.ones(1), 0.0),)
        return super().optimistic_losses(spacing=spacing)

    def _band(self, curve: Curve) -> CurveBand:
        if self.participations == 1:
            return super()._band(curve)
        # What a test certifies says nothing of the curve's upper side.
        return lambda e: (np.where(e < self.ceiling, curve.bounds(e, CURVE_GAP)[0], 0.0), np.ones_like(e))

    def knots(self, spacing: float) -> Floats:
        # Large losses are rare and count: the usual knots would be too sparse for them.
        if spacing not in self._knots:
            self._knots[spacing] = tail_knots(self, spacing)
        return self._knots[spacing]

    @cached_property
    def _knots(self) -> dict[float, Floats]:
        return {}

    def local_rdp(self, order: float) -> float:
        # Which steps were chosen, told to the adversary, leaves these steps.
        return self.participations * self.step.rdp(order)

    def local_delta(self, epsilon: float) -> float:
        return self.step.delta(epsilon) if self.participations == 1 else 1.0


@dataclass(frozen=True, slots=True)
class _Composed:
    """The upper end of composed rounds in one order, as a curve."""

    rounds: Rounds
    order: int

    @property
    def name(self) -> str:
        return BLOCKS

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """The upper end, taken for exact."""
        del gap
        values = self.rounds.worse[self.order].deltas(epsilons, "upper")
        return values, values

    def swapped(self) -> _Composed:
        return _Composed(self.rounds, 1 - self.order)
