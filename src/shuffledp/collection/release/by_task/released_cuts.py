"""How many people are below each cut point, the quantiles, and the people in ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.collection.record import Asked, AtQuantiles, InRanges, Record
from shuffledp.collection.release.by_task.released_answer import LEVEL, ReleasedAnswer
from shuffledp.figures import DrawnDistribution, draw_distribution
from shuffledp.protocols.design import Design
from shuffledp.protocols.estimate import Estimate
from shuffledp.protocols.quantiles import Distribution

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ReleasedCuts"]


class ReleasedCuts(ReleasedAnswer):
    """How many people are below each cut point."""

    ordered = True

    def beside(self, design: Design, tally: NDArray[np.int64], estimate: Estimate, asked: Asked) -> dict[str, Any]:
        """The quantiles and the ranges that were asked for."""
        protocol = design.protocol
        assert isinstance(protocol, Distribution)
        return {
            "quantiles": _quantiles(protocol, estimate) if protocol.task.at else None,
            "ranges": _ranges(protocol, tally) if protocol.task.ranges else None,
        }

    def drawn_whole(self, record: Record) -> bool:
        return True

    def figure(self, record: Record, title: str) -> Figure:
        return draw_distribution(_distribution(record), title=title)


def _quantiles(protocol: Distribution, estimate: Estimate) -> AtQuantiles:
    at, value, lower, upper, *_ = zip(*protocol.quantiles(estimate, LEVEL), strict=True)
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


def _ranges(protocol: Distribution, tally: NDArray[np.int64]) -> InRanges:
    estimate = protocol.in_ranges(tally)
    columns = (estimate.values, estimate.stderr, *estimate.interval(LEVEL))
    value, stderr, lower, upper = (tuple(column.tolist()) for column in columns)
    return InRanges(value=value, stderr=stderr, lower=lower, upper=upper)


def _distribution(record: Record) -> DrawnDistribution:
    found, reports = record.estimates, record.counted.reports

    def shares(people: tuple[float, ...]) -> list[float]:
        return [0.0, *(min(max(each / reports, 0.0), 1.0) for each in people), 1.0]

    asked = found.quantiles
    return DrawnDistribution(
        cuts=record.design.cuts or (),
        shares=shares(found.value),
        lower=shares(found.all_lower),
        upper=shares(found.all_upper),
        level=found.level,
        quantiles=[] if asked is None else list(zip(asked.at, asked.value, asked.lower, asked.upper, strict=True)),
    )
