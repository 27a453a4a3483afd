"""Estimates, standard errors and limits from the votes, by fractions and from definitions:
confidence limits are the counts that a test does not reject, found by halving.

*Dummies in all levels of a tree, from the whole numbers in a record: how people spread over bins,
by least squares on all nodes at once, and how far that may be off.*
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from shuffledp.judge.effort import MOST_STRAY_VOTES, TooLarge
from shuffledp.judge.fakes import CountedFakes
from shuffledp.judge.lattice import UNIT, Array
from shuffledp.judge.laws import CountedLaw

HALVINGS = 80  # more than floats have digits


def score(
    values: Array, base: Array, slope: Array, skew: Array, tail: float, half: float | Array = 0.0
) -> tuple[Array, Array]:
    """Where |values - c - shift| = z sqrt(base + slope c) + half: the normal test, its shift the
    first Cornish-Fisher term, and half of what two neighboring numbers of votes differ in.
    """
    z = -float(ndtri(tail))
    ends = []
    for side in (-1.0, 1.0):
        centre = values - (z * z - 1.0) / 6.0 * skew + side * half

        def inside(c: Array, centre: Array = centre) -> NDArray[np.bool_]:
            return np.asarray((centre - c) ** 2 <= z * z * (base + slope * c))

        far = 4.0 * z * np.sqrt(np.abs(base) + np.abs(slope * centre)) + 4.0 * (z * slope) ** 2 + 1.0
        turn = centre + z * z * slope / 2.0  # the middle of the parabola's roots: inside, if any point is
        good, bad = turn.copy(), turn + side * far
        for _ in range(HALVINGS):
            middle = 0.5 * (good + bad)
            kept = inside(middle) & inside(turn)
            good, bad = np.where(kept, middle, good), np.where(kept, bad, middle)
        ends.append(good)
    return np.minimum(ends[0], values), np.maximum(ends[1], values)


def rare(votes: int, n: int, hit: float, miss: float, tail: float) -> tuple[float, float]:
    """The least count c with P(S >= votes) > tail and the largest with P(S <= votes) > tail, for S
    = Bin(c, hit) + Bin(n - c, miss).

    >>> rare(1, 6, 0.787, 0.1065, 0.025)
    (0.0, 4.0)
    """
    if hit + miss > 1.0:  # whoever does not vote for it is rarer
        low, high = rare(n - votes, n, 1.0 - miss, 1.0 - hit, tail)
        return n - high, n - low
    return among(votes, n, hit, miss, (0, np.ones(1)), tail)


def rare_signed(votes: int, cast: int, n: int, hit: float, tail: float) -> tuple[float, float]:
    """Votes for and against, as Hadamard response casts them: limits for how many of the ``cast``
    votes are the holders', then for the holders.
    """
    from scipy.stats import binom

    against, half = (cast - votes) // 2, tail / 2.0
    least = _first(lambda noise: float(binom.sf(against - 1, noise, 0.5)) > half, cast)
    most = _first(lambda noise: float(binom.sf(against, noise, 0.5)) >= 1.0 - half, cast + 1) - 1
    own = cast - min(least, cast)
    held = _first(lambda c: float(binom.sf(own, c, hit)) >= 1.0 - half, n + 1) - 1
    return float(cast - max(most, 0)), float(max(held, 0))


def among(votes: int, n: int, hit: float, miss: float, fakes: tuple[int, Array], tail: float) -> tuple[float, float]:
    """The same as ``rare`` where a number of fakes is among the votes: its first value, and the
    chances of that one and the next.

    >>> among(9, 20, 1.0, 0.0, (2, np.array([0.25, 0.5, 0.25])), 0.1)
    (5.0, 7.0)
    """
    from scipy.stats import binom  # slow to import, and needed where votes are few only

    first, chances = fakes
    most = MOST_STRAY_VOTES * (100 if len(chances) > 1 else 1)

    def beyond(c: int, least: int) -> float:
        """P(S >= least), but for 1e-16 of stray votes (Bernstein)."""
        mean = (n - c) * miss
        reach = 9.0 * math.sqrt(mean)
        stray = np.arange(max(0, math.floor(mean - reach)), min(n - c, math.ceil(mean + reach + 40.0)) + 1)
        if not len(stray) * len(chances) < most:
            raise TooLarge(f"{len(stray)} stray votes are too many to be summed over")
        numbers = np.convolve(binom.pmf(stray, n - c, miss), chances)
        start = first + int(stray[0])
        return float(numbers @ binom.sf(least - start - np.arange(len(numbers)) - 1, c, hit))

    low = _first(lambda c: beyond(c, votes) > tail, n)
    high = _first(lambda c: beyond(c, votes + 1) >= 1.0 - tail, n + 1) - 1
    return float(low), float(max(high, 0))


def bernstein(variance: Array, linear: Array, strength: float) -> Array:
    """The largest t with t^2 / (2 (variance + linear t)) at most the strength."""
    middle = strength * linear
    return np.asarray(middle + np.sqrt(np.maximum(middle**2 + 2.0 * strength * variance, 0.0)))


def _first(fits: Callable[[int], bool], most: int) -> int:
    """The first number from 0 on that fits, as do all later ones; at most ``most``."""
    low, high = 0, most
    for _ in range(math.ceil(math.log2(most + 2)) + 1):
        if low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if fits(middle) else (middle + 1, high)
    return low


SHARP = 1e-7  # of a standard error
LAST_DIGITS = 1e-12  # relative
TIE = 1e-9  # 200 votes that are coins vary by 50: what is less by rounding alone is not less
FEW, MANY = 3 - TIE, 50 - TIE  # variances of votes below which the exact law is inverted instead of a normal one
HARDLY_ONE = 2 - TIE  # random reports on average, below which the variance of a mean cannot be told
ROUNDING = Fraction(1, 4)  # of a grid step, squared: every number may lie half-way between two points

Limits = Callable[[float], tuple[Array, Array]]


@dataclass(frozen=True, slots=True, eq=False)
class Estimated:
    """Estimates, errors, limits at any tail; ``rounding`` is lost of a standard error."""

    values: Array
    errors: Array
    limits: Limits
    rounding: float

    @property
    def within(self) -> Array:
        """How close a claim must come."""
        return np.asarray(SHARP * np.maximum(self.errors, 1e-300) + LAST_DIGITS * np.abs(self.values))


def counted_people(
    votes: Sequence[int], blocks: Sequence[int], places: Sequence[int], reports: int, law: CountedLaw
) -> Estimated:
    """How many people hold the values in these places; like ones are computed once."""
    if isinstance(law, CountedFakes):
        return Estimated(*_among_fakes(votes, 1, reports, law), math.sqrt(UNIT * reports))
    signed = law.signed
    rows = law.blocks[1] - 1 if signed else 1
    kinds = [(vote, place // rows if signed else 0) for vote, place in zip(votes, places, strict=True)]
    order = {kind: at for at, kind in enumerate(dict.fromkeys(kinds))}
    again = np.array([order[kind] for kind in kinds], dtype=np.intp)
    distinct = [vote for vote, _ in order]
    if signed:
        starts = [block * rows for _, block in order]
        values, errors, limits = signed_counts(distinct, blocks, starts, reports, law)
    else:
        values, errors, limits = counts(distinct, reports, law.hit, law.miss)

    def spread(tail: float) -> tuple[Array, Array]:
        low, high = limits(tail)
        return low[again], high[again]

    return Estimated(values[again], errors[again], spread, math.sqrt(UNIT * reports))


def counted_groups(votes: Sequence[int], size: int, n: int, law: CountedLaw) -> tuple[Array, Array, Limits]:
    """How many people hold a value of groups of ``size`` values each, from the votes for each."""
    hit, miss = law.hit + (size - 1) * law.miss, size * law.miss
    if isinstance(law, CountedFakes):
        return _among_fakes(votes, size, n, law)
    return counts(list(votes), n, hit, miss)


def _among_fakes(votes: Sequence[int], size: int, people: int, law: CountedFakes) -> tuple[Array, Array, Limits]:
    """With c holders the votes are Bin(c, hit) + Bin(n - c, miss), and fakes."""
    hit, miss = law.hit + (size - 1) * law.miss, size * law.miss
    contrast, (mean, spread) = hit - miss, law.moments(people, size)
    distinct, again = np.unique(np.array(votes, dtype=np.int64), return_inverse=True)
    values = [(each - people * miss - mean) / contrast for each in distinct.tolist()]
    held = [min(max(each, Fraction(0)), Fraction(people)) for each in values]
    own, other = hit * (1 - hit), miss * (1 - miss)
    errors = np.sqrt(_floats([(c * own + (people - c) * other + spread) / contrast**2 for c in held]))
    fakes, found = law.fakes(people, size), _floats(values)

    def limits(tail: float) -> tuple[Array, Array]:
        ends = [among(vote, people, float(hit), float(miss), fakes, tail) for vote in distinct.tolist()]
        low, high = np.array(ends).T
        return np.minimum(low, found)[again], np.maximum(high, found)[again]

    return found[again], errors[again], limits


def counted_mean(votes: Sequence[int], law: CountedLaw, bounds: tuple[float, float], times: int = 1) -> Estimated:
    """Grid points 0, 1/k, ..., 1 and the chance ``gamma`` of a uniformly random one (Balle et al.
    2019, Algorithm 2); of a sum, ``times`` as much.
    """
    lower, upper = (times * Fraction(each) for each in bounds)
    k, reports = law.k - 1, sum(votes)
    gamma, kept = law.k * law.miss, law.hit - law.miss
    points = [Fraction(i, k) for i in range(law.k)]
    total = (sum(v * y for v, y in zip(votes, points, strict=True)) - reports * gamma / 2) / kept
    noise, rounded = gamma * (k + 2) / (12 * k), reports * ROUNDING / k**2
    half = Fraction(1, 2)
    spread = (sum(v * (y - half) ** 2 for v, y in zip(votes, points, strict=True)) - reports * noise) / kept - rounded
    spread = min(max(spread, Fraction(0)), Fraction(reports, 4))
    variance = (kept * (rounded + gamma * spread) + reports * noise) / kept**2
    width = float(upper - lower)
    value, error = lower + (upper - lower) * total / reports, math.sqrt(variance) * width / reports

    def limits(tail: float) -> tuple[Array, Array]:
        unit = width / (reports * float(kept))  # what a report can move
        reach = -float(stdtrit(max(reports - 1, 1), tail)) * error + unit / (2 * k)
        if reports * gamma < HARDLY_ONE:
            most = float(reports * worst_of_mean(k, gamma)) * unit**2
            reach = float(bernstein(np.array([most]), np.array([unit / 3.0]), -math.log(tail))[0])
        return np.array([float(value) - reach]), np.array([float(value) + reach])

    return Estimated(np.array([float(value)]), np.array([error]), limits, math.sqrt(UNIT * reports) * width / reports)


def counts(votes: list[int], n: int, hit: Fraction, miss: Fraction) -> tuple[Array, Array, Limits]:
    """With c holders the votes are Bin(c, hit) + Bin(n - c, miss)."""
    contrast = hit - miss
    own, other = hit * (1 - hit), miss * (1 - miss)
    values = [(each - n * miss) / contrast for each in votes]
    held = [min(max(each, Fraction(0)), Fraction(n)) for each in values]
    variances = [c * own + (n - c) * other for c in held]
    thirds = [c * own * (1 - 2 * hit) + (n - c) * other * (1 - 2 * miss) for c in held]
    base = np.full(len(votes), float(n * other / contrast**2))
    slope = np.full(len(votes), float((own - other) / contrast**2))
    skew = _floats([third / (variance * contrast) for third, variance in zip(thirds, variances, strict=True)])
    few = [variance < MANY for variance in variances]
    half = float(1 / contrast) / 2.0
    known: dict[tuple[int, float], tuple[float, float]] = {}

    def limits(tail: float) -> tuple[Array, Array]:
        low, high = score(_floats(values), base, slope, skew, tail, half)
        for place in np.flatnonzero(few).tolist():
            if (votes[place], tail) not in known:
                known[votes[place], tail] = rare(votes[place], n, float(hit), float(miss), tail)
            low[place], high[place] = known[votes[place], tail]
        return np.minimum(low, _floats(values)), np.maximum(high, _floats(values))

    return _floats(values), np.sqrt(_floats([variance / contrast**2 for variance in variances])), limits


def signed_counts(
    votes: list[int], blocks: Sequence[int], places: list[int], n: int, law: CountedLaw
) -> tuple[Array, Array, Limits]:
    """Hadamard response: in a block all holders vote for a value, others either way."""
    hit, (count, columns) = law.hit, law.blocks
    rows = columns - 1
    where = [place // rows for place in places]
    cast = [int(blocks[block]) for block in where]
    alone = [min(law.k, (block + 1) * rows) - block * rows == 1 for block in where]
    far = (1 - hit) / count
    values = [each / hit for each in map(Fraction, votes)]
    held = [min(max(each, Fraction(0)), Fraction(n)) for each in values]
    stray = [
        n * far if only else max(total - c * hit, Fraction(0)) for only, total, c in zip(alone, cast, held, strict=True)
    ]
    variances = [c * hit * (1 - hit) + rest for c, rest in zip(held, stray, strict=True)]
    thirds = [c * hit * (1 - 3 * (hit + far) + 2 * hit**2) for c in held]
    bases = [(n * far if only else Fraction(total)) / hit**2 for only, total in zip(alone, cast, strict=True)]
    slopes = [(1 - hit) / hit if only else Fraction(-1) for only in alone]
    skew = _floats(
        [
            third / (variance * hit) if variance else Fraction(0)
            for third, variance in zip(thirds, variances, strict=True)
        ]
    )
    few = []
    for base, slope, c in zip(bases, slopes, held, strict=True):
        there, nobody = max(base + slope * c, Fraction(0)) * hit**2, max(base, Fraction(0)) * hit**2
        few.append(there < FEW or (nobody < FEW and there < MANY))  # too few for a normal law

    def limits(tail: float) -> tuple[Array, Array]:
        half = float(1 / hit)  # of the votes cast, for and against change together
        low, high = score(_floats(values), _floats(bases), _floats(slopes), skew, tail, half)
        for place in np.flatnonzero(few).tolist():
            low[place], high[place] = rare_signed(votes[place], cast[place], n, float(hit), tail)
        return np.minimum(low, _floats(values)), np.maximum(high, _floats(values))

    return _floats(values), np.sqrt(_floats(variances)) / float(hit), limits


def worst_of_mean(k: int, gamma: Fraction) -> Fraction:
    """The largest variance of one report about a number: in the outermost cell of the grid, at the
    top of a parabola in the number's place f between two points.
    """
    f = min(max((1 - gamma * k) / (2 * (1 - gamma)), Fraction(0)), Fraction(1))
    rounded, far = f * (1 - f) / k**2, (f / k - Fraction(1, 2)) ** 2
    return (1 - gamma) * (rounded + gamma * far) + gamma * (k + 2) / (12 * k)


def _floats(numbers: list[Fraction]) -> Array:
    return np.array([float(each) for each in numbers])


TREE = "tree"
MOST_LEVELS, MOST_BINS = 16, 1 << 12
SOLVED = 1e-9  # of a standard error: what solving equations in floats may lose


@dataclass(frozen=True)
class CountedTree(CountedFakes):
    """A law of ``tree``: a node of every level is named, and every node gets dummies."""

    def _sound(self) -> bool:
        levels, branches = self.own["levels"], self.own["branches"]
        whole = type(levels) is int and type(branches) is int and 1 <= levels <= MOST_LEVELS and branches >= 2
        shaped = whole and self.k <= MOST_BINS and branches ** (levels - 1) < self.k
        return shaped and self.epsilon0 == math.inf and super()._sound()

    @property
    def repeats(self) -> int:
        return int(self.own["levels"])

    @property
    def messages(self) -> int:
        return self.repeats

    @property
    def widths(self) -> list[int]:
        """How many bins a node of each level holds."""
        return [int(self.own["branches"]) ** (self.repeats - level) for level in range(1, self.repeats + 1)]

    @property
    def places(self) -> int:
        return sum(-(-self.k // width) for width in self.widths)

    @property
    def theorems(self) -> tuple[tuple[str, ...], ...]:
        return ((TREE,),)

    @cached_property
    def holding(self) -> Array:
        """Which node, a row, holds which bin."""
        rows = []
        for width in self.widths:
            for first in range(0, self.k, width):
                rows.append([float(first <= bin_ < first + width) for bin_ in range(self.k)])
        return np.array(rows)

    @cached_property
    def _solved(self) -> Array:
        """What all nodes say of every bin but the last, which has everybody else."""
        return np.asarray(np.linalg.pinv(self.holding[:, :-1] - self.holding[:, -1:]))

    def weights(self, groups: Sequence[tuple[int, int]]) -> Array:
        """What the count of each node adds to that of each group of bins."""
        inside = np.array([[float(first <= bin_ < end) for bin_ in range(self.k)] for first, end in groups])
        return np.asarray((inside[:, :-1] - inside[:, -1:]) @ self._solved)

    def in_groups(self, votes: Sequence[int], groups: Sequence[tuple[int, int]], n: int) -> Estimated:
        """How many of n people are in each group of bins, from its first to before its second."""
        weights, last = self.weights(groups), np.array([float(end == self.k) for _, end in groups])
        first, chances = self.table
        counts = first + np.arange(len(chances)) - float(self.moments(n)[0])
        over = np.array(votes, dtype=np.float64) - float(self.moments(n)[0]) - n * self.holding[:, -1]
        values = weights @ over + n * last
        second, third, fourth = (float(counts**power @ chances) for power in (2, 3, 4))
        variance = second * (weights**2).sum(axis=1)
        errors = np.sqrt(variance)
        lean = third * (weights**3).sum(axis=1) / variance
        heavy = (fourth - 3.0 * second**2) * (weights**4).sum(axis=1) / variance**2
        step = np.abs(weights).max(axis=1)

        def limits(tail: float) -> tuple[Array, Array]:
            """Cornish and Fisher's expansion, and half a step of the noise."""
            z = float(ndtri(1.0 - tail))
            bent = heavy * (z**3 - 3.0 * z) / 24.0 - (lean / errors) ** 2 * (2.0 * z**3 - 5.0 * z) / 36.0
            far, aside = errors * (z + np.maximum(bent, 0.0)) + step / 2.0, lean * (z * z - 1.0) / 6.0
            return np.minimum(values - aside - far, values), np.maximum(values - aside + far, values)

        return Estimated(values, errors, limits, math.sqrt(UNIT * n) + SOLVED * float(errors.max(initial=0.0)))

    def influence(self, groups: Sequence[tuple[int, int]]) -> Array:
        """All messages of one person may name the node that counts most, or least."""
        return np.asarray(self.messages * np.ptp(self.weights(groups), axis=1))
