"""How many people hold each combination of several columns' categories."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Annotated, ClassVar, Self

from shuffledp.errors import InvalidInput
from shuffledp.protocols.tasks.counting_tasks import CountingTask, HistogramTask, Named
from shuffledp.protocols.tasks.crossing import ALL, CROSS, MOST_COLUMNS, MOST_NUMBERS, fits_a_page, row_labels
from shuffledp.protocols.tasks.task import NAMING, REMEDY, register
from shuffledp.schema import Label, Limits, Texts

__all__ = ["CrosstabTask"]


@register
@dataclass(frozen=True)
class CrosstabTask(CountingTask):
    """How many people hold each combination of the categories of several columns; ``other`` has,
    column by column, the category that everything else counts as, or None.

    >>> CrosstabTask(
    ...     ("region", "smoker"), (("north", "south"), ("yes", "no")), (None, None)
    ... ).size
    4
    """

    name: ClassVar[str] = "crosstab"
    listed: ClassVar[str] = "categories"
    mechanisms: ClassVar[tuple[str, ...]] = NAMING

    columns: Texts
    categories: Annotated[tuple[Named, ...], Limits(2, MOST_COLUMNS)]
    other: tuple[Label | None, ...]

    @cached_property
    def parts(self) -> tuple[HistogramTask, ...]:
        """The question about each column by itself."""
        pairs = zip(self.categories, self.other, strict=True)
        return tuple(HistogramTask(categories, other) for categories, other in pairs)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many categories each column has."""
        return tuple(part.size for part in self.parts)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return prod(self.sizes)

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """All numbers that are estimated, by name: the cells, and their sums over some columns."""
        return row_labels([part.labels for part in self.parts])

    @property
    def labels(self) -> tuple[str, ...]:
        return self.rows[: self.size]

    @property
    def values(self) -> tuple[Label, ...]:
        return self.labels

    @property
    def rest(self) -> str | None:
        return None

    def checked(self) -> Self:
        """The same, if there are two or more columns, each with categories that a histogram could
        have, and names that tell every cell and every sum apart.
        """
        columns, lists = self.columns, list[object]([self.categories, self.other])
        if not isinstance(columns, tuple):
            raise InvalidInput(f"columns must be a list of names, got {columns!r}. {REMEDY}")
        if not all(isinstance(each, tuple) and len(each) == len(columns) for each in lists):
            raise InvalidInput(
                f"a crosstab must have categories, and an other or none, for each of its {len(columns)} columns, got a "
                f"different number. {REMEDY}"
            )
        named = list[object](columns)
        if wrong := [name for name in named if not (isinstance(name, str) and name and name.isprintable())]:
            raise InvalidInput(f"columns must be printable names, got {wrong[0]!r}. Rename it.")
        if len(columns) < 2:
            raise InvalidInput(
                f"a crosstab must have at least two columns, got {len(columns)}. Ask about one with a histogram."
            )
        if twice := [name for name, times in Counter(columns).items() if times > 1]:
            raise InvalidInput(f"columns must be distinct, got {twice[0]!r} twice. Name each column once.")
        for name, part in zip(columns, self.parts, strict=True):
            listed: object = part.categories
            if listed in (0, 1) or (isinstance(listed, tuple) and len(listed) < 2):
                raise InvalidInput(
                    f"column {name!r} must have at least two categories, got {part.size}. With a single one there is "
                    f"nothing to tell apart: leave the column out, or add a category for the rest."
                )
            part.checked()
        if not fits_a_page(self.sizes):
            raise InvalidInput(
                f"a crosstab must have at most {MOST_NUMBERS} cells and sums, got those of "
                f"{' x '.join(map(str, self.sizes))[:60]} categories. Merge rare categories, or leave a column out."
            )
        for part in self.parts:
            if odd := [label for label in part.labels if label == ALL or CROSS in label]:
                raise InvalidInput(
                    f"a category of a crosstab must not be {ALL!r} nor hold {CROSS!r}, which its numbers are named "
                    f"by, got {odd[0]!r}. Rename it, in the data too."
                )
        return self

    def fits(self, family: str, k: int) -> bool:
        return family in NAMING and k == self.size
