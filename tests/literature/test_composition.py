"""Composition theorems that know one round only by (epsilon, delta), against exact optimal
composition and against enumeration."""

import math
from collections.abc import Callable

import pytest

import shuffledp as sdp
from shuffledp import judge
from shuffledp.errors import DoesNotApply, InvalidInput
from shuffledp.literature import composition, feldman, other_papers, own_bounds
from shuffledp.literature.bound import Setting
from shuffledp.literature.bounds import find
from shuffledp.literature.gradient_descent import _local, equation_12, equation_13
from shuffledp.literature.other_papers import ERLINGSSON
from shuffledp.randomizers.gaussian_delta import gaussian_delta
from shuffledp.training.passes import permuted, sampled_epsilon


def optimal_delta(epsilon: float, delta: float, rounds: int, total: float) -> float:
    """The best delta' at ``total`` of k rounds of (epsilon, delta)-DP: the hockey stick of k leaky
    randomized responses, summed over their outcomes.
    """
    e = math.exp(epsilon)
    law = [math.comb(rounds, i) * math.exp((rounds - i) * epsilon) / (1.0 + e) ** rounds for i in range(rounds + 1)]
    pure = sum(max(p - math.exp(total) * q, 0.0) for p, q in zip(law, law[::-1], strict=True))
    return 1.0 - (1.0 - delta) ** rounds * (1.0 - pure)


@pytest.mark.parametrize(
    ("epsilon", "delta", "rounds", "slack"),
    [(0.1, 0.0, 100, 1e-6), (0.5, 1e-4, 10, 1e-2), (2.0, 1e-3, 3, 0.1), (0.01, 1e-9, 1000, 1e-9)],
)
def test_every_theorem_is_above_optimal_composition(epsilon: float, delta: float, rounds: int, slack: float) -> None:
    answers = [
        composition.basic(epsilon, delta, rounds),
        composition.advanced(epsilon, delta, rounds, slack),
        composition.kairouz_oh_viswanath(epsilon, delta, rounds, slack),
    ]
    for total, failure in answers:
        assert optimal_delta(epsilon, delta, rounds, total) <= failure * (1.0 + 1e-9) + 1e-14
    assert answers[2][0] <= min(answers[0][0], answers[1][0])
    assert answers[2][1] <= answers[1][1]


@pytest.mark.parametrize("theorem", ["basic", "advanced"])
def test_one_round_is_the_bound_itself(theorem: composition.Theorem) -> None:
    setting = Setting(sdp.AnyLDP(epsilon0=2.0), 100_000)
    several = composition.composed(feldman.THM_3_1, theorem)
    assert several.name == f"feldman-2020-thm-3.1+{theorem}"
    assert several.epsilon(setting, delta=1e-6) == feldman.THM_3_1.epsilon(setting, delta=1e-6)


@pytest.mark.parametrize("theorem", ["basic", "advanced"])
def test_rounds_of_the_clones_bound_enumeration(theorem: composition.Theorem) -> None:
    several = composition.composed(own_bounds.CLONES, theorem)
    for rounds in (2, 3):
        setting = Setting(sdp.RR(epsilon0=1.0), 6, rounds)
        for delta in (0.3, 0.05, 1e-3):
            epsilon = several.epsilon(setting, delta=delta)
            assert judge.rounds_delta([judge.krr(2, 1.0)] * rounds, 6, [epsilon])[0] <= delta


def test_advanced_is_never_above_basic_and_wins_over_many_rounds() -> None:
    bounds = [composition.composed(own_bounds.CLONES, theorem) for theorem in ("basic", "advanced")]
    for rounds in (2, 10, 1000):
        setting = Setting(sdp.AnyLDP(epsilon0=2.0), 100_000, rounds)
        basic, advanced = (bound.epsilon(setting, delta=1e-6) for bound in bounds)
        assert advanced <= basic
        certain = sdp.shuffle(sdp.AnyLDP(epsilon0=2.0), n=100_000).compose(rounds).epsilon(delta=1e-6)
        assert certain.upper <= advanced
    assert advanced < 0.5 * basic


def test_delta_is_composed_without_a_search_for_epsilon() -> None:
    clones, closed = own_bounds.CLONES, feldman.THM_3_1
    for rounds in (1, 4, 400):
        setting = Setting(sdp.AnyLDP(epsilon0=2.0), 100_000, rounds)
        for bound in (clones, closed):
            basic, advanced = (composition.composed(bound, theorem) for theorem in composition.COMPOSITIONS)
            epsilon = basic.epsilon(setting, delta=1e-6)
            assert basic.delta(setting, epsilon=epsilon) == pytest.approx(1e-6, rel=1e-4)
            assert advanced.delta(setting, epsilon=epsilon) <= basic.delta(setting, epsilon=epsilon)
        few = composition.composed(clones, "advanced").epsilon(setting, delta=1e-6)
        certain = sdp.shuffle(sdp.AnyLDP(epsilon0=2.0), n=100_000).compose(rounds).delta(epsilon=few)
        assert certain.lower <= composition.composed(clones, "advanced").delta(setting, epsilon=few) <= 2.5e-6
    assert composition.composed(clones, "basic").delta(setting, epsilon=few) > 0.1
    at = [composition.composed(clones, "advanced").delta(setting, epsilon=each) for each in (1e-9, 1e-200, 1e-300)]
    assert 0.0 < at[0] <= at[1] == at[2] <= 1.0, "also where the square of epsilon is 0"


def test_every_round_must_satisfy_the_conditions_with_its_part_of_delta() -> None:
    setting = Setting(sdp.AnyLDP(epsilon0=math.log(10_000 / (16 * math.log(2e6)))), 10_000)
    several = composition.composed(feldman.THM_3_1, "basic")
    assert several.epsilon(setting, delta=1e-6) > 0.0
    with pytest.raises(DoesNotApply, match="number of clones must be at least"):
        several.epsilon(Setting(setting.randomizer, setting.n, 2), delta=1e-6)
    with pytest.raises(DoesNotApply, match="1e-250"):
        several.epsilon(Setting(sdp.AnyLDP(epsilon0=0.1), 10**6, 100), delta=1e-249)


def test_status_and_cost_are_inherited() -> None:
    several = composition.composed(feldman.NUMERICAL, "advanced")
    setting = Setting(sdp.AnyLDP(epsilon0=2.0), 100_000, 5)
    assert several.status == "proven"
    assert several.seconds(setting) > feldman.NUMERICAL.seconds(setting.once()) > 0.0
    assert composition.composed(ERLINGSSON, "basic").conditions.startswith(ERLINGSSON.conditions)


@pytest.mark.parametrize("bound", [feldman.LOWER_2RR, other_papers.GIRGIS], ids=lambda bound: bound.name)
def test_lower_bounds_and_bounds_on_rounds_are_not_composed(bound: feldman.Published) -> None:
    with pytest.raises(InvalidInput, match="upper bound on one round"):
        composition.composed(bound, "basic")


def test_a_split_of_delta_that_a_bound_refuses_does_not_refuse_the_others() -> None:
    survey = sdp.shuffle(sdp.AnyLDP(epsilon0=4.0), n=20_000).compose(10)
    assert "feldman-2020-thm-3.1" in {row.name.partition("+")[0] for row in sdp.compare(survey, delta=1e-8).rows}


@pytest.mark.parametrize("sigma", [0.3, 1.0, 4.0, 50.0])
@pytest.mark.parametrize("delta0", [0.4, 1e-3, 1e-12, 1e-100])
def test_the_local_guarantee_is_one(sigma: float, delta0: float) -> None:
    assert gaussian_delta(sigma, _local(sigma, delta0)) <= delta0
    assert gaussian_delta(sigma, 0.8 * _local(sigma, delta0)) > delta0 or delta0 > 1e-9


@pytest.mark.parametrize("n, sigma", [(10**6, 4.0), (10**5, 4.0), (10**6, 20.0), (2000, 100.0), (10**9, 2.0)])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_equation_12_is_above_theorem_3_8_which_is_above_what_is_certified(n: int, sigma: float, delta: float) -> None:
    stated = find("feldman-2020-prop-5.3-reconstructed")
    setting = sdp.literature.bounds.Setting(sdp.Gaussian(sigma=sigma), n)
    epsilon = equation_12(n, sigma, delta)
    assert epsilon == stated.epsilon(setting, delta=delta)
    epsilon0, delta0 = _local(sigma, delta / (12.0 * n)), delta / (12.0 * n)
    survey = sdp.shuffle(sdp.AnyLDP(epsilon0=epsilon0, delta0=delta0), n=n)
    answer = permuted(noise=sigma, n=n, delta=delta)
    assert survey.epsilon_at_least(delta=delta) <= epsilon
    assert answer.epsilon <= survey.epsilon_at_most(delta=delta) < epsilon


def test_equation_12_says_where_it_does_not_hold() -> None:
    with pytest.raises(DoesNotApply, match="number of clones must be at least"):
        equation_12(20_000, 1.0, 1e-6)
    with pytest.raises(DoesNotApply, match="epsilon must be at most 1, got 1"):
        equation_12(20_000, 1.7, 1e-6)


@pytest.mark.parametrize("n, sigma", [(10**6, 4.0), (20_000, 2.0), (1000, 20.0), (10**5, 1.0)])
@pytest.mark.parametrize("epochs", [1, 5])
def test_equation_13_is_above_the_composed_loss_distributions(n: int, sigma: float, epochs: int) -> None:
    bound = equation_13(n, sigma, 1e-6, epochs)
    assert 1.02 * sampled_epsilon(noise=sigma, n=n, delta=1e-6, epochs=epochs) < bound < math.inf


def test_equations_12_and_13_fall_with_the_root_of_n() -> None:
    small, large = (equation_12(n, 50.0, 1e-6) for n in (10**6, 10**8))
    assert 0.09 < large / small < 0.13
    small, large = (equation_13(n, 50.0, 1e-6) for n in (10**6, 10**8))
    assert large / small == pytest.approx(0.1, rel=0.01)


@pytest.mark.parametrize("formula", [equation_12, equation_13])
@pytest.mark.parametrize(
    "n, sigma, delta, rule",
    [
        (0, 2.0, 1e-6, "n must be at least 1"),
        (10**400, 2.0, 1e-6, "n must be at most"),
        (10**6, math.nan, 1e-6, "sigma must be finite"),
        (10**6, 0.0, 1e-6, "sigma must be positive"),
        (10**6, 2.0, -1.0, "delta must lie in"),
        (10**6, 2.0, math.nan, "delta must be finite"),
        (10**6, 2.0, None, "delta must be a number"),
        (10**6, 2.0, 1e-320, "delta must be at least 1e-250"),
    ],
)
def test_what_is_no_training_is_refused(
    formula: Callable[..., float], n: int, sigma: float, delta: float, rule: str
) -> None:
    with pytest.raises(InvalidInput, match=rule):
        formula(n, sigma, delta)


def test_a_training_has_whole_epochs() -> None:
    with pytest.raises(InvalidInput, match="epochs must be at least 1, got 0"):
        equation_13(10**6, 2.0, 1e-6, 0)
