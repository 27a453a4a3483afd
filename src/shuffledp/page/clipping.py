"""What a mean of clipped values is not, and how many values were clipped: said in the same words on
the page and on the terminal.
"""

from __future__ import annotations

from shuffledp.page import phrases
from shuffledp.page.numerals import SPACE, decimals_for, exact, fixed, level
from shuffledp.record import Ends, Record
from shuffledp.record.asked_about import CLIPPED_TO_BOUNDS
from shuffledp.record.estimated import CLIPPED_MEAN, CLIPPED_SUM

__all__ = ["CLIPPED", "CLIPPED_TO_BOUNDS", "clipping", "not_the_values", "perhaps_clipped"]

CLIPPED = {"mean": CLIPPED_MEAN, "sum": CLIPPED_SUM}  # what is estimated then, by the task
LARGE = 0.01  # the share of people at an end from which a wider range is proposed


def not_the_values(record: Record) -> str:
    """What a mean or a sum of clipped values is not."""
    return f"This is the {record.estimates.label[0]}, not of the values themselves."


def clipping(record: Record) -> str:
    """How many people's values are at the ends of the range, by the same reports, and what to do if
    they are many.
    """
    if record.estimates.ends is None:
        return phrases.OUTSIDE.format(ends=phrases.NO_ENDS)
    words = phrases.OUTSIDE.format(ends=_at_ends(record))
    narrow = _narrow(record)
    if not any(narrow):
        return words
    lower, upper = record.design.bounds
    wide = lower - narrow[0] * (upper - lower), upper + narrow[1] * (upper - lower)
    times = "twice" if sum(narrow) == 1 else "three times"
    return phrases.MANY_CLIPPED.format(words=words, low=exact(wide[0]), high=exact(wide[1]), times=times)


def perhaps_clipped(record: Record) -> list[str]:
    """The same where it is not known whether those who reported have clipped their values, if there
    are many at the ends.
    """
    if record.estimates.clipped or record.estimates.ends is None or not any(_narrow(record)):
        return []
    what = CLIPPED[record.design.task]
    return [
        f"if values outside the range were clipped before they were reported, this is the {what}. "
        f"{_at_ends(record)}".replace(SPACE, " ")
    ]


def _at_ends(record: Record) -> str:
    """What the reports say of either end. A number near an end may have been rounded to it, so how
    many are there is bounded from above only.
    """
    (lower, upper), step = record.design.bounds, _ends(record).step
    (least_low, most_low), (least_high, most_high) = (
        (_percent(low, up=False), _percent(high, up=True)) for low, high in _shares(record)
    )
    places = max(0, decimals_for(step) - 1)
    near_low, near_high = fixed(lower + step, places, up=True), fixed(upper - step, places, up=False)
    return phrases.AT_ENDS.format(
        most_low=most_low,
        lower=exact(lower),
        least_low=least_low,
        near_low=near_low,
        most_high=most_high,
        upper=exact(upper),
        least_high=least_high,
        near_high=near_high,
        level=level(record.estimates.level),
    )


def _ends(record: Record) -> Ends:
    assert record.estimates.ends is not None
    return record.estimates.ends


def _shares(record: Record) -> list[tuple[float, float]]:
    """Between which shares of the people are at the lower and at the upper end."""
    ends, reports = _ends(record), record.counted.reports
    return [
        (max(low, 0.0) / reports, min(high, reports) / reports)
        for low, high in zip(ends.lower, ends.upper, strict=True)
    ]


def _narrow(record: Record) -> list[bool]:
    """At which ends there may be many: certainly many are there or near."""
    return [low > LARGE for low, _ in _shares(record)]


def _percent(share: float, *, up: bool) -> str:
    return f"{fixed(100.0 * share, 1, up=up)}{SPACE}%"
