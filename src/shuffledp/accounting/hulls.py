"""Convex curves through points that are known up to two ends: what lies surely below, and hulls."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats

__all__ = ["convex", "lower_hull", "minorant"]


def minorant(x: Floats, lower: Floats, upper: Floats) -> Floats:
    """Values v <= lower such that the polygon through (x, v) stays below every convex curve inside
    the band.

    On an interval a convex curve lies above the extensions of the chords of the two neighboring
    intervals; the polygon is lowered by the most that these leave open. The first and the last
    point are treated as if the curve went on with slope -1 and 0, which bound the slope of every
    hockey-stick curve.
    """
    distinct = np.flatnonzero(np.diff(x, prepend=-np.inf) > 0.0)
    if distinct.size < x.size:  # points so close that they are one
        return minorant(x[distinct], lower[distinct], upper[distinct])[
            np.searchsorted(distinct, np.arange(x.size), side="right") - 1
        ]
    width = np.diff(x)
    growth = width[1:] / width[:-1]
    # Rises over each interval, not slopes: over e^epsilon a slope may be too small for a float
    # where a rise is not.
    rise = np.diff(lower)
    # Of the chord before, extended; at least.
    steepest = np.concatenate([-width[:1], (lower[1:-1] - upper[:-2]) * growth])
    flattest = np.concatenate([(upper[2:] - lower[1:-1]) / growth, [0.0]])  # of the chord after, extended; at most
    left = np.maximum(rise - steepest, 0.0)
    right = np.maximum(np.minimum(flattest, 0.0) - rise, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        depth = np.where(left + right > 0.0, left * (right / (left + right)), 0.0)
    lowered = lower - np.maximum(np.concatenate([depth, [0.0]]), np.concatenate([[0.0], depth]))
    # Where a vertex would be negative, the polygon must already be 0 one vertex before: raising one
    # end of a chord is not safe.
    negative = np.flatnonzero(lowered < 0.0)
    if negative.size:
        lowered[max(negative[0] - 1, 0) :] = 0.0
    return np.asarray(lowered)


def convex(epsilons: Floats, values: Floats) -> Floats:
    """The lower convex hull, in x = e^epsilon, of values at ascending epsilons; also made
    non-increasing.

    A convex curve below upper values at the points is below their hull, and a hull is below its
    values: it keeps both ends valid.
    """
    x = np.expm1(epsilons - epsilons[0])
    values = np.minimum.accumulate(values)
    corner = lower_hull(x, values)
    return np.asarray(np.maximum(np.interp(x, x[corner], values[corner]), 0.0))


def lower_hull(x: Floats, y: Floats) -> NDArray[np.intp]:
    """Indices of the lower convex hull, x strictly ascending (Andrew's monotone chain)."""
    hull, slopes = [0], [-np.inf]
    for i in range(1, x.size):
        slope = (y[i] - y[hull[-1]]) / (x[i] - x[hull[-1]])
        while slope <= slopes[-1]:
            hull.pop()
            slopes.pop()
            slope = (y[i] - y[hull[-1]]) / (x[i] - x[hull[-1]])
        hull.append(i)
        slopes.append(slope)
    return np.array(hull)
