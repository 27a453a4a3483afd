"""What was learnt: drawn with error bars, then in numbers."""

from __future__ import annotations

from collections.abc import Sequence

from shuffledp.collection.page.charts import Bar, bars, interval, narrow
from shuffledp.collection.page.markup import Markup, element, join, label
from shuffledp.collection.page.parts import details, figure, gloss, section
from shuffledp.collection.page.words import count, decimals_for, exact, fixed, level, percent, tied
from shuffledp.collection.record import Estimates, Record

__all__ = ["accuracy", "estimates", "together"]

SHOWN = 30
VISIBLE = 0.006  # of the scale: error bars that are narrower are no more than a line
COVERAGE = (
    "The interval shows the error that the privacy noise adds: with this probability the true value, among those who "
    "answered, lies inside. "
    "People who did not answer, or not truthfully, are not accounted for. "
)
NEGATIVE = (
    "A count below 0 is no mistake: it is noise around a true count that is 0 or small. The estimates are unbiased, "
    "which means that they are right on "
    "average; setting them to 0 one by one would make totals too large."
)
TOGETHER = (
    "Of many single intervals, some miss. These are wider, so that with the stated probability none of them misses its "
    "true value. "
    "Use them to compare values with each other."
)


def accuracy(found: Estimates) -> str:
    """How far the worst estimate is from its true value at most, with the probability of the
    intervals.
    """
    worst = max(_margins(found))
    return fixed(worst, min(_decimals(found), decimals_for(worst)), up=True)


def estimates(record: Record) -> Markup:
    """The estimates of a release."""
    if record.design.counts:
        return section("estimates", "The estimates", _counts(record))
    return section("estimates", "The estimate", _mean(record))


def together(found: Estimates) -> bool:
    """Whether the list is sorted and cut: the largest of many are large by luck as well, so its
    intervals must hold for all at once.
    """
    return found.together and len(found.value) > SHOWN


def _ends(found: Estimates) -> tuple[Sequence[float], Sequence[float]]:
    """The intervals that are shown: of each by itself, or of all at once."""
    return (found.all_lower, found.all_upper) if together(found) else (found.lower, found.upper)


def _margins(found: Estimates) -> list[float]:
    """How far the further end of every interval that is shown is from its estimate."""
    return [max(value - low, high - value) for value, low, high in zip(found.value, *_ends(found), strict=True)]


def _decimals(found: Estimates) -> int:
    return decimals_for(min((margin for margin in _margins(found) if margin > 0.0), default=0.0))


def _mean(record: Record) -> list[Markup]:
    found, (lower, upper) = record.estimates, record.design.bounds
    value, low, high = found.value[0], found.lower[0], found.upper[0]
    decimals, sure = _decimals(found), level(found.level)
    ends = f"{fixed(low, decimals, up=False)} to {fixed(high, decimals, up=True)}"
    title = (
        f"The {found.label[0]} is estimated as {fixed(value, decimals)}, with a {sure} interval of {ends}, on a "
        f"scale from {exact(lower)} to {exact(upper)}."
    )
    enlarged = " Beneath it, enlarged, the part around the estimate." if narrow(low, high, lower, upper) else ""
    return [
        element(
            "p",
            element("span", fixed(value, decimals), class_="big"),
            " ",
            element("span", f"{sure} interval: {ends}", class_="under"),
            class_="number",
        ),
        figure(
            interval(title, value, low, high, lower, upper), f"The declared range, with the {sure} interval.{enlarged}"
        ),
        gloss(f"The standard error is {fixed(found.stderr[0], decimals + 1, up=True)}. ", COVERAGE),
    ]


def _counts(record: Record) -> list[Markup | None]:
    found, reports = record.estimates, record.counted.reports
    shown, rest = _split(found.value)
    decimals, margins, single = _decimals(found), _margins(found), _ends(found)
    rows = [
        Bar(
            found.label[at],
            tied(f"{fixed(found.value[at], decimals)} ± {fixed(margins[at], decimals, up=True)}"),
            *_drawn(found, at),
        )
        for at in shown
    ]
    unlisted = found.of - len(found.value)
    return [
        figure(
            bars("The estimates as bars. The table below has the same numbers.", rows), _caption(found, shown, margins)
        ),
        _table(found, shown, reports, decimals, single, margins),
        details(
            f"The other {count(len(rest))} values",
            _table(found, rest, reports, decimals, single, margins),
            rows=len(rest),
        )
        if rest
        else None,
        element("p", _unlisted(record, unlisted)) if unlisted else None,
        gloss(
            f"± is the distance to the further end of the {level(found.level)} interval; ends are rounded outwards. ",
            COVERAGE,
            _below_zero(found),
        ),
        details(
            "Intervals that hold all at once",
            gloss(TOGETHER),
            _table(found, shown, reports, decimals, (found.all_lower, found.all_upper)),
        )
        if found.of > 1 and not together(found)
        else None,
    ]


def _unlisted(record: Record, number: int) -> str:
    """Where the others are: that they are smaller, only who has them can tell."""
    more = f"{count(number)} more, all smaller, are in the CSV file beside this report"
    digest = record.tally.digest
    return (
        f"{more}. With that file beside it, `shuffledp verify` checks this: the votes for all values have the SHA-256 "
        f"{digest}."
        if digest
        else f"{more}."
    )


def _split(values: Sequence[float]) -> tuple[list[int], list[int]]:
    """The places that are drawn, and the others: all in their order, or the largest first."""
    order = list(range(len(values)))
    if len(order) <= SHOWN:
        return order, []
    largest = sorted(order, key=lambda place: -values[place])
    return largest[:SHOWN], sorted(largest[SHOWN:])


def _drawn(found: Estimates, at: int) -> tuple[float, float, float]:
    low, high = _ends(found)
    return found.value[at], low[at], high[at]


def _caption(found: Estimates, shown: Sequence[int], margins: Sequence[float]) -> str:
    span = max(0.0, *(found.upper[at] for at in shown)) - min(0.0, *(found.lower[at] for at in shown))
    thin = (
        "; where none can be seen, the error is thinner than a line"
        if any(margins[at] < VISIBLE * span for at in shown)
        else ""
    )
    largest = (
        f"The {SHOWN} largest of {count(found.of)} estimates, the largest first. " if len(shown) < found.of else ""
    )
    if not together(found):
        return f"{largest}Error bars are {level(found.level)} intervals, drawn to scale{thin}."
    told = sum(low > 0.0 for low in found.all_lower)
    real = (
        f"{count(told)} of them can be told from 0"
        if told
        else "None of them can be told from 0: noise alone would make some as large"
    )
    return (
        f"{largest}{real}. Error bars are {level(found.level)} intervals that hold for all {count(found.of)} at once, "
        f"drawn to scale{thin}."
    )


def _below_zero(found: Estimates) -> str:
    if min(found.value) < 0.0:
        return NEGATIVE
    return "An interval may reach below 0: read that as 0." if min(found.lower) < 0.0 else ""


def _table(
    found: Estimates,
    places: Sequence[int],
    reports: int,
    decimals: int,
    ends: tuple[Sequence[float], Sequence[float]],
    margins: Sequence[float] | None = None,
) -> Markup:
    at_once = " for all at once" if margins and together(found) else ""
    names = ["Value", "Estimate", *(["±"] if margins else []), f"{level(found.level)} interval{at_once}", "Share"]
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
