"""A series on one page, like that of a release: the trend, the changes, the weeks, the budget, and
what all of it does and does not say. It depends on the weeks alone, and can be made again.
"""

from __future__ import annotations

import re

from shuffledp import __version__
from shuffledp.numerals import SPACE, decimals_for, exact, fixed, level, many, scientific, tied
from shuffledp.page.charts import Mark, trend_chart
from shuffledp.page.page import SEEDED, rendered
from shuffledp.page.svg import Chart, SvgFigure, shortened
from shuffledp.series.pausing import paces, spent_after
from shuffledp.series.trend import Change, Point, Trend, trend_of, write_trend
from shuffledp.series.weeks import Tracked
from shuffledp.storage.files import replace_file

Labeled = tuple[str, Change]

PAGE, TABLE = "trend.html", "trend.csv"
WRITER = re.compile(r"Made by shuffledp (\S{1,40}) from the pages of the weeks")
PAGES = {PAGE: "all weeks on one page", TABLE: "every week of every line with its intervals"}
LETTERS = 52  # of a label above its chart
PANELS = 8  # lines that are drawn; the table has all


def write_pages(state: Tracked) -> None:
    """Make the page and the table of a series again, each in place at once."""
    trend, page = trend_of(state), series_html(state)
    replace_file(state.folder / TABLE, lambda place: write_trend(trend, place))
    replace_file(state.folder / PAGE, lambda place: place.write_text(page, encoding="utf-8"))


def trend_svg(trend: Trend) -> SvgFigure:
    """The trend by itself, for a notebook or a file."""
    series = trend.series
    bound = series.design.poll.guarantee.epsilon(delta=series.design.delta)
    promise = (
        f"{trend.weeks} of {many(series.weeks, 'week')}; ε ≤ {scientific(bound.upper, up=True)} at δ = "
        f"{exact(series.design.delta)} for all weeks together{'' if trend.secure else SEEDED}"
    )
    charts = [(f"{shortened(each, LETTERS)}, {trend.units[each]}", chart) for each, chart in _charts(trend)]
    return SvgFigure(series.title or series.name, tied(promise), charts, _caption(trend))


def _charts(trend: Trend) -> list[tuple[str, Chart]]:
    """A chart for each label, or for the largest."""
    drawn = []
    for each in trend.largest(PANELS):
        unit, marks, words = trend.units[each], [], []
        scale, percent = _spelled(unit)
        for point in trend.lines[each]:
            ends = (point.value, point.lower, point.upper, *(point.band or ()))
            value, low, high, *band = (scale * end for end in ends)
            marks.append(Mark(point.place, _name(point), value, low, high, (band[0], band[1]) if band else None))
            words.append(f"{_name(point)}: {fixed(value, decimals_for((high - low) / 2.0))}{percent}")
        drawn.append((each, trend_chart(f"{each}, {unit}: {'; '.join(words)}.", marks, percent)))
    return drawn


def _caption(trend: Trend) -> str:
    cut = len(trend.lines) - len(trend.largest(PANELS))
    more = f" {many(cut, 'more line')} are in {TABLE}." if cut else ""
    return (
        f"{_units(trend)} in every week. Solid: the {level(trend.level)} interval of a week; dotted: the one "
        f"that holds for all weeks of the series and all lines at once, also the weeks to come. Weeks that are "
        f"missing are gaps.{more}"
    )


def _name(point: Point) -> str:
    return str(point.week) if point.period is None else point.period


def series_html(state: Tracked) -> str:
    """One HTML file: no network, no script, nothing next to it but the pages of the weeks."""
    trend, series, periods = trend_of(state), state.series, state.periods()
    design, released = series.design, len(state.taken)
    every, distinct = compared(trend)
    return rendered(
        "series/trend.html",
        name=series.title or series.name,
        version=__version__,
        series=series,
        design=design,
        fewest=design.honest,
        trend=trend,
        bound=design.poll.guarantee.epsilon(delta=design.delta),
        charts=_charts(trend) if trend.lines else [],
        caption=tied(_caption(trend)) if trend.lines else "",
        every=len(every),
        distinct=len(distinct),
        changes=[
            (label, [_name(change.since), _name(change.to), *in_words(trend, label, change)])
            for label, change in (distinct or every)[:PANELS]
        ],
        uncut=all(change.band is not None for _, change in every),
        weeks=[(week, periods[week], record) for week, record in state.standing.items()],
        elsewhere=sorted(state.taken - set(state.standing)),
        released=released,
        left=state.left,
        spent=spent_after(design, released),
        paces=paces(design, released),
        paid=state.paid is not None,
    )


def compared(trend: Trend) -> tuple[list[Labeled], list[Labeled]]:
    """All changes from week to week, and those that can be told from noise, all of them at once."""
    every = [(label, change) for label in trend.lines for change in trend.changes(label)]
    return every, [(label, change) for label, change in every if change.told]


def in_words(trend: Trend, label: str, change: Change) -> tuple[str, str]:
    """A change, and the interval that holds for all changes at once: of shares in percentage
    points. An end is shown on its own side of 0.
    """
    scale, percent = _spelled(trend.units[label])
    low, high = (scale * end for end in change.band or (change.lower, change.upper))
    decimals = decimals_for((high - low) / 2.0)
    if change.told:
        decimals = max(decimals, decimals_for(min(abs(low), abs(high))))
    between = f"{fixed(low, decimals, up=False)} to {fixed(high, decimals, up=True)}"
    points = f"{SPACE}percentage points" if percent else ""
    value = f"{'+' if change.value > 0.0 else ''}{fixed(scale * change.value, decimals)}{points}"
    return value, "not known" if change.band is None else between


def _spelled(unit: str) -> tuple[float, str]:
    """By what a number is multiplied where it is shown, and what stands behind it."""
    return (100.0, f"{SPACE}%") if unit.startswith("share") else (1.0, "")


def _units(trend: Trend) -> str:
    """What the lines are of, each once."""
    units = dict.fromkeys(trend.units[each] for each in trend.largest(PANELS))
    return f"The {' or '.join(units)}"
