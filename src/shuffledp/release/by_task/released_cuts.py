"""How many people are below each cut point, the quantiles, and the people in ranges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.design import Design
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.poll import Poll
from shuffledp.record import Asked, AtQuantiles, InRanges
from shuffledp.release.by_task.released_answer import ReleasedAnswer

__all__ = ["ReleasedCuts"]


class ReleasedCuts(ReleasedAnswer):
    """How many people are below each cut point."""

    ordered = True

    def beside(
        self, design: Design, tally: NDArray[np.int64], estimate: Estimate, asked: Asked, level: float
    ) -> dict[str, Any]:
        """The quantiles and the ranges that were asked for."""
        poll = design.poll
        ranges = poll.derive(tally)["ranges"]
        return {
            "quantiles": _quantiles(poll, estimate, level) if design.resolved.at else None,
            "ranges": _ranges(ranges, level) if ranges.labels else None,
        }


def _quantiles(poll: Poll, estimate: Estimate, level: float) -> AtQuantiles:
    question: Any = poll.question
    at, value, lower, upper, *_ = zip(*question.quantiles(estimate, level), strict=True)
    one, some = (
        zip(*question.swayed_quantiles(estimate, people * poll.sway(estimate)), strict=True)
        for people in (1, -(-estimate.n // 100))
    )
    (one_lower, one_upper), (some_lower, some_upper) = one, some
    return AtQuantiles(
        at=at,
        value=value,
        lower=lower,
        upper=upper,
        one_lower=one_lower,
        one_upper=one_upper,
        some_lower=some_lower,
        some_upper=some_upper,
    )


def _ranges(estimate: Estimate, level: float) -> InRanges:
    columns = (estimate.values, estimate.stderr, *estimate.interval(level))
    value, stderr, lower, upper = (tuple(column.tolist()) for column in columns)
    return InRanges(value=value, stderr=stderr, lower=lower, upper=upper)
