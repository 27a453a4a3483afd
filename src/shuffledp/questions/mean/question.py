"""The mean of numbers."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

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
    clipped = "mean of the clipped values"
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

    def told(
        self, protocol: Any, tally: Any, estimate: Any, *, clips: bool, by: str | None, level: float
    ) -> dict[str, dict[str, Any]]:
        """How many people's numbers were rounded to either end of the range, where some may have
        been clipped and the mechanism can say it.

        The exact number of clipped values is as private as the values are, and nothing keeps it.
        """
        at_ends = getattr(protocol, "at_ends", None)
        if not clips or at_ends is None:
            return {}
        found = at_ends(tally)
        columns = zip(("value", "lower", "upper"), (found.values, *found.simultaneous(level)), strict=True)
        step = (protocol.upper - protocol.lower) / protocol.k
        return {"ends": {"step": step} | {name: tuple(each.tolist()) for name, each in columns}}


QUESTION = MeanQuestion
