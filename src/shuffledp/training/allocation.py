"""``RandomAllocation``: training in which every record takes part in randomly chosen steps. One
epoch of it is a round, ``Epoch``.

With the step's pair (P, Q) and u = P/Q, the pair of t steps, of which a record takes part in one,
is (the average over i of Q^(i-1) P Q^(t-i), Q^t), also if steps are chosen adaptively
(docs/theory.md). So

    remove:  delta = 1/t E_Q( sum (u_i - e^eps) )_+
    add:     delta = 1/t E_Q( sum (1 - e^eps u_i) )_+

which is a haystack: the hay is Q, the needle P or Q, and t is the number of positions.

Taking part in k of t steps is a mixture, over random partitions of the steps into k blocks, that_of
taking part in one step of each block. So k blocks, composed, are an upper end.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from shuffledp._types import End, Floats, that_of
from shuffledp.accounting.accuracy import CURVE_GAP, DEFAULT_GAP, MERGED_GAP
from shuffledp.accounting.curves import Bound, Envelope
from shuffledp.accounting.guarantee import Guarantee, Row
from shuffledp.accounting.haystack import Haystack
from shuffledp.accounting.pld import CurveBand, LossDistribution
from shuffledp.accounting.reductions import SILENT, Curve, Reduction, Theorem
from shuffledp.accounting.rounds import Parts, Round, Rounds
from shuffledp.errors import MOST_ROUNDS, InvalidInput, check_count, check_rounds
from shuffledp.training.step_pairs import FiniteStep, GaussianStep, LaplaceStep, StepPair, tail_knots
from shuffledp.training.sum_test import SumTest
from shuffledp.wording import statement

METHOD, BLOCKS = statement("allocation"), statement("allocation blocks")
MODEL = (statement("add or remove"), statement("one step"), statement("noisy steps"))
FEW = 64
REMOVED, ADDED = "one record removed", "one record added"


class StepHaystack(Haystack):
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
    """``steps`` steps, of which a record takes ``participations``; see ``RandomAllocation``."""

    step: StepPair
    steps: int
    participations: int = 1

    def __repr__(self) -> str:
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
        removed = replace(StepHaystack.of(self.step.atoms(end), self.steps), name=REMOVED)
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
        values = self.rounds.worse[self.order].deltas(epsilons, "upper")
        return values, values

    def swapped(self) -> _Composed:
        return _Composed(self.rounds, 1 - self.order)


MOST_STEPS = 10**12


class RandomAllocation(Guarantee):
    """Noisy training in which every record takes part in ``participations`` of the ``steps`` steps
    of each of ``epochs`` epochs, chosen uniformly at random and independently of all others ("balls
    and bins"): what most people mean by a shuffled epoch, as a sampler that can be accounted for.

    The noise of a step is Gaussian (``sigma``, in units of the clipping norm), Laplace (``scale``),
    or any pair of finite laws (``pair``, with the record and without it). Both ends hold for adding
    and for removing a record (one that is zeroed), not for replacing one as elsewhere here.

    >>> training = RandomAllocation(sigma=1.0, steps=1000)
    >>> training.epsilon(delta=1e-6)
    Bound(lower=0.1716, upper=0.1718)
    """

    step: StepPair
    steps: int
    participations: int
    epochs: int

    def __init__(
        self,
        *,
        steps: int,
        sigma: float | None = None,
        scale: float | None = None,
        pair: ArrayLike | None = None,
        participations: int = 1,
        epochs: int = 1,
    ) -> None:
        self.step = _step(sigma, scale, pair)
        self.steps = check_steps(steps)
        self.participations = check_participations(participations, self.steps)
        self.epochs = check_epochs(epochs)

    def __repr__(self) -> str:
        """What builds it.

        >>> RandomAllocation(sigma=1.0, steps=1000, epochs=10)
        RandomAllocation(sigma=1.0, steps=1000, epochs=10)
        """
        counts = {"participations": self.participations, "epochs": self.epochs}
        more = "".join(f", {name}={count}" for name, count in counts.items() if count > 1)
        return f"RandomAllocation({self.step.parameter}, steps={self.steps}{more})"

    def describe(self) -> str:
        """The steps, how often a record takes part, the noise and the epochs.

        >>> RandomAllocation(sigma=1.0, steps=1000, epochs=10).describe()
        'random allocation to one of 1,000 steps; Gaussian noise, sigma = 1; 10 epochs'
        """
        return self._epoch.describe() + (f"; {self.epochs:,} epochs" if self.epochs > 1 else "")

    @cached_property
    def _epoch(self) -> Epoch:
        return Epoch(self.step, self.steps, self.participations)

    @cached_property
    def _whole(self) -> Guarantee:
        return self._epoch.compose(self.epochs)

    @property
    def parts(self) -> Parts:  # type: ignore[override]
        """One epoch, and their number."""
        return ((self._epoch, self.epochs),)

    method = that_of("_whole")
    assumptions = that_of("_epoch")
    pessimistic_loss = that_of("_whole")
    rdp = that_of("_whole")

    @property
    def ceiling(self) -> float:
        return self._whole.ceiling

    @cached_property
    def _tests(self) -> tuple[SumTest, SumTest]:
        """The lower end where laws cannot be composed: one test of all steps, both ways."""
        removed = SumTest(self.step, self.steps, self.participations, self.epochs)
        return removed, removed.swapped()

    @property
    def _tested(self) -> bool:
        return self.participations > 1 and self.ceiling > 0.0

    def _end(self, end: End, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        if end == "lower" and self._tested:
            return Envelope(self._tests, "lower", self.ceiling)(epsilons, gap)
        values = self._whole._end(end, epsilons, gap)
        if end == "upper":
            values = np.minimum(values, [self.step.delta(float(each), self._taken) for each in epsilons])
        return values

    def _epsilon_end(self, end: End, delta: float) -> float:
        if end == "lower" and self._tested:
            return min(max(test.epsilon(delta) for test in self._tests), self.ceiling)
        value = self._whole._epsilon_end(end, delta)
        # Deltas too small for composed losses: who is told which steps were chosen sees so many.
        return value if math.isfinite(value) else self.step.epsilon(delta, self._taken)

    @property
    def _taken(self) -> int:
        return self.participations * self.epochs

    def compose(self, rounds: int) -> RandomAllocation:
        """The same training so many times over, with fresh randomness: as many more epochs."""
        rounds = check_rounds(rounds)
        changed = object.__new__(RandomAllocation)
        changed.step, changed.steps, changed.participations = self.step, self.steps, self.participations
        changed.epochs = check_epochs(self.epochs * rounds)
        changed.__dict__["_epoch"] = self._epoch  # with all that is known of it
        return changed

    def _rows(self, delta: float, bound: Bound) -> tuple[list[Row], tuple[str, ...]]:
        lower = Row("lower", bound.lower, "explicit laws, and a test of them")
        return [Row("upper", bound.upper, bound.method), lower], ()


def _step(sigma: float | None, scale: float | None, pair: ArrayLike | None) -> StepPair:
    given = [name for name, value in (("sigma", sigma), ("scale", scale), ("pair", pair)) if value is not None]
    if len(given) != 1:
        raise InvalidInput(
            f"exactly one of sigma, scale and pair must be given, got {' and '.join(given) or 'none'}. sigma is usual."
        )
    if sigma is not None:
        return GaussianStep(sigma)
    return LaplaceStep(scale) if scale is not None else FiniteStep(pair)  # type: ignore[arg-type]


def check_steps(value: object) -> int:
    """Return ``value`` as the number of steps of an epoch."""
    remedy = "It counts the steps of one epoch: records over batch size."
    return check_count("steps", value, least=1, most=MOST_STEPS, remedy=remedy, beyond="A smaller number is safe.")


def check_participations(value: object, steps: int) -> int:
    """Return ``value`` as the number of steps of an epoch that a record takes part in."""
    remedy = "It counts the steps of an epoch that a record is used in; 1 is usual."
    beyond = "A record is used at most once in a step; use more epochs."
    return check_count("participations", value, least=1, most=min(steps, MOST_ROUNDS), remedy=remedy, beyond=beyond)


def check_epochs(value: object) -> int:
    """Return ``value`` as a number of epochs."""
    remedy = "It counts the passes over the data; 1 to 1000 is usual."
    beyond = "Beyond, rounding would decide what an epoch adds; train for fewer."
    return check_count("epochs", value, least=1, most=MOST_ROUNDS, remedy=remedy, beyond=beyond)
