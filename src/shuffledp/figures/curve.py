"""delta against epsilon, with and without a shuffler."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import ArrayLike

from shuffledp._types import End, Floats
from shuffledp.accounting.accuracy import FIGURE_GAP
from shuffledp.accounting.curves import Band
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.inversion import meets
from shuffledp.accounting.rounds import Rounds
from shuffledp.accounting.shuffled import shuffle, shuffled_parts
from shuffledp.errors import InvalidInput, Refusal
from shuffledp.figures.files import BLUE, DARK, GREY, PALE, STYLE, Drawing, check_figure, save, unframed
from shuffledp.wording import rounded

__all__ = ["POINTS", "curve_figure", "draw_curve", "save"]

POINTS = 81
LOWEST = 1e-12  # deltas below are of no practical interest, and not drawn
DASHES = ((5.0, 1.5, 1.0, 1.5), (8.0, 2.0), (3.0, 1.0), (5.0, 1.5, 1.0, 1.5, 1.0, 1.5))  # of bounds next to ours
Others = Mapping[str, Callable[[float], float]]
ENDS: tuple[End, ...] = ("lower", "upper")


def curve_figure(
    guarantee: Guarantee,
    path: str | os.PathLike[str],
    *,
    epsilons: ArrayLike | None = None,
    delta: float = 1e-6,
    title: str | None = None,
    also: Others | None = None,
) -> Path:
    """Write the figure of ``draw_curve`` and return the file's path. The file appears whole or not
    at all.
    """
    place = check_figure(path)
    return save(draw_curve(guarantee, epsilons=epsilons, delta=delta, title=title, also=also), place)


def draw_curve(
    guarantee: Guarantee,
    *,
    epsilons: ArrayLike | None = None,
    delta: float = 1e-6,
    title: str | None = None,
    also: Others | None = None,
) -> Figure:
    """Draw delta(epsilon) of ``guarantee`` beside that of the same reports without a shuffler.

    Both certified ends are drawn, and the truth lies between them. ``delta`` is where the two
    guarantees are compared in words. Without ``epsilons`` the axis is logarithmic and reaches from
    below the one guarantee to beyond the other. ``also`` are other bounds on delta, by their names;
    nan where one has no number.
    """
    local = _without_shuffler(guarantee)
    floor = max(min(LOWEST, 1e-6 * guarantee.delta_at_most(epsilon=0.0)), 1e-200)
    marked, ends = ((guarantee.epsilon(delta=at), _epsilon_alone(local, at)) for at in (delta, floor))
    if epsilons is None:
        near, far = _reach(marked[0].upper, marked[1], ends[0].upper, ends[1])
        last = min(far, 1.05 * ends[0].upper) if ends[0].upper > near else far
        at = np.unique(np.append(np.geomspace(near, last, POINTS), _close_to(guarantee.ceiling, near, last)))
    else:
        at = np.unique(np.asarray(epsilons, dtype=np.float64))
        near, far = float(at[0]), float(at[-1])
    lower, upper = (guarantee.deltas(at, end=end, gap=FIGURE_GAP) for end in ENDS)
    band = Band(at, lower, upper)
    even, falling = np.linspace(near, far, POINTS), np.geomspace(max(near, 1e-6 * far), far, POINTS)
    alone_at = np.unique(np.concatenate([even, falling, _close_to(local.ceiling, near, far)]))
    alone = local.deltas(alone_at, end="upper", gap=FIGURE_GAP)

    with mpl.rc_context(STYLE):
        figure = Drawing(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.subplots()
        _draw(axes, band, Band(alone_at, alone, alone), floor, _reports(guarantee))
        if also:
            _others(axes, also, even if epsilons is not None else np.geomspace(near, far, POINTS))
        _scale(axes, near, far, log=epsilons is None)
        if near < marked[0].upper < marked[1] / 1.02 and marked[1] < far:
            _compare(axes, max(marked[0].lower, near), marked[0].upper, marked[1], delta)
        words = guarantee.describe() if title is None else title
        axes.set_title(words.replace("epsilon0", "ε₀"), loc="left", fontweight="bold", pad=24.0)
    return figure


def _without_shuffler(guarantee: Guarantee) -> Guarantee:
    """The same reports, each sent under its owner's name."""
    if not getattr(guarantee, "parts", ()):
        remedy = "Pass one of those; for an Accountant, its total."
        raise InvalidInput(Refusal("guarantee must come from shuffle(...) or compose(...)", repr(guarantee), remedy))
    alone = tuple((shuffle(part.randomizer, n=1), rounds) for part, rounds in shuffled_parts(guarantee))
    return alone[0][0] if sum(rounds for _, rounds in alone) == 1 else Rounds(alone)


def _epsilon_alone(local: Guarantee, delta: float) -> float:
    at_most = lambda epsilon, _: local.delta_at_most(epsilon=epsilon, gap=FIGURE_GAP)  # noqa: E731
    return meets(at_most, delta, local.ceiling, end="upper")


def _reports(guarantee: Guarantee) -> str:
    rounds = sum(rounds for _, rounds in guarantee.parts)
    return "one report" if rounds == 1 else f"{rounds:,} reports"


def _reach(*landmarks: float) -> tuple[float, float]:
    """The epsilons to show: from well below the first landmark to beyond the last."""
    known = [value for value in landmarks if 0.0 < value < math.inf] or [1.0, 10.0]
    return min(known) / 20.0, 2.0 * max(known)


def _close_to(ceiling: float, near: float, far: float) -> Floats:
    """Points that close in on the epsilon at which a pure guarantee falls to nothing."""
    points: Floats = min(ceiling, 1e300) * (1.0 - 10.0 ** -np.arange(1.0, 14.0, 0.5))
    return points[(near <= points) & (points <= far)]


def _draw(axes: Axes, band: Band, local: Band, floor: float, reports: str) -> None:
    upper, lower, alone = (np.where(delta > 0.0, delta, np.nan) for delta in (band.upper, band.lower, local.upper))
    low, high = (np.maximum(end, 1e-3 * floor) for end in (band.lower, band.upper))
    axes.fill_between(band.at, low, high, color=BLUE, alpha=0.25, linewidth=0.0)
    axes.plot(band.at, upper, color=DARK, linewidth=2.0, label="shuffled: at most")
    axes.plot(band.at, lower, color=PALE, linewidth=1.2, linestyle=(0, (4, 2.5)), label="shuffled: at least")
    words = f"{reports} without a shuffler"
    axes.plot(local.at, alone, color=GREY, linewidth=1.4, linestyle=(0, (1, 1.3)), label=words)
    axes.set_yscale("log")
    axes.set_ylim(floor, 1.6)
    axes.set_xlabel("ε")
    axes.set_ylabel("the smallest δ for which (ε, δ)-privacy holds")
    unframed(axes)
    room = {"borderaxespad": 0.2, "handlelength": 2.6, "columnspacing": 1.2, "fontsize": 8.5}
    axes.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=3, frameon=False, **room)


def _others(axes: Axes, also: Others, at: Floats) -> None:
    """Other bounds, with a legend of their own where the curves leave room."""
    first = axes.get_legend()
    drawn = [
        axes.plot(at, [stated(float(each)) for each in at], color=GREY, linewidth=1.2, dashes=dashes, label=name)[0]
        for (name, stated), dashes in zip(also.items(), cycle(DASHES), strict=False)
    ]
    axes.legend(handles=drawn, loc="lower left", fontsize=7.5, handlelength=3.2, framealpha=0.9, edgecolor="white")
    if first is not None:
        axes.add_artist(first)


def _scale(axes: Axes, near: float, far: float, *, log: bool) -> None:
    if log:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if far < 1e3 * near else (1.0,), numticks=20))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}".replace("e-0", "e-")))
    axes.set_xlim(near, far)


def _compare(axes: Axes, least: float, shuffled: float, alone: float, delta: float) -> None:
    """Say in the figure how far apart the two guarantees are."""
    arrow = {"arrowstyle": "->", "color": DARK, "linewidth": 0.8, "shrinkA": 4.0, "shrinkB": 4.0}
    axes.plot([shuffled, alone], [delta, delta], color=DARK, linewidth=0.0, marker="o", markersize=4.0, zorder=4)
    axes.annotate("", xy=(shuffled, delta), xytext=(alone, delta), arrowprops=arrow)
    middle = math.sqrt(shuffled * alone) if axes.get_xscale() == "log" else 0.5 * (shuffled + alone)
    times = alone / shuffled
    notes = [
        (middle, (0.0, 6.0), "center", f"{times:,.{1 if times < 10.0 else 0}f} times smaller"),
        (least, (-7.0, -3.0), "right", f"ε ≤ {rounded(shuffled, up=True, digits=3)}"),
        (alone, (7.0, -3.0), "left", f"ε = {rounded(alone, up=True, digits=3)}"),
    ]
    look: dict[str, Any] = {"color": DARK, "bbox": {"color": "white", "pad": 1.0, "alpha": 0.8}}
    for x, offset, side, text in notes:
        axes.annotate(text, (x, delta), textcoords="offset points", xytext=offset, ha=side, **look)
