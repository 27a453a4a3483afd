"""The grid's own exact answers against plain enumeration, by other means."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from shuffledp.judge import haystack_delta, krr, rounds_delta, strong_delta, weak_delta, worst_delta
from tests.literature.adaptive_walk import BASES, SHARES, adaptive_bound, step_of, topmost
from tests.literature.cases import binary, binary_far, k_ary, k_ary_large, views
from tests.literature.truth import Array, Far, binary_datasets, binomial
from tests.oracle.first_clone import adaptive_delta, mean_of_positive_part, static_kinds

EPSILONS = np.array([0.0, 0.1, 0.5, 0.8, 0.97])


def assert_same(case_low: Array, case_high: Array, exact: Array) -> None:
    assert np.all(case_low <= exact * (1 + 1e-13))
    assert np.all(exact <= case_high * (1 + 1e-13))
    assert case_low == pytest.approx(exact, rel=1e-9, abs=1e-12)
    assert case_high == pytest.approx(exact, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("k", "n", "rounds"), [(2, 7, 1), (3, 6, 1), (4, 5, 1), (2, 4, 3), (3, 3, 2)])
def test_tails_give_the_worst_delta_over_all_datasets(k: int, n: int, rounds: int) -> None:
    epsilons = rounds * EPSILONS
    exact = rounds_delta([krr(k, 1.0)] * rounds, n, epsilons)
    for case in [k_ary(k, n, 1.0, rounds=rounds)] + ([binary(n, 1.0, rounds=rounds)] if k == 2 else []):
        assert_same(case.truth.low(epsilons), case.truth.high(epsilons), exact)


def test_tails_give_the_views_of_both_adversaries() -> None:
    rows = krr(3, 2.0)
    for case, exact in zip(views(3, 6, 2.0), (weak_delta, strong_delta), strict=True):
        wanted = np.array([exact(rows, 6, (0, 1), eps) for eps in EPSILONS])
        assert_same(case.truth.low(EPSILONS), case.truth.high(EPSILONS), wanted)


def test_tails_know_infinite_losses() -> None:
    gamma, far = 3.0 / (math.exp(2.0) + 2.0), np.array([math.inf])
    weak, strong = (case.truth for case in views(3, 6, 2.0))
    missed = (1.0 - gamma) * (1.0 - gamma / 3.0) ** 5  # data, where none of five others' noise hides it
    assert_same(strong.low(far), strong.high(far), np.array([missed]))
    assert weak.low(far) == [0.0]


def test_merged_outputs_give_the_divergence_of_the_dataset_for_three_values() -> None:
    rows = krr(3, 1.5)
    exact = [max(haystack_delta(rows[x], rows[0], rows[1], 9, eps) for x in (0, 1, 2)) for eps in EPSILONS]
    assert k_ary_large(3, 9, 1.5).truth.low(EPSILONS) == pytest.approx(exact, rel=1e-9, abs=1e-12)


def test_merged_outputs_are_at_most_the_truth_for_more_values() -> None:
    exact = worst_delta(krr(5, 1.5), 5, EPSILONS)
    found = k_ary_large(5, 5, 1.5).truth.low(EPSILONS)
    assert np.all(found <= exact * (1 + 1e-12))
    assert np.all(found >= 0.5 * exact)


def test_tails_keep_their_digits_far_out() -> None:
    law = binomial(2000, 0.3)
    log = math.lgamma(2001) - math.lgamma(1201) - math.lgamma(801) + 1200 * math.log(0.3) + 800 * math.log(0.7)
    assert math.log(law[1200]) == pytest.approx(log, abs=1e-9)
    assert sum(law) == pytest.approx(1.0, abs=1e-12)


def test_half_of_the_datasets_in_both_orders_are_all_of_them() -> None:
    some = [pair for j in range(6) for pair in binary_datasets(6, 1.0, ones=[j])]
    worst = np.max([[np.maximum(P - math.exp(eps) * Q, 0.0).sum() for eps in EPSILONS] for P, Q in some], axis=0)
    assert binary(6, 1.0).truth.low(EPSILONS) == pytest.approx(worst, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize(("n", "odds"), [(2, Fraction(3)), (30, Fraction(3, 2)), (60, Fraction(10))])
def test_far_tails_are_rational_arithmetic_rounded_down(n: int, odds: Fraction, rounds: int) -> None:
    lie = 1 / (odds + 1)
    others = [math.comb(n - 1, i) * lie**i * (1 - lie) ** (n - 1 - i) for i in range(n)]
    zero, one = [*others, Fraction(0)], [Fraction(0), *others]
    P, Q = ([a * x + (1 - a) * y for x, y in zip(zero, one, strict=True)] for a in (1 - lie, lie))
    if rounds == 2:
        P, Q = ([x * y for x, y in product(law, law)] for law in (P, Q))
    shares = [Fraction(1, 20), Fraction(1, 2), Fraction(19, 20)]
    thresholds = [1 + share * (odds**rounds - 1) for share in shares]  # e^epsilon
    exact = [
        max(sum(max(p - x * q, 0) for p, q in zip(*pair, strict=True)) for pair in ((P, Q), (Q, P))) for x in thresholds
    ]
    logs = np.array([math.log(value.numerator) - math.log(value.denominator) for value in exact])
    found = Far(n, math.log(odds), rounds).log_low(np.log(np.array(thresholds, dtype=np.float64)))
    assert np.all(found <= logs)
    assert found == pytest.approx(logs, abs=1e-3)


@pytest.mark.parametrize(("n", "epsilon0"), [(50, 1.0), (3000, 0.3)])
def test_far_tails_continue_those_of_the_same_dataset(n: int, epsilon0: float) -> None:
    epsilons = np.linspace(0.0, epsilon0, 300)
    near, far = (case.truth.log_low(epsilons) for case in (binary(n, epsilon0, ones=[0]), binary_far(n, epsilon0)))
    seen = near > math.log(1e-250)
    assert seen.sum() > 30
    assert far[seen] == pytest.approx(near[seen], abs=1e-3)
    assert np.all(np.diff(far) <= 1e-3)
    assert np.sum(np.isfinite(far)) >= 298


def test_far_tails_keep_their_digits_for_many_users() -> None:
    """Close to the largest loss one cell is left, that nobody lies: its probability is a
    product.
    """
    n, epsilon0, gap = 3000, 0.5, 1e-5
    log = -n * math.log1p(math.exp(-epsilon0)) + math.log(-math.expm1(-gap))
    assert log < -1400.0
    assert Far(n, epsilon0, 1).log_low(np.array([epsilon0 - gap])) == pytest.approx([log], abs=2e-3)


def best_walk(steps: int, s: float, epsilon0: float, eps: float, u: float) -> float:
    """The value of a walk without a clone's step."""
    if steps == 0:
        return max(s, 0.0)
    _, kinds = static_kinds(epsilon0, eps, u)
    return max(
        sum(
            chance * best_walk(steps - 1, s + value, epsilon0, eps, u)
            for value, chance in zip(values.tolist(), chances.tolist(), strict=True)
        )
        for values, chances in kinds
    )


@pytest.mark.parametrize("epsilon0", [0.4, math.log(2.0), 2.0])
def test_one_law_and_a_laplace_variable_are_worth_as_much_as_any_choice(epsilon0: float) -> None:
    eps, u, steps = 0.3 * epsilon0, 0.1 * math.exp(-epsilon0), 2
    _, kinds = static_kinds(epsilon0, eps, u)
    best, allowed = best_walk(steps, 0.0, epsilon0, eps, u), 0
    for base, share in product(BASES, (*SHARES, 0.5, 1.0)):
        step = step_of(kinds, topmost(epsilon0, eps, u), base, share)
        if step.rate > 0.0:
            knots = np.arange(-400, 401) * 0.05 / step.rate
            weights = np.exp(-step.rate * np.abs(knots))
            laplace = mean_of_positive_part([(knots, weights / weights.sum()), *[step.law] * steps])
            assert best <= laplace * (1.0 + 1e-3)
            allowed += 1
    assert allowed >= 8


def test_the_bound_for_adaptive_randomizers_is_far_below_the_older_one() -> None:
    assert adaptive_bound(1.0, 10**4, 0.03806) == pytest.approx(1e-6, rel=0.01)  # the older one: 0.04321


def test_few_users_are_bounded_by_the_walk_itself() -> None:
    assert adaptive_bound(1.0, 3, 0.2) >= adaptive_delta(1.0, 3, 0.2)
