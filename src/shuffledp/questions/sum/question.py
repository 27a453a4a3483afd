"""The sum of numbers."""

from __future__ import annotations

from typing import Annotated, Literal

from shuffledp.questions.mean.question import MeanQuestion
from shuffledp.questions.question import Planned
from shuffledp.schema import NEEDED, part


@part
class SumQuestion(MeanQuestion):
    """The sum of a number from ``lower`` to ``upper``: a mean, times how many people there are."""

    unit = "sum"
    estimated = "the sum"
    divided = ""
    clipped = "sum of the clipped values"
    planned = Planned(error="standard error of the sum, worst data")

    type: Annotated[Literal["sum"], NEEDED] = "sum"  # type: ignore[assignment]

    def scaling(self, people: int) -> tuple[float, float]:
        return self.upper - self.lower, self.lower * people

    def ends(self, people: int) -> tuple[float, float]:
        return people * self.lower, people * self.upper

    def scale(self, n: int) -> float:
        return n * super().scale(n)


QUESTION = SumQuestion
