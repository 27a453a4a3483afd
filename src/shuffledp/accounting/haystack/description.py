"""The needle in the haystack, described: what the analyst's view is made of (theory, section 2).

Many pairs of inputs in one haystack are computed together: a rough pass over all of them, and a
close look at those that can be the worst.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP, MERGED_GAP, ROUGH_GAP
from shuffledp.accounting.haystack.contour import UNIT, WHOLE, PositionLaw, chernoff
from shuffledp.accounting.haystack.score_sum import Scores, ramp_bounds
from shuffledp.randomizers.randomizer import Atoms

FEW = 64  # a law of more classes is an approximation itself
FINE_MESH, ROUGH_MESH = 500, 160  # for single answers, and for searches


@dataclass(frozen=True, slots=True, eq=False)
class Haystack:
    """A target among ``n - 1`` other users, in the masses that its privacy depends on.

    Every one of the n positions of the view independently holds an item of class i with probability
    ``hay[i]`` and nothing with probability 1 - sum(hay). An item of class i has the score
    (needle0[i] - e^eps needle1[i]) / hay[i], and

        delta(eps) = 1/n E( sum of the scores in the n positions )_+  +  sum (exposed0 - e^eps
        exposed1)_+ ,

    where ``exposed`` collects the needle's mass in classes without hay, and an empty position
    counts 0. This is theory.md's formula with its 1/(gamma n) multiplied out, for eps >= 0.
    """

    name: str
    n: int
    hay: Floats
    needle0: Floats
    needle1: Floats
    exposed0: Floats
    exposed1: Floats
    subtracted: Floats  # from the needles: rounding is relative to what they were before
    rounding: float = 0.0  # of the masses, relatively, beyond a few units in the last place
    doubt: float = 0.0  # of the needles, beyond that

    @classmethod
    def of(cls, atoms: Atoms, n: int) -> Haystack:
        """The haystack of ``atoms`` with n users in all."""
        covered = atoms.hay > 0.0
        hay, needle0, needle1 = atoms.hay[covered], atoms.needle0[covered], atoms.needle1[covered]
        exposed0, exposed1 = atoms.needle0[~covered], atoms.needle1[~covered]
        nothing = np.zeros_like(hay)
        return cls(atoms.name, n, hay, needle0, needle1, exposed0, exposed1, nothing, atoms.rounding, atoms.doubt)

    @classmethod
    def strong(cls, atoms: Atoms, n: int) -> Haystack:
        """The view of an adversary who also sees whether the target's report came from the blanket.

        If it did, the report says nothing, so only the data-dependent part needle - hay of total
        mass 1 - gamma remains, and for eps >= 0 the other outcome adds nothing to delta.
        """
        plain = cls.of(atoms, n)
        needle0, needle1 = (np.maximum(needle - plain.hay, 0.0) for needle in (plain.needle0, plain.needle1))
        return replace(plain, needle0=needle0, needle1=needle1, subtracted=plain.hay)

    def swapped(self) -> Haystack:
        return replace(self, needle0=self.needle1, needle1=self.needle0, exposed0=self.exposed1, exposed1=self.exposed0)

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        epsilons = np.asarray(epsilons, dtype=np.float64)
        reach = FINE_MESH if gap <= DEFAULT_GAP else ROUGH_MESH if gap < MERGED_GAP else 0
        if self.hay.size > FEW:
            gap = max(gap, MERGED_GAP)
        hay, below, above = self._rounded()
        off = 4.0 * self.rounding + self.doubt
        hidden = Scores.of(hay, self.needle0, self.needle1, epsilons, self.subtracted, off)
        lower, upper = ramp_bounds(self.n, hidden, gap, reach)
        nothing = np.zeros_like(self.exposed0)
        seen_low, seen_high = Scores.of(nothing + 1.0, self.exposed0, self.exposed1, epsilons, nothing, off).alone()
        return np.clip(lower * below + seen_low, 0.0, 1.0) * (1.0 - 2.0 * UNIT), np.minimum(
            (upper * above + seen_high) * (1.0 + 2.0 * UNIT), 1.0
        )

    def _rounded(self) -> tuple[Floats, float, float]:
        """The hay to compute with, and factors for both ends, so that ``rounding`` does no harm.

        If all n positions are filled, a view's probability is off by a factor of n powers of 1 +
        rounding. Otherwise take too little hay, which leaks more; then only an empty position's
        probability is too large, and by 2 rounding at most.
        """
        if self.rounding == 0.0:
            return self.hay, 1.0, 1.0
        empty = 1.0 - float(self.hay.sum())
        if empty <= WHOLE:
            off = math.exp(min((2.0 * self.rounding + WHOLE) * self.n, 700.0))
            return self.hay, 1.0 / off, off
        too_much = min(2.0 * self.rounding / empty, 1.0)
        return self.hay * (1.0 - self.rounding), (1.0 - too_much) ** self.n, 1.0


CHUNK = 1 << 19  # rows times classes at once


@dataclass(frozen=True, slots=True, eq=False)
class HaystackFamily:
    """One hay, and any two different rows of ``needles`` as the laws of the target's report: the
    largest delta of them all.

    ``strong`` as in ``Haystack.strong``.
    """

    name: str
    n: int
    hay: Floats
    needles: Floats
    strong: bool = False

    def member(self, i: int, j: int) -> Haystack:
        """The haystack of inputs i and j."""
        atoms = Atoms(f"{self.name}; inputs {i} and {j}", self.hay, self.needles[i], self.needles[j])
        return Haystack.strong(atoms, self.n) if self.strong else Haystack.of(atoms, self.n)

    def swapped(self) -> HaystackFamily:
        """The same: every pair is there in both orders."""
        return self

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        epsilons = np.asarray(epsilons, dtype=np.float64)
        pairs = self.pairs()
        if not len(pairs):
            return np.zeros_like(epsilons), np.zeros_like(epsilons)
        lower, upper = self._rough(pairs, epsilons)
        if gap >= ROUGH_GAP:
            return lower.max(axis=0), upper.max(axis=0)
        contenders = pairs[np.any(upper >= lower.max(axis=0), axis=1)]
        unlike = {self._columns(i, j): self.member(i, j) for i, j in contenders.tolist()}
        close = [member.bounds(epsilons, gap) for member in unlike.values()]
        return np.max([low for low, _ in close], axis=0), np.max([high for _, high in close], axis=0)

    def _columns(self, i: int, j: int) -> bytes:
        """What a pair's delta depends on: pairs with the same classes are one."""
        columns = np.stack([self.hay, self.needles[i], self.needles[j]])
        return columns[:, np.lexsort(columns)].tobytes()

    def pairs(self) -> NDArray[np.intp]:
        """The ordered pairs of different inputs, each law once."""
        _, first = np.unique(self.needles, axis=0, return_index=True)
        i, j = (axis.ravel() for axis in np.meshgrid(np.sort(first), np.sort(first), indexing="ij"))
        return np.asarray(np.stack([i, j], axis=1)[i != j])

    def likely(self, epsilons: Floats) -> NDArray[np.intp]:
        """For every epsilon, the pair that probably leaks most, by Chernoff's bound."""
        pairs = self.pairs()
        guesses = [self._guess(block, epsilons) for block in self._blocks(pairs, epsilons.size)]
        return pairs[np.unique(np.concatenate(guesses).argmax(axis=0))] if guesses else pairs

    def _guess(self, pairs: NDArray[np.intp], epsilons: Floats) -> Floats:
        hidden, seen = self._scores(pairs, epsilons)
        values = hidden.values.clip(-1e100, 1e100)
        live = np.flatnonzero(values.max(axis=1, initial=0.0) > 1e-100)
        guess = seen.alone()[1]
        if live.size:
            top = values[live].max(axis=1)
            capped = np.clip(values[live] / top[:, None], -float(self.n), 1.0)
            guess[live] += np.minimum(top * chernoff(PositionLaw(self.n, hidden.hay, capped)), hidden.alone()[1][live])
        return guess.reshape(len(pairs), epsilons.size)

    def _rough(self, pairs: NDArray[np.intp], epsilons: Floats) -> tuple[Floats, Floats]:
        lower, upper = np.empty((len(pairs), epsilons.size)), np.empty((len(pairs), epsilons.size))
        start = 0
        for block in self._blocks(pairs, epsilons.size):
            hidden, seen = self._scores(block, epsilons)
            low, high = ramp_bounds(self.n, hidden, ROUGH_GAP)
            seen_low, seen_high = seen.alone()
            rows = slice(start, start + len(block))
            lower[rows] = (np.clip(low + seen_low, 0.0, 1.0) * (1.0 - 2.0 * UNIT)).reshape(len(block), -1)
            upper[rows] = np.minimum((high + seen_high) * (1.0 + 2.0 * UNIT), 1.0).reshape(len(block), -1)
            start += len(block)
        return lower, upper

    def _blocks(self, pairs: NDArray[np.intp], points: int) -> list[NDArray[np.intp]]:
        step = max(1, CHUNK // (max(points, 1) * self.hay.size))
        return [pairs[start : start + step] for start in range(0, len(pairs), step)]

    def _scores(self, pairs: NDArray[np.intp], epsilons: Floats) -> tuple[Scores, Scores]:
        """Of classes with hay and of those without, a row for every pair and epsilon."""
        covered = self.hay > 0.0
        hay, needles = self.hay[covered], self.needles[:, covered]
        taken = hay if self.strong else np.zeros_like(hay)
        left = np.maximum(needles - taken, 0.0)
        i, j, points = (
            np.repeat(pairs[:, 0], epsilons.size),
            np.repeat(pairs[:, 1], epsilons.size),
            np.tile(epsilons, len(pairs)),
        )
        bare = self.needles[:, ~covered]
        nothing = np.zeros(bare.shape[1])
        return Scores.of(hay, left[i], left[j], points, taken), Scores.of(
            nothing + 1.0, bare[i], bare[j], points, nothing
        )
