"""How many people hold each of some values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from shuffledp.errors import InvalidInput
from shuffledp.protocols.tasks.task import ENCODINGS, MOST_LABELS, REMEDY, Task, register
from shuffledp.schema import Count, Label

__all__ = ["CountingTask", "HistogramTask", "Named"]

Named = tuple[Label, ...] | Count  # a list of values, or a number k, for 0, ..., k - 1


class CountingTask(Task):
    """How many people hold each of some values; all that are not listed count as ``other``."""

    unit: ClassVar[str] = "people"
    counts: ClassVar[bool] = True
    listed: ClassVar[str]  # the field that lists the values

    other: Any

    @property
    def values(self) -> tuple[Label, ...] | int:
        """The values that count: a list of them, or a number k, for 0, ..., k - 1."""
        values: tuple[Label, ...] | int = getattr(self, self.listed)
        return values

    @cached_property
    def labels(self) -> tuple[str, ...]:
        values = self.values
        return tuple(map(str, range(values) if isinstance(values, int) else values))

    @property
    def rest(self) -> str | None:
        return None if self.other is None else str(self.other)

    @property
    def size(self) -> int:
        values = self.values
        return values if isinstance(values, int) else len(values)

    def scale(self, n: int) -> float:
        return n

    def checked(self) -> Self:
        """The same, if there are at least two distinct values, printable text or whole numbers, and
        ``other`` is one of them.
        """
        values = self.values
        if isinstance(values, bool) or not isinstance(values, (int, tuple)):
            raise InvalidInput(f"{self.listed} must be a list or a whole number, got {values!r}. {REMEDY}")
        if not 2 <= self.size <= MOST_LABELS:
            raise InvalidInput(f"{self.listed} must be from 2 to {MOST_LABELS}, got {self.size}. {REMEDY}")
        if isinstance(values, int):
            if self.other is not None:
                raise InvalidInput(
                    f"other must be left out when {self.listed} is a number, got {self.other!r}. List the categories "
                    f"to declare one."
                )
            return self
        wrong = [each for each in values if not (type(each) in (str, int) and str(each).isprintable())]
        if wrong:
            raise InvalidInput(
                f"{self.listed} must be printable strings or whole numbers to be written down, got {wrong[0]!r}. "
                f"Rename it."
            )
        known = Counter(values)
        if len(known) < len(values):
            twice = next(each for each, times in known.items() if times > 1)
            raise InvalidInput(f"{self.listed} must be distinct, got {twice!r} twice. {REMEDY}")
        if self.other is not None and (type(self.other) not in (str, int) or self.other not in known):
            raise InvalidInput(f"other must be one of the {self.listed}, got {self.other!r}. {REMEDY}")
        return self


@register
@dataclass(frozen=True)
class HistogramTask(CountingTask):
    """How many people hold each category.

    >>> HistogramTask(categories=("tea", "coffee")).as_json()
    {'categories': ['tea', 'coffee'], 'other': None}
    """

    name: ClassVar[str] = "histogram"
    listed: ClassVar[str] = "categories"
    mechanisms: ClassVar[tuple[str, ...]] = ("krr", *ENCODINGS, "fakes", "dummies")

    categories: Named
    other: Label | None = None

    def fits(self, family: str, k: int) -> bool:
        return family in self.mechanisms and k == self.size
