"""How many people hold each value, one value, each cell of a crosstab, or a frequent word."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.design import Design
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.record import Asked, GroupShares
from shuffledp.release.by_task.released_answer import ReleasedAnswer

__all__ = ["ReleasedCells", "ReleasedValues"]


class ReleasedValues(ReleasedAnswer):
    """How many people hold each of a few values."""


class ReleasedCells(ReleasedValues):
    """How many people hold each combination of several columns."""

    def beside(
        self, design: Design, tally: NDArray[np.int64], estimate: Estimate, asked: Asked, level: float
    ) -> dict[str, Any]:
        """The shares within the groups, if they were asked for; of a group with too few people,
        none.
        """
        if asked.by is None:
            return {}
        known, *columns = design.poll.derive(tally, by=asked.by)["shares"](level=level)
        value, lower, upper, all_lower, all_upper = (
            tuple(share if said else None for share, said in zip(column.tolist(), known.tolist(), strict=True))
            for column in columns
        )
        shares = GroupShares(value=value, lower=lower, upper=upper, all_lower=all_lower, all_upper=all_upper)
        return {"shares": shares}
