"""What a series is: its name, its design, whose rounds are its weeks, and where it was paid for.

Rules of evolution. ``series.json`` is written once, as JSON in one spelling, and never changed: its
digest stands in the record of every week. A field is never removed and its meaning never changes; a
new one has a default that means what its absence meant, and stands in new files only. What was
released is not in it: every week is a folder of its own.

A release is about a period: a week such as 2026-W47, a month such as 2026-11, or a day.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Annotated, NamedTuple, Self

from shuffledp.design import Design
from shuffledp.errors import Argument, InvalidInput, Refusal, Words
from shuffledp.ledger import Turn, check_name
from shuffledp.ledger.entry import check_digest
from shuffledp.schema import NEEDED, File, Part, Some, Text, Whole, check_format, part
from shuffledp.storage.canonical import canonical, digest_of, strict_json

FORMAT, VERSION, FILE = "shuffledp-series", 1, "series.json"
LARGEST = 1 << 27  # bytes
NO_SEARCH = (
    "a series must ask what one report of each person answers, got a search for top words, of which every week would "
    "be a whole one. Search once (shuffledp top), and count what it found every week: shuffledp stage design histogram "
    "--categories words.txt --other else"
)
REMEDY = "Use the folder that `shuffledp series new` wrote, unchanged."
SERIES = File("a series", REMEDY)


@part
class Payment(Part):
    """Where a series was paid for: whose budget, the release that paid, its seal, and where the
    ledger was, seen from the folder of the series.
    """

    population: Text
    release: Some
    record: Text
    path: Text


@part
class SeriesFile(Part):
    """One design, asked as often as it has rounds; where it was paid for, if it was. With ``by``, a
    column of a crosstab, shares within its groups are told as well.
    """

    format: Annotated[Text, NEEDED] = FORMAT
    version: Annotated[Whole, NEEDED] = VERSION
    name: Text
    created: Text
    title: Annotated[Text | None, NEEDED] = None
    design: Design
    ledger: Annotated[Payment | None, NEEDED] = None
    by: Text | None = None

    @property
    def weeks(self) -> int:
        """How often it is asked."""
        return self.design.rounds

    @classmethod
    def from_json(cls, facts: object) -> Self:
        """The series of ``as_json``; every rule is checked again."""
        found = cls.read(check_format(SERIES.title, facts, FORMAT, VERSION, REMEDY), SERIES).checked()
        found.design.checked()
        if found.ledger is not None:
            check_name(found.ledger.population)
            check_digest("record", found.ledger.record)
        return found

    def checked(self) -> Self:
        """The same, if a series can be that: its name, a question of which one round is a release,
        and in ``by`` a column of a crosstab.
        """
        if not self.design.resolved.alone:
            raise InvalidInput(NO_SEARCH)
        columns = self.design.domain.column_names or ()
        if self.by is not None and self.by not in columns:
            rule = (Argument("by"), f" must be one of the columns of a crosstab, here {', '.join(columns) or 'none'}")
            raise InvalidInput(Refusal(rule, repr(self.by), "Leave it out."))
        return replace(self, name=Turn(name=self.name, weeks=self.weeks).name)

    @cached_property
    def digest(self) -> str:
        """What tells series apart."""
        return digest_of(self.as_json())

    def file_text(self) -> str:
        """The file, letter by letter."""
        return canonical(self.as_json()) + "\n"


def read_series(folder: Path) -> SeriesFile:
    """The series in a folder; a file that says the same in another spelling was changed, and is
    refused.
    """
    path = folder / FILE
    if not path.is_file() or path.stat().st_size > LARGEST:
        raise InvalidInput(
            f"{str(folder)!r} must be the folder of a series, got none with a {FILE}. Start one: shuffledp series new "
            f"{folder} --design FILE"
        )
    try:
        text = path.read_text(encoding="utf-8")
        series = SeriesFile.from_json(strict_json(text))
    except OSError as error:
        raise InvalidInput(f"{str(path)!r} must be readable, got: {os.strerror(error.errno or 0)}. {REMEDY}") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{str(path)!r} must be strict JSON, got something else. {REMEDY}") from None
    if series.file_text() != text:
        raise InvalidInput(f"{str(path)!r} must be spelled as shuffledp spells it, got another spelling. {REMEDY}")
    return series


WRITTEN = "Write a week as 2026-W47, a month as 2026-11, or a day as 2026-11-16."


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


def _refused(rule: str, got: str, remedy: Words = WRITTEN) -> InvalidInput:
    return InvalidInput(Refusal((Argument("period"), rule), got, remedy))
