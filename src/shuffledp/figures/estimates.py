"""Estimates with error bars."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from shuffledp._types import Floats
from shuffledp.figures.filetypes import check_figure
from shuffledp.figures.style import BLUE, DARK, GREY, PALE, STYLE
from shuffledp.storage.files import replace_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ROWS", "DrawnEstimates", "draw_estimates", "estimates_figure", "figure_file", "one_line"]

ROWS = 40  # that are drawn at most
LETTERS = 30
AROUND = 8.0  # half-widths of the interval that are shown on either side of a mean


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnEstimates:
    """Columns of equal length: labels, estimates, the interval of each, and the one that holds for
    all ``of`` them at once, at a ``level`` such as 0.95.

    ``bounds`` are those of a mean, infinite if not known; without them, people are counted.
    """

    labels: Sequence[str]
    values: Sequence[float]
    lower: Sequence[float]
    upper: Sequence[float]
    all_lower: Sequence[float]
    all_upper: Sequence[float]
    of: int
    level: float
    bounds: tuple[float, float] | None = None


def estimates_figure(found: DrawnEstimates, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
    """Draw estimates and return the file's path."""
    return figure_file(draw_estimates(found, title=title), path)


def figure_file(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write a figure, and return the file's path."""
    import matplotlib as mpl

    path = check_figure(path)
    with mpl.rc_context(STYLE):
        replace_file(path, lambda temporary: figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=200))
    return path


def draw_estimates(found: DrawnEstimates, *, title: str | None = None) -> Figure:
    """Draw estimates: thick the interval of each, thin the one that holds for all at once.

    Of more than 40 the largest are drawn, with only the latter: the largest of many are large by
    luck as well, and an interval of its own misses many of them.
    """
    import matplotlib as mpl

    from shuffledp.figures.drawing import Drawing

    shown = _shown(found.values)
    with mpl.rc_context(STYLE):
        figure = Drawing(figsize=(6.4, 1.5 + 0.24 * max(len(shown), 2)), layout="constrained")
        axes = figure.subplots()
        if shown:
            _draw(axes, found, shown)
        else:
            axes.text(0.5, 0.5, "nothing was found", ha="center", va="center", color=GREY)
            axes.set_axis_off()
        if found.bounds is not None:
            _near(axes, found, found.bounds)
        if title is not None:
            figure.suptitle(title, x=0.01, ha="left", fontweight="bold", parse_math=False)
        if shown:
            figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8.0)
    return figure


def _shown(values: Sequence[float]) -> list[int]:
    """The places to draw: all in their order, or the largest first."""
    if len(values) <= ROWS:
        return list(range(len(values)))
    return [int(place) for place in np.argsort(-np.asarray(values), kind="stable")[:ROWS]]


def _draw(axes: Axes, found: DrawnEstimates, shown: list[int]) -> None:
    rows = np.arange(len(shown))
    columns = (found.values, found.lower, found.upper, found.all_lower, found.all_upper)
    value, low, high, lowest, highest = (np.asarray(column)[shown] for column in columns)
    level, mean = f"{100.0 * found.level:g} %", found.bounds is not None
    if not mean:
        axes.barh(rows, value, height=0.62, color=PALE, alpha=0.45, linewidth=0.0)
        axes.axvline(0.0, color=GREY, linewidth=0.8)
    cut = len(shown) < found.of
    if found.of > 1:
        axes.hlines(
            rows, lowest, highest, color=BLUE, linewidth=1.6 if cut else 1.0, label=f"{level} interval, for all at once"
        )
    if not cut:
        axes.hlines(
            rows,
            low,
            high,
            color=DARK,
            linewidth=2.6,
            label=f"{level} interval{', for each by itself' * (found.of > 1)}",
        )
    axes.plot(value, rows, "|", color=DARK, markersize=9.0, markeredgewidth=1.2)
    if not mean:
        _numbers(axes, value, *((lowest, highest) if cut else (low, high)), np.maximum(highest, value))
    if mean:
        axes.set_yticks([])
    else:
        axes.set_yticks(rows, [one_line(found.labels[place]) for place in shown], fontsize=8.0, parse_math=False)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlabel(found.labels[0] if mean else "people")
    axes.grid(visible=True, axis="x", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _numbers(axes: Axes, values: Floats, low: Floats, high: Floats, ends: Floats) -> None:
    """Write every estimate and its interval, rounded outwards, beside its row: at scale, many an
    error bar is too short to be seen.
    """
    from matplotlib.ticker import MaxNLocator

    decimals = 0 if (high - low).min() >= 6.0 else 1
    unit = 10.0**decimals
    for row, (value, least, most, end) in enumerate(zip(values, low, high, ends, strict=True)):
        numbers = round(value, decimals), math.floor(least * unit) / unit, math.ceil(most * unit) / unit
        middle, *limits = (f"{each + 0.0:,.{decimals}f}" for each in numbers)
        words = f"{middle}  ({' to '.join(limits)})"
        axes.annotate(
            words, (end, row), textcoords="offset points", xytext=(5.0, 0.0), va="center", fontsize=7.5, color=GREY
        )
    near, far = axes.get_xlim()
    axes.set_xlim(near, far + 0.38 * (far - near))
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter("{x:,.10g}")


def _near(axes: Axes, found: DrawnEstimates, bounds: tuple[float, float]) -> None:
    """The part of the possible range around a mean, in which its interval can be seen."""
    value, low, high = found.values[0], found.lower[0], found.upper[0]
    reach, (least, most) = AROUND * max(value - low, high - value), bounds
    if reach > 0.0:
        axes.set_xlim(min(max(value - reach, least), low), max(min(value + reach, most), high))
    known = math.isfinite(least) and math.isfinite(most)
    axes.set_xlabel(found.labels[0] + f", of a possible {least:,.10g} to {most:,.10g}" * known)


def one_line(words: str) -> str:
    """So many letters as fit in one line, and can be printed."""
    words = "".join(each if each.isprintable() else " " for each in words).strip()
    return words if len(words) <= LETTERS else words[: LETTERS - 1].rstrip() + "…"
