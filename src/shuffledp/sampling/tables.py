"""Integer tables of symmetric noise on the whole numbers: no floating-point noise, whose low bits
leak the input (Mironov 2012).

A table lists the weights of -reach, ..., reach; what lies beyond is counted at the two ends. The
weights sum to a power of 2^64 so large that each is at least 2^64: what is accounted is the table
itself, and it differs from the ideal law by about 2^-64 relatively, weight by weight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from shuffledp.sampling.integers import exp_at_most

__all__ = ["discrete_gaussian", "discrete_laplace"]

SPARE = 128  # bits of the fixed-point numbers beyond those of the total


def discrete_laplace(exponent: Fraction, reach: int) -> list[int]:
    """Weights proportional to e^(-exponent |j|)."""
    return _symmetric(float(exponent) * reach, reach, exponent, bend=Fraction(0))


def discrete_gaussian(variance: Fraction, reach: int) -> list[int]:
    """Weights proportional to e^(-j^2 / (2 variance)) (Canonne, Kamath and Steinke 2020)."""
    return _symmetric(reach**2 / (2.0 * float(variance)), reach, 1 / (2 * variance), bend=1 / variance)


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
