"""calibrate: what it returns meets the target, and the next value does not."""

from __future__ import annotations

import dataclasses

import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp.randomizers import Randomizer

TARGET = {"epsilon": 0.5, "delta": 1e-6}


def upper(randomizer: Randomizer, n: int, rounds: int = 1, **how: object) -> float:
    return sdp.shuffle(randomizer, n=n, **how).compose(rounds).epsilon(delta=TARGET["delta"]).upper  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "family, parameters, n, rounds",
    [
        (sdp.KRR, {"k": 16}, 10_000, 1),
        (sdp.KRR, {"k": 2}, 10_000, 1),
        (sdp.RR, {}, 500, 1),
        (sdp.AnyLDP, {}, 10_000, 1),
        (sdp.AnyDeletionLDP, {}, 10_000, 1),
        (sdp.OUE, {"k": 50}, 10_000, 4),
        (sdp.Laplace, {}, 5_000, 1),
    ],
    ids=["krr", "krr-2", "rr", "any", "deletion", "oue-rounds", "laplace"],
)
def test_the_largest_epsilon0(family: type[Randomizer], parameters: dict[str, object], n: int, rounds: int) -> None:
    plan = sdp.calibrate(family, n=n, rounds=rounds, **parameters, **TARGET)  # type: ignore[arg-type]
    assert plan.unknown == "epsilon0"
    assert float(plan) == plan.value
    assert plan.epsilon <= TARGET["epsilon"]
    assert plan.guarantee.epsilon(delta=TARGET["delta"]).upper <= TARGET["epsilon"] * (1.0 + 1e-9)
    assert upper(family(epsilon0=plan.value, **parameters), n, rounds) <= TARGET["epsilon"] * (1.0 + 1e-9)  # type: ignore[call-arg]
    assert upper(family(epsilon0=1.001 * plan.value, **parameters), n, rounds) > TARGET["epsilon"]  # type: ignore[call-arg]


def test_the_smallest_sigma() -> None:
    plan = sdp.calibrate(sdp.Gaussian, n=20_000, **TARGET)
    assert plan.unknown == "sigma"
    assert upper(sdp.Gaussian(sigma=plan.value), 20_000) <= TARGET["epsilon"] * (1.0 + 1e-9)
    assert upper(sdp.Gaussian(sigma=plan.value / 1.001), 20_000) > TARGET["epsilon"]


@pytest.mark.parametrize(
    "randomizer, rounds",
    [(sdp.KRR(k=16, epsilon0=4.0), 1), (sdp.AnyLDP(epsilon0=2.0), 1), (sdp.KRR(k=8, epsilon0=2.0), 5)],
    ids=["krr", "any", "rounds"],
)
def test_the_fewest_users(randomizer: Randomizer, rounds: int) -> None:
    plan = sdp.calibrate(randomizer, rounds=rounds, **TARGET)
    n = int(plan.value)
    assert plan.unknown == "n"
    assert n == plan.value
    assert upper(randomizer, n, rounds) <= TARGET["epsilon"] * (1.0 + 1e-9)
    assert upper(randomizer, n - 1, rounds) > TARGET["epsilon"] * (
        1.0 - 1e-6
    )  # one user in thousands: below the resolution of PLDs


def test_the_most_rounds() -> None:
    randomizer, n = sdp.KRR(k=16, epsilon0=2.0), 50_000
    plan = sdp.calibrate(randomizer, n=n, rounds=None, **TARGET)
    rounds = int(plan.value)
    assert plan.unknown == "rounds"
    assert rounds > 10
    assert upper(randomizer, n, rounds) <= TARGET["epsilon"] * (1.0 + 1e-9)
    assert upper(randomizer, n, rounds + 1) > TARGET["epsilon"]


def test_one_user_is_enough_when_the_report_is_private_already() -> None:
    assert sdp.calibrate(sdp.KRR(k=3, epsilon0=0.4), **TARGET).value == 1


def test_adversary_and_colluders_are_planned_for() -> None:
    everyone, some, strong = (
        sdp.calibrate(sdp.KRR, k=4, n=10_000, **TARGET, **how)
        for how in ({}, {"honest_share": 0.5}, {"adversary": "strong"})
    )  # type: ignore[arg-type]
    assert strong.value < everyone.value
    assert some.value < everyone.value
    alone = sdp.calibrate(sdp.KRR, k=4, n=5_000, **TARGET)
    assert some.value == pytest.approx(alone.value, rel=1e-3)
    assert upper(sdp.KRR(k=4, epsilon0=some.value), 10_000, honest=5_000) <= TARGET["epsilon"] * (1.0 + 1e-9)


def test_a_plan_is_a_value() -> None:
    plan = sdp.calibrate(sdp.KRR(k=16, epsilon0=1.0), **TARGET)
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.value = 1.0  # type: ignore[misc]


@pytest.mark.parametrize("share", [0.0, 2e-9, 3e-8, 1e-6, 1e-3])
def test_targets_on_the_edge_are_met_not_contradicted(share: float) -> None:
    """A target just below an achievable epsilon: the next larger n is returned, and no check
    contradicts another.
    """
    edge = sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10_000).epsilon(delta=1e-6).upper * (1.0 - share)
    plan = sdp.calibrate(sdp.KRR(k=16, epsilon0=4.0), epsilon=edge, delta=1e-6)
    assert 10_000 <= plan.value <= 10_030
    assert plan.guarantee.epsilon(delta=1e-6).upper <= edge


def test_a_tiny_target_where_delta_is_large() -> None:
    plan = sdp.calibrate(sdp.KRR, k=16, n=100, epsilon=1e-12, delta=1e-3)
    assert plan.guarantee.delta(epsilon=1e-12).upper <= 1e-3


@pytest.mark.parametrize("delta", [0.11, 0.5, 0.999999])
def test_a_promise_that_is_broken_as_often_as_kept_is_refused_at_once(delta: float) -> None:
    poll = {"n": 10_000, "epsilon": 1.0, "delta": delta}
    ways = (
        lambda: sdp.calibrate(sdp.KRR, k=4, **poll),
        lambda: sdp.calibrate(sdp.KRR(k=4, epsilon0=2.0), epsilon=1.0, delta=delta),
        lambda: Poll("histogram", categories=["a", "b"], **poll),
        lambda: Poll("count", value="a", **poll),
        lambda: sdp.calibrate_training(epsilon=1.0, delta=delta, steps=10, epochs=1),
        lambda: sdp.plan("mean", **poll),
    )
    for way in ways:
        with pytest.raises(sdp.InvalidInput, match=r"delta must be at most 0.1 for a promise"):
            way()
