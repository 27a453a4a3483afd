"""calibrate: what it returns meets the target, and the next value does not."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import Poll
from shuffledp._types import Floats
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.inversion import crossing
from shuffledp.randomizers import AnyDeletionLDP, Randomizer
from shuffledp.training import calibrate_training

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
        (AnyDeletionLDP, {}, 10_000, 1),
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
    """A target just below an achievable epsilon: the next larger n is returned."""
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
        lambda: calibrate_training(epsilon=1.0, delta=delta, steps=10, epochs=1),
        lambda: sdp.plan("mean", **poll),
    )
    for way in ways:
        with pytest.raises(sdp.InvalidInput, match=r"delta must be at most 0.1 for a promise"):
            way()


CLOSER = 1e-3  # how much better than the answer no other epsilon may be


def contradictions(mechanism: Guarantee, delta: float) -> list[str]:
    """What delta() says against epsilon(): an end that fails, or a better epsilon."""
    lower, upper = mechanism.epsilon(delta=delta)
    found = []
    if upper * (1.0 + 1e-6) <= 700.0 and mechanism.delta(epsilon=upper * (1.0 + 1e-6)).upper > delta:
        found.append("the upper end does not hold")
    if 0.0 < lower <= 700.0 and mechanism.delta(epsilon=lower).lower < delta:
        found.append("the lower end does not hold")
    smaller = min(upper, 700.0) * np.append(np.linspace(0.0, 0.95, 5), 1.0 - CLOSER)
    if upper > 0.0 and np.any(mechanism._end("upper", smaller) <= delta):
        found.append("a smaller epsilon holds, too")
    larger = lower * (1.0 + CLOSER) + (min(2.0 * upper, mechanism.ceiling, 700.0) - lower) * np.array(
        [0.0, 0.01, 0.1, 0.5, 1.0]
    )
    larger = larger[larger <= 700.0]
    if larger.size and np.any(mechanism._end("lower", larger) >= delta):
        found.append("a larger epsilon is needed")
    return found


def random_randomizer(rng: np.random.Generator) -> Randomizer:
    epsilon0, k = float(10.0 ** rng.uniform(-3.0, 1.0)), int(10.0 ** rng.uniform(0.5, 3.0))
    families: list[Randomizer] = [
        sdp.RR(epsilon0=epsilon0),
        sdp.KRR(k=k, epsilon0=epsilon0),
        sdp.Hadamard(k=k, epsilon0=epsilon0),
        sdp.OUE(k=k, epsilon0=epsilon0),
        sdp.SubsetSelection(k=k, epsilon0=epsilon0),
        sdp.AnyLDP(epsilon0=epsilon0),
        sdp.AnyLDP(epsilon0=epsilon0, delta0=float(10.0 ** rng.uniform(-12.0, -5.0))),
        sdp.Laplace(epsilon0=epsilon0),
        sdp.Gaussian(sigma=float(10.0 ** rng.uniform(0.0, 1.0))),
    ]
    return families[int(rng.choice(len(families), p=[0.16] * 3 + [0.1] * 5 + [0.02]))]


@pytest.mark.parametrize("seed", range(12))
def test_random_mechanisms_do_not_contradict_themselves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    once = sdp.shuffle(random_randomizer(rng), n=int(10.0 ** rng.uniform(0.0, 12.0)))
    delta = float(10.0 ** rng.uniform(-12.0, -0.5))
    mechanism = once if seed % 3 else once.compose(int(10.0 ** rng.uniform(0.3, 4.0)))
    assert contradictions(mechanism, delta) == [], (once.randomizer, once.n, delta)


def test_a_rough_curve_that_rises_again_is_not_trusted() -> None:
    """Rough upper ends fall below 1e-6 at epsilon = 26, close ones at 10.3: 26 was said once."""
    mechanism = sdp.shuffle(sdp.Gaussian(sigma=0.25), n=10**7)
    epsilon = mechanism.epsilon_at_most(delta=1e-6)
    assert 10.2 < epsilon < 10.4
    assert mechanism.delta_at_most(epsilon=epsilon) <= 1e-6


def rising_again(epsilons: Floats, gap: float) -> tuple[Floats, Floats]:
    """e^(-2 epsilon), known well up to 7 and badly beyond; and the rougher, the worse."""
    truth, bump = np.exp(-2.0 * epsilons), np.exp(-0.5 * (epsilons - 13.0) ** 2 / 9.0)
    return truth * (1.0 - min(gap * 1e3, 0.9)), truth * (1.0 + gap) + bump * (1e-3 if gap > 1e-4 else 1e-5)


@pytest.mark.parametrize("ceiling", [45.0, math.inf])
@pytest.mark.parametrize("delta", [0.5, 1e-2, 1e-4, 1e-5, 4e-6, 3e-6, 1e-6, 1e-8, 1e-12])
def test_the_least_epsilon_is_found_on_a_curve_that_rises_again(delta: float, ceiling: float) -> None:
    grid = np.linspace(0.0, 45.0, 400_001)
    lower, upper = rising_again(grid, 1e-7)
    least = grid[np.flatnonzero(upper <= delta)[0]]
    found = crossing(rising_again, delta, ceiling, end="upper")
    assert rising_again(np.array([found]), 1e-7)[1][0] <= delta
    assert found <= least * (1.0 + CLOSER)
    most = grid[np.flatnonzero(lower >= delta)[-1]]
    found = crossing(rising_again, delta, ceiling, end="lower")
    assert rising_again(np.array([found]), 1e-7)[0][0] >= delta
    assert found >= most * (1.0 - CLOSER)


def test_nan_and_vanishing_ends_are_no_answer() -> None:
    def unknown(epsilons: Floats, gap: float) -> tuple[Floats, Floats]:
        del gap
        return np.zeros_like(epsilons), np.where(epsilons > 0.0, np.nan, 0.5)

    assert crossing(unknown, 1e-6, 3.0, end="upper") == 3.0
    assert crossing(unknown, 1e-6, math.inf, end="upper") == math.inf
    assert crossing(unknown, 1e-6, 3.0, end="lower") == 0.0


@pytest.mark.parametrize("share", [0.9999, 1.0, 1.0000001, 1.1])
def test_a_curve_that_is_flat_at_delta_has_ends_in_order(share: float) -> None:
    """With probability delta0 a report shows its input: from there the curve is flat."""
    lower, upper = sdp.shuffle(sdp.AnyLDP(epsilon0=2.0, delta0=1e-12), n=1000).epsilon(delta=share * 1e-12)
    assert lower <= upper
    assert (upper == math.inf) == (share < 1.0)
