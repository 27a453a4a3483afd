"""The grid on which numbers are reported by one message. A finer one rounds less but needs more
noise: gamma, the chance of a random report, is about c (k + 1) / n for one c (Balle et al. 2019).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from shuffledp.domain import MOST_LABELS, check_size
from shuffledp.errors import DoesNotApply, InvalidInput, check_count, check_delta, check_epsilon, check_users
from shuffledp.mechanisms.mechanism import Target
from shuffledp.mechanisms.one_message import strongest
from shuffledp.randomizers.krr import KRR

__all__ = [
    "best_grid",
    "checked_steps",
    "guessed_grid",
    "lower_bound",
    "printed_bound",
    "printed_law",
    "worst_variance",
]

COARSE = 4
TINY = 1e-12


def checked_steps(steps: int | None, target: Target) -> int:
    """The steps of a grid, as they are given, or the best for a target."""
    if steps is None and target.epsilon is None:
        raise InvalidInput(
            "k must be given with epsilon0, got none. A grid can only be chosen for a promised epsilon and delta."
        )
    return check_count(
        "k",
        check_size("k", best_grid(target)) if steps is None else steps,
        least=1,
        most=MOST_LABELS,
        remedy="It counts the steps of the grid; leave it out for the best.",
        beyond="It counts the steps of the grid; a coarser one rounds the numbers without bias, too.",
    )


def best_grid(target: Target) -> int:
    """The number of steps with the least error for the worst data, under the noise that each grid
    is certified to need.

    c = n gamma / (k + 1) changes slowly with k: it is interpolated between the grids calibrated so
    far, until the best grid is one of those.
    """
    _, epsilon, delta, _ = target.terms
    first = guessed_grid(target.n, epsilon, delta)
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
    epsilon0 = strongest(KRR, (("k", k + 1),), *target.terms)
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


def printed_law(n: int, epsilon: float, delta: float) -> KRR:
    """The paper's own choice, for comparison: k = ceil((n / c)^(1/3)) steps and gamma = c (k + 1) /
    n, with the c of Theorem 1.
    """
    (n, _), epsilon, delta = check_users(n), check_epsilon(epsilon), check_delta(delta)
    if n < 2 or not 0.0 < epsilon <= 1.0:
        raise DoesNotApply(f"does not apply here: n must be at least 2 and epsilon in (0, 1], got {n} and {epsilon:g}.")
    c = max(14.0 * math.log(2.0 / delta) / epsilon**2, 27.0 / epsilon) * n / (n - 1)
    k = math.ceil((n / c) ** (1.0 / 3.0))
    if (gamma := c * (k + 1) / n) >= 1.0:
        raise DoesNotApply(f"does not apply here: gamma must be below 1, so n must be larger, got gamma = {gamma:.3g}.")
    return KRR.from_gamma(k=k + 1, gamma=gamma)


def printed_bound(n: int, law: KRR) -> float:
    """Theorem 2, the paper's bound on the error of a sum, as a standard error: sqrt(n ((1 - gamma)
    / (4 k^2) + gamma / 2)) / (1 - gamma), whatever the data.
    """
    gamma, k = law.k * law.miss, law.k - 1
    return math.sqrt(n * ((1.0 - gamma) / (4.0 * k**2) + gamma / 2.0)) / law.contrast


def lower_bound(n: int, epsilon: float, delta: float) -> float:
    """Theorem 3 with its constants: a one-message (epsilon, delta)-DP mechanism for sums of n
    numbers in [0, 1] errs at least this much.

    The proof holds for every k >= 2: MSE >= n k min(e^-eps / (8 k^3), (1 - 1/k^2) (1/2 - delta) /
    (48 n)); the best k is taken.
    """
    if delta >= 0.5:
        raise DoesNotApply(f"does not apply here: delta must be below 1/2, got {delta:g}.")
    crossing = (6.0 * n * math.exp(-epsilon) / (0.5 - delta)) ** (1.0 / 3.0)
    k = np.maximum(2.0, np.array([math.floor(crossing), math.ceil(crossing), math.ceil(crossing) + 1]))
    mse = n * k * np.minimum(math.exp(-epsilon) / (8.0 * k**3), (1.0 - k**-2.0) * (0.5 - delta) / (48.0 * n))
    return math.sqrt(float(mse.max()))
