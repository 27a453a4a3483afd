"""Feldman et al. 2020, Appendix F, against enumeration and against the digits its authors print."""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import judge
from shuffledp.accounting.haystack import Haystack
from shuffledp.literature import feldman
from shuffledp.literature.bounds import Setting
from tests.literature.laws import Law, binomial, clones_laws


def inverse(delta: Callable[[float], float], target: float, high: float) -> float:
    """The epsilon at which a falling ``delta`` meets ``target``."""
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if delta(middle) > target else (low, middle)
    return high


def test_feldman_divergence_given_the_count_is_exact() -> None:
    q = math.exp(2.0) / (math.exp(2.0) + 1.0)
    for c, epsilon in product((0, 1, 2, 7, 30), (0.0, 0.3, 1.1, 1.9)):
        ones_p: Law = {(x,): q * binomial(c, x, 0.5) + (1.0 - q) * binomial(c, x - 1, 0.5) for x in range(c + 2)}
        ones_q: Law = {(x,): q * binomial(c, x - 1, 0.5) + (1.0 - q) * binomial(c, x, 0.5) for x in range(c + 2)}
        truth = judge.hockey_stick(ones_p, ones_q, epsilon)
        assert feldman.divergence_given_count(c, epsilon, 2.0) == pytest.approx(truth, rel=1e-10, abs=1e-15)
        assert feldman.divergence_given_count(c, epsilon, 2.0, reverse=True) == pytest.approx(
            truth, rel=1e-10, abs=1e-15
        )


@pytest.mark.parametrize("epsilon", [0.2, 0.6, 1.0])
@pytest.mark.parametrize("step", [1, 3, 60])
def test_feldman_delta_is_an_upper_bound_and_at_most_doubles_for_single_steps(epsilon: float, step: int) -> None:
    p, q = clones_laws(50, 2.0, feldmans=True)
    truth = judge.hockey_stick(p, q, epsilon)
    upper = feldman.delta_upper(50, epsilon, 2.0, step=step)
    assert upper >= truth * (1.0 - 1e-10)
    if step == 1:
        assert upper <= 2.0 * truth * (1.0 + 1e-10)


def test_feldman_stops_early_when_delta_is_large_enough() -> None:
    assert feldman.delta_upper(50, 0.2, 2.0, step=1, enough=1e-3) == 1e-3


def test_feldman_epsilon_encloses_the_exact_one_from_above() -> None:
    p, q = clones_laws(50, 2.0, feldmans=True)
    truth = inverse(lambda epsilon: judge.hockey_stick(p, q, epsilon), 1e-3, 2.0)
    # the last rule of Algorithm 6 lets delta double, so epsilon(delta) is at most epsilon(delta/2)
    doubled = inverse(lambda epsilon: judge.hockey_stick(p, q, epsilon), 0.5e-3, 2.0)
    assert truth - 1e-9 <= feldman.epsilon(50, 2.0, 1e-3, iterations=40, step=1) <= doubled + 1e-9


def test_feldman_reproduces_the_digits_of_the_authors_readme() -> None:
    start = feldman.closed_form_start(100_000, 4.0, 1e-6)
    assert start == pytest.approx(0.5378040242374512, rel=1e-14)
    value = feldman.epsilon(100_000, 4.0, 1e-6, iterations=10, step=100, start=start, centre=50_000)
    assert value == pytest.approx(0.172790550755978, rel=1e-14)


def test_feldman_from_the_mean_outwards_stays_above_the_exact_clones_value() -> None:
    for start in (None, feldman.closed_form_start(100_000, 4.0, 1e-6)):
        value = feldman.epsilon(100_000, 4.0, 1e-6, iterations=10, step=100, start=start)
        assert 0.16977 <= value <= 0.16977 * 1.05


@pytest.mark.parametrize(
    "epsilon0, n, delta", [(36.733065841948076, 10, 0.00042670685844552), (26.54, 10, 0.3319), (30.0, 400, 1e-9)]
)
def test_the_numerical_algorithm_does_not_round_below_the_truth(epsilon0: float, n: int, delta: float) -> None:
    """It once computed 1 - E/(E+1), and claimed 36.04 where the truth is 36.73."""
    setting = Setting(sdp.RR(epsilon0=epsilon0), n)
    assert (
        feldman.NUMERICAL.epsilon(setting, delta=delta)
        >= sdp.shuffle(setting.randomizer, n=n).epsilon(delta=delta).lower
    )


def test_the_numerical_delta_is_not_below_the_pairs_own() -> None:
    for epsilon0, n, epsilon in (
        (8.352548128810362, 2, 8.35254812879542),
        (18.72, 28, 18.7199),
        (1.3e-8, 2, 1e-9),
        (1.9e-3, 1, 1e-4),
    ):
        setting = Setting(sdp.AnyLDP(epsilon0=epsilon0), n)
        lower, _ = Haystack.of(sdp.AnyLDP(epsilon0=epsilon0).clones(), n).bounds(np.array([epsilon]))
        assert feldman.NUMERICAL.delta(setting, epsilon=epsilon) >= lower[0]


def test_the_numerical_delta_is_a_probability() -> None:
    setting = Setting(sdp.AnyLDP(epsilon0=50.0), 1)
    assert feldman.NUMERICAL.delta(setting, epsilon=0.0) == 1.0
