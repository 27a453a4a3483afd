"""What a page says of a release: its numbers as rows of words, and facts that templates put into
sentences. A bound is rounded outward.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shuffledp.design import Law
from shuffledp.numerals import SPACE, between, count, decimals_for, exact, fixed, margin, percent, times
from shuffledp.record import Alternative, Record, Table
from shuffledp.search.terms import Searched, SearchLevel

__all__ = [
    "Row",
    "compared",
    "decimals_of",
    "design_json",
    "dummies",
    "ends_of",
    "estimate_rows",
    "first_rows",
    "larger",
    "levels",
    "margins_of",
    "odds",
    "parameters",
    "possible",
    "reach",
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


def compared(record: Record) -> list[Alternative]:
    """The same guarantee without a shuffler, with one, and with a curator; a search has nothing to
    be compared with.
    """
    by = {each.trust: each for each in record.comparison}
    return [by["nobody"], by["shuffler"], by["curator"]] if by else []


def larger(one: Alternative, other: Alternative) -> str | None:
    """How many times larger the error of one is than that of the other, if it is."""
    return times(one.stderr / other.stderr) if one.stderr > ALIKE * other.stderr else None


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
