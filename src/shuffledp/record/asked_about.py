"""What was asked, when, and of which series."""

from __future__ import annotations

from shuffledp.record.forms import Part, needed, or_none, part, perhaps, some, text, time, usual
from shuffledp.record.task_kinds import CROSSTABS

__all__ = ["CLIPPED_TO_BOUNDS", "Asked", "InSeries", "Made"]

CLIPPED_TO_BOUNDS = "clipped to the bounds"


@part
class Made(Part):
    """When a release was made, and with which versions."""

    when: str = needed(time)
    shuffledp: str = needed(text)
    python: str = needed(text)
    numpy: str = needed(text)
    scipy: str = needed(text)
    cryptography: str = needed(text)
    pyarrow: str = needed(text)


@part
class InSeries(Part):
    """Which week of which series a release is, and of which period, if that was said. ``digest`` is
    that of the series' file: its name, its design, its number of weeks.
    """

    name: str = needed(text)
    week: int = needed(some)
    weeks: int = needed(some)
    period: str | None = perhaps(text, default=None)
    digest: str = needed(text)

    def __str__(self) -> str:
        period = "" if self.period is None else f" ({self.period})"
        return f"week {self.week:,} of {self.weeks:,} of series {self.name}{period}"


@part
class Asked(Part):
    """The question in the words of whoever asked, and what happened to values that answer it in no
    usual way; and of which series it is a week, if it is of one.
    """

    task: str = needed(text)
    what: str | None = usual(text, default=None)
    title: str | None = usual(text, default=None)
    source: str | None = usual(text, default=None)
    column: str | None = usual(text, default=None)
    cleaned: str | None = perhaps(or_none(text), default=None)
    categories: str | None = perhaps(or_none(text), default=None)
    outside: str | None = perhaps(or_none(text), default=None)
    missing: str | None = perhaps(or_none(text), default=None)
    by: str | None = perhaps(text, default=None, tasks=CROSSTABS)
    series: InSeries | None = perhaps(InSeries, default=None)

    @property
    def clips(self) -> bool:
        """Whether values outside the range of a mean were moved to its ends."""
        return self.outside == CLIPPED_TO_BOUNDS

    @property
    def may_be_clipped(self) -> bool:
        """Whether they were, or nobody said that they were not."""
        return self.outside is None or self.clips
