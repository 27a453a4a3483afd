"""How many people hold one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from shuffledp.domain import Labels
from shuffledp.questions.histogram.question import HistogramQuestion, check_labels, labels_of
from shuffledp.questions.question import LISTED, Planned, Question
from shuffledp.schema import NEEDED, Label, part
from shuffledp.workload import Ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shuffledp.sampling import Source

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
    planned = Planned(error="standard error of the count, worst data")
    recorded = LISTED

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

    @classmethod
    def of_domain(cls, domain: Any) -> Self:
        return cls.of(value=1, other=0)

    @property
    def rivals(self) -> list[tuple[Question, str]]:
        """A histogram counts the people who hold a value, and those who do not."""
        return [*super().rivals, (HistogramQuestion.of(categories=range(2)), "krr")]

    def places(self, values: Any, size: int, source: Source) -> NDArray[Any]:
        return self.domain(size).indices(values)

    def workload(self, size: int) -> Ranges:
        return Ranges((self.value,), ((1, 2),))

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
