"""The grid on which numbers are reported by one message. A finer one rounds less but needs more
noise: gamma, the chance of a random report, is about c (k + 1) / n for one c (Balle et al. 2019).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from shuffledp.mechanisms.mechanism import Target
from shuffledp.mechanisms.one_message import strongest
from shuffledp.randomizers.krr import KRR

__all__ = ["best_grid", "guessed_grid", "worst_variance"]

COARSE = 4
TINY = 1e-12


def best_grid(target: Target) -> int:
    """The number of steps with the least error for the worst data, under the noise that each grid
    is certified to need.

    c = n gamma / (k + 1) changes slowly with k: it is interpolated between the grids calibrated so
    far, until the best grid is one of those.
    """
    first = guessed_grid(target.n, target.epsilon, target.delta)
    known = {k: _constant(k, target) for k in (first, 2 * first)}
    while True:
        k = _argmin(target.n, known)
        # coarse grids are few and far between, so their neighbours are calibrated, not interpolated
        wanted = [each for each in ((k - 1, k, k + 1) if k <= COARSE else (k,)) if each >= 1 and each not in known]
        if not wanted:
            return k
        known.update((each, _constant(each, target)) for each in wanted)


def _constant(k: int, target: Target) -> float:
    """c = n gamma / (k + 1) for the largest epsilon0 that is certified to keep the promise with k
    steps.
    """
    terms = (target.honest, target.epsilon, target.delta, target.rounds)
    epsilon0 = strongest(KRR, (("k", k + 1),), *terms)
    return target.n * KRR(k=k + 1, epsilon0=epsilon0).gamma / (k + 1)


def guessed_grid(n: int, epsilon: float, delta: float) -> int:
    """About the best number of steps for a promise, before anything is calibrated."""
    constant = 3.0 * math.log(1.0 / delta) / max(min(epsilon, epsilon**2), TINY)
    return max(2, _argmin(n, {1: constant}))


def _argmin(n: int, known: dict[int, float]) -> int:
    """The k with the least worst-case error when gamma = c (k + 1) / n, and log c is interpolated
    in log k between ``known`` ones.
    """
    grids, (steps, constants) = np.arange(1.0, 8.0 + 4.0 * n ** (1.0 / 3.0)), zip(*sorted(known.items()), strict=True)
    gammas = np.exp(np.interp(np.log(grids), np.log(steps), np.log(constants))) * (grids + 1.0) / n
    allowed = gammas < 1.0
    if not allowed.any():
        return 1
    errors = worst_variance(grids[allowed], gammas[allowed]) / (1.0 - gammas[allowed]) ** 2
    return int(grids[allowed][np.argmin(errors)])


def worst_variance(k: Any, gamma: Any) -> Any:
    """The largest Var(y) over all numbers in [0, 1], exactly; for arrays too.

    In the outermost cell (x - 1/2)^2 is largest, and the variance is concave in f there: its top is
    at f = (1 - gamma k) / (2 (1 - gamma)), or at 0.
    """
    f = np.clip((1.0 - gamma * k) / (2.0 * (1.0 - gamma)), 0.0, 1.0)
    return (1.0 - gamma) * (f * (1.0 - f) / k**2 + gamma * (f / k - 0.5) ** 2) + gamma * (k + 2.0) / (12.0 * k)
