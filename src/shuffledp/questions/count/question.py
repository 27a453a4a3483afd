"""How many people hold one value."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from shuffledp.domain import Labels
from shuffledp.questions.histogram.question import check_labels, labels_of
from shuffledp.questions.question import Question
from shuffledp.schema import NEEDED, Label, part

__all__ = ["QUESTION", "CountQuestion"]

ELSE = "anything else"


@part
class CountQuestion(Question):
    """How many people hold ``value``; whatever else they hold counts as ``other``.

    >>> CountQuestion(value="yes").domain(2).names
    ('anything else', 'yes')
    """

    unit = "people"
    counts = True
    mechanisms = ("signed",)

    type: Annotated[Literal["count"], NEEDED] = "count"
    value: Label
    other: Annotated[Label | None, NEEDED] = ELSE

    @property
    def values(self) -> tuple[Label, Label]:
        """A person holds something else, or the value."""
        return (ELSE if self.other is None else self.other, self.value)

    def checked(self) -> Self:
        """The same, if the two can be told apart and written down."""
        check_labels(self.values, self.other, "value")
        return self

    def domain(self, size: int) -> Labels:
        return labels_of(self.values, self.other)

    @property
    def size(self) -> int:
        return 2

    @property
    def listed(self) -> tuple[Label]:
        return (self.value,)

    def scale(self, n: int) -> float:
        return n


QUESTION = CountQuestion
