"""Numbers as points of a grid: checked, rounded at random, and how much that and the noise err.

With y the reported multiple of 1/k, x the number in [0, 1], f = xk - floor(xk) and gamma the chance
of a uniformly random report,

    Var(y) = (1 - gamma) f (1 - f) / k^2  +  gamma (1 - gamma) (x - 1/2)^2  +  gamma (k + 2) / (12
                                          k).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput, check_finite
from shuffledp.sampling import Source

__all__ = ["check_bounds", "check_numbers", "on_grid"]

CHUNK = 1 << 18
LARGEST = 1e100


def check_bounds(lower: float, upper: float) -> tuple[float, float]:
    """Return the bounds of users' numbers."""
    low, high = (
        check_finite(name, value, remedy="Every number must lie between the two.")
        for name, value in (("lower", lower), ("upper", upper))
    )
    if not (low < high and math.isfinite(high - low)):
        raise InvalidInput(
            f"lower must be below upper, and their distance finite, got {low!r} and {high!r}. Choose bounds before "
            f"looking at the data."
        )
    if max(abs(low), abs(high)) > LARGEST:
        raise InvalidInput(
            f"lower and upper must be at most {LARGEST:g} in size, got {low!r} and {high!r}. Squares of sums must be "
            f"finite; scale the numbers."
        )
    return low, high


def check_numbers(values: Any, lower: float, upper: float) -> Floats:
    """Return ``values`` as a vector of numbers in [lower, upper], one per user."""
    remedy = (
        f"Pass one number from {lower:g} to {upper:g} per user; decide before collecting how to treat missing and "
        f"extreme ones."
    )
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidInput(f"values must not be a masked array, got one. {remedy}")
    try:
        array = np.asarray(values)
    except ValueError:
        raise InvalidInput(f"values must be numbers, got rows of different lengths. {remedy}") from None
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise InvalidInput(f"values must be a list of numbers, got {type(values).__name__} of {array.dtype}. {remedy}")
    if array.size == 0:
        raise InvalidInput(f"values must hold at least one number, got none. {remedy}")
    numbers = array.astype(np.float64)
    outside = ~((numbers >= lower) & (numbers <= upper))  # NaN is outside, too
    if outside.any():
        raise InvalidInput(
            f"values must lie in [{lower:g}, {upper:g}], got {float(numbers[np.argmax(outside)])!r}. {remedy}"
        )
    return numbers


def on_grid(numbers: Floats, lower: float, upper: float, k: int, source: Source) -> NDArray[np.int64]:
    """Each number at one of its two neighbors among k + 1 points from ``lower`` to ``upper``,
    chosen at random so that its mean stays.
    """
    chunks = (slice(start, min(start + CHUNK, len(numbers))) for start in range(0, len(numbers), CHUNK))
    return np.concatenate([_rounded(numbers[chunk], lower, upper, k, source) for chunk in chunks])


def _rounded(numbers: Floats, lower: float, upper: float, k: int, source: Source) -> NDArray[np.int64]:
    positions = (numbers - lower) / (upper - lower) * k
    below = np.floor(positions)
    thresholds = ((positions - below) * 2.0**64).astype(np.uint64)
    return below.astype(np.int64) + (source.words(len(numbers), np.uint64) < thresholds)
