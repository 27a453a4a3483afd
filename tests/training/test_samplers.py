"""Other samplers beside random allocation: against closed forms, dp-accounting and Monte Carlo."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import chisquare

from shuffledp.errors import InvalidInput
from shuffledp.randomizers.gaussian_delta import gaussian_delta
from shuffledp.randomizers.randomizer import Atoms
from shuffledp.training import RandomAllocation
from shuffledp.training.descent import BallsAndBins
from shuffledp.training.samplers import PoissonStep, ShuffledBatches, samplers
from shuffledp.training.step_pairs import FiniteStep, GaussianStep, LaplaceStep, StepPair


def test_one_step_is_the_gaussian_mechanism() -> None:
    for epsilon in (0.0, 0.5, 3.0):
        bound = RandomAllocation(sigma=0.8, steps=1).delta(epsilon=epsilon)
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
    training = RandomAllocation(sigma=sigma, steps=steps)
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
    assert [each.name for each in rows] == ["random allocation", "Poisson sampling", "shuffled batches", "full batches"]
    assert seen == [(0, 4), (1, 4), (2, 4), (3, 4)]
    assert all(each.epsilon.lower <= each.epsilon.upper for each in rows)
    uppers = [each.epsilon.upper for each in rows]
    assert uppers == sorted(uppers)
    assert gaussian_delta(0.1, rows[-1].epsilon.upper) <= 1e-6


def test_laplace_noise_never_exceeds_its_own_epsilon() -> None:
    bound = RandomAllocation(scale=0.5, steps=10).epsilon(delta=1e-200)
    assert bound.upper <= 2.0 * (1.0 + 1e-12)
    assert LaplaceStep(0.5).epsilon0 >= 2.0


@given(st.integers(1, 60), st.integers(1, 12), st.data())
def test_every_record_is_in_exactly_its_batches(records: int, steps: int, data: st.DataObject) -> None:
    times = data.draw(st.integers(1, steps))
    epoch = BallsAndBins(records=records, steps=steps, participations=times).epoch()
    assert len(epoch) == steps
    assert all(len(set(batch.tolist())) == len(batch) for batch in epoch)
    assert np.bincount(np.concatenate(epoch), minlength=records).tolist() == [times] * records


@pytest.mark.parametrize("steps, times", [(5, 1), (5, 2), (6, 3)])
def test_every_set_of_steps_is_equally_likely(steps: int, times: int) -> None:
    records = 60_000
    sampler = BallsAndBins(records=records, steps=steps, participations=times, rng=np.random.default_rng(7))
    mine: list[list[int]] = [[] for _ in range(records)]
    for step, batch in enumerate(sampler):
        for record in batch:
            mine[record].append(step)
    sets = list(combinations(range(steps), times))
    seen = dict.fromkeys(sets, 0)
    for each in mine:
        seen[tuple(each)] += 1
    assert chisquare(list(seen.values())).pvalue > 1e-6


def test_records_choose_independently_of_each_other() -> None:
    rng = np.random.default_rng(3)
    pairs = np.zeros((3, 3))
    for _ in range(3_000):
        epoch = BallsAndBins(records=2, steps=3, rng=rng).epoch()
        first, second = (next(step for step, batch in enumerate(epoch) if record in batch) for record in (0, 1))
        pairs[first, second] += 1
    assert chisquare(pairs.ravel()).pvalue > 1e-6


def test_every_iteration_is_a_fresh_epoch() -> None:
    sampler = BallsAndBins(records=500, steps=50)
    assert list(sampler) != list(sampler)


def test_an_empty_batch_is_still_a_step() -> None:
    epoch = list(BallsAndBins(records=1, steps=4))
    assert sorted(len(batch) for batch in epoch) == [0, 0, 0, 1]


def test_it_is_what_pytorch_asks_of_a_batch_sampler() -> None:
    batch = next(iter(BallsAndBins(records=9, steps=1)))
    assert batch == list(range(9))
    assert all(type(index) is int for index in batch)


@pytest.mark.parametrize(
    "given, rule",
    [
        ({"records": 0, "steps": 3}, "records must"),
        ({"records": 10, "steps": 0}, "steps must"),
        ({"records": 10, "steps": 1 << 40}, "steps must be at most"),
        ({"records": 10, "steps": 3, "participations": 4}, "participations must be at most 3, got 4"),
        ({"records": 10, "steps": 3, "participations": 0}, "participations must"),
        ({"records": 2.5, "steps": 3}, "records must"),
    ],
)
def test_what_cannot_be_drawn_is_refused(given: dict[str, object], rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        BallsAndBins(**given)  # type: ignore[arg-type]


KINDS: list[tuple[Callable[[float], StepPair], float]] = [
    *((GaussianStep, sigma) for sigma in (1e-3, 0.02, 0.1, 0.35, 1.0, 5.0, 1e3)),
    *((LaplaceStep, scale) for scale in (0.03, 0.5, 1.0, 100.0)),
]


@pytest.mark.parametrize(("kind", "noise"), KINDS)
def test_both_ends_are_laws(kind: Callable[[float], StepPair], noise: float) -> None:
    step = kind(noise)
    for end in ("upper", "lower"):
        atoms = step.atoms(end)
        assert np.all(np.isfinite(atoms.hay))
        assert np.all(np.isfinite(atoms.needle0))
        assert np.all(atoms.hay >= 0.0)
        assert atoms.hay.sum() == pytest.approx(1.0, abs=3e-15)
        assert atoms.needle0.sum() == pytest.approx(1.0, abs=3e-15)


@pytest.mark.parametrize("sigma", [0.35, 1.0, 5.0])
def test_cells_bracket_every_convex_expectation(sigma: float) -> None:
    """E(u - a)_+ and E(a - u)_+ of the Gaussian, in closed form."""
    m = 1.0 / sigma
    spread, merged = GaussianStep(sigma).atoms("upper"), GaussianStep(sigma).atoms("lower")
    for a in (0.01, 0.3, 0.9, 1.0, 1.7, 20.0):
        z = math.log(a) / m + 0.5 * m
        exact = ndtr(m - z) - a * ndtr(-z)
        assert _ramp(merged, a) <= exact * (1.0 + 1e-12) <= _ramp(spread, a) * (1.0 + 2e-12)


def _ramp(atoms: Atoms, a: float) -> float:
    return float(np.maximum(atoms.needle0 - a * atoms.hay, 0.0).sum())


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: GaussianStep(0.0), "sigma must be positive"),
        (lambda: GaussianStep(1e-4), "sigma must lie in .0.001, 1e.06., got 0.0001"),
        (lambda: GaussianStep(1e7), "sigma must lie in"),
        (lambda: LaplaceStep(1e-9), "scale must lie in"),
        (lambda: FiniteStep([[0.5, 0.5], [0.2, 0.7]]), "row 1 must sum to 1"),
        (lambda: FiniteStep([[0.5, 0.5], [0.2, 0.8], [0.1, 0.9]]), "pair must be two laws"),
    ],
)
def test_what_is_no_step_is_refused(wrong: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        wrong()  # type: ignore[operator]


def test_the_ceiling_of_nearly_equal_laws_is_that_of_the_masses_in_use() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        law = rng.dirichlet(np.ones(4))
        other = law + 1e-12 * rng.normal(size=4)
        step = FiniteStep([law.tolist(), (other / other.sum()).tolist()])
        present, absent = np.array(step.pair)
        most = max(
            Fraction(max(a, b)) / Fraction(min(a, b)) for a, b in zip(present.tolist(), absent.tolist(), strict=True)
        )
        assert Fraction(step.epsilon0) >= (most - 1) / most  # log r >= 1 - 1/r, which is nearly all of it here
