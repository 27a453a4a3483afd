"""What was learned: drawn with error bars, then in numbers."""

from __future__ import annotations

from collections.abc import Sequence

from shuffledp.collection.page import phrases
from shuffledp.collection.page.charts import Bar, bars, interval, narrow
from shuffledp.collection.page.distribution import distribution
from shuffledp.collection.page.markup import Markup, element, join, label
from shuffledp.collection.page.numerals import count, decimals_for, exact, fixed, level, percent, tied
from shuffledp.collection.page.parts import details, figure, gloss, section
from shuffledp.collection.record import Estimates, Record

__all__ = [
    "COUNTED",
    "accuracy",
    "decimals_of",
    "ends_of",
    "estimate_table",
    "estimates",
    "margins_of",
    "margins_together",
    "together",
]

COUNTED = "Value"  # what stands above the names of what was counted
SHOWN = 30
LONG = 400  # rows that are not printed unless they are opened
VISIBLE = 0.006  # of the scale: error bars that are narrower are no more than a line


def accuracy(found: Estimates) -> str:
    """How far the worst estimate is from its true value at most, with the probability of the
    intervals.
    """
    worst = max(margins_of(found), default=0.0)
    return fixed(worst, min(decimals_of(found), decimals_for(worst)), up=True)


def estimates(record: Record) -> Markup | None:
    """The estimates of a release about one column; of several, see ``crosstabs``, and of a search,
    ``searching``.
    """
    if record.design.columns is not None or record.counted.search is not None:
        return None
    if record.design.counts:
        return section("estimates", "The estimates", _counts(record))
    if record.design.distributes:
        return section("estimates", "The distribution", distribution(record))
    return section("estimates", "The estimate", _mean(record))


def together(found: Estimates) -> bool:
    """Whether the list is sorted and cut: the largest of many are large by luck as well, so its
    intervals must hold for all at once.
    """
    return found.together and len(found.value) > SHOWN


def ends_of(found: Estimates) -> tuple[Sequence[float], Sequence[float]]:
    """The intervals that are shown: of each by itself, or of all at once."""
    return (found.all_lower, found.all_upper) if together(found) else (found.lower, found.upper)


def margins_of(found: Estimates) -> list[float]:
    """How far the further end of every interval that is shown is from its estimate."""
    return [max(value - low, high - value) for value, low, high in zip(found.value, *ends_of(found), strict=True)]


def margins_together(found: Estimates) -> list[float]:
    """The same of the intervals that hold for all at once."""
    ends = zip(found.value, found.all_lower, found.all_upper, strict=True)
    return [max(value - low, high - value) for value, low, high in ends]


def decimals_of(found: Estimates) -> int:
    """How many decimals are worth showing."""
    return decimals_for(min((margin for margin in margins_of(found) if margin > 0.0), default=0.0))


def _mean(record: Record) -> list[Markup]:
    found, (lower, upper) = record.estimates, record.design.bounds
    value, low, high = found.value[0], found.lower[0], found.upper[0]
    decimals, sure = decimals_of(found), level(found.level)
    ends = f"{fixed(low, decimals, up=False)} to {fixed(high, decimals, up=True)}"
    title = phrases.MEAN_TITLE(
        record,
        label=found.label[0],
        value=fixed(value, decimals),
        level=sure,
        ends=ends,
        lower=exact(lower),
        upper=exact(upper),
    )
    enlarged = phrases.ENLARGED(record) if narrow(low, high, lower, upper) else ""
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
        gloss(f"The standard error is {fixed(found.stderr[0], decimals + 1, up=True)}. ", phrases.COVERAGE(record)),
    ]


def _counts(record: Record) -> list[Markup | None]:
    found, reports = record.estimates, record.counted.reports
    shown, rest = _split(found.value)
    decimals, margins, single = decimals_of(found), margins_of(found), ends_of(found)
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
            bars("The estimates as bars. The table below has the same numbers.", rows), _caption(record, shown, margins)
        ),
        estimate_table(found, shown, reports, decimals, single, margins),
        _others(record, estimate_table(found, rest, reports, decimals, single, margins), len(rest)) if rest else None,
        element("p", _unlisted(record, unlisted)) if unlisted else None,
        gloss(
            phrases.MARGIN(record, level=level(found.level)),
            phrases.COVERAGE(record),
            _below_zero(record),
        ),
        details(
            phrases.ALL_AT_ONCE(record),
            gloss(phrases.TOGETHER(record)),
            estimate_table(found, shown, reports, decimals, (found.all_lower, found.all_upper)),
        )
        if found.of > 1 and not together(found)
        else None,
    ]


def _others(record: Record, table: Markup, number: int) -> Markup:
    """The values that are not drawn, folded away."""
    summary = f"The other {count(number)} values"
    unprinted = phrases.NOT_PRINTED(record, summary=summary) if number > LONG else None
    return details(summary, table, unprinted=unprinted)


def _unlisted(record: Record, number: int) -> str:
    """Where the others are: that they are smaller, only who has them can tell."""
    more = phrases.MORE_IN_CSV(record, number=count(number))
    digest = record.tally.digest
    return phrases.VOTES_DIGEST(record, more=more, digest=digest) if digest else f"{more}."


def _split(values: Sequence[float]) -> tuple[list[int], list[int]]:
    """The places that are drawn, and the others: all in their order, or the largest first."""
    order = list(range(len(values)))
    if len(order) <= SHOWN:
        return order, []
    largest = sorted(order, key=lambda place: -values[place])
    return largest[:SHOWN], sorted(largest[SHOWN:])


def _drawn(found: Estimates, at: int) -> tuple[float, float, float]:
    low, high = ends_of(found)
    return found.value[at], low[at], high[at]


def _caption(record: Record, shown: Sequence[int], margins: Sequence[float]) -> str:
    found, sure = record.estimates, level(record.estimates.level)
    span = max(0.0, *(found.upper[at] for at in shown)) - min(0.0, *(found.lower[at] for at in shown))
    thin = phrases.THIN(record) if any(margins[at] < VISIBLE * span for at in shown) else ""
    largest = ""
    if len(shown) < found.of:
        largest = f"The {SHOWN} largest of {count(found.of)} estimates, the largest first. "
    if not together(found):
        return phrases.BARS_ARE(record, largest=largest, level=sure, thin=thin)
    told = sum(low > 0.0 for low in found.all_lower)
    real = phrases.TOLD(record, told=count(told)) if told else phrases.NONE_TOLD(record)
    return phrases.BARS_ARE_FOR_ALL(record, largest=largest, real=real, level=sure, of=count(found.of), thin=thin)


def _below_zero(record: Record) -> str:
    found = record.estimates
    if min(found.value) < 0.0:
        return phrases.NEGATIVE(record)
    return phrases.BELOW_ZERO(record) if min(found.lower) < 0.0 else ""


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
