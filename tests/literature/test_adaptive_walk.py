"""One law for all steps is worth at least what the best choice of steps is, by direct sums for a few
steps; and the bound that follows is what the paper says.
"""

import math
from itertools import product

import numpy as np
import pytest

from tests.literature.adaptive_walk import BASES, SHARES, adaptive_bound, step_of, topmost
from tests.oracle.first_clone import adaptive_delta, mean_of_positive_part, static_kinds


def best_walk(steps: int, s: float, epsilon0: float, eps: float, u: float) -> float:
    """The value of a walk without a clone's step."""
    if steps == 0:
        return max(s, 0.0)
    _, kinds = static_kinds(epsilon0, eps, u)
    return max(
        sum(
            chance * best_walk(steps - 1, s + value, epsilon0, eps, u)
            for value, chance in zip(values.tolist(), chances.tolist(), strict=True)
        )
        for values, chances in kinds
    )


@pytest.mark.parametrize("epsilon0", [0.4, math.log(2.0), 2.0])
def test_one_law_and_a_laplace_variable_are_worth_as_much_as_any_choice(epsilon0: float) -> None:
    eps, u, steps = 0.3 * epsilon0, 0.1 * math.exp(-epsilon0), 2
    _, kinds = static_kinds(epsilon0, eps, u)
    best, allowed = best_walk(steps, 0.0, epsilon0, eps, u), 0
    for base, share in product(BASES, (*SHARES, 0.5, 1.0)):
        step = step_of(kinds, topmost(epsilon0, eps, u), base, share)
        if step.rate > 0.0:
            knots = np.arange(-400, 401) * 0.05 / step.rate
            weights = np.exp(-step.rate * np.abs(knots))
            laplace = mean_of_positive_part([(knots, weights / weights.sum()), *[step.law] * steps])
            assert best <= laplace * (1.0 + 1e-3)
            allowed += 1
    assert allowed >= 8


def test_the_bound_for_adaptive_randomizers_is_far_below_the_older_one() -> None:
    assert adaptive_bound(1.0, 10**4, 0.03806) == pytest.approx(1e-6, rel=0.01)  # the older one: 0.04321


def test_few_users_are_bounded_by_the_walk_itself() -> None:
    assert adaptive_bound(1.0, 3, 0.2) >= adaptive_delta(1.0, 3, 0.2)
