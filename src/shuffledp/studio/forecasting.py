"""Several rounds, and the grid of a mean, while the pointer moves: calibrating those takes up to
seconds, and a guess does until the certified answer is there. No promise rests on anything here.
"""

from __future__ import annotations

import math
from typing import Any

from shuffledp.accounting.bisection import halve, mean
from shuffledp.accounting.calibration import deviation
from shuffledp.protocols.baselines import analytic_gaussian
from shuffledp.protocols.protocol import ShuffledProtocol
from shuffledp.protocols.settling import answering
from shuffledp.protocols.sums import guessed_grid
from shuffledp.protocols.tasks import MeanTask, Task
from shuffledp.randomizers.hadamard import Hadamard
from shuffledp.randomizers.votes import VotingRandomizer

__all__ = ["forecast_local", "forecast_shuffled"]

STEPS = 14  # halvings: three digits of a guess
LOCAL_GRIDS = (1, 2, 3, 4, 6, 8, 12, 16)  # a report that nobody hides can afford few steps


def forecast_shuffled(
    question: Task, *, n: int, least: int, epsilon: float, delta: float, rounds: int
) -> ShuffledProtocol:
    """About the protocol that keeps the promise over all rounds: the noise that one round needs to
    leak the share of a Gaussian mechanism that it may, mu / sqrt(rounds).

    Shuffled reports are many, so their privacy loss is nearly Gaussian: the error is mostly within
    5 % of the certified protocol's.
    """
    once = epsilon
    if rounds > 1:
        mu = deviation(epsilon, delta) / math.sqrt(rounds)
        once = analytic_gaussian.epsilon(sigma=1.0 / mu, delta=delta)
    grid = {"k": guessed_grid(n, once, delta)} if isinstance(question, MeanTask) else {}
    return answering(question, n=n, least=least, epsilon=once, delta=delta, **grid).settle()


def forecast_local(question: Task, *, n: int, epsilon: float, delta: float, rounds: int) -> ShuffledProtocol:
    """The same without a shuffler: the noise whose Kullback-Leibler divergence over all rounds is
    that of the Gaussian mechanism, mu^2 / 2; but never less than epsilon / rounds a report.
    """
    affordable = deviation(epsilon, delta) ** 2 / 2.0

    grids: tuple[dict[str, Any], ...] = ({},)
    if isinstance(question, MeanTask):
        grids = tuple({"k": k} for k in LOCAL_GRIDS)

    def alone(epsilon0: float, grid: dict[str, Any]) -> ShuffledProtocol:
        return answering(question, n=n, least=1, epsilon0=epsilon0, delta=delta, **grid)

    def fits(epsilon0: float) -> bool:
        return rounds * _divergence(alone(epsilon0, grids[0]).randomizer) <= affordable

    noise = halve(fits, epsilon / rounds, 2.0 * epsilon + 1.0, middle=mean, steps=STEPS)[0]
    return min((alone(noise, grid) for grid in grids), key=lambda protocol: protocol.predicted_stderr())


def _divergence(randomizer: VotingRandomizer) -> float:
    """Between the reports of two values; half of a Hadamard matrix' columns tell two apart."""
    telling = 0.5 if isinstance(randomizer, Hadamard) else 1.0
    return telling * randomizer.contrast * randomizer.epsilon0
