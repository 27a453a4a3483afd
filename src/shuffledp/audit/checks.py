"""Checks on the runs themselves: a biased sampler or a repeated random source may leak little and still be wrong.

Each check has a p-value: how often runs at least this strange occur if the code does what the account says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, norm

from shuffledp.randomizers.base import Floats

__all__ = ["SIGNIFICANCE", "Check", "Tally"]

SIGNIFICANCE = 1e-4  # how often all checks together may raise a false alarm
LEAST_EXPECTED = 10.0
CELLS = 1 << 21  # counters in memory at once


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its name, what it means to fail it, and its p-value; ``failed`` allows for how many checks there are."""

    name: str
    meaning: str
    p_value: float
    failed: bool


class Tally:
    """What the checks need of the runs on both datasets, added up as they come."""

    def __init__(self, n: int, hay: Floats | None, needles: tuple[Floats, Floats] | None) -> None:
        self.n, self.hay, self.needles = n, hay, needles
        self.seen = [0.0 if hay is None else np.zeros(len(hay)), 0.0 if hay is None else np.zeros(len(hay))]
        self.runs = [0, 0]
        self.collisions: list[list[Floats]] = [[], []]
        self.scores: list[list[Floats]] = [[], []]

    def add(self, which: int, scores: Floats, classes: NDArray[np.intp] | None) -> None:
        """Some runs on one dataset."""
        self.runs[which] += len(scores)
        self.scores[which].append(scores)
        if classes is None or self.hay is None:
            return
        size = len(self.hay)
        for start in range(0, len(classes), step := max(1, CELLS // size)):
            part = classes[start : start + step]
            flat = (part + size * np.arange(len(part))[:, None]).ravel()
            counts = np.bincount(flat, minlength=size * len(part)).reshape(len(part), size)
            self.seen[which] += counts.sum(axis=0)
            self.collisions[which].append((counts * (counts - 1)).sum(axis=1).astype(np.float64))

    def checks(self) -> tuple[Check, ...]:
        """All checks that apply, corrected for their number (Bonferroni)."""
        found = [("repetition", "runs resemble each other: the random source repeats itself", self._repetition())]
        if self.hay is not None:
            found.append(("law", "reports do not follow the accounted law: the sampler is biased", self._law()))
            found.append(("independence", "users' reports agree too often, or too rarely: they share randomness", self._independence()))
        return tuple(Check(name, meaning, p, p * len(found) < SIGNIFICANCE) for name, meaning, p in found)

    def _law(self) -> float:
        """Pearson's chi-square of all reports. The target's own report makes the counts less variable than a multinomial's, so p is not too small."""
        assert self.hay is not None
        assert self.needles is not None
        expected = sum(runs * ((self.n - 1) * self.hay + needle) for runs, needle in zip(self.runs, self.needles, strict=True))
        seen, wanted = _merged(np.asarray(self.seen[0]) + np.asarray(self.seen[1]), np.asarray(expected))
        if len(wanted) < 2:
            return 1.0
        return float(chi2.sf(((seen - wanted) ** 2 / wanted).sum(), len(wanted) - 1))

    def _independence(self) -> float:
        """Pairs of users in one run whose reports have one class: their mean number is known, and runs are independent."""
        assert self.hay is not None
        assert self.needles is not None
        worst = 1.0
        for parts, needle in zip(self.collisions, self.needles, strict=True):
            pairs = np.concatenate(parts)
            mean = (self.n - 1) * ((self.n - 2) * float(self.hay @ self.hay) + 2.0 * float(self.hay @ needle))
            worst = min(worst, 2.0 * _mean_is(pairs, mean))
        return min(worst, 1.0)

    def _repetition(self) -> float:
        """Correlations of the attacker's score: between consecutive runs, and between the two datasets' runs."""
        zero, one = (np.concatenate(parts) for parts in self.scores)
        few = min(len(zero), len(one))
        pairs = [(zero[:-1], zero[1:]), (one[:-1], one[1:]), (zero[:few], one[:few])]
        return min(1.0, len(pairs) * min(_unrelated(*pair) for pair in pairs))


def _merged(seen: Floats, expected: Floats) -> tuple[Floats, Floats]:
    """Neighbouring classes together, until at least ten reports are expected in each."""
    groups = np.minimum(np.floor(np.cumsum(expected) / LEAST_EXPECTED), np.floor(expected.sum() / LEAST_EXPECTED) - 1.0)
    _, place = np.unique(groups, return_inverse=True)
    return np.asarray(np.bincount(place, weights=seen)), np.asarray(np.bincount(place, weights=expected))


def _mean_is(values: Floats, mean: float) -> float:
    """Two-sided p-value of the hypothesis that independent ``values`` have this mean."""
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    off = abs(float(values.mean()) - mean)
    if error == 0.0:
        return 1.0 if off <= 1e-9 * max(abs(mean), 1.0) else 0.0
    return float(2.0 * norm.sf(off / error))


def _unrelated(first: Floats, second: Floats) -> float:
    """Two-sided p-value of the hypothesis that two rows of scores are uncorrelated; rows without any spread are identical runs."""
    if float(first.std()) == 0.0 or float(second.std()) == 0.0:
        return 0.0
    correlation = float(np.corrcoef(first, second)[0, 1])
    return float(2.0 * norm.sf(abs(correlation) * math.sqrt(len(first))))
