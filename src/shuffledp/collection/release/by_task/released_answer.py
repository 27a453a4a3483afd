"""What a release of any task has: its labels, what stands beside its estimates, and a figure."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shuffledp.collection.record import Asked, Record
from shuffledp.figures import DrawnEstimates, draw_estimates
from shuffledp.protocols.design import Design
from shuffledp.protocols.estimate import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["LEVEL", "ReleasedAnswer"]

LEVEL = 0.95


class ReleasedAnswer:
    """What a release of a task has of its own."""

    ordered: ClassVar[bool] = False  # whether its rows have an order that says something

    def labels(self, estimate: Estimate, *, clipped: bool) -> tuple[Hashable, ...]:
        """What is estimated; ``clipped`` says that values outside the range were moved to its
        ends.
        """
        return estimate.labels

    def beside(self, design: Design, tally: NDArray[np.int64], estimate: Estimate, asked: Asked) -> dict[str, Any]:
        """What the record tells beside the estimates: other readings of the same reports."""
        return {}

    def drawn_whole(self, record: Record) -> bool:
        """Whether all rows are drawn, however many."""
        return False

    def figure(self, record: Record, title: str) -> Figure:
        """The estimates, drawn."""
        found = record.estimates
        drawn = DrawnEstimates(
            labels=found.label,
            values=found.value,
            lower=found.lower,
            upper=found.upper,
            all_lower=found.all_lower,
            all_upper=found.all_upper,
            of=found.of,
            level=found.level,
            bounds=self.bounds(record),
        )
        return draw_estimates(drawn, title=title)

    def bounds(self, record: Record) -> tuple[float, float] | None:
        """The range in which they are drawn, where they have one."""
        return None
