"""How many people hold each combination of several columns' categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import product
from math import prod
from numbers import Integral
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from shuffledp.domain import ALL, CROSS, MOST_COLUMNS, NAMING, REMEDY, Cells, ColumnLabels, Named, as_list
from shuffledp.errors import InvalidInput
from shuffledp.numerals import SPACE, between, level, percent
from shuffledp.questions.histogram.question import algorithm_1, check_labels, labels_of
from shuffledp.questions.question import COUNTED, LISTED, Planned, Question
from shuffledp.questions.table import Table, Told
from shuffledp.schema import NEEDED, Label, Limits, Texts, part
from shuffledp.workload import Each, Margins, kept_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shuffledp.design import Law
    from shuffledp.mechanisms.estimate import Estimate
    from shuffledp.mechanisms.mechanism import Mechanism
    from shuffledp.mechanisms.results import Tally
    from shuffledp.sampling import Source

LISTS = 'Pass a list of lists, one for each column, such as [["north", "south"], ["yes", "no"]].'


@part
class CrosstabQuestion(Question):
    """How many people hold each combination of the categories of several columns; ``other`` has,
    column by column, the category that everything else counts as, or None. Beside the cells stand
    their sums over some of the columns.

    >>> columns, categories = ("region", "smoker"), (("north", "south"), ("yes", "no"))
    >>> CrosstabQuestion(columns=columns, categories=categories, other=(None, None)).rows[3:7]
    ('south × no', 'north × (all)', 'south × (all)', '(all) × yes')
    """

    unit = "people"
    counts = True
    mechanisms = NAMING
    choices: ClassVar[tuple[str, ...]] = NAMING
    compared = ("columns", "categories")
    planned = Planned(places="cells", columns=True, **COUNTED)
    recorded = (*LISTED, "by")

    type: Annotated[Literal["crosstab"], NEEDED] = "crosstab"
    columns: Texts
    categories: Annotated[tuple[Named, ...], Limits(2, MOST_COLUMNS)]
    other: tuple[Label | None, ...]

    @classmethod
    def of(cls, *, columns: Any, categories: Any, other: Any = None) -> Self:  # type: ignore[override]
        """Values that are not listed count as the column's entry in ``other``, or are refused."""
        names: Any = tuple(as_list("columns", columns, remedy='Pass a list of names, such as ["region", "smoker"].'))
        listed = as_list("categories", categories, remedy=LISTS)
        rest: Any = [None] * len(listed) if other is None else as_list("other", other, remedy=LISTS)
        return cls(columns=names, categories=tuple(map(_written, listed)), other=tuple(rest)).checked()

    @classmethod
    def of_domain(cls, domain: Any) -> Self:
        sizes = column_sizes(domain)
        return cls.of(columns=[f"column {place + 1}" for place in range(len(sizes))], categories=sizes)

    def checked(self) -> Self:
        """The same, if every column has categories that a histogram could have, and names tell
        every cell and every sum apart.
        """
        columns, lists = self.columns, list[object]([self.categories, self.other])
        if not isinstance(columns, tuple):
            raise InvalidInput(f"columns must be a list of names, got {columns!r}. {REMEDY}")
        if not all(isinstance(each, tuple) and len(each) == len(columns) for each in lists):
            raise InvalidInput(
                f"a crosstab must have categories, and an other or none, for each of its {len(columns)} columns, got a "
                f"different number. {REMEDY}"
            )
        Cells(
            columns=tuple(ColumnLabels(name=n, labels=c) for n, c in zip(columns, self.categories, strict=True))
        ).checked()
        for labels, other in zip(self.categories, self.other, strict=True):
            check_labels(labels, other, "categories")
        return self

    def domain(self, size: int) -> Cells:
        parts = zip(self.columns, self.categories, self.other, strict=True)
        return Cells(
            columns=tuple(
                ColumnLabels(name=name, labels=labels, other=labels_of(labels, other).other)
                for name, labels, other in parts
            )
        )

    def places(self, values: Any, size: int, source: Source) -> NDArray[Any]:
        """Of each person a value for each column, in their order."""
        import numpy as np

        rows: list[Any] = as_list("values", values, remedy='Pass one row per user, such as ("north", "yes").')
        if wrong := [row for row in rows if not isinstance(row, (tuple, list)) or len(row) != len(self.columns)]:
            raise InvalidInput(
                f"values must be rows of {len(self.columns)} values, one for each column, got {wrong[0]!r}. Pass a "
                f"tuple per user."
            )
        columns = list(zip(*rows, strict=True)) or [()] * len(self.columns)
        parts = zip(self.cells.columns, columns, strict=True)
        places = tuple(part.indices(list(column)) for part, column in parts)
        return np.asarray(np.ravel_multi_index(places, self.cells.sizes))

    def workload(self, size: int) -> Margins:
        return Margins(self.rows, self.cells.sizes)

    def weighed(self, size: int) -> Each:
        """The cells: sums of them err in other units."""
        return Each(self.cells.names)

    def derive(self, mechanism: Mechanism, tally: Tally, estimate: Estimate, by: str | None = None) -> dict[str, Any]:
        """Of those in each group of the column ``by``, the ``shares`` in each cell."""
        from shuffledp.mechanisms.shares import shares

        if by is None:
            return {}
        if by not in self.columns:
            raise InvalidInput(f"by must be one of the columns {', '.join(self.columns)}, got {by!r}. Name one.")
        return {"shares": partial(shares, mechanism, tally, self.cells.sizes, self.columns.index(by))}

    @cached_property
    def cells(self) -> Cells:
        """The same, which no mechanism changes."""
        return self.domain(0)

    @property
    def size(self) -> int:
        return prod(self.cells.sizes)

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """All numbers that are estimated, by name: the cells, and their sums over some columns."""
        return row_labels([column.names for column in self.cells.columns])

    @property
    def listed(self) -> tuple[str, ...]:
        return self.rows

    def algorithm(self, law: Law) -> str:
        return algorithm_1(law)

    def scale(self, n: int) -> float:
        return n

    def tables(self, poll: Any, tally: Any, estimate: Any, *, clips: bool, by: str | None, level: float) -> list[Table]:
        """The shares within the groups, if they were asked for; of a group with too few people,
        none.
        """
        if by is None:
            return []
        known, *columns = poll.derive(tally, by=by)["shares"](level=level)
        names = ("value", "lower", "upper", "all_lower", "all_upper")
        shares = {name: column[known] for name, column in zip(names, columns, strict=True)}
        labels = [label for label, said in zip(self.cells.names, known, strict=True) if said]
        return [Table.made("shares", labels, unit="share of the group", level=level, **shares)]

    def told(self, record: Any) -> list[Told]:
        """A row for each cell, group by group, if shares were asked for."""
        shares, by = record.table("shares"), record.asked.by
        if shares is None or by not in self.columns:
            return []
        axis, rows = self.columns.index(by), list[tuple[str, ...]]()
        groups, found = self.cells.columns[axis].names, {label: row for label, *row in shares.rows()}
        for label in sorted(self.cells.names, key=lambda label: groups.index(label.split(CROSS)[axis])):
            value, *ends = found.get(label, (None,))
            pairs = zip(ends[::2], ends[1::2], strict=True)
            own = [f"{between(100.0 * low, 100.0 * high, 1)}{SPACE}%" for low, high in pairs]
            rows.append((label, "too few to say", "", "") if value is None else (label, percent(value), *own))
        heads = ("Answer", "Share", f"{level(record.estimates.level)} interval", "For all at once")
        return [Told(f"Shares within {by}", heads, rows)]

    def followed(self, record: Any, tables: Sequence[Table]) -> list[tuple[Table, list[int]]]:
        """The fewer columns are summed over, the more a row says; shares within groups say most."""
        people, found = record.counted.reports, list[tuple[Table, list[int]]]()
        for shares in tables[1:]:
            axis, names = self.columns.index(record.asked.by), [label.split(CROSS) for label in shares.label]
            label = tuple(f"{name.pop(axis)}: {CROSS.join(name)}" for name in names)
            found.append((replace(shares, label=label), [0] * len(label)))
        ranks = [1 + label.split(CROSS).count(ALL) for label in tables[0].label]
        return [(tables[0].of_people(people), ranks), *found]


def column_sizes(domain: object) -> list[int]:
    """How many categories each column of a crosstab has.

    >>> column_sizes("4x3"), column_sizes([4, 3])
    ([4, 3], [4, 3])
    """
    listed = domain.lower().split("x") if isinstance(domain, str) else domain
    numbers = list(listed) if isinstance(listed, (list, tuple)) else []
    whole = [int(each) for each in numbers if str(each).strip().isdecimal() and len(str(each)) < 10]
    if len(numbers) < 2 or len(whole) < len(numbers):
        raise InvalidInput(
            f"domain of a crosstab must be how many categories each of its columns has, got {domain!r}. Write it as "
            f"4x3."
        )
    return whole


def _written(listed: object) -> Any:
    """The categories of a column as a design lists them."""
    return int(listed) if isinstance(listed, Integral) else tuple(as_list("categories", listed, remedy=LISTS))


def row_labels(categories: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """What the cells are called, and after them the sums, in the order of ``kept_columns``."""
    places = range(len(categories))
    every = [tuple(places), *kept_columns(len(categories))]
    shown = ([categories[at] if at in kept else (ALL,) for at in places] for kept in every)
    return tuple(CROSS.join(names) for each in shown for names in product(*each))


QUESTION = CrosstabQuestion
