"""The one bisection: the epsilon at which a curve meets delta, on the safe side, and two points
brought together, one where a condition holds and one where it does not.

Not everything is halved here. ``curves`` follows a curve by secants, which needs a fifth of the
points; ``haystack.score_sum`` and ``mechanisms.exact_limits`` halve many intervals at once, row by
row; and what judges the others (``judge``, ``verify``) shares no code with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from scipy.special import ndtri

from shuffledp._types import End, Floats
from shuffledp.accounting.accuracy import CLOSE, ROUGH_GAP, SOLVE_GAP, WALL_GAP, WORTH
from shuffledp.errors import LARGEST_EPSILON
from shuffledp.randomizers.gaussian_delta import gaussian_delta_roughly

Number = TypeVar("Number", int, float)
STEPS = 2200  # more than it takes from the largest float to the smallest


def mean(good: float, bad: float) -> float:
    """Half-way."""
    return 0.5 * (good + bad)


def geometric(good: float, bad: float) -> float:
    """Half-way between two positive numbers whose order of magnitude is open."""
    return math.sqrt(good * bad)


def whole(good: int, bad: int) -> int:
    """Half-way between two whole numbers."""
    return (good + bad) // 2


def within(share: float) -> Callable[[float, float], bool]:
    """Whether two positive numbers differ by at most a share of the smaller one."""
    return lambda good, bad: max(good, bad) <= (1.0 + share) * min(good, bad)


def halve(
    fits: Callable[[Number], bool],
    good: Number,
    bad: Number,
    *,
    middle: Callable[[Number, Number], Number],
    close: Callable[[Number, Number], bool] | None = None,
    steps: int = STEPS,
) -> tuple[Number, Number]:
    """Bring ``good``, where ``fits`` holds, and ``bad``, where it does not, together, and return
    both; either may be the larger. Neither is asked again.

    It ends when they are ``close``, after so many ``steps``, or when nothing lies between them.

    >>> halve(lambda x: x * x >= 2.0, 2.0, 1.0, middle=mean)
    (1.4142135623730951, 1.414213562373095)
    >>> halve(lambda i: i * i <= 2000, 0, 2000, middle=whole)
    (44, 45)
    """
    for _ in range(steps):
        if close is not None and close(good, bad):
            break
        between = middle(good, bad)
        if between in (good, bad):
            break
        if fits(between):
            good = between
        else:
            bad = between
    return good, bad


LOOKS, LOOKED_AT = 4, 16  # how often, and at how many points, where the ends of a curve leave room


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
    """Where a falling curve meets ``delta``, on the safe side, and as close as its ends allow.

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
    """What is known: the best point on the safe side, and the wall beyond which none is."""

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
        # At delta itself a curve may be flat, and met before.
        safe = counts <= self.delta if self.end == "upper" else counts > self.delta
        hopeless = self.sign * (other - self.delta) > 0.0
        nearer, farther = (min, max) if self.end == "upper" else (max, min)
        self.best = nearer([self.best, *epsilons[safe].tolist()])
        self.wall = farther([self.wall, *epsilons[hopeless].tolist()])
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
        """From near a root to its safe side: secant steps inside a bracket, or else halving.

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
    """The epsilon at ``delta`` of the Gaussian mechanism with this total variation."""
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
    """Near the root in between, and the slope there (false position, Illinois weights)."""
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
