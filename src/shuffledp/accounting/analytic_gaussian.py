"""The analytic Gaussian mechanism (Balle and Wang 2018): what noise hides, and how much it takes.

A vector changes by at most ``sensitivity`` in the Euclidean norm when one user's data changes; N(0,
sigma^2) is added to every coordinate. With s = sigma / sensitivity the mechanism is (epsilon,
delta)-DP exactly for delta >= Phi(1/(2s) - epsilon s) - e^epsilon Phi(-1/(2s) - epsilon s) (Thm 8).
"""

from __future__ import annotations

from collections.abc import Callable

from shuffledp.accounting.inversion import halve
from shuffledp.errors import check_delta, check_epsilon, check_positive
from shuffledp.randomizers.gaussian_delta import SLACK, gaussian_delta

__all__ = ["SLACK", "delta", "epsilon", "sigma"]

SMALLEST, LARGEST = 1e-100, 1e280  # noise beyond these hides nothing, or everything


def delta(*, sigma: float, epsilon: float, sensitivity: float = 1.0) -> float:
    """The smallest delta at ``epsilon``, to 12 digits also far out in the tail.

    >>> round(delta(sigma=1.0, epsilon=1.0), 6)
    0.126937
    """
    return gaussian_delta(_ratio(sigma, sensitivity), check_epsilon(epsilon))


def sigma(*, epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """The least noise that is (epsilon, delta)-DP: its exact delta is within 1e-12 of ``delta``.

    Balle and Wang 2018, Algorithm 1, by bisection on sigma itself.

    >>> round(sigma(epsilon=1.0, delta=1e-5), 4)
    3.7306
    """
    epsilon, allowed = check_epsilon(epsilon), check_delta(delta) * (1.0 - SLACK)
    change = _check_sensitivity(sensitivity)
    return change * _least(lambda noise: gaussian_delta(noise, epsilon) <= allowed)


def epsilon(*, sigma: float, delta: float, sensitivity: float = 1.0) -> float:
    """The smallest epsilon at ``delta``; 0 if the noise needs none.

    >>> round(epsilon(sigma=3.7306, delta=1e-5), 4)
    1.0
    """
    noise = _ratio(sigma, sensitivity)
    allowed = check_delta(delta) * (1.0 - SLACK)
    if gaussian_delta(noise, 0.0) <= allowed:
        return 0.0
    return _least(lambda each: gaussian_delta(noise, each) <= allowed)


def _least(fits: Callable[[float], bool]) -> float:
    """The least number that fits, to the last few bits, given that all larger ones do."""
    good = 1.0
    while not fits(good):
        good *= 8.0
    bad = good / 8.0
    while fits(bad):
        good, bad = bad, bad / 8.0
    least, _ = halve(fits, good, bad, middle=lambda good, bad: bad + (good - bad) / 2.0)  # good may be huge
    return least


def _ratio(sigma: float, sensitivity: float) -> float:
    noise, change = (
        check_positive("sigma", sigma, remedy="It is the standard deviation of the noise."),
        _check_sensitivity(sensitivity),
    )
    return min(max(noise / change, SMALLEST), LARGEST)


def _check_sensitivity(value: float) -> float:
    return check_positive(
        "sensitivity", value, remedy="It is the most that one person's data can move the answer, in the Euclidean norm."
    )
