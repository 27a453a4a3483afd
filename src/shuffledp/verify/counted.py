"""A crosstab from its votes: cells, sums of cells, and shares within groups, by fractions and from
definitions; and the shares in a record, against the votes they were made of.
People below cut points, and quantiles, likewise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, combinations, pairwise, product
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from shuffledp.judge.fakes import CountedFakes
from shuffledp.judge.lattice import UNIT, Array
from shuffledp.judge.laws import CountedLaw, CountedLevels
from shuffledp.judge.rows import FEW, CountedTree, Estimated, bernstein, counted_groups, score
from shuffledp.record import Record
from shuffledp.record.question_kinds import CROSSTABS
from shuffledp.verify.outcomes import Check, agree, equal, holds

__all__ = [
    "SHARES",
    "SharesOfCells",
    "below_error",
    "check_shares",
    "counted_bins",
    "counted_table",
    "in_bins_of",
    "quantile_bins",
    "rows_of_table",
    "swayed_bins",
]

HALVINGS = 60  # as many as floats have digits
SHARES = ("value", "lower", "upper", "all_lower", "all_upper")

Group = tuple[int | None, ...]  # a category of each column, or None for all of them


def rows_of_table(sizes: Sequence[int]) -> list[Group]:
    """Every cell and every sum of cells, in the order in which a page lists them.

    >>> rows_of_table([2, 2])[3:6]
    [(1, 1), (0, None), (1, None)]
    """
    columns = range(len(sizes))
    rows: list[Group] = []
    for many in range(len(sizes), 0, -1):
        for kept in combinations(columns, many):
            rows += product(*(range(sizes[column]) if column in kept else [None] for column in columns))
    return rows


class _ShareTest(NamedTuple):
    """The test of a share r of a group of ``size`` cells: reports for the cell weigh 1 - r, those
    for the rest of its group -r, and others 0.
    """

    hit: float
    miss: float
    size: int
    people: int

    def few(self, part: float, whole: float) -> bool:
        """Whether the weighted votes vary too little for a normal law."""
        return whole <= 0.0 or self._central(_share(part / whole), whole)[0] < FEW

    def limits(self, part: float, whole: float, z: float) -> tuple[float, float]:
        """The last shares towards 0 and 1 that are not rejected, by halving."""

        def kept(r: float) -> bool:
            variance, third = self._central(r, whole)
            shift = (z * z - 1.0) / 6.0 * third / variance if variance > 0.0 else 0.0
            off = (part - r * whole) * (self.hit - self.miss) - shift
            return abs(off) <= z * math.sqrt(variance) + 0.5

        ends = []
        for end in (0.0, 1.0):
            inside, outside = (end if kept(end) else _share(part / whole)), end
            for _ in range(HALVINGS):
                middle = (inside + outside) / 2.0
                inside, outside = (middle, outside) if kept(middle) else (inside, middle)
            ends.append(inside)
        return ends[0], ends[1]

    def _central(self, r: float, whole: float) -> tuple[float, float]:
        """Variance and third central moment of the weighted votes of all people: those in the cell,
        in the rest of the group, and elsewhere.
        """
        group, others = min(max(whole, 0.0), float(self.people)), (self.size - 1) * self.miss
        variance = third = 0.0
        for held, own, rest in (
            (r * group, self.hit, others),
            ((1.0 - r) * group, self.miss, self.hit + others - self.miss),
            (self.people - group, self.miss, others),
        ):
            mean = (1.0 - r) * own - r * rest
            chances = ((1.0 - r, own), (-r, rest), (0.0, 1.0 - own - rest))
            variance += held * sum(chance * (weight - mean) ** 2 for weight, chance in chances)
            third += held * sum(chance * (weight - mean) ** 3 for weight, chance in chances)
        return variance, third


def counted_table(votes: Sequence[int], sizes: Sequence[int], reports: int, law: CountedLaw) -> Estimated:
    """How many people are in every cell, and in every group of cells that a page lists."""
    members = [_cells(row, sizes) for row in rows_of_table(sizes)]
    cast = [sum(votes[cell] for cell in cells) for cells in members]
    return _groups(cast, list(map(len, members)), reports, law)


class SharesOfCells:
    """Shares of cells within the groups of one column, each with two intervals; None where too few
    are in the group to say.
    """

    def __init__(
        self,
        votes: Sequence[int],
        sizes: Sequence[int],
        axis: int,
        reports: int,
        law: CountedLaw,
    ) -> None:
        rows = rows_of_table(sizes)
        cells = rows[: math.prod(sizes)]
        alike = [tuple(at if place == axis else None for place, at in enumerate(cell)) for cell in cells]
        groups = [_cells(group, sizes) for group in alike]
        together = [sum(votes[each] for each in group) for group in groups]
        many = list(map(len, groups))
        kinds = ((list(votes), [1] * len(cells)), (together, many))
        self._of = len(rows)
        self._part, self._whole = (_groups(cast, size, reports, law) for cast, size in kinds)
        self._test = _ShareTest(float(law.hit), float(law.miss), many[0], reports)
        among = isinstance(law, CountedFakes)  # whose votes have no normal law
        counted = zip(self._part.values.tolist(), self._whole.values.tolist(), strict=True)
        self._few = [among or self._test.few(part, total) for part, total in counted]

    def columns(self, level: float) -> dict[str, list[float | None]]:
        """The columns of the record."""
        tail = (1.0 - level) / 2.0
        nothing = (np.zeros(0), np.zeros(0))
        rare, common = (each.limits(tail / 2.0) if any(self._few) else nothing for each in (self._part, self._whole))
        all_rare, all_common = self._part.limits(tail / self._of), self._whole.limits(tail / self._of)
        rows: list[list[float | None]] = []
        for at in range(len(self._few)):
            rows.append([None] * len(SHARES))
            if not all_common[0][at] > 0.0:
                continue
            value = _share(self._part.values[at] / self._whole.values[at])
            if self._few[at]:
                lower, upper = _share(rare[0][at] / common[1][at]), _share(rare[1][at] / common[0][at])
            else:
                counted = float(self._part.values[at]), float(self._whole.values[at])
                lower, upper = self._test.limits(*counted, -float(ndtri(tail)))
            lower, upper = min(lower, value), max(upper, value)
            if lower > 0.0 or upper < 1.0:
                ends = _share(all_rare[0][at] / all_common[1][at]), _share(all_rare[1][at] / all_common[0][at])
                rows[-1] = [value, lower, upper, *ends]
        return {name: [row[place] for row in rows] for place, name in enumerate(SHARES)}


def _cells(group: Group, sizes: Sequence[int]) -> list[int]:
    """The places of the cells in a group, the last column changing fastest."""
    found = []
    for cell in product(*(range(size) if at is None else [at] for at, size in zip(group, sizes, strict=True))):
        place = 0
        for at, size in zip(cell, sizes, strict=True):
            place = place * size + at
        found.append(place)
    return found


def _groups(votes: Sequence[int], sizes: Sequence[int], reports: int, law: CountedLaw) -> Estimated:
    """How many people are in groups of so many cells, with so many votes."""
    parts = {size: [at for at, each in enumerate(sizes) if each == size] for size in dict.fromkeys(sizes)}
    found = {
        size: (places, counted_groups([votes[at] for at in places], size, reports, law))
        for size, places in parts.items()
    }

    def gathered(columns: Sequence[tuple[Sequence[int], Array]]) -> Array:
        column = np.zeros(len(votes))
        for places, numbers in columns:
            column[places] = numbers
        return column

    def limits(tail: float) -> tuple[Array, Array]:
        ends = [(places, each[2](tail)) for places, each in found.values()]
        return gathered([(at, low) for at, (low, _) in ends]), gathered([(at, high) for at, (_, high) in ends])

    values = gathered([(places, each[0]) for places, each in found.values()])
    errors = gathered([(places, each[1]) for places, each in found.values()])
    return Estimated(values, errors, limits, math.sqrt(UNIT * reports))


def _share(number: float) -> float:
    return float(min(max(number, 0.0), 1.0))


WITHIN = 1e-6  # of shares from 0 to 1
HOW = "the votes of cells and groups, as fractions; ends by halving"


def check_shares(record: Record, law: CountedLaw) -> list[Check]:
    """Every column of shares, and of which groups nothing is said; none where nobody asked."""
    claimed, question, by = record.estimates.shares, record.question, record.asked.by
    if by is None or record.question.type not in CROSSTABS:
        return [] if claimed is None else [holds("shares within groups", "some", "none", "what was asked", False)]
    if claimed is None or by not in question.columns:
        return [holds("shares within groups", by, "of a column of the design", "what was asked", False)]
    axis, sizes = question.columns.index(by), list(question.cells.sizes)
    of = SharesOfCells(record.tally.votes, sizes, axis, record.tally.reports, law)
    found = of.columns(record.estimates.level)
    checks = []
    for name in SHARES:
        said, mine = list(getattr(claimed, name)), found[name]
        silent, mute = ([at for at, each in enumerate(column) if each is None] for column in (said, mine))
        checks.append(equal(f"cells without a share, {name}", (len(said), silent), (len(mine), mute), HOW))
        told = [each for each in said if each is not None]
        checks.append(agree(f"shares, {name}", told, np.array([x for x in mine if x is not None]), HOW, within=WITHIN))
    return checks


Bins = tuple[int, int]
LEVELS_ROUND = 1e-9  # of a standard error: what solving equations in floats may lose


def counted_bins(votes: Sequence[int], groups: Sequence[Bins], n: int, law: CountedLaw) -> Estimated:
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


def _weights(groups: Sequence[Bins], law: CountedLevels) -> tuple[Array, Array, Array]:
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


def swayed_bins(groups: Sequence[Bins], law: CountedLaw) -> Array:
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
