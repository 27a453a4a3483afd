"""A lightly randomized report among fakes: what the counts of two values show, and the others.

The target's report, k-RR with p for the truth and q for every other value, is kept with probability
``keep`` and lands on x0, on x1, or elsewhere. H is the law of the other messages that name x0 and
x1: fakes, dummies, and other people's reports that are drawn from all values alike, which happens
with probability kq, so that each lands on x0 or x1 with probability q. With x = e^eps,

    P0 - x P1 = keep ((p - xq) H(a-1, b) - (xp - q) H(a, b-1))
                - (x - 1) ((1 - keep) H(a, b) + keep q E(a, b) R) ,

where E R is what the rest of the view says of a report that lands elsewhere.

*Lower*: whoever looks at a and b alone has E = (k - 2) H and R = 1. If all others hold a third
value, H is the truth. (Among dummies others are left out of the upper end: how many of their
reports were drawn would be shown, and that is not worth its price.)

*Upper*: all is shown, and of other people's reports which ones were drawn. The positive part falls
with R and is convex in it, so R may be replaced by what is smaller, or has the same mean and is
spread wider.

- Dummies: E = (k - 2) H, and R is the mean of z(c-1) / z(c) over k - 2 independent counts c. Grids
  to whose neighboring points a value goes, so that its mean is kept, add up such means.
- Fakes: E = H(a-1, b) / a and R = c, the messages of other values, given that T = a + b - 1 of them
  are of the two. c is a sum of coins, and such a sum is less spread than a Poisson number of its
  mean, which is at least ``mean`` - T ``drop``. Poisson numbers of larger means are less spread,
  relatively.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from shuffledp._types import Floats
from shuffledp.accounting.haystack.contour import UNIT
from shuffledp.accounting.messages.fakes import DiscretePair
from shuffledp.accounting.reductions import Curve

OUTSIDE = 1e-38  # a count outside of all windows: Chernoff, 14 deviations and 66 away
UNSEEN = 1e-46  # a view so rare that it is as good as outside
MOST_VIEWS = 3_000_000
FINE = 0.125  # deviations between the points of a grid that is added to others
ADDED = 1.2e-3  # six times the share of variance that a grid may add
COARSEST = 2.0  # deviations between points
WIDE, FARTHER = 6.0, (-14.0, -9.0)  # deviations up to which points are as close, and points beyond
FAR = 8.0  # deviations: there, whether a report landed elsewhere may be shown
SAFE = 1.0 - 1e-11  # more than what rounding does to a mean
SURE = 1e6  # a Poisson number of this mean is as good as its mean


class TooManyViews(Exception):
    """There are more views than are worth their time."""


class Numbers(NamedTuple):
    """The law of a whole number: ``law[i]`` is the probability of ``first`` + i."""

    first: int
    law: Floats

    @property
    def last(self) -> int:
        return self.first + self.law.size - 1

    @property
    def mean(self) -> float:
        return self.first + float(np.arange(self.law.size) @ self.law)

    def plus(self, other: Numbers) -> Numbers:
        """The sum of two independent ones."""
        return Numbers(self.first + other.first, np.convolve(self.law, other.law))


class Rest(NamedTuple):
    """R of the module's formula: its values, and how likely they are."""

    values: Floats
    chances: Floats


SHOWN = Rest(np.zeros(1), np.ones(1))  # whether the report landed elsewhere
HIDDEN = Rest(np.ones(1), np.ones(1))


@dataclass(frozen=True, eq=False)
class MirroredPair(DiscretePair):
    """A pair that is alike in both orders; atoms no likelier under the first law are one."""

    def swapped(self) -> MirroredPair:
        return self


@dataclass(frozen=True, slots=True)
class LightReport:
    """One report of k-RR, and how many ``others`` sent one."""

    k: int
    epsilon0: float
    others: int

    @property
    def miss(self) -> float:
        """q: the probability of every value but the truth."""
        return 1.0 / (math.expm1(self.epsilon0) + self.k)

    @property
    def hit(self) -> float:
        """p: the probability of the truth."""
        return math.exp(self.epsilon0) * self.miss

    def among_fakes(self, slots: int, chance: float) -> tuple[Curve, tuple[Curve, ...]]:
        """Both ends; each of ``slots`` slots holds a uniform fake with probability ``chance``."""
        share = chance / self.k
        drop = share * (self.k - 2) / max(1.0 - 2.0 * share, 1e-300)
        return self._among_fakes(_coins(slots, 2.0 * share), slots * drop, drop)

    def among_poisson_fakes(self, mean: float) -> tuple[Curve, tuple[Curve, ...]]:
        """An upper end and lower ones, where every value has a Poisson number of fakes."""
        return self._among_fakes(_poisson(2.0 * mean), (self.k - 2) * mean, 0.0)

    def _among_fakes(self, fakes: Numbers, elsewhere: float, drop: float) -> tuple[Curve, tuple[Curve, ...]]:
        """``fakes`` of two values, and on average so many of all others."""
        q = self.miss
        own = q * (self.k - 2) / (1.0 - 2.0 * q)
        both, elsewhere, drop = fakes.plus(_coins(self.others, 2.0 * q)), elsewhere + self.others * own, max(own, drop)
        low, hay = _two_counts(both)
        least = elsewhere - drop * (both.mean + FAR * math.sqrt(both.mean))
        counts = np.arange(float(low), low + len(hay) + 1.0)
        others = elsewhere - drop * (np.add.outer(counts, counts) - 1.0)
        scale = np.where(others >= least, others, 0.0) / np.maximum(counts, 1.0)[:, None]
        rest, doubt = SHOWN, _doubt(both)
        if least > 0.0:
            number = _poisson(min(least, SURE))
            values = np.arange(float(number.first), number.last + 1.0) / min(least, SURE)
            rest = _spread(values, number.law, self._closeness)
        upper = self._pair("blanket and fakes", hay, scale * _moved(hay, 1, 0), rest, 1.0, doubt)
        return upper, (self._third(hay, 1.0, doubt),) if self.k > 2 else self._first(fakes)

    def among_dummies(self, chances: Floats, keep: float) -> Curve:
        """The upper end among dummies, i of them with probability chances[i]."""
        hay, rest = np.outer(chances, chances), SHOWN
        if self.k > 2:
            seen = chances > 0.0
            ratios = np.append(0.0, chances[:-1])[seen] / chances[seen]
            rest = _mean(ratios, chances[seen], self.k - 2, self._closeness)
        doubt = 64.0 * UNIT
        return self._pair("dummies", hay, (self.k - 2.0) * _moved(hay, 0, 0), rest, keep, doubt)

    def seen_with_dummies(self, chances: Floats, keep: float) -> Curve:
        """A lower end of the same."""
        both = _coins(self.others, 2.0 * keep * self.miss)
        _, hay = _two_counts(both)
        for _ in range(2):  # the dummies of one value, and then of the other
            hay = np.array([np.convolve(row, chances) for row in hay]).T
        return self._third(hay, keep, _doubt(both) + UNIT * (hay.size + 64.0))

    def _third(self, hay: Floats, keep: float, doubt: float) -> MirroredPair:
        """Two counts, where all others hold a third value."""
        name = "the counts of two values; all others hold a third"
        return self._pair(name, hay, (self.k - 2.0) * _moved(hay, 0, 0), HIDDEN, keep, doubt)

    def _first(self, fakes: Numbers) -> tuple[Curve, ...]:
        """Two values, all others hold the first: numbers of fakes and of the second."""
        if fakes.law.size**2 > MOST_VIEWS:
            raise TooManyViews
        p, q, strays = self.hit, self.miss, _coins(self.others, self.miss)
        sums = [chance * _coins(fakes.first + i, 0.5).plus(strays).law for i, chance in enumerate(fakes.law.tolist())]
        fewer, more = (np.concatenate([np.pad(law, way) for law in sums]) for way in ((0, 1), (1, 0)))
        doubt = _doubt(fakes) + _doubt(strays)
        pair = DiscretePair("all others hold x0", p * fewer + q * more, q * fewer + p * more, doubt, OUTSIDE)
        return pair, pair.swapped()

    def _pair(self, name: str, hay: Floats, scale: Floats, rest: Rest, keep: float, doubt: float) -> MirroredPair:
        """P0 and P1 of the module's formula, E being ``scale``."""
        if abs(float(hay.sum()) - 1.0) > 8.0 * doubt:
            raise AssertionError(f"the law of two counts must sum to 1, got {hay.sum()!r}")
        first, second, neither = _moved(hay, 1, 0), _moved(hay, 0, 1), _moved(hay, 0, 0)
        likelier = (first > second) & (first > UNSEEN)
        if int(np.count_nonzero(likelier)) * rest.values.size > MOST_VIEWS:
            raise TooManyViews
        first, second, neither, scale = (each[likelier] for each in (first, second, neither, scale))
        p, q, common = self.hit, self.miss, (1.0 - keep) * neither
        beyond = keep * q * np.multiply.outer(rest.values, scale)
        laws = [
            (rest.chances[:, None] * (keep * (p * one + q * two) + common + beyond)).ravel()
            for one, two in ((first, second), (second, first))
        ]
        one, two = (np.append(law, max(1.0 - float(law.sum()), 0.0)) for law in laws)
        return MirroredPair(name, one, two, doubt, OUTSIDE)

    @property
    def _closeness(self) -> float:
        """Deviations between points of R's grid: its share is about (k - 2) (q / p)^2."""
        share = max(self.k - 2, 1) * math.exp(-2.0 * self.epsilon0)
        return min(max(math.sqrt(ADDED / share), 2.0 * FINE), COARSEST) if share > 0.0 else COARSEST


def _coins(trials: int, p: float) -> Numbers:
    """How many of so many coins show heads."""
    if p >= 1.0 or trials == 0:
        return Numbers(trials, np.ones(1))
    odds = p / (1.0 - p)
    return _numbers(trials * p, trials, lambda count: odds * (trials - count))


def _poisson(mean: float) -> Numbers:
    return _numbers(mean, math.inf, lambda count: np.full_like(count, mean))


def _numbers(mean: float, most: float, growth: Callable[[Floats], Floats]) -> Numbers:
    """A law whose probabilities grow from one count to the next by growth(count) / (count + 1)."""
    reach = 14.0 * math.sqrt(mean) + 66.0
    first, last = max(math.floor(mean - reach), 0), int(min(math.ceil(mean + reach), most))
    if last - first > MOST_VIEWS:
        raise TooManyViews
    counts = np.arange(float(first), last)
    logs = np.append(0.0, np.cumsum(np.log(growth(counts) / (counts + 1.0))))
    law = np.exp(logs - logs.max())
    return Numbers(first, law / law.sum())


def _doubt(number: Numbers) -> float:
    """Relative, of two counts: sums of logarithms below 1000, and log-gammas."""
    return UNIT * (1024.0 * (number.law.size + 8.0) + 16.0 * float(gammaln(number.last + 3.0)))


def _two_counts(both: Numbers) -> tuple[int, Floats]:
    """The law of two counts of ``both``, alike for either: the first count, and a table."""
    mean = both.mean / 2.0
    reach = 14.0 * math.sqrt(mean) + 66.0
    low, high = max(math.floor(mean - reach), 0), min(math.ceil(mean + reach), both.last)
    if (high - low + 1) ** 2 > MOST_VIEWS:
        raise TooManyViews
    one = np.arange(low, high + 1)
    total = np.add.outer(one, one)
    inside = (total >= both.first) & (total <= both.last)
    factorials = gammaln(np.arange(2.0 * high + 2.0) + 1.0)
    ways = factorials[total] - np.add.outer(factorials[one], factorials[one]) - total * math.log(2.0)
    return low, np.where(inside, both.law[np.where(inside, total - both.first, 0)], 0.0) * np.exp(ways)


def _moved(hay: Floats, first: int, second: int) -> Floats:
    """The law of two counts after one more of the first, of the second, or of none."""
    return np.pad(hay, ((first, 1 - first), (second, 1 - second)))


def _mean(values: Floats, chances: Floats, many: int, step: float) -> Rest:
    """The mean of ``many`` independent numbers >= 0, on a grid."""
    power, total, left = _spread(values, chances, FINE), None, many
    while left:
        if left & 1:
            total = power if total is None else _sum(total, power)
        left >>= 1
        power = _sum(power, power) if left else power
    assert total is not None
    return _spread(total.values / many, total.chances, step)


def _sum(one: Rest, two: Rest) -> Rest:
    values, chances = np.add.outer(one.values, two.values), np.multiply.outer(one.chances, two.chances)
    return _spread(values.ravel(), chances.ravel(), FINE)


def _spread(values: Floats, chances: Floats, step: float) -> Rest:
    """The same on few points, ``step`` deviations apart; the largest values are made smaller."""
    mean = float(values @ chances) / float(chances.sum())
    deviation = math.sqrt(float((values - mean) ** 2 @ chances))
    near = step * np.arange(-math.ceil(WIDE / step), math.ceil(WIDE / step) + 1.0)
    points = mean + deviation * np.append(FARTHER, near)
    grid = np.unique(np.append(0.0, points[points > 0.0]))
    if grid.size < 2:
        return SHOWN
    values = np.minimum(values, grid[-1])
    place = np.minimum(np.searchsorted(grid, values, side="right") - 1, grid.size - 2)
    share = (values - grid[place]) / (grid[place + 1] - grid[place])
    below = np.bincount(place, chances * (1.0 - share), grid.size)
    above = np.bincount(place + 1, chances * share, grid.size)
    return Rest(grid * SAFE, np.asarray(below + above, dtype=np.float64))
