"""E(G_1 + ... + G_n)_+ / n by adding up every possible view: for few users or few classes, where
that is the quickest and the closest.

A view is how many of the n positions hold each class. Its probability is multinomial and its sum of
scores is linear in the counts; logarithms of probabilities cannot underflow, and their rounding
errors are added to the ends view by view.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from shuffledp._types import Floats
from shuffledp.accounting.haystack.contour import UNIT, absences

__all__ = ["count_bounds", "views"]

LEAST, LEAST_NORMAL = 5e-324, 2.3e-308


def views(n: int, classes: int) -> float:
    """How many views there are of n positions, each empty or of one of the classes; infinite if
    that is far too many.
    """
    return math.comb(n + classes, classes) if min(n, classes) <= 32 else math.inf


def count_bounds(n: int, hay: Floats, low: Floats, high: Floats, unit: Floats) -> tuple[Floats, Floats]:
    """Both ends, a row each, for scores between the rows of ``low`` and ``high``, which are finite
    and in units of ``unit``.

    The unit belongs in the logarithms: a probability too small for a float may carry a score that
    is too large for one.
    """
    counts, log_ways = _counts(n, hay.size)
    log_unit = np.log(unit)
    ends = []
    for scores, sign, absent in zip((low, high), (-1.0, 1.0), absences(hay), strict=True):
        log_masses = np.log(np.append(hay, absent if absent > 0.0 else 1.0))
        possible = slice(None) if absent > 0.0 else counts[:, -1] == 0.0
        held, ways = counts[possible], log_ways[possible]
        size = held @ np.abs(log_masses) + 3.0 * gammaln(n + 1.0) + 1.0  # ways is a difference of such logarithms
        chance = ways + held @ log_masses + sign * 8.0 * UNIT * (size + hay.size + n)
        value = held[:, :-1] @ scores.T
        value += sign * UNIT * (hay.size + 2) * (held[:, :-1] @ np.abs(scores).T)
        with np.errstate(divide="ignore", under="ignore"):
            log_value = np.log(np.maximum(value, 0.0))
            log_value += log_unit + sign * 2.0 * UNIT * (
                np.abs(np.where(value > 0.0, log_value, 0.0)) + np.abs(log_unit)
            )
            terms = np.exp(chance[:, None] + log_value)
        ends.append(
            np.ascontiguousarray(terms.T).sum(axis=1) / n * (1.0 + sign * 8.0 * UNIT * (64.0 + np.log2(len(held))))
        )
    lost = np.any(terms < LEAST_NORMAL, axis=0) * len(terms) * LEAST  # rounding of what is hardly a float, or none
    return np.maximum(ends[0] - lost, 0.0), ends[1] + lost + LEAST


@lru_cache(maxsize=4)
def _counts(n: int, classes: int) -> tuple[Floats, Floats]:
    """Every view (rows) as counts of its classes and, in the last column, of empty positions; and
    the log of the number of its arrangements.
    """
    bars = np.array(list(combinations(range(n + classes), classes)), dtype=np.int64).reshape(-1, classes)
    edges = np.concatenate([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), n + classes)], axis=1)
    counts: NDArray[np.float64] = np.diff(edges, axis=1).astype(np.float64) - 1.0
    return counts, np.asarray(gammaln(n + 1.0) - gammaln(counts + 1.0).sum(axis=1))
