"""The trend of a series: a small panel for each label, with intervals and gaps."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp.figures.estimates import one_line
from shuffledp.figures.filetypes import check_figure
from shuffledp.figures.style import BLUE, DARK, PALE, STYLE
from shuffledp.storage.files import replace_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["DrawnTrend", "draw_trend", "trend_lines_figure"]

ACROSS = 2  # panels in a row


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnTrend:
    """One line and what it is of: where its weeks stand in time and what they are called, the
    estimates, the interval of each, and the one that holds for all weeks at once, where there is
    one.
    """

    label: str
    unit: str
    places: Sequence[int]
    names: Sequence[str]
    values: Sequence[float]
    lower: Sequence[float]
    upper: Sequence[float]
    bands: Sequence[tuple[float, float] | None]


def trend_lines_figure(lines: Sequence[DrawnTrend], path: str | os.PathLike[str], *, level: float, title: str) -> Path:
    """Draw a trend and return the file's path."""
    import matplotlib as mpl

    path = check_figure(path)
    figure = draw_trend(lines, level=level, title=title)
    with mpl.rc_context(STYLE):
        replace_file(path, lambda temporary: figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=200))
    return path


def draw_trend(lines: Sequence[DrawnTrend], *, level: float, title: str) -> Figure:
    """Thick the interval of each week, thin the one for all weeks at once; a line joins weeks
    between which none is missing.
    """
    import matplotlib as mpl

    from shuffledp.figures.drawing import Drawing

    across = min(ACROSS, len(lines))
    down = -(-len(lines) // across)
    with mpl.rc_context(STYLE):
        figure = Drawing(figsize=(6.4 if across == 1 else 8.0, 1.2 + 2.0 * down), layout="constrained")
        panels = figure.subplots(down, across, squeeze=False)
        for place, axes in enumerate(panels.flat):
            if place < len(lines):
                _draw(axes, lines[place], level)
            else:
                axes.set_visible(False)
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold", parse_math=False)
        handles, words = panels.flat[0].get_legend_handles_labels()
        figure.legend(handles, words, loc="outside lower center", ncols=2, frameon=False, fontsize=8.0)
    return figure


def _draw(axes: Axes, line: DrawnTrend, level: float) -> None:
    sure = f"{100.0 * level:g} %"
    banded = [(place, *band) for place, band in zip(line.places, line.bands, strict=True) if band is not None]
    if banded:
        places, low, high = zip(*banded, strict=True)
        axes.vlines(places, low, high, color=BLUE, linewidth=1.0, label=f"{sure} interval, for all weeks at once")
    axes.vlines(line.places, line.lower, line.upper, color=DARK, linewidth=2.6, label=f"{sure} interval of a week")
    for run in runs(line.places):
        axes.plot([line.places[at] for at in run], [line.values[at] for at in run], color=PALE, linewidth=1.2)
    axes.plot(line.places, line.values, "o", color=DARK, markersize=3.5)
    step = max(1, -(-len(line.places) // 6))
    axes.set_xticks(list(line.places)[::step], list(line.names)[::step], fontsize=7.5)
    axes.set_title(one_line(line.label), loc="left", fontsize=9.0, parse_math=False)
    axes.set_ylabel(line.unit, fontsize=8.0)
    axes.spines[["top", "right"]].set_visible(False)


def runs(places: Sequence[int]) -> list[list[int]]:
    """The positions of weeks that follow one another without a gap.

    >>> runs([3, 4, 7, 8, 9])
    [[0, 1], [2, 3, 4]]
    """
    found: list[list[int]] = []
    for at, place in enumerate(places):
        if found and place == places[found[-1][-1]] + 1:
            found[-1].append(at)
        else:
            found.append([at])
    return found
