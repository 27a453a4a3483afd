"""How many people's values are at the ends of the range, by the same reports, and what to do if
they are many.
"""

from __future__ import annotations

from typing import Any

from shuffledp.numerals import SPACE, decimals_for, exact, fixed, level

LARGE = 0.01  # the share of people at an end from which a wider range is proposed
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


def certain(record: Any) -> list[str]:
    """Where they were clipped: what the answer is not, and what is known of the ends."""
    said = [f"This is the {record.estimates.label[0]}, not of the values themselves."]
    if record.table("ends") is None:
        return [*said, OUTSIDE.format(ends=NO_ENDS)]
    words, narrow = OUTSIDE.format(ends=_at_ends(record)), _narrow(record)
    if not any(narrow):
        return [*said, words]
    lower, upper = record.design.domain.bounds
    low, high = (exact(end) for end in (lower - narrow[0] * (upper - lower), upper + narrow[1] * (upper - lower)))
    times, what = "twice" if sum(narrow) == 1 else "three times", record.question.type
    return [*said, MANY_CLIPPED.format(words=words, what=what, low=low, high=high, times=times)]


def perhaps(record: Any) -> list[str]:
    """The same where it is not known whether those who reported have clipped their values, if there
    are many at the ends.
    """
    if record.table("ends") is None or not any(_narrow(record)):
        return []
    said = f"if values outside the range were clipped before they were reported, this is the {record.question.clipped}."
    return [f"{said} {_at_ends(record)}".replace(SPACE, " ")]


def _at_ends(record: Any) -> str:
    """What the reports say of either end. A number near an end may have been rounded to it, so how
    many are there is bounded from above only.
    """
    grid = record.design.domain
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


def _shares(record: Any) -> list[tuple[float, float]]:
    """Between which shares of the people are at the lower and at the upper end."""
    ends, reports = record.table("ends"), record.counted.reports
    return [(max(low, 0.0) / reports, min(high, reports) / reports) for _, _, low, high in ends.rows()]


def _narrow(record: Any) -> list[bool]:
    """At which ends there may be many: certainly many are there or near."""
    return [low > LARGE for low, _ in _shares(record)]


def _percent(share: float, *, up: bool) -> str:
    return f"{fixed(100.0 * share, 1, up=up)}{SPACE}%"
