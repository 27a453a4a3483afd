"""Exact confidence limits for a count whose noise is too rare for a normal law.

Two laws invert tests on the exact distribution, as Clopper and Pearson (1934) do; where a law is
known by its matrix alone, Bernstein's inequality stands in for it. All cover at least as often as
they say, and often more.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from shuffledp._types import Floats

__all__ = ["FEW", "Bounded", "Law", "Signed", "Stacked", "Supports", "Uncertain"]

Ints = NDArray[np.int64]
CELLS = 1 << 21  # of a table of tails, so that memory stays bounded
# Variances of votes; these are often whole numbers, and a tie must not hang on rounding.
FEW, MANY = 3.0 - 1e-9, 50.0 - 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Law(ABC):
    """How what is ``seen`` in ``rounds`` bags together, votes usually, depends on how many of the
    ``n`` users hold a value.
    """

    throughout: ClassVar[bool] = False  # whether no votes are so many that a normal law would do

    seen: NDArray[Any]
    n: int
    hit: float = 0.0
    rounds: int = 1

    @abstractmethod
    def limits(self, chosen: NDArray[np.bool_], tail: float) -> tuple[Floats, Floats]:
        """Limits for the ``chosen`` values' counts, each missed with probability at most
        ``tail``.
        """

    def few(self, there: Floats, nobody: Floats) -> NDArray[np.bool_]:
        """Where limits must come from here: votes with a variance of ``there``, and of ``nobody``
        for a value that nobody holds, are too few for a normal law.
        """
        return (there < FEW) | ((nobody < FEW) & (there < MANY))

    @abstractmethod
    def add(self, other: Self) -> Self | None:
        """The law of both rounds' votes together, if both follow the same one."""

    @abstractmethod
    def at(self, chosen: Any) -> Self:
        """The same for some of the values."""


@dataclass(frozen=True, slots=True, eq=False)
class Supports(Law):
    """Bin(c, hit) + Bin(n - c, miss) reports support a value that c users hold; it grows with c."""

    miss: float = 0.0

    def few(self, there: Floats, nobody: Floats) -> NDArray[np.bool_]:
        """The exact law is known, so it is taken as long as a normal one can be told from it."""
        return there < MANY

    def limits(self, chosen: NDArray[np.bool_], tail: float) -> tuple[Floats, Floats]:
        if self.hit + self.miss > 1.0 and not self.throughout:  # reports that do not support it are rarer
            hit, miss = 1.0 - self.miss, 1.0 - self.hit
            low, high = replace(self, seen=self._trials - self.seen, hit=hit, miss=miss).limits(chosen, tail)
            return self.n - high, self.n - low
        distinct, back = np.unique(self.seen[chosen], return_inverse=True)
        low, high = np.zeros(len(distinct)), np.zeros(len(distinct))
        step = max(1, CELLS // self._reach)
        for start in range(0, len(distinct), step):
            part = slice(start, start + step)
            low[part], high[part] = self._invert(distinct[part], tail)
        return low[back] / self.rounds, high[back] / self.rounds

    def add(self, other: Self) -> Self | None:
        if (self.n, self.hit, self.miss) != (other.n, other.hit, other.miss):
            return None
        return replace(self, seen=self.seen + other.seen, rounds=self.rounds + other.rounds)

    def at(self, chosen: Any) -> Self:
        return replace(self, seen=self.seen[chosen])

    @property
    def _trials(self) -> int:
        return self.n * self.rounds

    @property
    def _reach(self) -> int:
        """As many reports of others do not support the value, for all practical purposes; what is
        cut off counts in the interval's favour.
        """
        mean = self._trials * self.miss
        return min(self._trials, math.ceil(mean + 10.0 * math.sqrt(mean) + 40.0)) + 1

    def _invert(self, seen: Ints, tail: float) -> tuple[Ints, Ints]:
        """The least count with P(S >= seen) > tail, and the largest with P(S <= seen) > tail."""
        most = np.full(len(seen), self._trials)
        low = _first(lambda held: np.add(*self._above(held, seen)) > tail, most)
        high = _first(lambda held: self._above(held, seen + 1)[0] >= 1.0 - tail, most + 1) - 1
        return low, np.maximum(high, 0)

    def _above(self, held: Ints, least: Ints) -> tuple[Floats, Floats]:
        """P(S >= least) when ``held`` of the reports are the holders' own, and what may be missing
        to it.
        """
        weights = few_successes(self._trials - held, self._reach, self.miss)
        found: Floats = (
            weights * binomial_above(held[:, None], least[:, None] - np.arange(self._reach), self.hit)
        ).sum(axis=1)
        return found, np.maximum(1.0 - weights.sum(axis=1), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Stacked(Law):
    """Several laws of one kind: each of ``parts`` says of which values it is, by their places."""

    parts: tuple[tuple[Ints, Law], ...] = ()

    def limits(self, chosen: NDArray[np.bool_], tail: float) -> tuple[Floats, Floats]:
        low, high = np.zeros(len(self.seen)), np.zeros(len(self.seen))
        for places, law in self.parts:
            mine = chosen[places]
            if mine.any():
                low[places[mine]], high[places[mine]] = law.limits(mine, tail)
        return low[chosen], high[chosen]

    def add(self, other: Self) -> Self | None:
        added = []
        for (places, law), (theirs, another) in zip(self.parts, other.parts, strict=True):
            both = law.add(another) if np.array_equal(places, theirs) else None
            if both is None:
                return None
            added.append((places, both))
        return replace(self, seen=self.seen + other.seen, rounds=self.rounds + other.rounds, parts=tuple(added))

    def at(self, chosen: Any) -> Self:
        kept = np.arange(len(self.seen))[chosen]
        parts = []
        for places, law in self.parts:
            mine = np.flatnonzero(np.isin(kept, places))
            parts.append((mine, law.at(np.searchsorted(places, kept[mine]))))
        return replace(self, seen=self.seen[chosen], parts=tuple(parts))

    @property
    def throughout(self) -> bool:  # type: ignore[override]
        return any(law.throughout for _, law in self.parts)

    def few(self, there: Floats, nobody: Floats) -> NDArray[np.bool_]:
        found = np.zeros(len(self.seen), dtype=np.bool_)
        for places, law in self.parts:
            found[places] = law.few(there[places], nobody[places])
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Signed(Law):
    """Signed votes, as Hadamard response casts them: D ~ Bin(c, hit) votes for the holders' value,
    and every other vote ``cast`` is for or against alike.

    So seen = cast - 2 against with against ~ Bin(cast - D, 1/2), given cast and D: limits for D,
    then for c, with half of ``tail`` each.
    """

    cast: Ints = None  # type: ignore[assignment]

    def limits(self, chosen: NDArray[np.bool_], tail: float) -> tuple[Floats, Floats]:
        cast = self.cast[chosen]
        against, half = (cast - self.seen[chosen]) // 2, tail / 2.0
        most = np.full(len(cast), self.n * self.rounds)
        noise_least = _first(lambda noise: binomial_above(noise, against, 0.5) > half, cast)
        noise_most = _first(lambda noise: binomial_above(noise, against + 1, 0.5) >= 1.0 - half, cast + 1) - 1
        own = cast - np.minimum(noise_least, cast)
        held = _first(lambda count: binomial_above(count, own + 1, self.hit) >= 1.0 - half, most + 1) - 1
        return (cast - np.maximum(noise_most, 0)) / self.rounds, np.maximum(held, 0) / self.rounds

    def add(self, other: Self) -> Self | None:
        if (self.n, self.hit) != (other.n, other.hit):
            return None
        return replace(
            self, seen=self.seen + other.seen, rounds=self.rounds + other.rounds, cast=self.cast + other.cast
        )

    def at(self, chosen: Any) -> Self:
        return replace(self, seen=self.seen[chosen], cast=self.cast[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class Bounded(Law):
    """``seen`` is an unbiased estimate: a sum of independent terms, one for each report, each at
    most ``above`` over its mean and ``below`` under it, with a variance of at most ``own`` if its
    sender holds the value and ``others`` if not.

    By Bernstein's inequality it lies t over its mean c with probability at most
    exp(-t^2 / (2 V + 2 above t / 3)), V the variances' sum for c holders, whatever all others hold;
    likewise under. The limits are the last c at which that is not less than ``tail``.
    """

    own: Floats = None  # type: ignore[assignment]
    others: Floats = None  # type: ignore[assignment]
    above: Floats = None  # type: ignore[assignment]
    below: Floats = None  # type: ignore[assignment]

    def limits(self, chosen: NDArray[np.bool_], tail: float) -> tuple[Floats, Floats]:
        law, strength = self.at(chosen), -math.log(tail)
        slope = law.own - law.others
        here = self.n * self.rounds * law.others + slope * law.seen  # V, were the estimate the truth
        over = _farthest(here, law.above / 3.0 - slope, strength)
        under = _farthest(here, law.below / 3.0 + slope, strength)
        return (law.seen - over) / self.rounds, (law.seen + under) / self.rounds

    def add(self, other: Self) -> Self | None:
        mine, theirs = ((law.n, *(part.tobytes() for part in law._parts)) for law in (self, other))
        if mine != theirs:
            return None
        return replace(self, seen=self.seen + other.seen, rounds=self.rounds + other.rounds)

    def at(self, chosen: Any) -> Self:
        own, others, above, below = (part[chosen] for part in self._parts)
        return replace(self, seen=self.seen[chosen], own=own, others=others, above=above, below=below)

    @property
    def _parts(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self.own, self.others, self.above, self.below


@dataclass(frozen=True, slots=True, eq=False)
class Uncertain(Bounded):
    """The same where what was seen does not even tell how much it varies."""

    throughout: ClassVar[bool] = True


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
