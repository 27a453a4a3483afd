"""The weeks of a series as a figure of the page: estimates, intervals, and gaps where a week is
missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from shuffledp.page.charts import fixed_ticks
from shuffledp.page.svg import Chart, Markup, Scale, chart, disc, join, line, ribbon, text, window

__all__ = ["Mark", "trend_chart"]

HEIGHT, ROOM = 180.0, 6  # names of weeks beneath, at most
EDGE = 0.03  # of the width, left free on either side


@dataclass(frozen=True, slots=True)
class Mark:
    """One week: its place in time, its name, the estimate, its interval, and the one for all weeks
    at once, where there is one.
    """

    place: int
    name: str
    value: float
    low: float
    high: float
    band: tuple[float, float] | None


def trend_chart(title: str, marks: Sequence[Mark], unit: str = "") -> Chart:
    """Weeks from left to right; a line joins those between which none is missing. The axis has the
    ``unit`` behind its numbers.
    """
    ends = [end for mark in marks for end in (mark.low, mark.high, *(mark.band or ()))]
    y = Scale(max(ends), min(ends))
    across = Scale(marks[0].place, marks[-1].place)

    def x(mark: Mark) -> float:
        return EDGE + (1.0 - 2.0 * EDGE) * across(mark.place)

    grid, names = [], []
    for tick, words in fixed_ticks(min(ends), max(ends)):
        level = HEIGHT * y(tick)
        grid.append(line(0.0, level, 1.0, level, class_="grid"))
        names.append(text(0.0, level + 4.0, f"{words}{unit}", anchor="end", class_="tick", dx=-8.0))
    step = max(1, -(-len(marks) // ROOM))
    for mark in marks[::step]:
        names.append(text(x(mark), HEIGHT + 21.0, mark.name, anchor="middle", class_="tick"))
    joined = [
        ribbon([(x(one), HEIGHT * y(one.value)), (x(other), HEIGHT * y(other.value))], class_="upper")
        for one, other in pairwise(marks)
        if other.place == one.place + 1
    ]
    drawn = [_week(x(mark), mark, y) for mark in marks]
    return chart(title, HEIGHT, grid, window(HEIGHT, joined), drawn, names, kind="curve")


def _week(at: float, mark: Mark, y: Scale) -> Markup:
    parts = []
    if mark.band is not None:
        parts.append(line(at, HEIGHT * y(mark.band[1]), at, HEIGHT * y(mark.band[0]), class_="guide"))
    parts.append(line(at, HEIGHT * y(mark.high), at, HEIGHT * y(mark.low), class_="error"))
    parts += [
        line(at - 0.008, HEIGHT * y(end), at + 0.008, HEIGHT * y(end), class_="error") for end in (mark.low, mark.high)
    ]
    return join([*parts, disc(at, HEIGHT * y(mark.value), 4.0, class_="dot")])
