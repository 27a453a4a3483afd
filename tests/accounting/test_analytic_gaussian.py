import math

import mpmath
import pytest

from shuffledp.accounting import analytic_gaussian as gaussian
from shuffledp.errors import InvalidInput

TARGETS = [(e, d) for e in (0.0, 1e-6, 1e-3, 0.1, 1.0, 5.0, 50.0) for d in (1e-50, 1e-12, 1e-5, 0.01, 0.3, 0.99)]


def exact_delta(sigma, epsilon):
    with mpmath.workdps(120):
        s, e = mpmath.mpf(sigma), mpmath.mpf(epsilon)
        return mpmath.ncdf(1 / (2 * s) - e * s) - mpmath.exp(e) * mpmath.ncdf(-1 / (2 * s) - e * s)


@pytest.mark.parametrize("epsilon, delta", TARGETS)
def test_sigma_has_exactly_the_delta_asked_for(epsilon, delta):
    found = exact_delta(gaussian.sigma(epsilon=epsilon, delta=delta), epsilon)
    assert delta * (1 - 1e-12) <= found <= delta


@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.3, 2.0, 20.0, 50.0])
@pytest.mark.parametrize("sigma", [1e-3, 0.05, 0.5, 1.9, 2.1, 8.0, 1e4, 1e9])
def test_delta_is_exact_also_in_the_tail(sigma, epsilon):
    if epsilon * sigma < 30.0:
        assert gaussian.delta(sigma=sigma, epsilon=epsilon) == pytest.approx(
            float(exact_delta(sigma, epsilon)), rel=1e-12
        )
    else:
        assert gaussian.delta(sigma=sigma, epsilon=epsilon) <= 1e-190


def test_sensitivity_scales_the_noise():
    assert gaussian.sigma(epsilon=1.0, delta=1e-6, sensitivity=3.0) == pytest.approx(
        3.0 * gaussian.sigma(epsilon=1.0, delta=1e-6), rel=1e-14
    )
    assert gaussian.delta(sigma=6.0, epsilon=1.0, sensitivity=3.0) == gaussian.delta(sigma=2.0, epsilon=1.0)


@pytest.mark.parametrize("epsilon, delta", [(e, d) for e, d in TARGETS if e > 0.0])
def test_epsilon_undoes_sigma(epsilon, delta):
    assert gaussian.epsilon(sigma=gaussian.sigma(epsilon=epsilon, delta=delta), delta=delta) == pytest.approx(
        epsilon, rel=1e-6
    )


def test_enough_noise_needs_no_epsilon():
    assert gaussian.epsilon(sigma=1e6, delta=0.1) == 0.0


def test_the_mechanism_agrees_with_the_randomizer_of_the_accountant():
    from shuffledp import Gaussian

    for epsilon in (0.1, 1.0, 3.0):
        assert gaussian.delta(sigma=1.3, epsilon=epsilon) == pytest.approx(
            Gaussian(sigma=1.3).local_delta(epsilon=epsilon), rel=1e-11
        )


@pytest.mark.parametrize("sigma", [5e-324, 1e-300, 1e300])
def test_noise_of_any_size_has_a_delta(sigma):
    assert 0.0 <= gaussian.delta(sigma=sigma, epsilon=0.0) <= 1.0
    assert 0.0 <= gaussian.delta(sigma=sigma, epsilon=50.0, sensitivity=1e10) <= 1.0


@pytest.mark.parametrize(
    "epsilon, delta, sensitivity", [(-1.0, 0.1, 1.0), (1.0, 0.0, 1.0), (1.0, math.nan, 1.0), (1.0, 0.1, 0.0)]
)
def test_targets_outside_their_range_are_refused(epsilon, delta, sensitivity):
    with pytest.raises(InvalidInput):
        gaussian.sigma(epsilon=epsilon, delta=delta, sensitivity=sensitivity)


@pytest.mark.parametrize("noise", [0.3, 1.0, 1.9, 3.0, 10.0])
@pytest.mark.parametrize("far", [12.0, 20.0, 26.0, 31.0, 36.0])
def test_the_slack_covers_rounding_far_in_the_tail(noise, far):
    epsilon = (far + 0.5 / noise) / noise
    exact = exact_delta(noise, epsilon)
    assert abs(gaussian.delta(sigma=noise, epsilon=epsilon) / exact - 1) < gaussian.SLACK / 2
