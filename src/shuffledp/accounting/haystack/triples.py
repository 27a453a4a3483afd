"""The kinds of users beside a target whose report is a number plus noise: triples of two inputs and
a third, up to shifts, and what such a slot of the view looks like at most (theory, "The swap for
continuous reports").

The target holds a or b, another user v, all in [0, 1]. What this user's slot adds is the score G =
(mu_a - x mu_b) / mu_v at a draw from mu_v. Three facts reduce all triples to finitely many laws
that are above them in the increasing convex order:

1. *Farther apart is worse.* A triple stretched by a factor is above it, since the noise is
   self-decomposable. So the largest of the three distances may be taken to be 1: either a and b are
   at distance 1 and v lies between them, or v is at distance 1 from one and the other lies between.
2. *Less hay is worse.* If v lies in an interval, min(mu_low, mu_high) is below mu_v, for unimodal
   noise; what is missing of it is an empty slot.
3. *Spreading is worse.* Within a cell of outputs G lies between two values and has a known mean:
   put it on the two values, keeping the mean.

For the triples with v outside, let d = |a - b| be in an interval [d_1, d_0]: stretched by d_0 / d,
the target's inputs are at the distance d_0, and v at a distance between 1 and d_0 / d_1 from the
farther one. Inputs closer than some least d are told apart so badly by themselves that others need
not hide them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import islice, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx

from shuffledp._types import Floats
from shuffledp.accounting.haystack.contour import UNIT
from shuffledp.randomizers.location import ScaledNoise

Triple: TypeAlias = tuple[float, float, float, float]
Cell: TypeAlias = Callable[[float, float], tuple[Triple, float]]  # a place and a length -> the cell, and where it ends

ROUNDED = 256.0 * UNIT  # relative, of masses; times 1 + grain / length of the cell
MOST_KINDS = 240
CLOSENESS = (0.01, 0.03, 0.09, 0.27)  # how far a cell's variance may be above the largest
DEVIATIONS = (1.5, 3.8)  # of the sum, where kinds are compared
RAREST = 3.5  # deviations of the sum in one score: what is more is left out of the comparison
NEAREST = 0.2  # share of a deviation of the average score that two inputs may differ by unseen
LARGEST = 1e60  # ratios beyond are given up, and scores below the negative are raised to it
LEAST = 1e-280  # less hay is none
TOUCHING = 1e-9  # relative: borders so close are one
SHORTEST, LONGEST = 1e-3, 0.5  # lengths of intervals, relative
AHEAD = 8  # cells that are judged together
PLACES, LENGTHS = (1.0, 0.82, 0.64, 0.46, 0.28), tuple(0.1 / 2.0**i for i in range(6))  # where lengths are tried first


class SlotLaws(NamedTuple):
    """Kinds (rows) by scores: probabilities, which miss an empty slot of score 0, and the scores;
    and what is seen of the target in a slot without hay.
    """

    mass: Floats
    score: Floats
    seen: Floats

    def rows(self, chosen: NDArray[np.bool_]) -> SlotLaws:
        return SlotLaws(self.mass[chosen], self.score[chosen], self.seen[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """Triples: the target's two inputs, and the interval that holds the other person's."""

    randomizer: ScaledNoise
    one: Floats
    two: Floats
    low: Floats
    high: Floats
    nearest: float  # inputs of the target that are closer than this are not covered
    borders: Floats
    hay: Floats
    needle0: Floats
    needle1: Floats
    ratio0: Floats
    ratio1: Floats
    error: Floats
    tails: Floats
    seen: Floats

    @classmethod
    def of(cls, randomizer: ScaledNoise, triples: Sequence[Triple], nearest: float) -> Kinds:
        """The masses of all cells of outputs, and the ratios at their borders."""
        one, two, low, high = (np.array(column) for column in zip(*triples, strict=True))
        middle = 0.5 * (low + high)
        points = np.stack([one, two, low, high, middle])
        y = _snapped(randomizer.outputs(points), points)
        left, right = y[:, :-1], y[:, 1:]
        # Below the middle of its interval the law of the high end is the lesser one.
        other = np.where(left < middle[:, None], high[:, None], low[:, None])
        at = np.where(y < middle[:, None], high[:, None], low[:, None])
        with np.errstate(over="ignore"):
            ratio0, ratio1 = (np.exp(randomizer.log_shift(y, v[:, None], at)) for v in (one, two))
        needle0, needle1 = (randomizer.mass(left - v[:, None], right - v[:, None]) for v in (one, two))
        error = ROUNDED * (1.0 + randomizer.grain / np.maximum(right - left, ROUNDED * randomizer.grain))
        hay = randomizer.mass(left - other, right - other) * np.maximum(1.0 - 2.0 * error, 0.0)

        # Cells with hardly any hay are given up: what falls there is seen.
        huge = np.maximum(ratio0, ratio1) > LARGEST
        bare = (hay < LEAST) | huge[:, :-1] | huge[:, 1:]
        seen = np.where(bare, needle0, 0.0).sum(axis=1) * (1.0 + 1e-9)
        hay, needle0, needle1 = (np.where(bare, 0.0, masses) for masses in (hay, needle0, needle1))
        ratio0, ratio1 = np.minimum(ratio0, LARGEST), np.minimum(ratio1, LARGEST)
        infinite = np.full(one.size, np.inf)
        tails = np.stack(
            [
                np.stack([randomizer.mass(-infinite, y[:, 0] - v), randomizer.mass(y[:, -1] - w, infinite)])
                for v, w in ((high, low), (one, one))
            ]
        )
        return cls(
            randomizer, one, two, low, high, nearest, y, hay, needle0, needle1, ratio0, ratio1, error, tails, seen
        )

    @property
    def apart(self) -> Floats:
        """The distance of the target's inputs, at most: no slot has them closer than the truth."""
        return np.abs(self.one - self.two)

    def laws(self, growth: float) -> SlotLaws:
        """What every kind of slot adds at most, at e^eps = ``growth``."""
        size = self.ratio0 + growth * self.ratio1
        score = self.ratio0 - growth * self.ratio1
        before, after = score[:, :-1], score[:, 1:]
        pad = 8.0 * self.error * np.maximum(size[:, :-1], size[:, 1:])
        gap = after - before
        flat = np.abs(gap) <= pad
        excess = (self.needle0 - growth * self.needle1) - self.hay * before
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.where(flat, 0.0, np.clip(excess / gap, 0.0, self.hay))
        pad = np.where(flat, 2.0 * pad, pad)

        mass = np.zeros_like(score)
        mass[:, :-1] = self.hay - far
        mass[:, 1:] += far
        extra_mass, extra_score = self._turned(growth, score, far, mass)
        (low_hay, high_hay), (low_needle, high_needle) = self.tails
        mass[:, 0] += low_hay * (1.0 - ROUNDED)
        mass[:, -1] += high_hay * (1.0 - ROUNDED)
        live = np.where(self.hay > 0.0, pad, 0.0)
        beside = np.zeros_like(score)
        beside[:, 1:] = live
        np.maximum(beside[:, :-1], live, out=beside[:, :-1])
        raised = np.maximum(score + beside + 16.0 * UNIT * size, -LARGEST)
        seen = self.seen
        if math.isinf(self.randomizer.epsilon0):  # beyond the borders scores may rise; those that fall are raised
            kept = low_hay * size[:, 0] + high_hay * size[:, -1]
            seen = seen + (low_needle + high_needle + kept) * (1.0 + 1e-9)
        return SlotLaws(np.hstack([mass, *extra_mass]), np.hstack([raised, *extra_score]), seen)

    def _turned(self, growth: float, score: Floats, far: Floats, mass: Floats) -> tuple[list[Floats], list[Floats]]:
        """Cells in which the score has an extremum beyond both ends are spread between that and the
        end farther from it; ``mass`` is changed, and what lies at extrema is returned.
        """
        extra_mass, extra_score = [], []
        middle = 0.5 * (self.low + self.high)
        for other, below in ((self.high, True), (self.low, False)):
            place = self.randomizer.turning(self.one, self.two, other, growth)
            inside = (place > self.borders[:, 0]) & (place < self.borders[:, -1])
            rows = np.flatnonzero(inside & ((place < middle) == below))
            if rows.size == 0:
                continue
            at, v = place[rows], other[rows]
            cell = (self.borders[rows] <= at[:, None]).sum(axis=1) - 1
            # Ratios are monotone in a cell, and one with ratios beyond the largest has no mass.
            logs = (self.randomizer.log_shift(at, needle[rows], v) for needle in (self.one, self.two))
            first, second = (np.exp(np.minimum(log, math.log(LARGEST))) for log in logs)
            turn = first - growth * second
            ends = np.stack([score[rows, cell], score[rows, cell + 1]])
            top = turn > ends.max(axis=0)
            keep = np.where(top, ends.argmin(axis=0), ends.argmax(axis=0))
            kept = ends[keep, np.arange(rows.size)]
            beyond = top | (turn < ends.min(axis=0))
            rows, cell, turn, keep, kept = (part[beyond] for part in (rows, cell, turn, keep, kept))
            size, hay = (first + growth * second)[beyond], self.hay[rows, cell]
            pad = 8.0 * self.error[rows, cell] * size
            excess = (self.needle0 - growth * self.needle1)[rows, cell] - hay * kept
            gap = turn - kept
            flat = np.abs(gap) <= pad
            with np.errstate(divide="ignore", invalid="ignore"):
                moved = np.where(flat, hay, np.clip(excess / gap, 0.0, hay))
            mass[rows, cell] -= hay - far[rows, cell]
            mass[rows, cell + 1] -= far[rows, cell]
            mass[rows, cell + keep] += hay - moved
            column, value = np.zeros((self.one.size, 1)), np.zeros((self.one.size, 1))
            column[rows, 0], value[rows, 0] = moved, turn + 3.0 * pad + np.where(flat, np.abs(gap), 0.0)
            extra_mass.append(column)
            extra_score.append(value)
        return extra_mass, extra_score


def _snapped(borders: Floats, points: Floats) -> Floats:
    """Borders that nearly touch one of the points are moved there."""
    touching = TOUCHING * (points.max(axis=0) - points.min(axis=0))[:, None]
    for point in points:
        at = np.broadcast_to(point[:, None], borders.shape)
        borders = np.where(np.abs(borders - at) < touching, at, borders)
    return np.sort(borders, axis=1)


@lru_cache(maxsize=32)
def kinds_of_users(randomizer: ScaledNoise, n: int) -> Kinds | None:
    """Kinds that cover every triple, as few as keep all of them near the worst; any cover is valid.
    None if it would take too many.
    """
    cover = _Cover(randomizer, n)
    if not cover.feasible:
        return None
    for closeness in CLOSENESS:
        if cover.fewest(closeness) <= MOST_KINDS:
            triples = list(islice(cover.triples(closeness), MOST_KINDS + 1))
            if len(triples) <= MOST_KINDS:
                return Kinds.of(randomizer, triples, cover.nearest)
    return None


class _Cover:
    """Intervals, grown while the sum of n such slots is about as far out as the worst."""

    def __init__(self, randomizer: ScaledNoise, n: int) -> None:
        self.randomizer, self.n = randomizer, n
        worst = Kinds.of(randomizer, [(1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)], 1.0)
        law = worst.laws(1.0)
        variance = 0.0
        reach = math.inf
        for _ in range(4):
            with np.errstate(over="ignore"):
                variance = float(np.minimum((law.mass * np.minimum(law.score, reach) ** 2).sum(axis=1), 1e200).max())
            reach = RAREST * math.sqrt(n * variance)
        self.deviation, self.reach = math.sqrt(variance), reach
        self.nearest = min(NEAREST * self.deviation / math.sqrt(n) * randomizer.scale, 0.5)
        self._known: dict[Triple, tuple[float, ...]] = {}
        self.most = [max(self._sizes(law, z)) for z, law in zip(DEVIATIONS, self._at(worst), strict=True)]

    def _at(self, kinds: Kinds) -> list[SlotLaws]:
        return [kinds.laws(math.exp(min(z * self.deviation / math.sqrt(self.n), 20.0))) for z in DEVIATIONS]

    def _sizes(self, law: SlotLaws, z: float) -> list[float]:
        """About log E(S_+) for the sum of n scores at its saddle point c, where E e^(cS) is about
        e^(-z^2 / 2): a sum that hardly varies is seen as an integral without decay.
        """
        c = z / (self.deviation * math.sqrt(self.n))
        score = np.minimum(law.score, self.reach)
        with np.errstate(over="ignore"):
            excess = (law.mass * np.expm1(c * score)).sum(axis=1)
        log_phi = np.log1p(np.maximum(excess, UNIT - 1.0))
        tilted = law.mass * np.exp(c * score - log_phi[:, None])
        variance = (tilted * score**2).sum(axis=1) - (tilted * score).sum(axis=1) ** 2
        decay = erfcx(c * np.sqrt(0.5 * self.n * np.maximum(variance, 0.0)))
        return list(self.n * log_phi + np.log(decay))

    def _judge(self, triples: Sequence[Triple]) -> None:
        """Find out how large they are: many at once take little longer than one."""
        laws = self._at(Kinds.of(self.randomizer, triples, 1.0))
        sizes = [self._sizes(law, z) for law, z in zip(laws, DEVIATIONS, strict=True)]
        self._known.update(zip(triples, zip(*sizes, strict=True), strict=True))

    def _close(self, triple: Triple, closeness: float) -> bool:
        """Whether one that was judged is close to the worst."""
        limits = (most + 0.5 * closeness * z * z for z, most in zip(DEVIATIONS, self.most, strict=True))
        return all(size <= limit for size, limit in zip(self._known[triple], limits, strict=True))

    @property
    def feasible(self) -> bool:
        """Whether short intervals are close to the worst; else it is no use to begin."""
        length = 4.0 * SHORTEST
        triples = [(0.0, 1.0, 1.0, 1.0 + length), (1.0, 0.0, 1.0, 1.0 + length)]
        self._judge(triples)
        return all(self._close(triple, CLOSENESS[-1]) for triple in triples)

    def fewest(self, closeness: float) -> float:
        """About how many triples there are at least, by the lengths of cells at a few places: they
        grow from each to the next, and are at most doubled.
        """
        total = 0.0
        for tried in self._tried:
            lengths = [
                next((length for length, triple in row if self._close(triple, closeness)), 0.5 * LENGTHS[-1])
                for row in tried
            ]
            ends = [*PLACES[1:], self.nearest]
            total += sum(
                math.log(place / end) / -math.log1p(-max(pair))
                for place, end, pair in zip(PLACES, ends, pairwise([*lengths, LONGEST]), strict=True)
            )
        return total

    @cached_property
    def _tried(self) -> list[list[list[tuple[float, Triple]]]]:
        """Cells of several lengths at every place, for v beyond either of the target's inputs."""
        tried = [
            [[(length, self._outside(far, place, length)[0]) for length in LENGTHS] for place in PLACES]
            for far in (True, False)
        ]
        self._judge([triple for rows in tried for row in rows for _, triple in row])
        return tried

    def triples(self, closeness: float) -> Iterator[Triple]:
        """The target's inputs 0 and 1, and v from either end to the middle; then v at distance 1
        from the first or the second of the target's inputs, and the other one between them.
        """
        for mirrored in (False, True):
            yield from self._grown(partial(self._between, mirrored), 0.0, 0.5, closeness)
        for first_is_far in (True, False):
            yield from self._grown(partial(self._outside, first_is_far), 1.0, self.nearest, closeness)

    def _grown(self, cell: Cell, at: float, last: float, closeness: float) -> Iterator[Triple]:
        """Cells one after the other, each as long as it may be, or as short as cells get."""
        length = 0.05
        while at != last:
            while True:
                triple, end = cell(at, length)
                if length > SHORTEST and triple not in self._known:
                    self._judge(_ahead(cell, at, length, last))
                if length <= SHORTEST or self._close(triple, closeness):
                    break
                length *= 0.5
            yield triple
            at, length = end, min(2.0 * length, LONGEST)

    def _between(self, mirrored: bool, v: float, length: float) -> tuple[Triple, float]:
        end = v + length if v + length < 0.499 else 0.5
        return (0.0, 1.0, 1.0 - end, 1.0 - v) if mirrored else (0.0, 1.0, v, end), end

    def _outside(self, first_is_far: bool, distance: float, share: float) -> tuple[Triple, float]:
        least = distance * (1.0 - share)
        least = least if least > 1.01 * self.nearest else self.nearest
        ends = (0.0, distance) if first_is_far else (distance, 0.0)
        return (*ends, 1.0, distance / least * (1.0 + 4.0 * UNIT)), least


def _ahead(cell: Cell, at: float, length: float, last: float) -> list[Triple]:
    """The cell to be judged, and those that probably follow: most get half as long."""
    triples = [cell(at, 0.25 * length)[0]]
    for _ in range(AHEAD):
        half, end = cell(at, 0.5 * length)
        triples += [cell(at, length)[0], half]
        if end == last:
            break
        at = end
    return triples
