"""From real parameters to the integers that realise them, and back to a logarithm that is never too
small.

Decimal arithmetic; its logarithm and exponential are correctly rounded, so the margins below are
far wider than any error.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

from shuffledp.sampling.draws import WORD

__all__ = ["exp_at_most", "flip_threshold", "float_at_least", "implied_ratio", "log_at_least", "mixing_threshold"]

DIGITS = Context(prec=80)
MARGIN = Fraction(1, 10**60)


def exp_at_most(exponent: Fraction, digits: int = 60) -> Fraction:
    """A rational number just below e^exponent, right to about ``digits`` digits."""
    context = Context(prec=digits + 20)
    power = Fraction(context.exp(context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))))
    return power * (1 - Fraction(1, 10**digits))


def float_at_least(number: Fraction) -> float:
    """The least float that is not below ``number``.

    >>> float_at_least(Fraction(1, 2)), float_at_least(Fraction(1, 3)) > Fraction(1, 3)
    (0.5, True)
    """
    nearest = float(number)
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)


@lru_cache(maxsize=1024)
def log_at_least(ratio: Fraction) -> float:
    """log(ratio) for ratio >= 1, rounded up to a float.

    >>> log_at_least(Fraction(1)), log_at_least(Fraction(3)) >= math.log(3)
    (0.0, True)
    """
    if ratio == 1:
        return 0.0
    log = Fraction(DIGITS.ln(DIGITS.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))))
    # The quotient is off by 1e-79 relatively, and so its logarithm by that much absolutely.
    return float_at_least(log * (1 + MARGIN) + Fraction(1, 10**75))


@lru_cache(maxsize=1024)
def mixing_threshold(epsilon0: float, share: Fraction) -> tuple[int, float]:
    """The least T such that noise with probability T / 2^64 gives at most epsilon0, and the
    epsilon0 that T implies, rounded up.

    A report is drawn from the base law with probability t = T / 2^64, and else from the outputs
    that support the input, a ``share`` f of the base law: the ratio of two inputs' laws is E = 1 +
    (1 - t) / (t f). The implied epsilon0 never exceeds the one asked for, and asking for it gives
    the same pair again.
    """
    implied = epsilon0
    for _ in range(2):  # a float holds fewer bits than T: the second look finds the least T of the implied epsilon0
        wanted = 1 + share * (exp_at_most(Fraction(implied)) - 1)
        threshold = math.ceil(WORD / wanted) if wanted > 1 else WORD
        implied = log_at_least(implied_ratio(threshold, share))
    return threshold, implied


def implied_ratio(threshold: int, share: Fraction) -> Fraction:
    """E = 1 + (2^64 - T) / (T f), exactly."""
    return 1 + Fraction(WORD - threshold, threshold) / share


@lru_cache(maxsize=1024)
def flip_threshold(epsilon0: float, bits: int) -> tuple[int, float]:
    """The least Q such that ``bits`` bits that are each flipped with probability q = Q / 2^64 give
    at most epsilon0, and the epsilon0 implied.

    e^epsilon0 = ((1 - q) / q)^bits, as in ``mixing_threshold``.
    """
    implied = epsilon0
    for _ in range(2):
        threshold = math.ceil(WORD / (1 + exp_at_most(Fraction(implied) / bits)))
        implied = log_at_least(Fraction(WORD - threshold, threshold) ** bits)
    return threshold, implied
