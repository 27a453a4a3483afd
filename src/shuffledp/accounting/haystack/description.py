"""The needle in the haystack, described: what the analyst's view is made of (theory, section 2)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP, MERGED_GAP
from shuffledp.accounting.haystack.contour import UNIT
from shuffledp.accounting.haystack.ramp import Scores, ramp_bounds
from shuffledp.randomizers.randomizer import Atoms

__all__ = ["Haystack"]

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

    @classmethod
    def of(cls, atoms: Atoms, n: int) -> Haystack:
        """The haystack of ``atoms`` with n users in all."""
        covered = atoms.hay > 0.0
        return cls(
            atoms.name,
            n,
            atoms.hay[covered],
            atoms.needle0[covered],
            atoms.needle1[covered],
            atoms.needle0[~covered],
            atoms.needle1[~covered],
            np.zeros(np.count_nonzero(covered)),
        )

    @classmethod
    def strong(cls, atoms: Atoms, n: int) -> Haystack:
        """The view of an adversary who also sees whether the target's own report came from the
        blanket.

        If it did, the report says nothing, so only the data-dependent part needle - hay of total
        mass 1 - gamma remains, and for eps >= 0 the other outcome adds nothing to delta.
        """
        plain = cls.of(atoms, n)
        needle0, needle1 = (np.maximum(needle - plain.hay, 0.0) for needle in (plain.needle0, plain.needle1))
        return replace(plain, needle0=needle0, needle1=needle1, subtracted=plain.hay)

    def swapped(self) -> Haystack:
        """The same view with the target's two inputs exchanged."""
        return replace(self, needle0=self.needle1, needle1=self.needle0, exposed0=self.exposed1, exposed1=self.exposed0)

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """Lower and upper ends of delta at every epsilon >= 0, about a relative ``gap`` apart."""
        epsilons = np.asarray(epsilons, dtype=np.float64)
        reach = FINE_MESH if gap <= DEFAULT_GAP else ROUGH_MESH if gap < MERGED_GAP else 0
        if self.hay.size > FEW:
            gap = max(gap, MERGED_GAP)
        hidden = Scores.of(self.hay, self.needle0, self.needle1, epsilons, self.subtracted)
        lower, upper = ramp_bounds(self.n, hidden, gap, reach)
        seen_low, seen_high = Scores.of(
            np.ones_like(self.exposed0), self.exposed0, self.exposed1, epsilons, np.zeros_like(self.exposed0)
        ).alone()
        return np.clip(lower + seen_low, 0.0, 1.0) * (1.0 - 2.0 * UNIT), np.minimum(
            (upper + seen_high) * (1.0 + 2.0 * UNIT), 1.0
        )
