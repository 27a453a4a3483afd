"""Bins in levels, coarse ones and fine ones: each person answers about one level, and least squares
brings the levels together.

A level of k nodes cuts the bins into k runs of the same length, up to one bin. What is reported is
a node of one level, so with c people in each bin the mean number of reports of each node is B c,
where the column of a bin is the law of its people's reports. Weighted least squares, each node's
reports weighted by the inverse of their mean if people are spread evenly,

    c^ = (B' D^-1 B)^-1 B' D^-1 reports,

is unbiased for all data, and the best of all unbiased linear estimates if people are spread evenly:
the covariance of the reports is D - B diag(c) B', and a term B K B' changes no generalized least
squares (Rao 1967). The weights depend on the law alone, so every estimate is a fixed sum of the
reports' weights, and its variance is exact: with weights a, a person in bin x adds

    sum of B_x a^2 - (sum of B_x a)^2,

and the last sum is what is estimated, 1 or 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.protocols.estimate import Noise
from shuffledp.protocols.estimators import widest_gap
from shuffledp.protocols.exact_limits import Bounded
from shuffledp.randomizers.wrappers.levels import OneLevel

__all__ = ["BRANCHES", "LeastSquares", "level_sizes"]

BRANCHES = 4  # runs of bins that a run of the next coarser level is cut into
COARSEST = 4  # nodes of the coarsest level, at least
MOST_LEVELS = 4


def level_sizes(bins: int) -> list[tuple[int, ...]]:
    """The shapes to choose from, beside all bins at once: two levels or more, each about four times
    as fine as the one before.

    >>> level_sizes(256)
    [(64, 256), (16, 64, 256), (4, 16, 64, 256)]
    """
    sizes: tuple[int, ...] = (bins,)
    shapes: list[tuple[int, ...]] = []
    while len(sizes) < MOST_LEVELS and (coarser := -(-sizes[0] // BRANCHES)) >= COARSEST:
        sizes = (coarser, *sizes)
        shapes.append(sizes)
    return shapes


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """The estimates that reports of ``law`` give of how many people are in some groups of bins;
    ``groups`` has a row for each group, 1 for its bins and 0 for others.
    """

    law: OneLevel
    groups: Floats

    @cached_property
    def weights(self) -> Floats:
        """What a report of each node adds to each estimate."""
        laws = self.law.rows.T
        weighted = (laws / laws.sum(axis=1, keepdims=True)).T
        found: Floats = self.groups @ np.linalg.solve(weighted @ laws, weighted)
        return found

    @cached_property
    def variances(self) -> Floats:
        """What a person in each bin adds to the variance of each estimate."""
        exact: Floats = np.maximum(self.weights**2 @ self.law.rows.T - self.groups, 0.0)
        return exact

    @cached_property
    def thirds(self) -> Floats:
        """The same for the third central moment: E a^3 - 3 m E a^2 + 2 m^3, where m is 0 or 1."""
        squares, cubes = (self.weights**power @ self.law.rows.T for power in (2, 3))
        exact: Floats = cubes - self.groups * (3.0 * squares - 2.0)
        return exact

    def estimate(self, tally: NDArray[np.int64]) -> tuple[Floats, Noise, Floats]:
        """The estimates, their noise and their standard errors, for the people as they are
        estimated to be spread.

        The variance is linear in the people, so unbiased estimates of them, negative ones too, give
        an unbiased one of it; were they cut off at 0, people who crowd in one bin would seem to be
        spread over many, which hides the error that crowds have. No people have less than the
        least. With few people in a bin the variance is uncertain, and too small just where the
        estimate is off: the noise, of which limits are made, has a standard error of it more.
        """
        n = int(tally.sum())
        values: Floats = self.weights @ tally
        bins = LeastSquares(self.law, np.eye(self.law.k)).weights
        held, adding = bins @ tally, self.variances @ bins
        variance = np.maximum(adding @ tally, n * self.variances.min(axis=1))
        doubt = np.sqrt(np.maximum(adding**2 @ tally - (adding @ tally) ** 2 / max(n, 1), 0.0))
        skew = np.divide(self.thirds @ held, variance, out=np.zeros_like(values), where=variance > 0.0)
        inside = self.groups > 0.0
        own, others = (np.where(chosen, self.variances, 0.0).max(axis=1) for chosen in (inside, ~inside))
        above, below = self.weights.max(axis=1), 1.0 - self.weights.min(axis=1)
        law = Bounded(values, n, own=own, others=others, above=above, below=below)
        unit, grain = np.maximum(above, below), widest_gap(self.weights)
        noise = Noise(variance + doubt, np.zeros_like(values), skew, unit, law, grain)
        return values, noise, np.sqrt(variance)

    def predicted(self, held: Sequence[float] | Floats) -> Floats:
        """The standard errors with so many people in each bin: exact."""
        errors: Floats = np.sqrt(self.variances @ np.asarray(held, dtype=np.float64))
        return errors
