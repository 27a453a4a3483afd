"""Random allocation against enumeration, against Monte Carlo, and against published numbers."""

import itertools
import math

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp._types import Floats
from shuffledp.randomizers.gaussian_delta import gaussian_delta
from shuffledp.training import RandomAllocation, calibrate_training

PAIRS = {
    "binary": ([0.7, 0.3], [0.3, 0.7]),
    "skewed": ([0.25, 0.75], [0.1, 0.9]),
    "ternary": ([0.6, 0.3, 0.1], [0.2, 0.3, 0.5]),
    "impossible": ([0.5, 0.5, 0.0], [0.0, 0.6, 0.4]),
}
EPSILONS = (0.0, 0.05, 0.3, 0.8, 1.6)
ROUNDING = 1e-12


def laws(pair: tuple[list[float], list[float]], steps: int, participations: int, epochs: int) -> tuple[Floats, Floats]:
    """The output of every step, enumerated: with the record, and without it."""
    present, absent = np.array(pair)
    outputs = np.array(list(itertools.product(range(present.size), repeat=steps)))
    without = absent[outputs].prod(axis=1)
    subsets = list(itertools.combinations(range(steps), participations))
    there = np.zeros_like(without)
    for subset in subsets:
        inside = np.isin(np.arange(steps), subset)
        there += np.where(inside, present[outputs], absent[outputs]).prod(axis=1) / len(subsets)
    p, q = np.ones(1), np.ones(1)
    for _ in range(epochs):
        p, q = np.multiply.outer(p, there).ravel(), np.multiply.outer(q, without).ravel()
    return p, q


def exactly(p: Floats, q: Floats, epsilon: float) -> float:
    """The larger delta of both directions."""
    return max(float(np.maximum(a - np.exp(epsilon) * b, 0.0).sum()) for a, b in ((p, q), (q, p)))


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize(
    ("steps", "participations", "epochs"),
    [
        (1, 1, 1),
        (2, 1, 1),
        (5, 1, 1),
        (6, 1, 1),
        (3, 1, 2),
        (4, 1, 2),
        (4, 2, 1),
        (5, 2, 1),
        (5, 3, 1),
        (4, 4, 1),
        (3, 2, 2),
    ],
)
def test_both_ends_hold_what_enumeration_finds(
    pair: tuple[list[float], list[float]], steps: int, participations: int, epochs: int
) -> None:
    training = RandomAllocation(pair=pair, steps=steps, participations=participations, epochs=epochs)
    p, q = laws(pair, steps, participations, epochs)
    for epsilon in EPSILONS:
        exact, bound = exactly(p, q, epsilon), training.delta(epsilon=epsilon)
        assert bound.lower <= exact * (1.0 + ROUNDING) + 1e-300
        assert bound.upper >= exact * (1.0 - ROUNDING)
        if participations == epochs == 1:
            assert bound.upper <= exact * (1.0 + 1e-6) + 1e-15


@pytest.mark.parametrize(
    ("sigma", "steps", "delta", "low", "high"),
    [(1.0, 1000, 1e-6, 0.17167, 0.17181), (1.0, 100_000, 1e-8, 0.01767, 0.01769)],
)
def test_the_two_ends_lie_inside_the_first_prototypes(
    sigma: float, steps: int, delta: float, low: float, high: float
) -> None:
    bound = RandomAllocation(sigma=sigma, steps=steps).epsilon(delta=delta)
    assert low <= bound.lower <= bound.upper <= high


def test_a_case_that_others_estimated_by_monte_carlo() -> None:
    """Chua et al.: a mean of 1.59e-6, and less than 2.65e-6 with 99 % confidence."""
    bound = RandomAllocation(sigma=0.35, steps=1000).delta(epsilon=10.0)
    assert 1.3287e-6 <= bound.lower <= bound.upper <= 1.3368e-6


def test_a_tutorial_of_several_participations() -> None:
    """The tutorial of PLD_accounting 2.0: five of a thousand steps."""
    bound = RandomAllocation(sigma=1.0, steps=1000, participations=5).epsilon(delta=1e-8)
    assert 1.30 <= bound.lower <= bound.upper <= 1.3438


def test_an_accountant_adds_it_to_shuffled_reports_and_says_both_adjacencies() -> None:
    training = RandomAllocation(pair=[[0.6, 0.4], [0.4, 0.6]], steps=10, epochs=2)
    survey = sdp.shuffle(sdp.KRR(k=4, epsilon0=1.0), n=1000)
    total = sdp.Accountant().add(training).add(survey).total
    alone = training.epsilon(delta=1e-6)
    both = total.epsilon(delta=1e-6)
    assert alone.upper < both.upper < alone.upper + survey.epsilon(delta=1e-9).upper + 0.05
    assert [words.partition(":")[0] for words in both.assumptions if "adjacency" in words] == [
        "add-or-remove adjacency",
        "replace-one adjacency",
    ]
    assert repr(total) == (
        "Accountant().add(RandomAllocation(pair=((0.6, 0.4), (0.4, 0.6)), steps=10), rounds=2)"
        ".add(shuffle(KRR(k=4, epsilon0=1.0), n=1000)).total"
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"steps": 10}, "exactly one of sigma, scale and pair must be given, got none"),
        ({"sigma": 1.0, "scale": 1.0, "steps": 10}, "got sigma and scale"),
        ({"sigma": 1.0, "steps": 0}, "steps must be at least 1"),
        ({"sigma": 1.0, "steps": 10**13}, "steps must be at most 1000000000000"),
        ({"sigma": 1.0, "steps": 3, "participations": 4}, "participations must be at most 3"),
        ({"sigma": 1.0, "steps": 3, "epochs": 0}, "epochs must be at least 1"),
        ({"sigma": 1.0, "steps": 3, "epochs": 10**8}, "epochs must be at most"),
    ],
)
def test_bad_input_is_refused_with_a_remedy(given: dict[str, float], words: str) -> None:
    with pytest.raises(sdp.InvalidInput, match=words):
        RandomAllocation(**given)  # type: ignore[arg-type]


def test_a_pair_that_says_nothing_leaks_nothing() -> None:
    training = RandomAllocation(pair=[[0.5, 0.5], [0.5, 0.5]], steps=10, epochs=3)
    assert tuple(training.epsilon(delta=1e-9)) == (0.0, 0.0)


@pytest.mark.parametrize("unknown", ["sigma", "steps", "epochs"])
def test_calibration_meets_its_target_and_its_neighbor_does_not(unknown: str) -> None:
    known = {"sigma": 2.0, "steps": 50, "epochs": 1}
    del known[unknown]
    plan = calibrate_training(epsilon=0.8, delta=1e-5, **known)
    assert plan.unknown == unknown
    assert plan.epsilon <= 0.8
    worse = {"sigma": plan.value * 0.999, "steps": plan.value - 1, "epochs": plan.value + 1}[unknown]
    beyond = RandomAllocation(**{**known, unknown: worse})  # type: ignore[arg-type]
    assert beyond.epsilon_at_most(delta=1e-5) > 0.8 * (1.0 - 1e-3)


def test_explain_names_the_theorem_and_the_adjacency() -> None:
    words = str(RandomAllocation(sigma=2.0, steps=50).explain(delta=1e-5))
    assert "needle in a haystack" in words
    assert "add-or-remove adjacency" in words


@pytest.mark.parametrize(("sigma", "steps", "delta"), [(0.5, 100, 1e-3), (20.0, 10**6, 1e-12), (1e3, 10**12, 1e-30)])
def test_far_beyond_what_anybody_asks_the_ends_are_in_order(sigma: float, steps: int, delta: float) -> None:
    training = RandomAllocation(sigma=sigma, steps=steps)
    bound = training.epsilon(delta=delta)
    assert 0.0 < bound.lower <= bound.upper
    assert RandomAllocation(sigma=1.5 * sigma, steps=steps).delta_at_least(epsilon=bound.upper) <= delta
    assert training.delta_at_least(epsilon=bound.upper) <= delta * (1.0 + 1e-6)


@pytest.mark.parametrize(("participations", "epochs"), [(281, 1), (1, 281)])
def test_deltas_below_all_composed_losses_have_an_epsilon(participations: int, epochs: int) -> None:
    training = RandomAllocation(sigma=37.0, steps=501, participations=participations, epochs=epochs)
    upper = training.epsilon_at_most(delta=1e-92)
    assert upper < 10.0
    assert training.delta_at_most(epsilon=upper) <= 1e-92
    assert gaussian_delta(37.0 / 281**0.5, upper) <= 1e-92


def test_the_test_of_several_participations_certifies_what_its_own_curve_does() -> None:
    training = RandomAllocation(pair=PAIRS["ternary"], steps=5, participations=2)
    p, q = laws(PAIRS["ternary"], 5, 2, 1)
    for delta in (0.3, 1e-2, 1e-6):
        lower = training.epsilon_at_least(delta=delta)
        assert lower > 0.75 * training.epsilon_at_most(delta=delta)
        assert exactly(p, q, lower) >= delta


@pytest.mark.parametrize("order", [2.0, 64.0])
def test_the_divergence_of_several_participations_holds_what_enumeration_finds(
    order: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At fewer points than usual: both ends hold at any."""
    monkeypatch.setattr("shuffledp.accounting.renyi.FINE", 200)
    pair = PAIRS["skewed"]
    p, q = laws(pair, 4, 2, 1)
    exact = max(float(np.log((a**order * b ** (1.0 - order)).sum())) for a, b in ((p, q), (q, p))) / (order - 1.0)
    bound = RandomAllocation(pair=pair, steps=4, participations=2).rdp(order=order)
    assert 0.5 * exact < bound.lower <= exact <= bound.upper


@pytest.mark.parametrize(("sigma", "delta"), [(0.1, 1e-200), (0.2, 1e-240), (0.1, 1e-170)])
def test_masses_too_small_for_a_float_do_not_tell_the_laws_apart(sigma: float, delta: float) -> None:
    # One step is the Gaussian mechanism: without the record there are outputs whose mass with it underflows.
    bound = RandomAllocation(sigma=sigma, steps=1).epsilon(delta=delta)
    assert gaussian_delta(sigma, bound.lower) > delta >= gaussian_delta(sigma, bound.upper)


def test_no_delta_of_gaussian_noise_is_zero() -> None:
    assert RandomAllocation(sigma=1.0, steps=10).delta(epsilon=60.0).upper > 0.0


@pytest.mark.filterwarnings("error")
def test_thresholds_that_nothing_reaches_certify_nothing() -> None:
    training = RandomAllocation(pair=([0.0, 1.0], [0.03, 0.97]), steps=2, participations=2, epochs=2)
    assert training.epsilon(delta=0.6).lower == 0.0


def test_an_output_that_only_the_record_causes_tells_by_itself() -> None:
    """It was scored 690, which asked for the longest transforms, 13 s of them, and hid itself."""
    pair = [[0.5, 0.4, 0.1], [0.5, 0.5, 0.0]]
    training = RandomAllocation(pair=pair, steps=10, participations=2, epochs=10)
    assert training.epsilon_at_least(delta=1e-6) == math.inf
    rare = RandomAllocation(pair=[[0.5, 0.5 - 1e-9, 1e-9], [0.4, 0.6, 0.0]], steps=10, participations=2)
    lower, upper = rare.epsilon(delta=1e-6)
    assert 0.0 < lower <= upper < math.inf
