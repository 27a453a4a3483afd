"""Series that were paid for in advance: one record pays for all weeks, and later ones are the
weeks, which cost nothing more.

A week may be recorded several times, by runs that were killed; it begins once, and only what has
begun was ever seen. Whatever breaks a rule is not covered: it is counted like any other release.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shuffledp.errors import InvalidInput, Refusal
from shuffledp.ledger.entry import ENTRY, SERIES, Entry, Turn

if TYPE_CHECKING:
    from shuffledp.ledger.book import Row

MARK = f'"{SERIES}":'  # no entry of a series is without it


@dataclass(frozen=True, slots=True)
class PaidSeries:
    """A series of one population: the record that paid for it, and its weeks that have begun, each
    with the record that it is.
    """

    turn: Turn
    payment: int
    begun: dict[int, int]

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        weeks = sorted(self.begun)
        return {
            "name": self.turn.name,
            "weeks": self.turn.weeks,
            "payment": self.payment,
            "released": [{"week": week, "release": self.begun[week]} for week in weeks],
            "left": self.turn.weeks - len(weeks),
        }


def turn_of(text: str) -> tuple[Turn, dict[str, Any]] | None:
    """The place in a series that the text of an entry names, if it does, and all that it says. A
    text that cannot be read names none, and is refused by whoever counts it.
    """
    if MARK not in text:
        return None
    try:
        facts = json.loads(text)
        return (Turn.read(facts[SERIES], ENTRY, f"{SERIES}."), facts) if SERIES in facts else None
    except (InvalidInput, ValueError, TypeError, RecursionError):
        return None


def paid_series(rows: Iterable[Row]) -> dict[str, PaidSeries]:
    """The series of one population, by name; ``rows`` are its releases in their order."""
    found: dict[str, PaidSeries] = {}
    for row, series, turn in _judged(rows):
        if series is None:
            found[turn.name] = PaidSeries(turn, row.id, {})
        elif row.begun is not None and turn.week is not None:
            found[turn.name].begun[turn.week] = row.id
    return found


def covered_ids(rows: Iterable[Row]) -> frozenset[int]:
    """The weeks of a population's series: what was paid for before it was recorded."""
    return frozenset(row.id for row, series, _ in _judged(rows) if series is not None)


def series_faults(rows: Iterable[Row]) -> list[str]:
    """Records of one population that claim a place in a series that is not theirs."""
    rows = list(rows)
    sound = {row.id for row, _, _ in _judged(rows)}
    return [
        f"release {row.id} is recorded as {named[0]}, which was not paid for as this release, or begun twice"
        for row in rows
        if (named := turn_of(row.entry)) is not None and row.id not in sound
    ]


def _judged(rows: Iterable[Row]) -> Iterator[tuple[Row, int | None, Turn]]:
    """The records of series that keep the rules, each with the payment that covers it, if it is a
    week.
    """
    paid: dict[str, tuple[int, dict[str, Any]]] = {}
    begun: set[Turn] = set()
    for row in rows:
        if (named := turn_of(row.entry)) is None:
            continue
        turn, facts = named
        if turn.week is None and turn.name not in paid:
            paid[turn.name] = (row.id, facts)
            yield row, None, turn
        elif turn.week is not None and turn.name in paid and _covers(paid[turn.name][1], facts):
            if row.begun is not None and turn in begun:
                continue
            if row.begun is not None:
                begun.add(turn)
            yield row, paid[turn.name][0], turn


def _covers(payment: dict[str, Any], week: dict[str, Any]) -> bool:
    """Whether a payment is for so many releases like this one."""
    weeks = payment[SERIES]["weeks"]
    one = [{**part, "rounds": part["rounds"] * weeks} for part in week["parts"]]
    return bool(payment["parts"] == one and payment["design"] == week["design"] and week[SERIES]["weeks"] == weeks)


def check_turn(rows: Iterable[Row], entry: Entry, *, but: int | None = None) -> tuple[int, str] | None:
    """Refuse an entry that has no place in its series: not paid for, of another design, or of a
    week that has begun. Where the very same series was paid for before, its record is returned.
    """
    if entry.series is None:
        return None
    turn, rows = entry.series, list(rows)
    series, facts = paid_series(rows).get(turn.name), entry.as_json()
    paid = None if series is None else next(row for row in rows if row.id == series.payment)
    if turn.week is None:
        if paid is not None and json.loads(paid.entry) != facts:
            rule = f"series {turn.name!r} must stay what was paid for as release {paid.id}"
            remedy = "Choose another name: a changed design is another series."
            raise InvalidInput(Refusal(rule, "another design or number of weeks", remedy))
        return None if paid is None else (paid.id, paid.record)
    if series is None or paid is None:
        rule = f"series {turn.name!r} must have been paid for in this ledger"
        remedy = "Start it with `shuffledp series new`, or name the ledger in which it was."
        raise InvalidInput(Refusal(rule, "none of that name", remedy))
    if not _covers(json.loads(paid.entry), facts):
        rule = f"a week of series {turn.name!r} must be of the design that release {paid.id} paid for"
        raise InvalidInput(Refusal(rule, "another", "Start another series for it."))
    if series.begun.get(turn.week, but) != but:
        again = f"it again: release {series.begun[turn.week]} of this ledger is it"
        raise InvalidInput(Refusal(f"{turn} must be released once", again, "Take the next week."))
    return None
