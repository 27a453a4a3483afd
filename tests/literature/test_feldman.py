"""Feldman et al. 2020: closed forms, the numerical algorithm and the lower bound, against
enumeration, certified ends and each other.
"""

import contextlib
import math
from itertools import product

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp import judge
from shuffledp.accounting.haystack import Haystack
from shuffledp.errors import DoesNotApply
from shuffledp.literature import feldman, other_papers, own_bounds
from shuffledp.literature.bound import Published, Setting

EXTREMES = list(product((1, 1000, 10**15), (1e-12, 0.5, 4.0, 50.0), (1e-250, 1e-9, 0.999)))


def clones_curve(n: int, epsilon0: float, epsilon: float) -> tuple[float, float]:
    lower, upper = Haystack.of(sdp.AnyLDP(epsilon0=epsilon0).clones(), n).bounds(np.array([epsilon]), 1e-6)
    return float(lower[0]), float(upper[0])


def eq_1(n: int, epsilon0: float, delta: float) -> float:
    """Eq (1) without its condition, written out."""
    e = math.exp(epsilon0)
    return math.log(1.0 + (e - 1.0) / (e + 1.0) * (8.0 * math.sqrt(e * math.log(4.0 / delta) / n) + 8.0 * e / n))


@pytest.mark.parametrize("n", [100, 1000, 100_000])
@pytest.mark.parametrize("delta", [0.5, 1e-3, 1e-6, 1e-10])
def test_the_closed_form_bounds_the_clones_pair_wherever_its_condition_holds(n: int, delta: float) -> None:
    largest = math.log(n / (16.0 * math.log(2.0 / delta)))
    for epsilon0 in np.linspace(0.05, 1.0, 5) * largest if largest > 0.0 else ():
        epsilon = feldman.closed_form(n, float(epsilon0), delta)
        assert epsilon == pytest.approx(eq_1(n, float(epsilon0), delta), rel=1e-12)
        assert epsilon >= epsilon0 or clones_curve(n, float(epsilon0), epsilon)[1] <= 0.01 * delta


def test_two_or_four_inside_the_logarithm_of_the_condition_both_hold() -> None:
    for n, delta in ((1000, 1e-3), (10_000, 0.3), (100_000, 1e-10)):
        for inside in (2.0, 4.0):
            epsilon0 = math.log(n / (16.0 * math.log(inside / delta)))
            assert clones_curve(n, epsilon0, eq_1(n, epsilon0, delta))[1] <= delta
    with pytest.raises(DoesNotApply, match="number of clones must be at least"):
        feldman.closed_form(100_000, math.log(100_000 / (15.9 * math.log(2.0 / 1e-10))), 1e-10)


@pytest.mark.parametrize(
    ("n", "epsilon0", "k"),
    [(10_000, 1.0, 2), (10_000, 3.0, 3), (10_000, 3.0, 16), (1_000_000, 6.0, 100), (10_000, 0.1, 5)],
)
@pytest.mark.parametrize("delta", [1e-2, 1e-6])
def test_the_bound_for_krr_exceeds_the_certified_lower_end_and_falls_with_k(
    n: int, epsilon0: float, k: int, delta: float
) -> None:
    randomizer = sdp.KRR(k=k, epsilon0=epsilon0)
    value = feldman.COR_4_2.epsilon(Setting(randomizer, n), delta=delta)
    certain = sdp.shuffle(randomizer, n=n)
    assert value >= certain.epsilon(delta=delta).lower
    assert certain.delta(epsilon=min(value, epsilon0)).upper <= delta
    assert value >= feldman.COR_4_2.epsilon(Setting(sdp.KRR(k=k + 1, epsilon0=epsilon0), n), delta=delta)


def test_the_bound_for_krr_is_the_formula_of_the_corollary() -> None:
    n, k, epsilon0, delta = 10_000, 16, 3.0, 1e-6
    e = math.exp(epsilon0)
    inner = 4.0 * math.sqrt(2.0 * (k + 1) * math.log(4.0 / delta) / ((e + k - 1) * k * n)) + 4.0 * (k + 1) / (k * n)
    value = feldman.COR_4_2.epsilon(Setting(sdp.KRR(k=k, epsilon0=epsilon0), n), delta=delta)
    assert value == pytest.approx(math.log(1.0 + (e - 1.0) * inner), rel=1e-7)
    assert value >= math.log(1.0 + (e - 1.0) * inner)


@pytest.mark.parametrize(("n", "k", "epsilon0"), [(6, 3, 1.0), (7, 3, 2.0), (5, 4, 1.5), (6, 3, 0.3)])
def test_the_reduction_behind_the_krr_bound_dominates_enumeration(n: int, k: int, epsilon0: float) -> None:
    """Thm 4.1 with p = k/((k+1)(E+k-1)) for each of the three symbols; the closed form needs
    hundreds of users.
    """
    e = math.exp(epsilon0)
    p, q = k / ((k + 1.0) * (e + k - 1.0)), (e - 1.0) / (e + k - 1.0)
    assert p * (1.0 + 1.0 / k) == pytest.approx(1.0 / (e + k - 1.0))
    grid = np.linspace(0.0, 0.95, 6) * epsilon0
    for epsilon, true in zip(grid, judge.worst_delta(judge.krr(k, epsilon0), n, grid), strict=True):
        assert judge.haystack_delta([p, p, p], [q, 0.0, 1.0 - q], [0.0, q, 1.0 - q], n, float(epsilon)) >= true


@pytest.mark.parametrize("epsilon0", [0.5, 2.0])
@pytest.mark.parametrize("delta0", [1e-30, 1e-12, 1e-10])
def test_approximate_privacy_costs_what_theorem_3_8_says(epsilon0: float, delta0: float) -> None:
    n, delta = 10_000, 1e-5
    setting = Setting(sdp.AnyLDP(epsilon0=epsilon0, delta0=delta0), n)
    value = feldman.THM_3_8.epsilon(setting, delta=delta)
    assert value >= own_bounds.LEAKY_CLONES.epsilon(setting, delta=delta)
    assert value >= feldman.closed_form(n, epsilon0, delta) * (1.0 - 1e-12)
    assert feldman.THM_3_8.delta(setting, epsilon=value) == pytest.approx(delta, rel=1e-6)
    if delta0 == 1e-30:
        assert value == pytest.approx(feldman.closed_form(n, epsilon0, delta), rel=1e-9)


def test_theorem_3_8_refuses_pure_randomizers_and_a_delta_that_cannot_pay() -> None:
    with pytest.raises(DoesNotApply, match="delta0 > 0"):
        feldman.THM_3_8.epsilon(Setting(sdp.AnyLDP(epsilon0=1.0), 10_000), delta=1e-6)
    with pytest.raises(DoesNotApply, match="n delta0 must stay below delta, got n delta0 = 1e-05"):
        feldman.THM_3_8.epsilon(Setting(sdp.AnyLDP(epsilon0=1.0, delta0=1e-9), 10_000), delta=1e-6)


def test_theorem_3_8_covers_gaussian_noise_at_its_best_local_pair() -> None:
    setting = Setting(sdp.Gaussian(sigma=5.0), 1_000_000)
    value = feldman.THM_3_8.epsilon(setting, delta=1e-4)
    assert own_bounds.BLANKET.epsilon(setting, delta=1e-4) <= value < 0.2
    assert feldman.THM_3_8.delta(setting, epsilon=value) <= 1e-4 * (1.0 + 1e-6)


@pytest.mark.parametrize(
    ("n", "epsilon0", "delta"),
    [(200, 1.0, 1e-4), (1000, 5.0, 1e-6), (10_000, 0.1, 1e-6), (100_000, 4.0, 1e-6), (1_000_000, 1.0, 1e-9)],
)
def test_the_numerical_algorithm_encloses_the_clones_pair_to_a_few_per_cent(
    n: int, epsilon0: float, delta: float
) -> None:
    setting = Setting(sdp.AnyLDP(epsilon0=epsilon0), n)
    value, exactly = (bound.epsilon(setting, delta=delta) for bound in (feldman.NUMERICAL, own_bounds.CLONES))
    assert exactly * (1.0 - 1e-9) <= value <= exactly * (1.02 if n * math.exp(-epsilon0) >= 1000.0 else 1.08)
    assert value <= epsilon0
    for epsilon in (0.3 * exactly, exactly):
        least = own_bounds.CLONES.delta(setting, epsilon=epsilon) * (1.0 - 1e-6)
        assert feldman.NUMERICAL.delta(setting, epsilon=epsilon) >= least
    assert feldman.NUMERICAL.delta(setting, epsilon=epsilon0) == 0.0


def test_the_numerical_algorithm_refuses_where_rounding_or_patience_ends() -> None:
    refused = (1000, 1.0, 1e-13, "delta"), (10**13, 1.0, 1e-6, "n must"), (10**9, 20.0, 1e-6, "600 s")
    for n, epsilon0, delta, match in refused:
        with pytest.raises(DoesNotApply, match=match):
            feldman.NUMERICAL.epsilon(Setting(sdp.AnyLDP(epsilon0=epsilon0), n), delta=delta)


@pytest.mark.parametrize("epsilon0", [0.5, 2.0])
def test_the_lower_bound_is_the_leakage_of_one_dataset(epsilon0: float) -> None:
    n, grid = 7, np.array([0.0, 0.3, 0.7]) * epsilon0
    rows = judge.krr(2, epsilon0)
    laws = [judge.shuffled_law(rows, [x] + [0] * (n - 1)) for x in (0, 1)]
    setting = Setting(sdp.RR(epsilon0=epsilon0), n)
    for epsilon in map(float, grid):
        true = max(judge.hockey_stick(laws[0], laws[1], epsilon), judge.hockey_stick(laws[1], laws[0], epsilon))
        assert feldman.LOWER_2RR.delta(setting, epsilon=epsilon) == pytest.approx(true, rel=1e-9)
        assert true <= judge.worst_delta(rows, n, [epsilon])[0]
    assert feldman.LOWER_2RR.epsilon(setting, delta=0.01) <= judge.worst_epsilon(rows, n, 0.01)


def test_the_lower_bound_is_about_binary_response_only() -> None:
    with pytest.raises(DoesNotApply, match="binary"):
        feldman.LOWER_2RR.epsilon(Setting(sdp.KRR(k=3, epsilon0=1.0), 100), delta=1e-3)


@pytest.mark.parametrize("bound", feldman.BOUNDS, ids=lambda bound: bound.name)
def test_extreme_settings_give_a_number_or_a_reason(bound: Published) -> None:
    for n, epsilon0, delta in EXTREMES:
        leaky = sdp.AnyLDP(epsilon0=epsilon0, delta0=1e-12)
        for randomizer in (sdp.AnyLDP(epsilon0=epsilon0), leaky, sdp.RR(epsilon0=epsilon0)):
            with contextlib.suppress(DoesNotApply):
                assert 0.0 <= bound.epsilon(Setting(randomizer, n), delta=delta) < math.inf


def test_variation_ratio_is_one_dataset_and_no_upper_bound() -> None:
    """Erratum 8: its pair is that of all others holding a third value, so it lies below the
    truth.
    """
    setting, rows = Setting(sdp.KRR(k=3, epsilon0=1.0), 6), judge.krr(3, 1.0)
    bound = other_papers.VARIATION_RATIO_KRR
    laws = [judge.shuffled_law(rows, [x, 2, 2, 2, 2, 2]) for x in (0, 1)]
    for epsilon in (0.1, 0.5, 0.9):
        assert bound.delta(setting, epsilon=epsilon) == pytest.approx(judge.hockey_stick(*laws, epsilon), rel=1e-6)
    true = judge.worst_delta(rows, 6, [0.9])[0]
    assert bound.status == "invalid"
    assert bound.delta(setting, epsilon=0.9) == pytest.approx(2.10e-4, abs=5e-7)
    assert true == pytest.approx(3.480e-3, abs=5e-7)
    assert bound.epsilon(setting, delta=1e-3) < judge.worst_epsilon(rows, 6, 1e-3)


def test_variation_ratio_of_any_randomizer_is_our_theorem() -> None:
    pair = other_papers.variation_ratio_pair(2, 1.5)
    ours = sdp.AnyLDP(epsilon0=1.5).blankets("upper")[0]
    assert pair.needle0.tolist() == pytest.approx([*ours.needle0, 0.0])
    assert pair.hay[:2].tolist() == pytest.approx(ours.hay.tolist())
    with pytest.raises(DoesNotApply, match="at least 3"):
        other_papers.VARIATION_RATIO_KRR.epsilon(Setting(sdp.RR(epsilon0=1.5), 100), delta=1e-3)


def test_theorem_3_8_has_the_constants_that_tsoy_et_al_restate() -> None:
    """AISTATS 2024, Theorem A.2: (eps, delta + (e^eps + 1)(1 + e^-eps0 / 2) n delta0)."""
    n, epsilon0, delta0, delta = 100_000, 2.0, 1e-12, 1e-7
    epsilon = eq_1(n, epsilon0, delta)
    added = (math.exp(epsilon) + 1.0) * (1.0 + math.exp(-epsilon0) / 2.0) * n * delta0
    assert feldman.approximate_delta(n, epsilon0, delta0, epsilon) == pytest.approx(delta + added, rel=1e-9)
    assert "the constants are the published ones" in feldman.THM_3_8.remark
