"""Of those in a group of cells, which share is in one of them: the shares that a test does not
reject.

With g people in the group and a share r of them in the cell, the votes weighted by 1 - r for the
cell, -r for the rest of its group and 0 elsewhere have the mean 0 once debiased, whatever g is
(Fieller 1954). Each person's report is one of three things, so their variance and third moment *at
this r* are exact, but for g, which is estimated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from shuffledp._types import Floats
from shuffledp.mechanisms.estimate import check_level
from shuffledp.mechanisms.fakes import Faked
from shuffledp.mechanisms.mechanism import Mechanism
from shuffledp.mechanisms.results import Tally
from shuffledp.mechanisms.rows import FEW
from shuffledp.randomizers.randomizer import GroupLaw
from shuffledp.workload import Each, Groups

HALVINGS = 50  # as many as floats have digits


class Shares(NamedTuple):
    """Of those in a group, the share that is in each of its cells, cell by cell; ``known`` is false
    where too few are in the group to say anything, and the numbers there mean nothing.

    ``lower`` to ``upper`` covers the share of each by itself; ``all_lower`` to ``all_upper`` follow
    from the intervals of all counts at once, and hold together with them.
    """

    known: NDArray[np.bool_]
    values: Floats
    lower: Floats
    upper: Floats
    all_lower: Floats
    all_upper: Floats


def shares(mechanism: Mechanism, tally: Tally, sizes: Sequence[int], axis: int, *, level: float = 0.95) -> Shares:
    """Of those in each group of one column of a table with so many categories in each, the share in
    each cell.

    The interval holds the shares that a test does not reject. Where votes are too few for a normal
    law, the ends are those that intervals for both counts allow.
    """
    tail = (1.0 - check_level(level)) / 2.0
    together = tail / (prod(size + 1 for size in sizes) - 1)
    group = np.unravel_index(np.arange(prod(sizes)), sizes)[axis]
    part = mechanism.estimate(tally, Each(tuple(range(len(group)))))
    whole = mechanism.estimate(tally, Groups(tuple(range(sizes[axis])), group)).at(group)
    all_parts, all_wholes = part.limits(together), whole.limits(together)
    known = all_wholes.lower > 0.0

    def shared(counts: Floats, wholes: Floats) -> Floats:
        """Shares from 0 to 1; where nothing is known, nothing is divided by."""
        ends: Floats = np.clip(counts / np.where(known, wholes, 1.0), 0.0, 1.0)
        return ends

    values = shared(part.values, whole.values)
    few, (lower, upper) = known, (np.zeros_like(values), np.ones_like(values))
    if not isinstance(mechanism, Faked):
        cell, rest = (mechanism.law.group_law(size, tally.reports) for size in (1, len(group) // sizes[axis] - 1))
        test = ShareTest(part.values * len(tally.rounds), whole.values * len(tally.rounds), cell, rest, tally.reports)
        few, (lower, upper) = known & (test.variance(values) < FEW), test.limits(values, tail)
    if few.any():
        parts, wholes = part.limits(tail / 2.0), whole.limits(tail / 2.0)
        lower = np.where(few, shared(parts.lower, wholes.upper), lower)
        upper = np.where(few, shared(parts.upper, wholes.lower), upper)
    lower, upper = np.clip(lower, 0.0, values), np.clip(upper, values, 1.0)
    says = known & ~((lower <= 0.0) & (upper >= 1.0))
    all_lower, all_upper = shared(all_parts.lower, all_wholes.upper), shared(all_parts.upper, all_wholes.lower)
    return Shares(says, values, lower, upper, all_lower, all_upper)


@dataclass(frozen=True, slots=True, eq=False)
class ShareTest:
    """The test of a share, for each of several cells: their estimated counts, those of their groups
    of as many cells each, and the law of votes for a ``cell`` and for the ``rest`` of its group.
    """

    part: Floats
    whole: Floats
    cell: GroupLaw
    rest: GroupLaw
    people: int

    def limits(self, values: Floats, tail: float) -> tuple[Floats, Floats]:
        """The shares next to 0 and to 1 that are not rejected, looked for from ``values`` on."""
        z = -float(ndtri(tail))
        lower, upper = (self._last(values, np.full_like(values, end), z) for end in (0.0, 1.0))
        return lower, upper

    def variance(self, shares: Floats) -> Floats:
        """Of the weighted votes, in votes."""
        return self._moments(shares)[0]

    def _last(self, inside: Floats, end: Floats, z: float) -> Floats:
        inside, outside = np.where(self._fits(end, z), end, inside), end
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2.0
            fits = self._fits(middle, z)
            inside, outside = np.where(fits, middle, inside), np.where(fits, outside, middle)
        return inside

    def _fits(self, shares: Floats, z: float) -> NDArray[np.bool_]:
        """Whether the weighted votes are z standard deviations and half a vote from 0 at most; the
        shift is the first Cornish-Fisher term, as for counts.
        """
        variance, third = self._moments(shares)
        skew = np.divide(third, variance, out=np.zeros_like(third), where=variance > 0.0)
        votes = (self.part - shares * self.whole) * self.cell.contrast
        fits: NDArray[np.bool_] = np.abs(votes - (z * z - 1.0) / 6.0 * skew) <= z * np.sqrt(variance) + 0.5
        return fits

    def _moments(self, shares: Floats) -> tuple[Floats, Floats]:
        """The variance of the weighted votes, and their third central moment."""
        cell, rest, group = self.cell, self.rest, np.clip(self.whole, 0.0, self.people)
        variance, third = np.zeros_like(shares), np.zeros_like(shares)
        for held, own, other in (
            (shares * group, cell.hit, rest.miss),
            ((1.0 - shares) * group, cell.miss, rest.hit),
            (self.people - group, cell.miss, rest.miss),
        ):
            first, second, cubes = ((1.0 - shares) ** power * own + (-shares) ** power * other for power in (1, 2, 3))
            variance += held * (second - first**2)
            third += held * (cubes - 3.0 * first * second + 2.0 * first**3)
        return variance, third
