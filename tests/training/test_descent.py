import itertools

import numpy as np
import pytest
from scipy.special import ndtr

from shuffledp.accounting import analytic_gaussian as gaussian
from shuffledp.errors import InvalidInput
from shuffledp.training import RandomAllocation
from shuffledp.training.data import synthetic_clinic
from shuffledp.training.descent import FLAW, STEPS, ShuffledSGD, logistic_gradient


@pytest.fixture(scope="module")
def training():
    return ShuffledSGD(n=2000, dimension=3, noise=3.0, delta=1e-6, clip=0.5, batch=40)


def rng(seed=0):
    return np.random.default_rng(seed)


def test_reports_are_clipped_gradients_on_a_grid_plus_unbiased_noise(training):
    rows = np.tile([3.0, 0.0, -4.0], (40_000, 1))  # five times longer than allowed, and more
    reports = training.randomize(rows, rng=rng())
    unit = training.sigma / STEPS
    assert np.allclose(reports / unit, np.rint(reports / unit), atol=1e-6)
    error = training.sigma / np.sqrt(len(rows))
    assert np.all(np.abs(reports.mean(axis=0) - [0.3, 0.0, -0.4]) < unit + 4.0 * error)
    assert np.allclose(reports.std(axis=0), training.sigma, rtol=0.02)


def test_clipping_never_leaves_a_gradient_longer_than_the_account_says(monkeypatch, training):
    monkeypatch.setattr("shuffledp.training.descent.grid_noise", lambda _source, size: np.zeros(size))
    directions = rng().normal(size=(5000, 3)) * 10.0 ** rng(1).uniform(-8, 8, size=(5000, 1))
    assert np.linalg.norm(training.randomize(directions, rng=rng()), axis=1).max() <= training.clip


def test_one_pass_uses_every_user_exactly_once_in_a_new_order(training, monkeypatch):
    monkeypatch.setattr("shuffledp.training.descent.grid_noise", lambda _source, size: np.zeros(size))
    unit = training.sigma / STEPS
    features = np.zeros((2000, 3))
    features[:, 0] = unit * (np.arange(2000) % 10 + 0.5)

    def one_pass(seed):
        steps = training.steps(features, np.zeros(2000), gradient=lambda _weights, rows, _labels: rows, rng=rng(seed))
        return np.concatenate([step.reports[:, 0] for step in steps])

    passes = [one_pass(1), one_pass(2)]
    for order in passes:
        assert sorted(np.rint(order / unit)) == sorted(np.arange(2000) % 10)
    assert not np.array_equal(*passes)


def test_a_seed_repeats_a_training_and_marks_it_as_not_for_release(training):
    train, _ = synthetic_clinic(2000)
    features = train.features[:, :3]
    first, again = (training.fit(features, train.labels, rng=rng(5)) for _ in range(2))
    assert np.array_equal(first.weights, again.weights)
    assert not first.secure
    assert training.fit(features, train.labels).secure


def test_logistic_gradients_are_the_derivative_of_the_loss():
    data, _ = synthetic_clinic(50)
    weights, step = rng().normal(size=10), 1e-6

    def loss(w):
        score = data.features @ w
        return np.logaddexp(0.0, score) - data.labels * score

    numerical = np.column_stack(
        [(loss(weights + step * e) - loss(weights - step * e)) / (2 * step) for e in np.eye(10)]
    )
    assert np.allclose(logistic_gradient(weights, data.features, data.labels), numerical, atol=1e-8)


@pytest.mark.long
def test_less_privacy_learns_more_and_shuffling_beats_local_noise():
    """The example of docs/protocols.md: accuracy on rows held out."""
    train, held_out = synthetic_clinic(20_000)
    shape = {"n": 20_000, "dimension": 10, "batch": 50}

    def accuracy(training):
        return training.fit(train.features, train.labels, rng=rng()).accuracy(held_out)

    strict, loose = (ShuffledSGD(**shape, epsilon=epsilon, delta=1e-6) for epsilon in (0.25, 1.0))
    local = ShuffledSGD(**shape, epsilon=0.25, delta=1e-6, order="given")
    without_noise = accuracy(ShuffledSGD(**shape, noise=0.01, delta=0.5, order="given"))
    assert strict.noise < local.noise
    assert accuracy(strict) > accuracy(local) + 0.05
    assert without_noise > accuracy(loose) > accuracy(strict)
    for training, times in ((strict, 3.7), (loose, 1.6)):
        assert times - 0.3 < training.privacy.epsilon / training.sampled_epsilon < times


def test_without_a_permutation_the_promise_is_the_gaussian_mechanism():
    local = ShuffledSGD(n=1000, dimension=2, epsilon=1.0, delta=1e-6, order="given")
    assert local.privacy.epsilon == pytest.approx(1.0, rel=1e-3)
    assert local.privacy.epsilon <= 1.0
    assert local.privacy.guarantee is None


def test_the_bundled_data_is_the_same_everywhere_and_its_rows_are_short():
    short, long = synthetic_clinic(10)[0], synthetic_clinic(1000)[0]
    assert np.array_equal(short.features, long.features[:10])
    assert np.linalg.norm(long.features, axis=1).max() <= 1.0 + 1e-12
    assert long.labels[:12].tolist() == [1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1]


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 1.0, "noise": 1.0},
        {},
        {"epsilon": 0.0},
        {"noise": -1.0},
        {"noise": 1.0, "clip": 0.0},
        {"noise": 1.0, "order": "sorted"},
        {"noise": 1.0, "dimension": 0},
        {"noise": 1.0, "batch": 0},
        {"noise": 1.0, "n": 0},
    ],
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(InvalidInput):
        ShuffledSGD(**{"n": 100, "dimension": 2, "delta": 1e-6} | wrong)


@pytest.mark.parametrize(
    "features, labels",
    [
        (np.zeros((1999, 3)), np.zeros(1999)),
        (np.zeros((2000, 2)), np.zeros(2000)),
        (np.zeros((2000, 3)), np.zeros(1999)),
        (np.zeros((2000, 3)), np.full(2000, 2.0)),
        (np.full((2000, 3), np.nan), np.zeros(2000)),
        (np.zeros(2000), np.zeros(2000)),
        ([["a"] * 3] * 2000, np.zeros(2000)),
    ],
)
def test_data_that_does_not_fit_is_refused(training, features, labels):
    with pytest.raises(InvalidInput):
        training.fit(features, labels)


@pytest.mark.parametrize("rows", [1, 39, 41, 80])
def test_a_gradient_of_another_number_of_rows_than_users_is_refused(training, rows):
    steps = training.steps(np.zeros((2000, 3)), np.zeros(2000), gradient=lambda *_batch: np.zeros((rows, 3)), rng=rng())
    with pytest.raises(InvalidInput, match="a row for each of 40 people, got"):
        next(steps)


def test_what_a_custom_gradient_may_use_is_among_the_assumptions(training):
    assert any(
        "depend on the current weights and on the data of the person, row by row" in text
        for text in training.assumptions
    )


def test_only_a_permutation_relies_on_an_unknown_order(training):
    given = ShuffledSGD(n=100, dimension=2, noise=3.0, delta=1e-6, order="given")
    assert any("do not know the order" in text for text in training.assumptions)
    assert not any("order" in text for text in given.assumptions)


@pytest.mark.parametrize("noise, delta", [(1e8, 1e-5), (1.0, 0.999), (2.0, 0.2), (1e100, 1e-20)])
def test_noise_that_needs_no_epsilon_is_accounted_as_zero(noise, delta):
    privacy = ShuffledSGD(n=100, dimension=3, noise=noise, delta=delta).privacy
    assert (privacy.epsilon, privacy.local, privacy.guarantee) == (0.0, 0.0, None)
    assert gaussian.delta(sigma=noise, epsilon=0.0) + 6.0 * FLAW <= delta


@pytest.mark.parametrize("target", [{"epsilon": 1.0}, {"noise": 5.0}])
@pytest.mark.parametrize("order", ["permuted", "given"])
def test_a_delta_below_the_flaw_of_the_noise_is_refused_with_the_cause(target, order):
    with pytest.raises(InvalidInput, match=r"delta must be at least 2.4e-23 here.* rounding"):
        ShuffledSGD(n=100, dimension=3, delta=1e-23, order=order, **target)
    assert ShuffledSGD(n=100, dimension=3, delta=2.5e-23, epsilon=1.0, order=order).privacy.epsilon <= 1.0


@pytest.mark.parametrize("size", [5e-324, 1e-200, 1e-160, 1e160, 1e308])
@pytest.mark.parametrize("clip", [1e-90, 1.0, 1e90])
def test_clipping_holds_where_squares_leave_the_range_of_floats(monkeypatch, size, clip):
    monkeypatch.setattr("shuffledp.training.descent.grid_noise", lambda _source, count: np.zeros(count))
    training = ShuffledSGD(n=100, dimension=3, noise=0.05, delta=0.5, clip=clip, order="given")
    (report,) = training.randomize([[size, -size, 0.0]], rng=rng())
    length = float(np.linalg.norm(report / clip))
    assert length <= 1.0
    assert length > 0.99 if size > 1e100 else length == 0.0


def test_tiny_gradients_are_clipped_to_a_tinier_bound(monkeypatch):
    monkeypatch.setattr("shuffledp.training.descent.grid_noise", lambda _source, count: np.zeros(count))
    training = ShuffledSGD(n=100, dimension=2, noise=0.05, delta=0.5, clip=1e-100, order="given")
    (report,) = training.randomize([[3e-99, 4e-99]], rng=rng())
    assert np.allclose(report / 1e-100, [0.6, 0.8], atol=1e-3)


@pytest.mark.parametrize(
    "labels", [["yes"] * 2000, [None, *[0] * 1999], [[0, 1], *[0] * 1999], np.full(2000, np.nan), np.zeros((2000, 1))]
)
def test_labels_that_are_no_numbers_are_refused_at_once(training, labels):
    with pytest.raises(InvalidInput, match="labels must be"):
        training.steps(np.zeros((2000, 3)), labels)
    with pytest.raises(InvalidInput, match="labels must be"):
        training.fit(np.zeros((2000, 3)), labels)


def test_steps_check_their_settings_before_the_first_update(training):
    with pytest.raises(InvalidInput, match="rate must be positive"):
        training.steps(np.zeros((2000, 3)), np.zeros(2000), rate=-1.0)


@pytest.mark.parametrize(
    "wrong", [{"noise": 1e-200}, {"noise": 1e200}, {"noise": 1.0, "clip": 1e308}, {"noise": 1.0, "clip": 1e-320}]
)
def test_sizes_that_leave_the_range_of_floats_are_refused(wrong):
    with pytest.raises(InvalidInput, match="must lie in"):
        ShuffledSGD(n=100, dimension=2, delta=1e-6, **wrong)


def allocated(**changed):
    shape = {"n": 2000, "dimension": 3, "noise": 1.0, "delta": 1e-6, "clip": 0.5, "batch": 40, "order": "allocated"}
    return ShuffledSGD(**shape | changed)


def test_allocated_steps_release_one_noisy_sum_of_clipped_gradients():
    training = allocated()
    rows = np.tile([3.0, 0.0, -4.0], (100, 1))
    sums = np.concatenate([training.randomize(rows, rng=rng(seed)) for seed in range(2000)])
    assert sums.shape == (2000, 3)
    assert training.sigma == training.noise * training.clip
    error = training.sigma / np.sqrt(len(sums))
    assert np.all(np.abs(sums.mean(axis=0) - [30.0, 0.0, -40.0]) < 100 * training.sigma / STEPS + 4.0 * error)
    assert np.allclose(sums.std(axis=0), training.sigma, rtol=0.06)


def test_allocated_users_are_in_one_step_of_every_epoch(monkeypatch):
    monkeypatch.setattr("shuffledp.training.descent.grid_noise", lambda _source, size: np.zeros(size))
    training = allocated(n=30, batch=3, epochs=4)
    seen: list[list[float]] = []

    def gradient(_weights, rows, labels):
        seen.append(labels.tolist())
        return rows

    steps = list(training.steps(np.zeros((30, 3)), np.arange(30.0), gradient=gradient, rng=rng(2)))
    assert len(steps) == 4 * training.updates == 40
    assert sorted(user for batch in seen for user in batch) == sorted(list(range(30)) * 4)
    assert len(seen) < 40  # some batch was empty, and its step ran all the same


def test_allocated_training_keeps_its_promise_and_is_certified_as_random_allocation():
    training = ShuffledSGD(n=2000, dimension=3, epsilon=0.5, delta=1e-6, batch=40, order="allocated")
    whole = RandomAllocation(sigma=training.noise, steps=50)
    assert training.privacy.epsilon == pytest.approx(whole.epsilon(delta=1e-6).upper, rel=1e-6)
    assert 0.499 < training.privacy.epsilon <= 0.5
    assert training.privacy.epsilon < training.local_epsilon
    assert "random allocation" in training.privacy.method
    assert any("trusted" in each for each in training.assumptions)
    assert any("add-or-remove" in each for each in training.assumptions)


def test_a_trusted_trainer_learns_more_at_the_same_epsilon():
    train, held_out = synthetic_clinic(20_000)
    shape = {"n": 20_000, "dimension": 10, "batch": 50, "epsilon": 0.25, "delta": 1e-6}
    found = {
        order: ShuffledSGD(**shape, order=order).fit(train.features, train.labels, rng=rng()).accuracy(held_out)
        for order in ("allocated", "permuted")
    }
    assert found["allocated"] > found["permuted"] + 0.02


@pytest.mark.parametrize("noise_from", ["user", "batch"])
def test_every_epoch_takes_all_data_once_in_a_fresh_order(noise_from):
    training = ShuffledSGD(
        n=31, dimension=2, noise=2.0, delta=1e-3, batch=5, epochs=3, order="permuted", noise_from=noise_from
    )
    taken = []

    def gradient(_weights, rows, labels):
        taken.append(labels.astype(int).tolist())
        return rows

    steps = list(training.steps(np.zeros((31, 2)), np.arange(31.0), gradient=gradient, rng=rng(4)))
    assert len(steps) == 3 * training.updates == 21
    epochs = [taken[start : start + 7] for start in (0, 7, 14)]
    assert all(sorted(user for batch in epoch for user in batch) == list(range(31)) for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]
    if noise_from == "batch":  # the elements stay what they are
        elements = [list(range(first, min(first + 5, 31))) for first in range(0, 31, 5)]
        assert all(sorted(epoch) == elements for epoch in epochs)
        assert {step.reports.shape for step in steps} == {(1, 2)}


def test_a_given_order_composes_to_a_gaussian_with_less_noise():
    training = ShuffledSGD(n=100, dimension=2, noise=6.0, delta=1e-6, order="given", epochs=4)
    assert training.privacy.epsilon == pytest.approx(gaussian.epsilon(sigma=3.0, delta=1e-6), rel=1e-9)
    planned = ShuffledSGD(n=100, dimension=2, epsilon=1.0, delta=1e-6, order="given", epochs=4)
    assert planned.noise == pytest.approx(2.0 * gaussian.sigma(epsilon=1.0, delta=1e-6), rel=1e-3)
    assert planned.privacy.epsilon <= 1.0


def test_a_batch_that_adds_its_noise_reports_the_mean_of_its_clipped_gradients():
    training = ShuffledSGD(n=2000, dimension=3, noise=1.0, delta=1e-6, clip=0.5, batch=40, noise_from="batch")
    rows = np.concatenate([np.tile([3.0, 0.0, -4.0], (20, 1)), np.zeros((20, 3))])
    means = np.concatenate([training.randomize(rows, rng=rng(seed)) for seed in range(2000)])
    assert means.shape == (2000, 3)
    error = training.sigma / np.sqrt(len(means))
    assert np.all(np.abs(means.mean(axis=0) - [0.15, 0.0, -0.2]) < 2 * training.sigma / STEPS + 4.0 * error)
    assert np.allclose(means.std(axis=0), training.sigma, rtol=0.06)


def test_batches_as_elements_are_accounted_as_so_many_users():
    shape = {"dimension": 3, "noise": 2.0, "delta": 1e-6}
    batches = ShuffledSGD(n=1990, batch=40, noise_from="batch", **shape)
    users = ShuffledSGD(n=50, **shape)
    assert batches.elements == users.elements == 50
    assert batches.privacy.epsilon == users.privacy.epsilon
    assert batches.sensitivity == users.sensitivity
    assert "one batch of 40 consecutive rows" in batches.assumptions[0]


def test_batches_as_elements_are_private_for_whole_batches_by_enumeration():
    # Two rows a batch, three batches, and noise of one batch cut into five cells: both rows of the first batch change.
    noise, batches = 1.5, 3
    borders = np.array([-np.inf, -1.5, -0.5, 0.5, 1.5, np.inf])

    def views(gradients):
        means = np.array(gradients).reshape(batches, 2).mean(axis=1) * 0.5 / noise
        laws = np.diff(ndtr(borders - means[:, None]), axis=1)
        return sum(np.einsum("i,j,k", *laws[list(order)]) for order in itertools.permutations(range(batches))) / 6.0

    training = ShuffledSGD(n=6, dimension=1, noise=noise, delta=0.05, batch=2, noise_from="batch")
    for others in ([0.0] * 4, [1.0] * 4, [1.0, 1.0, -1.0, -1.0], [0.2, -1.0, 0.9, 0.4]):
        p, q = views([1.0, 1.0, *others]), views([-1.0, -1.0, *others])
        for one, other in ((p, q), (q, p)):
            assert np.maximum(one - np.exp(training.privacy.epsilon) * other, 0.0).sum() <= 0.05
    assert training.privacy.epsilon < training.local_epsilon


@pytest.mark.parametrize(
    "wrong, rule",
    [
        ({"noise_from": "trainer"}, 'noise_from must be "user" or.*got .trainer.'),
        ({"noise_from": "batch", "order": "allocated"}, "noise_from must be .*Leave it out"),
        ({"epochs": 0}, "rounds must|epochs must"),
    ],
)
def test_who_adds_the_noise_must_be_clear(wrong, rule):
    with pytest.raises(InvalidInput, match=rule):
        ShuffledSGD(**{"n": 100, "dimension": 2, "noise": 1.0, "delta": 1e-6} | wrong)


def test_the_flaw_of_every_noisy_step_counts():
    with pytest.raises(InvalidInput, match=r"delta must be at least 9\.6e-21 here"):
        allocated(n=400, batch=1, delta=1e-21)
