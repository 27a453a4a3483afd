"""What is asked of many people: plain data, which says nothing of privacy and loads no NumPy."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from shuffledp.domain import REMEDY, Stored
from shuffledp.errors import InvalidInput
from shuffledp.questions import kind_of
from shuffledp.schema import RELEASE, File, Label, Part, part, rules_of

if TYPE_CHECKING:
    from shuffledp.design import Design

__all__ = ["Question", "QuestionKind", "by_kind", "lineage", "read", "resolved"]

T = TypeVar("T")


@part
class Question(Part):
    """A question that many people answer. Its fields are what a design stores of it; the first,
    ``type``, is its name.

    ``unit`` is what its estimates count, or "mean". ``mechanisms`` are the families of laws that
    answer it, and ``choices`` those that a user may name, the usual one first.
    """

    unit: ClassVar[str]
    counts: ClassVar[bool] = False  # whether it is people that are counted, place by place
    ordered: ClassVar[bool] = False  # whether its rows have an order that says something
    clipped: ClassVar[str | None] = None  # what is estimated where values were moved to the ends of the range
    alone: ClassVar[bool] = True  # whether its answer is a release by itself
    mechanisms: ClassVar[tuple[str, ...]]
    choices: ClassVar[tuple[str, ...]] = ()

    type: Any

    def __str__(self) -> str:
        return str(self.type)

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        """All that it asks, but for its type, in the order in which it is written."""
        return tuple(name for name in rules_of(cls) if name != "type")

    @abstractmethod
    def checked(self) -> Self:
        """The same, if it can be written down and asked again; refused otherwise."""

    @abstractmethod
    def domain(self, size: int) -> Stored:
        """How a value becomes a place, in a mechanism of so many places."""

    @property
    def size(self) -> int | None:
        """How many places there are, if the question says so."""
        return None

    @property
    def listed(self) -> Sequence[Label]:
        """All that is counted and listed by name; nothing, where a number is estimated."""
        return ()

    @property
    def beside(self) -> Mapping[str, Sequence[str]]:
        """What was asked for beside the estimates, by name, and the labels of its rows."""
        return {}

    @abstractmethod
    def scale(self, n: int) -> float:
        """How large an answer of ``n`` people can be at most, or how far apart two can be: an error
        above it says nothing.
        """

    def told(
        self, protocol: Any, tally: Any, estimate: Any, *, clips: bool, by: str | None, level: float
    ) -> dict[str, dict[str, Any]]:
        """What the record tells beside the estimates, by name: other readings of the same reports,
        column by column. ``clips`` says that values may have been clipped, ``by`` within which
        groups shares are asked.
        """
        return {}


@dataclass(frozen=True, slots=True)
class QuestionKind:
    """The names of the questions of a kind, also of those of other distributions: those with the
    ``field``, or that count people, value by value.
    """

    field: str = ""
    counts: bool = False

    def __contains__(self, name: object) -> bool:
        """Whether the question of that name is of the kind."""
        kind = kind_of(name)
        return self.field in kind.field_names() or (self.counts and kind.counts)


def lineage(name: object) -> list[str]:
    """The question of that name, and those that it derives from, the nearest first."""
    kinds = [kind for kind in kind_of(name).__mro__ if issubclass(kind, Question) and kind is not Question]
    return [str(rules_of(kind)["type"].default) for kind in kinds]


def by_kind(registry: Mapping[str, T], name: object) -> T:
    """What a registry holds for the question of that name, or for the nearest that it derives
    from.
    """
    for known in lineage(name):
        if known in registry:
            return registry[known]
    raise InvalidInput(f"a question must be of a known kind, got {name!r}. Derive it from {', '.join(registry)}.")


def read(stored: Part, file: File = RELEASE) -> Question:
    """The question that a design stores, by the code that knows its type; its form is checked, and
    no more.
    """
    written = stored.as_json()
    return kind_of(written["type"]).read(written, file, "design.question." if file is RELEASE else "question.")


def resolved(design: Design) -> Question:
    """The question of a design, if the mechanism answers it, and its places are the stored ones."""
    from shuffledp.design import DESIGN

    question = read(design.question, DESIGN).checked()
    if design.mechanism.inside.type not in question.mechanisms:
        raise InvalidInput(
            f"the mechanism of a {question} must be one of {', '.join(question.mechanisms)}, got "
            f"{design.mechanism.type}. {REMEDY}"
        )
    domain: Any = question.domain(design.mechanism.values)
    if domain != design.domain:
        raise InvalidInput(
            f"the domain of a design must be that of its {question}, places in order, got another. {REMEDY}"
        )
    return question
