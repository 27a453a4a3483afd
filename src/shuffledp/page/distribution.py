"""A distribution function: drawn with its band, its quantiles, and how many people are below each
cut point. Its words are those of the terminal, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from shuffledp.page import phrases
from shuffledp.page.charts import CURVE
from shuffledp.page.markup import Markup, element, join
from shuffledp.page.numerals import count, decimals_for, exact, fixed, level, percent
from shuffledp.page.parts import details, figure, gloss, section
from shuffledp.page.shown_answer import Drawn, ShownAnswer
from shuffledp.page.svg import Chart, chart, disc, line, ribbon, text, window
from shuffledp.record import AtQuantiles, Record

__all__ = ["CLIPPED_ENDS", "ShownCuts", "quantile_name", "quantile_rows", "range_rows", "rows_of", "swayed_rows"]

CLIPPED_ENDS = (
    "Values outside the range were counted in its first or last bin, so a quantile in one of these is at its end or "
    "beyond it, and the reports do not say how far."
)
NAMES = {0.25: "lower quartile", 0.5: "median", 0.75: "upper quartile"}
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)  # that are marked on the axis
MOST_TICKS = 6
LONG = 400  # rows that are not printed unless they are opened


def quantile_rows(record: Record) -> list[tuple[str, str, str]]:
    """For each quantile that was asked for: what it is called, where it is, and between which
    ends.
    """
    found = record.estimates.quantiles
    if found is None:
        return []
    cuts, clips = record.design.cuts or (), record.asked.may_be_clipped
    return [
        (quantile_name(at), _point(value, cuts, clips=clips), _between(low, high, cuts, clips=clips))
        for at, value, low, high in zip(found.at, found.value, found.lower, found.upper, strict=True)
    ]


def range_rows(record: Record) -> list[tuple[str, str, str, str]]:
    """For each range that was asked for: what it is, how many people are in it, between which
    limits, and what share of all that is.
    """
    found, ranges, reports = record.estimates.ranges, record.design.ranges or (), record.counted.reports
    if found is None:
        return []
    rows = []
    for (low, high), value, lower, upper in zip(ranges, found.value, found.lower, found.upper, strict=True):
        limits = f"{fixed(lower, 0, up=False)} to {fixed(upper, 0, up=True)}"
        rows.append((f"{exact(low)} to {exact(high)}", fixed(value, 0), limits, percent(value / reports)))
    return rows


def swayed_rows(record: Record) -> list[tuple[str, str, str, str]]:
    """For each quantile that was asked for: what it is called, where it is, and between which
    values it would be if one malicious person, and if 1 %, had reported honestly.
    """
    found = record.estimates.quantiles
    if found is None or None in found.swayed:
        return []
    cuts, rows = record.design.cuts or (), []
    columns = zip(*(column for column in found.swayed if column is not None), strict=True)
    for (name, point, _), ends in zip(quantile_rows(record), columns, strict=True):
        clips = record.asked.may_be_clipped
        one, some = (_spread(low, high, cuts, clips=clips) for low, high in (ends[:2], ends[2:]))
        rows.append((name, point, one, some))
    return rows


def _spread(low: float, high: float, cuts: Sequence[float], *, clips: bool) -> str:
    """From one value to the other, each rounded outward to a tenth of a bin; beyond the ends of the
    range, where values may have been clipped.
    """
    digits = max(decimals_for(after - before) for before, after in pairwise(cuts))
    least, most = fixed(low, digits, up=False), fixed(high, digits, up=True)
    first, last = clips and low < cuts[1], clips and high > cuts[-2]
    if first and last:
        return "anywhere"
    if first:
        return f"below {most}"
    return f"{least} or more" if last else f"{least} to {most}"


def quantile_name(at: float) -> str:
    """What a quantile is called."""
    return NAMES.get(at, f"{exact(at)}-quantile")


def _point(value: float, cuts: Sequence[float], *, clips: bool) -> str:
    """The point estimate, to a tenth of its bin; where values may have been clipped, no place in
    the first or the last bin is any better than another.
    """
    low, high = next(((low, high) for low, high in pairwise(cuts) if value < high), tuple(cuts[-2:]))
    if clips and low == cuts[0]:
        return f"below {exact(high)}"
    if clips and high == cuts[-1]:
        return f"{exact(low)} or more"
    return fixed(value, decimals_for(high - low))


def _between(low: float, high: float, cuts: Sequence[float], *, clips: bool) -> str:
    first, last = clips and low == cuts[0], clips and high == cuts[-1]
    if first and last:
        return "anywhere"
    if first:
        return f"below {exact(high)}"
    return f"{exact(low)} or more" if last else f"{exact(low)} to {exact(high)}"


class ShownCuts(ShownAnswer):
    """How many people are below each cut point."""

    def kind(self, record: Record) -> str:
        return "how many people are below each cut point"

    def section(self, record: Record) -> Markup:
        return section("estimates", "The distribution", _content(record, self.drawn(record)))

    def drawn(self, record: Record) -> Drawn:
        sure = level(record.estimates.level)
        caption = phrases.DISTRIBUTION.format(many=count(record.estimates.of), level=sure)
        rows = [f"{name}: {point} ({sure} interval: {ends})" for name, point, ends in quantile_rows(record)]
        return Drawn(_chart(record), caption, "; ".join(rows))

    def divided(self, record: Record) -> str:
        return f", in {count(record.estimates.of + 1)} bins"

    def movable(self, record: Record) -> str:
        return phrases.ANY_BELOW


def _content(record: Record, drawn: Drawn) -> list[Markup | None]:
    found, sure = record.estimates, level(record.estimates.level)
    quantiles, ranges = quantile_rows(record), range_rows(record)
    clipped = record.asked.may_be_clipped
    many = found.of
    whole = rows_of(("Below", "People", f"{sure} interval", f"{sure} for all at once", "Share"), _counts(record))
    return [
        rows_of(("Quantile", "Estimate", f"{sure} interval"), quantiles) if quantiles else None,
        rows_of(("Range", "People", f"{sure} interval", "Share"), ranges) if ranges else None,
        figure(drawn.chart, drawn.caption),
        gloss(
            "An interval for a quantile goes from the end of one bin to the end of another: it holds the bin of the "
            "quantile at least as often as it says, and usually more often. ",
            CLIPPED_ENDS + " " if clipped else "",
            phrases.COVERAGE,
        ),
        details(
            f"How many people are below each of {count(many)} cut points",
            whole,
            unprinted=None if many <= LONG else "Not printed: how many people are below each cut point.",
        ),
    ]


def _counts(record: Record) -> list[tuple[str, ...]]:
    """How many people are below each inner cut point."""
    found, reports = record.estimates, record.counted.reports
    columns = (found.value, found.lower, found.upper, found.all_lower, found.all_upper)
    rows: list[tuple[str, ...]] = []
    for cut, value, low, high, lowest, highest in zip((record.design.cuts or ())[1:-1], *columns, strict=True):
        own, all_at_once = (
            f"{fixed(least, 0, up=False)} to {fixed(most, 0, up=True)}"
            for least, most in ((low, high), (lowest, highest))
        )
        rows.append((exact(cut), fixed(value, 0), own, all_at_once, percent(value / reports)))
    return rows


def rows_of(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    """A table whose rows have their names first."""
    head = element("thead", element("tr", [element("th", name, scope="col") for name in names]))
    body = [
        element("tr", element("th", first, scope="row"), [element("td", cell) for cell in cells])
        for first, *cells in rows
    ]
    table = element("table", head, element("tbody", join(body, "\n")))
    return element("div", table, class_="wide", role="region", aria_label=names[0], tabindex="0")


def _chart(record: Record) -> Chart:
    """The distribution function with its band, and a dot for each quantile."""
    found, cuts, reports = record.estimates, record.design.cuts or (), record.counted.reports
    bins = len(cuts) - 1

    def place(at: int, people: float) -> tuple[float, float]:
        return at / bins, CURVE * (1.0 - min(max(people / reports, 0.0), 1.0))

    def through(people: Sequence[float]) -> list[tuple[float, float]]:
        return [place(0, 0.0), *(place(at, each) for at, each in enumerate(people, 1)), place(bins, float(reports))]

    above, below = through(found.all_upper), through(found.all_lower)
    shapes = window(CURVE, ribbon(above, below, class_="band"), ribbon(through(found.value), class_="upper"))
    grid, names = [], []
    for share in SHARES:
        height = CURVE * (1.0 - share)
        grid.append(line(0.0, height, 1.0, height, class_="grid"))
        names.append(text(0.0, height + 4.0, f"{100.0 * share:g}%", anchor="end", class_="tick", dx=-8.0))
    step = -(-bins // MOST_TICKS)
    for at in range(0, bins + 1, step):
        grid.append(line(at / bins, CURVE, at / bins, CURVE + 5.0, class_="axis"))
        anchor = {0: "start", bins: "end"}.get(at, "middle")
        names.append(text(at / bins, CURVE + 21.0, exact(cuts[at]), anchor=anchor, class_="tick"))
    marks = [] if found.quantiles is None else _marks(found.quantiles, cuts)
    title = "The share of people below each cut point, with its band."
    return chart(title, CURVE, grid, line(0.0, CURVE, 1.0, CURVE, class_="axis"), shapes, marks, names, kind="curve")


def _marks(found: AtQuantiles, cuts: Sequence[float]) -> list[Markup]:
    marks = []
    for at, value in zip(found.at, found.value, strict=True):
        x, height = _across(value, cuts), CURVE * (1.0 - at)
        marks.append(line(0.0, height, x, height, class_="guide"))
        marks.append(line(x, height, x, CURVE, class_="guide"))
        marks.append(disc(x, height, 5.0, class_="dot"))
    return marks


def _across(value: float, cuts: Sequence[float]) -> float:
    """Where a number stands, with all bins equally wide."""
    bins = len(cuts) - 1
    at = next((at for at in range(bins) if value < cuts[at + 1]), bins - 1)
    return (at + min((value - cuts[at]) / (cuts[at + 1] - cuts[at]), 1.0)) / bins
