"""How many people are below each cut point, the quantiles, and the people in ranges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.design import Design
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.protocols.quantiles import Distribution
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
        protocol = design.protocol
        assert isinstance(protocol, Distribution)
        return {
            "quantiles": _quantiles(protocol, estimate, level) if protocol.question.at else None,
            "ranges": _ranges(protocol, tally, level) if protocol.question.ranges else None,
        }


def _quantiles(protocol: Distribution, estimate: Estimate, level: float) -> AtQuantiles:
    at, value, lower, upper, *_ = zip(*protocol.quantiles(estimate, level), strict=True)
    one, some = (
        zip(*protocol.swayed_quantiles(estimate, people), strict=True) for people in (1, -(-estimate.n // 100))
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


def _ranges(protocol: Distribution, tally: NDArray[np.int64], level: float) -> InRanges:
    estimate = protocol.in_ranges(tally)
    columns = (estimate.values, estimate.stderr, *estimate.interval(level))
    value, stderr, lower, upper = (tuple(column.tolist()) for column in columns)
    return InRanges(value=value, stderr=stderr, lower=lower, upper=upper)
