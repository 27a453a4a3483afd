"""The sum of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shuffledp.protocols.tasks.mean_task import MeanTask
from shuffledp.protocols.tasks.task import register

__all__ = ["SumTask"]


@register
@dataclass(frozen=True)
class SumTask(MeanTask):
    """The sum of a number from ``lower`` to ``upper``: a mean, times how many people there are."""

    name: ClassVar[str] = "sum"
    unit: ClassVar[str] = "sum"

    def scale(self, n: int) -> float:
        return n * super().scale(n)
