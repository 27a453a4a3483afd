"""Noise in shares: a negative binomial number is the sum of what many people draw.

NB(t, q) has the law P(j) = Gamma(t + j) / (Gamma(t) j!) (1 - q)^t q^j and the generating function
((1 - q) / (1 - qz))^t: sums of such numbers are such numbers, the t adding up. So people whose t
add up to 1 draw together a geometric number, and the difference of two of those has the law
(1 - q) / (1 + q) q^|j|, the discrete Laplace noise of a trusted curator (Ghazi et al. 2021; Balle
et al. 2020).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from shuffledp._types import Floats
from shuffledp.accounting.haystack.contour import UNIT
from shuffledp.errors import InvalidInput

__all__ = ["OUTSIDE", "negative_binomial", "poisson", "poisson_reach", "reach"]

MOST_VALUES = 1 << 21
OUTSIDE = 1e-30  # the probability of what is left out of a law, and counts as seen


def reach(t: float, ratio: float, outside: float) -> int:
    """A number that NB(t, ratio) exceeds with probability at most ``outside``.

    Chernoff: P(N >= m) <= E s^(N - m) = ((1 - q) / (1 - qs))^t s^-m for every s < 1/q; at the best
    one qs = m / (m + t).
    """
    low, high = 0, 1
    while _log_tail(t, ratio, high) > math.log(outside):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _log_tail(t, ratio, middle) > math.log(outside) else (low, middle)
    return _checked(high)


def _checked(values: int) -> int:
    if values > MOST_VALUES:
        raise InvalidInput(
            f"noise must range over at most {MOST_VALUES:,} values, got {values:,}. Ask for a coarser grid, or for a "
            f"larger epsilon."
        )
    return values


def _log_tail(t: float, ratio: float, m: int) -> float:
    if m * (1.0 - ratio) <= t * ratio:  # not above the mean
        return 0.0
    share = m / (m + t)
    return t * (math.log1p(-ratio) - math.log(t / (m + t))) - m * math.log(share / ratio)


def negative_binomial(t: float, ratio: float, most: int) -> tuple[Floats, float]:
    """The probabilities of 0 to ``most``, and how far each may be off, relatively."""
    j = np.arange(most + 1.0)
    logs = gammaln(t + j) - gammaln(t) - gammaln(j + 1.0) + t * math.log1p(-ratio) + j * math.log(ratio)
    size = (
        2.0 * float(gammaln(t + most + 2.0)) + abs(float(gammaln(t))) + t * -math.log1p(-ratio) - most * math.log(ratio)
    )
    return np.exp(logs), 8.0 * UNIT * (size + 16.0)


def poisson_reach(mean: float, outside: float) -> int:
    """A number that a Poisson number exceeds with probability at most ``outside``.

    Chernoff: P(N >= mean + t) <= e^(-t^2 / (2 (mean + t/3))).
    """
    log = -math.log(outside)
    return _checked(math.ceil(mean + log / 3.0 + math.sqrt(log * log / 9.0 + 2.0 * mean * log)) + 1)


def poisson(mean: float, most: int) -> tuple[Floats, float]:
    """The probabilities of 0 to ``most``, and how far each may be off, relatively."""
    j = np.arange(most + 1.0)
    logs = j * math.log(mean) - mean - gammaln(j + 1.0)
    return np.exp(logs), 8.0 * UNIT * (float(gammaln(most + 2.0)) + most * abs(math.log(mean)) + mean + 16.0)
