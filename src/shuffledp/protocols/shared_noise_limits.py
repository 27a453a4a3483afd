"""Intervals where everybody adds a share of the noise: its exact law, which is anything but normal.

The noise is A - B for two independent negative binomial numbers of shape t, the shares that were
added over those that make it complete, with generating function ((1 - q) / (1 - q z))^t each. So
the characteristic function of A - B is (1 + 4 q sin(x/2)^2 / (1 - q)^2)^-t, and one Fourier
transform gives its law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.accounting.messages.sums import reach
from shuffledp.protocols.exact_limits import Law

__all__ = ["SharedNoise", "noise_above", "noise_reach"]

OUTSIDE = 1e-17  # what is left out of the law at either end
SHARP = 1e-8  # smaller probabilities are not used where it is their size that matters
ROUNDED = 1e-14  # what the Fourier transform may lose of a tail
SLOPES = np.linspace(0.4, 1.0, 13)  # of the decay of the noise


@dataclass(frozen=True, slots=True, eq=False)
class SharedNoise(Law):
    """``seen`` is the truth plus noise of this ``shape`` and ``ratio``, in steps of width ``step``,
    and the rounding of ``rounded`` people's numbers to neighboring points of a grid.

    Rounding a number errs by less than a step, and by 0 on average, so that R, all of it, has
    E e^(s R) <= e^(s^2 rounded / 8) (Hoeffding 1963). If P(A - B >= m) <= C e^(-s m) for all m,
    then P(A - B + R > u) <= C e^(-s u) e^(s^2 rounded / 8): the best s is taken. So the interval
    covers at least as often as it says, whatever the numbers are; where none is rounded, it is
    exact.
    """

    throughout: ClassVar[bool] = True

    shape: float = 1.0
    ratio: float = 0.5
    step: float = 1.0
    rounded: int = 0

    def limits(self, chosen: NDArray[np.bool_], tail: float) -> tuple[Floats, Floats]:
        far = self.step * noise_reach(self.shape, self.ratio, self.rounded, tail)
        seen: Floats = self.seen[chosen]
        return (seen - far) / self.rounds, (seen + far) / self.rounds

    def add(self, other: Self) -> Self | None:
        if (self.n, self.ratio, self.step) != (other.n, other.ratio, other.step):
            return None
        return replace(
            self,
            seen=self.seen + other.seen,
            rounds=self.rounds + other.rounds,
            shape=self.shape + other.shape,
            rounded=self.rounded + other.rounded,
        )

    def at(self, chosen: Any) -> Self:
        return replace(self, seen=self.seen[chosen])


def noise_reach(shape: float, ratio: float, rounded: int, tail: float) -> float:
    """The least number of steps, a whole one if nothing is rounded, that noise and rounding exceed
    with probability at most ``tail``.

    >>> q = 0.5  # P(A - B > t) = q^(t + 1) / (1 + q) if the noise is complete
    >>> noise_reach(1.0, q, 0, 0.02), q**6 / 1.5 < 0.02 < q**5 / 1.5
    (5.0, True)
    """
    above = noise_above(shape, ratio)
    if not rounded:
        return float(np.argmax(np.append(above[1:] <= tail, True)))
    sharp = above[above >= SHARP]
    # Beyond, P falls by a factor of q (j + t) / (j + 1) or more from one j to the next.
    steepest = -math.log(ratio) - max(math.log1p((shape - 1.0) / len(sharp)), 0.0)
    below = 1.0 - sharp[:0:-1] + 2.0 * ROUNDED  # P(A - B > -j)
    chances, places = np.log(np.append(below, sharp)), np.arange(1.0 - len(sharp), len(sharp))
    reaches = [
        (np.max(chances + slope * places) - math.log(tail)) / slope + slope * rounded / 8.0
        for slope in steepest * SLOPES
    ]
    return float(min(reaches))


@lru_cache(maxsize=8)
def noise_above(shape: float, ratio: float) -> Floats:
    """P(A - B >= j) for j = 0, 1, ..., from above."""
    most = reach(shape, ratio, OUTSIDE)
    size = 1 << (2 * most + 2).bit_length()
    angles = np.arange(size // 2 + 1) * (math.pi / size)
    transform = (1.0 + 4.0 * ratio * np.sin(angles) ** 2 / (1.0 - ratio) ** 2) ** -shape
    chances = np.maximum(np.fft.irfft(transform, size)[: most + 1], 0.0)
    above: Floats = np.minimum(np.cumsum(chances[::-1])[::-1] + ROUNDED, 1.0)
    above.setflags(write=False)
    return above
