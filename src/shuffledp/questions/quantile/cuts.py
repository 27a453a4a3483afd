"""Cut points, from the ends of a range and a number of bins."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import get_args

from shuffledp.domain import MOST_BINS, check_bounds
from shuffledp.errors import Argument, InvalidInput, Refusal, check_count
from shuffledp.schema import Scale

SCALES: tuple[Scale, ...] = get_args(Scale)
BINS = 64
ROUNDED = 12  # digits of a cut point that was computed
LEAST_DIGITS = 3  # of one on a logarithmic scale; more, where rounding would move it by a tenth of a bin


def cut_points(lower: float, upper: float, *, bins: int | None = None, spacing: Scale = "linear") -> tuple[float, ...]:
    """The ends of ``bins`` bins from ``lower`` to ``upper``, equally wide, or about equally wide in
    the logarithm and rounded to few digits. If ``bins`` is left out, there are 64; or, between
    whole numbers at most 128 apart, one for each whole number.

    >>> cut_points(0, 120, bins=4)
    (0.0, 30.0, 60.0, 90.0, 120.0)
    >>> cut_points(1, 10_000, bins=4, spacing="log")
    (1.0, 10.0, 100.0, 1000.0, 10000.0)
    """
    low, high = check_bounds(lower, upper)
    if spacing not in SCALES:
        raise InvalidInput(f"spacing must be one of {', '.join(SCALES)}, got {spacing!r}. Incomes want log.")
    if bins is None:
        whole = spacing == "linear" and low.is_integer() and high.is_integer() and 2 <= high - low <= 2 * BINS
        bins = int(high - low) if whole else BINS
    many = check_count(
        "bins", bins, least=2, remedy=f"It counts the bins between lower and upper, from 2 to {MOST_BINS:,}."
    )
    if many > MOST_BINS:
        raise InvalidInput(f"bins must be at most {MOST_BINS:,}, got {many:,}. Choose wider ones.")
    if spacing == "linear":
        inner, digits = [low + (high - low) * place / many for place in range(1, many)], ROUNDED
    else:
        if low <= 0.0:
            clip, listed = Argument("clip", True), Argument("cuts", (0, 1000, 2000, 5000))
            remedy = ("Raise it, and move what is below to it: ", clip, "; or list the cut points: ", listed, ".")
            raise InvalidInput(Refusal("lower must be positive for bins on a logarithmic scale", f"{low:g}", remedy))
        inner = [low * math.exp(math.log(high / low) * place / many) for place in range(1, many)]
        digits = min(max(LEAST_DIGITS, math.ceil(2.0 - math.log10(math.log(high / low) / many))), ROUNDED)
    cuts = (low, *(float(f"{each:.{digits}g}") for each in inner), high)
    if any(first >= second for first, second in pairwise(cuts)):
        raise InvalidInput(
            f"bins must be wide enough to be told apart in {ROUNDED} digits, got {many:,} from {low!r} to {high!r}. "
            f"Choose fewer."
        )
    return cuts


def plainly(number: float) -> str:
    """A cut point as a person writes it.

    >>> plainly(30.0), plainly(0.5)
    ('30', '0.5')
    """
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
