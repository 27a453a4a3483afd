"""How far off estimates may be: which intervals are shown, and how many digits."""

from __future__ import annotations

from collections.abc import Sequence

from shuffledp.page.numerals import decimals_for, fixed
from shuffledp.record import Estimates

__all__ = ["SHOWN", "accuracy", "decimals_of", "ends_of", "margins_of", "margins_together", "together"]

SHOWN = 30  # of a long list, the rows that are drawn


def accuracy(found: Estimates) -> str:
    """How far the worst estimate is from its true value at most, with the probability of the
    intervals.
    """
    worst = max(margins_of(found), default=0.0)
    return fixed(worst, min(decimals_of(found), decimals_for(worst)), up=True)


def together(found: Estimates) -> bool:
    """Whether the list is sorted and cut: the largest of many are large by luck as well, so its
    intervals must hold for all at once.
    """
    return found.together and len(found.value) > SHOWN


def ends_of(found: Estimates) -> tuple[Sequence[float], Sequence[float]]:
    """The intervals that are shown: of each by itself, or of all at once."""
    return (found.all_lower, found.all_upper) if together(found) else (found.lower, found.upper)


def margins_of(found: Estimates) -> list[float]:
    """How far the further end of every interval that is shown is from its estimate."""
    return [max(value - low, high - value) for value, low, high in zip(found.value, *ends_of(found), strict=True)]


def margins_together(found: Estimates) -> list[float]:
    """The same of the intervals that hold for all at once."""
    ends = zip(found.value, found.all_lower, found.all_upper, strict=True)
    return [max(value - low, high - value) for value, low, high in ends]


def decimals_of(found: Estimates) -> int:
    """How many decimals are worth showing."""
    return decimals_for(min((margin for margin in margins_of(found) if margin > 0.0), default=0.0))
