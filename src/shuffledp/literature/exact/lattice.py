"""The law of a sum on a lattice, by one Fourier transform, with its error on the side that is asked
for.

A law on centre + step * places is tilted by e^(tilt y), so that the sums that matter are the
frequent ones. On a lattice the law of a sum of n draws is a power of a polynomial: transform, raise
to the n-th power by repeated squaring, transform back. What the lattice leaves out is bounded by
Bernstein's and Chernoff's inequalities, what floating point loses by the size of the numbers that
were rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

__all__ = ["MOST_POINTS", "UNIT", "Array", "Lattice", "Sum", "TooLarge", "expectation", "tilted", "window"]

Array = NDArray[np.float64]

OUTSIDE = 1e-13  # the tilted law's mass beyond the lattice
UNIT = 2.0**-52
MOST_POINTS = 1 << 23  # about 600 MB
FAINT = 1e-300
SLOPES, STEEP = 8.0 / 2.0 ** np.arange(6.0), 600.0  # of exponentials: per deviation of the sum, and at most


class TooLarge(Exception):
    """The lattice that would be needed is too long."""


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
class Sum:
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
    def of(cls, law: Lattice, n: int, tilt: float) -> Sum:
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
    summed = Sum.of(law, n, tilt)
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
