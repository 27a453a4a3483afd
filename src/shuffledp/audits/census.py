"""Checks of what users send when all values occur in all places: by value, by place, and between
users.

The auditor draws every user's value, so pairs of value and report are independent and have one
known law. Counts of them are binomial, exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shuffledp.audits.joint import Joint, Seen
from shuffledp.audits.tails import bennett, binomial, least, multinomial, together
from shuffledp.randomizers.randomizer import Floats

__all__ = ["Census", "Finding"]

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
            self.echoes += [
                self._echo(seen.hits - self.joint.hit_law[strata], self._spread),
                self._echo(*self._halved(seen.marks)),
            ]
        self.parts += 1

    def findings(self) -> list[Finding]:
        """The checks."""
        return [self._law(), self._places(), self._lagged()]

    def _law(self) -> Finding:
        """All reports by value and class; truth and noise pooled over everything, which sees the
        smallest excess; and by value.
        """
        hits, of, law = self.by_value[1], self.by_value[0], self.joint.hit_law
        pooled = float(binomial(hits.sum(), self.reports, _mean(law, len(self.joint.inputs))))
        cells, cell = multinomial(self.cells, self.joint.cell_law)
        each = binomial(hits, of, law)
        single, value = least(each)
        # Half of the chance of a false alarm is given to the pooled test.
        shares = [2.0 * pooled, 6.0 * cells, 6.0 * single, 6.0 * together(each)]
        p, which = min(1.0, *shares), int(np.argmin(shares))
        value = cell * len(self.joint.inputs) // len(self.cells) if which == 1 else value
        where = ("over all values", f"value {value}", f"value {value}", "over all values")[which]
        return "law", "reports do not follow the accounted law: the sampler is biased", p, where

    def _places(self) -> Finding:
        """The same by place: every user must have the same noise."""
        of, hits = self.table
        law = (
            np.tile(self.joint.hit_law, self.n)
            if self.fine
            else np.full(self.n, _mean(self.joint.hit_law, len(self.joint.inputs)))
        )
        each = binomial(hits, of, law)
        single, cell = least(each)
        tests = [single, together(each)]
        if self.fine:  # by place alone: at a given place, the values are as they were drawn
            hits = hits.reshape(self.n, -1).sum(axis=1)
            whole = binomial(
                hits, of.reshape(self.n, -1).sum(axis=1), _mean(self.joint.hit_law, len(self.joint.inputs))
            )
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
        hit = _mean(self.joint.hit_law, len(self.joint.inputs))
        chances = (float(self.joint.mark_law @ self.joint.mark_law), hit**2 + (1.0 - hit) ** 2)
        lags = list(self.agreed)
        table = np.array([self.agreed[lag] for lag in lags])
        agreed, place = least(
            [binomial(table[:, row], table[:, 0], chance) for row, chance in zip((1, 2), chances, strict=True)]
        )
        echo, which = least([p for p, _ in self.echoes])
        p, kind = least([agreed, echo])
        lag = self.echoes[which][1] if kind else lags[place % len(lags)]
        return (
            "lags",
            "reports agree with others at a fixed distance too often, or too rarely: users or runs share randomness",
            p,
            f"distance {lag}",
        )

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
