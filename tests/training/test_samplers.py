"""Other samplers beside random allocation: against closed forms, dp-accounting and Monte Carlo."""

import math

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.randomizers.gaussian_delta import gaussian_delta
from shuffledp.training.samplers import PoissonStep, ShuffledBatches, samplers
from shuffledp.training.step_pairs import GaussianStep, LaplaceStep


def test_one_step_is_the_gaussian_mechanism() -> None:
    for epsilon in (0.0, 0.5, 3.0):
        bound = sdp.RandomAllocation(sigma=0.8, steps=1).delta(epsilon=epsilon)
        assert bound.lower <= gaussian_delta(0.8, epsilon) <= bound.upper <= bound.lower * 1.02


@pytest.mark.parametrize("removed", [True, False])
@pytest.mark.parametrize(("sigma", "steps", "epsilon"), [(1.0, 20, 0.45), (0.6, 50, 0.5), (2.0, 8, 0.25)])
def test_against_monte_carlo(sigma: float, steps: int, epsilon: float, removed: bool) -> None:
    """The mean of the positive part, sampled, within five standard errors of both ends."""
    rng, x = np.random.default_rng(7), math.exp(epsilon)
    u = np.exp((sigma * rng.standard_normal((200_000, steps)) - 0.5) / sigma**2)
    ratio = u.mean(axis=1)
    sampled = np.maximum(ratio - x if removed else 1.0 - x * ratio, 0.0)
    mean, error = float(sampled.mean()), float(sampled.std()) / math.sqrt(sampled.size)
    training = sdp.RandomAllocation(sigma=sigma, steps=steps)
    ((epoch, _),) = training.parts
    curve = epoch.reduction.theorems[0].of(0 if removed else 1)[0]
    (upper,) = curve.bounds(np.array([epsilon]))[1]
    (lower,) = epoch.reduction.lowers[0 if removed else 1].bounds(np.array([epsilon]))[0]
    assert mean > 2e-3
    assert lower - 5.0 * error <= mean <= upper + 5.0 * error


def test_poisson_sampling_holds_what_dp_accounting_finds() -> None:
    google = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    theirs = google.from_gaussian_mechanism(1.0, sampling_prob=0.01, value_discretization_interval=1e-4)
    bound = PoissonStep(GaussianStep(1.0), 0.01).compose(100).epsilon(delta=1e-6)
    upper = theirs.self_compose(100).get_epsilon_for_delta(1e-6)
    assert bound.lower <= upper
    assert bound.upper <= 1.003 * upper
    assert bound.upper <= 1.003 * bound.lower


def test_shuffled_batches_against_brute_force_on_two_steps() -> None:
    """Two batches: the pair integrated on a grid."""
    sigma, x = 1.0, math.exp(0.3)
    y = np.linspace(-8.0, 10.0, 1201)
    at = lambda place: np.exp(-0.5 * ((y - place) / sigma) ** 2) / (sigma * math.sqrt(2.0 * math.pi))  # noqa: E731
    needle2, needle1, hay = at(2.0), at(1.0), at(0.0)
    p = 0.5 * (np.multiply.outer(needle2, hay) + np.multiply.outer(hay, needle2))
    q = 0.5 * (np.multiply.outer(needle1, hay) + np.multiply.outer(hay, needle1))
    exact = max(np.maximum(a - x * b, 0.0).sum() for a, b in ((p, q), (q, p))) * (y[1] - y[0]) ** 2
    bound = ShuffledBatches(GaussianStep(sigma), 2).delta(epsilon=0.3)
    assert exact * 0.998 <= bound.lower <= exact * 1.0001 <= bound.upper


def test_the_table_is_sorted_and_says_which_sampler_to_use() -> None:
    seen: list[tuple[int, int]] = []
    rows = samplers(sigma=1.0, steps=100, delta=1e-6, tick=lambda done, total: seen.append((done, total)))
    assert [each.name for each in rows] == [
        "random allocation",
        "Poisson sampling",
        "shuffled batches",
        "full batches",
    ]
    assert seen == [(0, 4), (1, 4), (2, 4), (3, 4)]
    assert all(each.epsilon.lower <= each.epsilon.upper for each in rows)
    uppers = [each.epsilon.upper for each in rows]
    assert uppers == sorted(uppers)
    assert gaussian_delta(0.1, rows[-1].epsilon.upper) <= 1e-6


def test_laplace_noise_never_exceeds_its_own_epsilon() -> None:
    bound = sdp.RandomAllocation(scale=0.5, steps=10).epsilon(delta=1e-200)
    assert bound.upper <= 2.0 * (1.0 + 1e-12)
    assert LaplaceStep(0.5).epsilon0 >= 2.0
