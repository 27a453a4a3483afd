"""Several rounds, and the grid of a mean, while the pointer moves: calibrating those takes up to
seconds, and a guess does until the certified answer is there. No promise rests on anything here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting.bisection import geometric, halve
from shuffledp.accounting.calibration import deviation
from shuffledp.protocols.baselines import analytic_gaussian
from shuffledp.protocols.baselines.best_curator import Baseline
from shuffledp.protocols.baselines.best_local import best_size, number_named
from shuffledp.protocols.protocol import ReportingProtocol
from shuffledp.protocols.settling import answering
from shuffledp.protocols.sums import Sum, guessed_grid
from shuffledp.protocols.tasks import MeanTask, Task
from shuffledp.randomizers import SubsetSelection
from shuffledp.randomizers.gaussian_delta import gaussian_delta_roughly
from shuffledp.randomizers.parameters import LARGEST_EPSILON0

__all__ = ["forecast_local", "forecast_shuffled"]

STEPS = 14  # halvings: three digits of a guess
MOST_TELLING = 2000  # reports of one person, on average, that tell two values apart; of more, the sum is Gaussian
NEGLIGIBLE = 1e-200  # a probability that no delta can see
LOCAL_GRIDS = (1, 2, 3, 4, 6, 8, 12, 16)  # a report that nobody hides can afford few steps
FEW_GRIDS = (*LOCAL_GRIDS, 24, 32, 48, 64)


def forecast_shuffled(
    question: Task, *, n: int, least: int, epsilon: float, delta: float, rounds: int
) -> ReportingProtocol:
    """About the protocol that keeps the promise over all rounds: the noise that one round needs to
    leak the share of a Gaussian mechanism that it may, mu / sqrt(rounds).

    Shuffled reports are many, so their privacy loss is nearly Gaussian: the error is mostly within
    5 % of the certified protocol's.
    """
    once = epsilon
    if rounds > 1:
        mu = deviation(epsilon, delta) / math.sqrt(rounds)
        once = max(analytic_gaussian.epsilon(sigma=1.0 / mu, delta=delta), epsilon / rounds)
    terms: dict[str, Any] = {"n": n, "least": least, "delta": delta}
    if not isinstance(question, MeanTask):
        return answering(question, epsilon=once, **terms).settle()
    hidden = answering(question, epsilon=once, k=guessed_grid(n, once, delta), **terms).settle()
    alone = (answering(question, epsilon0=once, k=k, **terms) for k in FEW_GRIDS)  # what few people cannot add to
    return min((hidden, *alone), key=lambda protocol: protocol.predicted_stderr())


def forecast_local(question: Task, *, n: int, epsilon: float, delta: float, rounds: int) -> Baseline:
    """The same without a shuffler, where a report's privacy loss is far from Gaussian: it is 0, or
    plus or minus epsilon0; at least epsilon / rounds is always allowed.
    """

    def noise(k: int, size: int | None) -> float:
        def fits(epsilon0: float) -> bool:
            return _delta_alone(SubsetSelection(k=k, epsilon0=epsilon0, size=size), epsilon, rounds) <= delta

        return halve(fits, epsilon / rounds, LARGEST_EPSILON0, middle=geometric, steps=STEPS)[0]

    if isinstance(question, MeanTask):
        lone, width = noise(2, 1), question.scale(n) / n
        grids = (Sum(n=n, least=1, epsilon0=lone, delta=delta, k=k) for k in LOCAL_GRIDS)
        error = min(each.predicted_stderr() for each in grids)
        return number_named(width, n, lone, (error, 0, lone))
    assert question.size is not None
    return best_size(question.size, lambda size: noise(question.size or 2, size), n)


def _delta_alone(randomizer: SubsetSelection, epsilon: float, rounds: int) -> float:
    """Of two values' reports: E max(0, 1 - e^(epsilon - loss)), the loss being a walk of so many
    steps.
    """
    step = randomizer.epsilon0
    likely = min(randomizer.contrast / -math.expm1(-step), 1.0)
    once = np.array([likely * math.exp(-step), 0.0, likely])
    if rounds * once.sum() > MOST_TELLING:
        return gaussian_delta_roughly(math.sqrt(2.0 * rounds * randomizer.contrast * step), epsilon)
    once[1] = max(0.0, 1.0 - once.sum())
    walk = _walked(once, rounds)
    reach = len(walk) // 2
    losses = step * np.arange(-reach, reach + 1)
    above = losses > epsilon
    return float(walk[above] @ -np.expm1(epsilon - losses[above]))


def _walked(once: Floats, steps: int) -> Floats:
    """The law of the sum of so many independent steps: of half as many, twice, and of one more.
    Sums that never come are left out on both sides, or rare steps would be as slow as many.
    """
    if steps == 1:
        return once
    half = _walked(once, steps // 2)
    whole = np.convolve(half, half)
    if steps % 2:
        whole = np.convolve(whole, once)
    middle = len(whole) // 2
    reach = np.abs(np.flatnonzero(whole > NEGLIGIBLE) - middle).max()
    return whole[middle - reach : middle + reach + 1]
