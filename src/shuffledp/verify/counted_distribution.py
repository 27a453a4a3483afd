"""People below cut points, and quantiles, from the votes and from definitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np

from shuffledp.judge.fakes import CountedFakes
from shuffledp.judge.lattice import UNIT, Array
from shuffledp.judge.laws import CountedLaw, CountedLevels
from shuffledp.judge.rows import FEW, CountedTree, Estimated, bernstein, counted_groups, score

__all__ = ["below_error", "counted_bins", "in_bins_of", "quantile_bins", "swayed_bins"]

Group = tuple[int, int]
LEVELS_ROUND = 1e-9  # of a standard error: what solving equations in floats may lose


def counted_bins(votes: Sequence[int], groups: Sequence[Group], n: int, law: CountedLaw) -> Estimated:
    """How many of n people are in each group of bins, from its first one to before its second."""
    if isinstance(law, CountedLevels):
        return _by_levels(votes, groups, law)
    if isinstance(law, CountedTree):
        return law.in_groups(votes, groups, n)
    parts, values, errors = [], [], []
    for first, end in groups:
        size, seen = end - first, sum(votes[first:end])
        turned = 2 * size > law.k
        if turned:
            size, seen = law.k - size, sum(votes) - seen
        value, error, limits = counted_groups([seen], size, n, law)
        values.append(n - float(value[0]) if turned else float(value[0]))
        errors.append(float(error[0]))
        parts.append((turned, limits))

    def spread(tail: float) -> tuple[Array, Array]:
        low, high = np.zeros(len(parts)), np.zeros(len(parts))
        for place, (turned, limits) in enumerate(parts):
            least, most = (float(end[0]) for end in limits(tail))
            low[place], high[place] = (n - most, n - least) if turned else (least, most)
        return low, high

    return Estimated(np.array(values), np.array(errors), spread, math.sqrt(UNIT * n))


def _weights(groups: Sequence[Group], law: CountedLevels) -> tuple[Array, Array, Array]:
    """What a report of each node adds to each count, the law of the reports, and the groups."""
    laws = np.array([[float(each) for each in row] for row in law.rows])
    inside = np.array([[float(first <= bin_ < end) for bin_ in range(law.k)] for first, end in groups])
    root = np.sqrt(laws.sum(axis=0))
    # the pseudo-inverse of the weighted equations is weighted least squares
    weights = inside @ np.linalg.pinv((laws / root).T) / root
    return weights, laws, inside


def _by_levels(votes: Sequence[int], groups: Sequence[Group], law: CountedLevels) -> Estimated:
    """Weighted least squares over all levels; variance and third moment of each person's report."""
    n, seen = sum(votes), np.array(votes, dtype=np.float64)
    weights, laws, inside = _weights(groups, law)
    values = weights @ seen
    bins = _weights([(at, at + 1) for at in range(law.k)], law)[0]
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
    rounding = math.sqrt(UNIT * n) + LEVELS_ROUND * float(errors.max(initial=0.0))
    return Estimated(values, errors, limits, rounding)


def swayed_bins(groups: Sequence[Group], law: CountedLaw) -> Array:
    """By how much a report can move each count: its largest weight less its smallest."""
    if isinstance(law, CountedLevels):
        weights = _weights(groups, law)[0]
        return np.asarray(weights.max(axis=1) - weights.min(axis=1))
    if isinstance(law, CountedTree):
        return law.sway(groups)
    return np.full(len(groups), float(law.messages / (law.hit - law.miss)))


def below_error(law: CountedLaw, n: int) -> float:
    """The largest error of the count below any cut point, with the n people spread evenly."""
    if isinstance(law, CountedLevels):
        weights, laws, inside = _weights([(0, end) for end in range(1, law.k)], law)
        each = weights**2 @ laws.T - inside
        return math.sqrt(float((each.mean(axis=1) * n).max()))
    if isinstance(law, CountedTree):
        return float(law.in_groups([0] * law.places, [(0, end) for end in range(1, law.k)], n).errors.max())
    worst = Fraction(0)
    for size in range(1, law.k // 2 + 1):
        hit, miss, held = law.hit + (size - 1) * law.miss, size * law.miss, Fraction(n * size, law.k)
        fakes = law.moments(n, size)[1] if isinstance(law, CountedFakes) else Fraction(0)
        votes = held * hit * (1 - hit) + (n - held) * miss * (1 - miss) + fakes
        worst = max(worst, votes / (law.hit - law.miss) ** 2)
    return math.sqrt(worst)


def quantile_bins(at: float, low: Array, high: Array, n: int, slack: Array) -> tuple[set[int], set[int]]:
    """The first and the last bin that the ``at``-quantile may lie in: those that the limits leave,
    and those that limits would leave which are off by at most ``slack``.
    """
    wanted = at * n
    first, last = set[int](), set[int]()
    for sign in (-1.0, 0.0, 1.0):
        highest, lowest = [*(high + sign * slack), float(n)], [0.0, *(low + sign * slack)]
        first.add(next(bin_ for bin_, people in enumerate(highest) if people >= wanted))
        last.add(max(bin_ for bin_, people in enumerate(lowest) if people < wanted))
    return first, last


def in_bins_of(value: float, cuts: Sequence[float], values: Array, n: int) -> float:
    """How many people are below ``value``, by the estimates made monotone, half-way between the
    largest so far and the smallest from there on, and straight lines between cut points.
    """
    so_far, from_there = accumulate(values, max), reversed(list(accumulate(reversed(values), min)))
    people = [min(max((most + least) / 2.0, 0.0), float(n)) for most, least in zip(so_far, from_there, strict=True)]
    return float(np.interp(value, cuts, [0.0, *people, float(n)]))
