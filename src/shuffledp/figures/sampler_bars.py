"""Which sampler should a training use: epsilon of each, between its two ends."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path

from shuffledp.accounting.training.samplers import Sampler
from shuffledp.figures.filetypes import check_figure
from shuffledp.figures.style import BLUE, DARK, STYLE
from shuffledp.storage.files import replace_file

__all__ = ["samplers_figure"]


def samplers_figure(rows: Sequence[Sampler], path: str | os.PathLike[str], *, title: str) -> Path:
    """Draw a bar from the lower to the upper end of every sampler, and return the file's path; an
    upper end that is not known is an arrow.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    path = check_figure(path)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 0.9 + 0.5 * len(rows)), layout="constrained")
        axes = figure.subplots()
        for place, each in enumerate(rows):
            lower, upper = each.epsilon.lower, each.epsilon.upper
            known = math.isfinite(upper)
            axes.plot([lower, upper if known else 1.5 * lower], [place, place], color=BLUE, linewidth=5.0, alpha=0.5)
            axes.plot([lower], [place], color=DARK, marker="|", markersize=11.0)
            axes.plot([upper if known else 1.5 * lower], [place], color=DARK, marker="|" if known else ">")
        axes.set_xscale("log")
        axes.set_yticks(range(len(rows)), [each.name for each in rows])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel("ε, from its lower to its upper end")
        axes.grid(visible=True, axis="x", which="major", color="0.9", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
        replace_file(path, lambda temporary: figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=200))
    return path
