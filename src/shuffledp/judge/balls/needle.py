"""The needle in the haystack in balls: a target's report among the reports of n - 1 others, and
binary randomized response on explicit datasets and on all of them.

Every other user independently adds an item of class i with probability hay_i, and nothing
otherwise; the target's report is of class i with probability needle0_i or needle1_i. With x =
e^eps and scores g_i = (needle0_i - x needle1_i) / hay_i (docs/theory.md),

    delta(eps) = 1/n E(G_1 + ... + G_n)_+  +  the positive parts of needle0 - x needle1 where there
                 is no hay.

Scores above a cap k may be cut: E S_+ lies between E(S^k)_+ + n J (1 - missed) and E(S^k)_+ + n J,
with S^k the sum of the capped scores, J = E(G - k)_+, and ``missed`` the probability that the
capped scores of n - 1 positions sum to less than -k: a position above k adds all that it is above
k wherever the others leave the sum of the capped scores positive, and never more.

Where users, or filled positions, are few, E(G_1 + ... + G_n)_+ is found by adding up views.

*Binary randomized response.* A report is wrong with probability p = 1/(E + 1), E = e^epsilon0. With
z of the others holding 0 and j holding 1, the number of ones among their reports is S = Bin(z, p) +
Bin(j, 1 - p), and with x = e^eps, A = E - x, B = x E - 1, the target's values being 0 and 1 in this
order,

    delta = p max over t of f(t),     f(t) = A P(S <= t) - B P(S <= t - 1),

because S is log-concave: the differences of f change their sign once. They do where the law of S,
tilted by (A/B)^y, has its mode, and the mode of a sum of independent coins is less than 1 away from
the mean (Darroch 1964). f(t) is the coefficient of z^t in E z^S (A - B z) / (1 - z), and so the
mean over L roots of unity on a circle of radius e^-c < 1, but for the aliases f(t + m L) e^(-c m
L): f is 0 below 0, and |f(y)| <= B P(S <= y) <= B E e^(a (y - S)) for every a >= 0.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from flint import acb, arb

from shuffledp.judge.balls.arithmetic import (
    ROUGHLY,
    Exact,
    Line,
    Positions,
    ball,
    between,
    complex_power,
    largest,
    midpoint,
    positive_part,
    precision,
)

MOST_VIEWS = 40_000


def views(items: int, classes: int) -> float:
    """How many views there are of at most so many items; infinite if far too many."""
    return math.comb(items + classes, classes) if min(items, classes) <= 24 else math.inf


def items_needed(positions: Positions, share: float) -> int | None:
    """How many filled positions have to be looked at until all that are left hold less than
    ``share`` of E S_+, of the sum of positive scores; None if more than a few.
    """
    if not positions.absent > 0:
        return positions.n if positions.n <= 64 else None
    expected = float((positions.n * (1 - positions.absent)).mid())
    if expected > 30.0:
        return positions.n if positions.n <= 64 else None
    items = 2
    while items * math.log((items + 1.0) / (math.e * max(expected, 1e-300))) + expected < -math.log(share):
        items += 1
    return min(items + 1, positions.n)


def ramp_of_views(positions: Positions, items: int) -> arb:
    """A ball that holds E S_+, from all views of at most ``items`` filled positions.

    S_+ is at most the sum of the positive scores. So what is left out is at most n E G_+ times the
    probability that ``items`` or more of the other n - 1 positions are filled, which is at most
    C(n-1, items) (1 - a)^items.
    """
    n = positions.n
    absent = positive_part(positions.absent)
    shares = [arb(1)]
    for place in range(items):
        shares.append(shares[-1] * (n - place) / (place + 1))  # C(n, m)
    empty = [absent ** (n - count) if n > count else arb(1) for count in range(items + 1)]
    total = arb(0)
    for count in range(items + 1):
        if empty[count].is_zero():
            continue
        total += shares[count] * empty[count] * _filled(positions.masses, positions.scores, count)
    if items >= n:
        return total
    alone = _jump(positions, arb(0))
    chance = arb(1)
    for place in range(items):
        chance *= arb(n - 1 - place) / (place + 1)
    chance *= sum(positions.masses, arb(0)) ** items
    return between(total, total + n * alone * chance)


def _filled(masses: Sequence[arb], scores: Sequence[arb], count: int) -> arb:
    """The sum over all sequences of ``count`` classes of their probability times the positive part
    of their sum of scores.
    """
    if not count:
        return arb(0)
    powers = [[arb(1)] for _ in masses]
    for mass, row in zip(masses, powers, strict=True):
        for place in range(count):
            row.append(row[-1] * mass / (place + 1))
    total = arb(0)
    last = len(masses) - 1

    def add(place: int, left: int, weight: arb, value: arb) -> None:
        nonlocal total
        if place == last:
            total += weight * powers[place][left] * positive_part(value + left * scores[place])
            return
        for held in range(left + 1):
            add(place + 1, left - held, weight * powers[place][held], value + held * scores[place])

    add(0, count, arb(1), arb(0))
    return total * arb(math.factorial(count))


CLOSE = 1e-8  # relative: how near the two ends shall be
WORK = 400_000  # nodes on one line of a few classes
LOOSENED = (0.3, 10.0, 300.0, 1e4)  # how much of the tolerance a cap may leave open
MOST_CAPS = 4000
LEVELS = (1.0, 0.25, 0.06, 0.015, 0.004)  # of a cap: a score below minus this share of it counts as fatal alone
TILTS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


@dataclass(frozen=True, eq=False)
class Needle:
    """The masses of every class; ``whole`` if all others are in the view."""

    hay: tuple[arb, ...]
    needle0: tuple[arb, ...]
    needle1: tuple[arb, ...]
    whole: bool

    @classmethod
    def of(
        cls, hay: Iterable[Exact | arb], needle0: Iterable[Exact | arb], needle1: Iterable[Exact | arb], *, whole: bool
    ) -> Needle:
        """The same from numbers, taken as exact; hay that is whole is divided by its sum."""
        share, there, back = (tuple(ball(each) for each in column) for column in (hay, needle0, needle1))
        if whole:
            total = sum(share, arb(0))
            share = tuple(each / total for each in share)
        return cls(share, there, back, whole=whole)

    def swapped(self) -> Needle:
        """The target's two inputs exchanged."""
        return replace(self, needle0=self.needle1, needle1=self.needle0)

    def delta(self, n: int, eps: float | arb, relative: float = CLOSE, work: int = WORK) -> arb:
        """A ball that holds delta(eps) among n users, at the precision that is set; with less
        ``work`` it may be wider than ``relative``.

        >>> with precision(128):
        ...     coin = Needle.of([0.25, 0.75], [0.75, 0.25], [0.25, 0.75], whole=True)
        ...     coin.delta(2, 0.0).overlaps(arb(0.375))
        True
        """
        x = ball(eps).exp()
        masses, scores, exposed = [], [], arb(0)
        for hay, there, back in zip(self.hay, self.needle0, self.needle1, strict=True):
            gain = there - x * back
            if hay.is_zero():
                exposed += positive_part(gain)
            else:
                masses.append(hay)
                scores.append(gain / hay)
        if not masses:
            return exposed
        absent = arb(0) if self.whole else positive_part(1 - sum(masses, arb(0)))
        found = mean_positive_part(Positions(n, tuple(masses), tuple(scores), absent), relative, work)
        return positive_part(found / n + exposed)


def mean_positive_part(positions: Positions, relative: float = CLOSE, work: int = WORK) -> arb:
    """A ball that holds E S_+, about ``relative`` wide where that is possible."""
    n = positions.n
    alone = _jump(positions, arb(0))
    if n == 1 or not positions.top.upper() > 0:
        return n * alone
    items = items_needed(positions, relative * 1e-3)
    if items is not None and views(items, len(positions.masses)) <= MOST_VIEWS:
        found = ramp_of_views(positions, items)
        if found.rel_accuracy_bits() > -math.log2(relative):
            return found
    found = between(arb(0), n * alone)
    nodes = max(work // (1 + len(positions.masses) // 16), 1000)
    for cap in _caps(positions, relative, nodes):
        found = found.intersection(_capped(positions, cap, relative, nodes))
        if found.rel_accuracy_bits() > -math.log2(relative) - 1.0:
            break
    return found


def _caps(positions: Positions, relative: float, nodes: int) -> Iterator[arb]:
    """The largest score; and, if scores spread so far that no line is fine enough, the least caps
    whose jumps leave little open.
    """
    with precision(ROUGHLY):
        top = positions.top.upper()
        line = Line.through(positions, relative, nodes)
    if line.relative <= 4.0 * relative:
        yield top
    with precision(ROUGHLY):
        ladder = _ladder(positions, top)
        found = {}
        for loosened in LOOSENED:
            low, high = 0, len(ladder) - 1
            while low < high:
                middle = (low + high) // 2
                enough = _open(positions, ladder[middle]) <= loosened * relative
                low, high = (low, middle) if enough else (middle + 1, high)
            found[low] = ladder[low]
    yield from found.values()


def _ladder(positions: Positions, top: arb) -> list[arb]:
    """Positive scores, and more where they are far apart, in rising order."""
    steps: list[arb] = []
    for score in sorted(
        (score.mid() for score in positions.scores if score.lower() > 0), key=lambda score: float(score.log().mid())
    ):
        while steps and score > 4 * steps[-1] and len(steps) < MOST_CAPS:
            steps.append((3 * steps[-1]).mid())
        if not steps or score > steps[-1]:
            steps.append(score)
    return [*steps[:-1], top]


def _open(positions: Positions, cap: arb) -> float:
    """About which share of E S_+ a cap leaves open."""
    lower, jumps = _cut(positions, cap), positions.n * _jump(positions, cap)
    if jumps.is_zero():
        return 0.0
    return float((jumps * _missed(lower, cap) / (Line.roughly(lower) + jumps)).mid())


def _cut(positions: Positions, cap: arb) -> Positions:
    return replace(positions, scores=tuple(score.min(cap) for score in positions.scores))


def _jump(positions: Positions, cap: arb) -> arb:
    """E(G - k)_+ ."""
    return sum(
        (mass * positive_part(score - cap) for mass, score in zip(positions.masses, positions.scores, strict=True)),
        arb(0),
    )


def _capped(positions: Positions, cap: arb, relative: float, nodes: int = WORK) -> arb:
    """E S_+ with all scores above ``cap`` cut there."""
    lower = _cut(positions, cap)
    line = Line.through(lower, relative, nodes)
    if not math.isfinite(line.relative):  # too many nodes would be needed
        return between(arb(0), positions.n * _jump(positions, arb(0)))
    smooth = line.ramp()
    jumps = positions.n * _jump(positions, cap)
    if jumps.is_zero():
        return smooth
    return smooth + between(jumps * positive_part(1 - _missed(lower, cap)), jumps)


def _missed(capped: Positions, cap: arb) -> arb:
    """At most the probability that n - 1 capped scores sum to less than -k: for every level K,
    either some score is below -K, or Chernoff's inequality holds for the scores raised to -K.
    """
    n, best = capped.n, arb(1)
    for level in LEVELS:
        least = -cap * level
        fatal = arb(0)
        for mass, score in zip(capped.masses, capped.scores, strict=True):
            if not score >= least:
                fatal += mass
        for tilt in TILTS:
            t = tilt / (cap * level)
            raised = [
                mass * (-t * score.max(least)).exp() for mass, score in zip(capped.masses, capped.scores, strict=True)
            ]
            chernoff = sum(raised, capped.absent) ** (n - 1) * (-t * cap).exp()
            best = best.min(n * fatal + chernoff)
    return best.upper()


ALLOWED = 60.0  # what is left out is about e^-60 of the answer
PIECES, TRIED = 4000, 65
# Where aliases are bounded: shares of c, and deviations above it.
LEFT, RIGHT = (0.0, 0.25, 0.5, 0.75, 0.9), (0.5, 1.0, 2.0, 4.0, 8.0, 12.0)


@dataclass(frozen=True, eq=False)
class TwoValues:
    """n users of binary randomized response."""

    epsilon0: float
    n: int

    def dataset(self, zeros: int, ones: int, eps: float | arb) -> arb:
        """A ball that holds delta, for the target's values 0 and 1 in this order.

        >>> with precision(128):
        ...     abs(TwoValues(math.log(3.0), 2).dataset(1, 0, 0.0) - 0.375) < 1e-15
        True
        """
        growth, x = ball(self.epsilon0).exp(), ball(eps).exp()
        gain, loss = growth - x, x * growth - 1
        if not gain > 0:
            return positive_part(gain) / (growth + 1)
        p, q = 1 / (growth + 1), growth / (growth + 1)
        natural = (loss / gain).log()
        mean, _ = _moments(p, q, zeros, ones, natural)
        first, last = math.floor(midpoint(mean.lower())) - 1, math.ceil(midpoint(mean.upper())) + 1
        candidates = [t for t in range(max(first, 0), last + 1) if abs(mean - t) < 1 or not abs(mean - t) >= 1]
        with precision(64):
            deviation = math.sqrt(max(midpoint(p * q * (zeros + ones)), 0.25))
            c = arb(max(midpoint(natural), 2.5 / deviation))
        found = [self._coefficient(zeros, ones, t, c, p, q, gain, loss) for t in candidates]
        return positive_part(p * largest(found))

    @staticmethod
    def _coefficient(zeros: int, ones: int, t: int, c: arb, p: arb, q: arb, gain: arb, loss: arb) -> arb:
        """f(t)."""

        def log_mean(tilt: arb) -> arb:
            small = (-tilt).expm1()
            return zeros * (p * small).log1p() + ones * (q * small).log1p()

        scale = (log_mean(c) + c * t).exp()
        _, variance = _moments(p, q, zeros, ones, c)
        spread = math.sqrt(midpoint(variance))
        with precision(64):
            usual = midpoint(log_mean(c) + c * t)
            sides = []
            for tilts in ([c * share for share in LEFT], [c + step / max(spread, 0.1) for step in RIGHT]):
                reached = []
                for tilt in tilts:
                    size = midpoint(log_mean(tilt) + tilt * t) - usual
                    reached.append(((ALLOWED + max(size, 0.0)) / midpoint(abs(tilt - c)), tilt.mid()))
                sides.append(min(reached, key=lambda each: each[0]))
            period = math.ceil(max(sides[0][0], min(sides[1][0], t + 1.0), 2.0))
        alias = arb(0)
        for _, tilt in sides[: 1 + (period <= t)]:
            ratio = (-abs(tilt - c) * period).exp()
            alias += loss * (log_mean(tilt) + tilt * t).exp() * ratio / (1 - ratio)
        total, passed = arb(0), arb(0)
        radius = (-c).exp()
        for place in range(period // 2 + 1):
            angle = arb(2 * place) / period
            decay = (-variance * 2 * (angle / 2).sin_pi() ** 2).exp()
            if decay < math.exp(-ALLOWED) / (1.0 + period):
                passed = decay * (gain + loss) / (1 - radius) * scale
                break
            z = radius * (acb(0, 1) * arb.pi() * angle).exp()
            power = _power(q + p * z, q + p * radius, zeros) * _power(p + q * z, p + q * radius, ones)
            turn = (acb(0, -1) * arb.pi() * angle * t).exp()
            weight = 1 if place == 0 or 2 * place == period else 2
            total += weight * (power * turn * (gain - loss * z) / (1 - z)).real
        middle = scale * total / period
        error = (alias + passed).upper()
        return between(middle - error, middle + error)

    def at_most(self, eps: float, claim: float) -> arb:
        """An upper end of delta over all datasets and both orders of the target's values: blocks of
        datasets, halved until the largest is at most ``claim``, or nothing is left to halve.

        Without a user the view only says more, so that from j to k ones among n - 1 others
        nothing leaks more than with j ones and n - 1 - k zeros. Exchanging 0 and 1 turns one order
        into the other.
        """
        blocks = [(-self.dataset(0, 0, eps).upper(), 0, self.n - 1)]
        for _ in range(PIECES):
            bound, first, last = blocks[0]
            if first == last or -bound <= claim:
                break
            heapq.heappop(blocks)
            middle = (first + last) // 2
            for low, high in ((first, middle), (middle + 1, last)):
                heapq.heappush(blocks, (-self.dataset(self.n - 1 - high, low, eps).upper(), low, high))
        return -blocks[0][0]

    def at_least(self, eps: float, likely: int | None = None) -> tuple[arb, int]:
        """The largest lower end of some datasets, and the ones of the dataset that has it; one of
        them is ``likely`` ones.
        """
        tried = {round((self.n - 1) * place / (TRIED - 1)) for place in range(TRIED)} if likely is None else {likely}
        found = [(self.dataset(self.n - 1 - ones, ones, eps).lower(), ones) for ones in sorted(tried)]
        return max(found, key=lambda each: (midpoint(each[0]), each[1]))


def _moments(p: arb, q: arb, zeros: int, ones: int, c: arb) -> tuple[arb, arb]:
    """Mean and variance of S under the tilt e^(-c y)."""
    down = (-c).exp()
    few, many = p * down / (q + p * down), q * down / (p + q * down)
    return zeros * few + ones * many, zeros * few * (1 - few) + ones * many * (1 - many)


def _power(value: acb, size: arb, n: int) -> acb:
    """(value / size)^n."""
    return acb(1) if n == 0 else complex_power(value / size, n)
