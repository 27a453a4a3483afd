"""The mean of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from shuffledp.errors import InvalidInput
from shuffledp.protocols.tasks.task import LARGEST_BOUND, REMEDY, Task, is_bound, register
from shuffledp.schema import Number

__all__ = ["MeanTask"]


@register
@dataclass(frozen=True)
class MeanTask(Task):
    """The mean of a number from ``lower`` to ``upper``; the grid on which it is reported is the
    randomizer's.
    """

    name: ClassVar[str] = "mean"
    unit: ClassVar[str] = "mean"

    lower: Number
    upper: Number

    @property
    def bounds(self) -> tuple[float, float]:
        return self.lower, self.upper

    def checked(self) -> Self:
        for name, value in (("lower", self.lower), ("upper", self.upper)):
            if not is_bound(value):
                raise InvalidInput(
                    f"{name} must be a number of at most {LARGEST_BOUND:g} in size, with a decimal point, got "
                    f"{value!r}. {REMEDY}"
                )
        if not self.lower < self.upper:
            raise InvalidInput(f"lower must be below upper, got {self.lower!r} and {self.upper!r}. {REMEDY}")
        return self

    def fits(self, family: str, k: int) -> bool:
        return family in ("krr", "split") and k >= 2

    @property
    def labels(self) -> tuple[str, ...]:
        return ()

    def scale(self, n: int) -> float:
        return self.upper - self.lower
