"""The estimates of all weeks of a series, and how they change from week to week, with intervals.

The interval of a week is about the people who reported in it, and covers the noise of the protocol
and nothing else. Those of a whole trend hold for all weeks and all lines of the series at once,
also those that are still to come. Noise is fresh every week, so the limits of a change come from
those of its two weeks (Zou and Donner 2008: recovered variances). A quantile is known no closer
than to its bin, however little noise there is: there, a change is between the limits of its two
weeks, each at the square root of the level, so that both hold as often as was asked.

What one week says, line by line, is a share of the people or of a group, a mean, a sum, a quantile,
each with its own limits and with those that hold for all lines and all weeks of the series at once
(Bonferroni). The latter are computed again from the votes in the record, and are left out where it
does not hold all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.design import Design
from shuffledp.domain import ALL, CROSS, Cells
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.mechanisms.shares import Shares
from shuffledp.page.facts import quantile_name
from shuffledp.randomizers.messages import MessageLaw
from shuffledp.record import Record
from shuffledp.series.series_file import SeriesFile, period_of
from shuffledp.series.weeks import Tracked
from shuffledp.storage.files import write_table

__all__ = ["Change", "Limits", "Point", "Reading", "Trend", "Unit", "readings", "trend_of", "views", "write_trend"]

Limits = tuple[float, float]
Unit = Literal["share of people", "share of the group", "mean", "sum", "quantile"]
Tally = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Reading:
    """One line in one week. ``limits`` are its own, ``band`` those for the whole trend. Of a
    quantile there is no standard error; ``apart`` are its limits at the level at which two weeks
    both hold as often as ``limits`` do.
    """

    label: str
    unit: Unit
    value: float
    stderr: float | None
    limits: Limits
    band: Limits | None
    apart: Limits | None = None


def readings(series: SeriesFile, record: Record) -> list[Reading]:
    """What the record of a week says, in the order of its question."""
    question, again = series.design.resolved, _again(series.design, record)
    missed = (1.0 - record.estimates.level) / series.weeks
    derived = {} if again is None else series.design.poll.derive(again[0], by=series.by)
    if question.ordered:
        return list(_distributed(derived, record, missed)) if derived else []
    found = list(_estimated(series.design, record, None if again is None else again[1], missed))
    if series.by is not None and "shares" in derived:
        found += _within_groups(question.cells, series.by, record, derived["shares"], missed)
    return found


def views(series: SeriesFile, labels: list[str]) -> list[list[str]]:
    """What to draw, the best first: of a crosstab shares within groups, or cells, or sums for one
    column; of other questions all lines.
    """
    domain = series.design.domain
    if domain.column_names is None:
        return [labels]
    alone = len(domain.column_names) - 1
    cells, rows = set(domain.names), set(series.design.resolved.rows)
    return [
        [label for label in labels if label not in rows],
        [label for label in labels if label in cells],
        [label for label in labels if label in rows and label.split(CROSS).count(ALL) == alone],
    ]


def _estimated(design: Design, record: Record, again: Estimate | None, missed: float) -> Iterator[Reading]:
    """The estimates of a record; people are counted as shares of those who reported."""
    scale, unit = 1.0, design.resolved.unit
    if design.resolved.counts:
        scale, unit = 1.0 / record.counted.reports, "share of people"
    low, high = (None, None) if again is None else again.simultaneous(1.0 - missed)
    found = record.estimates
    columns = (found.label, found.value, found.stderr, found.lower, found.upper)
    for place, (label, value, stderr, lower, upper) in enumerate(zip(*columns, strict=True)):
        band = None if low is None or high is None else (scale * float(low[place]), scale * float(high[place]))
        yield Reading(label, unit, scale * value, scale * stderr, (scale * lower, scale * upper), band)


def _within_groups(
    cells: Cells, by: str, record: Record, shares: Callable[..., Shares], missed: float
) -> Iterator[Reading]:
    """Of those in each group, the share in each cell; of a group with too few people, none."""
    one, every = (shares(level=sure) for sure in (record.estimates.level, 1.0 - missed))
    axis = cells.column_names.index(by)
    for place, label in enumerate(cells.names):
        if not one.known[place]:
            continue
        names = label.split(CROSS)
        group = names.pop(axis)
        band = (float(every.all_lower[place]), float(every.all_upper[place])) if every.known[place] else None
        limits = (float(one.lower[place]), float(one.upper[place]))
        value = float(one.values[place])
        yield Reading(f"{group}: {CROSS.join(names)}", "share of the group", value, None, limits, band)


def _distributed(derived: Mapping[str, Any], record: Record, missed: float) -> Iterator[Reading]:
    """The quantiles that were asked for, and the shares of people in ranges."""
    level, people = record.estimates.level, record.counted.reports
    ranges, quantiles = derived["ranges"], derived["quantiles"]
    lines = len(quantiles(level=level)) + len(ranges.labels)
    clipped = " of the clipped values" if record.asked.clips else ""
    sure = (level, 1.0 - missed / lines, math.sqrt(level))
    rows = zip(*(quantiles(level=each) for each in sure), strict=True)
    for own, every, apart in rows:
        name = f"{quantile_name(own.at)}{clipped}"
        limits = ((each.lower, each.upper) for each in (own, every, apart))
        yield Reading(name, "quantile", own.value, None, *limits)
    low, high, lowest, highest = (end / people for each in sure[:2] for end in ranges.interval(each))
    for place, label in enumerate(ranges.labels):
        value, stderr = (float(each[place]) / people for each in (ranges.values, ranges.stderr))
        own, every = ((float(ends[0][place]), float(ends[1][place])) for ends in ((low, high), (lowest, highest)))
        yield Reading(f"from {label}", "share of people", value, stderr, own, every)


def _again(design: Design, record: Record) -> tuple[Tally, Estimate] | None:
    """The tally of a record, and the estimate made again of it; None where the record does not hold
    all votes, or where this version would conclude something else from them.
    """
    law, votes = design.poll.randomizer, record.tally.votes
    if record.tally.digest is not None:
        return None
    if isinstance(law, MessageLaw):
        votes = (record.tally.reports * law.messages, *votes)
    elif len(votes) < law.tally_size:
        votes = (record.tally.reports, *(record.tally.blocks or ()), *votes)
    tally = np.asarray(votes, dtype=np.int64)
    estimate = design.poll.analyse_counts(tally)
    same: Floats = np.asarray(record.estimates.value)
    if estimate.values.shape != same.shape or not np.allclose(estimate.values, same, rtol=1e-9, atol=1e-9):
        return None
    return tally, estimate


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
