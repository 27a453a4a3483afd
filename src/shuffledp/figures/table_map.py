"""A crosstab as a map: the darker a cell, the more people, with numbers and sums."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.figures.estimates import one_line
from shuffledp.figures.filetypes import check_figure
from shuffledp.figures.style import BLUE, DARK, GREY, STYLE
from shuffledp.storage.files import replace_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["DrawnTable", "draw_table", "table_figure"]

DARKEST = 0.6  # so that numbers can be read on the largest cell


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnTable:
    """Rows of numbers with their error at a ``level``; the last of each row, and the last row, are
    sums. What is not estimated, but known, has no error.
    """

    down: Sequence[str]
    across: Sequence[str]
    values: Sequence[Sequence[float]]
    errors: Sequence[Sequence[float | None]]
    level: float
    together: bool = False  # whether the errors hold for all at once, or each by itself


def table_figure(found: DrawnTable, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
    """Draw a crosstab and return the file's path."""
    import matplotlib as mpl

    path = check_figure(path)
    figure = draw_table(found, title=title)
    with mpl.rc_context(STYLE):
        replace_file(path, lambda temporary: figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=200))
    return path


def draw_table(found: DrawnTable, *, title: str | None = None) -> Figure:
    """Draw a crosstab: cells shaded by their counts, sums beside and below them."""
    import matplotlib as mpl
    from matplotlib.patches import Rectangle

    from shuffledp.figures.drawing import Drawing

    values = np.asarray(found.values, dtype=np.float64)
    rows, columns = values.shape
    most = max(float(values[:-1, :-1].max(initial=0.0)), 1e-9)
    with mpl.rc_context(STYLE):
        figure = Drawing(figsize=(1.8 + 1.15 * columns, 1.3 + 0.42 * rows), layout="constrained")
        axes = figure.subplots()
        for row in range(rows):
            for column in range(columns):
                inner = row < rows - 1 and column < columns - 1
                value, error = values[row, column], found.errors[row][column]
                strength = DARKEST * max(value, 0.0) / most if inner else 0.0
                axes.add_patch(Rectangle((column, row), 1.0, 1.0, facecolor=BLUE, alpha=strength, linewidth=0.0))
                words = f"{value + 0.0:,.0f}" + ("" if error is None else f" ± {np.ceil(error):,.0f}")
                axes.text(column + 0.5, row + 0.5, words, ha="center", va="center", fontsize=8.0, color=DARK)
        axes.axhline(rows - 1.0, color=GREY, linewidth=0.8)
        axes.axvline(columns - 1.0, color=GREY, linewidth=0.8)
        axes.set_xlim(0.0, columns)
        axes.set_ylim(rows, 0.0)
        for side, names in ((axes.set_xticks, found.across), (axes.set_yticks, found.down)):
            shown = [one_line(name) for name in names]
            side(np.arange(len(names)) + 0.5, shown, fontsize=8.0, parse_math=False)
        axes.xaxis.tick_top()
        axes.tick_params(length=0.0)
        axes.spines[:].set_visible(False)
        if title is not None:
            figure.suptitle(title, x=0.01, ha="left", fontweight="bold", parse_math=False)
        whose = "for all at once" if found.together else "of each"
        figure.supxlabel(f"people, ± {100.0 * found.level:g} % interval {whose}", fontsize=8.0, color=GREY)
    return figure
