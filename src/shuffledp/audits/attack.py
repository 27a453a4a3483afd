"""Tests that tell the two datasets apart, and the lower bound on epsilon that their success proves.

(epsilon, delta)-DP says P(A) <= e^epsilon Q(A) + delta for every event A and both orders. An event
is chosen on one half of the runs; on the other half Clopper-Pearson bounds P(A) from below and Q(A)
from above, each at half of what confidence leaves, so epsilon >= log((P - delta) / Q).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from shuffledp.audits.trial import AT_ONCE, Play
from shuffledp.randomizers.randomizer import Floats

__all__ = ["BAG", "Attack", "at_least", "at_most", "bag_score", "chosen", "proven"]

BAG = "likelihood ratio of the bag"
MOST_THRESHOLDS = 2_000
MOST_POSITIONS = 4
CLEARLY = 1.1  # a position is blamed only if it tells clearly more than the bag
STRICTER = 1e-3  # the best of many thresholds is partly luck: a stricter bound prefers those that are not


@dataclass(frozen=True, slots=True)
class Attack:
    """Claim dataset ``claims`` if the score is at least ``threshold`` (dataset 1: at most). The
    score is the bag's, or that of one ``position``.
    """

    position: int | None
    claims: int
    threshold: float

    @property
    def name(self) -> str:
        """What the attacker looks at."""
        return BAG if self.position is None else "position of a report in the release"

    def score(self, play: Play) -> Floats:
        """One number per run; high scores speak for dataset 0."""
        return bag_score(play) if self.position is None else play.ratios(self.position)

    def hits(self, scores: Floats) -> int:
        """In how many runs the dataset is claimed."""
        return int(np.count_nonzero(scores >= self.threshold if self.claims == 0 else scores <= self.threshold))


def bag_score(play: Play) -> Floats:
    """The optimal statistic: the log-likelihood ratio of the multiset, log of sum u over sum v
    (docs/theory.md, section 2).
    """
    u, v = play.totals()
    return np.asarray(np.log(u) - np.log(v))


def chosen(plays: tuple[Play, Play], delta: float, alpha: float) -> Attack:
    """The attack with the best bound on these runs: the bag's likelihood ratio, or one of the
    positions whose mean scores differ most.
    """
    candidates: list[tuple[int | None, Floats, Floats]] = [(None, bag_score(plays[0]), bag_score(plays[1]))]
    runs, places = plays[0].shape
    if places > 1:
        step = max(1, AT_ONCE // runs)
        apart = np.concatenate(
            [_apart(*(play.ratios(slice(start, start + step)) for play in plays)) for start in range(0, places, step)]
        )
        candidates += [
            (place, plays[0].ratios(place), plays[1].ratios(place))
            for place in np.argsort(-apart)[:MOST_POSITIONS].tolist()
        ]
    best, bag, found = -math.inf, 0.0, Attack(None, 0, 0.0)
    for position, zero, one in candidates:
        for claims in (0, 1):
            bound, threshold = _best_threshold(zero, one, claims, delta, alpha * STRICTER)
            bag = max(bag, bound) if position is None else bag
            if bound > best and (position is None or bound > CLEARLY * bag):
                best, found = bound, Attack(position, claims, threshold)
    return found


def _apart(zero: Floats, one: Floats) -> Floats:
    """How far the mean scores of each place are apart, in standard deviations; if order is gone, no
    place tells more than another.
    """
    return np.asarray(
        np.abs(zero.mean(axis=0) - one.mean(axis=0)) / (np.sqrt(zero.var(axis=0) + one.var(axis=0)) + 1e-12)
    )


def proven(attack: Attack, hits: tuple[int, int], runs: tuple[int, int], delta: float, alpha: float) -> float:
    """The epsilon that these counts prove with confidence 1 - alpha; 0 if none. ``hits[i]`` of
    ``runs[i]`` on dataset i.
    """
    true, false = attack.claims, 1 - attack.claims
    low, high = at_least(hits[true], runs[true], alpha / 2.0), at_most(hits[false], runs[false], alpha / 2.0)
    return max(math.log((float(low) - delta) / float(high)), 0.0) if low > delta else 0.0


def at_least(hits: NDArray[np.intp] | int, runs: int, alpha: float) -> Floats:
    """Clopper and Pearson 1934: with probability at least 1 - alpha the true share is not below
    this.
    """
    seen = np.asarray(hits, dtype=np.float64)
    return np.asarray(np.where(seen > 0, betaincinv(np.maximum(seen, 1.0), runs - seen + 1.0, alpha), 0.0))


def at_most(hits: NDArray[np.intp] | int, runs: int, alpha: float) -> Floats:
    """The same from above."""
    seen = np.asarray(hits, dtype=np.float64)
    return np.asarray(np.where(seen < runs, betaincinv(seen + 1.0, np.maximum(runs - seen, 1.0), 1.0 - alpha), 1.0))


def _best_threshold(zero: Floats, one: Floats, claims: int, delta: float, alpha: float) -> tuple[float, float]:
    if claims == 1:
        bound, threshold = _best_threshold(-one, -zero, 0, delta, alpha)
        return bound, -threshold
    values = np.unique(np.concatenate([zero, one]))
    values = values[:: max(1, len(values) // MOST_THRESHOLDS)]
    true, false = (len(scores) - np.searchsorted(np.sort(scores), values, side="left") for scores in (zero, one))
    low, high = at_least(true, len(zero), alpha / 2.0), at_most(false, len(one), alpha / 2.0)
    bounds = np.log(np.maximum(low - delta, 1e-300)) - np.log(high)
    best = int(np.argmax(bounds))
    return float(bounds[best]), float(values[best])
