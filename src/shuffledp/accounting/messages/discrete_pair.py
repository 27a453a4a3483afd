"""A pair of laws, atom by atom: sorted by their ratios once, and then delta is two tails at any
epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP
from shuffledp.accounting.haystack.contour import UNIT

__all__ = ["DiscretePair"]


@dataclass(frozen=True, eq=False)
class DiscretePair:
    """``first[i]`` and ``second[i]`` are the probabilities of atom i, off by ``doubt`` relatively;
    at most ``outside`` of either law is missing, and counts as seen.
    """

    name: str
    first: Floats
    second: Floats
    doubt: float
    outside: float

    def __post_init__(self) -> None:
        # A window that is too narrow for its law would prove too much.
        for law in (self.first, self.second):
            if abs(float(law.sum()) - 1.0) > self._wide + self.outside:
                raise AssertionError(f"the laws of a pair must sum to 1, got {law.sum()!r}")

    @property
    def _wide(self) -> float:
        """How far a sum of probabilities may be off, relatively."""
        return UNIT * (self.first.size + 64.0) + 4.0 * self.doubt

    def swapped(self) -> DiscretePair:
        """The pair in the other order."""
        return replace(self, first=self.second, second=self.first)

    @cached_property
    def _tails(self) -> tuple[Floats, Floats, Floats]:
        """Ratios, ascending, and the masses of both laws from each of them up."""
        seen = (self.first > 0.0) | (self.second > 0.0)
        first, second = self.first[seen], self.second[seen]
        with np.errstate(divide="ignore"):
            ratio = first / second
        order = np.argsort(ratio)
        tails = [np.append(np.cumsum(law[order][::-1])[::-1], 0.0) for law in (first, second)]
        return ratio[order], tails[0], tails[1]

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """Both ends of delta at every epsilon >= 0."""
        del gap
        ratio, first, second = self._tails
        growth = np.exp(np.asarray(epsilons, dtype=np.float64))
        place = np.searchsorted(ratio, growth, side="right")
        gains, costs = first[place], growth * second[place]
        error = self._wide * (gains + costs)
        lower = gains - costs - error - 2.0 * self.outside * growth
        return np.maximum(lower, 0.0), np.minimum(np.maximum(gains - costs, 0.0) + error + 2.0 * self.outside, 1.0)
