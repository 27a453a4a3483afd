"""A table: rows of labeled numbers with their errors and limits, whatever was asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from shuffledp.numerals import SPACE
from shuffledp.schema import Chance, Count, Floats, Part, Size, Text, Texts, part

if TYPE_CHECKING:
    from shuffledp.mechanisms.estimate import Estimate

ESTIMATES = "estimates"  # the first table of a record: all that is estimated of the votes as they are
NUMBERS = ("value", "stderr", "lower", "upper", "all_lower", "all_upper")


@part
class Table(Part):
    """Columns of equal length, one row per label; a column that the table lacks is empty.

    ``lower`` to ``upper`` is the interval of each value, ``all_lower`` to ``all_upper`` the one
    that holds for all ``of`` them at once, at the ``level``. ``influence`` is how far one malicious
    person could have moved each, absent where nothing limits it. Where values do not add up,
    ``one_lower`` to ``one_upper`` is where each would have been had one malicious person not
    cheated, and ``some_lower`` to ``some_upper`` had 1 % not.
    """

    name: Text
    unit: Text
    level: Chance
    of: Count
    label: Texts
    value: Floats
    stderr: Floats = ()
    lower: Floats
    upper: Floats
    all_lower: Floats = ()
    all_upper: Floats = ()
    influence: tuple[Size, ...] = ()
    one_lower: Floats = ()
    one_upper: Floats = ()
    some_lower: Floats = ()
    some_upper: Floats = ()

    @classmethod
    def made(
        cls, name: str, label: Iterable[object], *, unit: str, level: float, of: int | None = None, **columns: Any
    ) -> Self:
        """A table of these columns, which may be arrays; all its rows are listed, or some ``of`` so
        many.
        """
        names = tuple(map(str, label))
        numbers: dict[str, Any] = {each: tuple(map(float, column)) for each, column in columns.items()}
        return cls(name=name, unit=unit, level=level, of=len(names) if of is None else of, label=names, **numbers)

    @classmethod
    def estimated(
        cls, name: str, found: Estimate, places: Sequence[int] | None = None, *, level: float, **more: Any
    ) -> Self:
        """All rows of an estimate, or some, each with its own limits and with those of all at
        once.
        """
        kept = range(len(found.labels)) if places is None else places
        numbers = (found.values, found.stderr, *found.interval(level), *found.simultaneous(level))
        columns: dict[str, Any] = {name: column[kept] for name, column in zip(NUMBERS, numbers, strict=True)}
        return cls.made(name, [found.labels[at] for at in kept], level=level, **columns, **more)

    def columns(self) -> dict[str, Floats]:
        """The numbers that stand in the table that people read, by name."""
        return {name: column for name in NUMBERS if (column := getattr(self, name)) or not self.label}

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Each label with its numbers."""
        return zip(self.label, *self.columns().values(), strict=True)

    def of_people(self, people: int) -> Self:
        """Counts as shares of so many people; what has another unit, as it is."""
        if self.unit != "people":
            return self
        scale = 1.0 / people
        shares: dict[str, Any] = {name: tuple(scale * each for each in col) for name, col in self.columns().items()}
        return replace(self, unit="share of people", **shares)


class Told(NamedTuple):
    """A table in words: in every row a name and cells, the ``heads`` above them. Terminal, notebook
    and page show the same.
    """

    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    @property
    def plain(self) -> Told:
        """With ordinary spaces, as a terminal shows it."""
        rows = [tuple(each.replace(SPACE, " ") for each in row) for row in (self.heads, *self.rows)]
        return Told(self.title, rows[0], rows[1:])

    def sentences(self) -> list[str]:
        """A line for each row; a cell that is empty is left out."""
        said = []
        for name, first, *others in self.rows:
            more = "; ".join(
                f"{head.lower()}: {cell}" for head, cell in zip(self.heads[2:], others, strict=True) if cell
            )
            said.append(f"{name}: {first} ({more})" if more else f"{name}: {first}")
        return said
