"""The tables of a release: rows of a label, a value, a standard error and two intervals, whatever
was asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from shuffledp import record as stored
from shuffledp.domain import ALL, CROSS
from shuffledp.page.facts import quantile_name
from shuffledp.page.numerals import exact
from shuffledp.record import Record

__all__ = ["Row", "Table", "tables"]


@dataclass(frozen=True, slots=True)
class Row:
    """One estimate. ``lower`` to ``upper`` is its interval, and ``all_lower`` to ``all_upper`` the
    one that holds for all rows of its release at once, where the release has it. A quantile has no
    standard error.
    """

    label: str
    value: float
    stderr: float | None
    lower: float
    upper: float
    all_lower: float | None = None
    all_upper: float | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of one unit; None for one of which nothing can be said. Tables of a lower ``rank`` say
    more of what was asked. Rows that are ``binned`` are known no closer than to a bin.
    """

    unit: str
    rows: Sequence[Row | None]
    rank: int = 1
    binned: bool = False


def tables(record: Record, found: Sequence[stored.Table] | None = None) -> list[Table]:
    """The tables of a record; or of what was ``found`` again in its votes, at another level. People
    are shares of those who reported.
    """
    first, *others = record.tables if found is None else found
    beside = {each.name: each for each in others}
    if "quantiles" in beside or "ranges" in beside:
        return list(_distribution(record, beside))
    scale, unit = (1.0 / record.counted.reports, "share of people") if first.unit == "people" else (1.0, first.unit)
    rows = [Row(label, *(scale * number for number in numbers)) for label, *numbers in first.rows()]
    names = record.design.domain.column_names
    if names is None:
        return [Table(unit, rows)]
    summed = groupby(rows, key=lambda row: row.label.split(CROSS).count(ALL))
    return [*(Table(unit, list(some), 1 + over) for over, some in summed), *_within_groups(record, beside)]


def _distribution(record: Record, found: Mapping[str, stored.Table]) -> Iterator[Table]:
    """The quantiles that were asked for, and the shares of people in ranges."""
    clipped = " of the clipped values" if record.asked.clips else ""
    if (each := found.get("quantiles")) is not None:
        names = [f"{quantile_name(float(at))}{clipped}" for at in each.label]
        columns = zip(names, each.value, each.lower, each.upper, strict=True)
        rows = [Row(name, value, None, lower, upper) for name, value, lower, upper in columns]
        yield Table(str(record.question), rows, binned=True)
    if (some := found.get("ranges")) is not None:
        people = record.counted.reports
        names = [f"from {exact(low)} to {exact(high)}" for low, high in record.question.ranges]
        counts = zip(names, some.value, some.stderr, some.lower, some.upper, strict=True)
        yield Table("share of people", [Row(name, *(each / people for each in own)) for name, *own in counts])


def _within_groups(record: Record, found: Mapping[str, stored.Table]) -> Iterator[Table]:
    """Of those in each group of a column, the share in each cell."""
    if (shares := found.get("shares")) is None:
        return
    axis = (record.design.domain.column_names or ()).index(str(record.asked.by))
    rows: list[Row | None] = []
    told = {label: row for label, *row in shares.rows()}
    for label in record.question.cells.names:
        names = label.split(CROSS)
        group = names.pop(axis)
        value, *ends = told.get(label, (None,))
        rows.append(None if value is None else Row(f"{group}: {CROSS.join(names)}", value, None, *ends))
    yield Table("share of the group", rows, rank=0)
