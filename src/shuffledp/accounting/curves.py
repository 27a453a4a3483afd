"""Answers and curves: the interval type, the envelope of several curves, and what lies surely below
or above a convex curve whose points are known up to two ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import End, Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP, MANY_POINTS_GAP, ROUGH_GAP
from shuffledp.accounting.inversion import crossing
from shuffledp.accounting.reductions import Curve
from shuffledp.errors import InvalidInput
from shuffledp.wording import reserved, rounded

NEARBY = 0.01  # relative: epsilons so close have the same largest curve
FAR_BELOW = 0.5  # of the largest: curves below that nearby are not looked at again
PROBED = 16  # points at which curves compete for a long list of them


class _Origin:
    """What a bound answers: no field, so that equality, copies and pickles ignore it."""

    __slots__ = ("_goal",)


@dataclass(frozen=True, slots=True, repr=False)
class Bound(_Origin):
    """An interval that contains the true value, and why.

    It is shown in four digits, rounded outwards; ``lower`` and ``upper`` have all of them.

    >>> bound = Bound(0.1, 0.25001, method="an example")
    >>> bound
    Bound(lower=0.1000, upper=0.2501)
    >>> 0.2 in bound, round(bound.width, 5)
    (True, 0.15001)
    """

    lower: float
    upper: float
    method: str = ""
    assumptions: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Both ends, rounded to the safe side, and what the upper one rests on without a proof."""
        only = f" {only}" if (only := reserved(self.assumptions)) else ""
        return f"Bound(lower={_shown(self.lower, up=False)}, upper={_shown(self.upper, up=True)}{only})"

    @property
    def width(self) -> float:
        """upper - lower."""
        return self.upper - self.lower

    def __contains__(self, value: float) -> bool:
        """Whether ``value`` is possible."""
        return self.lower <= value <= self.upper

    def __iter__(self) -> Iterator[float]:
        """Unpack as ``lower, upper``."""
        return iter((self.lower, self.upper))

    @property
    def goal(self) -> Provable | None:
        """What it answers; None if that is not known."""
        return getattr(self, "_goal", None)

    def answering(self, goal: Provable | None) -> Bound:
        """The same bound, which knows what it answers."""
        made = replace(self)
        object.__setattr__(made, "_goal", goal)
        return made

    def proven(self) -> Proof:
        """Both ends once more in ball arithmetic, by other code, with every rounding error inside a
        radius (the extra ``shuffledp[arb]``). For one round.
        """
        if self.goal is None:
            raise InvalidInput(
                f"a bound must know what it answers to be proven, got {self!r} alone. Ask the guarantee once more."
            )
        return self.goal.proven(self)


class Provable(Protocol):
    """What a bound answers."""

    def proven(self, bound: Bound) -> Proof:
        """The proof of ``bound`` in ball arithmetic."""


@dataclass(frozen=True, slots=True)
class ProvenEnd:
    """One end of a bound: ``value`` is proven and, if ``as_given``, is the one asked about.

    ``delta`` encloses delta: at the epsilon ``value`` if epsilon was asked for, else at the epsilon
    of the goal. For an upper end it is the theorem's delta, for a lower end a dataset's.
    """

    value: float
    delta: tuple[float, float]
    as_given: bool


@dataclass(frozen=True, slots=True)
class Proof:
    """Both ends of a ``Bound`` in ball arithmetic: ``what`` was proven in words, with how many
    ``bits``, in how many ``seconds`` of computing.
    """

    lower: ProvenEnd
    upper: ProvenEnd
    what: str
    bits: int
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether both ends are proven as they were given."""
        return self.lower.as_given and self.upper.as_given

    def __str__(self) -> str:
        """What was proven."""
        return self.what


def _shown(value: float, *, up: bool) -> str:
    return rounded(value, up=up) if math.isfinite(value) and value else f"{value!r}"


class Band(NamedTuple):
    """A certified curve: at each point of ``at`` it lies between ``lower`` and ``upper``."""

    at: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True, slots=True)
class Envelope:
    """One end of the largest of several curves, 0 from ``ceiling`` on."""

    curves: Sequence[Curve]
    end: End
    ceiling: float = math.inf

    def __call__(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        """The end at every epsilon >= 0."""
        return self.ends(epsilons, gap)[self.end == "upper"]

    def ends(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """Both ends of the largest curve; only those that can win are computed closely."""
        epsilons = np.asarray(epsilons, dtype=np.float64)
        values = np.zeros((2, epsilons.size))
        live = np.flatnonzero(epsilons < self.ceiling)
        if live.size:
            values[:, live] = self._largest(epsilons[live], gap)
        return values[0], values[1]

    def _largest(self, epsilons: Floats, gap: float) -> Floats:
        if len(self.curves) == 1 or gap >= ROUGH_GAP:
            return np.asarray(np.max([curve.bounds(epsilons, gap) for curve in self.curves], axis=0))
        probes = epsilons
        if (
            self.end == "lower" and epsilons.size > PROBED
        ):  # any curve is a lower end: a few points tell which ones to take
            probes = epsilons[np.linspace(0, epsilons.size - 1, PROBED).astype(np.intp)]
        rough = [curve.bounds(probes, ROUGH_GAP) for curve in self.curves]
        likely = self._likely(rough)
        values = np.asarray(np.max([curve.bounds(epsilons, gap) for curve in likely], axis=0))
        if self.end == "upper":
            # The lower end of a theorem's curve may be a guess: none is left out because of it.
            taken = {id(curve) for curve in likely}
            for curve, (_, upper) in zip(self.curves, rough, strict=True):
                if id(curve) not in taken and np.any(upper > values[1]):
                    values = np.maximum(values, curve.bounds(epsilons, gap))
        return values

    def _likely(self, rough: Sequence[tuple[Floats, Floats]]) -> list[Curve]:
        """The curves that may be the largest somewhere, by rough ends of them all."""
        best = np.max([lower for lower, _ in rough], axis=0)
        return [curve for curve, (_, upper) in zip(self.curves, rough, strict=True) if np.any(upper >= best)]

    def meets(self, delta: float) -> float:
        """Where this end comes down to ``delta``; see ``crossing``.

        Any of the curves is a lower end. So those that can be the largest at one epsilon are taken
        for those that can be at another close by, and the others are not looked at again.
        """
        if self.end == "upper" or len(self.curves) == 1:
            return crossing(self.ends, delta, self.ceiling, end=self.end)
        seen, likely = math.inf, self.curves

        def nearby(epsilons: Floats, gap: float) -> tuple[Floats, Floats]:
            nonlocal seen, likely
            if epsilons.size > 1 or epsilons[0] >= self.ceiling:
                return self.ends(epsilons, gap)
            if gap >= ROUGH_GAP or abs(epsilons[0] - seen) > NEARBY * seen:
                rough = [curve.bounds(epsilons, ROUGH_GAP) for curve in self.curves]
                seen, likely = float(epsilons[0]), self._likely(rough)
                if gap >= ROUGH_GAP:
                    lower, upper = np.max(rough, axis=0)
                    return lower, upper
            found = [curve.bounds(epsilons, gap) for curve in likely]
            lower, upper = np.max(found, axis=0)
            # What turns out to be far below the largest will be so nearby.
            likely = [curve for curve, (_, high) in zip(likely, found, strict=True) if high[0] >= FAR_BELOW * lower[0]]
            return lower, upper

        return crossing(nearby, delta, self.ceiling, end="lower")

    def best(self, epsilon: float) -> Curve:
        """The curve that is largest at epsilon, to rough accuracy."""
        values = [curve.bounds(np.array([epsilon]), ROUGH_GAP)[self.end == "upper"][0] for curve in self.curves]
        return self.curves[int(np.argmax(values))]


@dataclass(frozen=True, slots=True)
class Smallest:
    """The smallest of several upper ends of one curve; 0 from ``ceiling`` on."""

    envelopes: Sequence[Envelope]
    ceiling: float = math.inf

    def __call__(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        """The upper end at every epsilon >= 0."""
        return self.ends(epsilons, gap)[1]

    def ends(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """Both ends of the smallest envelope; each is computed closely where it can win."""
        epsilons = np.asarray(epsilons, dtype=np.float64)
        if not self.envelopes:
            return np.zeros_like(epsilons), np.zeros_like(epsilons)
        if len(self.envelopes) == 1:
            return self.envelopes[0].ends(epsilons, gap)
        if gap >= MANY_POINTS_GAP and epsilons.size > PROBED and (quick := self._quick()):
            return Smallest(quick, self.ceiling).ends(epsilons, gap)
        first = gap if gap >= MANY_POINTS_GAP else ROUGH_GAP
        found = np.array([envelope.ends(epsilons, first) for envelope in self.envelopes])
        if gap < first:
            hopeful = found[:, 0] <= found[:, 1].min(axis=0)
            for values, envelope, chosen in zip(found, self.envelopes, hopeful, strict=True):
                if chosen.any():
                    values[:, chosen] = envelope.ends(epsilons[chosen], gap)
        return found[:, 0].min(axis=0), found[:, 1].min(axis=0)

    def _quick(self) -> list[Envelope]:
        """Those that many points can be asked of, if others cannot: any theorem is valid."""
        slow = [any(getattr(curve, "slow", False) for curve in envelope.curves) for envelope in self.envelopes]
        return [envelope for envelope, long in zip(self.envelopes, slow, strict=True) if not long] if any(slow) else []

    def meets(self, delta: float) -> float:
        """Where the upper end comes down to ``delta``; see ``crossing``."""
        return crossing(self.ends, delta, self.ceiling, end="upper")

    def best(self, epsilon: float) -> int:
        """The number of the envelope that is smallest at epsilon, to rough accuracy."""
        at = np.array([min(epsilon, 0.9 * self.ceiling)])
        return int(np.argmin([envelope(at, ROUGH_GAP)[0] for envelope in self.envelopes]))


def minorant(x: Floats, lower: Floats, upper: Floats) -> Floats:
    """Values v <= lower such that the polygon through (x, v) stays below every convex curve inside
    the band.

    On an interval a convex curve lies above the extensions of the chords of the two neighboring
    intervals; the polygon is lowered by the most that these leave open. The first and the last
    point are treated as if the curve went on with slope -1 and 0, which bound the slope of every
    hockey-stick curve.
    """
    distinct = np.flatnonzero(np.diff(x, prepend=-np.inf) > 0.0)
    if distinct.size < x.size:  # points so close that they are one
        return minorant(x[distinct], lower[distinct], upper[distinct])[
            np.searchsorted(distinct, np.arange(x.size), side="right") - 1
        ]
    width = np.diff(x)
    growth = width[1:] / width[:-1]
    # Rises over each interval, not slopes: over e^epsilon a slope may be too small for a float
    # where a rise is not.
    rise = np.diff(lower)
    # Of the chord before, extended; at least.
    steepest = np.concatenate([-width[:1], (lower[1:-1] - upper[:-2]) * growth])
    flattest = np.concatenate([(upper[2:] - lower[1:-1]) / growth, [0.0]])  # of the chord after, extended; at most
    left = np.maximum(rise - steepest, 0.0)
    right = np.maximum(np.minimum(flattest, 0.0) - rise, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        depth = np.where(left + right > 0.0, left * (right / (left + right)), 0.0)
    lowered = lower - np.maximum(np.concatenate([depth, [0.0]]), np.concatenate([[0.0], depth]))
    # Where a vertex would be negative, the polygon must already be 0 one vertex before: raising one
    # end of a chord is not safe.
    negative = np.flatnonzero(lowered < 0.0)
    if negative.size:
        lowered[max(negative[0] - 1, 0) :] = 0.0
    return np.asarray(lowered)


def convex(epsilons: Floats, values: Floats) -> Floats:
    """The lower convex hull, in x = e^epsilon, of values at ascending epsilons; it never rises.

    A convex curve below upper values at the points is below their hull, and a hull is below its
    values: it keeps both ends valid.
    """
    x = np.expm1(epsilons - epsilons[0])
    values = np.minimum.accumulate(values)
    corner = lower_hull(x, values)
    return np.asarray(np.maximum(np.interp(x, x[corner], values[corner]), 0.0))


def lower_hull(x: Floats, y: Floats) -> NDArray[np.intp]:
    """Indices of the lower convex hull, x strictly ascending (Andrew's monotone chain)."""
    hull, slopes = [0], [-np.inf]
    for i in range(1, x.size):
        slope = (y[i] - y[hull[-1]]) / (x[i] - x[hull[-1]])
        while slope <= slopes[-1]:
            hull.pop()
            slopes.pop()
            slope = (y[i] - y[hull[-1]]) / (x[i] - x[hull[-1]])
        hull.append(i)
        slopes.append(slope)
    return np.array(hull)
