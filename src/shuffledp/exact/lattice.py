"""The law of a sum on a lattice, by one Fourier transform, with its error on the side that is asked for.

A law on centre + step * places is tilted by e^(tilt y), so that the sums that matter are the frequent ones. On a lattice the law of a sum of n draws is a
power of a polynomial: transform, raise to the n-th power by repeated squaring, transform back. What the lattice leaves out is bounded by Bernstein's
inequality, what floating point loses by the size of the numbers that were rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

__all__ = ["UNIT", "Array", "Lattice", "expectation", "tilted", "window"]

Array = NDArray[np.float64]

OUTSIDE = 1e-9  # the tilted law's mass beyond the lattice
UNIT = 2.0**-52


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
    """An interval that the tilted sum leaves with probability at most OUTSIDE: all that it can reach, or Bernstein's inequality."""
    weights = tilted(values, masses, tilt)
    mean, spread = float(weights @ values), float(values.max() - values.min())
    variance, log = n * float(weights @ (values - mean) ** 2), math.log(2.0 / OUTSIDE)
    reach = spread * log / 3.0 + math.sqrt((spread * log / 3.0) ** 2 + 2.0 * variance * log)
    return max(n * mean - reach, n * float(values.min())), min(n * mean + reach, n * float(values.max()))


def expectation(law: Lattice, n: int, tilt: float, weighed: Callable[[Array], Array], most: float, end: float) -> float:
    """E f(sum of n draws): its lower end for ``end`` = -1, its upper end for 1. ``weighed(y)`` is f(y) e^(-tilt y) >= 0, and nowhere above ``most``.

    >>> coin = Lattice(0.0, 1.0, np.array([0, 1]), np.array([0.5, 0.5]))
    >>> round(expectation(coin, 2, 0.5, lambda y: np.exp(-0.5 * y) * (y > 1.5), 1.0, 1.0), 6)
    0.25
    """
    values, weights = law.values, tilted(law.values, law.masses, tilt)
    low, high = window(values, law.masses, n, tilt)
    first = math.floor((low - n * law.centre) / law.step)
    size = next_fast_len(math.ceil((high - low) / law.step) + 2, real=True)
    one = np.zeros(size)
    np.add.at(one, law.places % size, weights)
    turns = rfft(one)
    error = 16.0 * n * UNIT * math.log2(size + 1) * float(np.mean(np.abs(turns) ** (n - 1)))  # of every probability below
    chances = np.roll(irfft(_power(turns, n), size), -(first % size))
    seen = weighed((n * law.centre + first * law.step) + law.step * np.arange(size))
    total = float(chances @ seen) + end * (error * float(seen.sum()) + 2.0 * OUTSIDE * most)
    slack = 1e-10 + 8.0 * UNIT * (n * (1.0 + tilt * float(np.abs(values).max())) + tilt * abs(first) * law.step)
    return max(total, 0.0) * math.exp(n * _log_mean(values, law.masses, tilt)) * (1.0 + end * slack)


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
