"""A series on one page, like that of a release: the trend, the changes, the weeks, the budget, and
what all of it does and does not say. It depends on the weeks alone, and can be made again.
"""

from __future__ import annotations

from shuffledp import __version__
from shuffledp.page.document import top
from shuffledp.page.markup import Markup, element, join, label
from shuffledp.page.numerals import (
    count,
    decimals_for,
    exact,
    fixed,
    level,
    many,
    meaning,
    moment,
    predicted,
    scientific,
    tied,
    times,
)
from shuffledp.page.parts import facts_list, figure, gloss, section
from shuffledp.page.svg import Chart, shortened
from shuffledp.page.svg_file import SEEDED, SvgFigure
from shuffledp.page.trend_chart import Mark, trend_chart
from shuffledp.series.pausing import Pace, paces, spent_after
from shuffledp.series.trend import Change, Point, Trend, Unit, trend_of, write_trend
from shuffledp.series.weeks import WEEKS, Tracked
from shuffledp.storage.files import replace_file

__all__ = ["PAGE", "PAGES", "series_html", "trend_svg", "write_pages"]

PAGE, TABLE = "trend.html", "trend.csv"
PAGES = {PAGE: "all weeks on one page", TABLE: "every week of every line with its intervals"}
LETTERS = 52  # of a label above its chart
PANELS = 8  # lines that are drawn; the table has all
PACE = {1: "Every week", 2: "Every second week", 4: "Every fourth week"}
COVERED = (
    "Each interval is about the people who reported in that week, and covers the noise of the protocol. Noise is drawn "
    "afresh every week, so that the estimates of two weeks are independent, whatever the people did: the interval of a "
    "change covers the difference between those who reported in one week and those who reported in the other."
)
NOT_COVERED = (
    "Not covered: that other people may have reported, that some may have left and others joined, and what people who "
    "did not report hold. A change is one of the people who were asked, or of their answers, and this page cannot tell "
    "which."
)
NOT_LOOKING = (
    "These numbers are certified for a pace that is chosen without looking at the answers. Other noise is another "
    "design, and another series."
)


def write_pages(state: Tracked) -> None:
    """Make the page and the table of a series again, each in place at once."""
    trend, page = trend_of(state), series_html(state)
    replace_file(state.folder / TABLE, lambda place: write_trend(trend, place))
    replace_file(state.folder / PAGE, lambda place: place.write_text(page, encoding="utf-8"))


def trend_svg(trend: Trend) -> SvgFigure:
    """The trend by itself, for a notebook or a file."""
    series = trend.series
    bound = series.design.protocol.guarantee.epsilon(delta=series.design.delta)
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
    more = f" {many(cut, 'more line')} stand in {TABLE}." if cut else ""
    return (
        f"{_units(trend)} in every week. Solid: the {level(trend.level)} interval of a week; dotted: the one "
        f"that holds for all weeks of the series and all lines at once, also the weeks to come. Weeks that are "
        f"missing are gaps.{more}"
    )


def _name(point: Point) -> str:
    return str(point.week) if point.period is None else point.period


def series_html(state: Tracked) -> str:
    """One HTML file: no network, no script, nothing beside it but the pages of the weeks."""
    trend, series = trend_of(state), state.series
    sections = [_trend(trend), _changes(trend), _weeks(state), _budget(state), _says()]
    footer = element("footer", element("p", f"Made by shuffledp {__version__} from the pages of the weeks."))
    body = element("body", _head(state, trend), element("main", join(sections, "\n")), footer, "\n")
    return f"<!DOCTYPE html>\n{element('html', top(series.title or series.name), body, lang='en')}\n"


def _head(state: Tracked, trend: Trend) -> Markup:
    series, design = state.series, state.series.design
    bound = design.protocol.guarantee.epsilon(delta=design.delta)
    seeded = element(
        "p", element("strong", "Not for release."), " A seed drew the noise of a week.", class_="banner", role="note"
    )
    tiles = (
        ("Privacy", f"ε ≤ {scientific(bound.upper, up=True)}", f"for all {many(series.weeks, 'week')}"),
        ("Released", count(len(state.taken)), f"of {many(series.weeks, 'week')}"),
        ("Left", count(state.left), "weeks"),
    )
    return element(
        "header",
        element("p", "Differentially private series", class_="kicker"),
        element("h1", label(series.title or series.name)),
        element("p", f"Since {moment(series.created)}", class_="when"),
        None if trend.secure else seeded,
        element("div", [_tile(*each) for each in tiles], class_="tiles"),
        element("p", tied(meaning(bound.upper, design.delta)), class_="meaning"),
        facts_list(
            [
                ("Series", label(series.name)),
                ("Question", design.task.name),
                ("People", f"{count(design.honest)} to {count(design.n)} in a week"),
                ("Promised", f"ε = {exact(design.epsilon or 0.0)} at δ = {exact(design.delta)}, all weeks together"),
                ("Digest", element("code", series.digest)),
            ]
        ),
    )


def _tile(term: str, value: str, words: str) -> Markup:
    parts = (("term", term), ("big", value), ("under", tied(words)))
    return element("div", [element("p", each, class_=kind) for kind, each in parts], class_="tile")


def _trend(trend: Trend) -> Markup:
    """A figure for each label, or for the largest."""
    if not trend.lines:
        return section("trend", "The trend", element("p", "No week has been released yet."))
    drawn = [(element("h3", label(each)), figure(chart)) for each, chart in _charts(trend)]
    return section("trend", "The trend", gloss(_caption(trend)), drawn)


def _changes(trend: Trend) -> Markup | None:
    """From week to week; those that are more than noise."""
    every = [(each, change) for each in trend.lines for change in trend.changes(each)]
    if not every:
        return None
    told = [(each, change) for each, change in every if change.told]
    words = (
        f"{len(told)} of {many(len(every), 'change')} from one week to the next can be told from noise, all of them at "
        f"once."
    )
    head = element("tr", [element("th", each, scope="col") for each in ("Value", "From", "To", "Change", "Interval")])
    rows = [_changed(trend.units[each], each, change) for each, change in (told or every)[:PANELS]]
    table = element("table", element("thead", head), element("tbody", rows))
    return section(
        "changes",
        "Changes",
        element("p", tied(words)),
        element("div", table, class_="wide", tabindex="0"),
        gloss("The intervals of this table hold for all changes of the series at once." if told else ""),
    )


def _changed(unit: Unit, name: str, change: Change) -> Markup:
    low, high = (change.lower, change.upper) if change.band is None or not change.told else change.band
    half = (high - low) / 2.0
    cells = (
        _name(change.since),
        _name(change.to),
        _number(unit, change.value, half),
        f"{_number(unit, low, half, up=False)} to {_number(unit, high, half, up=True)}",
    )
    return element("tr", element("th", label(name), scope="row"), [element("td", each) for each in cells])


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


def _weeks(state: Tracked) -> Markup:
    """Every week, with its page."""
    rows, periods = [], state.periods()
    for week, record in state.standing.items():
        link = element("a", f"week {week}", href=f"{WEEKS}/{week:03d}/page.html")
        cells = (periods[week] or "", count(record.counted.reports), moment(record.made.when))
        rows.append(element("tr", element("th", link, scope="row"), [element("td", each) for each in cells]))
    head = element("tr", [element("th", each, scope="col") for each in ("Week", "Period", "Reports", "Released")])
    elsewhere = sorted(state.taken - set(state.standing))
    said = f"Released elsewhere, says the ledger: week {', '.join(map(str, elsewhere))}." if elsewhere else None
    return section(
        "weeks",
        "The weeks",
        element("div", element("table", element("thead", head), element("tbody", rows)), class_="wide", tabindex="0"),
        None if said is None else element("p", said),
    )


def _budget(state: Tracked) -> Markup:
    """What was spent, and what a pause would buy."""
    design, released = state.series.design, len(state.taken)
    spent, options = spent_after(design, released), paces(design, released)
    words = "Nothing has been spent yet."
    if spent is not None:
        words = (
            f"{many(released, 'week')} so far: ε ≤ {scientific(spent.upper, up=True)} at δ = {exact(design.delta)}. "
            f"Whoever stops here has spent that and no more."
        )
    if state.paid is not None:
        words += " The ledger keeps what was paid for all weeks."
    names = ("If asked", "Weeks", "ε in all", "Error", "Calibrated anew")
    head = element("tr", [element("th", each, scope="col") for each in names])
    table = element("table", element("thead", head), element("tbody", [_pace(each) for each in options]))
    return section(
        "budget",
        "What is left, and what a pause would buy",
        element("p", tied(words)),
        element("div", table, class_="wide", tabindex="0") if options else None,
        gloss(NOT_LOOKING) if options else None,
    )


def _pace(pace: Pace) -> Markup:
    better = ""
    if pace.gain is not None and pace.calibrated_error is not None:
        better = f"{predicted(pace.calibrated_error)}: {times(pace.gain)} times smaller"
    cells = (count(pace.asked), f"≤ {scientific(pace.epsilon.upper, up=True)}", predicted(pace.error), better)
    return element("tr", element("th", PACE[pace.every], scope="row"), [element("td", each) for each in cells])


def _says() -> Markup:
    return section(
        "covered",
        "What this says, and what it does not",
        element("p", COVERED),
        element("p", NOT_COVERED),
        element("pre", element("code", "shuffledp track verify FOLDER"), class_="command"),
    )
