"""What was asked, when, and of which series."""

from __future__ import annotations

from typing import Annotated

from shuffledp.record.question_kinds import CROSSTABS
from shuffledp.schema import NULL, USUAL, Mark, Part, Some, Text, Time, part

CLIPPED_TO_BOUNDS = "clipped to the bounds"


@part
class Made(Part):
    """When a release was made, and with which versions."""

    when: Time
    shuffledp: Text
    python: Text
    numpy: Text
    scipy: Text
    cryptography: Text
    pyarrow: Text


@part
class InSeries(Part):
    """Which week of which series a release is, and of which period, if that was said. ``digest`` is
    that of the series' file: its name, its design, its number of weeks.
    """

    name: Text
    week: Some
    weeks: Some
    period: Text | None = None
    digest: Text

    def __str__(self) -> str:
        period = "" if self.period is None else f" ({self.period})"
        return f"week {self.week:,} of {self.weeks:,} of series {self.name}{period}"


@part
class Asked(Part):
    """The question in the words of whoever asked, and what happened to values that answer it in no
    usual way; and of which series it is a week, if it is of one. ``engine`` is where the table was,
    if it was not on one computer.
    """

    question: Text
    what: Annotated[Text | None, USUAL] = None
    title: Annotated[Text | None, USUAL] = None
    source: Annotated[Text | None, USUAL] = None
    column: Annotated[Text | None, USUAL] = None
    cleaned: Annotated[Text | None, NULL] = None
    categories: Annotated[Text | None, NULL] = None
    outside: Annotated[Text | None, NULL] = None
    missing: Annotated[Text | None, NULL] = None
    by: Annotated[Text | None, Mark(questions=CROSSTABS)] = None
    engine: Text | None = None
    series: InSeries | None = None

    @property
    def clips(self) -> bool:
        """Whether values outside the range of a mean were moved to its ends."""
        return self.outside == CLIPPED_TO_BOUNDS

    @property
    def may_be_clipped(self) -> bool:
        """Whether they were, or nobody said that they were not."""
        return self.outside is None or self.clips
