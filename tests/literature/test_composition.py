"""Composition theorems that know one round only by (epsilon, delta), against exact optimal
composition and against enumeration.
"""

import math

import pytest

import shuffledp as sdp
from shuffledp import judge
from shuffledp.errors import DoesNotApply, InvalidInput
from shuffledp.literature import composition, feldman, girgis, own_bounds
from shuffledp.literature.bound import Setting
from shuffledp.literature.erlingsson import ERLINGSSON


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
        basic, advanced = (
            bound.epsilon(Setting(sdp.AnyLDP(epsilon0=2.0), 100_000, rounds), delta=1e-6) for bound in bounds
        )
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


@pytest.mark.parametrize("bound", [feldman.LOWER_2RR, girgis.GIRGIS], ids=lambda bound: bound.name)
def test_lower_bounds_and_bounds_on_rounds_are_not_composed(bound: feldman.Published) -> None:
    with pytest.raises(InvalidInput, match="upper bound on one round"):
        composition.composed(bound, "basic")


def test_a_split_of_delta_that_a_bound_refuses_does_not_refuse_the_others() -> None:
    survey = sdp.shuffle(sdp.AnyLDP(epsilon0=4.0), n=20_000).compose(10)
    assert "feldman-2020-thm-3.1" in {row.name.partition("+")[0] for row in sdp.compare(survey, delta=1e-8).rows}
