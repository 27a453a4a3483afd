"""The mean of numbers."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from shuffledp.domain import Grid
from shuffledp.questions.question import Question
from shuffledp.schema import NEEDED, Number, part

__all__ = ["QUESTION", "MeanQuestion"]


@part
class MeanQuestion(Question):
    """The mean of a number from ``lower`` to ``upper``; the grid on which it is reported is the
    mechanism's.
    """

    unit = "mean"
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

    def scale(self, n: int) -> float:
        return self.upper - self.lower


QUESTION = MeanQuestion
