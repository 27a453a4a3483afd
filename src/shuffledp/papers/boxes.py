"""Box plots of runs: a curve with several points at an x shows how they are spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shuffledp.papers.charts import figure
from shuffledp.papers.experiment import Experiment, Line, arranged

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["box_plots"]

WIDTH = 0.05  # of a box, as a share of the axis


def box_plots(experiment: Experiment, lines: Sequence[Line]) -> Figure:
    """The usual figure, with a line through the medians and a box in place of each marker: the
    middle half of the runs, whiskers at most 1.5 times as long, and dots for runs farther out.
    """
    runs = [(line, {x: line.y[line.x == x] for x in np.unique(line.x).tolist()}) for line in arranged(lines)]
    medians = [replace(line, x=np.array([*at]), y=np.array([*map(np.median, at.values())])) for line, at in runs]
    drawn = figure(experiment, medians)
    for axes, panel in zip(drawn.axes, dict.fromkeys(line.panel for line in medians), strict=False):
        mine = [(line, at) for line, at in runs if line.panel == panel]
        for curve, (line, at) in zip(list(axes.lines), mine, strict=True):
            if len(at) < line.x.size:
                curve.set_marker("")
                ink = {"color": curve.get_color(), "linewidth": 0.9}
                parts: dict[str, Any] = {f"{part}props": ink for part in ("box", "whisker", "cap", "median")}
                parts["flierprops"] = {"marker": ".", "markersize": 3.0, "markeredgecolor": curve.get_color()}
                width = WIDTH * (max(at) - min(at))
                axes.boxplot([*at.values()], positions=[*at], widths=width, manage_ticks=False, **parts)
        axes.autoscale(axis="y")
    return drawn
