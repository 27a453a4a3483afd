"""What a mean of clipped values is not, and how many values were clipped: said in the same words on the page and on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shuffledp.report.words import SPACE, exact, fixed, level, scientific

__all__ = ["CLIPPED", "NOT_THE_MEAN", "clipped", "clipping"]

CLIPPED = "mean of the clipped values"
NOT_THE_MEAN = f"This is the {CLIPPED}, not of the values themselves."
LARGE = 0.01  # the share of people at an end from which a wider range is proposed


def clipped(facts: Mapping[str, Any]) -> bool:
    """Whether the estimate is known to be of values that were clipped: pages of earlier versions do not say it there."""
    return bool(facts["estimates"]["label"] == [CLIPPED])


def clipping(facts: Mapping[str, Any]) -> str:
    """How many people's values are at the ends of the range, by the same reports, and what to do if they are many."""
    found, reports = facts["estimates"]["ends"], facts["counted"]["reports"]
    bounds = facts["design"]["lower"], facts["design"]["upper"]
    shares = [[min(max(found[name][side] / reports, 0.0), 1.0) for name in ("value", "lower", "upper")] for side in (0, 1)]
    told = [
        f"{_percent(value)} ({_percent(low, up=False)} to {_percent(high, up=True)}) are {where} {exact(bound)}"
        for (value, low, high), where, bound in zip(shares, ("at or below", "at or above"), bounds, strict=True)
    ]
    words = (
        "Values outside the range count as its nearest end, and the reports do not say how far outside they were: the interval holds for the mean after "
        f"clipping only. By an estimate from the same reports, {told[0]} and {told[1]}, with {level(facts['estimates'])} intervals that hold for both at once; "
        f"both shares include some people inside the range, less than {scientific(found['step'], up=True)} from that end."
    )
    return words + _wider(bounds, [low for _, low, _ in shares])


def _percent(share: float, *, up: bool | None = None) -> str:
    return f"{fixed(100.0 * share, 1, up=up)}{SPACE}%"


def _wider(bounds: tuple[float, float], least: list[float]) -> str:
    """A range with fewer people at its ends, where those are many for certain."""
    narrow = [share > LARGE for share in least]
    if not any(narrow):
        return ""
    width = bounds[1] - bounds[0]
    wide = bounds[0] - narrow[0] * width, bounds[1] + narrow[1] * width
    times = "two" if sum(narrow) == 1 else "three"
    return (
        f" That is too many to take one mean for the other. A wider range, such as {exact(wide[0])} to {exact(wide[1])}, would clip fewer, with about {times} "
        "times the standard error; but it would be another release about the same people, and cost privacy again."
    )
