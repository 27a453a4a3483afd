"""Biswas et al. 2023: the misprint, the scope, and what is left of Theorem 1."""

import math

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

import shuffledp as sdp
from shuffledp.errors import DoesNotApply, InvalidInput
from shuffledp.literature import exact
from shuffledp.literature.bounds.biswas import (
    BOUNDS,
    CORRECTED,
    MOST_USERS,
    ONE_BIN,
    PRINTED,
    delta_corrected,
    delta_printed,
)
from shuffledp.literature.bounds.published import Setting

SMALL = [(2, 3, 1.0), (5, 4, 1.5), (6, 3, 1.0), (8, 3, 2.0), (10, 2, 1.0)]


def one_bin(n: int, k: int, epsilon0: float, n0: int, epsilon: float) -> float:
    """The count of x_0, convolved from its definition."""
    p, q = math.exp(epsilon0) / (math.exp(epsilon0) + k - 1), 1.0 / (math.exp(epsilon0) + k - 1)
    others = np.convolve(binom.pmf(np.arange(n0 + 1), n0, p), binom.pmf(np.arange(n - n0), n - 1 - n0, q))
    P, Q = (np.convolve(others, [1.0 - one, one]) for one in (p, q))
    return exact.hockey_stick(P, Q, epsilon)


def theorem_as_printed(n: int, k: int, epsilon0: float, n0: int, epsilon: float) -> float:
    """Definition 11 and Theorem 1, symbol by symbol, in forty digits."""
    mpmath.mp.dps = 40
    E, C = mpmath.e ** mpmath.mpf(epsilon0), mpmath.binomial
    kappa1, kappa2, m = E * (E + k - 2) / (k - 1), (k - 1) / (E + k - 2), n - n0
    total = mpmath.mpf(0)
    for s in range(n + 1):
        kappa3 = (k - 1) ** mpmath.mpf(n0) * (E + k - 2) ** (m - s) / (E + k - 1) ** n
        r_values = range(max(0, s - m), min(s, n0) + 1)  # elsewhere the binomials are 0
        below = sum(C(n0, r) * C(m, s - r) * kappa1**r for r in r_values)
        above = sum((s - r) * C(n0, r) * C(m - 1, s - 1 - r) * kappa1**r for r in r_values if s > r)
        v = mpmath.log(kappa2 + (E - kappa2) / m * above / below)
        if v > epsilon:
            weight = (
                kappa3
                / m
                * sum(C(n0, r) * C(m, s - r) * kappa1**r * (kappa2 * m + (E - kappa2) * (s - r)) for r in r_values)
            )
            total += (1 - mpmath.e ** (epsilon - v)) * weight
    return float(total)


@pytest.mark.parametrize(
    "epsilon, true, printed",
    [(0.1, 6.1467e-3, 2.49e-15), (0.5, 2.6062e-8, 3.25e-22), (1.0, 2.6981e-18, 2.20e-30), (1.5, 9.6681e-32, 1.57e-40)],
)
def test_erratum_1_the_tables_are_the_values_of_a_misprint(epsilon: float, true: float, printed: float) -> None:
    assert delta_corrected(100, 10, 2.0, 80, epsilon) == pytest.approx(true, rel=1e-4)
    assert delta_printed(100, 10, 2.0, 80, epsilon) == pytest.approx(printed, rel=5e-3)
    if true > 1e-10:  # the convolution in plain floats is exact enough only there
        assert one_bin(100, 10, 2.0, 80, epsilon) == pytest.approx(true, rel=1e-4)


@pytest.mark.parametrize("epsilon, printed", [(0.1, 2.389e-28), (0.2, 1.617e-42), (0.3, 5.223e-57), (0.4, 5.146e-72)])
def test_the_first_table_is_recomputed(epsilon: float, printed: float) -> None:
    assert delta_printed(100, 10, 0.5, 80, epsilon) == pytest.approx(printed, rel=1e-3)


@pytest.mark.parametrize("n, k, epsilon0, n0", [(7, 3, 1.0, 0), (12, 2, 2.0, 11), (20, 5, 0.5, 16), (30, 10, 3.0, 9)])
def test_both_formulas_agree_with_their_definitions(n: int, k: int, epsilon0: float, n0: int) -> None:
    for epsilon in (0.05, 0.3, 0.8 * epsilon0):
        assert delta_corrected(n, k, epsilon0, n0, epsilon) == pytest.approx(
            one_bin(n, k, epsilon0, n0, epsilon), rel=1e-8, abs=1e-15
        )
        assert delta_printed(n, k, epsilon0, n0, epsilon) == pytest.approx(
            theorem_as_printed(n, k, epsilon0, n0, epsilon), rel=1e-10
        )


def test_erratum_2_one_bin_is_not_what_is_released() -> None:
    truth = exact.worst_delta(exact.krr(3, 1.0), n=6, epsilons=[0.5])[0]
    everything = max(delta_corrected(6, 3, 1.0, n0, 0.5) for n0 in range(6))
    assert truth == pytest.approx(0.038770, rel=1e-4)
    assert everything == pytest.approx(0.020110, rel=1e-4)


@pytest.mark.parametrize("n, k, epsilon0", SMALL)
def test_one_bin_is_never_above_the_worst_case(n: int, k: int, epsilon0: float) -> None:
    epsilons = np.linspace(0.0, 1.1 * epsilon0, 23)
    worst = exact.worst_delta(exact.krr(k, epsilon0), n, epsilons)
    setting = Setting(sdp.KRR(k=k, epsilon0=epsilon0), n)
    found = np.array([ONE_BIN.delta(setting, epsilon=epsilon) for epsilon in epsilons])
    assert (found <= worst).all()
    assert (found[epsilons < epsilon0] > 0.0).all()


def test_as_upper_bounds_both_versions_are_refuted() -> None:
    setting = Setting(sdp.KRR(k=10, epsilon0=2.0), 100)
    lower = sdp.shuffle(sdp.KRR(k=10, epsilon0=2.0), n=100).delta(epsilon=0.5).lower
    assert PRINTED.delta(setting, epsilon=0.5) < CORRECTED.delta(setting, epsilon=0.5) < lower
    assert [bound.status for bound in BOUNDS] == ["invalid", "invalid", "proven"]
    assert ONE_BIN.side == "lower"


def test_as_a_lower_bound_it_stays_below_the_certified_interval() -> None:
    setting = Setting(sdp.KRR(k=10, epsilon0=2.0), 500)
    assert (
        0.1
        < ONE_BIN.epsilon(setting, delta=1e-6)
        < sdp.shuffle(sdp.KRR(k=10, epsilon0=2.0), n=500).epsilon(delta=1e-6).lower
    )


@pytest.mark.parametrize("n", [1, 2, 300])
@pytest.mark.parametrize("k", [2, 3, 10**6])
@pytest.mark.parametrize("epsilon0", [1e-12, 1e-3, 1.0, 50.0])
def test_extremes_give_probabilities(n: int, k: int, epsilon0: float) -> None:
    setting = Setting(sdp.KRR(k=k, epsilon0=epsilon0), n)
    for bound in BOUNDS:
        for epsilon in (0.0, 1e-13, 0.5, 49.9, 700.0):
            assert 0.0 <= bound.delta(setting, epsilon=epsilon) <= 1.0


def test_outside_its_conditions_it_says_nothing() -> None:
    with pytest.raises(DoesNotApply, match=f"n must be at most {MOST_USERS}"):
        ONE_BIN.delta(Setting(sdp.KRR(k=3, epsilon0=1.0), 10**15), epsilon=0.1)
    with pytest.raises(DoesNotApply, match="k-ary randomized response"):
        PRINTED.delta(Setting(sdp.Laplace(epsilon0=1.0), 100), epsilon=0.1)
    with pytest.raises(DoesNotApply, match="n0 must be below n"):  # the paper's Table 3 says n0 = 80 for n = 50
        delta_printed(50, 10, 2.0, 80, 0.1)
    with pytest.raises(InvalidInput, match="n0 must be at least 0"):
        delta_corrected(50, 10, 2.0, -1, 0.1)
