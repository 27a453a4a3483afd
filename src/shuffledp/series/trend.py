"""The estimates of all weeks of a series, and how they change from week to week, with intervals.

The interval of a week is about the people who reported in it, and covers the noise of the protocol
and nothing else. Those of a whole trend hold for all weeks and all lines of the series at once,
also those that are still to come. Noise is fresh every week, so the limits of a change come from
those of its two weeks (Zou and Donner 2008: recovered variances). A quantile is known no closer
than to its bin, however little noise there is: there, a change is between the limits of its two
weeks, each at the square root of the level, so that both hold as often as was asked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from shuffledp.series.periods import period_of
from shuffledp.series.readings import Limits, Unit, readings, views
from shuffledp.series.series_file import SeriesFile
from shuffledp.series.weeks import Tracked
from shuffledp.storage.files import write_table

__all__ = ["Change", "Point", "Trend", "trend_of", "write_trend"]

COLUMNS = ("week", "period", "label", "reports", "value", "stderr", "lower", "upper", "all_lower", "all_upper", "unit")


@dataclass(frozen=True, slots=True)
class Point:
    """One line in one week: a share of the people, a mean, a quantile. ``place`` is where its week
    stands on an axis of time. Of a list that is cut there are no limits for the whole trend. Limits
    ``apart`` are there where those of a change cannot come from recovered variances.
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
    """The weeks of a series, line by line, and what each line is of."""

    series: SeriesFile
    lines: dict[str, list[Point]]
    units: dict[str, Unit]
    level: float
    secure: bool

    @property
    def weeks(self) -> int:
        """How many weeks there are."""
        return len({point.week for points in self.lines.values() for point in points})

    def changes(self, label: str) -> list[Change]:
        """From each week of a label to the next."""
        points = self.lines[label]
        return [_change(*pair) for pair in pairwise(points)]

    def largest(self, most: int) -> list[str]:
        """The lines to show, in their order: the best view of the question that has no more than
        ``most``; if there is none, those of the first with the largest values in their last week.
        """
        every = [view for view in views(self.series, list(self.lines)) if view]
        if fitting := [view for view in every if len(view) <= most]:
            return fitting[0]
        return sorted(every[0], key=lambda label: -self.lines[label][-1].value)[:most]

    def as_json(self) -> dict[str, Any]:
        """Plain data: a row for every label and week, and one for every change."""
        return {
            "level": self.level,
            "points": [{"label": label, **row} for label in self.lines for row in self._rows(label)],
            "changes": [
                {
                    "label": label,
                    "from": change.since.week,
                    "to": change.to.week,
                    "value": change.value,
                    **_limits(change),
                    "told": change.told,
                }
                for label in self.lines
                for change in self.changes(label)
            ],
        }

    def _rows(self, label: str) -> list[dict[str, Any]]:
        """Every week of a line, as plain data."""
        names = ("week", "period", "reports", "value", "stderr")
        return [
            {name: getattr(point, name) for name in names} | _limits(point) | {"unit": self.units[label]}
            for point in self.lines[label]
        ]


def trend_of(state: Tracked) -> Trend:
    """The trend of the weeks that stand in a folder."""
    lines: dict[str, list[Point]] = {}
    units: dict[str, Unit] = {}
    series, records = state.series, state.standing
    for week, record in records.items():
        said, reports = record.asked.series, record.counted.reports
        period = None if said is None else said.period
        at = week if period is None else period_of(period).number
        for found in readings(series, record):
            units.setdefault(found.label, found.unit)
            own = (found.value, found.stderr, *found.limits, found.band, found.apart)
            lines.setdefault(found.label, []).append(Point(week, period, at, reports, *own))
    level = next((record.estimates.level for record in records.values()), 0.95)
    secure = all(record.secure for record in records.values())
    return Trend(series, lines, units, level, secure)


def write_trend(trend: Trend, path: Path) -> None:
    """A row for every line and week, as CSV."""
    rows = trend.as_json()["points"]
    write_table(path, COLUMNS, ([row[name] for name in COLUMNS] for row in rows))


def _limits(found: Point | Change) -> dict[str, Any]:
    low, high = (None, None) if found.band is None else found.band
    return {"lower": found.lower, "upper": found.upper, "all_lower": low, "all_upper": high}


def _change(since: Point, to: Point) -> Change:
    """The difference of two independent estimates."""
    value, band = to.value - since.value, None
    if since.apart is not None and to.apart is not None:
        own = _between(since.apart, to.apart)
        band = None if since.band is None or to.band is None else _between(since.band, to.band)
        return Change(since, to, value, *own, band)
    if since.band is not None and to.band is not None:
        band = _recovered(since.value, since.band, to.value, to.band)
    own = _recovered(since.value, (since.lower, since.upper), to.value, (to.lower, to.upper))
    return Change(since, to, value, *own, band)


def _between(old: Limits, new: Limits) -> Limits:
    """Limits of a change where each week is within its own."""
    return new[0] - old[1], new[1] - old[0]


def _recovered(before: float, old: Limits, after: float, new: Limits) -> Limits:
    """Limits of ``after - before`` from those of each."""
    value = after - before
    return value - math.hypot(after - new[0], old[1] - before), value + math.hypot(new[1] - after, before - old[0])
