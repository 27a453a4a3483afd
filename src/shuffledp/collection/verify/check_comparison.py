"""The same promise under other kinds of trust: what a lone report, and a trusted curator, would
cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import log_ndtr

from shuffledp.collection.record import Alternative, Designed, Record
from shuffledp.collection.verify.by_task import Measure, told_by
from shuffledp.collection.verify.counted_distribution import below_error
from shuffledp.collection.verify.counted_fakes import CountedFakes
from shuffledp.collection.verify.counted_law import WORD, CountedLaw
from shuffledp.collection.verify.counted_levels import CountedLevels
from shuffledp.collection.verify.counted_shares import CountedShares
from shuffledp.collection.verify.effort import LARGEST_EPSILON, MOST_GRID_STEPS, MOST_LONE_ROUNDS, TooLarge
from shuffledp.collection.verify.outcomes import Check, agree, equal, holds
from shuffledp.literature.exact.lattice import UNIT, Array

__all__ = ["check_comparison"]

SAME = 1e-9
LOCAL_SAME = 1e-8
LOCAL_STEP = 1e-3  # the local epsilon0 is the largest, up to this
TRUSTED = ["nobody", "shuffler", "curator"]


@dataclass(frozen=True, slots=True)
class _Promise:
    """What every kind of trust has to keep, and how an error is measured."""

    n: int
    rounds: int
    epsilon: float
    delta: float
    measure: Measure

    @classmethod
    def of(cls, design: Designed, certified: float) -> _Promise:
        """Without a promised epsilon, the certified one is compared."""
        epsilon = certified if design.epsilon is None else design.epsilon
        return cls(design.n, design.rounds, epsilon, design.delta, told_by(design).measure(design))

    @property
    def rounding(self) -> float:
        """What 1 - hit loses in floats."""
        return math.sqrt(self.n * UNIT) * (1.0 if self.share is None else self.share)

    @property
    def share(self) -> float | None:
        """How far one person can move a mean or a sum; None where people are counted."""
        return None if self.measure.width is None else self.measure.width / self.measure.among

    def curator(self) -> float:
        """The error of a trusted curator, who adds Gaussian noise."""
        sensitivity = math.sqrt(2.0) if self.share is None else self.share
        sensitivity = 1.0 if self.measure.single else sensitivity
        if self.measure.bins is not None:
            # the square root of adding up: its longest column, and its longest row that is needed
            squares = [Fraction(math.comb(2 * j, j), 4**j) ** 2 for j in range(self.measure.bins)]
            sensitivity *= math.sqrt(sum(squares)) * math.sqrt(sum(squares[:-1]))
        return _sigma(self.epsilon, self.delta) * sensitivity * math.sqrt(self.rounds)

    def error(self, law: CountedLaw) -> float:
        """The error to expect of shuffled or lone reports."""
        width, among = self.measure.width, self.measure.among
        if self.measure.bins is not None:
            return below_error(law, self.n)
        if isinstance(law, CountedShares):
            return law.error(self.n, 1.0 if width is None else width / ((law.k - 1) * among))
        if width is None:
            return _count_error(law, self.n)
        return _mean_error(law, self.n, width) * (self.n / among)


def check_comparison(record: Record, law: CountedLaw) -> list[Check]:
    """Three rows: nobody, a shuffler, a curator."""
    rows = record.comparison
    named = equal("who is trusted", [row.trust for row in rows], TRUSTED, "the order of the rows")
    if named.outcome == "FAIL":
        return [named]
    alone, shuffled, curator = rows
    promise = _Promise.of(record.design, record.certificate.epsilon.upper)
    sigma, error = promise.curator(), promise.error(law)
    within = SAME * error + promise.rounding
    gaussian = "the Gaussian mechanism's exact condition"
    return [
        named,
        equal("epsilon0 with a shuffler", shuffled.epsilon0, law.alone, "the design"),
        agree("error to expect with a shuffler", shuffled.stderr, error, "the law's variance", within=within),
        equal("epsilon0 with a curator", curator.epsilon0, None, "users do not randomize"),
        agree("error to expect with a curator", curator.stderr, sigma, gaussian, within=SAME * sigma),
        *_check_alone(alone, law.levels[-1] if isinstance(law, CountedLevels) else law.lone, promise),
    ]


def _sigma(epsilon: float, delta: float) -> float:
    """The least noise for sensitivity 1: Phi(1/(2s) - eps s) - e^eps Phi(-1/(2s) - eps s) = delta
    (Balle and Wang 2018, Thm 8).
    """

    def excess(log: float) -> float:
        s = math.exp(log)
        first, second = log_ndtr(0.5 / s - epsilon * s), epsilon + log_ndtr(-0.5 / s - epsilon * s)
        return (
            float(first + math.log(-math.expm1(min(second - first, -1e-300))) - math.log(delta))
            if second < first
            else -math.inf
        )

    return math.exp(brentq(lambda log: max(excess(log), -1e9), -20.0, 40.0, xtol=1e-14, rtol=1e-14))


def _count_error(law: CountedLaw, n: int) -> float:
    """Root mean square over the values, with the n users spread evenly."""
    held, hit, miss = Fraction(n, law.k), law.hit, law.miss
    if isinstance(law, CountedFakes):
        fakes = law.moments(n)[1]
        return math.sqrt((held * hit * (1 - hit) + (n - held) * miss * (1 - miss) + fakes) / (hit - miss) ** 2)
    if law.family != "hadamard":
        return math.sqrt((held * hit * (1 - hit) + (n - held) * miss * (1 - miss)) / (hit - miss) ** 2)
    count, columns = law.blocks
    full, rest = divmod(law.k, columns - 1)  # blocks: a block's own reports vote more often than the others

    def votes(size: int) -> Fraction:
        near = size * held
        return size * (near * (hit + (1 - hit) / count) - held * hit**2 + (n - near) * (1 - hit) / count)

    total = full * votes(columns - 1) + votes(rest)
    return math.sqrt(total / law.k / hit**2)


def _mean_error(law: CountedLaw, n: int, width: float) -> float:
    """The worst data all sit at one point of the outermost cell, where they are farthest from the
    middle: found by trying.
    """
    k, gamma, kept = law.k - 1, float(law.k * law.miss), float(law.hit - law.miss)

    def variance(x: float) -> float:
        part = x * k
        return (1.0 - gamma) * (part * (1.0 - part) / k**2 + gamma * (x - 0.5) ** 2) + gamma * (k + 2) / (12.0 * k)

    best = minimize_scalar(lambda x: -variance(x), bounds=(0.0, 1.0 / k), method="bounded", options={"xatol": 1e-12})
    return math.sqrt(n * max(variance(0.0), -float(best.fun))) / kept * width / n


def _check_alone(row: Alternative, law: CountedLaw, promise: _Promise) -> list[Check]:
    """A lone report: its epsilon0 keeps the promise, a slightly larger one does not, and its error
    is what its law says.
    """
    epsilon0, delta = row.epsilon0, promise.delta
    if epsilon0 is None or not 0.0 < epsilon0 < LARGEST_EPSILON:
        return [holds("epsilon0 without a shuffler", epsilon0, "a positive number", "the promise", False)]
    grids = (law.k,) if promise.measure.width is None else range(2, MOST_GRID_STEPS + 2)
    tried = [_noisy(law, epsilon0, grid) for grid in grids]
    errors = [promise.error(each) for each in tried]
    nearest = int(np.argmin(np.abs(np.array(errors) - row.stderr)))
    chosen, error = tried[nearest], errors[nearest]
    kept = _local_delta(chosen, promise.epsilon, promise.rounds)
    larger = _noisy(law, epsilon0 * (1.0 + LOCAL_STEP), chosen.k)
    # There is no less noise than one word in 2^64.
    sharp = min(larger.integers) == 1 or _local_delta(larger, promise.epsilon, promise.rounds) > delta
    right = kept <= delta * (1.0 + SAME) and sharp
    how = "the loss of lone reports, convolved" if promise.rounds > 1 else "the law of a lone report"
    within = LOCAL_SAME * error + promise.rounding
    return [
        holds("epsilon0 without a shuffler", epsilon0, f"delta there: {kept:.6g}", how, right),
        agree("error to expect without a shuffler", row.stderr, error, "the law's variance", within=within),
    ]


def _noisy(law: CountedLaw, epsilon0: float, k: int) -> CountedLaw:
    """The same kind of randomizer with another epsilon0; hashing and subsets choose their size by
    it.
    """
    growth = math.exp(epsilon0)
    size = {"hash": min(max(2, round(growth + 1.0)), 2**32), "subset": max(1, round(k / (growth + 1.0)))}.get(
        law.family, 0
    )
    if law.family == "oue":
        return replace(law, k=k, size=size, epsilon0=epsilon0, integers=(WORD // 2, math.ceil(WORD / (growth + 1.0))))
    other = replace(law, k=k, size=size, epsilon0=epsilon0)
    return replace(other, integers=(min(math.ceil(WORD / (1.0 + (growth - 1.0) * float(other.share))), WORD - 1),))


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
        less, more = (
            sum((there for _, there, back in kind if (there - back) * side > 0), Fraction(0)) for side in (-1, 1)
        )
        found = max(
            found, float(_repeated(np.array([float(less), float(1 - less - more), float(more)]), rounds) @ gain)
        )
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
