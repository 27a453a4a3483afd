"""The first-clone swap in balls, for laws fixed in advance (docs/first-clone-swap.md).

omega is a law with kappa omega below every user's law, x = e^eps and w = needle0 - x needle1. For 0
= u_0 < ... < u_J <= kappa

    delta <= sum over j of [(1-u_j)^n - (1-u_(j+1))^n] F_(j+1) + (1-u_J)^n D,

where n F = E(G_* + G_2 + ... + G_n)_+ + (what slots without hay show), slot 1 has hay omega, slot i
has hay h_i - u omega and is empty otherwise, scores are w / hay, and D is what the target's report
shows by itself, or in the blanket of what is left of the laws.

For every composition of kinds v, and every c, tau > 0 and step, the trapezoidal rule on s = c + iy
adds non-negative terms to E(S + Z)_+ >= E S_+; then moduli, and Hoelder's inequality for the sum
over nodes:

    n F  <=  sum over v of p_v  step/(2 pi) sum over nodes |phi_*| |phi_v|^(n-1) e^(tau^2 (c^2 -
             y^2)/2) / |s|^2 ,     p_v the share of kind v (geometric means are below arithmetic).

So each kind is added up over the levels, and the largest kind is the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from flint import acb_mat, arb

from shuffledp.judge.balls.arithmetic import (
    BLOCK,
    ROUGHLY,
    Positions,
    ball,
    largest,
    midpoint,
    positive_part,
    precision,
)
from shuffledp.judge.balls.needle import Needle
from shuffledp.judge.clones import CloneSwap, Row

LEVELS, FEWEST_LEVELS, FEW_CLONES = 44, 8, 700.0
BLUR = 0.01  # tau c
NEGLIGIBLE = 14.0  # e^-14 of a level's value may be left out, or added by the step
NEAR = 0.003  # relative, of c
REACH = 12.0  # deviations: larger scores count by themselves
SLACK = 9.0  # swaps rarer than e^-9 of delta do not matter
LAST = (0.3, 0.45, 0.6, 0.75, 0.9)  # shares of the levels after which the rest may be left to the blanket


@dataclass(frozen=True, eq=False)
class Slot:
    """A kind of slot, by classes: the target's laws, the hay at u = 0, its decrease in u."""

    needle0: tuple[arb, ...]
    needle1: tuple[arb, ...]
    hay: tuple[arb, ...]
    taken: tuple[arb, ...]

    def gains(self, x: arb) -> list[arb]:
        """w, class by class."""
        return [there - x * back for there, back in zip(self.needle0, self.needle1, strict=True)]

    def left(self, u: arb) -> list[arb]:
        """The hay at u."""
        return [hay - u * taken for hay, taken in zip(self.hay, self.taken, strict=True)]

    def swapped(self) -> Slot:
        """The target's inputs exchanged."""
        return replace(self, needle0=self.needle1, needle1=self.needle0)


@dataclass(frozen=True, eq=False)
class _Filled:
    """A slot at one level: its positions, all n of them alike, and what is seen beside them."""

    positions: Positions
    seen: arb

    @classmethod
    def of(cls, slot: Slot, n: int, x: arb, u: arb, *, whole: bool, cap: arb | None) -> _Filled:
        """Scores are cut at the cap; what was cut is seen, and so is w without hay."""
        masses, scores, seen = [], [], arb(0)
        for gain, hay in zip(slot.gains(x), slot.left(u), strict=True):
            if not hay > 0:
                seen += positive_part(gain)
                continue
            score = gain / hay
            if cap is not None and not score <= cap:
                seen += positive_part(gain - cap * hay)
                score = score.min(cap)
            masses.append(hay)
            scores.append(score)
        absent = arb(0) if whole else positive_part(1 - sum(masses, arb(0)))
        return cls(Positions(n, tuple(masses), tuple(scores), absent), seen)


@dataclass(frozen=True, eq=False)
class SwappedClone:
    """An ordered pair of inputs: slot 1, the kinds of the others, and ``least`` below all."""

    kappa: arb
    first: Slot
    kinds: tuple[Slot, ...]
    least: Slot | None

    @classmethod
    def of(cls, swap: CloneSwap) -> SwappedClone:
        """The same in balls."""

        def slot(rows: Sequence[Row]) -> Slot:
            hay, there, back, taken = (tuple(ball(each) for each in column) for column in zip(*rows, strict=True))
            return Slot(there, back, hay, taken)

        kinds = tuple(map(slot, swap.kinds))
        shares = [hay / taken for kind in kinds for hay, taken in zip(kind.hay, kind.taken, strict=True) if taken > 0]
        least = None if swap.least is None else slot(swap.least)
        return cls(min(each.lower() for each in shares), slot(swap.first), kinds, least)

    def swapped(self) -> SwappedClone:
        """The target's inputs exchanged."""
        least = None if self.least is None else self.least.swapped()
        return replace(
            self, first=self.first.swapped(), kinds=tuple(kind.swapped() for kind in self.kinds), least=least
        )

    def at_most(self, n: int, eps: float, levels: int | None = None, blur: float | None = None) -> arb:
        """An upper end of delta for n people; fewer levels or more blur are sooner and higher."""
        blur = BLUR if blur is None else blur
        x = ball(eps).exp()
        alone = sum((positive_part(gain) for gain in self.first.gains(x)), arb(0)).min(arb(1))
        if n == 1 or not alone.upper() > 0:
            return alone.upper()
        most = -n * midpoint((-self.kappa).log1p())
        most_levels = LEVELS if levels is None else levels
        clones = max(n * midpoint(self.kappa), 1e-9)
        count = int(min(max(LEVELS * FEW_CLONES / clones, FEWEST_LEVELS), most_levels))
        if not most > 0.1:
            return alone.upper()
        with precision(ROUGHLY):
            rough = largest(self._level(n, x, self._u(min(1.0, 0.5 * most), n), blur))
            needed = _log(alone) - _log(rough) + SLACK
        last = min(most, max(needed, 2.0))
        rate = min(0.25, 8.0 / last)
        qs = [-math.log1p(share / count * math.expm1(-rate * last)) / rate for share in range(count + 1)]
        left = arb(1)
        sums = [arb(0)] * len(self.kinds)
        best = alone
        blankets = {int(share * count) for share in LAST} if needed >= most else set()
        for place, q in enumerate(qs[1:]):
            u = self._u(q, n)
            below = (1 - u) ** n
            values = at_most_one(self._level(n, x, u, blur))
            sums = [total + (left - below) * value for total, value in zip(sums, values, strict=True)]
            left = below
            hidden = alone
            if place in blankets and self.least is not None:
                hidden = alone.min(self._blanket(n, eps, u))
            best = best.min(largest(sums) + left * hidden)
        return best.upper()

    def _u(self, q: float, n: int) -> arb:
        """The level that e^-q of all views do without; certainly not above kappa."""
        u = (-(-arb(q) / n).expm1()).mid()
        return u if u <= self.kappa else self.kappa.lower()

    def _blanket(self, n: int, eps: float, u: arb) -> arb:
        assert self.least is not None
        hay = tuple(positive_part(each.lower()) / (1 - u) for each in self.least.left(u))
        return Needle(hay, self.least.needle0, self.least.needle1, whole=False).delta(n, eps, 1e-3)

    def _level(self, n: int, x: arb, u: arb, blur: float) -> list[arb]:
        """F at u if all others are of one kind, for every kind."""
        with precision(ROUGHLY):
            caps = [_cap(_Filled.of(kind, n, x, u, whole=False, cap=None).positions) for kind in self.kinds]
        slots = [_Filled.of(kind, n, x, u, whole=False, cap=cap) for kind, cap in zip(self.kinds, caps, strict=True)]
        highest = largest([cap for cap in caps if cap is not None]) if any(cap is not None for cap in caps) else None
        first = _Filled.of(self.first, 1, x, arb(0), whole=True, cap=highest)
        shown = [(first.seen + (n - 1) * slot.seen) / n for slot in slots]
        live = [slot.positions for slot in slots]
        if not any(score.upper() > 0 for each in (first.positions, *live) for score in each.scores):
            return shown
        line = _Line.through(n, first.positions, live, blur)
        if line is None:
            return [arb(1)] * len(live)
        return [(line.sum(each) / n + seen).upper() for each, seen in zip(live, shown, strict=True)]


def at_most_one(values: list[arb]) -> list[arb]:
    """The values of all kinds at one level, none above 1.

    A composition's F is at most 1, and at most a mean of these. One of them cut by itself would
    lower the mean below F, so it is all of them or none.

    >>> [float(each) for each in at_most_one([arb(1.5), arb(0.25)])]
    [1.0, 1.0]
    """
    return values if all(value <= 1 for value in values) else [arb(1)] * len(values)


def _cap(positions: Positions) -> arb | None:
    """What a single score may add to the sum that is integrated; None if none is larger."""
    top = positions.top
    if not top > 0:
        return None
    tame = [
        (mass, (score / top).max(arb(-positions.n)))
        for mass, score in zip(positions.masses, positions.scores, strict=True)
    ]
    mean = -positions.n * midpoint(sum((mass * score for mass, score in tame), arb(0)))
    square = positions.n * midpoint(sum((mass * score * score for mass, score in tame), arb(0)))
    share = max(mean, 0.0) + REACH * math.sqrt(square)
    return None if share >= 1.0 else (top * share).mid()


@dataclass(frozen=True, eq=False)
class _Line:
    """The nodes c + iy, y = 0, +-step, ..., shared by all kinds of one level."""

    n: int
    first: Positions
    c: arb
    tau: arb
    step: arb
    count: int
    weights: dict[int, list[arb]] = field(default_factory=dict)

    @classmethod
    def through(cls, n: int, first: Positions, kinds: Sequence[Positions], blur: float) -> _Line | None:
        """c near the least of the largest kind's value; None where scores spread too far."""
        with precision(ROUGHLY):
            saddles = [each.saddle() for each in kinds if any(score > 0 for score in each.scores)]
            saddles = saddles or [Positions(n, first.masses, first.scores, first.absent).saddle()]

            def size_at(c: arb) -> float:
                """About the log of the largest kind's sum, with |phi|^n like a normal density."""
                values = []
                for each in kinds:
                    deviation = math.sqrt(each.slope(c)[1] / 2.0)
                    values.append(_log(each.phi(c)) * (n - 1) + _log_erfcx(deviation))
                return max(values) + _log(first.phi(c)) - _log(c)

            low, high = (f(math.log(midpoint(c)) for c, _ in saddles) for f in (min, max))
            log_c = _least(lambda place: size_at(arb(place).exp()), low - 0.3, high + 0.3)
            c = arb(log_c).exp().mid()
            width = max(math.sqrt(each.slope(c)[1] + 2.0) for each in kinds)
            period = NEGLIGIBLE
            for each in kinds:
                for below, points in ((True, (0.02, 0.1, 0.25, 0.5, 0.75)), (False, (0.25, 1.0, 2.0, 4.0, 8.0, 12.0))):
                    reached = []
                    for point in points:
                        share = point if below else 1.0 + point / width
                        a = c * share
                        size = (
                            (_log(each.phi(a)) - _log(each.phi(c))) * (n - 1) + _log(first.phi(a)) - _log(first.phi(c))
                        )
                        size += math.log(width) + 1.0 - math.log(share) + 0.5 * (blur * share) ** 2
                        reached.append((NEGLIGIBLE + size) / abs(share - 1.0))
                    period = max(period, min(reached))
            cut = math.sqrt(2.0 * (NEGLIGIBLE + math.log(width))) / blur
            if not math.isfinite(cut * period):
                return None
            return cls(
                n,
                first,
                c,
                (blur / c).mid(),
                (2 * arb.pi() / period * c).mid(),
                math.ceil(cut * period / (2 * math.pi)) + 2,
            )

    def sum(self, kind: Positions) -> arb:
        """The sum over all nodes with all others of this kind, or more."""
        c, tau, step, n = self.c, self.tau, self.step, self.n
        phi, tilted, absent, lipschitz = kind.tilted(c)
        reach = (lipschitz * step).upper()
        faint = NEGLIGIBLE + 6.0
        threshold = (arb(-faint) / n).exp().lower()
        fine = kind.fine(step)
        total, start = arb(0), 0
        while start < self.count:
            sizes = self._sizes(tilted, absent, kind, fine, start)
            if any(not size < threshold for size in sizes):
                for size, weight in zip(sizes, self._weights(start), strict=True):
                    if not size < threshold:
                        total += size ** (n - 1) * weight
            start += BLOCK
            if sizes[-1] < threshold:  # whole blocks, whose weights other kinds share
                passed_over = int(min(midpoint((threshold - sizes[-1]) / reach), 1e15) * (1.0 - 1e-9)) - 1
                start += max(passed_over, 0) // BLOCK * BLOCK
        edge = step * (self.count - 1)
        # What was passed over, and what is beyond the last node: no factor is larger than at y = 0.
        passed = (arb(-faint) * (n - 1) / n).exp() / (2 * c)
        tail = (-((tau * edge) ** 2) / 2).exp() / (arb.pi() * edge)
        scale = phi ** (n - 1) * (tau * tau * c * c / 2).exp()
        return scale * (total * step / arb.pi() + self.first.phi(c) * (passed + tail))

    def _sizes(self, tilted: list[arb], absent: arb, slot: Positions, fine: acb_mat, start: int) -> list[arb]:
        """At most |phi| at the nodes of a block, by the terms of phi at y = 0."""
        values = slot.turned(tilted, self.step * start, fine)
        return [(value + absent).abs_upper() for value in values[: self.count - start]]

    def _weights(self, start: int) -> list[arb]:
        """What the powers of a block's nodes are multiplied by, alike for all kinds."""
        if start not in self.weights:
            sizes = self._sizes(self._first_tilted, self.first.absent, self.first, self._first_fine, start)
            ys = [self.step * node for node in range(start, start + len(sizes))]
            self.weights[start] = [
                (-((self.tau * y) ** 2) / 2).exp() / (self.c * self.c + y * y) * size
                for y, size in zip(ys, sizes, strict=True)
            ]
            if start == 0:
                self.weights[0][0] *= arb(0.5)
        return self.weights[start]

    @cached_property
    def _first_tilted(self) -> list[arb]:
        return self.first.filled(self.c)

    @cached_property
    def _first_fine(self) -> acb_mat:
        return self.first.fine(self.step)


def _log(number: arb) -> float:
    """About its logarithm."""
    return midpoint(number.mid().log()) if number.mid() > 0 else -1e300


def _log_erfcx(v: float) -> float:
    return v * v + math.log(math.erfc(v)) if v < 5.0 else -math.log(v * math.sqrt(math.pi))


def _least(value: Callable[[float], float], low: float, high: float) -> float:
    """About where a function with one valley is least: by the golden section."""
    share = (math.sqrt(5.0) - 1.0) / 2.0
    left, right = high - share * (high - low), low + share * (high - low)
    at_left, at_right = value(left), value(right)
    while high - low > NEAR:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - share * (high - low)
            at_left = value(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + share * (high - low)
            at_right = value(right)
    return 0.5 * (low + high)
