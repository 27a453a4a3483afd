"""Periods that a release is about: a week such as 2026-W47, a month such as 2026-11, or a day."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from shuffledp.errors import Argument, InvalidInput, Refusal, Words

__all__ = ["Period", "check_order", "period_of"]

REMEDY = "Write a week as 2026-W47, a month as 2026-11, or a day as 2026-11-16."


class Period(NamedTuple):
    """A period by its number among those of its kind, which are counted without a gap."""

    kind: str
    number: int


def period_of(text: str) -> Period:
    """The period that a text names.

    >>> period_of("2026-W47").number - period_of("2025-W47").number
    52
    >>> period_of("2026-01").number - period_of("2025-12").number
    1
    """
    try:
        if found := re.fullmatch(r"([0-9]{4})-W([0-9]{2})", text):
            return Period("week", date.fromisocalendar(int(found[1]), int(found[2]), 1).toordinal() // 7)
        if found := re.fullmatch(r"([0-9]{4})-([0-9]{2})", text):
            return Period("month", 12 * date(int(found[1]), int(found[2]), 1).year + int(found[2]))
        if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            return Period("day", date.fromisoformat(text).toordinal())
    except ValueError:
        pass
    raise _refused(" must be a week, a month or a day of the calendar", repr(text))


def check_order(week: int, text: str | None, known: Mapping[int, str | None]) -> None:
    """Refuse the period of a week beside those of the ``known`` ones: all are of one kind, none
    comes twice, and a later week has a later period. A week may be released late, if it keeps that.
    """
    if text is None:
        if any(each is not None for each in known.values()):
            raise _refused(" must be given, as it was for other weeks of this series", "none")
        return
    mine = period_of(text)
    for other, said in known.items():
        if said is None:
            rule = f" must be left out, as it was for week {other} of this series"
            raise _refused(rule, repr(text), "Leave it out.")
        theirs = period_of(said)
        if mine.kind != theirs.kind:
            raise _refused(f" must be a {theirs.kind}, as {said} of week {other} is", repr(text))
        if (week < other) != (mine.number < theirs.number) or mine.number == theirs.number:
            when = "before" if week < other else "after"
            remedy = ("Correct it, or name another week: ", Argument("week"), ".")
            raise _refused(f" of week {week} must be {when} {said}, that of week {other}", repr(text), remedy)


def _refused(rule: str, got: str, remedy: Words = REMEDY) -> InvalidInput:
    return InvalidInput(Refusal((Argument("period"), rule), got, remedy))
