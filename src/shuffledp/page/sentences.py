"""Sentences that the terminal says as well as the page: how many values were clipped, and how far
false reports could have moved an estimate.
"""

from __future__ import annotations

from typing import Any

from shuffledp.page.facts import moved_rows
from shuffledp.page.numerals import SPACE, count, decimals_for, exact, fixed, level, many
from shuffledp.record import Record

__all__ = [
    "CLIPPED_ENDS",
    "clipping",
    "influence",
    "moved_quantiles",
    "not_the_values",
    "perhaps_clipped",
]

LARGE = 0.01  # the share of people at an end from which a wider range is proposed
FALSE = 100  # one report in so many is false, where some are
CLIPPED_ENDS = (
    "Values outside the range were counted in its first or last bin. A quantile in one of these bins is at the end "
    "of the range or beyond it, and the reports do not say how far."
)
OUTSIDE = "Values outside the range were counted as its nearest end. No report says how far outside they were. {ends}"
NO_ENDS = "The reports also do not say how many people are at either end."
AT_ENDS = (
    "Estimated from the same reports, at most {most_low} of the people are at or below {lower}, and at least "
    "{least_low} are below {near_low}; at most {most_high} are at or above {upper}, and at least {least_high} are "
    "above {near_high} (with {level} confidence, for all of these at once)."
)
MANY_CLIPPED = (
    "{words} Many values may have been clipped, so this may be far from the {what} of the values themselves. If values "
    "can lie outside the range, a wider range, such as {low} to {high}, would clip fewer of them, at about {times} the "
    "standard error. That would be another release about the same people, and would cost privacy again."
)
FALSE_REPORTS = "Anyone can submit a false report, and an anonymous protocol cannot detect it."
MOVED = (
    "{false} One false report moves {what} by at most {one}. If 1 % of those who {reported} ({some}) send false "
    "reports, they move it by at most {all}. The intervals do not cover this."
)
UNLIMITED = (
    "{false} In this protocol, nothing limits how far one false report moves {what}. The intervals do not cover this."
)
FAKED_WORD = "About {faked_from} false reports that agree on a word are enough to list it, even if no person has it."
MOVED_QUANTILES = (
    "If one report is false, the estimated {name} without it would be {one}. If 1 % are false, it would be {some}."
)


def not_the_values(record: Record) -> str:
    """What a mean or a sum of clipped values is not."""
    return f"This is the {record.estimates.label[0]}, not of the values themselves."


def clipping(record: Record) -> str:
    """How many people's values are at the ends of the range, by the same reports, and what to do if
    they are many.
    """
    if record.table("ends") is None:
        return OUTSIDE.format(ends=NO_ENDS)
    words = OUTSIDE.format(ends=_at_ends(record))
    narrow = _narrow(record)
    if not any(narrow):
        return words
    lower, upper = record.design.domain.bounds
    wide = lower - narrow[0] * (upper - lower), upper + narrow[1] * (upper - lower)
    times = "twice" if sum(narrow) == 1 else "three times"
    what = record.question.type
    return MANY_CLIPPED.format(words=words, what=what, low=exact(wide[0]), high=exact(wide[1]), times=times)


def perhaps_clipped(record: Record) -> list[str]:
    """The same where it is not known whether those who reported have clipped their values, if there
    are many at the ends.
    """
    if record.clipped or record.table("ends") is None or not any(_narrow(record)):
        return []
    what = f"{record.question.type} of the clipped values"
    return [
        f"if values outside the range were clipped before they were reported, this is the {what}. "
        f"{_at_ends(record)}".replace(SPACE, " ")
    ]


def _at_ends(record: Record) -> str:
    """What the reports say of either end. A number near an end may have been rounded to it, so how
    many are there is bounded from above only.
    """
    grid: Any = record.design.domain
    lower, upper = grid.bounds
    step = (upper - lower) / grid.steps
    (least_low, most_low), (least_high, most_high) = (
        (_percent(low, up=False), _percent(high, up=True)) for low, high in _shares(record)
    )
    places = max(0, decimals_for(step) - 1)
    return AT_ENDS.format(
        most_low=most_low,
        lower=exact(lower),
        least_low=least_low,
        near_low=fixed(lower + step, places, up=True),
        most_high=most_high,
        upper=exact(upper),
        least_high=least_high,
        near_high=fixed(upper - step, places, up=False),
        level=level(record.estimates.level),
    )


def _shares(record: Record) -> list[tuple[float, float]]:
    """Between which shares of the people are at the lower and at the upper end."""
    ends, reports = record.table("ends"), record.counted.reports
    assert ends is not None
    return [(max(low, 0.0) / reports, min(high, reports) / reports) for _, _, low, high in ends.rows()]


def _narrow(record: Record) -> list[bool]:
    """At which ends there may be many: certainly many are there or near."""
    return [low > LARGE for low, _ in _shares(record)]


def _percent(share: float, *, up: bool) -> str:
    return f"{fixed(100.0 * share, 1, up=up)}{SPACE}%"


def influence(record: Record) -> str | None:
    """How far one false report, and how far 1 % of them, could have moved an estimate."""
    moved, many_rows = record.estimates.influence, len(record.estimates.label)
    if not many_rows:
        return None
    what = "any estimate" if many_rows > 1 else "the estimate"
    if record.question.ordered:
        what = "the number of people below any cut point"
    if not moved:
        return UNLIMITED.format(false=FALSE_REPORTS, what=what)
    largest = max(moved)
    search = record.counted.search
    counting = None if search is None else search.counting
    some = -(-(record.counted if counting is None else counting).reports // FALSE)
    said = MOVED.format(
        false=FALSE_REPORTS,
        what=what,
        one=fixed(largest, decimals_for(largest), up=True),
        reported="reported" if search is None else "were asked at the last level",
        some=many(some, "person", "people"),
        all=fixed(some * largest, decimals_for(some * largest), up=True),
    )
    if search is None or search.faked_from is None:
        return said
    return f"{said} {FAKED_WORD.format(faked_from=count(search.faked_from))}"


def moved_quantiles(record: Record) -> list[str]:
    """The same of each quantile that was asked for."""
    return [MOVED_QUANTILES.format(name=name, one=one, some=some) for name, _, one, some in moved_rows(record)]
