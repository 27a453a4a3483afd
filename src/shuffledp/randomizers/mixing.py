"""Support randomizers whose base law is easy to draw from: one coin chooses between noise and an
output that supports the input.

With probability t = T / 2^64 the report is drawn from the base law, and else from the base law's
outputs that support the input, a share f of all. So mu_x(y) = base(y) (t + (1 - t) / f if y
supports x else t), and one integer T realizes e^epsilon0 = 1 + (1 - t) / (t f) exactly.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Hashable
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput
from shuffledp.randomizers.parameters import SMALLEST_EPSILON0
from shuffledp.randomizers.support import SupportRandomizer
from shuffledp.randomizers.votes import Ints
from shuffledp.sampling import WORD
from shuffledp.sampling.integers import mixing_threshold

__all__ = ["MixingRandomizer", "histogram"]


class MixingRandomizer(SupportRandomizer):
    """Noise with probability ``threshold`` / 2^64, else an output that supports the input."""

    __slots__ = ()

    @property
    @abstractmethod
    def share(self) -> Fraction:
        """f: the base probability that an output supports a given input."""

    @property
    def threshold(self) -> int:
        """T: the least number of words out of 2^64 that must mean noise, so that epsilon0 is not
        exceeded.
        """
        return self._integers()[0]

    @property
    def integers(self) -> tuple[int, ...]:
        return (self.threshold,)

    @property
    def noise(self) -> Fraction:
        """t = T / 2^64, the probability that a report is drawn from the base law."""
        return Fraction(self.threshold, WORD)

    @property
    def realised(self) -> Self:
        return dataclasses.replace(self, epsilon0=max(self._integers()[1], SMALLEST_EPSILON0))  # type: ignore[type-var]

    @property
    def gentler(self) -> Hashable:
        """Sending noise in place of some reports lowers epsilon0, as long as base law and supports
        stay: the same share, and all that is not epsilon0.
        """
        settled = self.settled
        names = (each.name for each in dataclasses.fields(settled) if each.name != "epsilon0")  # type: ignore[arg-type]
        return (self.share, *(getattr(settled, name) for name in names))

    @property
    def stray(self) -> Fraction:
        """The mean vote of a report without noise for a value that is not its sender's; 0 unless a
        subclass says otherwise.
        """
        return Fraction(0)

    @property
    def hit(self) -> float:
        return float(self.noise * self.share + (1 - self.noise))

    @property
    def miss(self) -> float:
        return float(self.noise * self.share + (1 - self.noise) * self.stray)

    @property
    def contrast(self) -> float:
        """(1 - t) (1 - stray): noise votes for all values alike."""
        return float((1 - self.noise) * (1 - self.stray))

    def _integers(self) -> tuple[int, float]:
        threshold, implied = mixing_threshold(self.epsilon0, self.share)
        if threshold == WORD:
            raise InvalidInput(
                f"epsilon0 must be large enough for 64-bit coins to show it, got {self.epsilon0!r} with k = {self.k}. "
                "Raise epsilon0, or lower k: as it is, every report is noise."
            )
        return threshold, implied


def histogram(outputs: NDArray[Any], size: int) -> Ints:
    """How often each of 0, ..., size - 1 occurs, counted in parts: NumPy's own count would copy
    everything to 64 bits.
    """
    counts, step = np.zeros(size, dtype=np.int64), max(size, 1 << 17)
    for start in range(0, len(outputs), step):
        counts += np.bincount(outputs[start : start + step].astype(np.intp, copy=False), minlength=size)
    return counts
