"""p-values that are never too small: exact binomial tails, and sound ways to take many of them
together.

A p-value here is at most u with probability at most u if the code is right. That is a theorem about
finitely many runs, not a limit, so the chance of a false alarm is what is stated, for rare events
too.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc

from shuffledp.randomizers.randomizer import Floats

__all__ = ["ROUNDING", "SMALLEST", "bennett", "binomial", "least", "multinomial", "together", "unrelated"]

ROUNDING = 1e-9  # of the laws, relatively; far below what any number of runs resolves
SMALLEST = 1e-300  # what chance leaves open is never 0


def binomial(seen: ArrayLike, trials: ArrayLike, chance: ArrayLike) -> Floats:
    """Two-sided, for independent trials with this chance each."""
    from scipy.stats import binom  # large, and needed by audits only

    share = np.clip(np.asarray(chance, dtype=np.float64), 0.0, 1.0)
    hits, of = np.asarray(seen, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    more = binom.sf(hits - 1.0, of, np.minimum(share * (1.0 + ROUNDING), 1.0))
    less = binom.cdf(hits, of, share * (1.0 - ROUNDING))
    return np.asarray(np.where(of > 0, np.clip(2.0 * np.minimum(more, less), SMALLEST, 1.0), 1.0))


def least(p_values: ArrayLike) -> tuple[float, int]:
    """The least of some p-values, times their number (Bonferroni), and which it was. They may
    depend on each other.
    """
    values = np.ravel(np.asarray(p_values, dtype=np.float64))
    if not values.size:
        return 1.0, 0
    place = int(np.argmin(values))
    return min(1.0, values.size * float(values[place])), place


def together(p_values: Floats) -> float:
    """Fisher's product of p-values, each of which is sound given those before it: many small
    excesses add up.
    """
    if not p_values.size:
        return 1.0
    return max(float(chdtrc(2 * p_values.size, -2.0 * np.log(np.maximum(p_values, SMALLEST)).sum())), SMALLEST)


def multinomial(seen: NDArray[np.int64], law: Floats) -> tuple[float, int]:
    """Counts of independent draws from ``law``: the strangest cell, and all of them together; with
    the cell that is strangest.

    Given the counts before it, a cell's count is binomial among the draws that are left, which
    makes Fisher's product exact.
    """
    total = int(seen.sum())
    one, place = least(binomial(seen, total, law))
    left = total - np.concatenate([[0], np.cumsum(seen)[:-1]])
    room = np.cumsum(law[::-1])[::-1]
    part = np.divide(law, room, out=np.ones_like(law), where=room > 0.0)
    return min(1.0, 2.0 * min(one, together(binomial(seen[:-1], left[:-1], part[:-1])))), place


def bennett(off: float, variance: float, *, above: float, below: float) -> float:
    """Two-sided p-value of a sum of independent terms, ``off`` from its mean, with this variance.

    Each term is at most ``above`` over its mean and at most ``below`` under it. Bennett 1962: P(sum
    >= t) <= exp(-variance / b^2 * h(b t / variance)) with h(x) = (1 + x) log(1 + x) - x.
    """
    bound = above if off > 0.0 else below
    off = abs(off)
    if bound <= 0.0 or off <= ROUNDING * bound:
        return 1.0
    variance = max(variance, ROUNDING * bound * off)  # more variance is a weaker claim
    ratio = bound * off / variance
    return min(1.0, max(2.0 * math.exp(-variance / bound**2 * ((1.0 + ratio) * math.log1p(ratio) - ratio)), SMALLEST))


def unrelated(first: Floats, second: Floats) -> float:
    """Two-sided p-value of the hypothesis that independent pairs of scores have independent halves:
    Fisher's exact test of two splits near the medians.

    Each split depends on its own row without its order, so given both the number of agreements is
    hypergeometric, however rare the events.
    """
    from scipy.stats import hypergeom

    if len(first) == 0:
        return 1.0
    high, also = _split(first), _split(second)
    both, row, column = int(np.count_nonzero(high & also)), int(np.count_nonzero(high)), int(np.count_nonzero(also))
    law = hypergeom(len(first), row, column)
    return min(1.0, 2.0 * min(float(law.sf(both - 1)), float(law.cdf(both))))


def _split(scores: Floats) -> NDArray[np.bool_]:
    """Scores above the value that leaves nearest to one half above it."""
    values, counts = np.unique(scores, return_counts=True)
    return np.asarray(scores > values[int(np.argmin(np.abs(np.cumsum(counts) - len(scores) / 2.0)))])
