"""What can be asked: each task with its own fields, and all that other rooms want to know of it.

A task is plain data, and says nothing of privacy. To add one, write a frozen dataclass of ``Task``
and ``register`` it; the protocol that answers it is registered in ``protocols.settling``. That is
enough for designs, clients and shufflers. To be planned, asked on the command line and shown on a
page it needs ``protocols.planning``, ``cli.release``, and its kind in ``collection.record``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Literal, Self, TypeVar

from shuffledp.errors import InvalidInput
from shuffledp.protocols.crossing import ALL, CROSS, MOST_NUMBERS, numbers_in, row_labels

__all__ = [
    "FAMILY_OF_METHOD",
    "TASKS",
    "CountingTask",
    "CrosstabTask",
    "FrequencyTask",
    "HistogramTask",
    "Label",
    "MeanTask",
    "Task",
    "register",
    "task_named",
]

Label = str | int
MOST_LABELS = 1 << 22
LARGEST_BOUND = 1e100
REMEDY = "Take a design that `shuffledp design` wrote, unchanged."
# Which randomizer encodes the values of a frequency, by the method's name.
FAMILY_OF_METHOD = {"hadamard": "hadamard", "hashing": "hash", "subset": "subset", "unary": "oue"}


class Task(ABC):
    """A question that many people answer: a frozen dataclass, whose fields a design writes down in
    their order.

    ``name`` is what a design and the command line call it; ``unit`` is what its estimates count, or
    "mean".
    """

    name: ClassVar[str]
    unit: ClassVar[str]
    counts: ClassVar[bool] = False  # whether it is people that are counted, value by value

    def __str__(self) -> str:
        return self.name

    @classmethod
    def from_json(cls, own: Mapping[str, Any]) -> Self:
        """The task of ``as_json``; every rule is checked again."""
        read = {name: tuple(value) if isinstance(value, list) else value for name, value in own.items()}
        return cls(**read).checked()

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        """What a design writes down for it, in this order."""
        return tuple(each.name for each in fields(cls))  # type: ignore[arg-type]

    def as_json(self) -> dict[str, Any]:
        """Its own fields, as plain numbers, strings and lists."""
        own = {name: getattr(self, name) for name in self.field_names()}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in own.items()}

    @abstractmethod
    def checked(self) -> Self:
        """The same, if it can be written down and asked again; refused otherwise."""

    @abstractmethod
    def fits(self, family: str, k: int) -> bool:
        """Whether reports about ``k`` values, drawn by this family of randomizers, answer it."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The values that are told apart, as text; a mean has none."""

    @property
    def size(self) -> int | None:
        """How many values are told apart, if the question says so."""
        return None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Between which numbers an answer lies; None where it is one of the ``labels``.

        Numbers are rounded at random to the values of the randomizer, which are then the points of
        a grid from the lower bound to the upper one.
        """
        return None

    @property
    def rest(self) -> str | None:
        """The label that everything else counts as, if there is one."""
        return None

    @property
    def kind(self) -> Literal["text", "number"]:
        """What the column of a table must hold."""
        return "text" if self.bounds is None else "number"

    @abstractmethod
    def scale(self, n: int) -> float:
        """How large an answer of ``n`` people can be at most, or how far apart two can be: an error
        above it says nothing.
        """


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


@dataclass(frozen=True)
class HistogramTask(CountingTask):
    """How many people hold each of a few categories.

    >>> HistogramTask(categories=("tea", "coffee")).as_json()
    {'categories': ['tea', 'coffee'], 'other': None}
    """

    name: ClassVar[str] = "histogram"
    listed: ClassVar[str] = "categories"

    categories: tuple[Label, ...] | int
    other: Label | None = None

    def fits(self, family: str, k: int) -> bool:
        return family == "krr" and k == self.size


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

    columns: tuple[str, ...]
    categories: tuple[tuple[Label, ...] | int, ...]
    other: tuple[Label | None, ...]

    @classmethod
    def from_json(cls, own: Mapping[str, Any]) -> Self:
        listed = own["categories"]
        if isinstance(listed, list):
            listed = [tuple(each) if isinstance(each, list) else each for each in listed]
        return super().from_json({**own, "categories": listed})

    def as_json(self) -> dict[str, Any]:
        listed = [list(each) if isinstance(each, tuple) else each for each in self.categories]
        return super().as_json() | {"categories": listed}

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
        columns, lists = self.columns, list[object]([self.columns, self.categories, self.other])
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
            if odd := [label for label in part.labels if label == ALL or CROSS in label]:
                raise InvalidInput(
                    f"a category of a crosstab must not be {ALL!r} nor hold {CROSS!r}, which its numbers are named "
                    f"by, got {odd[0]!r}. Rename it, in the data too."
                )
        if (numbers := numbers_in(self.sizes)) > MOST_NUMBERS:
            raise InvalidInput(
                f"a crosstab must have at most {MOST_NUMBERS} cells and sums, got {numbers} of "
                f"{' x '.join(map(str, self.sizes))} categories. Merge rare categories, or leave a column out."
            )
        return self

    def fits(self, family: str, k: int) -> bool:
        return family == "krr" and k == self.size


@dataclass(frozen=True)
class FrequencyTask(CountingTask):
    """How many people hold each of very many values, encoded by ``method``."""

    name: ClassVar[str] = "frequency"
    listed: ClassVar[str] = "domain"

    domain: tuple[Label, ...] | int
    method: str = "hadamard"
    other: Label | None = None

    def checked(self) -> Self:
        if self.method not in tuple(FAMILY_OF_METHOD):  # a tuple, as what was read may not be hashable
            raise InvalidInput(f"method must be one of {', '.join(FAMILY_OF_METHOD)}, got {self.method!r}. {REMEDY}")
        return super().checked()

    def fits(self, family: str, k: int) -> bool:
        return family == FAMILY_OF_METHOD[self.method] and k == self.size


@dataclass(frozen=True)
class MeanTask(Task):
    """The mean of a number from ``lower`` to ``upper``; the grid on which it is reported is the
    randomizer's.
    """

    name: ClassVar[str] = "mean"
    unit: ClassVar[str] = "mean"

    lower: float
    upper: float

    @property
    def bounds(self) -> tuple[float, float]:
        return self.lower, self.upper

    def checked(self) -> Self:
        for name, value in (("lower", self.lower), ("upper", self.upper)):
            if not _is_bound(value):
                raise InvalidInput(
                    f"{name} must be a number of at most {LARGEST_BOUND:g} in size, with a decimal point, got "
                    f"{value!r}. {REMEDY}"
                )
        if not self.lower < self.upper:
            raise InvalidInput(f"lower must be below upper, got {self.lower!r} and {self.upper!r}. {REMEDY}")
        return self

    def fits(self, family: str, k: int) -> bool:
        return family == "krr" and k >= 2

    @property
    def labels(self) -> tuple[str, ...]:
        return ()

    def scale(self, n: int) -> float:
        return self.upper - self.lower


TASKS: dict[str, type[Task]] = {}
Registered = TypeVar("Registered", bound=type[Task])


def register(task: Registered) -> Registered:
    """Let designs hold this task. A name is taken once."""
    if TASKS.setdefault(task.name, task) is not task:
        raise InvalidInput(f"a task's name must be its own, got {task.name!r} again. Choose another name.")
    return task


def task_named(name: object) -> type[Task]:
    """The task of that name."""
    if not isinstance(name, str) or name not in TASKS:
        raise InvalidInput(f"a design must have a task, one of {', '.join(TASKS)}, got {_shown(name)}. {REMEDY}")
    return TASKS[name]


for _task in (HistogramTask, FrequencyTask, MeanTask, CrosstabTask):
    register(_task)


def _is_bound(value: object) -> bool:
    return isinstance(value, float) and abs(value) <= LARGEST_BOUND


def _shown(name: object) -> str:
    return "none" if name is None else repr(name)
