"""Binary randomized response on explicit datasets, and a certificate over all of them.

The view is the number of ones: a bit of the target on top of everybody else's, as in ``bits``,
where those who hold 1 send it with probability e^eps0 / (e^eps0 + 1) and the others with
probability 1 / (e^eps0 + 1). The target's inputs are 0 and 1, in this order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shuffledp._types import Floats, Integers
from shuffledp.accounting.accuracy import DEFAULT_GAP, FINE_GAP
from shuffledp.accounting.haystack.bits import bit_bounds
from shuffledp.randomizers.bit_law import BitLaw

__all__ = ["BinaryDataset", "BinaryScan"]

# Blocks, and datasets tried for the lower end: for close answers, and for curves of many points.
FINE, COARSE = (512, 64), (96, 8)


@dataclass(frozen=True, slots=True)
class BinaryDataset:
    """The target's inputs are 0 and 1; of the others, ``zeros`` hold 0 and ``ones`` hold 1."""

    epsilon0: float
    zeros: int
    ones: int

    @property
    def name(self) -> str:
        """Which dataset this is, in words."""
        return f"of the others, {self.zeros} hold 0 and {self.ones} hold 1"

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """Lower and upper ends of delta at every epsilon >= 0; ``gap`` makes no difference."""
        del gap
        lower, upper = bit_bounds(
            BitLaw.symmetric(self.epsilon0), np.array([self.ones]), np.array([self.zeros]), epsilons
        )
        return lower[0], upper[0]

    def swapped(self) -> BinaryDataset:
        """The target's inputs exchanged: rename the values, and the others exchange theirs."""
        return BinaryDataset(self.epsilon0, self.ones, self.zeros)


@dataclass(frozen=True, slots=True)
class BinaryScan:
    """All datasets of n users at once, for both orders of the target's inputs.

    Removing a user from the view only helps the adversary, so for j in [j0, j0 + d) ones the
    dataset is dominated by the one with j0 ones among n - d others. Exchanging 0 and 1 maps (j,
    order) to (n-1-j, other order), so one order and all j suffice.
    """

    epsilon0: float
    n: int
    name: str = "scan over all datasets"

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """The lower end is attained by a dataset, the upper end holds for every dataset."""
        blocks, tries = FINE if gap <= FINE_GAP else COARSE
        length = max(1, -(-self.n // blocks))
        first = np.arange(0, self.n, length, dtype=np.int64)
        ones = self._tries(tries)
        law = BitLaw.symmetric(self.epsilon0)
        lower, _ = bit_bounds(law, ones, self.n - 1 - ones, epsilons)
        _, upper = bit_bounds(law, first, np.maximum(self.n - length - first, 0), epsilons)
        return lower.max(axis=0), upper.max(axis=0)

    def worst(self, epsilon: float) -> BinaryDataset:
        """The dataset that gives the lower end at epsilon."""
        ones = self._tries(FINE[1])
        lower, _ = bit_bounds(BitLaw.symmetric(self.epsilon0), ones, self.n - 1 - ones, np.array([epsilon]))
        most = int(ones[lower[:, 0].argmax()])
        return BinaryDataset(self.epsilon0, self.n - 1 - most, most)

    def swapped(self) -> BinaryScan:
        """The same: both orders are covered."""
        return self

    def _tries(self, count: int) -> Integers:
        return np.unique(np.linspace(0, self.n - 1, min(count, self.n)).astype(np.int64))
