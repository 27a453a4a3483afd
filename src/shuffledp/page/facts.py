"""What a page says of a release: its numbers as rows of words, and facts that templates put into
sentences. A bound is rounded outward.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

from shuffledp.design import Law
from shuffledp.domain import CROSS
from shuffledp.page.numerals import SPACE, count, decimals_for, exact, fixed, margin, percent, times
from shuffledp.record import Alternative, Record, Table
from shuffledp.search.terms import Searched, SearchLevel

__all__ = [
    "Row",
    "between",
    "compared",
    "cut_rows",
    "decimals_of",
    "design_json",
    "dummies",
    "ends_of",
    "estimate_rows",
    "first_rows",
    "levels",
    "margins_of",
    "moved_rows",
    "odds",
    "parameters",
    "possible",
    "quantile_name",
    "quantile_rows",
    "range_rows",
    "reach",
    "share_rows",
    "symmetric",
    "thin",
    "together",
]

SHOWN = 30  # of a long list, the rows that are drawn
EVEN = 0.01  # relative: ends of an interval that differ by less are called the same
ALIKE = 1.05  # errors that differ by less are called the same
SMALLEST = 1e-13  # deltas below are not said as 1 in a number
VISIBLE = 0.006  # of the scale: error bars that are narrower are no more than a line
LISTED = 40  # entries of a list in the design that is shown
NAMES = {0.25: "lower quartile", 0.5: "median", 0.75: "upper quartile"}


@dataclass(frozen=True, slots=True)
class Row:
    """One estimate: its interval, the one that holds for all at once, and which share of those who
    answered it is.
    """

    label: str
    value: str
    own: str
    at_once: str
    share: str


def together(found: Table) -> bool:
    """Whether the list is sorted and cut: the largest of many are large by luck as well, so its
    intervals must hold for all at once.
    """
    return len(found.value) > SHOWN


def first_rows(found: Table) -> list[int]:
    """The places that are drawn: all in their order, or the largest first."""
    order = list(range(len(found.value)))
    return order if len(order) <= SHOWN else sorted(order, key=lambda place: -found.value[place])[:SHOWN]


def ends_of(found: Table, *, at_once: bool = False) -> tuple[Sequence[float], Sequence[float]]:
    """The intervals that are shown: of each alone, or of all at once."""
    return (found.all_lower, found.all_upper) if at_once or together(found) else (found.lower, found.upper)


def margins_of(found: Table, *, at_once: bool = False) -> list[float]:
    """How far the farther end of every interval that is shown is from its estimate."""
    ends = ends_of(found, at_once=at_once)
    return [max(value - low, high - value) for value, low, high in zip(found.value, *ends, strict=True)]


def decimals_of(found: Table) -> int:
    """How many decimals are worth showing."""
    return decimals_for(min((margin for margin in margins_of(found) if margin > 0.0), default=0.0))


def reach(found: Table, *, at_once: bool = False) -> str:
    """How far the least certain estimate, as it is shown, is from its true value at most, with the
    probability of the intervals.
    """
    decimals, columns = decimals_of(found), zip(found.value, *ends_of(found, at_once=at_once), strict=True)
    worst = float(max((margin(*each, decimals) for each in columns), default=0))
    words = fixed(worst, min(decimals, decimals_for(worst)), up=True)
    return f"{'±' if symmetric(found, at_once=at_once) else 'within'}{SPACE}{words}"


def symmetric(found: Table, *, at_once: bool = False) -> bool:
    """Whether both ends of every interval that is shown are as far from its estimate."""
    columns = zip(found.value, *ends_of(found, at_once=at_once), strict=True)
    return all(abs(high - 2.0 * value + low) <= EVEN * (high - low) for value, low, high in columns)


def between(low: float, high: float, decimals: int) -> str:
    """An interval, rounded outward."""
    return f"{fixed(low, decimals, up=False)} to {fixed(high, decimals, up=True)}"


def possible(record: Record) -> tuple[float, float]:
    """Between which ends a single estimate lies, no matter what people answered."""
    people = record.counted.people
    return (0.0, float(people)) if record.question.unit == "people" else record.question.ends(people)


def estimate_rows(record: Record, places: Sequence[int] | None = None) -> list[Row]:
    """Some estimates, or all."""
    found, decimals = record.estimates, decimals_of(record.estimates)
    return [
        Row(
            found.label[at],
            fixed(found.value[at], decimals),
            between(found.lower[at], found.upper[at], decimals),
            between(found.all_lower[at], found.all_upper[at], decimals),
            percent(found.value[at] / record.counted.people),
        )
        for at in (range(len(found.value)) if places is None else places)
    ]


def share_rows(record: Record) -> list[tuple[str, str, str, str, str]]:
    """Shares within the groups of one column, if they were asked for: group, cell, share, and its
    two intervals; a share of which nothing can be said is empty.
    """
    shares, by, columns = record.table("shares"), record.asked.by, record.design.domain.column_names
    if shares is None or by is None or columns is None:
        return []
    listed = [column.names for column in record.question.cells.columns]
    axis, names, told = columns.index(by), list(product(*listed)), {label: row for label, *row in shares.rows()}
    rows = []
    for cell in sorted(names, key=lambda cell: listed[axis].index(cell[axis])):
        rest = CROSS.join(name for place, name in enumerate(cell) if place != axis)
        if (row := told.get(CROSS.join(cell))) is None:
            rows.append((cell[axis], rest, "", "", ""))
        else:
            value, *ends = row
            own, at_once = (f"{between(100.0 * low, 100.0 * high, 1)}{SPACE}%" for low, high in (ends[:2], ends[2:]))
            rows.append((cell[axis], rest, percent(value), own, at_once))
    return rows


def quantile_rows(record: Record) -> list[tuple[str, str, str]]:
    """For each quantile that was asked for: what it is called, where it is, and between which
    ends.
    """
    found = record.table("quantiles")
    if found is None:
        return []
    cuts, clips = record.question.cuts, record.asked.may_be_clipped
    return [
        (quantile_name(float(at)), _point(value, cuts, clips=clips), _between(low, high, cuts, clips=clips))
        for at, value, low, high in found.rows()
    ]


def range_rows(record: Record) -> list[tuple[str, str, str, str]]:
    """For each range that was asked for: what it is, how many people are in it, between which
    limits, and what share of all that is.
    """
    found, reports = record.table("ranges"), record.counted.reports
    if found is None:
        return []
    rows = zip(record.question.ranges, found.rows(), strict=True)
    return [
        (f"{exact(low)} to {exact(high)}", fixed(value, 0), between(lower, upper, 0), percent(value / reports))
        for (low, high), (_, value, _, lower, upper) in rows
    ]


def cut_rows(record: Record) -> list[Row]:
    """How many people are below each inner cut point."""
    found, reports = record.estimates, record.counted.reports
    columns = (found.value, found.lower, found.upper, found.all_lower, found.all_upper)
    return [
        Row(exact(cut), fixed(value, 0), between(low, high, 0), between(lowest, highest, 0), percent(value / reports))
        for cut, value, low, high, lowest, highest in zip(record.question.cuts[1:-1], *columns, strict=True)
    ]


def moved_rows(record: Record) -> list[tuple[str, str, str, str]]:
    """For each quantile that was asked for: what it is called, where it is, and between which
    values it would be if one false report, and if 1 % of them, had been honest.
    """
    found = record.table("quantiles")
    if found is None:
        return []
    cuts, clips, rows = record.question.cuts, record.asked.may_be_clipped, []
    columns = zip(found.one_lower, found.one_upper, found.some_lower, found.some_upper, strict=True)
    for (name, point, _), ends in zip(quantile_rows(record), columns, strict=True):
        one, some = (_spread(low, high, cuts, clips=clips) for low, high in (ends[:2], ends[2:]))
        rows.append((name, point, one, some))
    return rows


def quantile_name(at: float) -> str:
    """What a quantile is called."""
    return NAMES.get(at, f"{exact(at)}-quantile")


def _spread(low: float, high: float, cuts: Sequence[float], *, clips: bool) -> str:
    """From one value to the other, each rounded outward to a tenth of a bin; beyond the ends of the
    range, where values may have been clipped.
    """
    digits = max(decimals_for(after - before) for before, after in pairwise(cuts))
    least, most = fixed(low, digits, up=False), fixed(high, digits, up=True)
    return _open_ended(least, most, first=clips and low < cuts[1], last=clips and high > cuts[-2])


def _point(value: float, cuts: Sequence[float], *, clips: bool) -> str:
    """The point estimate, to a tenth of its bin; where values may have been clipped, no place in
    the first or the last bin is any better than another.
    """
    low, high = next(((low, high) for low, high in pairwise(cuts) if value < high), tuple(cuts[-2:]))
    if clips and low == cuts[0]:
        return f"below {exact(high)}"
    if clips and high == cuts[-1]:
        return f"{exact(low)} or more"
    return fixed(value, decimals_for(high - low))


def _between(low: float, high: float, cuts: Sequence[float], *, clips: bool) -> str:
    return _open_ended(exact(low), exact(high), first=clips and low == cuts[0], last=clips and high == cuts[-1])


def _open_ended(low: str, high: str, *, first: bool, last: bool) -> str:
    """An interval whose ends are open where they are in the ``first`` or the ``last`` bin."""
    if first and last:
        return "anywhere"
    if first:
        return f"below {high}"
    return f"{low} or more" if last else f"{low} to {high}"


@dataclass(frozen=True, slots=True)
class Compared:
    """The error to expect under three kinds of trust."""

    alone: Alternative
    ours: Alternative
    curator: Alternative

    @property
    def smaller(self) -> str | None:
        """How many times smaller the error is than without a shuffler, if it is."""
        return _ratio(self.alone, self.ours)

    @property
    def larger(self) -> str | None:
        """How many times larger it is, if it is."""
        return _ratio(self.ours, self.alone)

    @property
    def above_curator(self) -> str | None:
        """How many times larger it is than that of a curator, if it is."""
        return _ratio(self.ours, self.curator)

    @property
    def below_curator(self) -> bool:
        """Whether it is no larger."""
        return self.ours.stderr <= self.curator.stderr


def _ratio(one: Alternative, other: Alternative) -> str | None:
    return times(one.stderr / other.stderr) if one.stderr > ALIKE * other.stderr else None


def compared(record: Record) -> Compared | None:
    """The same guarantee under other kinds of trust; a search has nothing to be compared with."""
    by = {each.trust: each for each in record.comparison}
    return Compared(by["nobody"], by["shuffler"], by["curator"]) if by else None


def odds(delta: float) -> str | None:
    """A small probability as one in a number."""
    return fixed(1.0 / delta, 0, up=False) if SMALLEST < delta <= 0.1 else None


def thin(found: Table) -> bool:
    """Whether some error bars are too narrow to be seen."""
    places, margins, (low, high) = first_rows(found), margins_of(found), ends_of(found)
    span = max([0.0, *(high[at] for at in places)]) - min([0.0, *(low[at] for at in places)])
    return any(margins[at] < VISIBLE * span for at in places)


def parameters(law: Law) -> list[str]:
    """The numbers that the noise has, by name."""
    numbers = [
        f"{name.replace('epsilon0', 'ε₀')} = {_parameter(value)}"
        for name, value in law.parameters.items()
        if value is not None and not isinstance(value, list)
    ]
    if law.questions is not None:
        numbers.append(f"levels of {', '.join(count(each.values) for each in law.questions)} runs of bins")
    return numbers


def _parameter(value: int | str | float) -> str:
    if isinstance(value, str):
        return value
    return count(value) if isinstance(value, int) else exact(value)


def dummies(law: Law) -> str:
    """About how many dummies there are for each thing that a message can name."""
    means = map(law.parameters.get, ("center", "rate"))
    return count(round(max((each for each in means if isinstance(each, (int, float))), default=0)))


def levels(search: Searched) -> list[tuple[int, SearchLevel]]:
    """The levels of a search, each with the number of symbols of what it follows."""
    return [(sum(search.spans[: place + 1]), each) for place, each in enumerate(search.levels)]


def design_json(design: Mapping[str, Any]) -> str:
    """The design as every device has it, with long lists cut."""
    return json.dumps(_cut(design), indent=1, ensure_ascii=False)


def _cut(part: Any) -> Any:
    if isinstance(part, Mapping):
        return {name: _cut(each) for name, each in part.items()}
    if not isinstance(part, (list, tuple)):
        return part
    more = f"... and {count(len(part) - LISTED)} more, in the record inside this page"
    return [*map(_cut, part[:LISTED]), *([more] if len(part) > LISTED else [])]
