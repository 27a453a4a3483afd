"""The one bisection: two points brought together, one where a condition holds and one where it
does not.

Not everything is halved here. ``curves`` follows a curve by secants, which needs a fifth of the
points; ``haystack.ramp`` and ``protocols.rare`` halve many intervals at once, row by row; and what
judges the others (``literature.exact``, ``collection.verify``) shares no code with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

__all__ = ["geometric", "halve", "mean", "whole", "within"]

Number = TypeVar("Number", int, float)
STEPS = 2200  # more than it takes from the largest float to the smallest


def mean(good: float, bad: float) -> float:
    """Half-way."""
    return 0.5 * (good + bad)


def geometric(good: float, bad: float) -> float:
    """Half-way between two positive numbers whose order of magnitude is open."""
    return math.sqrt(good * bad)


def whole(good: int, bad: int) -> int:
    """Half-way between two whole numbers."""
    return (good + bad) // 2


def within(share: float) -> Callable[[float, float], bool]:
    """Whether two positive numbers differ by at most a share of the smaller one."""
    return lambda good, bad: max(good, bad) <= (1.0 + share) * min(good, bad)


def halve(
    fits: Callable[[Number], bool],
    good: Number,
    bad: Number,
    *,
    middle: Callable[[Number, Number], Number],
    close: Callable[[Number, Number], bool] | None = None,
    steps: int = STEPS,
) -> tuple[Number, Number]:
    """Bring ``good``, where ``fits`` holds, and ``bad``, where it does not, together, and return
    both; either may be the larger. Neither is asked again.

    It ends when they are ``close``, after so many ``steps``, or when nothing lies between them.

    >>> halve(lambda x: x * x >= 2.0, 2.0, 1.0, middle=mean)
    (1.4142135623730951, 1.414213562373095)
    >>> halve(lambda i: i * i <= 2000, 0, 2000, middle=whole)
    (44, 45)
    """
    for _ in range(steps):
        if close is not None and close(good, bad):
            break
        between = middle(good, bad)
        if between in (good, bad):
            break
        if fits(between):
            good = between
        else:
            bad = between
    return good, bad
