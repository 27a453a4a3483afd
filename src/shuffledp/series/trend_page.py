"""A series on one page, like that of a release: the trend, the changes, the weeks, the budget, and
what all of it does and does not say. It depends on the weeks alone, and can be made again.
"""

from __future__ import annotations

from shuffledp import __version__
from shuffledp.page.numerals import decimals_for, exact, fixed, level, many, scientific, tied
from shuffledp.page.page import rendered
from shuffledp.page.svg import Chart, shortened
from shuffledp.page.svg_file import SEEDED, SvgFigure
from shuffledp.page.trend_chart import Mark, trend_chart
from shuffledp.series.pausing import paces, spent_after
from shuffledp.series.trend import Change, Point, Trend, Unit, trend_of, write_trend
from shuffledp.series.weeks import Tracked
from shuffledp.storage.files import replace_file

__all__ = ["PAGE", "PAGES", "series_html", "trend_svg", "write_pages"]

PAGE, TABLE = "trend.html", "trend.csv"
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
        points, unit = trend.lines[each], trend.units[each]
        marks = [Mark(one.place, _name(one), one.value, one.lower, one.upper, one.band) for one in points]
        words = "; ".join(f"{_name(one)}: {_number(unit, one.value, _half(one))}" for one in points)
        drawn.append((each, trend_chart(f"{each}, {unit}: {words}.", marks)))
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
    every = [(each, change) for each in trend.lines for change in trend.changes(each)]
    distinct = [(each, change) for each, change in every if change.told]
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
        changes=[(each, _cells(trend.units[each], change)) for each, change in (distinct or every)[:PANELS]],
        weeks=[(week, periods[week], record) for week, record in state.standing.items()],
        elsewhere=sorted(state.taken - set(state.standing)),
        released=released,
        left=state.left,
        spent=spent_after(design, released),
        paces=paces(design, released),
        paid=state.paid is not None,
    )


def _cells(unit: Unit, change: Change) -> list[str]:
    low, high = (change.lower, change.upper) if change.band is None or not change.told else change.band
    half = (high - low) / 2.0
    between = f"{_number(unit, low, half, up=False)} to {_number(unit, high, half, up=True)}"
    return [_name(change.since), _name(change.to), _number(unit, change.value, half), between]


def _units(trend: Trend) -> str:
    """What the lines are of, each once."""
    units = dict.fromkeys(trend.units[each] for each in trend.largest(PANELS))
    return f"The {' or '.join(units)}"


def _number(unit: Unit, value: float, half: float, *, up: bool | None = None) -> str:
    """A share in per cent, or a number as it is; limits are rounded outwards."""
    share = unit.startswith("share")
    scale = 100.0 if share else 1.0
    words = fixed(scale * value, decimals_for(scale * half), up=up)
    return f"{words} %" if share else words


def _half(point: Point) -> float:
    return (point.upper - point.lower) / 2.0
