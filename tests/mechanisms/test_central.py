"""The baselines are what they are compared as, and a plan compares them with everything that
fits.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from shuffledp import InvalidInput
from shuffledp.accounting import analytic_gaussian as gaussian
from shuffledp.accounting.pld import Composition
from shuffledp.protocols import CentralHistogram, CentralMean, CentralSum, Histogram, Plan, plan
from shuffledp.protocols.tasks import ENCODINGS


def test_a_central_histogram_has_the_noise_of_the_analytic_gaussian_mechanism() -> None:
    poll, rng, truth = (
        CentralHistogram(categories=["a", "b", "c"], n=1000, epsilon=1.0, delta=1e-6),
        np.random.default_rng(4),
        np.array([700, 300, 0]),
    )
    bag = poll.shuffle(poll.encode(np.repeat(["a", "b", "c"], truth)))
    estimates = [poll.analyse(bag, rng=rng) for _ in range(10_000)]
    values = np.array([each.values for each in estimates])
    covered = np.mean(
        [(low <= truth) & (truth <= high) for low, high in (each.interval() for each in estimates)], axis=0
    )
    assert poll.sigma == gaussian.sigma(epsilon=1.0, delta=1e-6, sensitivity=math.sqrt(2.0))
    assert np.all(np.abs(values.mean(axis=0) - truth) < 4.5 * poll.sigma / 100.0)
    assert values.std(axis=0) == pytest.approx(poll.predicted_stderr(), rel=0.03)
    assert np.all((covered > 0.94) & (covered < 0.96))
    assert not estimates[0].secure
    assert "comparison" in estimates[0].notes[0]


def test_a_central_sum_moves_by_at_most_one_user_and_a_mean_is_its_share() -> None:
    total, mean = (kind(n=500, epsilon=0.5, delta=1e-5, lower=-1.0, upper=2.0) for kind in (CentralSum, CentralMean))
    assert total.sigma == gaussian.sigma(epsilon=0.5, delta=1e-5, sensitivity=3.0)
    assert mean.predicted_stderr() == pytest.approx(total.predicted_stderr() / 500)
    numbers = np.linspace(-1.0, 2.0, 500)
    one, other = (
        each.analyse(each.shuffle(each.encode(numbers)), rng=np.random.default_rng(1)) for each in (total, mean)
    )
    assert one.value == pytest.approx(500 * other.value)
    assert one.value == pytest.approx(250.0, abs=5 * total.sigma)


def test_central_guarantees_meet_the_promise_exactly_and_rounds_compose() -> None:
    once = CentralSum(n=100, epsilon=1.0, delta=1e-6).guarantee
    often = CentralSum(n=100, epsilon=1.0, delta=1e-6, rounds=9)
    assert once.epsilon(delta=1e-6).upper == pytest.approx(1.0, rel=1e-9)
    assert once.delta(epsilon=1.0).lower <= 1e-6
    assert often.sigma == pytest.approx(3.0 * CentralSum(n=100, epsilon=1.0, delta=1e-6).sigma, rel=1e-9)
    assert often.guarantee.delta(epsilon=1.0).upper <= 1e-6
    assert once.compose(9).epsilon(delta=1e-6).upper > 3.0
    assert once.rdp(order=2.0).upper == pytest.approx(1.0 / CentralSum(n=100, epsilon=1.0, delta=1e-6).sigma ** 2)
    assert often.guarantee_for(3, colluding=2).epsilon(delta=1e-6).upper == often.guarantee.epsilon(delta=1e-6).upper
    assert "curator" in str(once.explain(delta=1e-6))


def test_the_loss_distribution_of_a_central_guarantee_dominates_it_closely() -> None:
    guarantee = CentralSum(n=100, epsilon=1.0, delta=1e-6).guarantee
    composed = Composition([(guarantee.pessimistic_loss(spacing=1e-3), 4)])
    for epsilon in (0.5, 1.0, 2.0):
        exact = guarantee.compose(4).delta(epsilon=epsilon).upper
        assert exact <= composed.deltas(np.array([epsilon]), "upper")[0] <= 1.01 * exact


@pytest.fixture(scope="module")
def table() -> Plan:
    return plan("histogram", n=3000, domain=20, epsilon=2.0, delta=1e-5)


def test_a_plan_lists_what_fits_smallest_error_first_with_its_promise(table: Plan) -> None:
    errors = [option.error for option in table.options]
    assert errors == sorted(errors)
    trust = {"shuffler", "shuffler, sealed", "shuffler adds noise", "curator", "nobody"}
    assert {option.trust for option in table.options} == trust
    assert len(table.options) == 9
    for option in table.options:
        if option.protocol is None:
            assert option.trust in {"curator", "nobody"}
            assert option.guarantee is None
            continue
        assert option.guarantee.delta(epsilon=2.0).upper <= 1e-5
        assert option.error == option.protocol.predicted_stderr()
        assert option.bits == option.protocol.bits
    assert isinstance(table.best, Histogram)
    shown = str(table)
    assert "histogram of 20 values: 3000 users, epsilon = 2, delta = 1e-05" in shown
    assert all(option.name in shown for option in table.options)


@pytest.mark.long
def test_predicted_errors_of_a_plan_hold_in_simulation(table: Plan) -> None:
    truth = np.random.default_rng(17).multinomial(3000, np.full(20, 1.0 / 20.0))
    people = np.repeat(np.arange(20), truth)
    sums = Histogram(categories=20, mechanism="oue", view="sums", n=3000, epsilon=2.0, delta=1e-5)
    tried = [(each.name, each.trust, each.protocol, each.error) for each in table.options]
    for name, trust, protocol, error in [*tried, ("sums", "shuffler", sums, sums.predicted_stderr())]:
        squares, rng = [], np.random.default_rng(17)
        if protocol is None:
            continue
        shuffler = {"rng": rng} if trust == "shuffler adds noise" else {}
        for _ in range(250):
            bag = protocol.shuffle(protocol.encode(people, rng=rng), **shuffler)
            estimate = protocol.analyse(bag)
            squares.append(np.mean((estimate.values - truth) ** 2))
        assert math.sqrt(np.mean(squares)) == pytest.approx(error, rel=0.03), name


def test_a_plan_says_what_does_not_fit() -> None:
    with pytest.raises(InvalidInput, match="Use more users"):
        plan("mean", n=2, epsilon=1e-7, delta=1e-12).best  # noqa: B018


def test_whatever_a_plan_offers_runs_with_hardly_any_noise_too() -> None:
    counting = [
        Histogram(categories=10, n=20, epsilon0=30.0),
        *(Histogram(categories=10, n=20, epsilon0=30.0, mechanism=name) for name in ENCODINGS),
    ]
    for protocol in counting:
        estimate = protocol.analyse(protocol.shuffle(protocol.encode([3] * 20, rng=np.random.default_rng(1))))
        assert estimate[3] == pytest.approx(20.0, abs=12.0), protocol
