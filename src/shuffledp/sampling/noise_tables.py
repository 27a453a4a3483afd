"""Integer tables of symmetric noise on the whole numbers: no floating-point noise, whose low bits
leak the input (Mironov 2012).

A table lists the weights of -reach, ..., reach; what lies beyond is counted at the two ends. The
weights sum to a power of 2^64 so large that each is at least 2^64: what is accounted is the table
itself, and it differs from the ideal law by about 2^-64 relatively, weight by weight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Context, Decimal
from fractions import Fraction

from shuffledp.sampling.draws import exp_at_most

__all__ = ["discrete_gaussian", "discrete_laplace", "rounded_gaussian"]

SPARE = 128  # bits of the fixed-point numbers beyond those of the total
HERMITE = 8  # terms of the series of a rounded Gaussian's masses, good to 30 digits
FIGURES = Context(prec=50)


def discrete_laplace(exponent: Fraction, reach: int) -> list[int]:
    """Weights proportional to e^(-exponent |j|)."""
    return _symmetric(float(exponent) * reach, reach, exponent, bend=Fraction(0))


def discrete_gaussian(variance: Fraction, reach: int) -> list[int]:
    """Weights proportional to e^(-j^2 / (2 variance)) (Canonne, Kamath and Steinke 2020)."""
    return _symmetric(reach**2 / (2.0 * float(variance)), reach, 1 / (2 * variance), bend=1 / variance)


def rounded_gaussian(deviation: int, reach: int, total_bits: int) -> list[int]:
    """Weights of a real Gaussian of that deviation, rounded to whole numbers: its probabilities
    times 2^total_bits, each rounded down; what is left over goes to 0.
    """
    half = [int(_rounded_mass(j, deviation) * (1 << total_bits)) for j in range(reach + 1)]
    both = half[:0:-1] + half
    both[reach] += (1 << total_bits) - sum(both)
    return both


def _rounded_mass(j: int, deviation: int) -> Decimal:
    """The probability that a Gaussian rounds to j: phi(m) w times the sum of He_2i(m) (w/2)^2i /
    (2i + 1)!, at m = j w, w = 1 / deviation.

    The even derivatives of phi are phi times Hermite polynomials.
    """
    m, h = Decimal(j) / deviation, Decimal(1) / (2 * deviation)
    before, here, total = Decimal(0), Decimal(1), Decimal(0)  # He_(i-1), He_i
    for i in range(2 * HERMITE):
        if i % 2 == 0:
            total += FIGURES.divide(here * h**i, Decimal(math.factorial(i + 1)))
        before, here = here, FIGURES.subtract(FIGURES.multiply(m, here), i * before)
    pi = Decimal("3.14159265358979323846264338327950288419716939937510")
    return FIGURES.divide(FIGURES.exp(-m * m / 2) * 2 * h * total, FIGURES.sqrt(2 * pi))


def _symmetric(farthest: float, reach: int, first: Fraction, bend: Fraction) -> list[int]:
    """Terms whose logarithm falls by ``first``, then by ``first + bend``, and so on, down to
    e^-farthest at ``reach``.
    """
    total_bits = 64 * math.ceil((farthest / math.log(2.0) + math.log2(reach) + 64.0) / 64.0 + 1.0)
    terms = list(_terms(first, bend, total_bits + SPARE))
    terms += [0] * (reach + 1 - len(terms))
    terms[reach:] = [sum(terms[reach:])]
    whole = terms[0] + 2 * sum(terms[1:])
    half = [(term << total_bits) // whole for term in terms[1:]]
    return [*reversed(half), (1 << total_bits) - 2 * sum(half), *half]


def _terms(first: Fraction, bend: Fraction, bits: int) -> Iterator[int]:
    """1 and what follows, as multiples of 2^-bits, until nothing is left."""
    term, ratio, factor = 1 << bits, _fixed(first, bits), _fixed(bend, bits)
    while term:
        yield term
        term = term * ratio >> bits
        ratio = ratio * factor >> bits


def _fixed(exponent: Fraction, bits: int) -> int:
    """e^-exponent, as a multiple of 2^-bits, rounded down."""
    return math.floor(exp_at_most(-exponent, bits // 3) * (1 << bits)) if exponent else 1 << bits
