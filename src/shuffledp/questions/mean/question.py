"""The mean of numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from shuffledp.domain import Grid, check_bounds, check_numbers, on_grid
from shuffledp.errors import InvalidInput
from shuffledp.questions.mean import clipping
from shuffledp.questions.question import Planned, Question
from shuffledp.questions.table import Table
from shuffledp.schema import NEEDED, Number, part
from shuffledp.wording import short
from shuffledp.workload import Ranges, Weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shuffledp.design import Law
    from shuffledp.mechanisms.estimate import Estimate
    from shuffledp.mechanisms.mechanism import Mechanism
    from shuffledp.mechanisms.results import Tally
    from shuffledp.sampling import Source

ROUNDING = {"worst": 1.0 / 4.0, "even": 1.0 / 6.0, "none": 0.0}  # the mean of f (1 - f)


@part
class MeanQuestion(Question):
    """The mean of a number from ``lower`` to ``upper``; the grid on which it is reported is the
    mechanism's.
    """

    unit = "mean"
    estimated = "the mean"
    divided: ClassVar[str] = ", divided by the number of reports"  # how a sum becomes an answer
    clipped = "mean of the clipped values"
    to_be_clipped = (
        "Values outside the range would be moved to its ends: the answer would be the mean of the clipped "
        "values, not of the values themselves."
    )
    mechanisms = ("krr", "split")
    planned = Planned(error="standard error of the mean, worst data")

    type: Annotated[Literal["mean"], NEEDED] = "mean"
    lower: Number
    upper: Number

    @classmethod
    def of(cls, *, lower: float = 0.0, upper: float = 1.0, **more: Any) -> Self:
        low, high = check_bounds(lower, upper)
        return cls(lower=low, upper=high, **more)

    def numbers(self, values: Any) -> NDArray[Any]:
        """People's numbers, each between the bounds."""
        return check_numbers(values, self.lower, self.upper)

    def places(self, values: Any, size: int, source: Source) -> NDArray[Any]:
        """Each number is rounded at random to one of its two neighbors on the grid, preserving its
        mean.
        """
        return on_grid(self.numbers(values), self.lower, self.upper, size - 1, source)

    def workload(self, size: int, rounding: str = "worst") -> Weights:
        return Weights.grid(self.type, size - 1, drawn=ROUNDING[rounding])

    def scaling(self, people: int) -> tuple[float, float]:
        return (self.upper - self.lower) / people, self.lower

    def estimate(
        self, mechanism: Mechanism, tally: Tally, *, rounding: str = "worst", notes: tuple[str, ...] = ()
    ) -> Estimate:
        """Reports do not show how much of their spread is rounding; ``rounding`` says what to
        assume. "worst": every number may lie half-way between grid points, so the interval covers
        at least as often as it says, whatever the data. "even": numbers lie anywhere between grid
        points, as measurements do. "none": all are points of the grid, and the interval is exact
        again. Of shares nothing but the worst is known.
        """
        from shuffledp.mechanisms.rows import Scaled

        known = tuple(ROUNDING) if mechanism.law.single else ("worst",)
        if rounding not in known:
            raise InvalidInput(
                f'rounding must be one of {", ".join(known)}, got {rounding!r}. "worst" assumes nothing.'
            )
        found = mechanism.estimate(tally, self.workload(mechanism.size, rounding), notes=notes)
        return replace(found, rows=Scaled(found.rows, *self.scaling(tally.people)))

    def derive(self, mechanism: Mechanism, tally: Tally, estimate: Estimate, by: str | None = None) -> dict[str, Any]:
        """How many people's numbers were rounded to either of the ``ends``, where reports name
        them.

        These are all people at an end, to which wider numbers were perhaps clipped, and some of
        those less than a step of the grid away from it. So each count is at least that of the
        numbers that were clipped there, and at most that of the numbers within a step of the end.
        """
        last = mechanism.size - 1
        ends = Ranges((self.lower, self.upper), ((0, 1), (last, last + 1)))
        return {"ends": mechanism.estimate(tally, ends)} if mechanism.answers(ends) else {}

    def expected_stderr(self, mechanism: Mechanism, n: int, values: Any = None) -> float:
        """The standard error with all n people: exact for given ``values``, and without them exact
        for the worst data.
        """
        import numpy as np

        if values is None:
            return mechanism.worst(self.workload(mechanism.size), n) * self.scaling(n)[0]
        steps = mechanism.size - 1
        x = (self.numbers(values) - self.lower) / (self.upper - self.lower) * steps
        low = np.minimum(np.floor(x).astype(np.int64), steps - 1)
        held = np.bincount(low, 1.0 - (x - low), steps + 1) + np.bincount(low + 1, x - low, steps + 1)
        rows = Weights.grid(self.type, steps, drawn=float(np.mean((x - low) * (1.0 - (x - low)))))
        return float(mechanism.predicted(rows, held)[0]) * self.scaling(len(x))[0]

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

    def tables(self, poll: Any, tally: Any, estimate: Any, *, clips: bool, by: str | None, level: float) -> list[Table]:
        """How many people's numbers were rounded to either end of the range, where some may have
        been clipped and the mechanism can say it.

        The exact number of clipped values is as private as the values are, and nothing keeps it.
        """
        at_ends = poll.derive(tally).get("ends") if clips else None
        if at_ends is None:
            return []
        lower, upper = at_ends.simultaneous(level)
        labels, value = ("lower end", "upper end"), at_ends.values
        return [Table.made("ends", labels, unit="people", level=level, value=value, lower=lower, upper=upper)]

    def clipping(self, record: Any) -> list[str]:
        return clipping.certain(record) if record.clipped else []

    def remarks(self, record: Any) -> list[str]:
        return [] if record.clipped else clipping.perhaps(record)


QUESTION = MeanQuestion
