"""Tasks by kind: what a release of each has in its record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from shuffledp.protocols.tasks import TASKS, Task

__all__ = ["COUNTS", "CROSSTABS", "DISTRIBUTIONS", "LISTS", "MEANS", "TOP", "asking"]


@dataclass(frozen=True, slots=True)
class TaskKind:
    """The names of the tasks of a kind, also of those that are registered later."""

    holds: Callable[[type[Task]], bool]

    def __contains__(self, name: object) -> bool:
        """Whether the task of that name is of the kind."""
        return name in TASKS and self.holds(TASKS[str(name)])


def asking(field: str) -> TaskKind:
    """The tasks whose designs say this."""
    return TaskKind(lambda task: field in task.field_names())


COUNTS = TaskKind(lambda task: task.counts)  # the tasks that count people, value by value
MEANS = asking("lower")  # those of one number
CROSSTABS = asking("columns")  # those of several columns
TOP = asking("longest")  # the search for frequent words, which counts people too
LISTS = TaskKind(lambda task: task.name in COUNTS or task.name in TOP)  # both
DISTRIBUTIONS = asking("cuts")  # those that count people below cut points
