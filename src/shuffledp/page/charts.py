"""The figures of a page. Colors come from the style sheet, so that they follow light, dark and
print.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from shuffledp.numerals import decimals_for, exact, fixed, power, scientific, tied
from shuffledp.page.svg import (
    Chart,
    Markup,
    Scale,
    chart,
    decades,
    disc,
    element,
    join,
    line,
    linear_ticks,
    log_ticks,
    rect,
    ribbon,
    shortened,
    text,
    window,
)

ROW, TEXT, BAR = 40.0, 15.0, 9.0  # height of a row, its line of text, and the bar beneath
FULL, BRIEF = 52, 28  # letters of a label, on a desk and on a phone
LABEL = "58%"  # of the width; what is longer is cut off
CURVE = 300.0
CELL, NAMES, DARKEST = 34.0, 0.26, 0.6  # of a map: height of a row, width of its names, and the largest cell
CLOSE = 6  # columns of a map whose numbers do not touch on a phone
LOWEST = 1e-16  # deltas below are not drawn
WIDE_ENOUGH = 0.04  # of the scale: a narrower interval is enlarged
AROUND = 4.0  # half-widths shown on either side, enlarged
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)  # that are marked on the axis of a distribution
MOST_TICKS = 6


@dataclass(frozen=True, slots=True)
class Bar:
    """One row: a bar from 0 to ``value``, an error bar from ``low`` to ``high``, and the value in
    words, and in ``brief`` for a phone.
    """

    label: str
    words: str
    value: float
    low: float | None = None
    high: float | None = None
    class_: str = "bar"
    brief: str | None = None


def bars(title: str, rows: Sequence[Bar], *, most: float | None = None) -> Chart:
    """Horizontal bars to one scale, each below its label."""
    ends = [end for row in rows for end in (row.value, row.low, row.high) if end is not None]
    scale = Scale(min([0.0, *ends]), most if most is not None else max([0.0, *ends]))
    height, zero = ROW * len(rows), scale(0.0)
    drawn = [_row(row, scale, ROW * place) for place, row in enumerate(rows)]
    return chart(
        title,
        height,
        drawn,
        line(zero, 0.0, zero, height - 6.0, class_="zero") if scale.low < 0.0 else None,
        kind="bars",
    )


def _row(row: Bar, scale: Scale, top: float) -> Markup:
    y, zero, value = top + TEXT + 7.0, scale(0.0), scale(row.value)
    parts = [
        element("svg", _label(row.label), y=top, width=LABEL, height=TEXT + 6.0),
        *_value(row, top + TEXT),
        rect(0.0, y, 1.0, BAR, class_="track"),
        rect(min(zero, value), y, max(zero, value), BAR, class_=row.class_),
    ]
    if row.low is not None and row.high is not None:
        parts.append(_error(scale(row.low), scale(row.high), y + BAR / 2.0, BAR / 2.0 + 2.0))
    return join(parts)


def _value(row: Bar, y: float) -> list[Markup]:
    if row.brief is None:
        return [text(1.0, y, row.words, anchor="end", class_="value")]
    both = ((row.words, "value full"), (row.brief, "value brief"))
    return [text(1.0, y, words, anchor="end", class_=kind) for words, kind in both]


def _label(words: str) -> Markup:
    full, brief = (shortened(words, columns) for columns in (FULL, BRIEF))
    if full == brief:
        return text(0.0, TEXT, full)
    return join([text(0.0, TEXT, full, class_="full"), text(0.0, TEXT, brief, class_="brief")])


def _error(low: float, high: float, y: float, reach: float) -> Markup:
    caps = [line(end, y - reach, end, y + reach, class_="error") for end in (low, high)]
    return join([line(low, y, high, y, class_="error"), *caps])


@dataclass(frozen=True, slots=True)
class MapRow:
    """A row of a map: its name, its numbers in words, and as numbers; the last is their sum."""

    label: str
    words: Sequence[str]
    values: Sequence[float]


def cell_map(title: str, names: Sequence[str], rows: Sequence[MapRow]) -> Chart:
    """Cells in rows, the darker the larger, each with its number; the last row and the last column
    are sums, and are outlined only.
    """
    most = max((value for row in rows[:-1] for value in row.values[:-1]), default=0.0)
    width = (1.0 - NAMES) / len(names)
    heads = [
        text(
            NAMES + width * (at + 0.5),
            TEXT,
            shortened(name, BRIEF // max(2, len(names) - 3)),
            anchor="middle",
            class_="tick",
        )
        for at, name in enumerate(names)
    ]
    drawn: list[Markup | None] = []
    for down, row in enumerate(rows):
        y = TEXT + 8.0 + CELL * down
        drawn.append(element("svg", _label(row.label), y=y + CELL / 2.0 - TEXT + 4.0, width=f"{100.0 * NAMES:g}%"))
        for at, (words, value) in enumerate(zip(row.words, row.values, strict=True)):
            left = NAMES + width * at
            inner = down < len(rows) - 1 and at < len(names) - 1
            share = max(value, 0.0) / most if inner and most > 0.0 else 0.0
            shown = "value" if len(names) <= CLOSE else "value full"  # on a phone, the table alone has the numbers
            drawn += [
                rect(left, y, left + width, CELL, class_="track"),
                rect(left, y, left + width, CELL, class_="bar", strength=DARKEST * share) if inner else None,
                text(left + width / 2.0, y + CELL / 2.0 + 5.0, words, anchor="middle", class_=shown),
            ]
    lines = [line(NAMES, TEXT + 8.0 + CELL * (len(rows) - 1), 1.0, TEXT + 8.0 + CELL * (len(rows) - 1), class_="axis")]
    lines.append(line(1.0 - width, TEXT + 8.0, 1.0 - width, TEXT + 8.0 + CELL * len(rows), class_="axis"))
    return chart(title, TEXT + 10.0 + CELL * len(rows), heads, drawn, lines, kind="bars")


def interval(title: str, value: float, low: float, high: float, lower: float, upper: float) -> Chart:
    """A number with its interval on the scale of what was possible; enlarged beneath, if the
    interval is too narrow to be seen.
    """
    whole = Scale(lower, upper)
    parts = [_axis(whole, 16.0), _estimate(whole, value, low, high, 16.0)]
    half = max(high - value, value - low)
    if not narrow(low, high, lower, upper):
        return chart(title, 56.0, parts, kind="scale")
    near = Scale(value - AROUND * half, value + AROUND * half)
    lens = [(whole(near.low), 16.0), (whole(near.high), 16.0)], [(0.0, 108.0), (1.0, 108.0)]
    enlarged = [
        window(108.0, ribbon(*lens, class_="lens")),
        _axis(near, 108.0),
        _estimate(near, value, low, high, 108.0),
    ]
    return chart(title, 148.0, enlarged[0], parts, enlarged[1:], kind="scale")


def narrow(low: float, high: float, lower: float, upper: float) -> bool:
    """Whether an interval is too narrow to be seen on the whole scale."""
    return 0.0 < high - low < WIDE_ENOUGH * (upper - lower)


def fixed_ticks(low: float, high: float, most: int = 4) -> list[tuple[float, str]]:
    """Round numbers from ``low`` to ``high``, with as many decimals as tell them apart.

    >>> fixed_ticks(0.21, 0.42, 3)
    [(0.3, '0.3'), (0.4, '0.4')]
    """
    ticks = linear_ticks(low, high, most)
    decimals = max(0, decimals_for(ticks[1] - ticks[0]) - 1) if len(ticks) > 1 else 2
    return [(tick, fixed(tick, decimals)) for tick in ticks]


def _axis(scale: Scale, y: float) -> Markup:
    ticks = [(scale(tick), words) for tick, words in fixed_ticks(scale.low, scale.high)]
    marks = [line(x, y, x, y + 6.0, class_="axis") for x, _ in ticks]
    anchors = ["start" if x < 0.04 else "end" if x > 0.96 else "middle" for x, _ in ticks]
    names = [
        text(x, y + 24.0, words, anchor=anchor, class_="tick")
        for (x, words), anchor in zip(ticks, anchors, strict=True)
    ]
    return join([line(0.0, y, 1.0, y, class_="axis"), *marks, *names])


def _across(y: float, words: str) -> Markup:
    """A line of the grid, with its name on the left."""
    return join([line(0.0, y, 1.0, y, class_="grid"), text(0.0, y + 4.0, words, anchor="end", class_="tick", dx=-8.0)])


def _beneath(x: float, words: str, anchor: str = "middle") -> Markup:
    """A mark on the axis of a curve, with its name."""
    mark = line(x, CURVE, x, CURVE + 5.0, class_="axis")
    return join([mark, text(x, CURVE + 21.0, words, anchor=anchor, class_="tick")])


def _guides(x: float, y: float) -> Markup:
    """A point of a curve, led to both axes."""
    lines = [line(0.0, y, x, y, class_="guide"), line(x, y, x, CURVE, class_="guide")]
    return join([*lines, disc(x, y, 5.0, class_="dot")])


def _estimate(scale: Scale, value: float, low: float, high: float, y: float) -> Markup:
    return join(
        [
            rect(scale(low), y - 5.0, scale(high), 10.0, class_="band"),
            _error(scale(low), scale(high), y, 7.0),
            disc(scale(value), y, 5.0, class_="dot"),
        ]
    )


@dataclass(frozen=True, slots=True)
class Dot:
    """A quantile: the number, and the share of people below it."""

    value: float
    share: float


def steps(
    title: str,
    cuts: Sequence[float],
    value: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    dots: Sequence[Dot],
) -> Chart:
    """The share of people below each inner cut point, with its band; all bins are equally wide."""
    bins = len(cuts) - 1

    def through(shares: Sequence[float]) -> list[tuple[float, float]]:
        return [(at / bins, CURVE * (1.0 - min(max(each, 0.0), 1.0))) for at, each in enumerate([0.0, *shares, 1.0])]

    shapes = window(CURVE, ribbon(through(high), through(low), class_="band"), ribbon(through(value), class_="upper"))
    grid = [_across(CURVE * (1.0 - share), f"{100.0 * share:g}%") for share in SHARES]
    ends, marks = {0: "start", bins: "end"}, []
    for at in range(0, bins + 1, -(-bins // MOST_TICKS)):
        grid.append(_beneath(at / bins, exact(cuts[at]), ends.get(at, "middle")))
    for dot in dots:
        bin = next((at for at in range(bins) if dot.value < cuts[at + 1]), bins - 1)
        x = (bin + min((dot.value - cuts[bin]) / (cuts[bin + 1] - cuts[bin]), 1.0)) / bins
        marks.append(_guides(x, CURVE * (1.0 - dot.share)))
    return chart(title, CURVE, grid, line(0.0, CURVE, 1.0, CURVE, class_="axis"), shapes, marks, kind="curve")


def curve(
    title: str,
    epsilons: Sequence[float],
    lower: Sequence[float] | None,
    upper: Sequence[float],
    *,
    promise: tuple[float, float],
    alone: float | None,
) -> Chart:
    """Delta against epsilon, on a logarithmic axis: the band that encloses it, or its upper end
    alone, the point that is claimed, and what a report guarantees alone.
    """
    x = Scale(0.0, epsilons[-1] if epsilons[-1] > 0.0 else 1.0)
    lowest, highest = decades([*upper, promise[1]], LOWEST)
    floor, y = 10.0**lowest, Scale(highest, lowest)

    def place(epsilon: float, delta: float) -> tuple[float, float]:
        return x(epsilon), CURVE * y(math.log10(max(delta, floor)))

    above, below = (
        [place(*point) for point in zip(epsilons, deltas, strict=True)] for deltas in (upper, lower or upper)
    )
    band = [] if lower is None else [ribbon(above, below, class_="band"), ribbon(below, class_="lower")]
    shapes = window(CURVE, *band, ribbon(above, class_="upper"))
    levels = [(CURVE * y(exponent), exponent) for exponent in log_ticks(lowest, highest)]
    grid = [_across(level, power(f"1e{exponent}") if exponent else "1") for level, exponent in levels]
    grid += [_beneath(x(tick), words) for tick, words in fixed_ticks(x.low, x.high, 5)]
    names = [
        text(0.0, -14.0, "δ", anchor="end", class_="axis-name", dx=-8.0),
        text(1.0, CURVE + 40.0, "ε", anchor="end", class_="axis-name"),
    ]
    marks = []
    if alone is not None and alone <= x.high:
        marks.append(line(x(alone), 0.0, x(alone), CURVE, class_="alone"))
        marks.append(text(x(alone), 14.0, "one report alone", anchor="end", class_="note", dx=-8.0))
    if promise[1] >= floor:
        at, level = place(*promise)
        side, dx = ("start", 8.0) if at < 0.6 else ("end", -8.0)
        words = tied(f"ε ≤ {scientific(promise[0], up=True)}")
        marks += [_guides(at, level), text(at, level - 10.0, words, anchor=side, class_="mark", dx=dx)]
    return chart(title, CURVE, grid, line(0.0, CURVE, 1.0, CURVE, class_="axis"), shapes, marks, names, kind="curve")


HEIGHT, ROOM = 180.0, 6  # names of weeks beneath, at most
EDGE = 0.03  # of the width, left free on either side


@dataclass(frozen=True, slots=True)
class Mark:
    """One week: its place in time, its name, the estimate, its interval, and the one for all weeks
    at once, where there is one.
    """

    place: int
    name: str
    value: float
    low: float
    high: float
    band: tuple[float, float] | None


def trend_chart(title: str, marks: Sequence[Mark], unit: str = "") -> Chart:
    """Weeks from left to right; a line joins those between which none is missing. The axis has the
    ``unit`` behind its numbers.
    """
    ends = [end for mark in marks for end in (mark.low, mark.high, *(mark.band or ()))]
    y = Scale(max(ends), min(ends))
    across = Scale(marks[0].place, marks[-1].place)

    def x(mark: Mark) -> float:
        return EDGE + (1.0 - 2.0 * EDGE) * across(mark.place)

    grid = [_across(HEIGHT * y(tick), f"{words}{unit}") for tick, words in fixed_ticks(min(ends), max(ends))]
    some = marks[:: max(1, -(-len(marks) // ROOM))]
    names = [text(x(mark), HEIGHT + 21.0, mark.name, anchor="middle", class_="tick") for mark in some]
    joined = [
        ribbon([(x(one), HEIGHT * y(one.value)), (x(other), HEIGHT * y(other.value))], class_="upper")
        for one, other in pairwise(marks)
        if other.place == one.place + 1
    ]
    drawn = [_week(x(mark), mark, y) for mark in marks]
    return chart(title, HEIGHT, grid, window(HEIGHT, joined), drawn, names, kind="curve")


def _week(at: float, mark: Mark, y: Scale) -> Markup:
    parts = []
    if mark.band is not None:
        parts.append(line(at, HEIGHT * y(mark.band[1]), at, HEIGHT * y(mark.band[0]), class_="guide"))
    parts.append(line(at, HEIGHT * y(mark.high), at, HEIGHT * y(mark.low), class_="error"))
    parts += [
        line(at - 0.008, HEIGHT * y(end), at + 0.008, HEIGHT * y(end), class_="error") for end in (mark.low, mark.high)
    ]
    return join([*parts, disc(at, HEIGHT * y(mark.value), 4.0, class_="dot")])
