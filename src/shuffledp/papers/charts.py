"""One drawing for all experiments: panels of curves side by side, or maps, one row per city, one
column per estimate, one color scale per row.

Curves are told apart without color, and the legend stands beneath. A curve's label gives its color
and marker, the same in all panels. What kind it is shows in the line:

    upper      thick and dark, and the band down to "lower" of the same label holds the truth
    published  thin, with markers                    outside  the same, dashed: where the theorem's
               conditions fail
    unproven   dash-dotted                           invalid  dotted
    printed    markers alone: numbers copied from the paper
"""

from __future__ import annotations

import dataclasses
import math
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shuffledp._types import Floats
from shuffledp.figures.files import BLUE, DARK, GREY, PALE, STYLE
from shuffledp.papers.cities import CITIES
from shuffledp.papers.experiment import Axis, Experiment, Kind, Line, arranged, by_panel
from shuffledp.storage.files import replace_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# In the manner of Okabe and Ito, dark and lighter in turn, so that neighbors differ in grey too;
# the certified ends have blues of their own.
COLOURS = ("#9c3a0a", "#17926d", "#7a2a78", "#b58600", "#444444", "#d9536f", "#1f6273", "#8a74c9", "#6b4423")
CERTIFIED = (DARK, "#4a8fd6", "#2b6f80", "#7a8fc4", "#27496d", "#6aa0d8")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "d")
# The first is the usual one; families that share their markers take the others.
DASHES: dict[Kind, tuple[tuple[float, ...], ...]] = {
    "outside": ((4, 2.2), (3.2, 2.4), (5, 3.5), (3, 1.4)),  # short: two markers must not be joined by one of them
    "unproven": ((7, 1.8, 1.2, 1.8), (4, 1.5, 1.2, 1.5), (9, 1.8, 1.2, 1.8, 1.2, 1.8)),
    "invalid": ((1, 1.6), (1, 1.2, 1, 2.8), (1, 3.2), (1, 1.2, 1, 1.2, 1, 2.8)),
    "lower": ((4, 2.5),),
}
SCALES = (1.0, 1.45, 0.65, 1.2)  # of widths and markers, likewise
OUR_SCALES = (1.0, 0.7, 1.25, 0.55)  # thick as they are
WIDTHS: dict[Kind, float] = {"published": 1.1, "outside": 1.1, "unproven": 1.1, "invalid": 1.5}
WIDTHS |= {"upper": 2.2, "lower": 0.9, "law": 1.5}
NAMES = "epsilon0 eps0 epsilon eps delta0 delta gamma sigma lambda mu nu omega"
GREEK = "ε₀ ε₀ ε ε δ₀ δ γ σ λ μ ν ω"
SYMBOLS = dict(zip(NAMES.split(), GREEK.split(), strict=True))


@dataclass(frozen=True, slots=True)
class Look:
    """Of one label. Labels of one ``family`` share their colour, those with the same ``part`` their
    marker; ``variant`` tells families with the same markers apart; ``enclosed`` has both ends.
    """

    colour: str
    marker: str
    family: str
    part: str
    variant: int
    enclosed: bool


def looks_of(lines: Sequence[Line]) -> dict[str, Look]:
    """The look of every label."""
    labels = list(dict.fromkeys(line.label for line in lines))
    kinds = {label: {line.kind for line in lines if line.label == label} for label in labels}
    certified = [label for label in labels if kinds[label] & {"upper", "lower"}]
    parts = _parts(labels)
    marks = [part for _, part in parts.values() if part]
    alone = [label for label in certified if not parts[label][1]]
    one_band = all(sum(kind in kinds[label] for label in alone) <= 1 for kind in ("upper", "lower"))
    marks += [label for label in labels if not parts[label][1] and not (one_band and label in alone)]
    markers = dict(zip(dict.fromkeys(marks), cycle(MARKERS), strict=False))
    ours = list(dict.fromkeys(parts[label][0] for label in certified))
    others = [family for family in dict.fromkeys(family for family, _ in parts.values()) if family not in ours]
    colours = dict(zip(ours, cycle(CERTIFIED), strict=False)) | dict(zip(others, cycle(COLOURS), strict=False))
    marked = {family for family, part in parts.values() if part}
    groups = ([each for each in group if each in marked] for group in (ours, others))
    variants = {family: i for group in groups for i, family in enumerate(group)}
    looks = {}
    for label, (family, part) in parts.items():
        marker, both = markers.get(part or label, ""), {"upper", "lower"} <= kinds[label]
        looks[label] = Look(colours[family], marker, family, part, variants.get(family, 0), both)
    return looks


def _parts(labels: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Family and marked part of every label: a parameter at its end that varies, or, where labels
    form a grid, what stands before the comma.

    >>> _parts(["strong, nc = 1", "strong, nc = 4", "Balle et al., Thm 3.1"])
    {'strong, nc = 1': ('strong', 'nc = 1'), 'strong, nc = 4': ('strong', 'nc = 4'), 'Balle et al.,
    Thm 3.1': ('Balle et al., Thm 3.1', '')}
    >>> _parts(["RR-2, ours", "RR-9, ours", "RR-2", "RR-9"])
    {'RR-2, ours': ('ours', 'RR-2'), 'RR-9, ours': ('ours', 'RR-9'), 'RR-2': ('', 'RR-2'), 'RR-9':
    ('', 'RR-9')}
    """
    split = {label: label.partition(", ")[::2] for label in labels}
    heads, tails = [head for head, _ in split.values()], [tail for _, tail in split.values() if tail]
    grid = {head for head, tail in split.values() if heads.count(head) > 1 and tails.count(tail) > 1}
    ends = {label: re.fullmatch(r"(.+), ((\S+) = \S+)", label) for label in labels}
    names = [end[3] for end in ends.values() if end]
    found = {}
    for label, (head, tail) in split.items():
        end = ends[label]
        varies = end is not None and names.count(end[3]) > 1
        found[label] = (end[1], end[2]) if end and varies else (tail, head) if head in grid else (label, "")
    return found


def style(kind: Kind, look: Look) -> dict[str, Any]:
    """How a line of this kind is drawn."""
    colour, marker = look.colour, look.marker
    scale = (OUR_SCALES if kind in ("upper", "lower") else SCALES)[look.variant % len(SCALES)]
    dashes = DASHES.get(kind)
    found: dict[str, Any] = {
        "color": colour,
        "linewidth": scale * WIDTHS.get(kind, 0.0),
        "linestyle": (0, dashes[look.variant % len(dashes)]) if dashes else "-",
        "marker": marker or None,
        "markersize": 4.2 * math.sqrt(scale),
        "markerfacecolor": "white" if kind in ("outside", "unproven", "invalid", "printed") else colour,
        "markeredgewidth": 0.9,
        "zorder": {"upper": 3.0, "lower": 2.5, "printed": 4.0}.get(kind, 2.8),
    }
    if kind == "printed":
        found |= {"linestyle": "none", "markersize": 6.0, "markeredgewidth": 1.2}
    if kind == "lower":
        found |= {"marker": (not look.enclosed and marker) or None, "alpha": 0.75}
        found |= {"markersize": 3.2, "markerfacecolor": "white"}
    return found


def symbols(text: str) -> str:
    """Greek letters for their names.

    >>> symbols("epsilon0 = 4, delta(epsilon), epsilons")
    'ε₀ = 4, δ(ε), epsilons'
    """
    return re.sub(r"\b(" + "|".join(SYMBOLS) + r")(?=\b|_)", lambda found: SYMBOLS[found[0]], text)


DPI = 160
MARKS = 7  # markers along one curve
REMARKS: dict[Kind, str] = {
    "outside": "outside its conditions",
    "unproven": "unproven",
    "invalid": "invalid",
    "printed": "the paper's numbers",
}
VARIANTS: dict[Kind, str] = {"outside": "dashed", "invalid": "dotted", "printed": "large marks"}
PANELS_IN_A_ROW = 3
LETTER = 0.066  # width of a letter of the legend, in inches
BAND = 0.18  # opacity


def draw(experiment: Experiment, lines: Sequence[Line], *paths: Path) -> None:
    """Draw the experiment into files, each of which appears whole or not at all; the same lines
    give the same SVG.
    """
    import matplotlib as mpl

    salted: dict[Any, Any] = STYLE | {"svg.hashsalt": experiment.name}
    with mpl.rc_context(salted):
        drawn = (experiment.figure or figure)(experiment, lines)
        for path in paths:
            dated = {"Date": None} if path.suffix == ".svg" else {}
            kept: dict[str, Any] = {"format": path.suffix[1:], "metadata": dated | {"Title": experiment.title}}
            replace_file(path, partial(drawn.savefig, dpi=DPI, **kept))


def figure(experiment: Experiment, lines: Sequence[Line]) -> Figure:
    """The figure of an experiment."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    lines = arranged(lines)
    panels = by_panel(lines) or {"": []}
    columns = len(panels) if len(panels) <= PANELS_IN_A_ROW else math.ceil(math.sqrt(len(panels)))
    rows = math.ceil(len(panels) / columns)
    width = {1: 7.0, 2: 9.6}.get(columns, 12.0)
    looks = looks_of(lines)
    entries = _entries(lines, looks)
    ncols = _columns([len(text) for text, _ in entries], width)
    head, write_heading = heading(experiment, width)
    foot = 0.15 + 0.19 * math.ceil(len(entries) / ncols)
    height = head + foot + rows * (4.0 if columns == 1 else 3.7 if rows == 1 else 3.1)

    layout = ConstrainedLayoutEngine(rect=(0.0, 0.0, 1.0, 1.0 - head / height), w_pad=0.06, h_pad=0.05)
    drawn = Figure(figsize=(width, height), layout=layout)
    x, y = (
        _comparable([[_shown(getattr(line, name), axis) for line in mine] for mine in panels.values()], axis)
        for name, axis in (("x", experiment.x), ("y", experiment.y))
    )
    grid = drawn.subplots(rows, columns, squeeze=False, sharex=x, sharey=y).ravel()
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    for axes, mine in zip(grid, panels.values(), strict=False):
        _curves(axes, mine, looks, experiment)
    views = [axes.get_ylim() for axes in grid]  # of the curves: a band may reach down to 0, off a logarithmic axis
    for i, (axes, (panel, mine), view) in enumerate(zip(grid, panels.items(), views, strict=False)):
        _bands(axes, mine, looks, experiment)
        axes.set_ylim(*view)
        _ticks(axes)
        axes.set_title(symbols(panel), loc="left", fontsize=9.0)
        if i + columns >= len(panels):
            axes.set_xlabel(symbols(experiment.x.label))
            axes.tick_params(labelbottom=True)
    if rows == 1:
        grid[0].set_ylabel(symbols(experiment.y.label))
    else:
        drawn.supylabel(symbols(experiment.y.label), fontsize=9.0)
    write_heading(drawn)
    if entries:
        texts, handles = zip(*entries, strict=True)
        room: dict[str, Any] = {"ncols": ncols, "handlelength": 3.0, "columnspacing": 1.4}
        drawn.legend(handles, texts, loc="outside lower center", frameon=False, fontsize=8.5, **room)
    return drawn


def heading(experiment: Experiment, width: float) -> tuple[float, Callable[[Figure], None]]:
    """The height, in inches, of title and parameters above a figure of this width, and what writes
    them.
    """
    title = textwrap.wrap(symbols(experiment.title), int(width / 0.09))
    words = symbols(f"{experiment.paper}; {experiment.parameters}")
    parameters = textwrap.wrap(words, int(width / 0.066), break_on_hyphens=False)

    def write(drawn: Figure) -> None:
        height, at = drawn.get_figheight(), 0.09 / width
        below = 1.0 - (0.12 + 0.2 * len(title)) / height
        drawn.text(at, 1.0 - 0.09 / height, "\n".join(title), fontsize=10.5, fontweight="bold", va="top", color=DARK)
        drawn.text(at, below, "\n".join(parameters), fontsize=8.5, va="top", color=GREY, linespacing=1.25)

    return 0.16 + 0.2 * len(title) + 0.165 * len(parameters), write


def _comparable(panels: Sequence[Sequence[Floats]], axis: Axis) -> bool:
    """Whether one scale shows every panel well: each fills at least a quarter of it."""
    if axis.own:
        return False
    spans = []
    for values in panels:
        known = np.concatenate([each[np.isfinite(each)] for each in values]) if values else np.empty(0)
        if known.size:
            scaled = np.log(known) if axis.log else known
            spans.append((scaled.min(), scaled.max()))
    whole = max((high for _, high in spans), default=1.0) - min((low for low, _ in spans), default=0.0)
    return all(high - low >= 0.25 * whole for low, high in spans)


def _columns(letters: Sequence[int], width: float) -> int:
    """How many columns of legend entries fit, filled from top to bottom."""
    for ncols in range(min(len(letters), 6), 1, -1):
        split = np.array_split(letters, ncols)  # as matplotlib splits them
        if sum(0.62 + LETTER * column.max() for column in split) <= width - 0.2:
            return ncols
    return 1


def _curves(axes: Axes, lines: Sequence[Line], looks: dict[str, Look], experiment: Experiment) -> None:
    for order, line in enumerate(lines):
        look, marked = style(line.kind, looks[line.label]), _marked(line, order)
        axes.plot(_shown(line.x, experiment.x), _shown(line.y, experiment.y), **look, markevery=marked)
    for axis, set_scale, set_limits in (
        (experiment.x, axes.set_xscale, axes.set_xlim),
        (experiment.y, axes.set_yscale, axes.set_ylim),
    ):
        if axis.log:
            set_scale("log")
        if axis.limits is not None:
            set_limits(*axis.limits)
    axes.grid(visible=True, which="major", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _ticks(axes: Axes) -> None:
    """Numbers for people on a logarithmic axis: 1, 2, 5 where it is short, powers of ten where it
    is long.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for axis, scale, (low, high) in (
        (axes.xaxis, axes.get_xscale(), axes.get_xlim()),
        (axes.yaxis, axes.get_yscale(), axes.get_ylim()),
    ):
        if scale == "log":
            axis.set_minor_formatter(NullFormatter())
            if high < 300.0 * low:
                axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=20))
                axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}".replace("e-0", "e-")))


def _bands(axes: Axes, lines: Sequence[Line], looks: dict[str, Look], experiment: Experiment) -> None:
    """Fill between the certified ends where both are known; a lower end of 0 reaches down to the
    axis.
    """
    for line in lines:
        lower = _other_end(line, lines, looks)
        if lower is not None:
            at, mine, others = np.intersect1d(line.x, lower.x, return_indices=True)
            low, high = lower.y[others], line.y[mine]
            known = np.isfinite(low) & np.isfinite(high)
            if experiment.y.log:
                known &= high > 0.0
                low = np.where(low > 0.0, low, 1e-300)
            ink: dict[str, Any] = {"color": looks[line.label].colour, "alpha": BAND, "linewidth": 0.0, "zorder": 1.0}
            axes.fill_between(at, low, high, where=known, **ink)


def _other_end(upper: Line, lines: Sequence[Line], looks: dict[str, Look]) -> Line | None:
    """The lower end that belongs to an upper one: of the same label, or else the only one left with
    the same marked part.
    """
    if upper.kind != "upper":
        return None
    if looks[upper.label].enclosed:
        return next((line for line in lines if line.kind == "lower" and line.label == upper.label), None)
    part = looks[upper.label].part
    left = [line for line in lines if not looks[line.label].enclosed and looks[line.label].part == part]
    found, rivals = ([line for line in left if line.kind == kind] for kind in ("lower", "upper"))
    return found[0] if len(found) == len(rivals) == 1 else None


def _marked(line: Line, order: int) -> Any:
    """Which points carry a marker: all of few, else some, and not the same as the curves beside
    it.
    """
    points = line.x.size
    if line.kind == "printed" or points <= MARKS + 1:
        return None
    step = max(1, points // MARKS)
    return (order * max(1, step // 4) % step, step)


def _entries(lines: Sequence[Line], looks: dict[str, Look]) -> list[tuple[str, Any]]:
    """The legend, certified ends first: one entry per label, or, where that is shorter, one per
    family and one per marker.
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    labels = list(dict.fromkeys(line.label for line in lines))
    parts = {looks[label].part: looks[label].marker for label in labels if looks[label].part}
    families = list(dict.fromkeys(looks[label].family for label in labels))
    factored = "" not in families and len(families) + len(parts) < len(labels)
    kinds: dict[str, set[Kind]] = {}
    shown: dict[str, Look] = {}
    for line in lines:
        look = looks[line.label]
        short = factored and look.part
        text = look.family if short else line.label
        kinds.setdefault(text, set()).add(line.kind)
        shown[text] = dataclasses.replace(look, marker="") if short else look
    entries: list[tuple[tuple[bool, int], str, Any]] = []
    for text, mine in kinds.items():
        look, place = shown[text], families.index(shown[text].family)
        certified = sorted(mine & {"upper", "lower"}, reverse=True)
        if certified:
            band = Patch(facecolor=look.colour, alpha=BAND if len(certified) == 2 else 0.0)
            handle = (band, Line2D([], [], **style(certified[0], look)))
            ours = ", certified" if mine - {"upper", "lower"} and "certified" not in text else ""
            entries.append(((False, place), text + ours, handle))
        others = [kind for kind in ("published", "law", "unproven", "outside", "invalid", "printed") if kind in mine]
        if others:
            entries.append(((True, place), text + _remark(text, others), Line2D([], [], **style(others[0], look))))
    entries.sort(key=lambda entry: entry[0])
    drawn = [(symbols(text), handle) for _, text, handle in entries]
    for part, marker in parts.items() if factored else ():
        drawn.append((symbols(part), Line2D([], [], color=GREY, linestyle="none", marker=marker, markersize=5.0)))
    return drawn


def _remark(text: str, kinds: Sequence[Kind]) -> str:
    """What the strokes of a curve mean, as far as its name does not say it."""
    first, *others = kinds
    said = [REMARKS[first]] if first in REMARKS and not (first == "printed" and "paper" in text) else []
    said += [f"{how}: {REMARKS[kind]}" for kind, how in VARIANTS.items() if kind in others]
    return f" ({'; '.join(said)})" if said else ""


def _shown(values: Floats, axis: Axis) -> Floats:
    """What an axis can show: nothing infinite, and on a logarithmic one nothing at or below 0."""
    return np.where(np.isfinite(values) & ((values > 0.0) | (not axis.log)), values, np.nan)


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

    panels = by_panel(lines)
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
        ink = {"cmap": colours, "norm": norm, "origin": "lower", "interpolation": "nearest"}
        ink["extent"] = (box.west, box.east, box.south, box.north)
        ink["aspect"] = 1.0 / math.cos(math.radians((box.south + box.north) / 2.0))
        for column, (axes, line) in enumerate(zip(axes_row, mine, strict=True)):
            image = axes.imshow(line.y.reshape(box.rows, box.columns), **ink)
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
        ticks = [tick for tick in TICKS if tick == 0.0 or top / 40.0 <= tick <= top]
        bar = drawn.colorbar(image, cax=axes_row[-1].inset_axes((1.05, 0.0, 0.045, 1.0)), ticks=ticks)
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
    apart = 0.5 * float(np.abs(line.y - truth.y).sum())
    far = "what is to be estimated" if line is truth else f"total variation {apart:.3f}"
    return f"{name}\n{remark}{'; ' if remark else ''}{far}"
