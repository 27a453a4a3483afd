"""How far malicious people could have moved the estimates: people who send whatever they like that
the protocol takes for a report.
"""

from __future__ import annotations

from shuffledp.page import phrases
from shuffledp.page.distribution import rows_of, swayed_rows
from shuffledp.page.markup import Markup, element
from shuffledp.page.numerals import decimals_for, fixed, many, tied
from shuffledp.page.parts import section
from shuffledp.page.shown_by_task import shown_by
from shuffledp.record import Record

__all__ = ["malicious_people", "moved_quantiles", "poisoned", "poisoning"]

SHARE = 100  # one person in so many, where some are malicious


def malicious_people(record: Record) -> int:
    """How many people 1 % of those who reported are, at least one; in a search, of those who
    counted its words.
    """
    search = record.counted.search
    counting = None if search is None else search.counting
    return -(-(record.counted if counting is None else counting).reports // SHARE)


def poisoned(record: Record) -> str | None:
    """How far one malicious person, and how far 1 % of all, could have moved an estimate."""
    sway = record.estimates.sway
    if not sway:
        return None
    shown = shown_by(record)
    what = shown.movable(record)
    largest = max(sway, key=lambda each: float("inf") if each is None else each)
    if largest is None:
        return phrases.UNLIMITED_SWAY.format(what=what)
    some = malicious_people(record)
    said = phrases.SWAY.format(
        what=what,
        one=fixed(largest, decimals_for(largest), up=True),
        reported="reported" if record.counted.search is None else "were asked at the last level",
        some=many(some, "person", "people"),
        all=fixed(some * largest, decimals_for(some * largest), up=True),
    )
    return " ".join([said, *shown.faked(record)])


def poisoning(record: Record) -> Markup | None:
    """The same as a section of the page."""
    if (said := poisoned(record)) is None:
        return None
    names = ("Quantile", "Estimate", "Had one person not cheated", "Had 1 % not cheated")
    rows = swayed_rows(record)
    moved = rows_of(names, rows) if rows else None
    return section("poisoning", "If some people cheat", element("p", tied(said)), moved, keep=True)


def moved_quantiles(record: Record) -> list[str]:
    """The same of each quantile that was asked for, in words."""
    return [phrases.SWAYED.format(name=name, one=one, some=some) for name, _, one, some in swayed_rows(record)]
