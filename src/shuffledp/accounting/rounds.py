"""Rounds: one of them, given by curves that bound what it gives away, and many of them composed."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from shuffledp._types import End, Floats
from shuffledp.accounting import renyi
from shuffledp.accounting.accuracy import CURVE_GAP, DEFAULT_GAP
from shuffledp.accounting.curves import Bound, Envelope, Smallest
from shuffledp.accounting.guarantee import Guarantee, Row, check_order
from shuffledp.accounting.pld import (
    Composition,
    CurveBand,
    LossDistribution,
    Spread,
    chosen_knots,
    common_spacing,
    optimistic,
    own_multiple,
    pessimistic,
)
from shuffledp.accounting.reductions import Curve, Reduction, Scanned
from shuffledp.errors import LARGEST_EPSILON, check_rounds
from shuffledp.wording import statement

Parts: TypeAlias = "tuple[tuple[Round, int], ...]"

PER_DEVIATION = 40  # grid points per typical loss
RARE = 1e-4  # of delta: losses that may be left out
DECADES = 3.0  # deltas so near to each other leave out the same ones


@runtime_checkable
class Repeated(Protocol):
    """A curve of one pair whose losses are known by themselves."""

    def repeated(self, rounds: int, spacing: float) -> Composition | None:
        """The losses of so many rounds, rounded down to a grid; None if that says nothing."""


class Round(Guarantee):
    """One round of whatever mechanism: its ``reduction`` says all that is proven about it."""

    @property
    @abstractmethod
    def reduction(self) -> Reduction:
        """The theorems in use, as curves; computed once."""

    @property
    @abstractmethod
    def key(self) -> Hashable:
        """What two rounds must share to be counted together."""

    def local_rdp(self, order: float) -> float:
        """A Renyi divergence that this round cannot exceed, known without its curve."""
        return math.inf

    def local_delta(self, epsilon: float) -> float:
        """A delta that this round cannot exceed, known without its curve."""
        return 1.0

    def beside(self, whole: Guarantee, delta: float, bound: Bound) -> tuple[list[Row], tuple[str, ...]]:
        """What others have proven of ``whole``, some rounds of this one, and the names of bounds
        that take too long; by default nothing is known.
        """
        return [], ()

    @property
    def parts(self) -> Parts:  # type: ignore[override]
        return ((self, 1),)

    @property
    def blocks(self) -> Parts:
        """Rounds whose composition dominates this one; by default, itself."""
        return ((self, 1),)

    @property
    def method(self) -> str:  # type: ignore[override]
        return " or ".join(theorem.method for theorem in self.reduction.theorems)

    def _method_at(self, epsilon: float) -> str:
        theorems = self.reduction.theorems
        return theorems[self._upper().best(epsilon)].method if len(theorems) > 1 else self.method

    @property
    def assumptions(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.reduction.assumptions

    @property
    def ceiling(self) -> float:
        return self.reduction.ceiling

    def _end(self, end: End, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        return (self._upper() if end == "upper" else self._lower())(epsilons, gap)

    def _epsilon_end(self, end: End, delta: float) -> float:
        return (self._upper() if end == "upper" else self._lower()).meets(delta)

    def _upper(self, order: int | None = None) -> Smallest:
        """The upper end of both orders of the target's inputs, or of one of them."""
        return Smallest(
            [Envelope(theorem.of(order), "upper", self.ceiling) for theorem in self.reduction.theorems], self.ceiling
        )

    def _lower(self) -> Envelope:
        return Envelope(self.reduction.lowers, "lower", self.ceiling)

    def compose(self, rounds: int) -> Guarantee:
        rounds = check_rounds(rounds)
        return self if rounds == 1 or self.ceiling == 0.0 else Rounds(((self, rounds),))

    def rdp(self, *, order: float) -> Bound:
        order = check_order(order)
        if self.ceiling == 0.0:  # equal laws
            return self._bound(0.0, 0.0)
        # High orders look at rare, large losses, where another dataset may be worse than the one
        # that leaks most typically.
        typical, top = self.typical_loss, self.ceiling
        pairs = [
            self.sharpest(epsilon)
            for epsilon in ((typical, math.sqrt(typical * top), 0.8 * top) if math.isfinite(top) else (typical,))
        ]
        bands = [(self._band(pair), self._band(pair.swapped())) for pair in dict.fromkeys(pairs)]
        lower = max(renyi.divergence_at_least(*ends, top, order) for band in bands for ends in (band, band[::-1]))
        return self._bound(lower, self._rdp_at_most(order))

    def _rdp_at_most(self, order: float) -> float:
        if math.isfinite(self.ceiling):
            return renyi.divergence_at_most(lambda e: self._end("upper", e, CURVE_GAP), self.ceiling, order)
        alone = self.local_rdp(order)
        if alone == math.inf:
            return math.inf
        curve = renyi.divergence_at_most(
            lambda e: np.minimum(self._end("upper", e, CURVE_GAP), [self.local_delta(float(x)) for x in e]),
            math.inf,
            order,
        )
        return min(curve, alone)

    def _rows(self, delta: float, bound: Bound) -> tuple[list[Row], tuple[str, ...]]:
        known, skipped = self.beside(self, delta, bound)
        single = [Envelope([curve], "lower", self.ceiling) for curve in self.reduction.lowers]
        lowers = [Row("lower", each.meets(delta), each.curves[0].name) for each in single]
        return [Row("upper", bound.upper, bound.method), *known, *lowers], skipped

    @cached_property
    def typical_loss(self) -> float:
        """About the deviation of the loss: the Gaussian mechanism's of this total variation."""
        return float(math.sqrt(2.0 * math.pi) * self._end("upper", np.zeros(1), CURVE_GAP)[0])

    def sharpest(self, epsilon: float) -> Curve:
        """The single dataset and order that leaks most at epsilon, among those tried."""
        best = self._lower().best(min(epsilon, 0.9 * self.ceiling))
        return best.worst(epsilon) if isinstance(best, Scanned) else best

    def spacing(self) -> float:
        """A loss grid fine enough for this round."""
        return min(self.typical_loss / PER_DEVIATION, self.ceiling / 400.0)

    def knots(self, spacing: float) -> Floats:
        """Where the curve is evaluated for a PLD: densely at most losses, then sparser."""
        return chosen_knots(lambda e: self._end("upper", e, CURVE_GAP), self.typical_loss, self.ceiling, spacing)

    def spread(self, rounds: int) -> Spread:
        """What a common grid has to know of so many rounds."""
        return Spread(self.typical_loss, self.spacing(), rounds)

    def pessimistic_loss(self, *, spacing: float) -> LossDistribution:
        return self._pessimistic(spacing, None)

    def pessimistic_losses(self, *, spacing: float) -> tuple[LossDistribution, ...]:
        """PLDs that dominate this round, per order of the inputs; one if they are alike."""
        orders = self.reduction.orders
        if orders == 1:
            return (self._pessimistic(spacing, None),)
        return tuple(self._pessimistic(spacing, order) for order in range(orders))

    def _pessimistic(self, spacing: float, order: int | None) -> LossDistribution:
        def new() -> LossDistribution:
            there = self._at_knots(spacing, order)
            back = there if order is None else self._at_knots(spacing, 1 - order)  # whose are the losses below 0
            return pessimistic(lambda _: there, self.knots(spacing), spacing, lambda _: back)

        return self._once(("pessimistic", spacing, order), new)

    def _at_knots(self, spacing: float, order: int | None) -> Floats:
        """The upper end at the knots, computed once."""
        return self._once(
            ("at knots", spacing, order), lambda: self._upper(order)(spacing * self.knots(spacing), CURVE_GAP)
        )

    def optimistic_losses(self, *, spacing: float) -> tuple[LossDistribution, ...]:
        """PLDs that an explicit pair dominates in either order: one or two."""
        return self._once(("optimistic", spacing), lambda: self._new_better(spacing))

    def _new_better(self, spacing: float) -> tuple[LossDistribution, ...]:
        knots, (forward, backward) = self.knots(spacing), self._pair()
        there, back = forward(spacing * knots), backward(spacing * knots)
        symmetric = all(np.array_equal(a, b) for a, b in zip(there, back, strict=True))
        return tuple(
            optimistic(*ends, knots, spacing) for ends in ((there, back), (back, there))[: 1 if symmetric else 2]
        )

    def _pair(self) -> tuple[CurveBand, CurveBand]:
        """The bands of an explicit pair that leaks much, and of the pair in the other order."""
        pair = self.sharpest(self.typical_loss)
        return self._band(pair), self._band(pair.swapped())

    def _band(self, curve: Curve) -> CurveBand:
        return lambda e: tuple(np.where(e < self.ceiling, side, 0.0) for side in curve.bounds(e, CURVE_GAP))  # type: ignore[return-value]


@dataclass(frozen=True, eq=False, repr=False)
class Rounds(Guarantee):
    """Several rounds over the same people: mechanisms, and how often each is run."""

    parts: Parts

    def __repr__(self) -> str:
        """What builds it.

        >>> from shuffledp import KRR, shuffle
        >>> shuffle(KRR(k=16, epsilon0=4.0), n=10_000).compose(30)
        shuffle(KRR(k=16, epsilon0=4.0), n=10000).compose(30)
        """
        if len(self.parts) > 1:
            return f"{added(self.parts)}.total"
        ((part, rounds),) = self.parts
        return f"{part!r}.compose({rounds})"

    @property
    def rounds(self) -> int:
        """How many rounds in all."""
        return sum(rounds for _, rounds in self.parts)

    def describe(self) -> str:
        """Every mechanism and its rounds.

        >>> from shuffledp import KRR, shuffle
        >>> shuffle(KRR(k=16, epsilon0=4.0), n=10_000).compose(30).describe()
        'krr, k = 16, epsilon0 = 4; 10,000 people; 30 rounds'
        """
        return " + ".join(
            part.describe() + (f"; {rounds:,} rounds" if rounds > 1 else "") for part, rounds in self.parts
        )

    @property
    def method(self) -> str:  # type: ignore[override]
        theorems = " and ".join(dict.fromkeys(part.method for part, _ in self.parts))
        return theorems + statement("composed", rounds=self.rounds)

    @property
    def assumptions(self) -> tuple[str, ...]:  # type: ignore[override]
        """Those of every round, and what joins them."""
        return (*dict.fromkeys(a for part, _ in self.parts for a in part.assumptions), statement("fresh rounds"))

    @property
    def ceiling(self) -> float:
        return sum(part.ceiling * rounds for part, rounds in self.parts)

    @cached_property
    def spacing(self) -> float:
        """The grid that all mechanisms share."""
        return common_spacing([block.spread(rounds) for block, rounds in self._blocks])

    @cached_property
    def _blocks(self) -> Parts:
        """What is composed for the upper end."""
        return tuple((block, times * rounds) for part, rounds in self.parts for block, times in part.blocks)

    @property
    def orders(self) -> int:
        """1, or 2 if some round treats the two orders of the target's inputs differently."""
        return max(part.reduction.orders for part, _ in self.parts)

    def dominating(self, spacing: float) -> list[Composition]:
        """Compositions that together dominate this one, on multiples of ``spacing``."""
        times = [own_multiple(block.spacing(), spacing) for block, _ in self._blocks]
        laws = [
            block.pessimistic_losses(spacing=each * spacing)
            for (block, _), each in zip(self._blocks, times, strict=True)
        ]
        return [
            Composition(
                [
                    (both[order if len(both) > 1 else 0].on_finer(each), rounds)
                    for both, each, (_, rounds) in zip(laws, times, self._blocks, strict=True)
                ]
            )
            for order in range(self.orders)
        ]

    @cached_property
    def worse(self) -> list[Composition]:
        """What dominates this one, in every order by itself."""
        return _roomy(self.dominating, self.spacing)

    @cached_property
    def _better(self) -> list[Composition]:
        """Compositions that this one dominates.

        Different mechanisms may look at one value of a user or at several; a lower end that holds
        either way composes the rounds of one mechanism at a time, on one dataset and on a grid of
        its own, and leaves the others out.
        """
        return [
            each
            for part, rounds in self.parts
            for laws in (_optimistic, _exact)
            for each in _roomy(partial(laws, part, rounds), common_spacing([part.spread(rounds)]))
        ]

    def _end(self, end: End, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        composed = self.worse if end == "upper" else self._better
        values = np.max([self._deltas(each, epsilons, end) for each in composed], axis=0)
        values = np.minimum(values, self._apart) if end == "upper" else values
        return np.where(epsilons < self.ceiling, values, 0.0)

    def _deltas(self, composed: Composition, epsilons: Floats, end: End) -> Floats:
        """By the composition itself, and where rare large losses matter without them, too."""
        values = composed.deltas(epsilons, end)
        if self.orders == 1:
            return values
        better = np.minimum if end == "upper" else np.maximum
        size = composed.deltas(epsilons, "upper") if end == "lower" else values
        levels = DECADES * np.floor(np.log10(np.maximum(size, 1e-290)) / DECADES)
        for level in np.unique(levels):
            rows = np.flatnonzero(levels == level)
            less = composed.trimmed(RARE * 10.0**level, end)
            values[rows] = better(values[rows], less.deltas(epsilons[rows], end))
        return values

    def _epsilon(self, composed: Composition, delta: float, end: End) -> float:
        """The same for epsilon."""
        value = composed.epsilon(delta, end)
        if self.orders == 1:
            return value
        less = composed.trimmed(RARE * delta, end).epsilon(delta, end)
        return min(value, less) if end == "upper" else max(value, less)

    @cached_property
    def _apart(self) -> float:
        """At least the total variation, and so delta: those of the rounds add up at most."""
        return sum(part.typical_loss * rounds for part, rounds in self.parts) / math.sqrt(2.0 * math.pi) * (1.0 + 1e-12)

    def _epsilon_end(self, end: End, delta: float) -> float:
        if self._apart <= delta:
            return 0.0
        composed = self.worse if end == "upper" else self._better
        found = min(max(self._epsilon(each, delta, end) for each in composed), self.ceiling)
        return LARGEST_EPSILON if end == "lower" and found == math.inf else found  # as of one round

    def pessimistic_loss(self, *, spacing: float) -> LossDistribution:
        return Composition([(block.pessimistic_loss(spacing=spacing), rounds) for block, rounds in self._blocks]).law()

    def compose(self, rounds: int) -> Guarantee:
        rounds = check_rounds(rounds)
        return Rounds(tuple((part, check_rounds(times * rounds)) for part, times in self.parts))

    def rdp(self, *, order: float) -> Bound:
        singles = [(part.rdp(order=order), rounds) for part, rounds in self.parts]
        return self._bound(
            max(b.lower * rounds for b, rounds in singles), sum(b.upper * rounds for b, rounds in singles)
        )

    def _rows(self, delta: float, bound: Bound) -> tuple[list[Row], tuple[str, ...]]:
        def divergence(order: float) -> float:
            return sum(rounds * part._rdp_at_most(order) for part, rounds in self.parts)

        basic = sum(rounds * part.epsilon_at_most(delta=delta / self.rounds) for part, rounds in self.parts)
        rows = [
            Row("upper", basic, "basic composition of the rounds"),
            Row("upper", renyi.best_epsilon(divergence, delta), "Renyi composition (Canonne et al. 2020, Prop. 12)"),
            Row("upper", bound.upper, self.method),
            Row("lower", bound.lower, "explicit pairs, composed"),
        ]
        rows += [
            Row("alone", part.epsilon_at_most(delta=delta), f"one round of mechanism {i}, by itself")
            for i, (part, _) in enumerate(self.parts, 1)
        ]
        known, skipped = self.parts[0][0].beside(self, delta, bound) if len(self.parts) == 1 else ([], ())
        return [*rows, *known], skipped


def _optimistic(part: Round, rounds: int, spacing: float) -> list[Composition]:
    return [Composition([(law, rounds)]) for law in part.optimistic_losses(spacing=spacing)]


def _exact(part: Round, rounds: int, spacing: float) -> list[Composition]:
    """What is seen for certain, which curves leave out, and losses on their grid."""
    pairs: tuple[object, ...] = part.reduction.lowers
    found = [pair.repeated(rounds, spacing) for pair in pairs if isinstance(pair, Repeated)]
    return [each for each in found if each is not None]


def _roomy(compose: Callable[[float], list[Composition]], spacing: float) -> list[Composition]:
    """On this grid, or a wider one where the total exceeds the largest transform."""
    composed = compose(spacing)
    crowding = max((each.crowding for each in composed), default=0.0)
    return composed if crowding <= 1.0 else compose(spacing * 2.0 ** math.ceil(math.log2(crowding)))


def added(parts: Parts) -> str:
    """How an accountant comes by ``parts``, as Python."""
    calls = (f".add({part!r}{f', rounds={rounds}' if rounds > 1 else ''})" for part, rounds in parts)
    return f"Accountant(){''.join(calls)}"
