"""Answers and curves: the interval type, the envelope of several curves, and the epsilon at which a curve meets delta."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr, ndtri

from shuffledp.haystack import DEFAULT_GAP
from shuffledp.randomizers.base import End, Floats
from shuffledp.reductions import Curve

__all__ = ["SOLVE_GAP", "Band", "Bound", "Envelope", "convex", "lower_hull", "meets", "minorant"]

LARGEST = 700.0  # e to the power of more is no float
SOLVE_GAP = 1e-7  # for the epsilon that meets a delta, and for profiles
CLOSE = 2e-7  # how near log delta comes to its target
ROUGH_GAP = 1e-3  # for finding where to look


@dataclass(frozen=True, slots=True)
class Bound:
    """An interval that contains the true value, and why.

    >>> bound = Bound(0.1, 0.25, method="an example")
    >>> 0.2 in bound, bound.width
    (True, 0.15)
    """

    lower: float
    upper: float
    method: str = ""
    assumptions: tuple[str, ...] = ()

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


class Band(NamedTuple):
    """A certified curve: at every point of ``at`` the true value lies between ``lower`` and ``upper``."""

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
        """The end at every epsilon >= 0; where many curves compete, only those that can win are computed closely."""
        epsilons = np.asarray(epsilons, dtype=np.float64)
        values = np.zeros_like(epsilons)
        live = np.flatnonzero(epsilons < self.ceiling)
        if live.size:
            curves = self._contenders(epsilons[live], gap)
            values[live] = np.max([curve.bounds(epsilons[live], gap)[self.end == "upper"] for curve in curves], axis=0)
        return values

    def _contenders(self, epsilons: Floats, gap: float) -> Sequence[Curve]:
        if len(self.curves) == 1 or gap >= ROUGH_GAP:
            return self.curves
        rough = [curve.bounds(epsilons, ROUGH_GAP) for curve in self.curves]
        best = np.max([lower for lower, _ in rough], axis=0)
        return [curve for curve, (_, upper) in zip(self.curves, rough, strict=True) if np.any(upper >= best)]

    def best(self, epsilon: float) -> Curve:
        """The curve that is largest at epsilon, to rough accuracy."""
        values = [curve.bounds(np.array([epsilon]), ROUGH_GAP)[self.end == "upper"][0] for curve in self.curves]
        return self.curves[int(np.argmax(values))]


def meets(delta_at: Callable[[float, float], float], delta: float, ceiling: float, *, end: End) -> float:
    """Where a decreasing curve falls to ``delta``, on the safe side.

    ``delta_at(epsilon, gap)`` is an upper (lower) end of the curve. For end="upper" the result e is checked to satisfy
    delta_at(e) <= delta; for end="lower", delta_at(e) >= delta, so that the true epsilon is at least e (or e = 0).
    """
    target = math.log(delta)

    def excess(epsilon: float, gap: float) -> float:
        value = delta_at(epsilon, gap)
        if math.isnan(value):  # never good
            return math.inf if end == "upper" else -math.inf
        return math.log(value) - target if value > 0.0 else -math.inf

    start = delta_at(0.0, ROUGH_GAP)
    if start <= 2.0 * delta and excess(0.0, SOLVE_GAP) <= 0.0:
        return 0.0
    low, high = _bracket(lambda epsilon: excess(epsilon, ROUGH_GAP), _gaussian_guess(start, delta), ceiling)
    if math.isinf(high):
        return ceiling if end == "upper" else low
    return _polish(lambda e: excess(e, SOLVE_GAP), *_false_position(lambda e: excess(e, ROUGH_GAP), low, high), ceiling, end)


def _polish(excess: Callable[[float], float], epsilon: float, slope: float, ceiling: float, end: End) -> float:
    """From near the root to the closest point on the safe side: secant steps inside a bracket, halving where they leave it."""
    sign = 1.0 if end == "upper" else -1.0
    low, high = 0.0, ceiling
    best = ceiling if end == "upper" else 0.0
    before: tuple[float, float] | None = None
    for attempt in range(80):
        value = excess(epsilon)
        if sign * value <= 0.0:  # on the safe side
            best = min(best, epsilon) if end == "upper" else max(best, epsilon)
            if abs(value) <= CLOSE:
                break
        low, high = (epsilon, high) if value > 0.0 else (low, epsilon)
        if math.isfinite(high) and high - low <= 1e-12 * high:
            break
        if before is not None and math.isfinite(value) and math.isfinite(before[1]) and epsilon != before[0]:
            slope = min((value - before[1]) / (epsilon - before[0]), -1e-6 / max(epsilon, 1e-300))
        before = (epsilon, value)
        step = epsilon - value / slope + sign * 0.5 * CLOSE * 2.0 ** max(attempt - 4, 0) / abs(slope) if math.isfinite(value) else math.nan
        wide = high if math.isfinite(high) else min(2.0 * max(epsilon, low), LARGEST)
        epsilon = step if low < step < wide and attempt % 8 < 6 else 0.5 * (low + wide)
    return best


def _gaussian_guess(total_variation: float, delta: float) -> float:
    """The epsilon of the Gaussian mechanism with this total variation at ``delta``: where to look first."""
    near = math.sqrt(2.0 * math.pi) * total_variation
    mu = near if total_variation < 1e-8 else 2.0 * float(ndtri(min(0.5 + total_variation / 2.0, 1.0 - 1e-16)))
    low, high = 0.0, 60.0 * mu + mu * mu
    for _ in range(40):
        middle = 0.5 * (low + high)
        value = float(ndtr(mu / 2.0 - middle / mu) - np.exp(middle + log_ndtr(-mu / 2.0 - middle / mu)))
        low, high = (middle, high) if value > delta else (low, middle)
    return high


def _bracket(excess: Callable[[float], float], guess: float, ceiling: float) -> tuple[float, float]:
    """Points with excess > 0 and excess <= 0 around a guess."""
    low, high = 0.0, min(max(1.1 * guess, 1e-300), ceiling, LARGEST)
    while high < ceiling and excess(high) > 0.0:
        low, high = high, min(1.5 * high, ceiling)
        if high > LARGEST:
            return low, math.inf
    below = 0.85
    while low == 0.0 and high > 1e-280:
        middle, below = below * high, below**2
        low, high = (middle, high) if excess(middle) > 0.0 else (0.0, middle)
    return low, high


def _false_position(excess: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Near the root between low and high, and the slope there (false position with the Illinois weights)."""
    f_low, f_high = excess(low), excess(high)
    w_low, w_high = f_low, f_high
    middle = high
    for _ in range(60):
        middle = low - w_low * (high - low) / (w_high - w_low) if math.isfinite(w_high) and w_high != w_low else 0.5 * (low + high)
        middle = min(max(middle, low + 0.02 * (high - low)), high - 0.02 * (high - low))
        value = excess(middle)
        if value > 0.0:
            low, f_low, w_low, w_high = middle, value, value, w_high / 2.0
        else:
            high, f_high, w_low, w_high = middle, value, w_low / 2.0, value
        if abs(value) < 0.2 or high - low < 1e-3 * high:
            break
    slope = (f_high - f_low) / (high - low) if math.isfinite(f_high) else -1.0 / high
    return middle, min(slope, -1e-3 / high)


def minorant(x: Floats, lower: Floats, upper: Floats) -> Floats:
    """Values v <= lower such that the polygon through (x, v) stays below every convex curve inside the band.

    On an interval a convex curve lies above the extensions of the chords of the two neighbouring intervals; the polygon is
    lowered by the most that these leave open. The first and the last point are treated as if the curve went on with slope
    -1 and 0, which bound the slope of every hockey-stick curve.
    """
    distinct = np.flatnonzero(np.diff(x, prepend=-np.inf) > 0.0)
    if distinct.size < x.size:  # points so close that they are one
        return minorant(x[distinct], lower[distinct], upper[distinct])[np.searchsorted(distinct, np.arange(x.size), side="right") - 1]
    width = np.diff(x)
    growth = width[1:] / width[:-1]
    # Rises over each interval, not slopes: over e^epsilon a slope may be too small for a float where a rise is not.
    rise = np.diff(lower)
    steepest = np.concatenate([-width[:1], (lower[1:-1] - upper[:-2]) * growth])  # of the chord before, extended; at least
    flattest = np.concatenate([(upper[2:] - lower[1:-1]) / growth, [0.0]])  # of the chord after, extended; at most
    left = np.maximum(rise - steepest, 0.0)
    right = np.maximum(np.minimum(flattest, 0.0) - rise, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        depth = np.where(left + right > 0.0, left * (right / (left + right)), 0.0)
    lowered = lower - np.maximum(np.concatenate([depth, [0.0]]), np.concatenate([[0.0], depth]))
    # Where a vertex would be negative, the polygon must already be 0 one vertex before: raising one end of a chord is not safe.
    negative = np.flatnonzero(lowered < 0.0)
    if negative.size:
        lowered[max(negative[0] - 1, 0) :] = 0.0
    return np.asarray(lowered)


def convex(epsilons: Floats, values: Floats) -> Floats:
    """The lower convex hull, in x = e^epsilon, of values at ascending epsilons; also made non-increasing.

    A convex curve below upper values at the points is below their hull, and a hull is below its values: it keeps both ends valid.
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
