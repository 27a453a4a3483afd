"""What Gaussian noise hides: delta(epsilon) between N(0, s^2) and N(1, s^2), the one formula of a
report, of a curator's answer and of first guesses.

delta = Phi(1/(2s) - epsilon s) - e^epsilon Phi(-1/(2s) - epsilon s) (Balle and Wang 2018, Thm 8).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

SLACK = 8e-13  # twice the relative rounding error of ``gaussian_delta``, which grows to 3.2e-13 at 36 sigma
LONG = 0.5
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


def gaussian_delta(noise: float, epsilon: float) -> float:
    """delta at any real epsilon, to 12 digits also far out in the tail; ``noise`` is s.

    With t = epsilon s - 1/(2s), h = 1/s and Mills' ratio M, delta = phi(t) (M(t) - M(t + h)), and
    M' = u M - 1. A short step is integrated, as the difference would lose digits. Below 0 the pair
    in the other order is read: delta(-epsilon) = 1 - e^-epsilon + e^-epsilon delta(epsilon).

    >>> round(gaussian_delta(1.0, 1.0), 6), round(gaussian_delta(1.0, -1.0), 6)
    (0.126937, 0.678818)
    """
    if epsilon < 0.0:
        return math.exp(epsilon) * gaussian_delta(noise, -epsilon) - math.expm1(epsilon)
    step = 1.0 / noise
    t = epsilon * noise - step / 2.0
    density = math.exp(-t * t / 2.0) / math.sqrt(2.0 * math.pi)
    if step <= LONG:
        at = t + step * (1.0 + NODES) / 2.0
        return float(density * step * np.sum(WEIGHTS * (1.0 - at * _mills(at))) / 2.0)
    if t >= 0.0:
        return float(density * (_mills(t) - _mills(t + step)))
    return float(ndtr(-t) - density * _mills(t + step))


def gaussian_delta_roughly(mu: float, epsilon: float) -> float:
    """The same for mu = 1/s, quickly and to a few digits: where a search begins."""
    return float(ndtr(mu / 2.0 - epsilon / mu) - np.exp(min(epsilon + log_ndtr(-mu / 2.0 - epsilon / mu), 0.0)))


def _mills(t: np.ndarray | float) -> np.ndarray | float:
    """(1 - Phi(t)) / phi(t)."""
    return math.sqrt(math.pi / 2.0) * erfcx(t / math.sqrt(2.0))  # type: ignore[no-any-return]
