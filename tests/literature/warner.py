"""For the tests of published bounds: exact binary randomized response with hundreds of users, whose
count is a sum of two binomials.
"""

import math
from collections.abc import Callable, Iterable

import numpy as np
from scipy.stats import binom

from shuffledp.errors import DoesNotApply


def exact_delta(n: int, epsilon0: float, epsilon: float, ones: Iterable[int] | None = None) -> float:
    """The largest divergence over the datasets where j of the n-1 others hold 1, j in ``ones`` (by
    default all j), in both orders.
    """
    p, x = 1.0 / (math.exp(epsilon0) + 1.0), math.exp(epsilon)
    worst = 0.0
    for j in range(n) if ones is None else ones:
        others = np.convolve(binom.pmf(np.arange(j + 1), j, 1.0 - p), binom.pmf(np.arange(n - j), n - 1 - j, p))
        zero = np.append((1.0 - p) * others, 0.0) + np.insert(p * others, 0, 0.0)
        one = np.append(p * others, 0.0) + np.insert((1.0 - p) * others, 0, 0.0)
        worst = max(worst, float(np.maximum(one - x * zero, 0.0).sum()), float(np.maximum(zero - x * one, 0.0).sum()))
    return worst


def is_number_or_reason(answer: Callable[[], float], most: float) -> bool:
    """Whether a bound answers with a number from 0 to ``most``, or refuses in the agreed words."""
    try:
        return 0.0 <= answer() <= most
    except DoesNotApply as reason:
        return str(reason).startswith("does not apply here: ")
