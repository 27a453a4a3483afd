"""The mean of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from shuffledp.domain import Grid
from shuffledp.questions.question import Question
from shuffledp.schema import NEEDED, Number, part
from shuffledp.wording import short

if TYPE_CHECKING:
    from shuffledp.design import Law

__all__ = ["QUESTION", "MeanQuestion"]


@part
class MeanQuestion(Question):
    """The mean of a number from ``lower`` to ``upper``; the grid on which it is reported is the
    mechanism's.
    """

    unit = "mean"
    estimated = "the mean"
    divided: ClassVar[str] = ", divided by the number of reports"  # how a sum becomes an answer
    mechanisms = ("krr", "split")

    type: Annotated[Literal["mean"], NEEDED] = "mean"
    lower: Number
    upper: Number

    def checked(self) -> Self:
        """The same, if the two are finite bounds."""
        self.domain(2).checked()
        return self

    def domain(self, size: int) -> Grid:
        return Grid(lower=self.lower, upper=self.upper, steps=size - 1)

    def ends(self, people: int) -> tuple[float, float]:
        """Between which numbers the answer of so many people lies."""
        return self.lower, self.upper

    def algorithm(self, law: Law) -> str:
        if law.type != "krr":
            return ""
        steps, gamma = law.values - 1, short(int(law.integers[0]) / 2**64)
        known = f"Algorithms 2 and 3 of Balle et al. 2019 (numbers scaled to [0, 1], k = {steps}, gamma = {gamma})"
        return known + self.divided

    def scale(self, n: int) -> float:
        return self.upper - self.lower


QUESTION = MeanQuestion
