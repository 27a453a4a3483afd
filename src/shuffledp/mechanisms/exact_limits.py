"""Exact confidence limits, for where a normal law will not do.

Limits for counts invert tests on the exact distribution of votes, as Clopper and Pearson (1934) do;
where a law is known by its matrix alone, Bernstein's inequality stands in for it. Limits of a sum
to which everybody adds a share of the noise come from the characteristic function of that noise.
All cover at least as often as they say, and often more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from shuffledp._types import Floats
from shuffledp.accounting.messages.sums import reach
from shuffledp.randomizers.randomizer import Ints

CELLS = 1 << 21  # of a table of tails, so that memory stays bounded
NEGLIGIBLE = 1e-20  # probability that is cut off on either side of a law
MANY_STRAYS = 400.0  # stray votes on average, above which waves are fewer to add up than strays
LONG = 1 << 11
OUTSIDE = 1e-17  # what is left out of the law of shared noise at either end
SHARP = 1e-8  # smaller probabilities are not used where it is their size that matters
ROUNDED = 1e-14  # what the Fourier transform may lose of a tail
SLOPES = np.linspace(0.4, 1.0, 13)  # of the decay of the noise


class FakeVotes(NamedTuple):
    """The law of a count: ``chances[i]`` is the probability of ``first + i``; what is missing to 1
    may be anywhere.
    """

    first: int
    chances: Floats

    def plus(self, other: FakeVotes) -> FakeVotes:
        """Of the sum of two that are independent."""
        both = _convolved(self.chances, other.chances)
        return FakeVotes(self.first + other.first, np.maximum(both, 0.0)).trimmed()

    def times(self, number: int) -> FakeVotes:
        """Of the sum of so many."""
        total, power = FakeVotes(0, np.ones(1)), self
        while number:
            if number % 2:
                total = total.plus(power)
            number //= 2
            power = power.plus(power) if number else power
        return total

    def trimmed(self) -> FakeVotes:
        """The same without what is too rare at either end."""
        start = int(np.searchsorted(np.cumsum(self.chances), NEGLIGIBLE))
        end = len(self.chances) - int(np.searchsorted(np.cumsum(self.chances[::-1]), NEGLIGIBLE))
        return FakeVotes(self.first + start, self.chances[start:end])

    def log_mean(self, slope: float) -> float:
        """log E e^(slope count)."""
        counts = self.first + np.arange(len(self.chances))
        shift = float(np.max(slope * counts))
        return shift + math.log(float(self.chances @ np.exp(slope * counts - shift)))


def _convolved(one: Floats, other: Floats) -> Floats:
    if min(len(one), len(other)) <= LONG:
        return np.convolve(one, other)
    from scipy.signal import fftconvolve  # slow to import, and needed where lists are long only

    both: Floats = fftconvolve(one, other)
    return both


@dataclass(frozen=True, eq=False)
class Votes:
    """The law of votes for a value that c people hold: Bin(c, hit) + Bin(trials - c, miss), which
    grows with c, and a random number of ``fakes`` beside them.
    """

    trials: int
    hit: float
    miss: float
    fakes: FakeVotes | None = None

    def limits(self, seen: Ints, tail: float) -> tuple[Floats, Floats]:
        """Limits for c, each missed with probability at most ``tail``."""
        if self.hit + self.miss > 1.0 and self.fakes is None:  # reports that do not support it are rarer
            turned = replace(self, hit=1.0 - self.miss, miss=1.0 - self.hit)
            low, high = turned.limits(self.trials - seen, tail)
            return self.trials - high, self.trials - low
        distinct, back = np.unique(seen, return_inverse=True)
        low, high = np.zeros(len(distinct)), np.zeros(len(distinct))
        step = max(1, CELLS // self._reach)
        for start in range(0, len(distinct), step):
            part = slice(start, start + step)
            low[part], high[part] = self._invert(distinct[part], tail)
        return low[back], high[back]

    def _invert(self, seen: Ints, tail: float) -> tuple[Ints, Ints]:
        """The least count with P(S >= seen) > tail, and the largest with P(S <= seen) > tail."""
        most = np.full(len(seen), self.trials)
        low = _first(lambda held: np.add(*self.above(held, seen)) > tail, most)
        high = _first(lambda held: self.above(held, seen + 1)[0] >= 1.0 - tail, most + 1) - 1
        return low, np.maximum(high, 0)

    @property
    def _strays(self) -> float:
        return self.trials * self.miss

    @cached_property
    def _reach(self) -> int:
        """How many sums of strays and fakes are told apart, or waves added up. As many strays are
        all there are, for all practical purposes; what is cut off counts in the interval's favour.
        """
        few = min(self.trials, math.ceil(self._strays + 10.0 * math.sqrt(self._strays) + 40.0))
        if self.fakes is None:
            return few + 1
        if self._strays > MANY_STRAYS:
            return self._waves[2]
        return len(self.fakes.chances) + (few if self._strays > 0.0 else 0)

    def above(self, held: Ints, least: Ints) -> tuple[Floats, Floats]:
        """P(S >= least) when ``held`` of the reports are the holders' own, and what may be missing
        to it.
        """
        first, chances = self.fakes or (0, np.ones(1))
        if self.fakes is not None and self._strays > MANY_STRAYS:
            missing = np.full(len(held), max(1.0 - float(chances.sum()), 0.0))
            return self.above_by_waves(held, least - first), missing
        wanted = least[:, None] - first - np.arange(self._reach)
        weights, above = chances[None, :], binomial_above(held[:, None], wanted, self.hit)
        if self.fakes is None:
            weights = few_successes(self.trials - held, self._reach, self.miss)
        elif self.miss:
            strays = few_successes(self.trials - held, self._reach - len(chances) + 1, self.miss)
            weights = np.array([np.convolve(row, chances) for row in strays])
        return (weights * above).sum(axis=1), np.maximum(1.0 - weights.sum(axis=1), 0.0)

    @cached_property
    def _waves(self) -> tuple[int, int, int]:
        """How far from their mean people's votes are found, by Bernstein's inequality; the period
        that all votes fit in; and how many waves make up their law: that of frequency t has a
        height of at most exp(-2 variance t^2 / pi^2).
        """
        assert self.fakes is not None
        variances = [self.trials * chance * (1.0 - chance) for chance in (self.hit, self.miss)]
        strength = -math.log(NEGLIGIBLE)
        far = math.ceil(strength / 3.0 + math.sqrt((strength / 3.0) ** 2 + 2.0 * strength * max(variances)))
        highest = math.pi * math.sqrt(strength / (2.0 * min(variances))) if min(variances) else math.inf
        half = far + len(self.fakes.chances) // 2 + 1
        period = 2 * half + 1
        return far, period, math.ceil(min(highest / (2.0 * math.pi) * period, half))

    def above_by_waves(self, held: Ints, least: Ints) -> Floats:
        """P(people's votes and fakes after the first >= least): the law of a whole number is a sum
        of waves, each of which is added up from ``least`` on in closed form.
        """
        assert self.fakes is not None
        (far, period, number), chances = self._waves, self.fakes.chances
        t = 2.0 * math.pi / period * np.arange(1, number + 1)
        own, stray = (np.log1p(chance * np.expm1(1j * t)) - 1j * t * chance for chance in (self.hit, self.miss))
        fakes = np.fft.rfft(chances, period)[1 : number + 1].conj()
        mean = held * self.hit + (self.trials - held) * self.miss
        start = np.floor(mean) - far
        least = np.clip(least, start, start + period)
        heights = fakes * np.exp(np.outer(held, own) + np.outer(self.trials - held, stray))
        steps = np.exp(-1j * np.outer(least - mean, t)) - np.exp(-1j * np.outer(start - mean, t))
        waves = (heights * steps / -np.expm1(-1j * t)).sum(axis=1).real
        found: Floats = ((start + period - least) * float(chances.sum()) + 2.0 * waves) / period
        return np.clip(found, 0.0, 1.0)


def signed_limits(votes: Ints, cast: Ints, trials: int, hit: float, tail: float) -> tuple[Floats, Floats]:
    """Limits for c where D ~ Bin(c, hit) votes are for the holders' value, as Hadamard response
    casts them, and each other vote of those ``cast`` is for or against alike.

    So votes = cast - 2 against with against ~ Bin(cast - D, 1/2), given cast and D: limits for D,
    then for c, with half of ``tail`` each.
    """
    against, half = (cast - votes) // 2, tail / 2.0
    most = np.full(len(cast), trials)
    noise_least = _first(lambda noise: binomial_above(noise, against, 0.5) > half, cast)
    noise_most = _first(lambda noise: binomial_above(noise, against + 1, 0.5) >= 1.0 - half, cast + 1) - 1
    own = cast - np.minimum(noise_least, cast)
    held = _first(lambda count: binomial_above(count, own + 1, hit) >= 1.0 - half, most + 1) - 1
    return (cast - np.maximum(noise_most, 0)).astype(np.float64), np.maximum(held, 0).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Deviations:
    """A sum of independent terms, one for each of ``people``: each is at most ``above`` over its
    mean and ``below`` under it, with a variance of at most ``own`` if its sender holds the value
    and ``others`` if not.

    By Bernstein's inequality the sum lies t over its mean c with probability at most
    exp(-t^2 / (2 V + 2 above t / 3)), V the variances' sum for c holders, whatever all others hold;
    likewise under.
    """

    people: int
    own: Floats
    others: Floats
    above: Floats
    below: Floats

    @property
    def farthest(self) -> Floats:
        """How far one term can move the sum; 1 where there is no noise."""
        far = np.maximum(self.above, self.below)
        return np.where(far == 0.0, 1.0, far)

    def at(self, places: Any) -> Self:
        """The same for some of the values."""
        own, others, above, below = (part[places] for part in (self.own, self.others, self.above, self.below))
        return replace(self, own=own, others=others, above=above, below=below)

    def limits(self, seen: Floats, tail: float) -> tuple[Floats, Floats]:
        """The last c at which what was ``seen`` is not rarer than ``tail``."""
        strength, slope = -math.log(tail), self.own - self.others
        here = self.people * self.others + slope * seen  # V, were the estimate the truth
        over = _farthest(here, self.above / 3.0 - slope, strength)
        under = _farthest(here, self.below / 3.0 + slope, strength)
        return seen - over, seen + under


def _farthest(variance: Floats, linear: Floats, strength: float) -> Floats:
    """The largest t with t^2 <= 2 strength (variance + linear t). Where there is none, no count
    explains what was seen, and anything covers as often as it must.
    """
    middle = strength * linear
    farthest: Floats = middle + np.sqrt(np.maximum(middle**2 + 2.0 * strength * variance, 0.0))
    return farthest


def binomial_above(trials: Ints, least: Ints, p: float) -> Floats:
    """P(Bin(trials, p) >= least), entry by entry.

    >>> binomial_above(np.array([2, 2, 2]), np.array([0, 2, 3]), 0.5).tolist()
    [1.0, 0.25, 0.0]
    """
    inside = (least >= 1) & (least <= trials)
    first, second = np.where(inside, least, 1), np.where(inside, trials - least + 1, 1)
    above: Floats = np.where(inside, betainc(first, second, p), np.where(least < 1, 1.0, 0.0))
    return above


def few_successes(trials: Ints, count: int, p: float) -> Floats:
    """P(Bin(trials, p) = j) for j = 0, ..., count - 1, a row for each number of trials; accurate
    where trials * p is small.

    >>> few_successes(np.array([2, 0]), 4, 0.5).tolist()
    [[0.25, 0.5, 0.25, 0.0], [1.0, 0.0, 0.0, 0.0]]
    """
    j = np.arange(1, count)
    ratios = np.maximum(trials[:, None] - j + 1.0, 0.0) / j * (p / (1.0 - p))
    none = np.exp(trials * math.log1p(-p))
    return np.concatenate([none[:, None], none[:, None] * np.cumprod(ratios, axis=1)], axis=1)


def _first(fits: Callable[[Ints], NDArray[np.bool_]], most: Ints) -> Ints:
    """The first number from 0 to ``most`` that fits, given that all later ones do; ``most`` if none
    before does.
    """
    low, high = np.zeros_like(most), most.copy()
    while np.any(unsettled := low < high):
        middle = np.where(unsettled, (low + high) // 2, 0)
        good = fits(middle)
        high = np.where(unsettled & good, middle, high)
        low = np.where(unsettled & ~good, middle + 1, low)
    return low


def noise_reach(shape: float, ratio: float, rounded: int, tail: float) -> float:
    """The least number of steps, a whole one if nothing is rounded, that noise and rounding exceed
    with probability at most ``tail``.

    Rounding a number errs by less than a step, and by 0 on average, so that R, all of it, has
    E e^(s R) <= e^(s^2 rounded / 8) (Hoeffding 1963). If P(A - B >= m) <= C e^(-s m) for all m,
    then P(A - B + R > u) <= C e^(-s u) e^(s^2 rounded / 8): the best s is taken.

    >>> q = 0.5  # P(A - B > t) = q^(t + 1) / (1 + q) if the noise is complete
    >>> noise_reach(1.0, q, 0, 0.02), q**6 / 1.5 < 0.02 < q**5 / 1.5
    (5.0, True)
    """
    above = noise_above(shape, ratio)
    if not rounded:
        return float(np.argmax(np.append(above[1:] <= tail, True)))
    sharp = above[above >= SHARP]
    # Beyond, P falls by a factor of q (j + t) / (j + 1) or more from one j to the next.
    steepest = -math.log(ratio) - max(math.log1p((shape - 1.0) / len(sharp)), 0.0)
    below = 1.0 - sharp[:0:-1] + 2.0 * ROUNDED  # P(A - B > -j)
    chances, places = np.log(np.append(below, sharp)), np.arange(1.0 - len(sharp), len(sharp))
    reaches = [
        (np.max(chances + slope * places) - math.log(tail)) / slope + slope * rounded / 8.0
        for slope in steepest * SLOPES
    ]
    return float(min(reaches))


@lru_cache(maxsize=8)
def noise_above(shape: float, ratio: float) -> Floats:
    """P(A - B >= j) for j = 0, 1, ..., from above.

    A and B are independent negative binomial numbers of shape t, the shares that were added over
    those that make the noise complete, with generating function ((1 - q) / (1 - q z))^t each. So
    the characteristic function of A - B is (1 + 4 q sin(x/2)^2 / (1 - q)^2)^-t, and one Fourier
    transform gives its law.
    """
    most = reach(shape, ratio, OUTSIDE)
    size = 1 << (2 * most + 2).bit_length()
    angles = np.arange(size // 2 + 1) * (math.pi / size)
    transform = (1.0 + 4.0 * ratio * np.sin(angles) ** 2 / (1.0 - ratio) ** 2) ** -shape
    chances = np.maximum(np.fft.irfft(transform, size)[: most + 1], 0.0)
    above: Floats = np.minimum(np.cumsum(chances[::-1])[::-1] + ROUNDED, 1.0)
    above.setflags(write=False)
    return above
