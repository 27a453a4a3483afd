"""What terminal, page and figures say alike: numbers rounded to the safe side."""

from __future__ import annotations

import decimal
import math

__all__ = ["brief", "exactly", "rounded", "short"]


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


def short(value: float) -> str:
    """A number as a person would write it.

    >>> short(1e-06), short(4.0)
    ('1e-6', '4')
    """
    return f"{value:.6g}".replace("e-0", "e-").replace("e+0", "e+")


def exactly(value: float) -> str:
    """A number that is part of a claim: short where that is the number itself, and in full where it
    is not.

    >>> exactly(1e-06), exactly(1.0000004e-06)
    ('1e-6', '1.0000004e-06')
    """
    return short(value) if float(short(value)) == value else repr(value)


def brief(value: object, most: int = 3) -> str:
    """A value in a repr: of a long list the first few and how many there are, of a function its
    name.

    >>> (
    ...     brief(("tea", "coffee", "water", "milk")),
    ...     brief(1e-06),
    ...     brief(range(500)),
    ...     brief("hadamard"),
    ... )
    ("('tea', 'coffee', 'water', and 1 more)", '1e-6', 'range(0, 500)', "'hadamard'")
    """
    if isinstance(value, float):
        return short(value)
    if isinstance(value, (tuple, list)) and len(value) > most:
        return f"({', '.join(map(repr, value[:most]))}, and {len(value) - most:,} more)"
    return getattr(value, "__name__", repr(value)) if callable(value) else repr(value)
