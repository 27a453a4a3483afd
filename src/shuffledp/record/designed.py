"""The design of a release, as it was written, and the law in it; tasks by kind: what a release of
each has in its record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Annotated, Any, Self

from shuffledp.errors import InvalidInput
from shuffledp.protocols.tasks import TASKS, Task
from shuffledp.protocols.tasks.counting_tasks import Named
from shuffledp.protocols.tasks.crossing import fits_a_page, row_labels
from shuffledp.protocols.tasks.quantile_task import MOST_BINS
from shuffledp.schema import (
    NEEDED,
    REMEDY,
    Chance,
    Epsilon,
    Floats,
    Label,
    Limits,
    Number,
    Part,
    Rule,
    Some,
    Text,
    Texts,
    Whole,
    forms_of,
    part,
    rules_of,
)
from shuffledp.wording import shown_alone

__all__ = ["COUNTS", "CROSSTABS", "DISTRIBUTIONS", "LISTS", "MEANS", "TOP", "Designed", "WrittenLaw", "asking"]


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


@part
class WrittenLevel(Part):
    """The law of one level of several, with no other inside."""

    randomizer: Text
    k: Whole
    epsilon0: Number | None
    integers: Texts


@part
class WrittenLaw(Part):
    """How one report is drawn: a family of randomizers, its parameters, and the whole numbers out
    of 2^64 that decide every draw, as text. Every family has parameters of its own; epsilon0 is
    null where a report is the truth, which only fakes hide.
    """

    randomizer: Text
    k: Whole | None = None
    epsilon0: Number | None
    integers: Texts
    weights: tuple[Chance, ...] = ()
    questions: Annotated[tuple[WrittenLevel, ...], Limits(1, MOST_BINS)] | None = None

    others = Number | Text

    @classmethod
    def read(cls, value: object, task: str, where: str = "") -> Self:
        """Of one of several levels, ``questions`` are the laws of the levels, the ``weights`` how
        likely each is; any other law has ``k`` values.
        """
        read = super(WrittenLaw, cls).read(value, task, where)  # noqa: UP008 (a class with slots is made twice)
        if (read.k is None) == (read.questions is None):
            raise InvalidInput(
                f"the record of a release must have its usual form, got a difference in {f'{where}k'!r}. {REMEDY}"
            )
        return read

    @classmethod
    def from_json(cls, law: Mapping[str, Any]) -> Self:
        """What a law writes."""
        return cls.read(dict(law), "", "law.")

    @property
    def parameters(self) -> dict[str, Any]:
        """All that its family is told, in the order of the design."""
        return {name: value for name, value in self.as_json().items() if name not in ("randomizer", "integers")}


@part
class Designed(Part):
    """The design, as every device has it: as it was written, also if no device would run it. That
    is for ``protocols.design`` to refuse, and for ``verify`` to notice.
    """

    version: Whole
    task: Text
    n: Some
    honest: Some
    rounds: Some
    epsilon: Epsilon | None
    delta: Chance
    law: WrittenLaw
    columns: tuple[str, ...] | None = None
    categories: Named | tuple[Named, ...] | None = None
    other: Label | tuple[Label | None, ...] | None = None
    value: Label | None = None
    lower: float | None = None
    upper: float | None = None
    cuts: Floats | None = None
    at: Floats | None = None
    ranges: tuple[tuple[float, float], ...] | None = None
    tokens: tuple[str, ...] | None = None
    longest: int | None = None
    words: tuple[str, ...] | None = None
    prefixes: tuple[str, ...] | None = None
    span: int | None = None
    room: int | None = None

    @classmethod
    def rules(cls, task: str) -> dict[str, Rule]:
        """Of the fields that every design has, and of the task's own, which the task declares."""
        known, own = rules_of(cls), forms_of(TASKS[task])
        asked = {name: Rule(own[name], NEEDED) for name in known if name in own}
        return {name: rule for name, rule in known.items() if rule.mark.needed} | asked

    def __post_init__(self) -> None:
        """Refuse a table that no page could list, before anything spells it out."""
        listed: Any = () if self.columns is None else self.categories
        sizes = [each if isinstance(each, int) else len(each) for each in listed]
        if not fits_a_page(sizes):
            raise InvalidInput(
                f"the record of a release must have its usual form, got {str(sizes)[:60]} for the sizes of "
                f"design.categories. {REMEDY}"
            )

    @classmethod
    def from_json(cls, design: Mapping[str, Any]) -> Self:
        """What a design writes."""
        return cls.read(dict(design), design["task"], "design.")

    @property
    def shown_alone(self) -> str:
        """How much one report shows by itself."""
        law = self.law
        k = law.questions[-1].k if law.questions else law.k or 1
        return shown_alone(law.randomizer, law.epsilon0, k, number=self.task in MEANS)

    @property
    def counts(self) -> bool:
        """Whether the task is to count people, and not a mean."""
        return self.task in LISTS

    @property
    def distributes(self) -> bool:
        """Whether the task is to count people below cut points."""
        return self.task in DISTRIBUTIONS

    @property
    def people(self) -> bool:
        """Whether estimates are numbers of people."""
        return self.counts or self.distributes

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of a mean, or of a distribution function."""
        if self.cuts is not None:
            return self.cuts[0], self.cuts[-1]
        assert self.lower is not None
        assert self.upper is not None
        return self.lower, self.upper

    def possible(self, people: int) -> tuple[float, float]:
        """What may be estimated: a mean in the range, or the sum of so many values in it."""
        times = people if self.task == "sum" else 1
        return times * self.bounds[0], times * self.bounds[1]

    @property
    def listed(self) -> range | Sequence[Label]:
        """All that is counted: the categories, or the cells of a crosstab and their sums; a mean
        has none.
        """
        if self.columns is not None:
            return row_labels(self.crossed)
        if self.value is not None:
            return (self.value,)
        own: Any = self.categories
        if own is None:
            return ()
        return range(own) if isinstance(own, int) else own

    @property
    def crossed(self) -> list[list[str]]:
        """The categories of each column of a crosstab, as text."""
        own: Any = () if self.columns is None else self.categories
        return [[str(each) for each in (range(listed) if isinstance(listed, int) else listed)] for listed in own]

    @property
    def values(self) -> int:
        """How many values a report can be about: the categories, or the cells."""
        if self.value is not None:
            return 2  # the one that is counted, and anything else
        return prod(map(len, self.crossed)) if self.columns is not None else len(self.listed)

    @property
    def labels(self) -> list[str]:
        """What is counted, as text."""
        return [str(each) for each in self.listed]
