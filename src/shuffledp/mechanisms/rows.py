"""The law of estimated rows around their true values: what votes say of groups of places, and of
sums of weights.

TwoCoins     votes for a group: everybody's is one of two coins, and fakes lie beside
Signs        votes for and against, as Hadamard response casts them
Weighted     a weight per report, whose variance is estimated or known
Known        a weighted sum of dummies, whose law is known and the same for all data
SharedNoise  a sum to which everybody adds a share of the noise
Parts        rows of several laws
Scaled       the same in another unit
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from shuffledp._types import Floats
from shuffledp.mechanisms.exact_limits import Deviations, FakeVotes, Votes, noise_reach, signed_limits
from shuffledp.randomizers.randomizer import GroupLaw, Ints

# Variances of votes, below which no normal law will do; these are often whole numbers, and a tie
# must not hang on rounding.
FEW, MANY = 3.0 - 1e-9, 50.0 - 1e-9

Limits = tuple[Floats, Floats]


class Rows(ABC):
    """Estimates, their standard errors, and limits. Fields named in ``by_row`` have an entry for
    each row, the others are the same for all rows.
    """

    by_row: ClassVar[tuple[str, ...]]
    if TYPE_CHECKING:  # fields of some, and computed by others

        @property
        def values(self) -> Floats:
            """Unbiased estimates."""

        @property
        def stderr(self) -> Floats:
            """Their standard deviations, for the data as they seem to be."""

    @abstractmethod
    def limits(self, tail: float) -> Limits:
        """Limits for the true values, each missed with probability at most ``tail``, up to the
        normal approximation where votes are many.
        """

    def at(self, places: Any) -> Self:
        """Some of the rows."""
        chosen = {name: getattr(self, name)[places] for name in self.by_row}
        return replace(self, **chosen)  # type: ignore[type-var]


def _score(values: Floats, base: Any, slope: Any, skew: Any, grain: Any, z: float) -> Limits:
    """The true values c with |values - c - shift| <= z * (standard deviation at c) + half a grain,
    where the variance is base + slope * c: a score interval.

    The shift is the first Cornish-Fisher term, so that both tails are right for rare values too,
    where reports are few and skewed; ``skew`` is the third moment over the variance. The grain is
    how far apart two neighboring estimates are. It makes up for votes being whole numbers (Yates
    1934): without it, few votes are missed far more often.
    """
    centre, half = values - (z * z - 1.0) / 6.0 * skew, grain / 2.0

    def end(middle: Floats, z: float) -> Floats:
        """The c that is z of its own standard deviations above: a root of a parabola."""
        root = np.sqrt(np.maximum(base + slope * middle + (z * slope) ** 2 / 4.0, 0.0))
        found: Floats = middle + z * z * slope / 2.0 + z * root
        return found

    return end(centre - half, -z), end(centre + half, z)


def _ratio(above: Floats, under: Floats) -> Floats:
    """0 where nothing is divided by."""
    return np.divide(above, under, out=np.zeros_like(above), where=under > 0.0)


@dataclass(frozen=True, eq=False)
class TwoCoins(Rows):
    """Votes for groups of one size: Bin(c, hit) + Bin(people - c, miss), and perhaps those of
    ``fakes``, a number whose law is anything but normal.

    The estimate inverts the matrix of the reports' law (Biswas et al. 2023, "INV"; Kairouz et al.
    2016). Variance and third moment are exact and linear in c.
    """

    by_row = ("votes",)

    votes: Ints
    people: int
    coins: GroupLaw
    fakes: FakeVotes | None = None

    @cached_property
    def values(self) -> Floats:
        return np.asarray(self.coins.estimate(self.votes.astype(np.float64), self.people))

    @cached_property
    def _held(self) -> Floats:
        return np.clip(self.values, 0.0, self.people)

    @cached_property
    def stderr(self) -> Floats:
        return np.asarray(np.sqrt(np.maximum(self.coins.variance(self._held, self.people), 0.0)))

    def limits(self, tail: float) -> Limits:
        (hit, miss, contrast, *_), n = self.coins, self.people
        votes = Votes(n, hit, miss, self.fakes)
        if self.fakes is not None:
            return votes.limits(self.votes, tail)
        own, other = hit * (1.0 - hit), miss * (1.0 - miss)
        thirds = (own * (1.0 - 2.0 * hit), other * (1.0 - 2.0 * miss))
        variance, third = (self._held * mine + (n - self._held) * stray for mine, stray in ((own, other), thirds))
        base, slope = n * other / contrast**2, (1.0 - hit - miss) / contrast
        skew = _ratio(third, variance * contrast)
        low, high = _score(self.values, base, slope, skew, 1.0 / contrast, -float(ndtri(tail)))
        there = (base + slope * self._held) * contrast**2
        if np.any(few := there < MANY):  # the exact law is taken as long as a normal one can be told from it
            low[few], high[few] = votes.limits(self.votes[few], tail)
        return low, high


@dataclass(frozen=True, eq=False)
class Signs(Rows):
    """Votes for and against, as Hadamard response casts them: only reports in a value's own block
    vote, ``cast`` of them. A vote for the sender's own value has mean ``hit``, for another one mean
    0, so the variance of a sum of votes is the mean number of votes cast, for which the number cast
    stands, less hit^2 per holder. That number also holds an estimate of how many people hold the
    block's other values; a value ``alone`` in its block has no such others, and its variance is
    known. ``far`` is how often a report strays into a given other block.
    """

    by_row = ("votes", "cast", "alone")

    votes: Ints
    cast: Ints
    alone: NDArray[np.bool_]
    people: int
    hit: float
    far: float

    @cached_property
    def values(self) -> Floats:
        return np.asarray(self.votes / self.hit)

    @cached_property
    def _held(self) -> Floats:
        return np.clip(self.values, 0.0, self.people)

    @cached_property
    def _variance(self) -> Floats:
        """Of the votes."""
        held, own = self._held, self.hit
        strays = np.where(self.alone, self.people * self.far, np.maximum(self.cast - held * own, 0.0))
        variance: Floats = held * own * (1.0 - own) + strays
        return variance

    @cached_property
    def stderr(self) -> Floats:
        return np.asarray(np.sqrt(self._variance) / self.hit)

    def limits(self, tail: float) -> Limits:
        own = self.hit
        third = self._held * own * (1.0 - 3.0 * (own + self.far) + 2.0 * own**2)
        skew = _ratio(third, self._variance * own)
        base = np.where(self.alone, self.people * self.far, self.cast) / own**2
        slope = np.where(self.alone, (1.0 - own) / own, -1.0)
        # Of the votes cast, one more is for it where one less is against: steps are of two.
        low, high = _score(self.values, base, slope, skew, 2.0 / own, -float(ndtri(tail)))
        there, nobody = (np.maximum(base + slope * at, 0.0) * own**2 for at in (self._held, 0.0))
        if np.any(few := (there < FEW) | ((nobody < FEW) & (there < MANY))):
            low[few], high[few] = signed_limits(self.votes[few], self.cast[few], self.people, own, tail)
        return low, high


@dataclass(frozen=True, eq=False)
class Weighted(Rows):
    """Sums of one weight per report, with a variance of ``base`` and a third moment over that of
    ``skew``. Of two neighboring estimates one is at most ``grain`` larger.

    ``deviations`` bound what one report does, for where these are too few for a normal law;
    ``always``, where what was seen does not even tell how much they vary. ``freedom`` counts the
    reports that a variance was estimated from, less one.
    """

    by_row = ("values", "stderr", "base", "grain", "skew")

    values: Floats
    stderr: Floats
    base: Floats
    grain: Floats
    skew: Floats
    freedom: float = math.inf
    deviations: Deviations | None = None
    always: bool = False

    def at(self, places: Any) -> Self:
        some = super().at(places)
        return some if some.deviations is None else replace(some, deviations=some.deviations.at(places))

    def limits(self, tail: float) -> Limits:
        z = -float(ndtri(tail) if math.isinf(self.freedom) else stdtrit(self.freedom, tail))
        low, high = _score(self.values, self.base, 0.0, self.skew, self.grain, z)
        if self.deviations is None:
            return low, high
        if np.any(few := (self.base / self.deviations.farthest**2 < FEW) | self.always):
            low[few], high[few] = self.deviations.at(few).limits(self.values[few], tail)
        return low, high


@dataclass(frozen=True, eq=False)
class Known(Rows):
    """Sums whose noise has a law that is known, and is the same for all data: its ``second``,
    ``third`` and ``fourth`` cumulants, and its largest ``step``.
    """

    by_row = ("values", "second", "third", "fourth", "step")

    values: Floats
    second: Floats
    third: Floats
    fourth: Floats
    step: Floats

    @cached_property
    def stderr(self) -> Floats:
        return np.asarray(np.sqrt(self.second))

    def limits(self, tail: float) -> Limits:
        """By Cornish and Fisher's expansion to the fourth cumulant, never nearer than a normal law
        would put the limits, and half a step farther: noise comes in steps.
        """
        z = -float(ndtri(tail))
        skew, heavy = self.third / self.second, self.fourth / self.second**2
        third = _ratio(skew, self.stderr)
        bent = (z**3 - 3.0 * z) / 24.0 * heavy - (2.0 * z**3 - 5.0 * z) / 36.0 * third**2
        reach = self.stderr * (z + np.maximum(bent, 0.0)) + self.step / 2.0
        shift = (z * z - 1.0) / 6.0 * skew
        return self.values - shift - reach, self.values - shift + reach


@dataclass(frozen=True, eq=False)
class SharedNoise(Rows):
    """The truth plus noise of this ``shape`` and ``ratio``, of which everybody adds a share, and
    the rounding of ``rounded`` people's numbers to neighboring points of a grid.

    Limits are exact where no number is rounded; elsewhere they cover at least as often as they say.
    """

    by_row = ("values",)

    values: Floats
    shape: float
    ratio: float
    variance: float
    rounded: int = 0

    @cached_property
    def stderr(self) -> Floats:
        return np.full_like(self.values, math.sqrt(self.variance))

    def limits(self, tail: float) -> Limits:
        far = noise_reach(self.shape, self.ratio, self.rounded, tail)
        return self.values - far, self.values + far


@dataclass(frozen=True, eq=False)
class Parts(Rows):
    """Rows of several laws: where each law's rows are, and whether they count all ``people`` but
    those who are meant.
    """

    parts: tuple[tuple[Ints, bool, Rows], ...]
    size: int
    people: int

    @cached_property
    def values(self) -> Floats:
        found = np.zeros(self.size)
        for places, turned, rows in self.parts:
            found[places] = self.people - rows.values if turned else rows.values
        return found

    @cached_property
    def stderr(self) -> Floats:
        found = np.zeros(self.size)
        for places, _, rows in self.parts:
            found[places] = rows.stderr
        return found

    def limits(self, tail: float) -> Limits:
        low, high = np.zeros((2, self.size))
        for places, turned, rows in self.parts:
            lower, upper = rows.limits(tail)
            low[places], high[places] = (self.people - upper, self.people - lower) if turned else (lower, upper)
        return low, high

    def at(self, places: Any) -> Self:
        kept = np.arange(self.size)[places]
        parts = []
        for mine, turned, rows in self.parts:
            chosen = np.flatnonzero(np.isin(kept, mine))
            if len(chosen):
                parts.append((chosen, turned, rows.at(np.searchsorted(mine, kept[chosen]))))
        return replace(self, parts=tuple(parts), size=len(kept))


@dataclass(frozen=True, eq=False)
class Scaled(Rows):
    """The same times ``by``, which is positive, and moved by ``plus``: a mean from a sum."""

    rows: Rows
    by: float
    plus: float = 0.0

    @cached_property
    def values(self) -> Floats:
        return self.rows.values * self.by + self.plus

    @cached_property
    def stderr(self) -> Floats:
        return self.rows.stderr * self.by

    def limits(self, tail: float) -> Limits:
        low, high = self.rows.limits(tail)
        return low * self.by + self.plus, high * self.by + self.plus

    def at(self, places: Any) -> Self:
        return replace(self, rows=self.rows.at(places))


def widest_gap(weights: Floats) -> Floats:
    """How far apart two neighboring estimates are at most, each a sum of its row of reports'
    ``weights``: the farthest from one weight to the next larger one.

    >>> widest_gap(np.array([[3.0, 0.0, 1.0]])).tolist()
    [2.0]
    """
    widest: Floats = np.diff(np.sort(weights, axis=1), axis=1).max(axis=1, initial=0.0)
    return widest
