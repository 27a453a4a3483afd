"""What one week of a series says, line by line: a share of the people or of a group, a mean, a sum,
a quantile, each with its own limits and with those that hold for all lines and all weeks of the
series at once (Bonferroni).

The latter are computed again from the votes in the record, and are left out where it does not hold
all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.page.distribution import quantile_name
from shuffledp.protocols.crosstab import Crossing
from shuffledp.protocols.design import Design
from shuffledp.protocols.quantiles import Distribution
from shuffledp.protocols.tasks import CrosstabTask
from shuffledp.protocols.tasks.crossing import ALL, CROSS
from shuffledp.randomizers.messages import MessageLaw
from shuffledp.record import Record
from shuffledp.series.series_file import SeriesFile

__all__ = ["Limits", "Reading", "Unit", "readings", "views"]

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
    protocol, again = series.design.protocol, _again(series.design, record)
    missed = (1.0 - record.estimates.level) / series.weeks
    if isinstance(protocol, Distribution):
        return [] if again is None else list(_distributed(protocol, record, *again, missed))
    found = list(_estimated(series.design, record, None if again is None else again[1], missed))
    if series.by is not None and again is not None and isinstance(protocol, Crossing):
        found += _within_groups(protocol, series.by, record, again[0], missed)
    return found


def views(series: SeriesFile, labels: list[str]) -> list[list[str]]:
    """What to draw, the best first: of a crosstab shares within groups, or cells, or sums for one
    column; of other questions all lines.
    """
    task = series.design.task
    if not isinstance(task, CrosstabTask):
        return [labels]
    alone = len(task.columns) - 1
    cells, rows = set(task.labels), set(task.rows)
    return [
        [label for label in labels if label not in rows],
        [label for label in labels if label in cells],
        [label for label in labels if label in rows and label.split(CROSS).count(ALL) == alone],
    ]


def _estimated(design: Design, record: Record, again: Estimate | None, missed: float) -> Iterator[Reading]:
    """The estimates of a record; people are counted as shares of those who reported."""
    scale, unit = 1.0, "sum" if design.task.unit == "sum" else "mean"
    if design.task.counts:
        scale, unit = 1.0 / record.counted.reports, "share of people"
    low, high = (None, None) if again is None else again.simultaneous(1.0 - missed)
    found = record.estimates
    columns = (found.label, found.value, found.stderr, found.lower, found.upper)
    for place, (label, value, stderr, lower, upper) in enumerate(zip(*columns, strict=True)):
        band = None if low is None or high is None else (scale * float(low[place]), scale * float(high[place]))
        yield Reading(label, unit, scale * value, scale * stderr, (scale * lower, scale * upper), band)  # type: ignore[arg-type]


def _within_groups(protocol: Crossing, by: str, record: Record, tally: Tally, missed: float) -> Iterator[Reading]:
    """Of those in each group, the share in each cell; of a group with too few people, none."""
    task, level = protocol.task, record.estimates.level
    one, every = (protocol.shares(tally, by=by, level=sure) for sure in (level, 1.0 - missed))
    axis = task.columns.index(by)
    for place, label in enumerate(task.labels):
        if not one.known[place]:
            continue
        names = label.split(CROSS)
        group = names.pop(axis)
        band = (float(every.all_lower[place]), float(every.all_upper[place])) if every.known[place] else None
        limits = (float(one.lower[place]), float(one.upper[place]))
        value = float(one.values[place])
        yield Reading(f"{group}: {CROSS.join(names)}", "share of the group", value, None, limits, band)


def _distributed(
    protocol: Distribution, record: Record, tally: Tally, again: Estimate, missed: float
) -> Iterator[Reading]:
    """The quantiles that were asked for, and the shares of people in ranges."""
    level, people = record.estimates.level, record.counted.reports
    ranges = protocol.in_ranges(tally)
    lines = len(protocol.task.at) + len(ranges.labels)
    clipped = " of the clipped values" if record.asked.clips else ""
    sure = (level, 1.0 - missed / lines, math.sqrt(level))
    rows = zip(*(protocol.quantiles(again, each) for each in sure), strict=True)
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
    law, votes = design.protocol.randomizer, record.tally.votes
    if record.tally.digest is not None:
        return None
    if isinstance(law, MessageLaw):
        votes = (record.tally.reports * law.messages, *votes)
    elif len(votes) < law.tally_size:
        votes = (record.tally.reports, *(record.tally.blocks or ()), *votes)
    tally = np.asarray(votes, dtype=np.int64)
    estimate = design.protocol.analyse_counts(tally)
    same: Floats = np.asarray(record.estimates.value)
    if estimate.values.shape != same.shape or not np.allclose(estimate.values, same, rtol=1e-9, atol=1e-9):
        return None
    return tally, estimate
