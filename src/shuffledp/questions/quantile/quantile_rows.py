"""Quantiles, from how many people are below each cut point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shuffledp._types import Floats
from shuffledp.mechanisms.estimate import Interval


class QuantileRow(NamedTuple):
    """The ``at``-quantile: half of all people are below the 0.5-quantile, as near as bins tell.

    It lies from ``lower`` to ``upper``, the ends of two bins, at least as often as was asked;
    ``value`` is interpolated inside its bin. ``first`` and ``last`` say that the first or the last
    bin may be the one.
    """

    at: float
    value: float
    lower: float
    upper: float
    first: bool
    last: bool


def quantile_rows(
    at: Sequence[float], cuts: Sequence[float], values: Floats, limits: Interval, people: int
) -> list[QuantileRow]:
    """The quantiles, from how many people are below each inner cut point: estimated ``values``, and
    ``limits`` of each by itself.

    The bin of a quantile is the first one with at least a share ``at`` of the people below its
    upper end. If the upper limit there is not missed, no bin before it is left out: the interval
    begins with the first bin whose upper limit reaches that many people. If the lower limit at its
    lower end is not missed, no bin after it is: the interval ends with the last bin at whose lower
    end the lower limit does not reach them. Which bin it is depends on the data and not on the
    noise, so each side is missed as often as one limit is, at most.
    """
    ends = np.asarray(cuts, dtype=np.float64)
    lower = np.concatenate([[0.0], limits.lower])
    upper = np.concatenate([limits.upper, [float(people)]])
    rows = []
    for share, inside in zip(at, quantiles_of(at, cuts, values, people), strict=True):
        wanted = share * people
        first, last = int(np.argmax(upper >= wanted)), int(np.flatnonzero(lower < wanted)[-1])
        rows.append(
            QuantileRow(share, inside, float(ends[first]), float(ends[last + 1]), first == 0, last == len(ends) - 2)
        )
    return rows


def quantiles_of(at: Sequence[float], cuts: Sequence[float], values: Floats, people: int) -> list[float]:
    """The point estimates alone. The ``values`` are made monotone: half-way between the largest so
    far and the smallest from there on. So no quantile rises where some of the values do.
    """
    ends = np.asarray(cuts, dtype=np.float64)
    rising = (np.maximum.accumulate(values) + np.minimum.accumulate(values[::-1])[::-1]) / 2.0
    smooth = np.concatenate([[0.0], np.clip(rising, 0.0, people), [float(people)]])
    found = []
    for share in at:
        wanted = share * people
        place = int(np.argmax(smooth[1:] >= wanted))
        below, above = smooth[place], smooth[place + 1]
        value = ends[place] + (ends[place + 1] - ends[place]) * (wanted - below) / (above - below)
        found.append(float(min(max(value, ends[place]), ends[place + 1])))
    return found
