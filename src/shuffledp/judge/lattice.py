"""The law of a sum on a lattice, by one Fourier transform, with its error on the side that is asked
for, and the needle in the haystack summed so: slow, general, and with both ends of its own error.

A law on centre + step * places is tilted by e^(tilt y), so that the sums that matter are the
frequent ones. On a lattice the law of a sum of n draws is a power of a polynomial: transform, raise
to the n-th power by repeated squaring, transform back. What the lattice leaves out is bounded by
Bernstein's and Chernoff's inequalities, what floating point loses by the size of the numbers that
were rounded.

A view of n positions, each holding an item of class c with probability ``hay[c]`` and nothing
otherwise, has (docs/theory.md, section 2)

    delta(eps) = 1/n E(G_1 + ... + G_n)_+ ,     G = (needle0[c] - e^eps needle1[c]) / hay[c] for
                                                class c, 0 for nothing.

y -> y_+ is convex, and so the G may be moved to a lattice in two ways. Splitting a value between
its two neighbors, keeping the mean, can only raise the expectation. Pooling a value with some of
the mass of the most frequent value, so that their common mean falls on the lattice, can only lower
it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import brentq

from shuffledp.judge.effort import TooLarge

Array = NDArray[np.float64]

OUTSIDE = 1e-13  # the tilted law's mass beyond the lattice
UNIT = 2.0**-52
MOST_POINTS = 1 << 23  # about 600 MB
FAINT = 1e-300
SLOPES, STEEP = 8.0 / 2.0 ** np.arange(6.0), 600.0  # of exponentials: per deviation of the sum, and at most


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """A law on centre + step * places."""

    centre: float
    step: float
    places: NDArray[np.int64]
    masses: Array

    @property
    def values(self) -> Array:
        """Where the masses sit."""
        return np.asarray(self.centre + self.step * self.places)


def tilted(values: Array, masses: Array, tilt: float) -> Array:
    """The law under the tilt e^(tilt y)."""
    weights = masses * np.exp(tilt * (values - values.max()))
    return np.asarray(weights / weights.sum())


def window(values: Array, masses: Array, n: int, tilt: float) -> tuple[float, float]:
    """An interval that the tilted sum leaves with probability at most OUTSIDE: all that it can
    reach, or Bernstein's inequality, or Chernoff's, at a few slopes.
    """
    weights = tilted(values, masses, tilt)
    mean, spread = float(weights @ values), float(values.max() - values.min())
    variance, log = n * float(weights @ (values - mean) ** 2), math.log(2.0 / OUTSIDE)
    reach = spread * log / 3.0 + math.sqrt((spread * log / 3.0) ** 2 + 2.0 * variance * log)
    slopes = SLOPES / (math.sqrt(variance) + FAINT)
    left, right = (
        min(reach, *(_chernoff(side * (values - mean), weights, n, log, slope) for slope in slopes))
        for side in (-1.0, 1.0)
    )
    return max(n * mean - left, n * float(values.min())), min(n * mean + right, n * float(values.max()))


def _chernoff(values: Array, weights: Array, n: int, log: float, slope: float) -> float:
    """What a sum of n draws exceeds with probability e^-log at most; any slope is valid."""
    top = slope * float(values.max())
    if not top < STEEP:
        return math.inf
    cumulant = math.log(math.fsum(weights * np.exp(slope * values))) + 16.0 * UNIT * (1.0 + top)
    return (n * cumulant + log) / slope


@dataclass(frozen=True, slots=True, eq=False)
class TiltedLaw:
    """The tilted law of a sum of n draws: ``chances`` of ``points``, each wrong by at most
    ``error``, all but OUTSIDE of them; and how to undo the tilt.
    """

    points: Array
    chances: Array
    error: float
    tilt: float
    log_mean: float  # log E e^(tilt sum)
    slack: float  # relative, of what is undone

    @classmethod
    def of(cls, law: Lattice, n: int, tilt: float) -> TiltedLaw:
        """One transform, whatever is then asked."""
        values, weights = law.values, tilted(law.values, law.masses, tilt)
        low, high = window(values, law.masses, n, tilt)
        first = math.floor((low - n * law.centre) / law.step)
        span = (high - low) / law.step
        if not span < 1.25 * MOST_POINTS:
            raise TooLarge(f"more than {MOST_POINTS} lattice points are needed for {n} draws")
        size = next_fast_len(math.ceil(span) + 2, real=True)
        one = np.zeros(size)
        np.add.at(one, law.places % size, weights)
        turns = rfft(one)
        powers = _power(turns, n)
        error = (
            16.0 * n * UNIT * math.log2(size + 1) * float(np.mean(np.abs(powers) / np.maximum(np.abs(turns), FAINT)))
        )  # the mean of |turns|^(n - 1)
        chances = np.roll(irfft(powers, size), -(first % size))
        points = (n * law.centre + first * law.step) + law.step * np.arange(size)
        slack = 1e-10 + 8.0 * UNIT * (n * (1.0 + tilt * float(np.abs(values).max())) + tilt * abs(first) * law.step)
        return cls(points, chances, error, tilt, n * _log_mean(values, law.masses, tilt), slack)

    def beyond(self, least: float) -> Array:
        """The points above ``least``."""
        return self.points[np.searchsorted(self.points, least, side="right") :]

    def expectation(self, weighed: Array, most: float, end: float, shift: float = 0.0) -> float:
        """E f(sum): its lower end for ``end`` = -1, its upper end for 1.

        ``weighed`` is f(y) e^(-tilt (y - shift)) at the last points, before which f is 0; it is
        nowhere above ``most``.
        """
        # not a dot product: its threads spend more time waiting for each other than adding
        total = float((self.chances[len(self.chances) - len(weighed) :] * weighed).sum()) + end * (
            self.error * float(weighed.sum()) + 2.0 * OUTSIDE * most
        )
        return (
            max(total, 0.0)
            * math.exp(self.log_mean - self.tilt * shift)
            * (1.0 + end * (self.slack + 8.0 * UNIT * self.tilt * abs(shift)))
        )


def expectation(law: Lattice, n: int, tilt: float, weighed: Callable[[Array], Array], most: float, end: float) -> float:
    """E f(sum of n draws): its lower end for ``end`` = -1, its upper end for 1. ``weighed(y)`` is
    f(y) e^(-tilt y) >= 0, and nowhere above ``most``.

    >>> coin = Lattice(0.0, 1.0, np.array([0, 1]), np.array([0.5, 0.5]))
    >>> round(expectation(coin, 2, 0.5, lambda y: np.exp(-0.5 * y) * (y > 1.5), 1.0, 1.0), 6)
    0.25
    """
    summed = TiltedLaw.of(law, n, tilt)
    return summed.expectation(weighed(summed.points), most, end)


def _log_mean(values: Array, masses: Array, tilt: float) -> float:
    """log E e^(tilt y), with all its digits where it is small."""
    top = float(np.abs(values).max())
    if tilt * top < 1.0:
        return math.log1p(math.fsum(masses * np.expm1(tilt * values)) + (math.fsum(masses) - 1.0))
    top = float(values.max())
    return tilt * top + math.log(math.fsum(masses * np.exp(tilt * (values - top))))


def _power(base: NDArray[np.complex128], n: int) -> NDArray[np.complex128]:
    """base^n by repeated squaring."""
    found = np.ones_like(base)
    while n:
        if n & 1:
            found = found * base
        n >>= 1
        if n:
            base = base * base
    return found


FEWEST_POINTS = 1 << 13
LEAST_TILT = 0.5  # times one standard deviation: without a tilt the far values of y_+ would count
LARGEST_TILT = 1e4  # times the largest value
NUDGE = 1.0 + 1e-12  # what is a multiple of the step but for rounding is one
HAIR = 0.02  # steps
CANDIDATES = 1 << 14  # steps tried, for one on which the values nearly fall


DIGITS = Context(prec=60)

Numbers = Sequence[float | Fraction]


def haystack_interval(
    hay: Numbers, needle0: Numbers, needle1: Numbers, n: int, eps: float, *, gap: float = 1e-3
) -> tuple[float, float]:
    """Two numbers with delta(eps) between them, about a relative ``gap`` apart. Every class needs
    some hay; ``hay`` may sum to less than 1.

    needle0 - e^eps needle1 may be a small difference of large numbers: it is taken in fractions,
    and only then rounded.

    >>> low, high = haystack_interval(
    ...     [0.25, 0.75], [0.75, 0.25], [0.25, 0.75], 2, 0.0
    ... )  # as in datasets.py: the other user holds 1
    >>> low <= 0.375 <= high
    True
    """
    shares, growth = [Fraction(each) for each in hay], Fraction(DIGITS.exp(Decimal(eps)))
    assert min(shares) > 0
    values = np.array(
        [
            float((Fraction(there) - growth * Fraction(back)) / share)
            for share, there, back in zip(shares, needle0, needle1, strict=True)
        ]
    )
    masses, absent = np.array([float(each) for each in shares]), float(1 - sum(shares))
    if absent > 4.0 * UNIT:
        masses, values = np.append(masses, absent), np.append(values, 0.0)
    low, high = mean_positive_part(values, masses / math.fsum(masses), n, gap=gap)
    return low / n, high / n


def mean_positive_part(values: Array, masses: Array, n: int, *, gap: float) -> tuple[float, float]:
    """Two numbers around E(sum of n independent draws)_+, for a mean of at most 0."""
    if values.max() <= 0.0:
        return 0.0, 0.0
    tilt = _tilt(values, masses, n)
    points = FEWEST_POINTS

    def ramp(sums: Array) -> Array:
        above: Array = np.maximum(sums, 0.0)
        return above * np.exp(-tilt * above)

    while points <= MOST_POINTS:
        step = _step(values, masses, n, tilt, points)
        pooled = _pooled(values, masses, step) if step else None
        if step and pooled:
            low, high = (
                expectation(law, n, tilt, ramp, 1.0 / (math.e * tilt), end)
                for law, end in ((pooled, -1.0), (_split(values, masses, step), 1.0))
            )
            if high <= low * (1.0 + gap):
                return low, high
        points *= 4
    raise TooLarge(f"more than {MOST_POINTS} lattice points are needed for n = {n}")


def _tilt(values: Array, masses: Array, n: int) -> float:
    """lam > 0 with the tilted mean at about 0; the answer would be right with any."""

    def mean(lam: float) -> float:
        return float(tilted(values, masses, lam) @ values)

    least = LEAST_TILT / math.sqrt(n * float(masses @ (values - masses @ values) ** 2))
    most = least
    while mean(most) < 0.0 and most * values.max() < LARGEST_TILT:
        most *= 2.0
    return float(brentq(mean, most / 2.0, most)) if most > least and mean(most) > 0.0 else most


def _step(values: Array, masses: Array, n: int, tilt: float, points: int) -> float | None:
    """A step for at most ``points`` points, such that the values nearly fall on the lattice; None
    if that is too coarse for the largest value.
    """
    low, high = window(values, masses, n, tilt)
    distances = np.abs(values - values[int(np.argmax(masses))])
    weights = tilted(values, masses, tilt)
    main = float(distances[int(np.argmax(weights * distances**2))])
    most = int(main * points / (high - low))
    if most < 1:
        return None
    steps = main / np.unique(np.linspace(max(1, most // 4), most, min(CANDIDATES, most)).astype(np.int64))
    parts = distances[:, None] / steps
    left = np.maximum(parts - np.floor(parts * NUDGE), 0.0)
    lost = weights @ (distances[:, None] * left * steps + left * (1.0 - left) * steps**2)
    return float(steps[int(np.argmin(lost))])


def _pooled(values: Array, masses: Array, step: float) -> Lattice | None:
    """Lower: values nearer than a step join the anchor, the most frequent one; the others move
    towards it, each with some of its mass.

    Mass h at distance d and mass h (d / d' - 1) at distance 0 have their common mean at d' < d.
    None if the anchor has too little mass, or moves too far.
    """
    near = np.abs(values - values[int(np.argmax(masses))]) < step * (2.0 - NUDGE)
    centre = float(values[near] @ masses[near]) / float(masses[near].sum())
    distances, far = values[~near] - centre, masses[~near]
    parts = np.abs(distances) / step
    # By a hair, as the centre has moved: a slightly smaller step puts these back on the lattice.
    missed = parts < np.rint(parts)
    step *= float(np.min((parts / np.rint(parts))[missed & (np.rint(parts) - parts < HAIR)], initial=1.0))
    places = np.trunc(distances / step * NUDGE).astype(np.int64)
    if not places.all():
        return None
    moved = far * distances / (places * step)
    rest = 1.0 - math.fsum(moved)
    return Lattice(centre, step, np.append(places, 0), np.append(moved, rest)) if rest >= 0.0 else None


def _split(values: Array, masses: Array, step: float) -> Lattice:
    """Upper: every value is shared between its two neighbors on the lattice, keeping its mean."""
    centre = float(values[int(np.argmax(masses))])
    parts = (values - centre) / step
    below = np.floor(parts * NUDGE)
    up = np.maximum(parts - below, 0.0)
    return Lattice(
        centre,
        step,
        np.concatenate([below, below + 1.0]).astype(np.int64),
        np.concatenate([masses * (1.0 - up), masses * up]),
    )
