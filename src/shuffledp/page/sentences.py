"""How far false reports could have moved an estimate, as the terminal and the page say it."""

from __future__ import annotations

from shuffledp.numerals import count, decimals_for, fixed, many
from shuffledp.record import Record

__all__ = ["influence"]

FALSE = 100  # one report in so many is false, where some are
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
    misled = record.question.misled(record)
    rows = [] if misled is None else misled.rows
    return [MOVED_QUANTILES.format(name=name, one=one, some=some) for name, _, one, some in rows]
