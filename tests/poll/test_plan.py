"""A plan compares everything that fits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shuffledp import InvalidInput, Poll
from shuffledp.domain import ENCODINGS
from shuffledp.planning import Plan, plan


@pytest.fixture(scope="module")
def table() -> Plan:
    return plan("histogram", n=3000, categories=20, epsilon=2.0, delta=1e-5)


def test_a_plan_lists_what_fits_smallest_error_first_with_its_promise(table: Plan) -> None:
    errors = [option.error for option in table.options]
    assert errors == sorted(errors)
    trust = {"shuffler", "shuffler, sealed", "shuffler adds noise", "curator", "nobody"}
    assert {option.trust for option in table.options} == trust
    assert len(table.options) == 9
    for option in table.options:
        if option.poll is None:
            assert option.trust in {"curator", "nobody"}
            assert option.guarantee is None
            continue
        assert option.guarantee.delta(epsilon=2.0).upper <= 1e-5
        assert option.error == option.poll.predicted_stderr()
        assert option.bits == option.poll.bits
    assert table.best.question.type == "histogram"
    shown = str(table)
    assert "histogram of 20 values: 3,000 people, epsilon = 2, delta = 1e-5" in shown
    assert all(option.name in shown for option in table.options)


@pytest.mark.long
def test_predicted_errors_of_a_plan_hold_in_simulation(table: Plan) -> None:
    truth = np.random.default_rng(17).multinomial(3000, np.full(20, 1.0 / 20.0))
    people = np.repeat(np.arange(20), truth)
    sums = Poll("histogram", categories=20, mechanism="oue", view="sums", n=3000, epsilon=2.0, delta=1e-5)
    tried = [(each.name, each.trust, each.poll, each.error) for each in table.options]
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
    with pytest.raises(InvalidInput, match="Use more people"):
        plan("mean", n=2, epsilon=1e-7, delta=1e-12).best  # noqa: B018


def test_whatever_a_plan_offers_runs_with_hardly_any_noise_too() -> None:
    counting = [
        Poll("histogram", categories=10, n=20, epsilon0=30.0),
        *(Poll("histogram", categories=10, n=20, epsilon0=30.0, mechanism=name) for name in ENCODINGS),
    ]
    for protocol in counting:
        estimate = protocol.analyse(protocol.shuffle(protocol.encode([3] * 20, rng=np.random.default_rng(1))))
        assert estimate[3] == pytest.approx(20.0, abs=12.0), protocol
