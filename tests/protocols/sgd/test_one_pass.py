import math

import mpmath
import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.errors import InvalidInput
from shuffledp.literature.bounds import Setting, feldman
from shuffledp.protocols.baselines import analytic_gaussian as gaussian
from shuffledp.protocols.sgd import grid_noise
from shuffledp.protocols.sgd.one_pass import calibrated, local_epsilon, one_pass, sampled_epsilon
from shuffledp.sampling import source_of


@pytest.mark.parametrize("noise, n", [(1.0, 100_000), (2.0, 20_000), (4.0, 1000), (20.0, 20_000)])
def test_the_numerical_theorem_beats_its_closed_form_and_the_local_guarantee(noise, n):
    answer = one_pass(noise=noise, n=n, delta=1e-6)
    grid = np.linspace(0.05, math.log(n), 64)
    printed = []
    for epsilon0 in grid:
        try:
            report = sdp.AnyLDP(epsilon0=epsilon0, delta0=gaussian.delta(sigma=noise, epsilon=epsilon0))
            printed.append(feldman.THM_3_8.epsilon(Setting(report, n), delta=1e-6))
        except InvalidInput:
            continue
    assert answer.epsilon <= min(printed, default=math.inf)
    assert answer.epsilon < answer.local == gaussian.epsilon(sigma=noise, delta=1e-6)


def test_the_point_on_the_curve_is_close_to_the_best_of_a_fine_grid():
    answer = one_pass(noise=2.0, n=20_000, delta=1e-6)
    points = [(e, gaussian.delta(sigma=2.0, epsilon=e)) for e in (3.1, 3.2, 3.25, 3.3, 3.35, 3.4)]
    others = [sdp.shuffle(sdp.AnyLDP(epsilon0=e, delta0=d), n=20_000).epsilon(delta=1e-6).upper for e, d in points]
    assert answer.epsilon <= min(others) * 1.01


def test_the_account_uses_a_true_point_of_the_gaussian_curve():
    epsilon0, delta0 = one_pass(noise=2.0, n=20_000, delta=1e-6, flaw=1e-15).local_point
    assert delta0 == pytest.approx(
        gaussian.delta(sigma=2.0, epsilon=epsilon0) + (1.0 + math.exp(epsilon0)) * 1e-15, rel=1e-9
    )


def test_few_users_get_the_local_guarantee_and_no_less():
    for n in (1, 2, 5):
        answer = one_pass(noise=1.0, n=n, delta=1e-6)
        assert answer.epsilon == answer.local
        assert "without amplification" in answer.method


@pytest.mark.parametrize("epsilon, n", [(0.1, 20_000), (1.0, 20_000), (2.0, 20_000), (1.0, 50)])
def test_calibrated_noise_keeps_its_promise(epsilon, n):
    noise = calibrated(n=n, epsilon=epsilon, delta=1e-6)
    assert 0.99 * epsilon <= one_pass(noise=noise, n=n, delta=1e-6, hint=epsilon).epsilon <= epsilon


def test_a_flaw_in_the_noise_is_paid_for():
    plain = local_epsilon(noise=2.0, delta=1e-6)
    flawed = local_epsilon(noise=2.0, delta=1e-6, flaw=1e-9)
    assert flawed > plain
    assert gaussian.delta(sigma=2.0, epsilon=flawed) + (1.0 + math.exp(flawed)) * 1e-9 <= 1e-6
    assert local_epsilon(noise=2.0, delta=1e-6, flaw=1e-6) == math.inf


def test_sampling_with_replacement_agrees_with_its_central_limit():
    n, noise, delta = 20_000, 4.0, 1e-6
    mu = math.sqrt(math.expm1(1.0 / noise**2) / n)  # the deviation of the composed loss, for tiny sampling rates
    limit = gaussian.epsilon(sigma=1.0 / mu, delta=delta)
    assert limit * 0.9 < sampled_epsilon(noise=noise, n=n, delta=delta) < limit * 1.15


def test_one_step_of_sampling_is_the_mechanism_itself():
    assert sampled_epsilon(noise=2.0, n=1, delta=1e-6) == pytest.approx(
        gaussian.epsilon(sigma=2.0, delta=1e-6), rel=1e-2
    )


def test_the_noise_table_is_a_rounded_gaussian_up_to_the_counted_flaw():
    weights = grid_noise.weights()
    assert sum(weights) == 2**128
    with mpmath.workdps(50):
        scale = grid_noise.STEPS * mpmath.sqrt(2)
        half = mpmath.mpf(1) / 2
        tails = [mpmath.erfc((j - half) / scale) / 2 for j in range(grid_noise.REACH + 2)]
        distance = 2 * tails[-1]
        for j in range(-grid_noise.REACH, grid_noise.REACH + 1):
            weight = mpmath.mpf(weights[j + grid_noise.REACH]) / mpmath.mpf(2) ** 128
            distance += abs(weight - (tails[abs(j)] - tails[abs(j) + 1]))
        assert distance / 2 <= grid_noise.FLAW


def test_noise_comes_from_the_source():
    drawn = grid_noise.grid_noise(source_of(np.random.default_rng(1)), 200_000)
    assert np.all(drawn == np.rint(drawn))
    assert drawn.std() == pytest.approx(grid_noise.STEPS, rel=0.01)
