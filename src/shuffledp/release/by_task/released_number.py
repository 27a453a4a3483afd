"""The mean or the sum of a number that people hold."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shuffledp.design import Design
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.record import Asked, Ends
from shuffledp.record.findings import CLIPPED_MEAN, CLIPPED_SUM
from shuffledp.release.by_task.released_answer import ReleasedAnswer

__all__ = ["ReleasedMean", "ReleasedSum"]


class ReleasedMean(ReleasedAnswer):
    """The mean of a number."""

    clipped: ClassVar[str] = CLIPPED_MEAN  # what is estimated where values were moved to the ends

    def labels(self, estimate: Estimate, *, clipped: bool) -> tuple[Hashable, ...]:
        return (self.clipped,) if clipped else estimate.labels

    def beside(
        self, design: Design, tally: NDArray[np.int64], estimate: Estimate, asked: Asked, level: float
    ) -> dict[str, Any]:
        """How many people's numbers were rounded to either end of the range, where some may have
        been clipped.

        The exact number of clipped values is as private as the values are, and nothing keeps it.
        """
        at_ends = design.poll.derive(tally).get("ends") if asked.may_be_clipped else None
        if at_ends is None:
            return {}
        value, lower, upper = (tuple(column.tolist()) for column in (at_ends.values, *at_ends.simultaneous(level)))
        lowest, highest = at_ends.labels
        step = (highest - lowest) / (design.domain.size - 1)
        return {"ends": Ends(step=step, value=value, lower=lower, upper=upper)}


class ReleasedSum(ReleasedMean):
    """The sum of a number."""

    clipped = CLIPPED_SUM
