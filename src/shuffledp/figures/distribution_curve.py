"""A distribution function with its band, and its quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shuffledp.figures.style import BLUE, DARK, GREY, PALE, STYLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["DrawnDistribution", "draw_distribution"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnDistribution:
    """The share of people below each of the ``cuts``, the first and the last included: estimates,
    and limits that hold for all at once at a ``level``. ``quantiles`` are shares, values and their
    intervals.
    """

    cuts: Sequence[float]
    shares: Sequence[float]
    lower: Sequence[float]
    upper: Sequence[float]
    level: float
    quantiles: Sequence[tuple[float, float, float, float]] = ()

    @property
    def logarithmic(self) -> bool:
        """Whether the bins grow so much that their ends are drawn on a logarithmic axis."""
        return self.cuts[0] > 0.0 and self.cuts[-1] / self.cuts[0] > 100.0


def draw_distribution(found: DrawnDistribution, *, title: str | None = None) -> Figure:
    """Draw a distribution function: its band, and a bar for the interval of each quantile."""
    import matplotlib as mpl

    from shuffledp.figures.drawing import Drawing

    percent = f"{100.0 * found.level:g} %"
    with mpl.rc_context(STYLE):
        figure = Drawing(figsize=(6.4, 4.2), layout="constrained")
        axes = figure.subplots()
        axes.fill_between(
            found.cuts,
            [100.0 * each for each in found.lower],
            [100.0 * each for each in found.upper],
            color=PALE,
            alpha=0.45,
            linewidth=0.0,
            label=f"{percent} band, at all cut points at once",
        )
        axes.plot(found.cuts, [100.0 * each for each in found.shares], color=BLUE, linewidth=1.6)
        for at, value, low, high in found.quantiles:
            own = "_" if at != found.quantiles[0][0] else f"quantiles, {percent} interval of each"
            axes.hlines(100.0 * at, low, high, color=DARK, linewidth=2.4, label=own)
            axes.plot([value], [100.0 * at], "o", color=DARK, markersize=4.5)
        if found.logarithmic:
            axes.set_xscale("log")
        axes.set_xlim(found.cuts[0], found.cuts[-1])
        axes.set_ylim(0.0, 100.0)
        axes.set_ylabel("% of people below")
        axes.grid(visible=True, color="0.9", linewidth=0.6)
        axes.axhline(50.0, color=GREY, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        if title is not None:
            figure.suptitle(title, x=0.01, ha="left", fontweight="bold", parse_math=False)
        figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8.0)
    return figure
