"""Gaussian noise that runs as integers: what a report adds is exactly a rounded Gaussian, up to a
counted 1e-24.

Floating-point Gaussians betray what they hide by their last bits (Mironov 2012). Here vectors lie
on a grid of sigma / 256 and the noise is a whole number of grid steps, drawn from a table. Its law
is that of a real Gaussian rounded to the grid, so privacy is at least the Gaussian mechanism's:
rounding happens after the noise. What the table leaves out is ``FLAW``.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from functools import cache

import numpy as np

from shuffledp._types import Floats
from shuffledp.sampling import WORD, Source, Table

__all__ = ["FLAW", "STEPS", "grid_noise", "weights"]

STEPS = 256  # to one standard deviation
REACH = 2663  # the table ends at 10.4 deviations
FLAW = 1e-24  # bounds the total variation distance of one coordinate from a rounded Gaussian; it is 2.4e-25
TERMS = 8
DIGITS = Context(prec=50)


def grid_noise(source: Source, size: int) -> Floats:
    """``size`` independent draws of a Gaussian with deviation 256, rounded to whole numbers."""
    drawn = _table().draw(source, size)
    return (drawn - REACH).astype(np.float64)


def weights() -> list[int]:
    """The law of the noise: -REACH, ..., REACH have these probabilities times 2^128; what is left
    over goes to 0.
    """
    half = [int(_mass(j) * (WORD**2)) for j in range(REACH + 1)]
    both = half[:0:-1] + half
    both[REACH] += WORD**2 - sum(both)
    return both


@cache
def _table() -> Table:
    return Table(weights())


def _mass(j: int) -> Decimal:
    """The probability that a Gaussian with deviation 256 rounds to j: phi(m) w times the sum of
    He_2i(m) (w/2)^2i / (2i + 1)!, at m = j w, w = 1/256.

    The even derivatives of phi are phi times Hermite polynomials; eight terms are good to 30
    digits.
    """
    m, h = Decimal(j) / STEPS, Decimal(1) / (2 * STEPS)
    before, here, total = Decimal(0), Decimal(1), Decimal(0)  # He_(i-1), He_i
    for i in range(2 * TERMS):
        if i % 2 == 0:
            total += DIGITS.divide(here * h**i, Decimal(math.factorial(i + 1)))
        before, here = here, DIGITS.subtract(DIGITS.multiply(m, here), i * before)
    pi = Decimal("3.14159265358979323846264338327950288419716939937510")
    return DIGITS.divide(DIGITS.exp(-m * m / 2) * 2 * h * total, DIGITS.sqrt(2 * pi))
