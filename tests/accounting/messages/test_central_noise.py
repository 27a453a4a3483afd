"""Sums with noise: the closed form against the law itself, and parts of the noise."""

import math

import numpy as np
import pytest
from scipy.stats import nbinom

from shuffledp import InvalidInput
from shuffledp.accounting.messages.reductions import Inexact
from shuffledp.accounting.messages.sums import CompleteNoise, partial_noise
from shuffledp.judge import hockey_stick
from tests.accounting.messages.enclosed import above_exact, below_exact


def shifted(chances: np.ndarray, shift: int, epsilon: float) -> float:
    """delta of a law against itself, moved."""
    nothing = np.zeros(shift)
    return hockey_stick(np.append(chances, nothing), np.append(nothing, chances), epsilon)


def test_the_closed_form_adds_up_the_law() -> None:
    rng = np.random.default_rng(6)
    for _ in range(60):
        step, shift = float(rng.uniform(0.1, 2.0)), int(rng.integers(1, 9))
        j = np.abs(np.arange(-400, 401))
        law, epsilon = np.exp(-step * j) * math.tanh(step / 2.0), float(rng.uniform(0.0, 1.1)) * step * shift
        exact = shifted(law, shift, epsilon)
        curve = CompleteNoise(step, shift)
        below_exact([curve], exact, epsilon)
        above_exact([curve], exact, epsilon)
        assert curve.bounds(np.array([epsilon]))[1][0] <= exact + 1e-12


def test_any_part_of_the_noise() -> None:
    rng = np.random.default_rng(7)
    for _ in range(30):
        t, ratio, shift = float(rng.uniform(0.2, 3.0)), float(rng.uniform(0.1, 0.6)), int(rng.integers(1, 6))
        chances = nbinom.pmf(np.arange(150), t, 1.0 - ratio)
        law, epsilon = np.correlate(chances, chances, "full"), float(rng.uniform(0.0, 3.0))
        curve, exact = partial_noise(t, ratio, shift), shifted(law, shift, epsilon)
        below_exact([curve], exact, epsilon)
        above_exact([curve], exact, epsilon)
        assert exact <= shifted(law, shift + 1, epsilon) + 1e-15


def test_what_is_paid_for_a_distance_stays_small() -> None:
    ideal = CompleteNoise(1.0, 1)
    curve = Inexact.of(ideal, 1e-9)
    deltas = curve.bounds(np.linspace(0.0, 40.0, 81))[1]
    assert np.all(np.diff(deltas) <= 0.1 * deltas[-1])
    assert deltas[-1] == pytest.approx((1.0 + math.e) * 1e-9, rel=0.2)
    assert Inexact.of(ideal, 0.0) is ideal
    assert Inexact.of(ideal, 1e6).bounds(np.array([0.0, 700.0]))[1].tolist() == [1.0, 1.0]


def test_what_would_take_too_long_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must be complete"):
        partial_noise(0.5, math.exp(-1e-3), 5)
