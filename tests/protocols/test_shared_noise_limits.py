"""Limits by the exact law of noise that people share, and with rounding by a bound on it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import nbinom

from shuffledp.mechanisms.exact_limits import noise_above, noise_reach
from shuffledp.mechanisms.rows import SharedNoise


@pytest.mark.parametrize("shape", [0.5, 1.0, 1.3, 4.0])
@pytest.mark.parametrize("ratio", [0.3, 0.9])
def test_the_law_is_that_of_the_difference(shape: float, ratio: float) -> None:
    above = noise_above(shape, ratio)
    one = nbinom.pmf(np.arange(600), shape, 1.0 - ratio)
    for steps in (0, 1, 2, 5, 20):
        exact = float(one @ nbinom.sf(np.arange(600) + steps - 1, shape, 1.0 - ratio))
        assert exact <= above[steps] <= exact + 1e-12


def test_complete_noise_is_discrete_laplace() -> None:
    q = 0.8
    assert noise_above(1.0, q)[1:20] == pytest.approx([q**j / (1.0 + q) for j in range(1, 20)], abs=1e-13)


@pytest.mark.parametrize("tail", [0.3, 0.025, 1e-4, 1e-9])
def test_limits_without_rounding_are_exact(tail: float) -> None:
    q = 0.8
    far = int(noise_reach(1.0, q, 0, tail))
    assert q ** (far + 1) / (1.0 + q) <= tail < max(q**far / (1.0 + q), tail * 1.0001)


@pytest.mark.parametrize("shape", [1.0, 1.4])
def test_limits_with_rounding_cover_by_enumeration(shape: float) -> None:
    """Ten numbers at p between two points: noise and rounding together, exactly, for every p."""
    q, people = 0.7, 10
    chances = nbinom.pmf(np.arange(300), shape, 1.0 - q)
    noise = np.convolve(chances, chances[::-1])  # -299, ..., 299
    for tail in (0.1, 0.025, 1e-3):
        far = noise_reach(shape, q, people, tail)
        for p in np.linspace(0.0, 0.95, 20):
            ups = [math.comb(people, j) * p**j * (1.0 - p) ** (people - j) for j in range(people + 1)]
            total = np.convolve(noise, ups)
            off = np.arange(len(total)) - 299 - people * p
            assert total[off > far].sum() <= tail
            assert total[off < -far].sum() <= tail


def test_rounds_add_up() -> None:
    one = SharedNoise(np.array([[5.0]]), shape=1.0, ratio=0.5, variance=4.0)
    both = one.averaged([SharedNoise(np.array([[8.0]]), shape=1.0, ratio=0.5, variance=4.0)])
    assert both is not None
    low, high = both.limits(0.025)
    assert (low[0] + high[0]) / 2 == 6.5
    assert high[0] - low[0] < 2 * noise_reach(1.0, 0.5, 0, 0.025)
    assert one.averaged([SharedNoise(np.array([[8.0]]), shape=0.99, ratio=0.5, variance=4.0)]) is None
