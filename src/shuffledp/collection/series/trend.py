"""The estimates of all weeks of a series, and how they change from week to week, with intervals.

People are counted as shares of those who reported in a week, since their number may change. The
interval of a week is about the people who reported in it, and covers the noise of the protocol and
nothing else. Those of a whole trend hold for all weeks and all labels of the series at once, also
those that are still to come (Bonferroni). Noise is fresh every week, so the limits of a change come
from those of its two weeks (Zou and Donner 2008: recovered variances).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.collection.record import Record
from shuffledp.collection.series.periods import period_of
from shuffledp.collection.series.series_file import SeriesFile
from shuffledp.collection.series.weeks import Tracked
from shuffledp.protocols.design import Design
from shuffledp.protocols.estimate import Estimate
from shuffledp.storage.files import write_table

__all__ = ["Change", "Point", "Trend", "trend_of", "write_trend"]

Limits = tuple[float, float]
COLUMNS = ("week", "period", "label", "reports", "value", "stderr", "lower", "upper", "all_lower", "all_upper")


@dataclass(frozen=True, slots=True)
class Point:
    """One label in one week: a share of the people, or a mean. ``place`` is where its week stands
    on an axis of time. Of a list that is cut there are no limits for the whole trend.
    """

    week: int
    period: str | None
    place: int
    reports: int
    value: float
    stderr: float
    lower: float
    upper: float
    band: Limits | None


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
    """The weeks of a series, label by label. ``shares`` says that people were counted; ``bounds``
    are those of a mean.
    """

    series: SeriesFile
    lines: dict[str, list[Point]]
    level: float
    shares: bool
    bounds: tuple[float, float] | None
    secure: bool

    @property
    def weeks(self) -> list[Point]:
        """One point for every week, of any label."""
        return next(iter(self.lines.values()), [])

    def changes(self, label: str) -> list[Change]:
        """From each week of a label to the next."""
        points = self.lines[label]
        return [_change(*pair) for pair in pairwise(points)]

    def largest(self, most: int) -> list[str]:
        """The labels to show: all in their order, or those with the largest values in the last
        week.
        """
        labels = list(self.lines)
        if len(labels) <= most:
            return labels
        return sorted(labels, key=lambda label: -self.lines[label][-1].value)[:most]

    def as_json(self) -> dict[str, Any]:
        """Plain data: a row for every label and week, and one for every change."""
        return {
            "level": self.level,
            "unit": "share" if self.shares else "mean",
            "points": [{"label": label, **_plain(point)} for label, points in self.lines.items() for point in points],
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


def trend_of(state: Tracked) -> Trend:
    """The trend of the weeks that stand in a folder."""
    lines: dict[str, list[Point]] = {}
    series, records = state.series, state.standing
    for week, record in records.items():
        bands = _bands(series.design, record, series.weeks)
        scale = 1.0 / record.counted.reports if series.design.task.counts else 1.0
        said, found = record.asked.series, record.estimates
        period = None if said is None else said.period
        columns = (found.value, found.stderr, found.lower, found.upper)
        for place, (label, *own) in enumerate(zip(found.label, *columns, strict=True)):
            band = None if bands is None else (scale * bands[0][place], scale * bands[1][place])
            at = week if period is None else period_of(period).number
            value, stderr, lower, upper = (scale * each for each in own)
            point = Point(week, period, at, record.counted.reports, value, stderr, lower, upper, band)
            lines.setdefault(label, []).append(point)
    level = next((record.estimates.level for record in records.values()), 0.95)
    secure = all(record.secure for record in records.values())
    return Trend(series, lines, level, series.design.task.counts, series.design.task.bounds, secure)


def write_trend(trend: Trend, path: Path) -> None:
    """A row for every label and week, as CSV."""

    def rows() -> Iterator[list[object]]:
        for label, points in trend.lines.items():
            for point in points:
                cells = {**_plain(point), "label": label}
                yield [cells[name] for name in COLUMNS]

    write_table(path, COLUMNS, rows())


def _plain(point: Point) -> dict[str, Any]:
    own = {name: getattr(point, name) for name in ("week", "period", "reports", "value", "stderr")}
    return own | _limits(point)


def _limits(found: Point | Change) -> dict[str, Any]:
    low, high = (None, None) if found.band is None else found.band
    return {"lower": found.lower, "upper": found.upper, "all_lower": low, "all_upper": high}


def _bands(design: Design, record: Record, weeks: int) -> tuple[list[float], list[float]] | None:
    """Limits for all labels in all weeks at once, from the votes; None where the record does not
    hold all of them.
    """
    estimate = _estimated(design, record)
    if estimate is None:
        return None
    missed = 1.0 - record.estimates.level
    low, high = estimate.simultaneous(1.0 - missed / weeks)
    return low.tolist(), high.tolist()


def _estimated(design: Design, record: Record) -> Estimate | None:
    """The estimate of a record, made again of its votes."""
    tally, size = record.tally, design.protocol.randomizer.tally_size
    for votes in (tally.votes, (tally.reports, *(tally.blocks or ()), *tally.votes)):
        if len(votes) == size and tally.digest is None:
            estimate = design.protocol.analyse_counts(_whole(votes))
            same: Floats = np.asarray(record.estimates.value)
            if estimate.values.shape == same.shape and np.allclose(estimate.values, same, rtol=1e-9, atol=1e-9):
                return estimate
    return None


def _whole(votes: tuple[int, ...]) -> NDArray[np.int64]:
    return np.asarray(votes, dtype=np.int64)


def _change(since: Point, to: Point) -> Change:
    """The difference of two independent estimates."""
    band = None
    if since.band is not None and to.band is not None:
        band = _recovered(since.value, since.band, to.value, to.band)
    each = _recovered(since.value, (since.lower, since.upper), to.value, (to.lower, to.upper))
    return Change(since, to, to.value - since.value, *each, band)


def _recovered(before: float, old: Limits, after: float, new: Limits) -> Limits:
    """Limits of ``after - before`` from those of each."""
    value = after - before
    return value - math.hypot(after - new[0], old[1] - before), value + math.hypot(new[1] - after, before - old[0])
