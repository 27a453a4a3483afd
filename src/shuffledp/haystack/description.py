"""The needle in the haystack, described: what the analyst's view is made of (theory, section 2)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shuffledp.haystack.contour import DEFAULT_GAP, ramp_bounds
from shuffledp.randomizers.base import Atoms, Floats

__all__ = ["Haystack"]

FEW, MERGED_GAP = 64, 1e-5  # laws of many classes are themselves approximations: closer ends would be idle work


@dataclass(frozen=True, slots=True, eq=False)
class Haystack:
    """A target among ``n - 1`` other users, in the ratios that its privacy depends on.

    Every one of the n positions of the view independently holds an item of class i with probability ``hay[i]`` and
    nothing with probability 1 - sum(hay). With ``u = needle0 / hay`` and ``v = needle1 / hay``,

        delta(eps) = 1/n E( sum over the n positions of (u - e^eps v) )_+  +  sum (exposed0 - e^eps exposed1)_+ ,

    where ``exposed`` collects the needle's mass in classes without hay, and an empty position counts 0. This is
    theory.md's formula with its 1/(gamma n) multiplied out, for eps >= 0.
    """

    name: str
    n: int
    hay: Floats
    u: Floats
    v: Floats
    exposed0: Floats
    exposed1: Floats
    subtracted: float = 0.0  # from u and from v: rounding is relative to what they were before

    @classmethod
    def of(cls, atoms: Atoms, n: int) -> Haystack:
        """The haystack of ``atoms`` with n users in all."""
        covered = atoms.hay > 0.0
        hay = atoms.hay[covered]
        return cls(
            atoms.name,
            n,
            hay,
            atoms.needle0[covered] / hay,
            atoms.needle1[covered] / hay,
            atoms.needle0[~covered],
            atoms.needle1[~covered],
        )

    @classmethod
    def strong(cls, atoms: Atoms, n: int) -> Haystack:
        """The view of an adversary who also sees whether the target's own report came from the blanket.

        If it did, the report says nothing, so only the data-dependent part needle - hay of total mass 1 - gamma
        remains, and for eps >= 0 the other outcome adds nothing to delta.
        """
        plain = cls.of(atoms, n)
        u, v = np.maximum(plain.u - 1.0, 0.0), np.maximum(plain.v - 1.0, 0.0)
        return cls(plain.name, n, plain.hay, u, v, plain.exposed0, plain.exposed1, subtracted=1.0)

    def swapped(self) -> Haystack:
        """The same view with the target's two inputs exchanged."""
        return replace(self, u=self.v, v=self.u, exposed0=self.exposed1, exposed1=self.exposed0)

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """Lower and upper ends of delta at every epsilon >= 0, about a relative ``gap`` apart."""
        epsilons = np.asarray(epsilons, dtype=np.float64)
        if self.hay.size > FEW:
            gap = max(gap, MERGED_GAP)
        lower, upper = ramp_bounds(self.n, self.hay, self.u, self.v, epsilons, gap, self.subtracted)
        seen = (self.exposed0 - np.exp(np.minimum(epsilons, 700.0))[:, None] * self.exposed1).clip(min=0.0).sum(axis=1)
        return np.minimum(lower + seen * (1.0 - 1e-14), 1.0), np.minimum(upper + seen * (1.0 + 1e-14), 1.0)
