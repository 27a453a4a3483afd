"""Sums of one weight per report, of a law that is a matrix: which of many such laws people's
reports have depends on what they hold, and is estimated from the same reports.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shuffledp._types import Floats
from shuffledp.randomizers.randomizer import Ints

if TYPE_CHECKING:
    from shuffledp.mechanisms.rows import Rows

__all__ = ["ReportSums"]


@dataclass(frozen=True, eq=False)
class ReportSums:
    """How many people are in each of some groups of places. ``table`` has the law of the reports of
    each place, and ``inverse`` what each report adds to the estimate of each place, so that
    inverse table' = 1; ``groups`` has a row for each group, 1 for its places and 0 for others.
    """

    table: Floats
    inverse: Floats
    groups: Floats

    @cached_property
    def weights(self) -> Floats:
        """What each report adds to each estimate."""
        found: Floats = self.groups @ self.inverse
        return found

    @cached_property
    def variances(self) -> Floats:
        """What a person in each place adds to the variance of each estimate."""
        exact: Floats = np.maximum(self.weights**2 @ self.table.T - self.groups, 0.0)
        return exact

    @cached_property
    def thirds(self) -> Floats:
        """The same for the third central moment: E a^3 - 3 m E a^2 + 2 m^3, where m is 0 or 1."""
        squares, cubes = (self.weights**power @ self.table.T for power in (2, 3))
        exact: Floats = cubes - self.groups * (3.0 * squares - 2.0)
        return exact

    @cached_property
    def reach(self) -> tuple[Floats, Floats]:
        """How far over its mean, which is 1 in a group and 0 outside, and how far under it, one
        report can move each estimate.
        """
        possible = (self.table > 0.0).astype(np.float64)
        own, others = (chosen @ possible > 0.0 for chosen in (self.groups, 1.0 - self.groups))
        above: Floats = np.where(others, self.weights, self.weights - 1.0).max(axis=1, initial=0.0)
        below: Floats = np.where(own, 1.0 - self.weights, -self.weights).max(axis=1, initial=0.0)
        return above, below

    def rows(self, people: int, seen: Ints) -> Rows:
        """The estimates from how often each report was ``seen``, and their noise, for the people as
        they are estimated to be spread.

        The variance is linear in the people, so unbiased estimates of them, negative ones too, give
        an unbiased one of it; were they cut off at 0, people who crowd in one place would seem to
        be spread over many, which hides the error that crowds have. No people have less than the
        least. With few people in a place the variance is uncertain, and too small just where the
        estimate is off: the noise, of which limits are made, has a standard error of it more. Where
        single reports can move the estimate too far for a normal law, a bound stands in.
        """
        from shuffledp.mechanisms.exact_limits import Deviations
        from shuffledp.mechanisms.rows import Weighted, widest_gap

        values: Floats = self.weights @ seen
        held, adding = self.inverse @ seen, self.variances @ self.inverse
        variance = np.maximum(adding @ seen, people * self.variances.min(axis=1))
        doubt = np.sqrt(np.maximum(adding**2 @ seen - (adding @ seen) ** 2 / max(people, 1), 0.0))
        skew = np.divide(self.thirds @ held, variance, out=np.zeros_like(values), where=variance > 0.0)
        inside = self.groups > 0.0
        own, others = (np.where(chosen, self.variances, 0.0).max(axis=1) for chosen in (inside, ~inside))
        bounds = Deviations(people, own, others, *self.reach)
        error, base, grain = np.sqrt(variance), variance + doubt, widest_gap(self.weights)
        return Weighted(values, error, base, grain, skew, deviations=bounds)
