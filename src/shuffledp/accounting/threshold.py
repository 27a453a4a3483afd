"""Sample and threshold (Bharadwaj and Cormode 2021): each of c holders of a value is kept with
probability p, and the count is published if it is at least K.

Adding a holder turns Bin(c, p) into Bin(c+1, p), both seen from K on; below, nothing is seen. The
ratio of the two probabilities at a count y,

    P_(c+1)(y) / P_c(y) = (c+1) (1-p) / (c+1-y),

rises with y, so what adds to delta is a tail: in one order the counts above (c+1) a with
a = 1 - (1-p)/e^eps > p, in the other order those below (c+1) b with b = 1 - (1-p) e^eps < p, and
possibly "nothing". By Chernoff's inequality both tails, and P(Bin(c, p) < K), are below bounds that
fall with c; and delta is at most the distance of the two laws, p times the largest probability of
Bin(c, p), which falls as well. So c is taken one after the other until the bound on all that follow
is below what was found.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP
from shuffledp.accounting.haystack.contour import UNIT
from shuffledp.accounting.inversion import halve, mean, whole
from shuffledp.accounting.reductions import Reduction, Theorem
from shuffledp.accounting.rounds import Round
from shuffledp.errors import InvalidInput, check_count, check_delta, check_epsilon, check_probability
from shuffledp.randomizers.parameters import check_fields, checked
from shuffledp.wording import statement

LARGEST_THRESHOLD = 10_000
MOST_HOLDERS = 200_000  # more are bounded together
CHUNK = 64
UNSEEN = 1e-34  # the probability of counts so far from the mean that they are left out


def _check_p(value: object) -> float:
    return check_probability(
        "p", value, remedy="p is the probability with which a holder is kept; 1 would hide nobody."
    )


def _check_threshold(value: object) -> int:
    remedy = "It is the least count that is published."
    beyond = "Counts that large say little about one person: lower it."
    return check_count("threshold", value, least=1, most=LARGEST_THRESHOLD, remedy=remedy, beyond=beyond)


@dataclass(frozen=True, slots=True)
class _Holders:
    """One pair: c holders and c + 1, in one order (``more``: with the larger number first)."""

    p: float
    threshold: int
    c: int
    more: bool

    @property
    def name(self) -> str:
        return f"{self.c + 1} holders against {self.c}" if self.more else f"{self.c} holders against {self.c + 1}"

    def swapped(self) -> _Holders:
        return _Holders(self.p, self.threshold, self.c, not self.more)

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        values = np.array([_deltas(self.p, self.threshold, self.c, 1, float(e), self.more)[0] for e in epsilons])
        wide = _rounding(self.c)
        return values * (1.0 - wide), np.minimum(values * (1.0 + wide) + UNSEEN, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Scan:
    """The largest delta over all numbers of holders, in one order."""

    p: float
    threshold: int
    more: bool
    _known: dict[float, tuple[float, float, int]] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        return "one holder more, any number of holders" if self.more else "one holder less, any number of holders"

    def swapped(self) -> _Scan:
        return _Scan(self.p, self.threshold, not self.more)

    def worst(self, epsilon: float) -> _Holders:
        return _Holders(self.p, self.threshold, self._at(epsilon)[2], self.more)

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        ends = [self._at(float(epsilon)) for epsilon in epsilons]
        return np.array([low for low, _, _ in ends]), np.array([high for _, high, _ in ends])

    def _at(self, epsilon: float) -> tuple[float, float, int]:
        if epsilon not in self._known:
            self._known[epsilon] = self._scanned(epsilon)
        return self._known[epsilon]

    def _scanned(self, epsilon: float) -> tuple[float, float, int]:
        best, place, start = 0.0, self.threshold - 1, self.threshold - 1  # fewer holders are never published
        while True:
            values = _deltas(self.p, self.threshold, start, CHUNK, epsilon, self.more)
            if values.max() > best:
                best, place = float(values.max()), start + int(values.argmax())
            start += CHUNK
            rest = _beyond(self.p, self.threshold, start, epsilon, self.more)
            if rest <= best or start >= MOST_HOLDERS:
                break
        wide = _rounding(start)
        upper = max(best * (1.0 + wide), rest * (1.0 + 1e-9))
        return best * (1.0 - wide), min(upper + UNSEEN, 1.0), place


def _rounding(c: int) -> float:
    """Relative, of a binomial probability by log-gamma, and of sums of such."""
    return float(64.0 * UNIT * (gammaln(c + 2.0) + 16.0))


def _log_pmf(c: Floats, y: Floats, p: float) -> Floats:
    inside = (y >= 0.0) & (y <= c)
    held = np.clip(y, 0.0, c)
    log: Floats = gammaln(c + 1.0) - gammaln(held + 1.0) - gammaln(c - held + 1.0) + held * math.log(p)
    return np.where(inside, log + (c - held) * math.log1p(-p), -np.inf)


class _Counts(NamedTuple):
    """Bin(c, p) and Bin(c+1, p) for a block of c (rows): published counts, and below."""

    fewer: Floats
    excess: Floats  # P_(c+1)(y) / P_c(y) - 1
    certain: Floats  # P_(c+1)(c+1), which c holders cannot reach
    hidden: Floats  # P(Bin(c, p) < K)
    lost: Floats  # P(Bin(c, p) < K) - P(Bin(c+1, p) < K)


@lru_cache(maxsize=256)
def _counts(p: float, threshold: int, first: int, number: int) -> _Counts:
    c = first + np.arange(float(number))
    spread = math.sqrt(c[-1] * p * (1.0 - p)) + 1.0
    # Bernstein: less than UNSEEN lies farther out.
    low, high = max(0.0, c[0] * p - 14.0 * spread - 60.0), min(c[-1] + 1.0, c[-1] * p + 14.0 * spread + 60.0)
    y = np.arange(min(math.floor(low), threshold), math.ceil(max(high, threshold)) + 1.0)
    left = c[:, None] + 1.0 - y[None, :]
    fewer = np.exp(_log_pmf(c[:, None], y[None, :], p))
    # (c+1)(1-p)/(c+1-y) - 1 = (y - (c+1) p) / (c+1-y)
    excess = np.divide(y[None, :] - (c[:, None] + 1.0) * p, left, out=np.zeros_like(left), where=left > 0.0)
    published = y >= threshold
    certain = np.where(c + 1.0 >= threshold, np.exp((c + 1.0) * math.log(p)), 0.0)
    lost = p * np.exp(_log_pmf(c, np.full_like(c, threshold - 1.0), p))
    return _Counts(fewer[:, published], excess[:, published], certain, fewer[:, ~published].sum(axis=1), lost)


def _deltas(p: float, threshold: int, first: int, number: int, epsilon: float, more: bool) -> Floats:
    """The sum of the positive differences, for ``number`` of c from ``first`` on."""
    counts, growth = _counts(p, threshold, first, number), math.expm1(epsilon)
    if more:
        seen = np.maximum(counts.fewer * (counts.excess - growth), 0.0).sum(axis=1) + counts.certain
        nothing = -counts.lost - growth * counts.hidden
    else:
        seen = np.maximum(counts.fewer * (-counts.excess - growth * (1.0 + counts.excess)), 0.0).sum(axis=1)
        nothing = counts.lost * (1.0 + growth) - growth * counts.hidden
    return np.asarray(seen + np.maximum(nothing, 0.0))


def _beyond(p: float, threshold: int, c: int, epsilon: float, more: bool) -> float:
    """At least the delta of every number of holders from c on; 1 if nothing is known yet."""
    mode = np.floor((c + 1) * p) + np.array([-1.0, 0.0, 1.0])
    apart = p * float(np.exp(_log_pmf(np.full(3, float(c)), mode, p)).max()) * (1.0 + 1e-9)
    if more:
        return min(math.exp(-(c + 1) * _divergence(-math.expm1(-epsilon) + p * math.exp(-epsilon), p)), apart)
    share = max(threshold - 1.0, (c + 1) * (p - math.expm1(epsilon) * (1.0 - p))) / c
    below = math.exp(-c * _divergence(max(share, 0.0), p)) if share < p else 1.0
    return min(below, apart)


def _divergence(a: float, p: float) -> float:
    """Kullback and Leibler's, of two coins."""
    first = a * math.log(a / p) if a > 0.0 else 0.0
    second = (1.0 - a) * (math.log1p(-a) - math.log1p(-p)) if a < 1.0 else 0.0
    return max(first + second, 0.0)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SampleAndThreshold(Round):
    """Counts of values, each holder kept with probability ``p``, published from ``threshold`` on.

    Neighbors differ in one holder, added or removed: people who hold nothing, or another value,
    are not protected against replacing one value by another at this epsilon, but at that of two
    such steps.

    >>> counts = SampleAndThreshold(p=0.105, threshold=20)
    >>> counts.epsilon(delta=1e-8)
    Bound(lower=0.3180, upper=0.3181)
    """

    p: float = field(metadata=checked(_check_p))
    threshold: int = field(metadata=checked(_check_threshold))

    def __post_init__(self) -> None:
        check_fields(self)

    def __repr__(self) -> str:
        return f"SampleAndThreshold(p={self.p!r}, threshold={self.threshold})"

    @property
    def key(self) -> Hashable:
        return "sample and threshold", self.p, self.threshold

    def describe(self) -> str:
        return f"counts of samples with p = {self.p:g}, published from {self.threshold} on"

    @cached_property
    def reduction(self) -> Reduction:
        more, less = (_Scan(self.p, self.threshold, order) for order in (True, False))
        theorem = Theorem(statement("all holders"), (more,), (less,))
        return Reduction(
            (theorem,), (statement("add or remove a holder"), statement("secret sample")), (more, less), math.inf
        )

    @classmethod
    def largest_p(cls, *, threshold: int, epsilon: float, delta: float) -> SampleAndThreshold:
        """The most that may be kept so that (epsilon, delta) is met: by bisection, and checked.

        >>> round(SampleAndThreshold.largest_p(threshold=20, epsilon=1.0, delta=1e-8).p, 3)
        0.251
        """
        epsilon, delta, threshold = check_epsilon(epsilon), check_delta(delta), _check_threshold(threshold)

        def meets(p: float) -> bool:
            return cls(p=p, threshold=threshold).delta_at_most(epsilon=epsilon) <= delta

        least = 1e-9
        if not meets(least):
            raise InvalidInput(
                f"epsilon, delta, threshold must leave room, got {epsilon:g}, {delta:g}, {threshold}. Raise one."
            )
        good, _ = halve(meets, least, 1.0 - 1e-9, middle=mean, steps=30)
        return cls(p=good, threshold=threshold)

    @classmethod
    def least_threshold(cls, *, p: float, epsilon: float, delta: float) -> SampleAndThreshold:
        """The least threshold with which (epsilon, delta) is met, among those that were tried:
        doubled until one is met, then by bisection.

        >>> SampleAndThreshold.least_threshold(p=0.105, epsilon=1.0, delta=1e-8).threshold
        11
        """
        epsilon, delta, p = check_epsilon(epsilon), check_delta(delta), _check_p(p)

        def meets(threshold: int) -> bool:
            return cls(p=p, threshold=threshold).delta_at_most(epsilon=epsilon) <= delta

        high = 1
        while not meets(high):
            if high >= LARGEST_THRESHOLD // 2:
                raise InvalidInput(
                    f"epsilon and delta must be within reach, got {epsilon:g} and {delta:g} at p = {p:g}. Lower p."
                )
            high *= 2
        found, _ = halve(meets, high, high // 2, middle=whole)
        return cls(p=p, threshold=found)
