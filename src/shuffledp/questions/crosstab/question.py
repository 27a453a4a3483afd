"""How many people hold each combination of several columns' categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import product
from math import prod
from typing import Annotated, Any, ClassVar, Literal, Self

from shuffledp.domain import ALL, CROSS, MOST_COLUMNS, NAMING, REMEDY, Cells, ColumnLabels, Named
from shuffledp.errors import InvalidInput
from shuffledp.questions.histogram.question import check_labels, labels_of
from shuffledp.questions.question import Question
from shuffledp.schema import NEEDED, Label, Limits, Texts, part
from shuffledp.workload import kept_columns

__all__ = ["QUESTION", "CrosstabQuestion", "row_labels"]


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

    type: Annotated[Literal["crosstab"], NEEDED] = "crosstab"
    columns: Texts
    categories: Annotated[tuple[Named, ...], Limits(2, MOST_COLUMNS)]
    other: tuple[Label | None, ...]

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

    @property
    def beside(self) -> Mapping[str, Sequence[str]]:
        return {"shares": self.cells.names}

    def scale(self, n: int) -> float:
        return n

    def told(
        self, protocol: Any, tally: Any, estimate: Any, *, clips: bool, by: str | None, level: float
    ) -> dict[str, dict[str, Any]]:
        """The shares within the groups, if they were asked for; of a group with too few people,
        none.
        """
        if by is None:
            return {}
        known, *columns = protocol.shares(tally, by=by, level=level)
        names = ("value", "lower", "upper", "all_lower", "all_upper")
        return {
            "shares": {
                name: tuple(
                    share if said else None for share, said in zip(column.tolist(), known.tolist(), strict=True)
                )
                for name, column in zip(names, columns, strict=True)
            }
        }


def row_labels(categories: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """What the cells are called, and after them the sums, in the order of ``kept_columns``."""
    places = range(len(categories))
    every = [tuple(places), *kept_columns(len(categories))]
    shown = ([categories[at] if at in kept else (ALL,) for at in places] for kept in every)
    return tuple(CROSS.join(names) for each in shown for names in product(*each))


QUESTION = CrosstabQuestion
