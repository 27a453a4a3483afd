"""Figures that compare: every published bound on one mechanism, as points beside the certified
interval, and the epsilon of each sampler for a training, between its two ends.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

from shuffledp.figures.files import BLUE, DARK, GREY, STYLE, check_figure, save, unframed
from shuffledp.training.samplers import Sampler
from shuffledp.wording import reserved, rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shuffledp.literature.comparison import Compared, Comparison

SIGNS = {"epsilon": "ε", "delta": "δ"}
MARKERS = {  # side and status -> marker, filled, what it means
    ("upper", "proven"): ("o", True, "at most, proven"),
    ("upper", "unproven"): ("o", False, "at most, unproven"),
    ("upper", "invalid"): ("X", True, "invalid as an upper bound"),
    ("lower", "proven"): (">", True, "at least"),
    ("lower", "unproven"): (">", False, "at least, unproven"),
}


def comparison_figure(comparison: Comparison, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
    """Draw one point per bound, sorted, and the certified interval as a band through them all;
    return the file's path.
    """
    from shuffledp.literature.comparison import CERTIFIED

    path = check_figure(path)
    rows = [row for row in comparison.rows if 0.0 < row.value < math.inf and row.name != CERTIFIED]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 1.7 + 0.21 * max(len(rows), 4)), layout="constrained")
        axes = figure.subplots()
        _points(axes, rows, comparison)
        _band(axes, comparison)
        words = comparison.goal.guarantee.describe() if title is None else title
        figure.suptitle(words.replace("epsilon0", "ε₀"), x=0.01, ha="left", fontweight="bold")
        columns = 1 if reserved(comparison.certified.assumptions) else 3
        figure.legend(loc="outside lower center", ncols=columns, frameon=False, fontsize=8.0)
        return save(figure, path)


def _band(axes: Axes, comparison: Comparison) -> None:
    low, high = comparison.certified.lower, comparison.certified.upper
    if 0.0 < high < math.inf:
        only = f",\n{only}" if (only := reserved(comparison.certified.assumptions)) else ""
        sign = SIGNS[comparison.goal.asked]
        words = f"certified: {sign} in [{rounded(low, up=False)}, {rounded(high, up=True)}]{only}"
        look: dict[str, Any] = {"facecolor": BLUE, "edgecolor": BLUE, "alpha": 0.3, "linewidth": 2.0}
        axes.axvspan(max(low, axes.get_xlim()[0]), high, label=words, **look)


def _points(axes: Axes, rows: Sequence[Compared], comparison: Comparison) -> None:
    # What holds without any shuffler, or always; nothing beyond deserves space.
    alone = comparison.goal.guarantee.ceiling if comparison.goal.asked == "epsilon" else 1.0
    last = 1.6 * alone if math.isfinite(alone) else math.inf
    named: set[str] = set()
    for place, row in enumerate(rows):
        marker, filled, meaning = MARKERS[row.side, row.status]
        if row.rests:
            marker, meaning = "D", f"at most, {row.rests}"
        colour = GREY if row.status == "invalid" else DARK
        label = None if meaning in named else meaning
        named.add(meaning)
        at, inside = min(row.value, last), colour if filled else "white"
        look: dict[str, Any] = {"color": colour, "markersize": 5.5, "linestyle": "none", "label": label}
        axes.plot([at], [place], marker, markerfacecolor=inside, **look)
        notes = [f"{row.ratio:.4g}×"] if row.refuted or row.ratio >= 1.05 else []
        notes += ["too small to be true"] if row.refuted else []
        notes += ["beyond this figure"] if row.value > last else []
        offset, ha = (-7.0, "right") if row.value > last else (7.0, "left")
        words: dict[str, Any] = {"textcoords": "offset points", "ha": ha, "fontsize": 7.5, "color": GREY}
        axes.annotate(", ".join(notes), (at, place), xytext=(offset, -3.0), **words)
    names = [row.name if row.standing == "assumed" else row.title for row in rows]
    axes.set_yticks(range(len(rows)), names, fontsize=8.0)
    axes.set_ylim(-0.8, len(rows) - 0.2)
    axes.set_xscale("log")
    axes.margins(x=0.15)
    what, given = SIGNS[comparison.goal.asked], SIGNS[comparison.goal.given]
    skipped = f"; {len(comparison.skipped)} slow bounds left out" if comparison.skipped else ""
    axes.set_xlabel(f"{what} at {given} = {comparison.goal.at:g}{skipped}".replace("e-0", "e-"))
    unframed(axes, "x")


def samplers_figure(rows: Sequence[Sampler], path: str | os.PathLike[str], *, title: str) -> Path:
    """Draw a bar from the lower to the upper end of every sampler, and return the file's path; an
    upper end that is not known is an arrow.
    """
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
        unframed(axes, "x")
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
        return save(figure, path)
