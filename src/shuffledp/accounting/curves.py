"""Answers and curves: the interval type, the envelope of several curves, and the epsilon at which a
curve meets delta.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from shuffledp._types import End, Floats
from shuffledp.accounting.accuracy import CLOSE, DEFAULT_GAP, MANY_POINTS_GAP, ROUGH_GAP, SOLVE_GAP, WALL_GAP, WORTH
from shuffledp.accounting.bisection import halve, mean
from shuffledp.accounting.reductions import Curve
from shuffledp.errors import LARGEST_EPSILON, InvalidInput
from shuffledp.randomizers.gaussian_delta import gaussian_delta_roughly
from shuffledp.wording import rounded

__all__ = ["Band", "Bound", "Envelope", "Smallest", "convex", "crossing", "lower_hull", "meets", "minorant"]

NEARBY = 0.01  # relative: epsilons so close have the same largest curve
PROBED = 16  # points at which curves compete for a long list of them
LOOKS, LOOKED_AT = 4, 16  # how often, and at how many points, where the ends of a curve leave room


class _Asked:
    """Where a bound keeps its question: no field, so that a bound is pickled, copied, compared and
    written as it always was.
    """

    __slots__ = ("_question",)


@dataclass(frozen=True, slots=True, repr=False)
class Bound(_Asked):
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
        """Both ends, rounded to the safe side."""
        return f"Bound(lower={_shown(self.lower, up=False)}, upper={_shown(self.upper, up=True)})"

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
    def question(self) -> Provable | None:
        """What it answers; None if that is not known."""
        return getattr(self, "_question", None)

    def answering(self, question: Provable | None) -> Bound:
        """The same bound, which knows what it answers."""
        made = replace(self)
        object.__setattr__(made, "_question", question)
        return made

    def proven(self) -> Proof:
        """Both ends once more in ball arithmetic, by other code, with every rounding error inside a
        radius (the extra ``shuffledp[arb]``). For one round.
        """
        if self.question is None:
            raise InvalidInput(
                f"a bound must know its question to be proven, got {self!r} alone. Ask again, "
                "survey.epsilon(delta=1e-6).proven(): a bound that was stored, or built by hand, has none."
            )
        return self.question.proven(self)


class Provable(Protocol):
    """What a bound answers."""

    def proven(self, bound: Bound) -> Proof:
        """The proof of ``bound`` in ball arithmetic."""


@dataclass(frozen=True, slots=True)
class ProvenEnd:
    """One end of a bound: ``value`` is proven and, if ``as_given``, is the one asked about.

    ``delta`` encloses delta: at the epsilon ``value`` if epsilon was asked for, else at the epsilon
    of the question. For an upper end it is the theorem's delta, for a lower end a dataset's.
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
    """A certified curve: at every point of ``at`` the true value lies between ``lower`` and
    ``upper``.
    """

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
        """Both numerical ends of the largest curve; where many curves compete, only those that can
        win are computed closely.
        """
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
            lower, upper = np.max([curve.bounds(epsilons, gap) for curve in likely], axis=0)
            return lower, upper

        return crossing(nearby, delta, self.ceiling, end="lower")

    def best(self, epsilon: float) -> Curve:
        """The curve that is largest at epsilon, to rough accuracy."""
        values = [curve.bounds(np.array([epsilon]), ROUGH_GAP)[self.end == "upper"][0] for curve in self.curves]
        return self.curves[int(np.argmax(values))]


@dataclass(frozen=True, slots=True)
class Smallest:
    """The smallest of several envelopes, each an upper end of the same curve; 0 from ``ceiling``
    on.
    """

    envelopes: Sequence[Envelope]
    ceiling: float = math.inf

    def __call__(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        """The upper end at every epsilon >= 0."""
        return self.ends(epsilons, gap)[1]

    def ends(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """Both numerical ends of the smallest envelope; where several compete, each is computed
        closely only where it can win.
        """
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


def meets(delta_at: Callable[[float, float], float], delta: float, ceiling: float, *, end: End) -> float:
    """``crossing`` for a curve of which ``delta_at(epsilon, gap)`` is the one end that counts, and
    which is known to fall as its values do.
    """

    def band(epsilons: Floats, gap: float) -> tuple[Floats, Floats]:
        values = np.array([delta_at(float(epsilon), gap) for epsilon in epsilons])
        unknown = np.zeros_like(values) if end == "upper" else np.ones_like(values)
        other = values if gap <= SOLVE_GAP else unknown
        return (values, other) if end == "lower" else (other, values)

    return crossing(band, delta, ceiling, end=end)


def crossing(
    band: Callable[[Floats, float], tuple[Floats, Floats]], delta: float, ceiling: float, *, end: End
) -> float:
    """Where a falling curve comes down to ``delta``, on the safe side, and nearly as close as its
    ends allow.

    ``band(epsilons, gap)`` are a lower and an upper end of the curve, which need not fall
    themselves. For end="upper" the result e is a point at which the upper end is at most delta; for
    end="lower" the lower end exceeds delta there, so that the true epsilon is at least e (or e =
    0). Values at rough accuracy only say where to look. The curve itself falls: where its lower end
    exceeds delta nothing smaller will do, and where its upper end is below delta nothing larger.
    Whatever these two do not rule out is searched.
    """
    search = _Search(band, delta, ceiling, end)
    gap, start = ROUGH_GAP, search.value(0.0, ROUGH_GAP)
    if start <= 2.0 * delta:
        gap, start = ROUGH_GAP if start > 1.1 * delta else SOLVE_GAP, search.value(0.0, SOLVE_GAP)
    if start <= delta or search.closed:
        return 0.0
    low, high = _bracket(lambda e: search.excess(e, gap), _gaussian_guess(start, delta), ceiling)
    if math.isfinite(high):
        root, slope = _false_position(lambda e: search.excess(e, gap), low, high)
        search.polish(root, slope, *sorted((search.best, search.wall)))
    search.widen()
    return search.best


class _Search:
    """What is known so far: the best point on the safe side, and the wall on its other side beyond
    which there is none.
    """

    def __init__(
        self, band: Callable[[Floats, float], tuple[Floats, Floats]], delta: float, ceiling: float, end: End
    ) -> None:
        self.band, self.delta, self.target, self.end = band, delta, math.log(delta), end
        self.sign = 1.0 if end == "upper" else -1.0
        self.ceiling = ceiling
        self.asked: dict[tuple[float, float], float] = {}
        self.best, self.wall = (ceiling, 0.0) if end == "upper" else (0.0, min(ceiling, LARGEST_EPSILON))

    @property
    def closed(self) -> bool:
        """Whether no point that is better by more than ``WORTH`` is left."""
        return self.sign * (self.best - self.wall) <= WORTH * min(self.best, self.wall)

    def values(self, epsilons: Floats, gap: float) -> Floats:
        """The end that counts, and note what follows from it."""
        ends = self.band(epsilons, gap)
        counts, other = ends if self.end == "lower" else ends[::-1]
        safe = (
            counts <= self.delta if self.end == "upper" else counts > self.delta
        )  # at delta itself a curve may be flat, and met before
        hopeless = self.sign * (other - self.delta) > 0.0
        if self.end == "upper":
            self.best, self.wall = (
                min([self.best, *epsilons[safe].tolist()]),
                max([self.wall, *epsilons[hopeless].tolist()]),
            )
        else:
            self.best, self.wall = (
                max([self.best, *epsilons[safe].tolist()]),
                min([self.wall, *epsilons[hopeless].tolist()]),
            )
        return np.where(np.isnan(counts), self.sign * math.inf, counts)  # never good

    def value(self, epsilon: float, gap: float) -> float:
        """The same at one point; nothing is computed twice."""
        if (epsilon, gap) not in self.asked:
            self.asked[epsilon, gap] = float(self.values(np.array([epsilon]), gap)[0])
        return self.asked[epsilon, gap]

    def excess(self, epsilon: float, gap: float) -> float:
        """log of the end that counts over delta."""
        value = self.value(epsilon, gap)
        return math.log(value) - self.target if value > 0.0 else -math.inf

    def polish(self, epsilon: float, slope: float, low: float, high: float) -> None:
        """From near a root to the closest point on its safe side: secant steps inside a bracket,
        halving where they leave it.

        The steps are taken in t = -ceiling log(1 - epsilon / ceiling), in which log delta has a
        finite slope where delta vanishes, too.
        """
        t, low, high = (self._stretched(e) for e in (epsilon, low, high))
        slope *= math.exp(-t / self.ceiling)
        before: tuple[float, float] | None = None
        for attempt in range(60):
            value = self.excess(self._shrunk(t), SOLVE_GAP)
            if -CLOSE * 2.0 ** min(max(attempt - 4, 0), 5) <= self.sign * value <= 0.0:  # as far aside as the steps aim
                break
            low, high = (t, high) if value > 0.0 else (low, t)
            if math.isfinite(high) and self._shrunk(high) - self._shrunk(low) <= 1e-12 * self._shrunk(high):
                break
            if before is not None and math.isfinite(value) and math.isfinite(before[1]) and t != before[0]:
                slope = min((value - before[1]) / (t - before[0]), -1e-6 / max(t, 1e-300))
            before = (t, value)
            aside = self.sign * 0.5 * CLOSE * 2.0 ** max(attempt - 4, 0) / abs(slope)
            step = t - value / slope + aside if math.isfinite(value) else math.nan
            wide = high if math.isfinite(high) else min(2.0 * max(t, low, min(self.ceiling, 1.0)), LARGEST_EPSILON)
            t = step if low < step < wide and attempt % 8 < 6 else 0.5 * (low + wide)

    def _stretched(self, epsilon: float) -> float:
        if math.isinf(self.ceiling):
            return epsilon
        return -self.ceiling * math.log1p(-epsilon / self.ceiling) if epsilon < self.ceiling else math.inf

    def _shrunk(self, t: float) -> float:
        return t if math.isinf(self.ceiling) else -self.ceiling * math.expm1(-t / self.ceiling)

    def widen(self) -> None:
        """Close in on the best point from the other side; if that is not possible, look everywhere
        between the two, until nothing better is found.
        """
        for gap in (WALL_GAP, SOLVE_GAP):
            if not self.closed and 0.0 < self.best < LARGEST_EPSILON:
                self.value(self.best * (1.0 - self.sign * 0.8 * WORTH), gap)
        for _ in range(LOOKS):
            if self.closed:
                return
            before = self.best
            low, high = sorted((self.best, min(self.wall, LARGEST_EPSILON)))
            points = np.linspace(low, min(high, LARGEST_EPSILON), LOOKED_AT + 1)[1:]
            values = self.values(points, SOLVE_GAP)
            if self.best == before or self.closed:
                return
            found = int(np.flatnonzero(points == self.best)[0])
            beside = found - int(self.sign)
            (left, f_left), (right, f_right) = sorted(
                (float(points[i]), float(values[i])) if 0 <= i < points.size else (low, math.inf)
                for i in (found, beside)
            )
            known = 0.0 < f_right < f_left < math.inf
            slope = math.log(f_right / f_left) / (right - left) if known else -1.0 / right
            self.polish(
                left + math.log(self.delta / f_left) / slope if known else 0.5 * (left + right), slope, left, right
            )


def _gaussian_guess(total_variation: float, delta: float) -> float:
    """The epsilon of the Gaussian mechanism with this total variation at ``delta``: where to look
    first.
    """
    near = math.sqrt(2.0 * math.pi) * total_variation
    mu = near if total_variation < 1e-8 else 2.0 * float(ndtri(min(0.5 + total_variation / 2.0, 1.0 - 1e-16)))
    farthest = 60.0 * mu + mu * mu
    guess, _ = halve(lambda e: gaussian_delta_roughly(mu, e) <= delta, farthest, 0.0, middle=mean, steps=40)
    return guess


def _bracket(excess: Callable[[float], float], guess: float, ceiling: float) -> tuple[float, float]:
    """Points with excess > 0 and excess <= 0 around a guess."""
    low, high = 0.0, min(max(1.1 * guess, 1e-300), ceiling, LARGEST_EPSILON)
    while high < ceiling and excess(high) > 0.0:
        low, high = high, min(1.5 * high, ceiling)
        if high > LARGEST_EPSILON:
            return low, math.inf
    below = 0.85
    while low == 0.0 and high > 1e-280:
        middle, below = below * high, below**2
        low, high = (middle, high) if excess(middle) > 0.0 else (0.0, middle)
    return low, high


def _false_position(excess: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Near the root between low and high, and the slope there (false position with the Illinois
    weights).
    """
    f_low, f_high = excess(low), excess(high)
    w_low, w_high = f_low, f_high
    middle = high
    for _ in range(60 if high > low else 0):
        middle = (
            low - w_low * (high - low) / (w_high - w_low)
            if math.isfinite(w_high) and w_high != w_low
            else 0.5 * (low + high)
        )
        middle = min(max(middle, low + 0.02 * (high - low)), high - 0.02 * (high - low))
        value = excess(middle)
        if value > 0.0:
            low, f_low, w_low, w_high = middle, value, value, w_high / 2.0
        else:
            high, f_high, w_low, w_high = middle, value, w_low / 2.0, value
        if abs(value) < 0.2 or high - low < 1e-3 * high:
            break
    slope = (f_high - f_low) / (high - low) if math.isfinite(f_high) and high > low else -1.0 / high
    return middle, min(slope, -1e-3 / high)


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
    steepest = np.concatenate(
        [-width[:1], (lower[1:-1] - upper[:-2]) * growth]
    )  # of the chord before, extended; at least
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
    """The lower convex hull, in x = e^epsilon, of values at ascending epsilons; also made
    non-increasing.

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
