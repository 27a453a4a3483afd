"""The estimates of all weeks of a series, and how they change from week to week, with intervals.

The interval of a week is about the people who reported in it, and covers the noise of the protocol
and nothing else. Those of a whole trend hold for all weeks and all lines of the series at once
(Bonferroni), also those that are still to come: the tables of each week are made again of its votes
at that level, where its record holds all votes. Noise is fresh every week, so the limits of a
change come from those of its two weeks (Zou and Donner 2008: recovered variances). A quantile is
known no closer than to its bin, however little noise there is: there, a change is between the
limits of its two weeks, each at the square root of the level, so that both hold as often as was
asked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from shuffledp.record import Record, Table
from shuffledp.release.pipeline import tables_again
from shuffledp.series.series_file import SeriesFile, period_of
from shuffledp.series.weeks import Tracked
from shuffledp.storage.files import write_table

Limits = tuple[float, float]
COLUMNS = ("week", "period", "label", "reports", "value", "stderr", "lower", "upper", "all_lower", "all_upper", "unit")


@dataclass(frozen=True, slots=True)
class Point:
    """One line in one week: a share of the people, a mean, a quantile. ``place`` is where its week
    stands on an axis of time. Of a list that is cut there are no limits for the whole trend
    (``band``). Limits ``apart`` are there where those of a change cannot come from recovered
    variances.
    """

    week: int
    period: str | None
    place: int
    reports: int
    value: float
    stderr: float | None
    lower: float
    upper: float
    band: Limits | None
    apart: Limits | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """From one released week to the next one; ``told`` if it is more than noise, of all changes of
    the series at once.
    """

    since: Point
    to: Point
    value: float
    lower: float
    upper: float
    band: Limits | None

    @property
    def told(self) -> bool:
        """Whether it can be told from 0, together with all other changes."""
        return self.band is not None and not self.band[0] <= 0.0 <= self.band[1]


@dataclass(frozen=True, slots=True)
class Trend:
    """The weeks of a series, line by line: what each line is of, and the rank of its table."""

    series: SeriesFile
    lines: dict[str, list[Point]]
    units: dict[str, str]
    ranks: dict[str, int]
    level: float
    secure: bool

    @property
    def weeks(self) -> int:
        """How many weeks there are."""
        return len({point.week for points in self.lines.values() for point in points})

    def changes(self, label: str) -> list[Change]:
        """From each week of a label to the next."""
        return [_change(*pair) for pair in pairwise(self.lines[label])]

    def largest(self, most: int) -> list[str]:
        """The lines to show, in their order: all of the lowest rank that has no more than ``most``;
        if there is none, those of the lowest with the largest values in their last week.
        """
        ranks = sorted(set(self.ranks.values()))
        views = [[label for label in self.lines if self.ranks[label] == rank] for rank in ranks]
        if fitting := [view for view in views if len(view) <= most]:
            return fitting[0]
        return sorted(views[0], key=lambda label: -self.lines[label][-1].value)[:most] if views else []

    def rows(self) -> list[dict[str, Any]]:
        """Every week of every line, as plain data."""
        names = ("week", "period", "reports", "value", "stderr")
        return [
            {"label": label} | {name: getattr(point, name) for name in names} | _limits(point) | {"unit": unit}
            for label, unit in self.units.items()
            for point in self.lines[label]
        ]

    def as_json(self) -> dict[str, Any]:
        """Plain data: a row for every label and week, and one for every change."""
        changes = [
            {"label": label, "from": each.since.week, "to": each.to.week, "value": each.value, **_limits(each)}
            | {"told": each.told}
            for label in self.lines
            for each in self.changes(label)
        ]
        return {"level": self.level, "points": self.rows(), "changes": changes}


def trend_of(state: Tracked) -> Trend:
    """The trend of the weeks that stand in a folder."""
    lines, units, ranks = dict[str, list[Point]](), dict[str, str](), dict[str, int]()
    for week, period in state.periods().items():
        record = state.standing[week]
        at = week if period is None else period_of(period).number
        for label, unit, rank, found in _weekly(record, state.series.weeks):
            units.setdefault(label, unit)
            ranks.setdefault(label, rank)
            lines.setdefault(label, []).append(Point(week, period, at, record.counted.reports, *found))
    records = state.standing.values()
    level = next((record.estimates.level for record in records), 0.95)
    return Trend(state.series, lines, units, ranks, level, all(record.secure for record in records))


def _weekly(record: Record, weeks: int) -> Iterator[tuple[str, str, int, tuple[Any, ...]]]:
    """What is followed of a week, each with its numbers, with its limits for the whole trend, and,
    if it is known no closer than to a bin, with those at the level at which two weeks both hold as
    often as its own.
    """
    followed, again = record.question.followed, tables_again(record)
    own, level = followed(record, record.tables), record.estimates.level
    lines = sum(len(table.label) for table, _ in own)
    missed = (1.0 - level) / weeks

    @cache
    def at(sure: float) -> dict[str, Limits]:
        """The limits of every line at another level."""
        every: list[tuple[Table, Any]] = [] if again is None else followed(record, again(sure))
        return {label: ends for table, _ in every for label, ends in zip(table.label, _ends(table), strict=True)}

    for table, ranks in own:
        limits = at(1.0 - missed if table.all_lower else 1.0 - missed / lines)
        both = {} if table.stderr or table.all_lower else at(math.sqrt(level))  # without: the ends of bins
        errors = table.stderr or [None] * len(table.label)
        columns = zip(table.label, ranks, table.value, errors, table.lower, table.upper, strict=True)
        for label, rank, *numbers in columns:
            yield label, table.unit, rank, (*numbers, limits.get(label), both.get(label))


def _ends(table: Table) -> Iterator[Limits]:
    """The limits of all rows: those that hold for all at once, or of each by itself."""
    ends = (table.all_lower, table.all_upper) if table.all_lower else (table.lower, table.upper)
    return zip(*ends, strict=True)


def write_trend(trend: Trend, path: Path) -> None:
    """A row for every line and week, as CSV."""
    write_table(path, COLUMNS, ([row[name] for name in COLUMNS] for row in trend.rows()))


def _limits(found: Point | Change) -> dict[str, Any]:
    low, high = (None, None) if found.band is None else found.band
    return {"lower": found.lower, "upper": found.upper, "all_lower": low, "all_upper": high}


def _change(since: Point, to: Point) -> Change:
    """The difference of two independent estimates."""
    value, apart = to.value - since.value, since.apart is not None and to.apart is not None

    def limits(old: Limits | None, new: Limits | None) -> Limits | None:
        if old is None or new is None:
            return None
        if apart:  # where each week is within its own
            return new[0] - old[1], new[1] - old[0]
        below, above = (to.value - new[0], old[1] - since.value), (new[1] - to.value, since.value - old[0])
        return value - math.hypot(*below), value + math.hypot(*above)

    own = [each.apart if apart else (each.lower, each.upper) for each in (since, to)]
    lower, upper = limits(*own) or (math.nan, math.nan)
    return Change(since, to, value, lower, upper, limits(since.band, to.band))
