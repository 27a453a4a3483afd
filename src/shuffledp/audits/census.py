"""Checks of what users send when all values occur in all places: by value, by place, and between
users.

The auditor draws every user's value, so pairs of value and report are independent and have one
known law. Counts of them are binomial, exactly.

*p-values that are never too small: exact binomial tails, and sound ways to take many of them
together.*

A p-value here is at most u with probability at most u if the code is right. That is a theorem about
finitely many runs, not a limit, so the chance of a false alarm is what is stated, for rare events
too.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc

from shuffledp.audits.reports import Joint, Seen
from shuffledp.randomizers.randomizer import Floats

ROUNDING = 1e-9  # of the laws, relatively; far below what any number of runs resolves
SMALLEST = 1e-300  # what chance leaves open is never 0


def binomial(seen: ArrayLike, trials: ArrayLike, chance: ArrayLike) -> Floats:
    """Two-sided, for independent trials with this chance each."""
    from scipy.stats import binom  # large, and needed by audits only

    share = np.clip(np.asarray(chance, dtype=np.float64), 0.0, 1.0)
    hits, of = np.asarray(seen, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    more = binom.sf(hits - 1.0, of, np.minimum(share * (1.0 + ROUNDING), 1.0))
    less = binom.cdf(hits, of, share * (1.0 - ROUNDING))
    return np.asarray(np.where(of > 0, np.clip(2.0 * np.minimum(more, less), SMALLEST, 1.0), 1.0))


def least(p_values: ArrayLike) -> tuple[float, int]:
    """The least of some p-values, times their number (Bonferroni), and which it was. They may
    depend on each other.
    """
    values = np.ravel(np.asarray(p_values, dtype=np.float64))
    if not values.size:
        return 1.0, 0
    place = int(np.argmin(values))
    return min(1.0, values.size * float(values[place])), place


def together(p_values: Floats) -> float:
    """Fisher's product of p-values, each of which is sound given those before it: many small
    excesses add up.
    """
    if not p_values.size:
        return 1.0
    return max(float(chdtrc(2 * p_values.size, -2.0 * np.log(np.maximum(p_values, SMALLEST)).sum())), SMALLEST)


def multinomial(seen: NDArray[np.int64], law: Floats) -> tuple[float, int]:
    """Counts of independent draws from ``law``: the strangest cell, and all of them together; with
    the cell that is strangest.

    Given the counts before it, a cell's count is binomial among the draws that are left, which
    makes Fisher's product exact.
    """
    total = int(seen.sum())
    one, place = least(binomial(seen, total, law))
    left = total - np.concatenate([[0], np.cumsum(seen)[:-1]])
    room = np.cumsum(law[::-1])[::-1]
    part = np.divide(law, room, out=np.ones_like(law), where=room > 0.0)
    return min(1.0, 2.0 * min(one, together(binomial(seen[:-1], left[:-1], part[:-1])))), place


def bennett(off: float, variance: float, *, above: float, below: float) -> float:
    """Two-sided p-value of a sum of independent terms, ``off`` from its mean, with this variance.

    Each term is at most ``above`` over its mean and at most ``below`` under it. Bennett 1962: P(sum
    >= t) <= exp(-variance / b^2 * h(b t / variance)) with h(x) = (1 + x) log(1 + x) - x.
    """
    bound = above if off > 0.0 else below
    off = abs(off)
    if bound <= 0.0 or off <= ROUNDING * bound:
        return 1.0
    variance = max(variance, ROUNDING * bound * off)  # more variance is a weaker claim
    ratio = bound * off / variance
    return min(1.0, max(2.0 * math.exp(-variance / bound**2 * ((1.0 + ratio) * math.log1p(ratio) - ratio)), SMALLEST))


def unrelated(first: Floats, second: Floats) -> float:
    """Two-sided p-value of the hypothesis that independent pairs of scores have independent halves:
    Fisher's exact test of two splits near the medians.

    Each split depends on its own row without its order, so given both the number of agreements is
    hypergeometric, however rare the events.
    """
    from scipy.stats import hypergeom

    if len(first) == 0:
        return 1.0
    high, also = _split(first), _split(second)
    both, row, column = int(np.count_nonzero(high & also)), int(np.count_nonzero(high)), int(np.count_nonzero(also))
    law = hypergeom(len(first), row, column)
    return min(1.0, 2.0 * min(float(law.sf(both - 1)), float(law.cdf(both))))


def _split(scores: Floats) -> NDArray[np.bool_]:
    """Scores above the value that leaves nearest to one half above it."""
    values, counts = np.unique(scores, return_counts=True)
    return np.asarray(scores > values[int(np.argmin(np.abs(np.cumsum(counts) - len(scores) / 2.0)))])


BIASED = "reports do not follow the accounted law: the sampler is biased"
Finding = tuple[str, str, float, str]  # name of the check, what it means to fail it, p-value, where
MOST_TABLE = 1 << 14  # counters of values by places
OFTEN, ALL_LAGS = 3, 8  # parts of the stream that are searched for echoes at every lag, and at the usual ones
LONGEST = 1 << 17


class Census:
    """What is seen of ``n`` users in many runs, added up as it comes."""

    def __init__(self, joint: Joint, n: int) -> None:
        self.joint, self.n = joint, n
        strata = len(joint.hit_law)
        self.cells = np.zeros(len(joint.cell_law), dtype=np.int64)
        self.strata, self.fine = strata, n * strata <= MOST_TABLE
        # Users, and hits, by place, or by place and value.
        self.table = np.zeros((2, n * strata if self.fine else n), dtype=np.int64)
        self.by_value = np.zeros((2, strata), dtype=np.int64)
        self.agreed: dict[int, NDArray[np.int64]] = {}
        self.echoes: list[tuple[float, int]] = []
        self.parts = 0
        self.reports = 0

    def add(self, drawn: NDArray[np.intp], seen: Seen) -> None:
        """Whole runs, one after the other, as they were encoded in one call."""
        self.reports += len(drawn)
        self.cells += np.bincount(seen.cells, minlength=len(self.cells))
        strata = self.joint.strata(drawn)
        places = np.tile(np.arange(self.n), len(drawn) // self.n)
        key = places * self.strata + strata if self.fine else places
        for row, weight in enumerate((None, seen.hits)):
            chosen = slice(None) if weight is None else weight
            self.table[row] += np.bincount(key[chosen], minlength=self.table.shape[1])
            self.by_value[row] += np.bincount(strata[chosen], minlength=self.strata)
        for lag in _lags(self.n, len(drawn)) if self.parts < ALL_LAGS else (1, self.n):
            self._compare(lag, seen)
        if self.parts < OFTEN:
            off = seen.hits - self.joint.hit_law[strata]
            self.echoes += [self._echo(off, self._spread), self._echo(*self._halved(seen.marks))]
        self.parts += 1

    def findings(self) -> list[Finding]:
        return [self._law(), self._places(), self._lagged()]

    def _law(self) -> Finding:
        """All reports by value and class; truth and noise pooled over everything, which sees the
        smallest excess; and by value.
        """
        hits, of, law = self.by_value[1], self.by_value[0], self.joint.hit_law
        pooled = float(binomial(hits.sum(), self.reports, self._hit))
        cells, cell = multinomial(self.cells, self.joint.cell_law)
        each = binomial(hits, of, law)
        single, value = least(each)
        # Half of the chance of a false alarm is given to the pooled test.
        shares = [2.0 * pooled, 6.0 * cells, 6.0 * single, 6.0 * together(each)]
        p, which = min(1.0, *shares), int(np.argmin(shares))
        value = cell * len(self.joint.inputs) // len(self.cells) if which == 1 else value
        where = f"value {value}" if which in (1, 2) else "over all values"
        return "law", BIASED, p, where

    def _places(self) -> Finding:
        """The same by place: every user must have the same noise."""
        (of, hits), mean = self.table, self._hit
        each = binomial(hits, of, np.tile(self.joint.hit_law, self.n) if self.fine else np.full(self.n, mean))
        single, cell = least(each)
        tests = [single, together(each)]
        if self.fine:  # by place alone: at a given place, the values are as they were drawn
            of, hits = self.table.reshape(2, self.n, -1).sum(axis=2)
            whole = binomial(hits, of, mean)
            tests += [least(whole)[0], together(whole)]
        p, which = least(tests)
        user = cell // self.strata if self.fine else cell
        where = f"user {user}" if which in (0, 2) else "over all places"
        return "places", "noise depends on a user's place in the list, or on place and value together", p, where

    def _compare(self, lag: int, seen: Seen) -> None:
        """Pairs of reports at this distance, no report in two of them: do they agree in mark, and
        in being hits.
        """
        size = len(seen.hits)
        span = size - size % (2 * lag)
        counts = self.agreed.setdefault(lag, np.zeros(3, dtype=np.int64))
        counts[0] += span // 2
        for row, each in ((1, seen.marks), (2, seen.hits)):
            pairs = each[:span].reshape(-1, 2, lag)
            counts[row] += int(np.count_nonzero(pairs[:, 0] == pairs[:, 1]))

    def _lagged(self) -> Finding:
        """Agreement at chosen lags, and echoes at any lag."""
        hit = self._hit
        chances = (float(self.joint.mark_law @ self.joint.mark_law), hit**2 + (1.0 - hit) ** 2)
        lags, table = list(self.agreed), np.array(list(self.agreed.values()))
        agreed, place = least([binomial(table[:, row], table[:, 0], chances[row - 1]) for row in (1, 2)])
        echo, which = least([p for p, _ in self.echoes])
        p, kind = least([agreed, echo])
        lag = self.echoes[which][1] if kind else lags[place % len(lags)]
        often = "reports agree with others at a fixed distance too often, or too rarely"
        return "lags", f"{often}: users or runs share randomness", p, f"distance {lag}"

    @property
    def _hit(self) -> float:
        """The chance of a hit, over all values."""
        return _mean(self.joint.hit_law, len(self.joint.inputs))

    @property
    def _spread(self) -> float:
        """The variance of a hit about its own chance."""
        law = self.joint.hit_law
        return _mean(law * (1.0 - law), len(self.joint.inputs))

    def _halved(self, marks: NDArray[np.intp]) -> tuple[Floats, float]:
        """The marks as two halves, about equally likely, less their mean; and the variance."""
        below = np.cumsum(self.joint.mark_law)
        border = int(np.argmin(np.abs(below - 0.5)))
        chance = float(below[border])
        return np.asarray((marks <= border) - chance, dtype=np.float64), chance * (1.0 - chance)

    def _echo(self, off: Floats, variance: float) -> tuple[float, int]:
        """The strongest autocorrelation at any lag.

        Products at one lag fall into two halves of independent terms, so one of the halves is off
        by half of the sum at least: Bennett 1962 for both.
        """
        off = off[:LONGEST]
        size = len(off)
        if size < 4 or variance <= 0.0:
            return 1.0, 0
        power = np.abs(np.fft.rfft(off, 2 * size)) ** 2
        sums = np.fft.irfft(power)[1 : size // 2]
        lag = int(np.argmax(np.abs(sums)))
        strongest = abs(float(sums[lag])) * (1.0 - 1e-9)
        p = 2.0 * bennett(strongest / 2.0, size * variance**2, above=1.0, below=1.0)
        return min(1.0, p * len(sums)), lag + 1


def _mean(law: Floats, values: int) -> float:
    """The mean over all values, of which strata may hold different numbers."""
    sizes = np.bincount(np.arange(values) % len(law), minlength=len(law))
    return float(law @ sizes) / values


def _lags(n: int, size: int) -> list[int]:
    """Neighbours, the same place in the next run and its neighbours, and powers of two."""
    wanted = {*range(1, 9), n - 1, n, n + 1, 2 * n, *(1 << power for power in range(4, 19))}
    return sorted(lag for lag in wanted if 1 <= lag <= size // 2)
