"""What was learned of one column: drawn with error bars, then in numbers."""

from __future__ import annotations

from collections.abc import Sequence

from shuffledp.page import phrases
from shuffledp.page.charts import Bar, bars, interval, narrow
from shuffledp.page.margins import SHOWN, decimals_of, ends_of, margins_of, together
from shuffledp.page.markup import Markup, element, join, label
from shuffledp.page.numerals import count, exact, fixed, level, percent, tied
from shuffledp.page.parts import details, figure, gloss, section
from shuffledp.page.shown_answer import Drawn, ShownAnswer, ShownPeople
from shuffledp.record import Estimates, Record

__all__ = ["COUNTED", "ShownNumber", "ShownValue", "ShownValues", "draw_values", "estimate_table"]

COUNTED = "Value"  # what stands above the names of what was counted
LONG = 400  # rows that are not printed unless they are opened
VISIBLE = 0.006  # of the scale: error bars that are narrower are no more than a line


class ShownNumber(ShownAnswer):
    """A mean or a sum."""

    def kind(self, record: Record) -> str:
        return f"the {record.estimates.label[0]}" if record.estimates.clipped else f"the {record.design.task}"

    def section(self, record: Record) -> Markup:
        return section("estimates", "The estimate", _mean(record, self.drawn(record)))

    def drawn(self, record: Record) -> Drawn:
        found, (lower, upper) = record.estimates, record.design.possible(record.counted.reports)
        value, low, high = found.value[0], found.lower[0], found.upper[0]
        words, sure, ends = _number(found)
        title = phrases.MEAN_TITLE.format(
            label=found.label[0], value=words, level=sure, ends=ends, lower=exact(lower), upper=exact(upper)
        )
        enlarged = phrases.ENLARGED if narrow(low, high, lower, upper) else ""
        chart = interval(title, value, low, high, lower, upper)
        return Drawn(chart, f"All that is possible, with the {sure} interval.{enlarged}", title)

    def confidence(self, record: Record) -> str:
        return phrases.LEVEL_MEAN.format(level=level(record.estimates.level))


class ShownValues(ShownPeople):
    """How many people hold each value."""

    def section(self, record: Record) -> Markup:
        return section("estimates", "The estimates", _counts(record, self.drawn(record)))

    def drawn(self, record: Record) -> Drawn:
        return draw_values(record.estimates)


class ShownValue(ShownValues):
    """How many people hold one."""

    def kind(self, record: Record) -> str:
        return f"how many people hold {record.design.value}"


def _mean(record: Record, drawn: Drawn) -> list[Markup]:
    found = record.estimates
    words, sure, ends = _number(found)
    return [
        element(
            "p",
            element("span", words, class_="big"),
            " ",
            element("span", f"{sure} interval: {ends}", class_="under"),
            class_="number",
        ),
        figure(drawn.chart, drawn.caption),
        gloss(f"The standard error is {fixed(found.stderr[0], decimals_of(found) + 1, up=True)}. ", phrases.COVERAGE),
    ]


def _number(found: Estimates) -> tuple[str, str, str]:
    """A single estimate in words, how sure its interval is, and from where to where it goes."""
    decimals = decimals_of(found)
    ends = f"{fixed(found.lower[0], decimals, up=False)} to {fixed(found.upper[0], decimals, up=True)}"
    return fixed(found.value[0], decimals), level(found.level), ends


def draw_values(found: Estimates) -> Drawn:
    """Estimates as bars, the largest of a long list."""
    shown, _ = _split(found.value)
    decimals, margins = decimals_of(found), margins_of(found)
    low, high = ends_of(found)
    rows = [
        Bar(
            found.label[at],
            tied(f"{fixed(found.value[at], decimals)} ± {fixed(margins[at], decimals, up=True)}"),
            found.value[at],
            low[at],
            high[at],
        )
        for at in shown
    ]
    return Drawn(bars("The estimates as bars.", rows), _caption(found, shown, margins))


def _counts(record: Record, drawn: Drawn) -> list[Markup | None]:
    found, reports = record.estimates, record.counted.reports
    shown, rest = _split(found.value)
    decimals, margins, single = decimals_of(found), margins_of(found), ends_of(found)
    unlisted = found.of - len(found.value)
    return [
        figure(drawn.chart, drawn.caption),
        estimate_table(found, shown, reports, decimals, single, margins),
        _others(estimate_table(found, rest, reports, decimals, single, margins), len(rest)) if rest else None,
        element("p", _unlisted(record, unlisted)) if unlisted else None,
        gloss(
            phrases.MARGIN.format(level=level(found.level)),
            phrases.COVERAGE,
            _below_zero(record),
        ),
        details(
            phrases.ALL_AT_ONCE,
            gloss(phrases.TOGETHER),
            estimate_table(found, shown, reports, decimals, (found.all_lower, found.all_upper)),
        )
        if found.of > 1 and not together(found)
        else None,
    ]


def _others(table: Markup, number: int) -> Markup:
    """The values that are not drawn, folded away."""
    summary = f"The other {count(number)} values"
    unprinted = phrases.NOT_PRINTED.format(summary=summary) if number > LONG else None
    return details(summary, table, unprinted=unprinted)


def _unlisted(record: Record, number: int) -> str:
    """Where the others are: that they are smaller, only who has them can tell."""
    more = phrases.MORE_IN_CSV.format(number=count(number))
    digest = record.tally.digest
    return phrases.VOTES_DIGEST.format(more=more, digest=digest) if digest else f"{more}."


def _split(values: Sequence[float]) -> tuple[list[int], list[int]]:
    """The places that are drawn, and the others: all in their order, or the largest first."""
    order = list(range(len(values)))
    if len(order) <= SHOWN:
        return order, []
    largest = sorted(order, key=lambda place: -values[place])
    return largest[:SHOWN], sorted(largest[SHOWN:])


def _caption(found: Estimates, shown: Sequence[int], margins: Sequence[float]) -> str:
    sure = level(found.level)
    span = max([0.0, *(found.upper[at] for at in shown)]) - min([0.0, *(found.lower[at] for at in shown)])
    thin = phrases.THIN if any(margins[at] < VISIBLE * span for at in shown) else ""
    largest = ""
    if len(shown) < found.of:
        largest = f"The {SHOWN} largest of {count(found.of)} estimates, the largest first. "
    if not together(found):
        return phrases.BARS_ARE.format(largest=largest, level=sure, thin=thin)
    told = sum(low > 0.0 for low in found.all_lower)
    real = phrases.TOLD.format(told=count(told)) if told else phrases.NONE_TOLD
    return phrases.BARS_ARE_FOR_ALL.format(largest=largest, real=real, level=sure, of=count(found.of), thin=thin)


def _below_zero(record: Record) -> str:
    found = record.estimates
    if min(found.value) < 0.0:
        return phrases.NEGATIVE
    return phrases.BELOW_ZERO if min(found.lower) < 0.0 else ""


def estimate_table(
    found: Estimates,
    places: Sequence[int],
    reports: int,
    decimals: int,
    ends: tuple[Sequence[float], Sequence[float]],
    margins: Sequence[float] | None = None,
) -> Markup:
    """Some estimates in numbers, each with its interval."""
    at_once = " for all at once" if margins and together(found) else ""
    names = [COUNTED, "Estimate", *(["±"] if margins else []), f"{level(found.level)} interval{at_once}", "Share"]
    body = []
    for at in places:
        value, low, high = found.value[at], ends[0][at], ends[1][at]
        cells: list[object] = [fixed(value, decimals)]
        if margins:
            cells.append(fixed(margins[at], decimals, up=True))
        cells.append(
            join(
                [
                    element("span", fixed(low, decimals, up=False), " to"),
                    " ",
                    element("span", fixed(high, decimals, up=True)),
                ]
            )
        )
        cells.append(percent(value / reports))
        body.append(
            element("tr", element("th", label(found.label[at]), scope="row"), [element("td", cell) for cell in cells])
        )
    head = element("thead", element("tr", [element("th", name, scope="col") for name in names]))
    table = element("table", head, element("tbody", join(body, "\n")))
    return element("div", table, class_="wide", role="region", aria_label="Estimates", tabindex="0")
