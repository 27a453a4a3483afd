"""Confidence limits from their definition: the counts that a test does not reject, found by
halving.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from shuffledp.collection.verify.effort import MOST_STRAY_VOTES, TooLarge
from shuffledp.literature.exact.lattice import Array

__all__ = ["among", "bernstein", "rare", "rare_signed", "score"]

HALVINGS = 80  # more than floats have digits


def score(
    values: Array, base: Array, slope: Array, skew: Array, tail: float, half: float | Array = 0.0
) -> tuple[Array, Array]:
    """Where |values - c - shift| = z sqrt(base + slope c) + half: the normal test, its shift the
    first Cornish-Fisher term, and half of what two neighboring numbers of votes differ in.
    """
    z = -float(ndtri(tail))
    ends = []
    for side in (-1.0, 1.0):
        centre = values - (z * z - 1.0) / 6.0 * skew + side * half

        def inside(c: Array, centre: Array = centre) -> NDArray[np.bool_]:
            return np.asarray((centre - c) ** 2 <= z * z * (base + slope * c))

        far = 4.0 * z * np.sqrt(np.abs(base) + np.abs(slope * centre)) + 4.0 * (z * slope) ** 2 + 1.0
        turn = centre + z * z * slope / 2.0  # the middle of the parabola's roots: inside, if any point is
        good, bad = turn.copy(), turn + side * far
        for _ in range(HALVINGS):
            middle = 0.5 * (good + bad)
            kept = inside(middle) & inside(turn)
            good, bad = np.where(kept, middle, good), np.where(kept, bad, middle)
        ends.append(good)
    return np.minimum(ends[0], values), np.maximum(ends[1], values)


def rare(votes: int, n: int, hit: float, miss: float, tail: float) -> tuple[float, float]:
    """The least count c with P(S >= votes) > tail and the largest with P(S <= votes) > tail, for S
    = Bin(c, hit) + Bin(n - c, miss).

    >>> rare(1, 6, 0.787, 0.1065, 0.025)
    (0.0, 4.0)
    """
    from scipy.stats import binom  # slow to import, and needed where votes are few only

    if hit + miss > 1.0:  # whoever does not vote for it is rarer
        low, high = rare(n - votes, n, 1.0 - miss, 1.0 - hit, tail)
        return n - high, n - low

    def beyond(c: int, least: int) -> float:
        """P(S >= least)."""
        stray = _strays(n - c, miss)
        if not len(stray) < MOST_STRAY_VOTES:
            raise TooLarge(f"{len(stray)} stray votes are too many to be summed over")
        return min(1.0, float(binom.pmf(stray, n - c, miss) @ binom.sf(least - stray - 1, c, hit)))

    low = _first(lambda c: beyond(c, votes) > tail, n)
    high = _first(lambda c: beyond(c, votes + 1) >= 1.0 - tail, n + 1) - 1
    return float(low), float(max(high, 0))


def rare_signed(votes: int, cast: int, n: int, hit: float, tail: float) -> tuple[float, float]:
    """Votes for and against, as Hadamard response casts them: limits for how many of the ``cast``
    votes are the holders', then for the holders.
    """
    from scipy.stats import binom

    against, half = (cast - votes) // 2, tail / 2.0
    least = _first(lambda noise: float(binom.sf(against - 1, noise, 0.5)) > half, cast)
    most = _first(lambda noise: float(binom.sf(against, noise, 0.5)) >= 1.0 - half, cast + 1) - 1
    own = cast - min(least, cast)
    held = _first(lambda c: float(binom.sf(own, c, hit)) >= 1.0 - half, n + 1) - 1
    return float(cast - max(most, 0)), float(max(held, 0))


def among(votes: int, n: int, hit: float, miss: float, fakes: tuple[int, Array], tail: float) -> tuple[float, float]:
    """The same as ``rare`` where a number of fakes is among the votes: its first value, and the
    chances of that one and the next.

    >>> among(9, 20, 1.0, 0.0, (2, np.array([0.25, 0.5, 0.25])), 0.1)
    (5.0, 7.0)
    """
    from scipy.stats import binom

    first, chances = fakes

    def beyond(c: int, least: int) -> float:
        """P(S >= least)."""
        numbers = chances
        if miss:
            stray = _strays(n - c, miss)
            if not len(stray) * len(chances) < 100 * MOST_STRAY_VOTES:
                raise TooLarge(f"{len(stray)} stray votes among fakes are too many to be summed over")
            numbers = np.convolve(binom.pmf(stray, n - c, miss), chances)
        return float(numbers @ binom.sf(least - first - np.arange(len(numbers)) - 1, c, hit))

    low = _first(lambda c: beyond(c, votes) > tail, n)
    high = _first(lambda c: beyond(c, votes + 1) >= 1.0 - tail, n + 1) - 1
    return float(low), float(max(high, 0))


def _strays(others: int, miss: float) -> NDArray[np.intp]:
    """How many of the others may vote for a value: more do with a probability below 1e-16
    (Bernstein).
    """
    mean = others * miss
    return np.arange(min(others, math.ceil(mean + 9.0 * math.sqrt(mean) + 40.0)) + 1)


def bernstein(variance: Array, linear: Array, strength: float) -> Array:
    """The largest t with t^2 / (2 (variance + linear t)) at most the strength."""
    middle = strength * linear
    return np.asarray(middle + np.sqrt(np.maximum(middle**2 + 2.0 * strength * variance, 0.0)))


def _first(fits: Callable[[int], bool], most: int) -> int:
    """The first number from 0 on that fits, given that all later ones do; ``most`` if none before
    does.
    """
    low, high = 0, most
    for _ in range(math.ceil(math.log2(most + 2)) + 1):
        if low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if fits(middle) else (middle + 1, high)
    return low
