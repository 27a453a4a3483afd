"""Random allocation against enumeration, against Monte Carlo, and against published numbers."""

import itertools

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp._types import Floats

PAIRS = {
    "binary": ([0.7, 0.3], [0.3, 0.7]),
    "skewed": ([0.25, 0.75], [0.1, 0.9]),
    "ternary": ([0.6, 0.3, 0.1], [0.2, 0.3, 0.5]),
    "impossible": ([0.5, 0.5, 0.0], [0.0, 0.6, 0.4]),
}
EPSILONS = (0.0, 0.05, 0.3, 0.8, 1.6)
ROUNDING = 1e-12


def laws(pair: tuple[list[float], list[float]], steps: int, participations: int, epochs: int) -> tuple[Floats, Floats]:
    """The output of every step, enumerated: with the record, and without it."""
    present, absent = np.array(pair)
    outputs = np.array(list(itertools.product(range(present.size), repeat=steps)))
    without = absent[outputs].prod(axis=1)
    subsets = list(itertools.combinations(range(steps), participations))
    there = np.zeros_like(without)
    for subset in subsets:
        inside = np.isin(np.arange(steps), subset)
        there += np.where(inside, present[outputs], absent[outputs]).prod(axis=1) / len(subsets)
    p, q = np.ones(1), np.ones(1)
    for _ in range(epochs):
        p, q = np.multiply.outer(p, there).ravel(), np.multiply.outer(q, without).ravel()
    return p, q


def exactly(p: Floats, q: Floats, epsilon: float) -> float:
    """The larger delta of both directions."""
    return max(float(np.maximum(a - np.exp(epsilon) * b, 0.0).sum()) for a, b in ((p, q), (q, p)))


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize(
    ("steps", "participations", "epochs"),
    [
        (1, 1, 1),
        (2, 1, 1),
        (5, 1, 1),
        (6, 1, 1),
        (3, 1, 2),
        (4, 1, 2),
        (4, 2, 1),
        (5, 2, 1),
        (5, 3, 1),
        (4, 4, 1),
        (3, 2, 2),
    ],
)
def test_both_ends_hold_what_enumeration_finds(
    pair: tuple[list[float], list[float]], steps: int, participations: int, epochs: int
) -> None:
    training = sdp.RandomAllocation(pair=pair, steps=steps, participations=participations, epochs=epochs)
    p, q = laws(pair, steps, participations, epochs)
    for epsilon in EPSILONS:
        exact, bound = exactly(p, q, epsilon), training.delta(epsilon=epsilon)
        assert bound.lower <= exact * (1.0 + ROUNDING) + 1e-300
        assert bound.upper >= exact * (1.0 - ROUNDING)
        if participations == epochs == 1:
            assert bound.upper <= exact * (1.0 + 1e-6) + 1e-15


@pytest.mark.parametrize(
    ("sigma", "steps", "delta", "low", "high"),
    [(1.0, 1000, 1e-6, 0.17167, 0.17181), (1.0, 100_000, 1e-8, 0.01767, 0.01769)],
)
def test_the_two_ends_lie_inside_the_first_prototypes(
    sigma: float, steps: int, delta: float, low: float, high: float
) -> None:
    bound = sdp.RandomAllocation(sigma=sigma, steps=steps).epsilon(delta=delta)
    assert low <= bound.lower <= bound.upper <= high


def test_a_case_that_others_estimated_by_monte_carlo() -> None:
    """Chua et al.: a mean of 1.59e-6, and less than 2.65e-6 with 99 % confidence."""
    bound = sdp.RandomAllocation(sigma=0.35, steps=1000).delta(epsilon=10.0)
    assert 1.3287e-6 <= bound.lower <= bound.upper <= 1.3368e-6
