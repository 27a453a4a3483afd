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
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar

from shuffledp.errors import InvalidInput

if TYPE_CHECKING:
    from shuffledp.protocols.top_words.level_places import LevelPlaces

__all__ = [
    "FAMILY_OF_METHOD",
    "TASKS",
    "CountingTask",
    "FrequencyTask",
    "HistogramTask",
    "Label",
    "MeanTask",
    "Task",
    "TopTask",
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

    other: Label | None

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


@dataclass(frozen=True)
class TopTask(Task):
    """One level of a search for frequent words (``protocols.top_words``): how many people's words
    are one of ``words``, or begin with one of ``prefixes`` and go on in which way for ``span``
    symbols; all others count as one value more.

    Symbols are ``tokens``, or bytes of UTF-8; only the first ``longest`` of a word are looked at,
    and whether it goes on. Reports are about ``room`` values, the same at every level: the last
    ones are nobody's.
    """

    name: ClassVar[str] = "top"
    unit: ClassVar[str] = "people"

    tokens: tuple[str, ...] | None
    longest: int
    words: tuple[str, ...]
    prefixes: tuple[str, ...]
    span: int
    room: int

    @cached_property
    def places(self) -> LevelPlaces:
        """Which word counts as which value."""
        from shuffledp.protocols.top_words.level_places import LevelPlaces

        return LevelPlaces.of(self.tokens, self.longest, self.words, self.prefixes, self.span)

    def checked(self) -> Self:
        for name in ("longest", "span", "room"):
            if type(getattr(self, name)) is not int or getattr(self, name) < 0:
                raise InvalidInput(f"{name} must be a whole number, got {getattr(self, name)!r}. {REMEDY}")
        for name in ("tokens", "words", "prefixes"):
            listed = getattr(self, name)
            if not (name == "tokens" and listed is None) and not (
                isinstance(listed, tuple) and all(isinstance(each, str) for each in listed)
            ):
                raise InvalidInput(f"{name} must be a list of texts, got {listed!r}. {REMEDY}")
        if not self.places.count <= self.room <= MOST_LABELS:
            raise InvalidInput(
                f"room must be at least the {self.places.count} values that are told apart, and at most {MOST_LABELS}, "
                f"got {self.room}. {REMEDY}"
            )
        return self

    def fits(self, family: str, k: int) -> bool:
        return family == "krr" and k == self.room

    @property
    def labels(self) -> tuple[str, ...]:
        return ()

    @property
    def size(self) -> int:
        return self.room

    def scale(self, n: int) -> float:
        return n


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


for _task in (HistogramTask, FrequencyTask, MeanTask, TopTask):
    register(_task)


def _is_bound(value: object) -> bool:
    return isinstance(value, float) and abs(value) <= LARGEST_BOUND


def _shown(name: object) -> str:
    return "none" if name is None else repr(name)
