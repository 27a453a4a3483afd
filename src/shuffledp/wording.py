"""What terminal, page and figures say alike: numbers rounded to the safe side."""

from __future__ import annotations

import decimal
import math

__all__ = ["rounded"]


def rounded(value: float, *, up: bool, digits: int = 4) -> str:
    """``value`` in a few digits, rounded to the safe side: up for an upper end, down for a lower
    one.

    >>> (
    ...     rounded(0.361590001, up=True),
    ...     rounded(0.36158999, up=False),
    ...     rounded(2.5e-07, up=True),
    ...     rounded(12345678.9, up=True),
    ... )
    ('0.3616', '0.3615', '2.500e-7', '1.235e+7')
    """
    if not math.isfinite(value):
        return "infinite"
    direction = decimal.ROUND_CEILING if up else decimal.ROUND_FLOOR
    short = float(decimal.Context(prec=digits, rounding=direction).create_decimal_from_float(value))
    return f"{short:#.{digits}g}".removesuffix(".").replace("e-0", "e-").replace("e+0", "e+")
