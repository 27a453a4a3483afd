"""What a release of any task has: its labels, and what stands beside its estimates."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shuffledp.design import Design
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.record import Asked

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

    def beside(
        self, design: Design, tally: NDArray[np.int64], estimate: Estimate, asked: Asked, level: float
    ) -> dict[str, Any]:
        """What the record tells beside the estimates: other readings of the same reports."""
        return {}
