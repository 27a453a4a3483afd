"""Several messages of everybody, for any number of people: one round's delta by plain sums over
what is seen, from the numbers that a law is written with.

Floating point throughout: binomial and Poisson probabilities as scipy has them, sums of positive
terms, and one subtraction per view; ``ROUNDED`` is more than all roundings together, relatively.
What a window leaves out is below ``OUTSIDE``. Where the theorem itself pays for a distance (a table
that is cut, shares that are mixed), so do both ends.

*Shares.* m - 1 permutations of n points leave C components, and E q^C is the sum over all ways to
give q colors n_1 + ... + n_q = n points of binom(n; n_1, ..., n_q)^(2-m): a coloring in which
every component has one color is counted q^C times, and permutations keep a given one with
probability 1 / binom(n; ...). One color for all gives q; the others are bounded by how many points
r do not have the commonest color.

*Randomized values among fakes or dummies: one round's delta by plain sums over two counts, from the
numbers that ran.*

A report lands on x0 with probability ``hit`` and on every other value with probability ``miss``, or
the other way about. Fakes are of x0 and of x1 alike: given that t of them and of other people's
random reports are of the two, and c of all others, the views (a, b) have the weights

    binom(t, a) / 2^t  2/t  ((p - xq) a - (xp - q) b - (x - 1) q c) ,    a + b = t ,

whose positive part falls with c and is convex in it. So c may be its mean, from below, which is all
that two counts show; and from above it may lie, at the same mean, on a few points, and be smaller
or a Poisson number. Among dummies c / (k - 2) is a mean of k - 2 ratios z(i-1) / z(i).

``Ends`` are both ends of what a theorem says, and of what is seen if all others hold a third value;
the first of two, where there is no third.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import binom, nbinom, poisson

from shuffledp.judge.effort import TooLarge
from shuffledp.judge.fakes import added
from shuffledp.judge.lattice import Array

ROUNDED, CANCELED, OUTSIDE = 1e-9, 1e-12, 1e-30
WORD = 2**64
MOST_VIEWS = 1 << 26
MOST_OUTSIDE = 60  # points that do not have the commonest color; more are rarer still

Curve = Callable[[float], tuple[float, float]]


@dataclass(frozen=True, eq=False)
class MessageSums:
    """One round of noise that people share: ``there`` and ``back`` are delta of the pair that the
    theorem is about, in both orders, between two ends.
    """

    there: Curve
    back: Curve

    @classmethod
    def of(cls, law: Mapping[str, Any], people: int) -> MessageSums:
        """From a law as it is written: its name, its parameters, and its ``integers``."""
        return (_signed if law["type"] == "signed" else _split)(law, int(law["integers"][0]) / WORD, people)

    def deltas(self, epsilons: Array, check: Callable[[], None] = lambda: None) -> tuple[Array, Array]:
        """Both ends of the larger order at every epsilon; ``check`` may stop it before each."""
        found, curves = [], dict.fromkeys((self.there, self.back))  # once, where the orders are alike
        for eps in epsilons:
            check()
            found.append([curve(float(eps)) for curve in curves])
        low, high = np.array(found).max(axis=1).T
        return low, high


def _around(
    value: float, size: float = 0.0, distance: float = 0.0, eps: float = 0.0, *, mixed: float = 0.0
) -> tuple[float, float]:
    """Both ends of a sum of differences whose terms add up to ``size``, and of what is as far from
    it as ``distance``; the sum of all shares is no farther, and what is ``mixed`` may show more.
    """
    off, growth = ROUNDED * value + CANCELED * size + OUTSIDE, 1.0 + math.exp(min(eps, 700.0))
    return max(value - off - growth * distance, 0.0), min(value + off + growth * (distance + mixed), 1.0)


def _signed(law: Mapping[str, Any], q: float, people: int) -> MessageSums:
    """All numbers of +1 and of -1, by min(a, b) and a - b."""
    honest = law["honest"]
    if people < honest:
        raise TooLarge("the noise of fewer people than it was meant for has no closed form")
    mean = law["pairs"] * people / honest
    most, reach = math.ceil(mean + 14.0 * math.sqrt(mean) + 70.0), math.ceil(-75.0 / math.log(q))
    if (most + 1) * reach > MOST_VIEWS:
        raise TooLarge(f"{(most + 1) * reach} views are needed")
    m = np.arange(most + 1.0)
    # U(m) = sum over j of q^(2j) P(F = m - j)
    u = np.convolve(poisson.pmf(m, mean), q ** (2.0 * np.arange(float(reach))))
    spread = (1.0 - q) ** 2 * q ** np.arange(reach + 1.0)
    missing = people * _too_many(law, q)

    def without(d: int) -> Array:
        """W(a, a + d) for all a."""
        return np.append(spread[d] * u, 0.0)

    def more(d: int) -> Array:
        """W(a - 1, a + d) for all a: what one more +1 makes of W(a, a + d)."""
        return np.append(0.0, spread[d + 1] * u)

    def delta(eps: float, turned: bool) -> tuple[float, float]:
        x, total, size = math.exp(min(eps, 700.0)), 0.0, 0.0
        for d in range(reach):
            # a <= b = a + d; and a = b + d + 1 > b, where one more makes W(b + d, b) of it
            pairs = (more(d), without(d)), (without(d), without(d + 1))
            for with_it, without_it in pairs:
                first, second = (without_it, with_it) if turned else (with_it, without_it)
                gains = first > x * second
                gained, cost = float(first[gains].sum()), x * float(second[gains].sum())
                total, size = total + gained - cost, size + gained
        return _around(max(total, 0.0), size, missing, eps)

    return MessageSums(lambda eps: delta(eps, False), lambda eps: delta(eps, True))


def _too_many(law: Mapping[str, Any], q: float) -> float:
    """The probability that a person draws more than there is room for."""
    room, honest = law["messages"] - 1, law["honest"]
    j = np.arange(4 * room + 200)
    noise = nbinom.pmf(j, 1.0 / honest, 1.0 - q)
    pairs = np.zeros(j.size)
    pairs[::2] = poisson.pmf(np.arange(math.ceil(j.size / 2)), law["pairs"] / honest)
    total = np.convolve(np.convolve(noise, noise)[: j.size], pairs)[: j.size]
    return float(total[room + 1 :].sum())


def _split(law: Mapping[str, Any], q: float, people: int) -> MessageSums:
    """Noise that moves by k - 1 steps: j <= 0 and j >= k - 1 are one view each."""
    honest, shift = law["honest"], law["k"] - 1
    if people < honest:
        raise TooLarge("the noise of fewer people than it was meant for has no closed form")
    if shift > MOST_VIEWS:
        raise TooLarge(f"{shift} steps are needed")
    # From the exact ratio: 1 - q may be small.
    step = -math.log1p(-(WORD - round(q * WORD)) / WORD) if q > 0.5 else -math.log(q)
    j = np.arange(1.0, shift)
    norm = 1.0 + q
    first = np.concatenate([[1.0], -np.expm1(-step) * np.exp(-step * j), [math.exp(-step * shift)]]) / norm
    second = first[::-1]
    beyond = float(nbinom.sf(law["reach"], 1.0 / honest, 1.0 - q))
    distance = people * 2.0 * beyond
    excess = colorings_excess(people, law["messages"] - 1, 2 ** law["share_bits"])
    mixed = 0.5 * math.sqrt(excess)

    def delta(eps: float) -> tuple[float, float]:
        x = math.exp(min(eps, 700.0))
        gains = np.maximum(first - x * second, 0.0)
        return _around(float(gains.sum()), float(first[gains > 0.0].sum()), distance, eps, mixed=mixed)

    return MessageSums(delta, delta)


@cache
def colorings_excess(points: int, permutations: int, colors: int) -> float:
    """E q^(C-1) - 1, nearly: exact in its first term, with one point outside, and above the truth
    in the others up to ``MOST_OUTSIDE``.

    >>> colorings_excess(100, 4, 3)  # nearly (3 - 1) / 100^3
    2.0e-06
    """
    r = np.arange(1.0, min(MOST_OUTSIDE, points // 2) + 1.0)
    ways = np.cumsum(np.log((colors - 2.0 + r) / r))  # of r points to have one of the other colors
    places = np.cumsum(np.log((points - r + 1.0) / r))
    logs = ways - (permutations - 1) * places
    top = float(logs.max())
    if r.size > 2 and logs[-1] > logs[0]:
        return math.inf
    return float(math.exp(min(top, 700.0)) * np.exp(logs - top).sum())


UNSEEN = 1e-21
MOST_CELLS = 1 << 21
CELLS = 16.0  # per deviation, of one ratio

Ends = tuple[Array, Array]
Points = tuple[Array, Array]  # values, and how likely they are


@dataclass(frozen=True)
class LightSums:
    """A report of k-RR beside those of ``others``."""

    k: int
    hit: float
    miss: float
    others: int
    check: Callable[[], None] = lambda: None  # called before every sum, and may stop them

    def among_fakes(self, first: int, chances: Array, elsewhere: float, drop: float, epsilons: Array) -> list[Ends]:
        """``chances`` of so many fakes of two values, from ``first`` on; on average there are
        ``elsewhere`` fakes of other values, and ``drop`` fewer for every one of the two.
        """
        q, k = self.miss, self.k
        low, strays = _coins(self.others, 2.0 * q)
        w = np.convolve(chances, strays)
        t = first + low + np.arange(1.0, w.size + 1.0)  # with the report that is sought
        own = q * (k - 2) / (1.0 - 2.0 * q)
        left = np.maximum(elsewhere + self.others * own - max(own, drop) * (t - 1.0), 0.0)
        mean = float(w @ t) / float(w.sum())
        far = float(np.interp(mean + 8.0 * math.sqrt(mean), t, left))
        spread = _few(*_poisson(far), self._points) if far > 0.0 else (np.zeros(1), np.ones(1))
        most = np.where(left >= far, left, 0.0)[:, None] * spread[0] * (1.0 - ROUNDED)
        mean_c = np.append(w[1:], 0.0) * t * (k - 2) / (2.0 * np.maximum(w, 1e-300))  # given t

        def delta(eps: float, c: Array, chance: Array) -> float:
            self.check()
            x, total = math.exp(eps), t[:, None]
            gain, cost, both = self.hit - x * q, x * self.hit - q, (x - 1.0) * q
            if gain <= 0.0:
                return 0.0
            j = np.floor((cost * total + both * c) / (gain + cost)) + 1.0
            kept = gain * binom.sf(j - 2.0, total - 1.0, 0.5) - cost * binom.sf(j - 1.0, total - 1.0, 0.5)
            found = np.maximum(kept - 2.0 * both * c / total * binom.sf(j - 1.0, total, 0.5), 0.0)
            return float(w @ (found @ chance))

        least = [delta(eps, mean_c[:, None], np.ones(1)) for eps in epsilons.tolist()]
        above = [delta(eps, most, spread[1]) for eps in epsilons.tolist()]
        seen = (least, least) if k > 2 else (self._with_first(first, chances, epsilons),) * 2
        return [_ends(least, above), _ends(*seen)]

    def among_dummies(self, chances: Array, keep: float, epsilons: Array) -> list[Ends]:
        """``chances`` of dummies of one value; reports are kept with probability ``keep``."""
        self._check(chances.size)
        z = np.append(chances, 0.0)
        sure: Points = (np.ones(1), np.ones(1))
        hay = np.outer(chances, chances)
        rest = _mean_ratio(z, self.k - 2, 3 * self._points) if self.k > 2 else sure
        least, above = (self._two_counts(hay, keep, each, epsilons) for each in (sure, rest))
        low, strays = _coins(self.others, (2.0 if self.k > 2 else 1.0) * self.miss * keep)
        if self.k == 2:
            law = np.append(np.convolve(chances, strays), 0.0)
            more = np.append(0.0, law[:-1])
            one, two = (law + keep * chance * (more - law) for chance in (self.hit, self.miss))
            seen = [_larger(one, two, eps) for eps in epsilons.tolist()]
        else:
            t = low + np.arange(strays.size)
            i = np.arange(t[-1] + 1)
            self._check(i.size + chances.size)
            table = np.zeros((i.size, i.size))
            for total, weight in zip(t.tolist(), strays.tolist(), strict=True):
                table[i[: total + 1], total - i[: total + 1]] = weight * binom.pmf(i[: total + 1], total, 0.5)
            for _ in range(2):
                table = np.array([np.convolve(row, chances) for row in table]).T
            seen = self._two_counts(table, keep, sure, epsilons)
        return [_ends(least, above), _ends(seen, seen)]

    @property
    def _points(self) -> int:
        """On which c lies: more where it says more."""
        share = self.k * (self.miss / self.hit) ** 2
        return 33 if share < 1e-4 else 65 if share < 3e-3 else 129

    @staticmethod
    def _check(cells: int) -> None:
        if cells**2 > MOST_CELLS:
            raise TooLarge(f"{cells} counts of each of two values are too many to be paired")

    def _two_counts(self, hay: Array, keep: float, rest: Points, epsilons: Array) -> list[float]:
        """All pairs of counts, added up; ``rest`` is c / (k - 2)."""
        none, here, there = (np.pad(hay, ((a, 1 - a), (b, 1 - b))) for a, b in ((0, 0), (1, 0), (0, 1)))
        some = here > there
        none, here, there = none[some], here[some], there[some]
        found, weights = [], list(zip(*rest, strict=True))
        for x in np.exp(epsilons).tolist():
            self.check()
            gain = (self.hit - x * self.miss) * here - (x * self.hit - self.miss) * there
            gain = keep * gain - (x - 1.0) * (1.0 - keep) * none
            lost = (x - 1.0) * keep * self.miss * (self.k - 2) * none
            parts = [chance * float(np.maximum(gain - each * lost, 0.0).sum()) for each, chance in weights]
            found.append(sum(parts))
        return found

    def _with_first(self, first: int, chances: Array, epsilons: Array) -> list[float]:
        """Two values, and all others hold the first: how many fakes, and how many of the second."""
        self._check(first + chances.size)
        _, strays = _coins(self.others, self.miss)
        one, two = [], []
        for number, weight in enumerate(chances.tolist(), start=first):
            law = weight * np.convolve(binom.pmf(np.arange(number + 1), number, 0.5), strays)
            fewer, more = np.append(law, 0.0), np.append(0.0, law)
            one.append(self.hit * fewer + self.miss * more)
            two.append(self.miss * fewer + self.hit * more)
        return [_larger(np.concatenate(one), np.concatenate(two), eps) for eps in epsilons.tolist()]


def _larger(one: Array, two: Array, eps: float) -> float:
    """delta of the pair in whichever order leaks more."""
    x = math.exp(eps)
    return max(float(np.maximum(p - x * q, 0.0).sum()) for p, q in ((one, two), (two, one)))


def _ends(least: list[float], most: list[float]) -> Ends:
    low, high = np.array(least) * (1.0 - ROUNDED) - UNSEEN, np.array(most) * (1.0 + ROUNDED) + UNSEEN
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def _coins(trials: int, p: float) -> tuple[int, Array]:
    """From which number of heads on, and how likely each is."""
    return _law_window(trials * p, trials, lambda counts: binom.pmf(counts, trials, p))


def _poisson(mean: float) -> Points:
    size = min(mean, 1e6)  # a larger mean spreads less
    low, chances = _law_window(size, math.inf, lambda counts: poisson.pmf(counts, size))
    return (low + np.arange(float(chances.size))) / size, chances


def _law_window(mean: float, most: float, law: Callable[[Array], Array]) -> tuple[int, Array]:
    reach = 12.0 * math.sqrt(mean) + 60.0
    low, high = max(math.floor(mean - reach), 0), int(min(math.ceil(mean + reach), most))
    if high - low > MOST_CELLS:
        raise TooLarge(f"{high - low} counts are needed")
    return low, law(np.arange(float(low), high + 1.0))


def _mean_ratio(z: Array, many: int, points: int) -> Points:
    """z(i-1) / z(i), averaged over ``many`` counts: on a lattice, added up by doubling."""
    seen = z > 0.0
    ratio, chances = np.append(0.0, z[:-1])[seen] / z[seen], z[seen]
    mean = float(ratio @ chances)
    deviation = math.sqrt(float((ratio - mean) ** 2 @ chances))
    step = max(deviation, 1e-9) / CELLS
    place = np.minimum(ratio, mean + 12.0 * deviation) / step
    below = np.floor(place).astype(np.int64)
    power = np.zeros(below.max() + 2)
    np.add.at(power, below, chances * (below + 1.0 - place))
    np.add.at(power, below + 1, chances * (place - below))
    first, total = added(0, power, many)
    values = (first + np.arange(float(total.size))) * step / many
    return _few(values, total, points)


def _few(values: Array, chances: Array, points: int) -> Points:
    """The same mean on a few points, 0 and others up to 7 deviations around it."""
    mean = float(values @ chances) / float(chances.sum())
    deviation = math.sqrt(float((values - mean) ** 2 @ chances))
    grid = mean + deviation * np.linspace(-7.0, 7.0, points)
    grid = np.unique(np.append(0.0, grid[grid > 0.0]))
    if grid.size < 2:
        return np.zeros(1), np.ones(1)
    capped = np.minimum(values, grid[-1])
    at = np.clip(np.searchsorted(grid, capped, side="right") - 1, 0, grid.size - 2)
    up = (capped - grid[at]) / np.diff(grid)[at]
    weights = np.zeros(grid.size)
    np.add.at(weights, at, chances * (1.0 - up))
    np.add.at(weights, at + 1, chances * up)
    return grid * (1.0 - ROUNDED), weights
