"""Histograms: unbiased, with the errors they say, and the guarantee of the code that runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shuffledp import KRR, InvalidInput, Poll, shuffle
from shuffledp.mechanisms.estimate import likelihood, simplex
from tests.mechanisms.simulation import REPETITIONS, counts_of

CITIES = ["Rome", "Oslo", "Bern", "Riga", "Kyiv"]


@pytest.fixture(scope="module")
def promised() -> Poll:
    return Poll("histogram", categories=CITIES, n=10_000, epsilon=1.0, delta=1e-6)


@pytest.mark.long
@pytest.mark.parametrize(
    ("n", "epsilon0", "held"),
    [(10_000, 5.0, [6000, 3000, 900, 100, 0]), (2000, 1.0, [2000, 0, 0, 0, 0]), (500, 7.0, [200, 200, 96, 4, 0])],
)
def test_95_percent_intervals_cover_94_to_96_percent_and_predicted_errors_hold(
    n: int, epsilon0: float, held: list[int]
) -> None:
    poll, rng, truth = (
        Poll("histogram", categories=CITIES, n=n, epsilon0=epsilon0),
        np.random.default_rng(11),
        np.array(held),
    )
    # With little noise, the same counts come again and again: each is analysed once.
    drawn, times = np.unique(counts_of(poll.randomizer, truth, rng), axis=0, return_inverse=True)
    analysed = [poll.analyse_counts(counts) for counts in drawn]
    estimates = [analysed[which] for which in times]
    values = np.array([each.values for each in estimates])
    inside = [(low <= truth) & (truth <= high) for low, high in (each.interval(0.95) for each in analysed)]
    covered = np.mean([inside[which] for which in times], axis=0)
    predicted = poll.predicted_stderrs(truth)
    smooth = (
        n * poll.randomizer.miss > 5.0
    )  # with hardly any noise, counts are too few values for a level to be met exactly
    assert np.all(np.abs(values.mean(axis=0) - truth) < 4.5 * predicted / math.sqrt(REPETITIONS))
    assert np.all(np.abs(values.std(axis=0) / predicted - 1.0) < 0.03)
    assert np.all(covered > (0.94 if smooth else 0.92))
    assert np.all(covered < (0.96 if smooth else 0.995))


def test_the_mean_square_error_over_categories_does_not_depend_on_the_data() -> None:
    poll = Poll("histogram", categories=CITIES, n=1000, epsilon0=3.0)
    for held in ([1000, 0, 0, 0, 0], [10, 20, 30, 40, 900]):
        assert math.sqrt(np.mean(poll.predicted_stderrs(held) ** 2)) == pytest.approx(
            poll.predicted_stderr(), rel=1e-12
        )


@pytest.mark.long
@pytest.mark.parametrize(("k", "n", "epsilon0"), [(16, 10_000, 5.5), (100, 10_000, 5.8), (200, 1000, 4.6)])
def test_simultaneous_intervals_cover_everything_together(k: int, n: int, epsilon0: float) -> None:
    poll, rng = Poll("histogram", categories=range(k), n=n, epsilon0=epsilon0), np.random.default_rng(5)
    held = rng.multinomial(n, rng.dirichlet(np.full(k, 0.3)))
    repetitions = 1000
    together = 0
    for counts in counts_of(poll.randomizer, held, rng, repetitions):
        low, high = poll.analyse_counts(counts).simultaneous(0.95)
        together += bool(np.all((low <= held) & (held <= high)))
    assert 0.93 <= together / repetitions <= 0.995  # where votes are few, more often than it says


def test_the_guarantee_is_the_accountants_on_the_law_that_runs(promised: Poll) -> None:
    assert promised.randomizer == promised.randomizer.realised
    expected = shuffle(promised.randomizer, n=10_000).epsilon(delta=1e-6)
    assert promised.guarantee.epsilon(delta=1e-6).upper == expected.upper <= 1.0
    assert expected.upper > 0.999
    assert promised.epsilon0 == promised.randomizer.epsilon0


def test_a_promise_for_several_rounds_is_kept_by_their_composition() -> None:
    poll = Poll("histogram", categories=CITIES, n=10_000, epsilon=1.0, delta=1e-6, rounds=8)
    assert poll.guarantee.delta(epsilon=1.0).upper <= 1e-6
    assert (
        poll.guarantee.epsilon(delta=1e-6).upper
        == shuffle(poll.randomizer, n=10_000).compose(8).epsilon(delta=1e-6).upper
    )
    assert poll.randomizer.epsilon0 < 4.5


def test_the_average_of_rounds_has_the_error_of_an_average_and_covers() -> None:
    poll, rng, truth = (
        Poll("histogram", categories=CITIES, n=1000, epsilon0=2.0, rounds=4),
        np.random.default_rng(8),
        np.array([500, 300, 150, 50, 0]),
    )
    counts = counts_of(poll.randomizer, truth, rng, 8000).reshape(2000, 4, 5)
    averages = [poll.analyse_counts(*four) for four in counts]
    values = np.array([each.values for each in averages])
    covered = np.mean([(low <= truth) & (truth <= high) for low, high in (each.interval() for each in averages)])
    assert np.all(np.abs(values.std(axis=0) / (poll.predicted_stderrs(truth) / 2.0) - 1.0) < 0.06)
    assert 0.94 < covered < 0.96
    with pytest.raises(InvalidInput, match=r"at most rounds = 4, got 5. Build"):
        poll.analyse_counts(*counts[0], counts[0, 0])


def test_simplex_and_likelihood_are_histograms_and_agree_with_inversion_where_it_is_one() -> None:
    poll = Poll("histogram", categories=CITIES, n=10_000, epsilon0=3.0)
    clear, rare = np.array([4000, 2500, 1500, 1000, 1000]), np.array([9000, 900, 60, 30, 10])
    estimates = {name: poll.analyse_counts(clear, estimator=name) for name in ("inversion", "simplex", "likelihood")}  # type: ignore[arg-type]
    for each in estimates.values():
        np.testing.assert_allclose(each.values, estimates["inversion"].values, rtol=1e-9)
        np.testing.assert_array_equal(each.interval(), estimates["inversion"].interval())
    for name in ("simplex", "likelihood"):
        each = poll.analyse_counts(rare, estimator=name)  # type: ignore[arg-type]
        assert each.values.min() == 0.0
        assert each.values.sum() == pytest.approx(10_000)
        assert "unbiased" in each.notes[0]
        assert each.unbiased.min() < 0.0


def test_likelihood_is_where_expectation_maximisation_goes() -> None:
    randomizer, counts = KRR(k=6, epsilon0=1.5), np.array([500, 260, 90, 70, 60, 20])
    hit, miss = randomizer.hit, randomizer.miss
    shares = np.full(6, 1.0 / 6.0)
    for _ in range(20_000):
        weight = counts / (miss + (hit - miss) * shares)
        shares = shares * ((hit - miss) * weight + miss * weight.sum()) / counts.sum()
    np.testing.assert_allclose(likelihood(counts, hit, miss) / 1000.0, shares, atol=1e-6)


def test_projection_is_the_nearest_point_of_the_simplex() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        values = rng.normal(size=7) * 10.0
        nearest = simplex(values, 5.0)
        others = rng.dirichlet(np.ones(7), size=200) * 5.0
        assert nearest.sum() == pytest.approx(5.0)
        assert nearest.min() >= 0.0
        assert np.linalg.norm(values - nearest) <= np.linalg.norm(values - others, axis=1).min()


def test_absent_and_colluding_users_weaken_the_guarantee_as_the_accountant_says(promised: Poll) -> None:
    fewer = promised.guarantee_for(9000, colluding=1000)
    assert (
        fewer.epsilon(delta=1e-6).upper
        == shuffle(promised.randomizer, n=9000, honest=8000).epsilon(delta=1e-6).upper
        > 1.0
    )
    reports = promised.encode(["Rome"] * 9000)
    with pytest.raises(
        InvalidInput,
        match=(
            r"at least 10000 for the promised epsilon = 1, got 9000, which gives 1\.\d+. Wait for more reports, or "
            r"build"
        ),
    ):
        promised.shuffle(reports)
    with pytest.raises(InvalidInput, match="at least 10000 for the promised"):
        promised.shuffle(promised.encode(["Rome"] * 10_000), colluding=2000)


def test_a_promise_for_fewer_users_is_kept_when_some_stay_away() -> None:
    poll = Poll("histogram", categories=CITIES, n=10_000, honest=9000, epsilon=1.0, delta=1e-6)
    bag = poll.shuffle(poll.encode(["Rome"] * 9500), colluding=400)
    estimate = poll.analyse(bag)
    assert poll.guarantee_for(9000).delta(epsilon=1.0).upper <= 1e-6
    assert estimate.n == 9500
    assert "9500 of 10000 reports arrived" in estimate.notes[0]
    assert estimate["Rome"] == pytest.approx(9500, abs=6 * poll.predicted_stderr())
    with pytest.raises(InvalidInput, match="Wait for more reports"):
        poll.shuffle(poll.encode(["Rome"] * 8900))


def test_a_bag_forgets_order_and_senders_and_the_seed_is_remembered() -> None:
    poll = Poll("histogram", categories=CITIES, n=500, epsilon0=3.0)
    reports = poll.encode(CITIES * 100, rng=np.random.default_rng(1))
    shuffled = np.random.default_rng(2).permutation(reports.rows)
    np.testing.assert_array_equal(poll.shuffle(reports).rows, poll.shuffle(shuffled).rows)
    seeded, secure = poll.analyse(poll.shuffle(reports)), poll.analyse(poll.shuffle(poll.encode(CITIES * 100)))
    assert not seeded.secure
    assert "not for release" in seeded.notes[-1]
    assert secure.secure
    assert secure.notes == ()


def test_users_may_be_encoded_one_by_one() -> None:
    poll = Poll("histogram", categories=CITIES, n=100, epsilon0=20.0)
    bag = poll.shuffle([poll.encode([city]) for city in CITIES * 20])
    np.testing.assert_allclose(poll.analyse(bag).values, 20.0, atol=0.1)


def test_unknown_categories_are_counted_as_other_never_dropped() -> None:
    poll = Poll("histogram", categories=["yes", "no", "?"], other="?", n=100, epsilon0=25.0)
    estimate = poll.analyse(poll.shuffle(poll.encode(["yes"] * 50 + ["maybe"] * 30 + ["perhaps"] * 20)))
    np.testing.assert_allclose(estimate.values, [50.0, 0.0, 50.0], atol=1e-3)
    assert poll.encode(np.array(["yes", "perhaps"])).rows.tolist() == [0, 2]


def test_a_report_without_a_shuffler_hides_its_sender_alone() -> None:
    alone, shuffled = (
        Poll("histogram", categories=CITIES, n=10_000, honest=honest, epsilon=1.0, delta=1e-6) for honest in (1, 10_000)
    )
    assert alone.epsilon0 == pytest.approx(1.0, abs=1e-3)
    assert alone.guarantee.epsilon(delta=1e-6).upper <= 1.0
    assert alone.predicted_stderr() > 15 * shuffled.predicted_stderr()


def test_an_estimate_prints_as_a_table() -> None:
    poll = Poll("histogram", categories=range(30), n=300, epsilon0=4.0)
    shown = str(poll.analyse(poll.shuffle(poll.encode(list(range(30)) * 10, rng=np.random.default_rng(0)))))
    assert "300 reports" in shown
    assert "... and 10 more" in shown
    assert "not for release" in shown


def test_the_scale_of_estimates_keeps_its_digits_where_reports_say_almost_nothing() -> None:
    poll = Poll("histogram", categories=["a", "b"], n=2**20, epsilon0=1e-12)
    estimate = poll.analyse_counts([2**20, 0])
    assert estimate.values[0] - estimate.values[1] == pytest.approx(
        2**20 / math.tanh(poll.randomizer.epsilon0 / 2.0), rel=1e-6
    )
