"""What was learnt: drawn with error bars, then in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shuffledp.collection.page.charts import Bar, bars, interval, narrow
from shuffledp.collection.page.markup import Markup, element, join, label
from shuffledp.collection.page.parts import details, figure, gloss, section
from shuffledp.collection.page.words import count, decimals_for, exact, fixed, level, percent, tied

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


def accuracy(found: Mapping[str, Any]) -> str:
    """How far the worst estimate is from its true value at most, with the probability of the
    intervals.
    """
    worst = max(_margins(found))
    return fixed(worst, min(_decimals(found), decimals_for(worst)), up=True)


def estimates(facts: Mapping[str, Any]) -> Markup:
    """The estimates of a release."""
    if facts["estimates"]["unit"] == "mean":
        return section("estimates", "The estimate", _mean(facts))
    return section("estimates", "The estimates", _counts(facts))


def together(found: Mapping[str, Any]) -> bool:
    """Whether the list is sorted and cut: the largest of many are large by luck as well, so its
    intervals must hold for all at once.
    """
    return bool(found.get("together")) and len(found["value"]) > SHOWN


def _ends(found: Mapping[str, Any]) -> tuple[str, str]:
    return ("all_lower", "all_upper") if together(found) else ("lower", "upper")


def _margins(found: Mapping[str, Any]) -> list[float]:
    """How far the further end of every interval that is shown is from its estimate."""
    low, high = _ends(found)
    return [
        max(value - least, most - value)
        for value, least, most in zip(found["value"], found[low], found[high], strict=True)
    ]


def _decimals(found: Mapping[str, Any]) -> int:
    return decimals_for(min((margin for margin in _margins(found) if margin > 0.0), default=0.0))


def _mean(facts: Mapping[str, Any]) -> list[Markup]:
    found, (lower, upper) = facts["estimates"], (facts["design"][end] for end in ("lower", "upper"))
    value, low, high = (found[key][0] for key in ("value", "lower", "upper"))
    decimals, sure = _decimals(found), level(found)
    ends = f"{fixed(low, decimals, up=False)} to {fixed(high, decimals, up=True)}"
    title = (
        f"The {found['label'][0]} is estimated as {fixed(value, decimals)}, with a {sure} interval of {ends}, on a "
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
        gloss(f"The standard error is {fixed(found['stderr'][0], decimals + 1, up=True)}. ", COVERAGE),
    ]


def _counts(facts: Mapping[str, Any]) -> list[Markup | None]:
    found, reports = facts["estimates"], facts["counted"]["reports"]
    shown, rest = _split(found["value"])
    decimals, margins, single = _decimals(found), _margins(found), _ends(found)
    rows = [
        Bar(
            found["label"][at],
            tied(f"{fixed(found['value'][at], decimals)} ± {fixed(margins[at], decimals, up=True)}"),
            *_drawn(found, at),
        )
        for at in shown
    ]
    unlisted = found["of"] - len(found["value"])
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
        element("p", _unlisted(facts, unlisted)) if unlisted else None,
        gloss(
            f"± is the distance to the further end of the {level(found)} interval; ends are rounded outwards. ",
            COVERAGE,
            _below_zero(found),
        ),
        details(
            "Intervals that hold all at once",
            gloss(TOGETHER),
            _table(found, shown, reports, decimals, ("all_lower", "all_upper")),
        )
        if found["of"] > 1 and not together(found)
        else None,
    ]


def _unlisted(facts: Mapping[str, Any], number: int) -> str:
    """Where the others are: that they are smaller, only who has them can tell."""
    more = f"{count(number)} more, all smaller, are in the CSV file beside this report"
    digest = facts["tally"].get("digest")
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


def _drawn(found: Mapping[str, Any], at: int) -> tuple[float, float, float]:
    low, high = _ends(found)
    return found["value"][at], found[low][at], found[high][at]


def _caption(found: Mapping[str, Any], shown: Sequence[int], margins: Sequence[float]) -> str:
    span = max(0.0, *(found["upper"][at] for at in shown)) - min(0.0, *(found["lower"][at] for at in shown))
    thin = (
        "; where none can be seen, the error is thinner than a line"
        if any(margins[at] < VISIBLE * span for at in shown)
        else ""
    )
    largest = (
        f"The {SHOWN} largest of {count(found['of'])} estimates, the largest first. "
        if len(shown) < found["of"]
        else ""
    )
    if not together(found):
        return f"{largest}Error bars are {level(found)} intervals, drawn to scale{thin}."
    told = sum(low > 0.0 for low in found["all_lower"])
    real = (
        f"{count(told)} of them can be told from 0"
        if told
        else "None of them can be told from 0: noise alone would make some as large"
    )
    return (
        f"{largest}{real}. Error bars are {level(found)} intervals that hold for all {count(found['of'])} at once, "
        f"drawn to scale{thin}."
    )


def _below_zero(found: Mapping[str, Any]) -> str:
    if min(found["value"]) < 0.0:
        return NEGATIVE
    return "An interval may reach below 0: read that as 0." if min(found["lower"]) < 0.0 else ""


def _table(
    found: Mapping[str, Any],
    places: Sequence[int],
    reports: int,
    decimals: int,
    ends: tuple[str, str],
    margins: Sequence[float] | None = None,
) -> Markup:
    at_once = " for all at once" if ends[0] == "all_lower" and margins else ""
    names = ["Value", "Estimate", *(["±"] if margins else []), f"{level(found)} interval{at_once}", "Share"]
    body = []
    for at in places:
        value, low, high = found["value"][at], found[ends[0]][at], found[ends[1]][at]
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
            element(
                "tr", element("th", label(found["label"][at]), scope="row"), [element("td", cell) for cell in cells]
            )
        )
    head = element("thead", element("tr", [element("th", name, scope="col") for name in names]))
    table = element("table", head, element("tbody", join(body, "\n")))
    return element("div", table, class_="wide", role="region", aria_label="Estimates", tabindex="0")
