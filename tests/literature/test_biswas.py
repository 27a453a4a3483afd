"""Biswas et al. 2023: the misprint, the scope, and what is left of Theorem 1."""

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

import shuffledp as sdp
from shuffledp import judge
from shuffledp.errors import DoesNotApply, InvalidInput
from shuffledp.literature.biswas import (
    BOUNDS,
    CORRECTED,
    MOST_USERS,
    ONE_BIN,
    PRINTED,
    ROUNDING,
    delta_corrected,
    delta_of_dataset,
    delta_printed,
)
from shuffledp.literature.bound import Setting

SMALL = [(2, 3, 1.0), (5, 4, 1.5), (6, 3, 1.0), (8, 3, 2.0), (10, 2, 1.0)]


def one_bin(n: int, k: int, epsilon0: float, n0: int, epsilon: float) -> float:
    """The count of x_0, convolved from its definition."""
    p, q = math.exp(epsilon0) / (math.exp(epsilon0) + k - 1), 1.0 / (math.exp(epsilon0) + k - 1)
    others = np.convolve(binom.pmf(np.arange(n0 + 1), n0, p), binom.pmf(np.arange(n - n0), n - 1 - n0, q))
    P, Q = (np.convolve(others, [1.0 - one, one]) for one in (p, q))
    return judge.hockey_stick(P, Q, epsilon)


def in_balls(n: int, k: int, epsilon0: float, n0: int, epsilon: float) -> tuple[Any, Any]:
    """Theorem 1 corrected and as printed, from powers of polynomials in Arb."""
    flint = pytest.importorskip("flint")
    from shuffledp.judge.balls.arithmetic import precision

    with precision(3000):
        arb, poly, m = flint.arb, flint.arb_poly, n - n0
        E, x = arb(epsilon0).exp(), arb(epsilon).exp()
        p, q, kappa = E / (E + k - 1), 1 / (E + k - 1), (k - 1) / (E + k - 2)
        fewest = poly([1 - p, p]) ** n0 * poly([1 - q, q]) ** (m - 2)
        others = fewest * poly([1 - q, q])
        P, Q = others * poly([1 - p, p]), others * poly([1 - q, q])
        corrected = printed = arb(0)
        for s in range(n + 1):
            corrected += max(P[s] - x * Q[s], arb(0))
            squares = q * (others[s - 1] if s else 0) + (m - 1) * q**2 * (fewest[s - 2] if s > 1 else 0)
            printed += max(P[s] * (1 - x / (kappa + (E - kappa) / m * squares / Q[s])), arb(0))
        return corrected, printed


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


@pytest.mark.parametrize(
    "n, k, epsilon0, n0",
    [(300, 10, 2.0, 240), (300, 2, 0.5, 0), (300, 1000, 8.0, 150), (250, 3, 1e-3, 248), (1500, 15, 4.0, 100)],
)
def test_both_formulas_agree_with_balls_to_the_tiniest_delta(n: int, k: int, epsilon0: float, n0: int) -> None:
    positive = 0
    for share in (0.003, 0.05, 0.3, 0.6, 0.95):
        found = [formula(n, k, epsilon0, n0, share * epsilon0) for formula in (delta_corrected, delta_printed)]
        for mine, ball in zip(found, in_balls(n, k, epsilon0, n0, share * epsilon0), strict=True):
            if mine > 0.0:
                assert abs(float(mine / ball) - 1.0) < ROUNDING * n
                positive += 1
            else:
                assert float(ball) < 2.3e-308
    assert positive >= 4


@pytest.mark.parametrize(
    "k, epsilon0, n0, epsilon, exact",
    [
        (10, 2.0, 80_000, 0.001, 6.484740869913313e-4),
        (10, 2.0, 80_000, 0.01, 7.215057852484233e-8),
        (10, 2.0, 80_000, 0.05, 1.996532148868541e-77),
        (2, 1.0, 0, 0.1, 1.0825227103419780e-220),
        (15, 4.0, 0, 0.5, 5.598990081989106e-179),
        (15, 4.0, 99_999, 0.03, 7.875398226800029e-10),
        (5, 0.1, 50_000, 0.003, 9.744122251140430e-81),
        (1000, 8.0, 20_000, 0.5, 1.324823534450349e-259),
        (3, 50.0, 99_990, 49.0, 4.839829938438069e-65),
    ],
)
def test_at_a_hundred_thousand_users_it_agrees_with_balls(
    k: int, epsilon0: float, n0: int, epsilon: float, exact: float
) -> None:
    """The exact values are those of ``in_balls``, which takes minutes for as many users."""
    error = ROUNDING * 100_000
    assert delta_corrected(100_000, k, epsilon0, n0, epsilon) == pytest.approx(exact, rel=1e-12)
    assert (1.0 - error) * delta_corrected(100_000, k, epsilon0, n0, epsilon + error * epsilon0) < exact


@pytest.mark.parametrize("counts", [(6,), (3, 2), (4, 0, 1), (2, 2, 1), (1, 0, 3, 1)])
def test_delta_of_a_dataset_is_the_largest_of_its_bins_by_enumeration(counts: tuple[int, ...]) -> None:
    k, epsilon0 = max(2, len(counts)), 1.2
    counts = counts + (0,) * (k - len(counts))
    dataset, rows = [x for x, count in enumerate(counts) for _ in range(count)], judge.krr(k, epsilon0)
    for epsilon in (0.0, 0.1, 0.7):
        worst = 0.0
        for x, other in itertools.permutations(range(k), 2):
            if counts[x]:
                neighbor = dataset.copy()
                neighbor[dataset.index(x)] = other
                laws: list[dict[tuple[int, ...], float]] = [{}, {}]
                for law, users in zip(laws, (dataset, neighbor), strict=True):
                    for histogram, chance in judge.shuffled_law(rows, users).items():
                        bin_ = (histogram[x],)
                        law[bin_] = law.get(bin_, 0.0) + chance
                worst = max(worst, judge.hockey_stick(laws[0], laws[1], epsilon))
        assert delta_of_dataset(counts, epsilon0, epsilon) == pytest.approx(worst, rel=1e-9)
        assert worst <= judge.worst_delta(rows, len(dataset), [epsilon])[0] * (1.0 + 1e-12)
        assert delta_of_dataset(counts, epsilon0, epsilon, printed=True) == max(
            delta_printed(len(dataset), k, epsilon0, count - 1, epsilon) for count in counts if count
        )


@pytest.mark.parametrize("n, k, epsilon0", SMALL)
def test_one_bin_is_never_above_the_worst_case(n: int, k: int, epsilon0: float) -> None:
    epsilons = np.linspace(0.0, 1.1 * epsilon0, 23)
    worst = judge.worst_delta(judge.krr(k, epsilon0), n, epsilons)
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


@pytest.mark.parametrize("n, least", [(500, 0.1), (100_000, 0.005)])
def test_as_a_lower_bound_it_stays_below_the_certified_interval(n: int, least: float) -> None:
    setting = Setting(sdp.KRR(k=10, epsilon0=2.0), n)
    survey = sdp.shuffle(sdp.KRR(k=10, epsilon0=2.0), n=n)
    assert least < ONE_BIN.epsilon(setting, delta=1e-6) < survey.epsilon(delta=1e-6).lower


@pytest.mark.parametrize("n", [1, 2, 300, 10_000])
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
    with pytest.raises(DoesNotApply, match="k must be at most 1e100"):
        delta_printed(50, 10**400, 2.0, 8, 0.1)
    for epsilon0, n0, match in ((2.0, -1, "n0 must be at least 0"), (60.0, 1, r"epsilon0 must lie in \[1e-12, 50\]")):
        with pytest.raises(InvalidInput, match=match):
            delta_corrected(50, 10, epsilon0, n0, 0.1)


@pytest.mark.parametrize(
    "counts, match",
    [
        ([0, 0], "counts must count at least one user, got "),
        ([3, -1], "counts must be at least 0"),
        ([3], "k must be at least 2"),
        ({3: 1, 4: 1}, r"counts must be a list, .* got a dict"),
        (None, r"counts must be a list, .* got None"),
        (range(401), "their product at most 20,000,000, got 32,080,000"),
    ],
)
def test_what_counts_nobody_is_refused(counts: Any, match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        delta_of_dataset(counts, 1.0, 0.1)
