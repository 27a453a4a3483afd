"""Tests that tell the two datasets apart, and the lower bound on epsilon that their success proves.

(epsilon, delta)-DP says P(A) <= e^epsilon Q(A) + delta for every event A and both orders. An event
is chosen on one half of the runs; on the other half Clopper-Pearson bounds P(A) from below and Q(A)
from above, each at half of what confidence leaves, so epsilon >= log((P - delta) / Q).

*Checks on the runs themselves: a biased sampler or a repeated random source may leak little and
still be wrong.*

Each check has a p-value: runs at least this strange occur no more often if the code does what the
account says. The tails are exact or proven, and their variances those of the accounted law, so that
they hold for rare events too; where there are too few events to tell, p is 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, chdtrc, gammaln, logsumexp, xlogy

from shuffledp.audits.census import BIASED, SMALLEST, Finding, bennett, binomial, least, unrelated
from shuffledp.audits.trial import AT_ONCE, Play
from shuffledp.randomizers.randomizer import Floats

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
        parts = [slice(start, start + step) for start in range(0, places, step)]
        apart = np.concatenate([_apart(*(play.ratios(part) for play in plays)) for part in parts])
        best_places = np.argsort(-apart)[:MOST_POSITIONS].tolist()
        candidates += [(place, plays[0].ratios(place), plays[1].ratios(place)) for place in best_places]
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
    spread = np.sqrt(zero.var(axis=0) + one.var(axis=0)) + 1e-12
    return np.asarray(np.abs(zero.mean(axis=0) - one.mean(axis=0)) / spread)


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


EXACT = {"format", "integers", "estimate"}  # right code passes these whatever it draws
SIGNIFICANCE = 1e-4  # how often all checks together may raise a false alarm
LEAST_EXPECTED = 100.0  # in a cell of the chi-square test: with fewer its far tail is too light
CELLS = 1 << 21  # counters in memory at once
FAINTEST = 1e-290
FAINT, LOUD = 1e-9, 500.0  # outside of these a score is rounded or cut off, and honest ones may agree


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its name, what it means to fail it, and its p-value; ``failed`` allows for how
    many checks there are.

    A p-value of 0 is not a matter of chance: something was seen that correct code never does.
    ``where`` says what was strangest.
    """

    name: str
    meaning: str
    p_value: float
    failed: bool
    where: str = ""

    @property
    def evidence(self) -> str:
        """The p-value in words."""
        if self.p_value == 0.0:
            return "exact"
        return f"p = {self.p_value:.2g}" if self.p_value > FAINTEST else "p < 1e-290"


def judged(findings: list[Finding]) -> tuple[Check, ...]:
    """Checks of one name in one, and those that are left to chance corrected for their number
    (Bonferroni).

    Together they accuse right code with a probability of at most SIGNIFICANCE; exact checks never
    do.
    """
    by_name: dict[str, list[Finding]] = {}
    for finding in findings:
        by_name.setdefault(finding[0], []).append(finding)
    left_to_chance = sum(name not in EXACT for name in by_name)
    checks = []
    for name, found in by_name.items():
        p, which = least([each[2] for each in found])
        _, meaning, _, where = found[which]
        checks.append(Check(name, meaning, p, p * left_to_chance < SIGNIFICANCE, where))
    return tuple(checks)


class Tally:
    """What the checks need of the runs on both datasets, added up as they come."""

    def __init__(self, n: int, hay: Floats | None, needles: tuple[Floats, Floats] | None) -> None:
        self.n, self.hay, self.needles = n, hay, needles
        self.seen = np.zeros((2, 0 if hay is None else len(hay)))
        self.runs = [0, 0]
        self.collisions = [0.0, 0.0]
        self.first: list[NDArray[np.intp] | None] = [None, None]
        self.again = [0, 0]
        self.scores: list[list[Floats]] = [[], []]

    def add(self, which: int, scores: Floats, classes: NDArray[np.integer] | None) -> None:
        """Some runs on one dataset."""
        self.runs[which] += len(scores)
        self.scores[which].append(scores)
        if classes is None or self.hay is None:
            return
        size = len(self.hay)
        for start in range(0, len(classes), step := max(1, CELLS // size)):
            part = classes[start : start + step]
            flat = (part.astype(np.intp) + size * np.arange(len(part))[:, None]).ravel()
            counts = np.bincount(flat, minlength=size * len(part)).reshape(len(part), size)
            self.seen[which] += counts.sum(axis=0)
            self.collisions[which] += float((counts * (counts - 1)).sum())
            first = self.first[which]
            if first is None:
                self.first[which] = first = counts[0].copy()
                counts = counts[1:]
            self.again[which] += int(np.count_nonzero((counts == first).all(axis=1)))

    def findings(self) -> list[Finding]:
        """All checks that apply."""
        found = [("repetition", "runs resemble each other: the random source repeats itself", self._repetition())]
        if self.hay is not None:
            shared = "users' reports agree too often, or too rarely: they share randomness"
            found += [("law", BIASED, self._law()), ("independence", shared, self._independence())]
        return [(name, meaning, max(p, SMALLEST), "in the attacked runs") for name, meaning, p in found]

    def _law(self) -> float:
        """Two tests of all reports: the rarest count of a class, exactly, and Pearson's chi-square
        of classes that are common together.

        A count is a sum of independent indicators, and its tails are no heavier than a binomial's
        with this mean (Hoeffding 1956). The target's own report likewise makes the counts less
        variable than a multinomial's, so neither p is too small.
        """
        assert self.hay is not None
        assert self.needles is not None
        each = [(self.n - 1) * self.hay + needle for needle in self.needles]
        expected = np.asarray(self.runs[0] * each[0] + self.runs[1] * each[1])
        seen, total = self.seen.sum(axis=0), self.n * sum(self.runs)
        single = len(seen) * float(_counts_are(seen, expected, total).min())
        common, wanted = _merged(seen, expected)
        together = float(chdtrc(len(wanted) - 1, ((common - wanted) ** 2 / wanted).sum())) if len(wanted) > 1 else 1.0
        return min(1.0, 2.0 * min(single, together))

    def _independence(self) -> float:
        """Pairs of users in one run whose reports have one class: mean and variance of their number
        are known, and runs are independent.
        """
        assert self.hay is not None
        assert self.needles is not None
        most = float(self.n * (self.n - 1))
        found = []
        for pairs, runs, needle in zip(self.collisions, self.runs, self.needles, strict=True):
            mean, variance = agreeing(self.n, self.hay, needle)
            found.append(bennett(pairs - runs * mean, runs * variance, above=most - mean, below=mean))
        return min(1.0, 2.0 * min(found))

    def _repetition(self) -> float:
        """How often the first run comes again, and whether scores go together: in consecutive runs,
        and between the two datasets' runs.
        """
        zero, one = (np.concatenate(parts) for parts in self.scores)
        few = min(len(zero), len(one))
        # No run is in two pairs.
        rows = [(each[start:-1:2], each[start + 1 :: 2]) for each in (zero, one) for start in (0, 1)]
        found = [unrelated(first, second) for first, second in [*rows, (zero[:few], one[:few])]]
        found += [self._again(which, scores) for which, scores in enumerate((zero, one))]
        return min(1.0, len(found) * min(found))

    def _again(self, which: int, scores: Floats) -> float:
        """Given the first run, each later one is the same bag with a chance that the law knows;
        without a law, its score by chance at most half the time.
        """
        first = self.first[which]
        if first is not None and self.hay is not None and self.needles is not None:
            again, chance = self.again[which], min(1.0, bag_chance(first, self.hay, self.needles[which]) * (1.0 + 1e-6))
        elif FAINT < abs(float(scores[0])) < LOUD:
            again, chance = int(np.count_nonzero(scores[1:] == scores[0])), 0.5
        else:
            return 1.0
        from scipy.stats import binom  # large, and needed by audits only

        return float(binom.sf(again - 1, len(scores) - 1, chance))


def agreeing(n: int, hay: Floats, needle: Floats) -> tuple[float, float]:
    """Mean and variance of the number of ordered pairs of users whose reports agree: n - 1 of law
    ``hay``, one of law ``needle``.

    The variance adds up the covariances of pairs that have a user in common; others are
    independent.
    """
    m = n - 1.0
    two, three = float(hay @ hay), float(hay @ hay**2)
    once, twice = float(hay @ needle), float(hay**2 @ needle)
    others = m * (m - 1.0) / 2.0 * (two - two**2) + m * (m - 1.0) * (m - 2.0) * (three - two**2)
    target = m * (once - twice) + m**2 * (twice - once**2)
    both = m * (m - 1.0) * (twice - two * once)
    return m * ((m - 1.0) * two + 2.0 * once), max(4.0 * (others + target + 2.0 * both), 0.0)


def bag_chance(counts: NDArray[np.intp], hay: Floats, needle: Floats) -> float:
    """The chance that n - 1 reports of law ``hay`` and one of law ``needle`` are a bag with these
    counts.
    """
    held = np.flatnonzero(counts)
    have, hays, needles = counts[held].astype(np.float64), hay[held], needle[held]
    never = np.flatnonzero(hays == 0.0)
    if len(never):  # only the target sends these, and it sends one report
        if have[never].sum() != 1.0:
            return 0.0
        needles = np.where(hays == 0.0, needles, 0.0)
    if not np.any(needles > 0.0):
        return 0.0
    sent = np.flatnonzero(needles > 0.0)  # the target's report is one of these
    rest = xlogy(have, np.where(hays == 0.0, 1.0, hays)).sum() - gammaln(have + 1.0).sum() + gammaln(have.sum())
    own = np.log(have[sent]) + np.log(needles[sent]) - np.log(np.where(hays == 0.0, 1.0, hays)[sent])
    return math.exp(min(float(rest + logsumexp(own)), 0.0))


def _counts_are(seen: Floats, expected: Floats, total: int) -> Floats:
    """Two-sided p-values of counts with these means. Hoeffding's comparison holds a whole count
    beyond the mean; nearer to it nothing is strange.
    """
    return np.where(np.abs(seen - expected) < 1.0, 1.0, binomial(seen, total, expected / total))


def _merged(seen: Floats, expected: Floats) -> tuple[Floats, Floats]:
    """Rare classes together, the rarest first, until enough reports are expected in each cell; what
    is left over joins the next.
    """
    order = np.argsort(expected, kind="stable")
    cells, room = np.zeros(len(order), dtype=np.intp), 0.0
    cell = 0
    for place, mass in enumerate(expected[order].tolist()):
        if room >= LEAST_EXPECTED:
            cell, room = cell + 1, 0.0
        cells[place], room = cell, room + mass
    if room < LEAST_EXPECTED and cell > 0:
        cells[cells == cell] = cell - 1
    return np.asarray(np.bincount(cells, weights=seen[order])), np.asarray(np.bincount(cells, weights=expected[order]))
