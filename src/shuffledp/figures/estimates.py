"""The estimates of a release, with error bars."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shuffledp.figures.figures import check_figure
from shuffledp.figures.style import BLUE, DARK, GREY, PALE, STYLE
from shuffledp.randomizers.randomizer import Floats
from shuffledp.storage.files import replace_file
from shuffledp.wording import rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_estimates", "draw_release", "estimates_figure"]

ROWS = 40
LETTERS = 30
CLIPPED, CLIPPED_MEAN = "clipped to the bounds", "clipped mean"
AROUND = 8.0  # half-widths of the interval that are shown on either side of a mean


def estimates_figure(facts: Mapping[str, Any], path: str | os.PathLike[str]) -> Path:
    """Draw the estimates in the facts of a release and return the file's path."""
    import matplotlib as mpl

    path = check_figure(path)
    figure = draw_release(facts)
    with mpl.rc_context(STYLE):
        replace_file(path, lambda temporary: figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=200))
    return path


def draw_release(facts: Mapping[str, Any]) -> Figure:
    """The estimates in the facts of a release, under what was asked and what is certified."""
    found, design = facts["estimates"], facts["design"]
    bounds = (design["lower"], design["upper"]) if found["unit"] == "mean" else None
    return draw_estimates(found, title=_title(facts, len(_shown(found["value"]))), bounds=bounds)


def draw_estimates(
    found: Mapping[str, Any], *, title: str | None = None, bounds: tuple[float, float] | None = None
) -> Figure:
    """Draw columns of estimates: thick the interval of each, thin the one that holds for all at
    once.

    Of more than 40 the largest are drawn, with only the latter: the largest of many are large by
    luck as well, and an interval of its own misses many a one. ``bounds`` are those of a mean.
    """
    import matplotlib as mpl

    from shuffledp.figures.drawing import Drawing

    shown = _shown(found["value"])
    with mpl.rc_context(STYLE):
        figure = Drawing(figsize=(6.4, 1.5 + 0.24 * max(len(shown), 2)), layout="constrained")
        axes = figure.subplots()
        _draw(axes, found, shown)
        if bounds is not None:
            _near(axes, found, bounds)
        if title is not None:
            figure.suptitle(title, x=0.01, ha="left", fontweight="bold", parse_math=False)
        figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8.0)
    return figure


def _shown(values: Sequence[float]) -> list[int]:
    """The places to draw: all in their order, or the largest first."""
    if len(values) <= ROWS:
        return list(range(len(values)))
    return [int(place) for place in np.argsort(-np.asarray(values), kind="stable")[:ROWS]]


def _draw(axes: Axes, found: Mapping[str, Any], shown: list[int]) -> None:
    rows = np.arange(len(shown))
    value, low, high, lowest, highest = (
        np.asarray(found[name])[shown] for name in ("value", "lower", "upper", "all_lower", "all_upper")
    )
    level, mean = f"{100.0 * found['level']:g} %", found["unit"] == "mean"
    if not mean:
        axes.barh(rows, value, height=0.62, color=PALE, alpha=0.45, linewidth=0.0)
        axes.axvline(0.0, color=GREY, linewidth=0.8)
    cut = len(shown) < found["of"]
    if found["of"] > 1:
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
            label=f"{level} interval{', for each by itself' * (found['of'] > 1)}",
        )
    axes.plot(value, rows, "|", color=DARK, markersize=9.0, markeredgewidth=1.2)
    if not mean:
        _numbers(axes, value, *((lowest, highest) if cut else (low, high)), np.maximum(highest, value))
    if mean:
        axes.set_yticks([])
    else:
        axes.set_yticks(rows, [_short(found["label"][place]) for place in shown], fontsize=8.0, parse_math=False)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlabel(found["label"][0] if mean else "people")
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


def _near(axes: Axes, found: Mapping[str, Any], bounds: tuple[float, float]) -> None:
    """The part of the possible range around a mean, in which its interval can be seen."""
    value, low, high = (found[name][0] for name in ("value", "lower", "upper"))
    reach, (least, most) = AROUND * max(value - low, high - value), bounds
    if reach > 0.0:
        axes.set_xlim(min(max(value - reach, least), low), max(min(value + reach, most), high))
    axes.set_xlabel(f"{found['label'][0]}, of a possible {least:g} to {most:g}")


def _title(facts: Mapping[str, Any], rows: int) -> str:
    asked, bound, of = facts["asked"], facts["certificate"]["epsilon"], facts["estimates"]["of"]
    what = CLIPPED_MEAN if asked.get("outside") == CLIPPED else asked["task"]
    name = asked.get("title") or (
        f"{what} of {asked['column']}" if asked.get("column") else str(asked.get("what") or asked["task"])
    )
    largest = f"; the {rows} largest of {of:,}" if rows < of else ""
    if largest and max(facts["estimates"]["all_lower"]) <= 0.0:
        largest += ", none told from 0"
    delta = f"{bound['delta']:g}".replace("e-0", "e-")
    return (
        f"{_short(name)}{largest}\n{facts['counted']['reports']:,} reports, ε ≤ {rounded(bound['upper'], up=True)} "
        f"at δ = {delta}"
    )


def _short(words: str) -> str:
    """One line of what can be printed."""
    words = "".join(each if each.isprintable() else " " for each in words).strip()
    return words if len(words) <= LETTERS else words[: LETTERS - 1].rstrip() + "…"
