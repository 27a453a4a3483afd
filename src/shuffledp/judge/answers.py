"""What votes say of people, whichever the law: in groups of places, in bins, and of a number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from shuffledp.judge.lattice import UNIT, Array
from shuffledp.judge.laws import CountedLaw, CountedLevels
from shuffledp.judge.rows import (
    FEW,
    SOLVED,
    CountedTree,
    Estimated,
    bernstein,
    counted_groups,
    counted_mean,
    counted_people,
    score,
)
from shuffledp.judge.shares import CountedShares

Bins = tuple[int, int]


@dataclass(eq=False)
class Answers:
    """What the ``votes`` of so many ``reports`` say, and in blocks how many were cast."""

    law: CountedLaw
    votes: Sequence[int]
    blocks: Sequence[int]
    reports: int

    @property
    def moved(self) -> float | None:
        """How far one report moves the count of a value; None without a limit."""
        law = self.law
        if isinstance(law, CountedShares):
            return law.influence(1.0)
        return float(2 / law.hit if law.signed else law.messages / (law.hit - law.miss))

    def people(self, places: Sequence[int]) -> Estimated:
        """How many hold the values in these places, with votes in this order."""
        return counted_people(self.votes, self.blocks, places, self.reports, self.law)

    def number(self, bounds: tuple[float, float], times: int = 1) -> Estimated:
        """``times`` the mean of numbers between these bounds; a count is a sum of 0 and 1."""
        law, reports = self.law, self.reports
        if not isinstance(law, CountedShares):
            return counted_mean(self.votes, law, bounds, times)
        lower, upper = map(Fraction, bounds)
        step = (upper - lower) * times / ((law.k - 1) * reports)  # of the grid, in the answer
        return law.estimated(self.votes, reports, float(lower * times), float(step))

    def groups(self, groups: Sequence[Sequence[int]]) -> Estimated:
        """How many hold one of the values in the places of each group; groups of one size go
        together.
        """
        sizes, cast = list(map(len, groups)), [sum(self.votes[place] for place in group) for group in groups]
        parts = {size: [at for at, each in enumerate(sizes) if each == size] for size in dict.fromkeys(sizes)}
        found = [
            counted_groups([cast[each] for each in at], size, self.reports, self.law) for size, at in parts.items()
        ]

        def gathered(columns: Iterable[Array]) -> Array:
            column = np.zeros(len(groups))
            for at, numbers in zip(parts.values(), columns, strict=True):
                column[at] = numbers
            return column

        def limits(tail: float) -> tuple[Array, Array]:
            low, high = zip(*(ends(tail) for *_, ends in found), strict=True)
            return gathered(low), gathered(high)

        values, errors, _ = zip(*found, strict=True)
        return Estimated(gathered(values), gathered(errors), limits, math.sqrt(UNIT * self.reports))

    def bins(self, groups: Sequence[Bins]) -> Estimated:
        """How many are in each group of bins, from its first one to before its second: of more
        than half of the bins, all who are not in the others.
        """
        n, law = self.reports, self.law
        if isinstance(law, CountedLevels):
            return _by_levels(self.votes, groups, law)
        if isinstance(law, CountedTree):
            return law.in_groups(self.votes, groups, n)
        turned = np.array([2 * (end - first) > law.k for first, end in groups])
        sides = [
            [*range(first), *range(end, law.k)] if out else range(first, end)
            for out, (first, end) in zip(turned, groups, strict=True)
        ]
        found = self.groups(sides)

        def limits(tail: float) -> tuple[Array, Array]:
            low, high = found.limits(tail)
            return np.where(turned, n - high, low), np.where(turned, n - low, high)

        return Estimated(np.where(turned, n - found.values, found.values), found.errors, limits, found.rounding)

    def moved_bins(self, groups: Sequence[Bins]) -> Array:
        """How far one report moves each count of bins: its largest weight less its smallest."""
        law = self.law
        if isinstance(law, CountedLevels):
            return np.asarray(np.ptp(bin_weights(groups, law)[0], axis=1))
        if isinstance(law, CountedTree):
            return law.influence(groups)
        return np.full(len(groups), float(law.messages / (law.hit - law.miss)))


def bin_weights(groups: Sequence[Bins], law: CountedLevels) -> tuple[Array, Array, Array]:
    """What a report of each node adds to each count, the law of the reports, and the groups."""
    laws = np.array([[float(each) for each in row] for row in law.rows])
    inside = np.array([[float(first <= bin_ < end) for bin_ in range(law.k)] for first, end in groups])
    root = np.sqrt(laws.sum(axis=0))
    # the pseudo-inverse of the weighted equations is weighted least squares
    weights = inside @ np.linalg.pinv((laws / root).T) / root
    return weights, laws, inside


def _by_levels(votes: Sequence[int], groups: Sequence[Bins], law: CountedLevels) -> Estimated:
    """Weighted least squares over all levels; variance and third moment of each person's report."""
    n, seen = sum(votes), np.array(votes, dtype=np.float64)
    weights, laws, inside = bin_weights(groups, law)
    values = weights @ seen
    bins = bin_weights([(at, at + 1) for at in range(law.k)], law)[0]
    held = bins @ seen
    means = weights @ laws.T
    each = (weights**2 @ laws.T) - means**2
    thirds = weights**3 @ laws.T - 3.0 * means * (weights**2 @ laws.T) + 2.0 * means**3
    each = np.maximum(each, 0.0)
    variance, skewed = np.maximum(each @ held, n * each.min(axis=1)), thirds @ held
    skew = np.divide(skewed, variance, out=np.zeros_like(values), where=variance > 0.0)
    own, others = (np.where(chosen, each, 0.0).max(axis=1) for chosen in (inside == 1.0, inside == 0.0))
    above, below = weights.max(axis=1), 1.0 - weights.min(axis=1)
    # the variance is uncertain as well: a standard error of it more, for the limits
    parts = each @ bins
    uncertain = variance + np.sqrt(np.maximum(parts**2 @ seen - (parts @ seen) ** 2 / max(n, 1), 0.0))
    few = uncertain / np.maximum(above, below) ** 2 < FEW
    # from the weight of one report to the next larger one, at most
    half = np.array([max(b - a for a, b in pairwise(sorted(row))) / 2.0 for row in weights])

    def limits(tail: float) -> tuple[Array, Array]:
        low, high = score(values, uncertain, np.zeros_like(values), skew, tail, half)
        strength, here = -math.log(tail), n * others + (own - others) * values
        over, under = (
            bernstein(here, reach / 3.0 + sign * (own - others), strength)
            for reach, sign in ((above, -1.0), (below, 1.0))
        )
        low, high = np.where(few, values - over, low), np.where(few, values + under, high)
        return np.minimum(low, values), np.maximum(high, values)

    errors = np.sqrt(variance)
    rounding = math.sqrt(UNIT * n) + SOLVED * float(errors.max(initial=0.0))
    return Estimated(values, errors, limits, rounding)
