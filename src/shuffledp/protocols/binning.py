"""Cut points, and the bins between them into which numbers fall.

A bin holds the numbers from its lower end to below its upper one; the last one holds its upper end
too. Nothing is drawn: the same number falls into the same bin, always.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from shuffledp.choices import Scale
from shuffledp.errors import Argument, InvalidInput, Refusal, check_count
from shuffledp.protocols.rounding import check_bounds, check_numbers
from shuffledp.protocols.tasks.quantile_task import MOST_BINS

__all__ = ["BINS", "SCALES", "cut_points", "in_bins", "plainly"]

SCALES: tuple[Scale, ...] = get_args(Scale)
BINS = 64
ROUNDED = 12  # digits of a cut point that was computed
LEAST_DIGITS = 3  # of one on a logarithmic scale; more, where rounding would move it by a tenth of a bin


def cut_points(lower: float, upper: float, *, bins: int | None = None, scale: Scale = "linear") -> tuple[float, ...]:
    """The ends of ``bins`` bins from ``lower`` to ``upper``, equally wide, or about equally wide in
    the logarithm and rounded to few digits. If ``bins`` is left out, there are 64; or, between
    whole numbers at most 128 apart, one for each whole number.

    >>> cut_points(0, 120, bins=4)
    (0.0, 30.0, 60.0, 90.0, 120.0)
    >>> cut_points(1, 10_000, bins=4, scale="log")
    (1.0, 10.0, 100.0, 1000.0, 10000.0)
    """
    low, high = check_bounds(lower, upper)
    if scale not in SCALES:
        raise InvalidInput(f"scale must be one of {', '.join(SCALES)}, got {scale!r}. Incomes want log.")
    if bins is None:
        whole = scale == "linear" and low.is_integer() and high.is_integer() and 2 <= high - low <= 2 * BINS
        bins = int(high - low) if whole else BINS
    many = check_count(
        "bins", bins, least=2, remedy=f"It counts the bins between lower and upper, from 2 to {MOST_BINS:,}."
    )
    if many > MOST_BINS:
        raise InvalidInput(f"bins must be at most {MOST_BINS:,}, got {many:,}. Choose wider ones.")
    if scale == "linear":
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


def in_bins(values: Any, cuts: Sequence[float]) -> NDArray[np.int64]:
    """The bin of each number, counted from 0; what lies outside is refused.

    >>> in_bins([0.0, 9.9, 10.0, 20.0], (0.0, 10.0, 20.0)).tolist()
    [0, 0, 1, 1]
    """
    numbers = check_numbers(values, cuts[0], cuts[-1])
    places: NDArray[np.int64] = np.searchsorted(np.asarray(cuts[1:-1]), numbers, side="right").astype(np.int64)
    return places


def plainly(number: float) -> str:
    """A cut point as a person writes it.

    >>> plainly(30.0), plainly(0.5)
    ('30', '0.5')
    """
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
