"""Balls: numbers with a radius that holds every rounding error, from Arb (python-flint)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from flint import arb, ctx

__all__ = ["Exact", "ball", "between", "ends", "largest", "midpoint", "positive_part", "precision"]

Exact = int | float | Fraction


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """So many bits for everything inside."""
    before, ctx.prec = ctx.prec, bits
    try:
        yield
    finally:
        ctx.prec = before


def ball(number: Exact | arb) -> arb:
    """A number as a ball: exact if its digits fit, else as narrow as the precision allows.

    >>> ball(Fraction(1, 3)).contains(arb(1) / 3)
    True
    """
    if isinstance(number, Fraction):
        return arb(number.numerator) / arb(number.denominator)
    return arb(number)


def between(low: arb, high: arb) -> arb:
    """A ball that holds both, and all that lies between them."""
    return low.union(high)


def positive_part(number: arb) -> arb:
    """max(number, 0), end by end."""
    if number >= 0:
        return number
    if number <= 0:
        return arb(0)
    return arb(0).union(number.upper())


def largest(numbers: list[arb]) -> arb:
    """The largest of several numbers, as a ball."""
    most = numbers[0]
    for each in numbers[1:]:
        most = most.max(each)
    return most


def midpoint(number: arb) -> float:
    """About where it is, as a float: to choose by, never to prove with."""
    return float(number.mid())


def ends(number: arb) -> tuple[float, float]:
    """The ball as two floats, rounded outwards; (-inf, inf) if nothing is known.

    >>> low, high = ends(ball(Fraction(1, 3)))
    >>> low < 1 / 3 <= high and high - low < 2e-16
    True
    """
    if not number.is_finite():
        return -math.inf, math.inf
    low, high = float(number.lower()), float(number.upper())
    while not arb(low) <= number.lower():
        low = math.nextafter(low, -math.inf)
    while not arb(high) >= number.upper():
        high = math.nextafter(high, math.inf)
    return low, high
