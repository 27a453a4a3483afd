"""The grid's own exact answers against plain enumeration, by other means."""

import math

import numpy as np
import pytest

from shuffledp.exact import haystack_delta, krr, rounds_delta, strong_delta, weak_delta, worst_delta
from tests.literature.cases import binary, k_ary, k_ary_large, views
from tests.literature.truth import Array, binary_datasets, binomial

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
