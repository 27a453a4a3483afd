"""Many pairs of inputs in one haystack, computed together: a rough pass over all of them, and a
close look at those that can be the worst.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP, ROUGH_GAP
from shuffledp.accounting.haystack.contour import UNIT, PositionSum, chernoff
from shuffledp.accounting.haystack.description import Haystack
from shuffledp.accounting.haystack.score_sum import Scores, ramp_bounds
from shuffledp.randomizers.randomizer import Atoms

__all__ = ["HaystackFamily"]

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
        """Both ends of the largest delta at every epsilon >= 0."""
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
        """What a pair's delta depends on: the classes in any order, so that pairs alike up to the
        names of the classes are looked at once.
        """
        columns = np.stack([self.hay, self.needles[i], self.needles[j]])
        return columns[:, np.lexsort(columns)].tobytes()

    def pairs(self) -> NDArray[np.intp]:
        """The ordered pairs of different inputs, each law once."""
        _, first = np.unique(self.needles, axis=0, return_index=True)
        i, j = (axis.ravel() for axis in np.meshgrid(np.sort(first), np.sort(first), indexing="ij"))
        return np.asarray(np.stack([i, j], axis=1)[i != j])

    def likely(self, epsilons: Floats) -> NDArray[np.intp]:
        """For every epsilon, the pair that probably leaks most: by Chernoff's bound, which is
        cheap.
        """
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
            guess[live] += np.minimum(top * chernoff(PositionSum(self.n, hidden.hay, capped)), hidden.alone()[1][live])
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
