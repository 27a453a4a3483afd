"""The design of a release, as it was written, and the law in it."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, Self

from shuffledp.errors import InvalidInput
from shuffledp.protocols.tasks.crossing import fits_a_page, row_labels
from shuffledp.protocols.tasks.quantile_task import MOST_ASKED
from shuffledp.record.forms import (
    CHANCE,
    REMEDY,
    SIZE,
    Floats,
    Part,
    Reading,
    count,
    either,
    needed,
    needed_by,
    number,
    or_none,
    part,
    perhaps,
    some,
    text,
    whole,
)
from shuffledp.record.task_kinds import DISTRIBUTIONS, LISTS, MEANS, asking
from shuffledp.wording import shown_alone

__all__ = ["Designed", "WrittenLaw"]

Category = str | int
Listed = int | list[Category]


def _pairs(value: Any) -> bool:
    """Pairs of cut points, as many as may be asked about."""
    return (
        isinstance(value, list)
        and len(value) <= MOST_ASKED
        and all(isinstance(each, list) and len(each) == 2 and all(map(number, each)) for each in value)
    )


def _levels(value: Any) -> bool:
    """The laws of several levels, none with others inside."""
    return (
        isinstance(value, list)
        and len(value) > 0
        and all(isinstance(each, dict) and set(each) == {"randomizer", "k", "epsilon0", "integers"} for each in value)
    )


def _named(value: Any) -> bool:
    """How many categories there are, or their list."""
    return count(value) or (isinstance(value, list) and all(text(each) or whole(each) for each in value))


def _crossed(value: Any) -> bool:
    """The same for each of several columns."""
    return isinstance(value, list) and len(value) > 1 and all(map(_named, value))


def _rests(value: Any) -> bool:
    """What everything else counts as; of each column of a crosstab, perhaps nothing."""
    if isinstance(value, list):
        return all(each is None or text(each) or whole(each) for each in value)
    return text(value) or whole(value)


@part
class WrittenLaw(Part):
    """How one report is drawn: a family of randomizers, its parameters, and the whole numbers out
    of 2^64 that decide every draw, as text. Every family has parameters of its own; epsilon0 is
    null where a report is the truth, which only fakes hide.
    """

    randomizer: str = needed(text)
    k: int | None = perhaps(whole, default=None)
    epsilon0: float | None = needed(or_none(number))
    integers: tuple[str, ...] = needed([text])
    weights: Floats = perhaps([CHANCE], default=())
    questions: list[dict[str, Any]] | None = perhaps(_levels, default=None)

    others = (number, text)

    @classmethod
    def read(cls, value: object, reading: Reading, where: str = "") -> Self:
        """Of one of several levels, ``questions`` are the laws of the levels, the ``weights`` how
        likely each is; any other law has ``k`` values.
        """
        law = Part.read.__func__(cls, value, reading, where)  # type: ignore[attr-defined]
        read: Self = law
        if (read.k is None) == (read.questions is None):
            raise InvalidInput(
                f"the record of a release must have its usual form, got a difference in {f'{where}k'!r}. {REMEDY}"
            )
        return read

    @classmethod
    def from_json(cls, law: Mapping[str, Any]) -> Self:
        """What a law writes."""
        return cls.read(dict(law), Reading(""), "law.")

    @property
    def parameters(self) -> dict[str, Any]:
        """All that its family is told, in the order of the design."""
        return {name: value for name, value in self.as_json().items() if name not in ("randomizer", "integers")}


@part
class Designed(Part):
    """The design, as every device has it: as it was written, also if no device would run it. That
    is for ``protocols.design`` to refuse, and for ``verify`` to notice.
    """

    version: int = needed(whole)
    task: str = needed(text)
    n: int = needed(some)
    least: int = needed(some)
    rounds: int = needed(some)
    epsilon: float | None = needed(or_none(SIZE))
    delta: float = needed(CHANCE)
    law: WrittenLaw = needed(WrittenLaw)
    columns: tuple[str, ...] | None = needed_by(asking("columns"), [text], default=None)
    categories: Listed | list[Listed] | None = needed_by(asking("categories"), either(_named, _crossed), default=None)
    other: Category | list[Category | None] | None = needed_by(asking("other"), or_none(_rests), default=None)
    value: Category | None = needed_by(asking("value"), either(text, whole), default=None)
    lower: float | None = needed_by(asking("lower"), number, default=None)
    upper: float | None = needed_by(asking("upper"), number, default=None)
    cuts: Floats | None = needed_by(asking("cuts"), [number], default=None)
    at: Floats | None = needed_by(asking("at"), [CHANCE], default=None)
    ranges: list[list[float]] | None = needed_by(asking("ranges"), _pairs, default=None)
    tokens: tuple[str, ...] | None = needed_by(asking("tokens"), or_none([text]), default=None)
    longest: int | None = needed_by(asking("longest"), some, default=None)
    words: tuple[str, ...] | None = needed_by(asking("words"), [text], default=None)
    prefixes: tuple[str, ...] | None = needed_by(asking("prefixes"), [text], default=None)
    span: int | None = needed_by(asking("span"), count, default=None)
    room: int | None = needed_by(asking("room"), some, default=None)

    def __post_init__(self) -> None:
        """Refuse a table that no page could list, before anything spells it out."""
        listed: Any = self.categories if self.columns is not None else []
        sizes = [each if isinstance(each, int) else len(each) for each in listed] if isinstance(listed, list) else []
        if not fits_a_page(sizes):
            raise InvalidInput(
                f"the record of a release must have its usual form, got {str(sizes)[:60]} for the sizes of "
                f"design.categories. {REMEDY}"
            )

    @classmethod
    def from_json(cls, design: Mapping[str, Any]) -> Self:
        """What a design writes."""
        return cls.read(dict(design), Reading(design["task"]), "design.")

    @property
    def shown_alone(self) -> str:
        """How much one report shows by itself."""
        law = self.law
        k = law.k if law.k is not None else int((law.questions or [{"k": 1}])[-1]["k"])
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
    def listed(self) -> range | list[Category]:
        """All that is counted: the categories, or the cells of a crosstab and their sums; a mean
        has none.
        """
        if self.columns is not None:
            return list(row_labels(self.crossed))
        if self.value is not None:
            return [self.value]
        own: Any = self.categories
        if own is None:
            return []
        return range(own) if isinstance(own, int) else own

    @property
    def crossed(self) -> list[list[str]]:
        """The categories of each column of a crosstab, as text."""
        own: Any = self.categories if self.columns is not None else []
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
