"""Local hashing: randomized response on a hash of the input, a fresh one per person."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.errors import InvalidInput, check_count
from shuffledp.randomizers.family import Family, register
from shuffledp.randomizers.parameters import check_domain, check_epsilon0, check_table, checked
from shuffledp.randomizers.support import Form, Ints, MixingRandomizer, Overlap, bits_for, independent
from shuffledp.sampling import WORD, Source, bernoulli, uniform
from shuffledp.wording import statement

LARGEST_G = 1 << 32
SEED_BITS = 64
SEEDS = 512  # that are tried, to see how far a report moves an estimate
FIRST, SECOND = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
ROWS, CELLS = 1 << 11, 1 << 15  # of a block of hashes: reports, and in all
Words = NDArray[np.uint64]


def _check_g(g: object) -> int:
    remedy = "It counts the hash values; e^epsilon0 + 1, as in OLH, estimates best."
    return check_count("g", g, least=2, remedy=remedy)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalHash(MixingRandomizer):
    """Draw a hash h from k inputs to g values; report h and g-RR of h(input) (Wang et al. 2017).

    The report (h, v) supports x if h(x) = v. With h uniform among *all* functions every input is
    supported independently with probability 1/g, and 1/g^k of the outputs support everything. A
    pseudo-random family with long keys approaches this; a small family does not (two inputs that
    collide under many functions are told apart less, others more).

    What runs: h is given by a 64-bit seed s, and h(x) = floor(g m(s xor m(x + 1)) / 2^64) with m
    the 64-bit finaliser of MurmurHash3. For one x and uniform s this is uniform to g / 2^64; that
    different x are independent is the assumption. epsilon0 needs no assumption: it holds for every
    h. A report is the row (s, v).

    >>> LocalHash(k=1000, g=8, epsilon0=2.0).describe()
    {'randomizer': 'olh', 'k': 1000, 'g': 8, 'epsilon0': 2.0}
    """

    k: int = field(metadata=checked(check_domain))
    g: int = field(metadata=checked(_check_g))
    epsilon0: float = field(metadata=checked(check_epsilon0))

    @property
    def assumptions(self) -> tuple[str, ...]:
        return (statement("ideal hash"),)

    def overlaps(self) -> tuple[Overlap, ...]:
        return (independent(self.k, 1.0 / self.g),)

    @property
    def share(self) -> Fraction:
        return Fraction(1, self.g)

    @property
    def stray(self) -> Fraction:
        """1/g, as with noise: a hash function sends another input anywhere."""
        return Fraction(1, self.g)

    @property
    def form(self) -> Form:
        return Form(np.dtype(np.uint64), width=2)

    @property
    def bits(self) -> int:
        """A seed and a hash value."""
        return SEED_BITS + bits_for(self.g)

    def check_reports(self, reports: ArrayLike) -> NDArray[Any]:
        remedy = f"A report of local hashing is a seed and a hash value below {self.g}, two uint64."
        table = check_table("reports", reports, 2, remedy=remedy)
        if table.dtype != np.uint64:
            raise InvalidInput(f"reports must be uint64, got an array of {table.dtype}. {remedy}")
        if int(table[:, 1].max()) >= self.g:
            raise InvalidInput(f"hash values must be below {self.g}, got {int(table[:, 1].max())}. {remedy}")
        return table

    def extreme_reports(self, people: int) -> NDArray[Any]:
        """Some seeds, with every place: some of these send any two values to different places."""
        seeds, places = np.meshgrid(np.arange(SEEDS), np.arange(self.g), indexing="ij")
        return np.column_stack([seeds.ravel(), places.ravel()]).astype(self.form.dtype)

    def _blank(self, count: int) -> NDArray[Any]:
        if self.g > LARGEST_G:
            raise InvalidInput(f"g must be at most 2**32 to run, got {self.g}. Lower epsilon0, or name a smaller g.")
        return np.empty((count, 2), dtype=np.uint64)

    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        seeds = source.words(len(values), np.uint64)
        hashed = _scaled(_finalised(seeds ^ _keys(values)), self.g)
        noisy = bernoulli(source, self.threshold, len(values))
        return np.stack([seeds, np.where(noisy, uniform(source, self.g, len(values)), hashed)], axis=1)

    def _tally(self, reports: NDArray[Any]) -> Ints:
        """Every hash of every report: v = h(x) iff m(...) lies in the interval of v."""
        votes, keys = np.zeros(self.k, dtype=np.int64), _keys(np.arange(self.k))
        for start in range(0, len(reports), ROWS):
            seeds, found = reports[start : start + ROWS].T
            low, width = self._interval(found)
            step = max(1, CELLS // len(seeds))
            for first in range(0, self.k, step):
                words = _finalised(keys[first : first + step, None] ^ seeds)
                words -= low
                votes[first : first + step] += np.count_nonzero(words < width, axis=1)
        return votes

    def _interval(self, found: Words) -> tuple[Words, Words]:
        """The least word that is scaled to each hash value, and how many are."""
        values, place = np.unique(found, return_inverse=True)
        borders = [[-(-(value + end) * WORD // self.g) for value in values.tolist()] for end in (0, 1)]
        low, width = (
            np.array(borders[0], dtype=np.uint64),
            np.array([b - a for a, b in zip(*borders, strict=True)], dtype=np.uint64),
        )
        return low[place], width[place]

    def describe(self) -> dict[str, object]:
        name = "blh" if self.g == 2 else "local_hash"
        if self.g == _best_g(self.epsilon0):
            name = "olh"
        return {"randomizer": name, "k": self.k, "g": self.g, "epsilon0": self.epsilon0}


def OLH(*, k: int, epsilon0: float) -> LocalHash:
    """Optimal local hashing: g = e^epsilon0 + 1, rounded (Wang et al. 2017, section 4.4).

    g is at most 2^32, the most that runs, so from epsilon0 = 32 log 2, about 22.2, it is 2^32: the
    best of those that run.

    >>> OLH(k=1000, epsilon0=2.0).g, OLH(k=1000, epsilon0=30.0).g == 2**32
    (8, True)
    """
    return LocalHash(k=k, g=_best_g(check_epsilon0(epsilon0)), epsilon0=epsilon0)


def BLH(*, k: int, epsilon0: float) -> LocalHash:
    """Binary local hashing: one bit per report (Bassily and Smith 2015).

    >>> BLH(k=1000, epsilon0=2.0).describe()
    {'randomizer': 'blh', 'k': 1000, 'g': 2, 'epsilon0': 2.0}
    """
    return LocalHash(k=k, g=2, epsilon0=epsilon0)


register(Family(make=LocalHash, law="hash", parameters=("k", "g", "epsilon0")))


def _best_g(epsilon0: float) -> int:
    return min(max(2, round(math.exp(epsilon0) + 1.0)), LARGEST_G)


def _finalised(words: Words) -> Words:
    """The 64-bit finaliser of MurmurHash3, a bijection; changes its argument."""
    for factor in (FIRST, SECOND):
        words ^= words >> np.uint64(33)
        words *= factor
    words ^= words >> np.uint64(33)
    return words


def _keys(values: NDArray[Any]) -> Words:
    return _finalised(values.astype(np.uint64) + np.uint64(1))


def _scaled(words: Words, g: int) -> Words:
    """floor(words * g / 2^64) for g up to 2^32, in two halves so that no product overflows."""
    factor, half = np.uint64(g), np.uint64(32)
    scaled: Words = ((words >> half) * factor + ((words & np.uint64(0xFFFFFFFF)) * factor >> half)) >> half
    return scaled
