"""A question that many people answer, and the registry of them all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, Literal, Self, TypeVar

from shuffledp.errors import InvalidInput
from shuffledp.schema import Label, as_plain

__all__ = [
    "ENCODINGS",
    "LARGEST_BOUND",
    "MOST_LABELS",
    "NAMING",
    "REMEDY",
    "TASKS",
    "Label",
    "Task",
    "by_task",
    "is_bound",
    "register",
    "task_named",
]

MOST_LABELS = 1 << 22
LARGEST_BOUND = 1e100
NAMING = ("krr", "fakes", "dummies")  # laws whose messages name values: what they say of groups adds up
ENCODINGS = ("hadamard", "hash", "subset", "oue")  # laws whose reports vote for several values of many
REMEDY = "Take a design that `shuffledp design` wrote, unchanged."


class Task(ABC):
    """A question that many people answer: a frozen dataclass, whose fields a design writes down in
    their order.

    ``name`` is what a design and the command line call it; ``unit`` is what its estimates count, or
    "mean".
    """

    name: ClassVar[str]
    unit: ClassVar[str]
    counts: ClassVar[bool] = False  # whether it is people that are counted, value by value
    mechanisms: ClassVar[tuple[str, ...]] = ()  # how reports may hide, the usual way first, where that is a choice

    def __str__(self) -> str:
        return self.name

    @classmethod
    def from_json(cls, own: Mapping[str, Any]) -> Self:
        """The task of ``as_json``; every rule is checked again."""
        return cls(**{name: _frozen(value) for name, value in own.items()}).checked()

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        """What a design writes down for it, in this order."""
        return tuple(each.name for each in fields(cls))  # type: ignore[arg-type]

    def as_json(self) -> dict[str, Any]:
        """Its own fields, as plain numbers, strings and lists."""
        return {name: as_plain(getattr(self, name)) for name in self.field_names()}

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
        a grid from the lower bound to the upper one; unless there are ``edges``.
        """
        return None

    @property
    def edges(self) -> tuple[float, ...] | None:
        """The cut points between which numbers fall into bins, the bounds included, where they do;
        nothing is rounded at random then.
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


TASKS: dict[str, type[Task]] = {}
Registered = TypeVar("Registered", bound=type[Task])
T = TypeVar("T")


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


def by_task(registry: Mapping[type, T], name: object) -> T:
    """What a registry of classes holds for the task of that name, or for the nearest that it
    derives from.
    """
    task = task_named(name)
    for known in task.__mro__:
        if known in registry:
            return registry[known]
    listed = ", ".join(each.__name__ for each in registry)
    raise InvalidInput(f"a release must be of a known kind of task, got {task.name}. Derive it from one of {listed}.")


def is_bound(value: object) -> bool:
    """Whether this can be an end of the numbers that are asked for."""
    return isinstance(value, float) and abs(value) <= LARGEST_BOUND


def _frozen(value: object, depth: int = 2) -> object:
    """Lists as tuples, no deeper than a task has them: a stranger may have nested any number."""
    return tuple(_frozen(each, depth - 1) for each in value) if isinstance(value, list) and depth else value


def _shown(name: object) -> str:
    return "none" if name is None else repr(name)
