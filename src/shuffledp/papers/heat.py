"""Maps side by side: one row per city, one column per estimate, one colour scale per row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from shuffledp.figures.style import BLUE, DARK, GREY, PALE
from shuffledp.papers.cities import CITIES
from shuffledp.papers.draw import heading
from shuffledp.papers.experiment import Experiment, Line
from shuffledp.papers.looks import symbols

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["heat_maps"]

WIDTH, ROW = 12.0, 2.75  # inches
TICKS = (0.0, *(step * 10.0**power for power in (-5, -4, -3, -2, -1) for step in (1.0, 2.0, 5.0)), 1.0)
SCALE = ("#ffffff", "#d8e8fa", PALE, BLUE, DARK, "#081521")  # darkness alone orders them


def heat_maps(experiment: Experiment, lines: Sequence[Line]) -> Figure:
    """Every line as a map of its panel's city, which the panel's name starts with; the first line
    of a panel is the truth. Panels of one map each are next to each other.

    The colours grow with the square root of a cell, so that quiet streets show beside busy ones;
    what is below 0 is white, as 0 is.
    """
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    panels = {
        panel: [line for line in lines if line.panel == panel] for panel in dict.fromkeys(line.panel for line in lines)
    }
    head, write_heading = heading(experiment, WIDTH)
    columns = max(len(mine) for mine in panels.values())
    height = head + (ROW * len(panels) if columns > 1 else 1.5 * ROW)
    layout = ConstrainedLayoutEngine(rect=(0.0, 0.0, 1.0, 1.0 - head / height), w_pad=0.08, h_pad=0.06)
    drawn = Figure(figsize=(WIDTH, height), layout=layout)
    colours = LinearSegmentedColormap.from_list("ink", SCALE)
    shape = (len(panels), columns) if columns > 1 else (1, len(panels))
    grid = drawn.subplots(*shape, squeeze=False).reshape(len(panels), columns)
    for axes_row, (panel, mine) in zip(grid, panels.items(), strict=True):
        box = next(city.box for city in CITIES if panel.startswith(city.name))
        truth = mine[0]
        norm = PowerNorm(0.5, vmin=0.0, vmax=max(float(line.y.max()) for line in mine), clip=True)
        for column, (axes, line) in enumerate(zip(axes_row, mine, strict=True)):
            image = axes.imshow(
                line.y.reshape(box.rows, box.columns),
                cmap=colours,
                norm=norm,
                origin="lower",
                extent=(box.west, box.east, box.south, box.north),
                aspect=1.0 / math.cos(math.radians((box.south + box.north) / 2.0)),
                interpolation="nearest",
            )
            axes.xaxis.set_major_locator(MaxNLocator(3))
            axes.yaxis.set_major_locator(MaxNLocator(4))
            axes.ticklabel_format(useOffset=False)
            axes.tick_params(labelsize=7.5, length=2.5, color=GREY, labelleft=column == 0)
            for spine in axes.spines.values():
                spine.set(color=GREY, linewidth=0.6)
            axes.set_title(_title(line, truth), loc="left", fontsize=8.5, linespacing=1.3)
            axes.set_xlabel("longitude", fontsize=8.0)
        axes_row[0].set_ylabel(f"{symbols(panel).replace(', ', chr(10), 1)}\nlatitude", fontsize=8.0, linespacing=1.3)
        top = float(norm.vmax or 0.0)
        bar = drawn.colorbar(
            image,
            cax=axes_row[-1].inset_axes((1.05, 0.0, 0.045, 1.0)),
            ticks=[tick for tick in TICKS if tick == 0.0 or top / 40.0 <= tick <= top],
        )
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100.0 * share:g} %"))
        bar.ax.minorticks_off()
        bar.set_label(experiment.y.label, fontsize=8.0)
        bar.ax.tick_params(labelsize=7.5, length=2.5)
        bar.outline.set(linewidth=0.6, edgecolor=GREY)
    write_heading(drawn)
    drawn.draw_without_rendering()  # maps of a fixed shape are laid out a little differently every time: once is enough
    drawn.set_layout_engine("none")
    return drawn


def _title(line: Line, truth: Line) -> str:
    """What the map shows, and how far it is from the truth."""
    name, _, remark = symbols(line.label).partition(", ")
    far = (
        "what is to be estimated"
        if line is truth
        else f"total variation {0.5 * float(np.abs(line.y - truth.y).sum()):.3f}"
    )
    return f"{name}\n{remark}{'; ' if remark else ''}{far}"
