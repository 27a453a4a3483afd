"""Closed forms for noisy gradient descent, against the numbers that they bound."""

import math
from collections.abc import Callable

import pytest

import shuffledp as sdp
from shuffledp.errors import DoesNotApply, InvalidInput
from shuffledp.literature.bounds import find
from shuffledp.literature.gradient_descent import _local, equation_12, equation_13
from shuffledp.randomizers.gaussian_delta import gaussian_delta
from shuffledp.training.passes import permuted, sampled_epsilon


@pytest.mark.parametrize("sigma", [0.3, 1.0, 4.0, 50.0])
@pytest.mark.parametrize("delta0", [0.4, 1e-3, 1e-12, 1e-100])
def test_the_local_guarantee_is_one(sigma: float, delta0: float) -> None:
    assert gaussian_delta(sigma, _local(sigma, delta0)) <= delta0
    assert gaussian_delta(sigma, 0.8 * _local(sigma, delta0)) > delta0 or delta0 > 1e-9


@pytest.mark.parametrize("n, sigma", [(10**6, 4.0), (10**5, 4.0), (10**6, 20.0), (2000, 100.0), (10**9, 2.0)])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_equation_12_is_above_theorem_3_8_which_is_above_what_is_certified(n: int, sigma: float, delta: float) -> None:
    stated = find("feldman-2020-prop-5.3-reconstructed")
    setting = sdp.literature.bounds.Setting(sdp.Gaussian(sigma=sigma), n)
    epsilon = equation_12(n, sigma, delta)
    assert epsilon == stated.epsilon(setting, delta=delta)
    epsilon0, delta0 = _local(sigma, delta / (12.0 * n)), delta / (12.0 * n)
    survey = sdp.shuffle(sdp.AnyLDP(epsilon0=epsilon0, delta0=delta0), n=n)
    answer = permuted(noise=sigma, n=n, delta=delta)
    assert survey.epsilon_at_least(delta=delta) <= epsilon
    assert answer.epsilon <= survey.epsilon_at_most(delta=delta) < epsilon


def test_equation_12_says_where_it_does_not_hold() -> None:
    with pytest.raises(DoesNotApply, match="number of clones must be at least"):
        equation_12(20_000, 1.0, 1e-6)
    with pytest.raises(DoesNotApply, match="epsilon must be at most 1, got 1"):
        equation_12(20_000, 1.7, 1e-6)


@pytest.mark.parametrize("n, sigma", [(10**6, 4.0), (20_000, 2.0), (1000, 20.0), (10**5, 1.0)])
@pytest.mark.parametrize("epochs", [1, 5])
def test_equation_13_is_above_the_composed_loss_distributions(n: int, sigma: float, epochs: int) -> None:
    bound = equation_13(n, sigma, 1e-6, epochs)
    assert 1.02 * sampled_epsilon(noise=sigma, n=n, delta=1e-6, epochs=epochs) < bound < math.inf


def test_equations_12_and_13_fall_with_the_root_of_n() -> None:
    small, large = (equation_12(n, 50.0, 1e-6) for n in (10**6, 10**8))
    assert 0.09 < large / small < 0.13
    small, large = (equation_13(n, 50.0, 1e-6) for n in (10**6, 10**8))
    assert large / small == pytest.approx(0.1, rel=0.01)


@pytest.mark.parametrize("formula", [equation_12, equation_13])
@pytest.mark.parametrize(
    "n, sigma, delta, rule",
    [
        (0, 2.0, 1e-6, "n must be at least 1"),
        (10**400, 2.0, 1e-6, "n must be at most"),
        (10**6, math.nan, 1e-6, "sigma must be finite"),
        (10**6, 0.0, 1e-6, "sigma must be positive"),
        (10**6, 2.0, -1.0, "delta must lie in"),
        (10**6, 2.0, math.nan, "delta must be finite"),
        (10**6, 2.0, None, "delta must be a number"),
        (10**6, 2.0, 1e-320, "delta must be at least 1e-250"),
    ],
)
def test_what_is_no_training_is_refused(
    formula: Callable[..., float], n: int, sigma: float, delta: float, rule: str
) -> None:
    with pytest.raises(InvalidInput, match=rule):
        formula(n, sigma, delta)


def test_a_training_has_whole_epochs() -> None:
    with pytest.raises(InvalidInput, match="epochs must be at least 1, got 0"):
        equation_13(10**6, 2.0, 1e-6, 0)
