"""Trade-off curves and Renyi divergences against enumeration; and explanations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import permutations

import mpmath
import numpy as np
import pytest

import shuffledp as sdp
from shuffledp._types import Floats
from shuffledp.accounting import analytic_gaussian as gaussian
from shuffledp.accounting.curves import lower_hull
from shuffledp.accounting.shuffled import Shuffled
from shuffledp.errors import InvalidInput
from shuffledp.judge import enumeration
from shuffledp.randomizers import Randomizer
from shuffledp.testing import merged
from tests.contracts.enclosure import family, from_matrix

ALPHAS = np.array([0.0, 1e-6, 1e-3, 0.02, 0.1, 0.25, 0.4, 0.5, 0.7, 0.9, 0.999, 1.0])
ZEROS = np.array([[0.6, 0.4, 0.0], [0.4, 0.3, 0.3]])
CASES = [("krr 2", 1.0), ("krr 3", 1.0), ("oue 2", 1.0), ("hadamard 3", 1.0), ("krr 3", 4.0)]


def neighbours(rows: Floats, n: int) -> Iterator[tuple[Floats, Floats]]:
    """Both orders of every pair of neighboring datasets."""
    for laws in enumeration.neighbouring_laws(rows, n):
        yield from permutations(laws, 2)


def exact_tradeoff(rows: Floats, n: int, alphas: Floats) -> Floats:
    """The lower convex hull of the corners of every Neyman-Pearson curve."""
    alpha, beta = [np.array([0.0, 1.0])], [np.array([1.0, 0.0])]
    for P, Q in neighbours(rows, n):
        order = np.argsort(-Q / np.maximum(P, 1e-300), kind="stable")
        alpha.append(np.cumsum(P[order]))
        beta.append(1.0 - np.cumsum(Q[order]))
    a, b = np.concatenate(alpha), np.concatenate(beta)
    order = np.lexsort((b, a))
    a, first = np.unique(a[order], return_index=True)
    b = b[order][first]
    corner = lower_hull(a, b)
    return np.clip(np.interp(alphas, a[corner], b[corner]), 0.0, 1.0)


def exact_renyi(rows: Floats, n: int, order: float) -> float:
    """The largest divergence of any two neighbours."""
    worst = 0.0
    for P, Q in neighbours(rows, n):
        seen = P > 0.0
        if np.any(Q[seen] == 0.0):
            return math.inf
        worst = max(worst, math.log(math.fsum(Q[seen] * (P[seen] / Q[seen]) ** order)) / (order - 1.0))
    return worst


@pytest.mark.parametrize("name, e0", [*CASES, ("zeros", math.inf)])
def test_trade_off_curves_enclose_the_exact_one(name: str, e0: float) -> None:
    randomizer: Randomizer
    randomizer, rows = (from_matrix(ZEROS), ZEROS) if name == "zeros" else family(name, e0)
    for n in (2, 4):
        band, exact = sdp.shuffle(randomizer, n=n).tradeoff(ALPHAS), exact_tradeoff(merged(rows), n, ALPHAS)
        assert np.array_equal(band.at, ALPHAS)
        assert np.all(band.lower <= exact + 1e-12), (n, band.lower - exact)
        assert np.all(exact <= band.upper + 1e-12), (n, exact - band.upper)
        for side in (band.lower, band.upper):
            assert np.all(np.diff(side) <= 1e-15)
            assert np.all((side >= 0.0) & (side <= 1.0 - ALPHAS + 1e-15))
    if n == 4 and rows is not ZEROS:
        assert np.all(band.upper - band.lower < 0.1)


@pytest.mark.parametrize(
    "randomizer, n, rounds",
    [(sdp.RR(epsilon0=1.0), 1000, 1), (sdp.KRR(k=4, epsilon0=2.0), 10**4, 8)],
    ids=["once", "rounds"],
)
def test_trade_off_curves_of_many_users_fall_and_are_convex(randomizer: Randomizer, n: int, rounds: int) -> None:
    alphas = np.linspace(0.0, 1.0, 101)
    band = sdp.shuffle(randomizer, n=n).compose(rounds).tradeoff(alphas)
    for side in (band.lower, band.upper):
        assert np.all(np.diff(side) <= 1e-15)
        assert np.all(np.diff(side, 2) >= -1e-12)
        assert side[0] <= 1.0
        assert side[-1] == 0.0
    assert np.all(band.upper - band.lower <= 0.02)


@pytest.mark.parametrize("name, e0", CASES)
def test_renyi_divergences_enclose_the_exact_one(name: str, e0: float) -> None:
    randomizer, rows = family(name, e0)
    for n, order in ((1, 1.5), (3, 8.0), (4, 32.0)):
        bound, exact = sdp.shuffle(randomizer, n=n).rdp(order=order), exact_renyi(merged(rows), n, order)
        assert 0.0 < bound.lower <= exact * (1.0 + 1e-9)
        assert exact * (1.0 - 1e-9) <= bound.upper <= randomizer.epsilon0 * (1.0 + 1e-5)


def test_renyi_divergences_of_a_revealing_matrix_are_infinite() -> None:
    assert exact_renyi(ZEROS, 2, 2.0) == math.inf
    bound = sdp.shuffle(from_matrix(ZEROS), n=2).rdp(order=2.0)
    assert bound.upper == math.inf
    assert bound.lower >= 0.0


def test_renyi_divergences_of_a_gaussian() -> None:
    """One report: order / (2 sigma^2)."""
    bound = sdp.shuffle(sdp.Gaussian(sigma=3.0), n=1).rdp(order=20.0)
    assert bound.lower <= 10.0 / 9.0 <= bound.upper * (1.0 + 1e-12)
    assert bound.upper == pytest.approx(10.0 / 9.0, rel=1e-3)


def test_renyi_divergences_add_up() -> None:
    single = sdp.shuffle(sdp.KRR(k=4, epsilon0=1.0), n=1000)
    assert tuple(single.compose(7).rdp(order=3.0)) == pytest.approx([7.0 * side for side in single.rdp(order=3.0)])


def test_renyi_divergences_grow_with_the_order() -> None:
    mechanism = sdp.shuffle(sdp.KRR(k=4, epsilon0=3.0), n=2000)
    orders = [1.01, 2.0, 20.0, 1000.0]
    bounds = [mechanism.rdp(order=order) for order in orders]
    assert all(0.0 < bound.lower <= bound.upper <= 3.0 * (1.0 + 1e-5) for bound in bounds)
    for ends in (np.array([bound.lower for bound in bounds]), np.array([bound.upper for bound in bounds])):
        assert np.all(np.diff(ends) >= -1e-4 * ends[1:])


@pytest.mark.parametrize(
    "mechanism, rounds, sources",
    [
        (
            sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10**4),
            1,
            [
                "privacy blanket",
                "Thm 3.2",
                "any-randomizer theorem",
                "one report",
                "all others hold x0",
                "all others hold a third value",
            ],
        ),
        (
            sdp.shuffle(sdp.RR(epsilon0=1.0), n=10**4, honest=9000),
            1,
            ["scan over all datasets", "Thm 3.2", "any-randomizer theorem", "Lemma 8", "one report"],
        ),
        (
            sdp.shuffle(sdp.AnyLDP(epsilon0=2.0), n=10**4),
            1,
            ["any-randomizer theorem", "Thm 3.2", "one report", "hold 0", "all others hold a third value"],
        ),
        (sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10**4, adversary="strong"), 1, ["strong adversary"]),
        (sdp.shuffle(sdp.Laplace(epsilon0=1.0), n=10**4), 1, ["first-clone swap", "one report", "all others hold 0.5"]),
        (
            sdp.shuffle(sdp.KRR(k=16, epsilon0=4.0), n=10**4),
            5,
            ["basic composition", "Renyi composition", "explicit pairs", "one round of mechanism 1"],
        ),
    ],
    ids=["krr", "rr", "any", "strong", "laplace", "rounds"],
)
def test_explanations_hold_what_was_computed(mechanism: Shuffled, rounds: int, sources: list[str]) -> None:
    guarantee = mechanism.compose(rounds)
    explanation, bound = guarantee.explain(delta=1e-6), guarantee.epsilon(delta=1e-6)
    assert tuple(explanation.bound) == tuple(bound)
    found = " | ".join(row.source for row in explanation.rows)
    assert [source for source in sources if source not in found] == []
    uppers = [row.epsilon for row in explanation.rows if row.side == "upper"]
    lowers = [row.epsilon for row in explanation.rows if row.side == "lower"]
    assert min(uppers) == pytest.approx(bound.upper, rel=1e-5)
    assert max(lowers) == pytest.approx(bound.lower, rel=1e-5)
    assert [row.epsilon for row in explanation.rows] == sorted((row.epsilon for row in explanation.rows), reverse=True)
    text = str(explanation)
    assert bound.method in text
    assert all(assumption in text for assumption in bound.assumptions)
    assert "replace-one adjacency" in text


def test_bounds_are_intervals() -> None:
    bound = sdp.shuffle(sdp.RR(epsilon0=1.0), n=100).delta(epsilon=0.1)
    lower, upper = bound
    assert (lower, upper, bound.width) == (bound.lower, bound.upper, bound.upper - bound.lower)
    assert 0.5 * (lower + upper) in bound
    assert 2.0 * upper not in bound


TARGETS = [(e, d) for e in (0.0, 1e-6, 1e-3, 0.1, 1.0, 5.0, 50.0) for d in (1e-50, 1e-12, 1e-5, 0.01, 0.3, 0.99)]


def exact_delta(sigma, epsilon):
    with mpmath.workdps(120):
        s, e = mpmath.mpf(sigma), mpmath.mpf(epsilon)
        return mpmath.ncdf(1 / (2 * s) - e * s) - mpmath.exp(e) * mpmath.ncdf(-1 / (2 * s) - e * s)


@pytest.mark.parametrize("epsilon, delta", TARGETS)
def test_sigma_has_exactly_the_delta_asked_for(epsilon, delta):
    found = exact_delta(gaussian.sigma(epsilon=epsilon, delta=delta), epsilon)
    assert delta * (1 - 1e-12) <= found <= delta


@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.3, 2.0, 20.0, 50.0])
@pytest.mark.parametrize("sigma", [1e-3, 0.05, 0.5, 1.9, 2.1, 8.0, 1e4, 1e9])
def test_delta_is_exact_also_in_the_tail(sigma, epsilon):
    if epsilon * sigma < 30.0:
        assert gaussian.delta(sigma=sigma, epsilon=epsilon) == pytest.approx(
            float(exact_delta(sigma, epsilon)), rel=1e-12
        )
    else:
        assert gaussian.delta(sigma=sigma, epsilon=epsilon) <= 1e-190


def test_sensitivity_scales_the_noise():
    assert gaussian.sigma(epsilon=1.0, delta=1e-6, sensitivity=3.0) == pytest.approx(
        3.0 * gaussian.sigma(epsilon=1.0, delta=1e-6), rel=1e-14
    )
    assert gaussian.delta(sigma=6.0, epsilon=1.0, sensitivity=3.0) == gaussian.delta(sigma=2.0, epsilon=1.0)


@pytest.mark.parametrize("epsilon, delta", [(e, d) for e, d in TARGETS if e > 0.0])
def test_epsilon_undoes_sigma(epsilon, delta):
    assert gaussian.epsilon(sigma=gaussian.sigma(epsilon=epsilon, delta=delta), delta=delta) == pytest.approx(
        epsilon, rel=1e-6
    )


def test_enough_noise_needs_no_epsilon():
    assert gaussian.epsilon(sigma=1e6, delta=0.1) == 0.0


def test_the_mechanism_agrees_with_the_randomizer_of_the_accountant():
    from shuffledp import Gaussian

    for epsilon in (0.1, 1.0, 3.0):
        assert gaussian.delta(sigma=1.3, epsilon=epsilon) == pytest.approx(
            Gaussian(sigma=1.3).local_delta(epsilon=epsilon), rel=1e-11
        )


@pytest.mark.parametrize("sigma", [5e-324, 1e-300, 1e300])
def test_noise_of_any_size_has_a_delta(sigma):
    assert 0.0 <= gaussian.delta(sigma=sigma, epsilon=0.0) <= 1.0
    assert 0.0 <= gaussian.delta(sigma=sigma, epsilon=50.0, sensitivity=1e10) <= 1.0


@pytest.mark.parametrize(
    "epsilon, delta, sensitivity", [(-1.0, 0.1, 1.0), (1.0, 0.0, 1.0), (1.0, math.nan, 1.0), (1.0, 0.1, 0.0)]
)
def test_targets_outside_their_range_are_refused(epsilon, delta, sensitivity):
    with pytest.raises(InvalidInput):
        gaussian.sigma(epsilon=epsilon, delta=delta, sensitivity=sensitivity)


@pytest.mark.parametrize("noise", [0.3, 1.0, 1.9, 3.0, 10.0])
@pytest.mark.parametrize("far", [12.0, 20.0, 26.0, 31.0, 36.0])
def test_the_slack_covers_rounding_far_in_the_tail(noise, far):
    epsilon = (far + 0.5 / noise) / noise
    exact = exact_delta(noise, epsilon)
    assert abs(gaussian.delta(sigma=noise, epsilon=epsilon) / exact - 1) < gaussian.SLACK / 2
