"""The same promise under other kinds of trust: what the best lone reports, and the best curator,
that shuffledp knows would cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import bdtrc, log_ndtr

from shuffledp.judge.answers import bin_weights
from shuffledp.judge.effort import LARGEST_EPSILON, MOST_GRID_STEPS, MOST_LONE_ROUNDS, TooLarge
from shuffledp.judge.lattice import UNIT, Array
from shuffledp.judge.laws import LEVELS, WORD, CountedLaw, CountedLevels
from shuffledp.judge.rows import CountedTree, worst_of_mean
from shuffledp.judge.shares import CountedShares
from shuffledp.record import Alternative, Record
from shuffledp.verify.outcomes import Check, agree, equal, holds, unchecked, vital

SAME, EXACTLY, LEAST = 1e-9, 1e-14, 1e-12
LOCAL_SAME = 1e-8
LOCAL_STEP = 1e-3  # the local epsilon0 is the largest, up to this
BEATEN = 0.01  # no other mechanism for lone reports errs less by more than this
MOST_MOVED = 4096  # counts that one person moves: with more, only Gaussian noise is compared
MANY_ROUNDS, FEW_GRIDS = 2, 9  # of several rounds, grids of a few points are tried
TRUSTED = ["nobody", "shuffler", "curator"]
THIS = "this release"
GAUSSIAN, LAPLACE, STAIRCASE = "Gaussian noise", "discrete Laplace noise", "staircase noise"
GRID, HYBRID, LONE_STAIRCASE = "randomized response on a grid", "hybrid mechanism", "staircase noise on every number"


@dataclass(frozen=True, slots=True)
class _Promise:
    """What every kind of trust has to keep, and how an error is measured; ``k`` values are told
    apart.
    """

    n: int
    rounds: int
    epsilon: float
    delta: float
    k: int
    width: float | None
    bins: int | None
    among: int

    @classmethod
    def of(cls, record: Record, measure: Mapping[str, Any]) -> _Promise:
        """Without a promised epsilon, the certified one is compared."""
        design, certified = record.design, record.certificate.epsilon.upper
        epsilon = certified if design.epsilon is None else design.epsilon
        k = design.domain.size if measure["width"] is None else 2
        return cls(design.n, design.rounds, epsilon, design.delta, k, **measure)

    @property
    def rounding(self) -> float:
        """What 1 - hit loses in floats."""
        return math.sqrt(self.n * UNIT) * (1.0 if self.share is None else self.share)

    @property
    def share(self) -> float | None:
        """How far one person can move a mean or a sum; None where people are counted."""
        return None if self.width is None else self.width / self.among

    def curators(self) -> dict[str, float]:
        """The errors of what a trusted curator is known to do, by name."""
        sigma, errors = _sigma(self.epsilon, self.delta) * math.sqrt(self.rounds), dict[str, float]()
        if self.share is not None:
            errors[GAUSSIAN] = sigma * self.share
            if self.rounds <= MOST_MOVED:
                errors[STAIRCASE] = _stairs(_pure(self.rounds, self.epsilon, self.delta)) * self.share
            return errors
        released = {" on one count": (1, 1.0)}
        if self.k > 2:  # noise less its mean: its own part, and those of the others
            left = math.hypot((self.k - 1) / self.k, math.sqrt(self.k - 1) / self.k)
            released = {", counts made to add up": (2, left)}
        if self.bins is not None:
            released = _of_bins(self.bins)
            # the square root of adding up: its longest column, and its longest row that is needed
            squares = [Fraction(math.comb(2 * j, j), 4**j) ** 2 for j in range(self.bins)]
            longest = math.sqrt(2 * sum(squares)) * math.sqrt(sum(squares[:-1]))
            errors[f"{GAUSSIAN} on square-root sums"] = sigma * longest
        for on, (moved, spread) in released.items():
            errors[GAUSSIAN + on] = sigma * math.sqrt(moved) * spread
            if moved * self.rounds <= MOST_MOVED:
                half = _pure(moved * self.rounds, self.epsilon, self.delta) / 2.0
                errors[LAPLACE + on] = spread / (math.sqrt(2.0) * math.sinh(half))
        return errors

    def error(self, law: CountedLaw) -> float:
        """The error to expect of shuffled or lone reports."""
        width, among = self.width, self.among
        if self.bins is not None:
            return _subset_below(law, self.n) if law.size else _below_error(law, self.n)
        if isinstance(law, CountedShares):
            return law.error(self.n, 1.0 if width is None else width / ((law.k - 1) * among))
        if width is None:
            return _count_error(law, self.n)
        # The worst data all sit at one point of the outermost cell, farthest from the middle.
        worst = math.sqrt(self.n * worst_of_mean(law.k - 1, law.k * law.miss))
        return worst / float(law.hit - law.miss) * width / among


def check_comparison(record: Record, law: CountedLaw, measure: Mapping[str, Any] | None) -> list[Check]:
    """Three rows: nobody, a shuffler, a curator; of a search, none."""
    rows, due = record.comparison, TRUSTED if record.counted.search is None else []
    named = equal("who is trusted", [row.trust for row in rows], due, "the order of the rows")
    if named.outcome == "FAIL" or not due:
        return [named]
    if measure is None:
        why = "its question does not say how an error is measured"
        return [named, vital(unchecked("the comparison", "", why))]
    alone, shuffled, curator = rows
    promise = _Promise.of(record, measure)
    errors, error = promise.curators(), promise.error(law)
    best, within = min(errors, key=lambda name: errors[name]), SAME * error + promise.rounding
    expect, least = "error to expect with a", errors[best]
    sound = errors.get(curator.mechanism, math.inf) <= least * (1.0 + SAME)
    return [
        named,
        equal("epsilon0 with a shuffler", shuffled.epsilon0, law.alone, "the design"),
        equal("mechanism with a shuffler", shuffled.mechanism, THIS, "the page"),
        agree(f"{expect} shuffler", shuffled.stderr, error, "the law's variance", within=within),
        equal("epsilon0 with a curator", curator.epsilon0, None, "users do not randomize"),
        holds("mechanism of a curator", curator.mechanism, best, f"the least of {len(errors)} known errors", sound),
        agree(f"{expect} curator", curator.stderr, least, "the noise's own law", within=2.0 * SAME * least),
        *_check_alone(alone, promise),
    ]


def _of_bins(bins: int) -> dict[str, tuple[int, float]]:
    """What noise may be on, where counts below cut points are wanted: how many of those numbers one
    person moves, and the largest error of a count below, in errors of such a number.
    """
    found = {
        " on the counts below cut points": (bins - 1, 1.0),
        " on all bins": (2, math.sqrt(bins // 2 * -(-bins // 2) / bins)),
    }
    for levels in range(2, 17):
        branches = next(each for each in range(1, bins + 1) if each**levels >= bins)
        if branches < 4 or branches ** (levels - 1) >= bins:
            break
        found[f" on a tree of {levels} levels"] = (2 * levels, _tree_spread(bins, levels, branches))
    return found


def _tree_spread(bins: int, levels: int, branches: int) -> float:
    """By least squares on all nodes at once; the last bin has the others of a known number of
    people.
    """
    places = np.arange(bins)
    nodes = [places // branches**up for up in range(levels)]
    holding = np.concatenate([each == np.unique(each)[:, None] for each in nodes]).astype(np.float64)
    free = holding[:, :-1] - holding[:, -1:]
    below = np.tri(bins - 1)
    return math.sqrt(float((np.linalg.solve(free.T @ free, below.T) * below.T).sum(axis=0).max()))


def _pure(moved: int, epsilon: float, delta: float) -> float:
    """The largest a such that ``moved`` answers of randomized response with epsilon0 = a keep the
    promise: P(many ups) - e^epsilon P'(many ups) <= delta, two tails of binomial laws.
    """

    def broken(a: float) -> bool:
        least = math.floor((epsilon / a + moved) / 2.0)  # ups that lose at most epsilon
        up, down = 1.0 / (1.0 + math.exp(-a)), 1.0 / (1.0 + math.exp(a))
        return least < moved and float(bdtrc(least, moved, up) - math.exp(epsilon) * bdtrc(least, moved, down)) > delta

    return _last(lambda a: not broken(a), epsilon / moved, close=EXACTLY)


def _last(keeps: Callable[[float], bool], low: float, *, close: float, most: float = math.inf) -> float:
    """About the largest number from ``low`` to ``most`` with which a promise is kept."""
    high = low = max(low, LEAST)
    while high < most and keeps(high):
        low, high = high, 1.5 * high
    while high > low * (1.0 + close):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low


def _stairs(epsilon: float) -> float:
    """The error of staircase noise (Geng and Viswanath 2014): a geometric number of steps, and a
    place on the last one, before its edge or after it; with the best edge.
    """
    b = math.exp(-epsilon)
    mean, square = b / -math.expm1(-epsilon), b * (1.0 + b) / math.expm1(-epsilon) ** 2

    def variance(edge: float) -> float:
        before = edge / (edge + (1.0 - edge) * b) if edge else 0.0
        near = square + mean * edge + edge**2 / 3.0
        far = square + mean * (1.0 + edge) + (1.0 + edge + edge**2) / 3.0
        return before * near + (1.0 - before) * far

    best = minimize_scalar(variance, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-13})
    return math.sqrt(float(best.fun))


def _sigma(epsilon: float, delta: float) -> float:
    """The least noise for sensitivity 1: Phi(1/(2s) - eps s) - e^eps Phi(-1/(2s) - eps s) = delta
    (Balle and Wang 2018, Thm 8).
    """

    def excess(log: float) -> float:
        s = math.exp(log)
        first, second = log_ndtr(0.5 / s - epsilon * s), epsilon + log_ndtr(-0.5 / s - epsilon * s)
        if second >= first:
            return -1e9
        return max(float(first + math.log(-math.expm1(min(second - first, -1e-300))) - math.log(delta)), -1e9)

    return math.exp(brentq(excess, -20.0, 40.0, xtol=1e-14, rtol=1e-14))


def _count_error(law: CountedLaw, n: int) -> float:
    """Root mean square over the values, with the n users spread evenly."""
    held, hit, miss = Fraction(n, law.k), law.hit, law.miss
    if not law.signed:
        fakes = law.moments(n)[1]
        return math.sqrt((held * hit * (1 - hit) + (n - held) * miss * (1 - miss) + fakes) / (hit - miss) ** 2)
    count, columns = law.blocks
    full, rest = divmod(law.k, columns - 1)  # blocks: a block's own reports vote more often than the others

    def votes(size: int) -> Fraction:
        near = size * held
        return size * (near * (hit + (1 - hit) / count) - held * hit**2 + (n - near) * (1 - hit) / count)

    total = full * votes(columns - 1) + votes(rest)
    return math.sqrt(total / law.k / hit**2)


def _check_alone(row: Alternative, promise: _Promise) -> list[Check]:
    """A lone report: its epsilon0 keeps the promise, a slightly larger one does not, its error is
    what its law says, and no other known mechanism errs less.
    """
    epsilon0, delta = row.epsilon0, promise.delta
    if epsilon0 is None or not 0.0 < epsilon0 < LARGEST_EPSILON:
        return [holds("epsilon0 without a shuffler", epsilon0, "a positive number", "the promise", False)]
    tried = dict(_lone(promise, row.mechanism, epsilon0))
    known = [name for name in tried if name.partition(" #")[0] == row.mechanism]
    named = holds("mechanism without a shuffler", row.mechanism, "a known one", "lone reports", bool(known))
    if not known:
        return [named]
    nearest = min(known, key=lambda name: abs(tried[name].error(epsilon0) - row.stderr))
    chosen, error = tried[nearest], tried[nearest].error(epsilon0)
    kept = _local_delta(chosen.law(epsilon0), promise.epsilon, promise.rounds)
    larger = chosen.law(epsilon0 * (1.0 + LOCAL_STEP))
    # There is no less noise than one word in 2^64.
    sharp = min(larger.integers) == 1 or _local_delta(larger, promise.epsilon, promise.rounds) > delta
    right = kept <= delta * (1.0 + SAME) and sharp
    how = "the loss of lone reports, convolved" if promise.rounds > 1 else "the law of a lone report"
    within = LOCAL_SAME * error + promise.rounding
    errors = {name: each.error(_largest(each, promise)) for name, each in tried.items() if name != nearest}
    best = min(errors, key=lambda name: errors[name], default=nearest)
    unbeaten = errors.get(best, math.inf) >= error * (1.0 - BEATEN)
    shown = row.mechanism if unbeaten else f"{best}: {errors[best]:.6g}"
    return [
        holds("mechanism without a shuffler", row.mechanism, shown, f"none of {len(tried)} errs 1 % less", unbeaten),
        holds("epsilon0 without a shuffler", epsilon0, f"delta there: {kept:.6g}", how, right),
        agree("error to expect without a shuffler", row.stderr, error, "the law's variance", within=within),
    ]


@dataclass(frozen=True, slots=True)
class _Lone:
    """A known mechanism: what its reports give away at an epsilon0, and its error."""

    law: Callable[[float], CountedLaw]
    error: Callable[[float], float]


def _lone(promise: _Promise, claimed: str, epsilon0: float) -> Iterator[tuple[str, _Lone]]:
    """The known mechanisms, by name; grids of different steps are told apart by a number."""

    def lone(make: Callable[[float], CountedLaw]) -> _Lone:
        return _Lone(make, lambda e: promise.error(make(e)))

    def grid(points: int) -> _Lone:
        return lone(lambda e: _noisy("krr", points, 0, e))

    if promise.share is not None:
        share, people = promise.share, math.sqrt(promise.n)
        pair = grid(2).law
        yield HYBRID, _Lone(pair, lambda e: share * people * _hybrid(e))
        yield LONE_STAIRCASE, _Lone(pair, lambda e: share * people * _stairs(e))
        for points in range(2, FEW_GRIDS if promise.rounds >= MANY_ROUNDS else MOST_GRID_STEPS + 2):
            yield f"{GRID} #{points}", grid(points)
        return
    k = promise.k
    best = k / (math.exp(epsilon0) + 1.0)
    sizes = {1, math.floor(best), math.ceil(best), math.floor(best / 2.0)}
    digits = claimed.removeprefix("subset selection, sets of ")
    if digits != claimed and digits.isdecimal() and len(digits) <= len(str(k)):
        sizes |= {int(digits) // 2, int(digits), 2 * int(digits)}
    for size in sorted(each for each in sizes if 1 <= each <= max(1, k - 1)):
        alone = "randomized response" if k == 2 else "k-ary randomized response"
        name = alone if size == 1 else f"subset selection, sets of {size}"
        yield name, lone(lambda e, size=size: _noisy("subset", k, size, e))  # type: ignore[misc]
    nodes = [promise.bins or 0]
    while len(nodes) < 4 and -(-nodes[0] // 4) >= 4:
        nodes.insert(0, -(-nodes[0] // 4))
        yield f"randomized response in {len(nodes)} levels", lone(lambda e, nodes=tuple(nodes): _in_levels(nodes, e))  # type: ignore[misc]


def _largest(each: _Lone, promise: _Promise) -> float:
    """About the largest epsilon0 that keeps the promise."""

    def keeps(epsilon0: float) -> bool:
        return _local_delta(each.law(epsilon0), promise.epsilon, promise.rounds) <= promise.delta

    return _last(keeps, promise.epsilon / promise.rounds, close=LOCAL_STEP, most=LARGEST_EPSILON)


def _hybrid(epsilon0: float) -> float:
    """One report of a number from [0, 1], as if from [-1, 1]: piecewise, or else one bit, with the
    variances of both at 0 (Wang et al. 2019).
    """
    root = math.exp(min(epsilon0, 700.0) / 2.0)
    piecewise, bit = (root + 3.0) / (3.0 * (root - 1.0) ** 2), ((root**2 + 1.0) / (root**2 - 1.0)) ** 2
    return math.sqrt((1.0 - 1.0 / root) * piecewise + bit / root) / 2.0


def _noisy(family: str, k: int, size: int, epsilon0: float) -> CountedLaw:
    """Randomized response or subsets of a size, with an epsilon0."""
    law = CountedLaw(family, k, (1,), size, epsilon0)
    noise = math.ceil(WORD / (1.0 + (math.exp(epsilon0) - 1.0) * float(law.share)))
    return CountedLaw(family, k, (min(noise, WORD - 1),), size, epsilon0)


def _in_levels(nodes: tuple[int, ...], epsilon0: float) -> CountedLevels:
    """One of some levels, each as likely as the others."""
    levels, weights = tuple(_noisy("krr", each, 0, epsilon0) for each in nodes), (1.0 / len(nodes),) * len(nodes)
    law = CountedLevels(LEVELS, nodes[-1], (1,), 0, epsilon0, levels, weights)
    return CountedLevels(LEVELS, nodes[-1], law.least_integers, 0, epsilon0, levels, weights)


def _below_error(law: CountedLaw, n: int) -> float:
    """The largest error of the count below any cut point, with the n people spread evenly."""
    if isinstance(law, CountedLevels):
        weights, laws, inside = bin_weights([(0, end) for end in range(1, law.k)], law)
        each = weights**2 @ laws.T - inside
        return math.sqrt(float((each.mean(axis=1) * n).max()))
    if isinstance(law, CountedTree):
        return float(law.in_groups([0] * law.places, [(0, end) for end in range(1, law.k)], n).errors.max())
    worst = Fraction(0)
    for size in range(1, law.k // 2 + 1):
        hit, miss, held = law.hit + (size - 1) * law.miss, size * law.miss, Fraction(n * size, law.k)
        votes = held * hit * (1 - hit) + (n - held) * miss * (1 - miss) + law.moments(n, size)[1]
        worst = max(worst, votes / (law.hit - law.miss) ** 2)
    return math.sqrt(worst)


def _subset_below(law: CountedLaw, n: int) -> float:
    """The largest error of the count below any cut point from subsets of the bins, with the people
    spread evenly: from how often a report holds one value, and two.
    """
    hit, miss, w, k = law.hit, law.miss, law.size, law.k
    own = hit * Fraction(w - 1, k - 1)  # the sender's value and a given other one
    two = (hit * (w - 1) * (w - 2) + (1 - hit) * w * (w - 1)) / Fraction(max((k - 1) * (k - 2), 1))
    worst = Fraction(0)
    for size in range(1, k // 2 + 1):
        inside = hit + (size - 1) * miss + 2 * (size - 1) * own + (size - 1) * (size - 2) * two
        outside = size * miss + size * (size - 1) * two
        inside -= (hit + (size - 1) * miss) ** 2
        outside -= (size * miss) ** 2
        worst = max(worst, n * (size * inside + (k - size) * outside) / k)
    return math.sqrt(worst) / float(hit - miss)


def _local_delta(law: CountedLaw, epsilon: float, rounds: int) -> float:
    """The largest delta over pairs: with one user a haystack is the needle alone, and its loss is
    epsilon0, -epsilon0 or 0.
    """
    if rounds > MOST_LONE_ROUNDS:
        raise TooLarge(f"the loss of {rounds} lone reports is too long to be added up")
    net = np.arange(-rounds, rounds + 1)  # reports that speak for the truth, less those that speak against it
    gain = -np.expm1(np.minimum(epsilon - net * float(law.implied), 0.0))
    found = 0.0
    for kind in law.blankets:
        less, more = (sum(there for _, there, back in kind if (there - back) * side > 0) for side in (-1, 1))
        once = np.array([float(less), float(1 - less - more), float(more)])
        found = max(found, float(_repeated(once, rounds) @ gain))
    return found


def _repeated(chances: Array, rounds: int) -> Array:
    """The law of a sum, by convolving again and again: only positive numbers are added, so that
    every digit is kept.
    """
    found = np.ones(1)
    while rounds:
        if rounds & 1:
            found = np.convolve(found, chances)
        rounds >>= 1
        chances = np.convolve(chances, chances) if rounds else chances
    return found
