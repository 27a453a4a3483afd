"""Box plots of runs: a curve with several points at an x shows how they are spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shuffledp._types import Floats
from shuffledp.papers.draw import figure
from shuffledp.papers.experiment import Experiment, Line
from shuffledp.papers.looks import looks_of
from shuffledp.papers.table import arranged

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["box_plots"]

WIDTH = 0.05  # of a box, as a share of the axis


def box_plots(experiment: Experiment, lines: Sequence[Line]) -> Figure:
    """The usual figure, with a line through the medians and a box in place of each marker: the
    middle half of the runs, whiskers at most 1.5 times as long, and dots for runs farther out.
    """
    lines = arranged(lines)
    drawn, looks = figure(experiment, [_medians(line) for line in lines]), looks_of(lines)
    for axes, panel in zip(drawn.axes, dict.fromkeys(line.panel for line in lines), strict=False):
        for curve, line in zip(list(axes.lines), [line for line in lines if line.panel == panel], strict=True):
            at, runs = _runs(line)
            if at.size < line.x.size:
                curve.set_marker("")
                ink = {"color": looks[line.label].colour, "linewidth": 0.9}
                axes.boxplot(
                    runs,
                    positions=at.tolist(),
                    widths=WIDTH * float(np.ptp(at)),
                    manage_ticks=False,
                    boxprops=ink,
                    whiskerprops=ink,
                    capprops=ink,
                    medianprops=ink,
                    flierprops={"marker": ".", "markersize": 3.0, "markeredgecolor": ink["color"]},
                )
        axes.autoscale(axis="y")
    return drawn


def _runs(line: Line) -> tuple[Floats, list[Floats]]:
    """Every x once, and its values."""
    at = np.unique(line.x)
    return at, [line.y[line.x == x] for x in at]


def _medians(line: Line) -> Line:
    at, runs = _runs(line)
    return replace(line, x=at, y=np.array([np.median(values) for values in runs]))
