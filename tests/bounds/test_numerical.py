"""The published baselines against enumeration, against the digits their authors print, and against theory.md's goldens."""

import math
from collections import defaultdict
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from shuffledp.bounds import feldman, koskela

Law = dict[tuple[int, ...], float]


def binomial(trials: int, count: int, p: float) -> float:
    return math.comb(trials, count) * p**count * (1.0 - p) ** (trials - count) if 0 <= count <= trials else 0.0


def clones_laws(n: int, epsilon0: float, *, feldmans: bool) -> tuple[Law, Law]:
    """Both laws of the clones pair, one outcome at a time: Feldman's, or Koskela's (A+D, C-A) against (A, C-A+D)."""
    p, q = math.exp(-epsilon0), math.exp(epsilon0) / (math.exp(epsilon0) + 1.0)
    laws: tuple[Law, Law] = (defaultdict(float), defaultdict(float))
    for c, d in product(range(n), (0, 1)):
        for a in range(c + 1):
            mass = binomial(n - 1, c, p) * binomial(c, a, 0.5) * (q if d else 1.0 - q)
            laws[0][a + d, c - a + (1 - d if feldmans else 0)] += mass
            laws[1][a + (1 - d if feldmans else 0), c - a + d] += mass
    return laws


def hockey_stick(p: Law, q: Law, epsilon: float) -> float:
    return sum(max(mass - math.exp(epsilon) * q.get(view, 0.0), 0.0) for view, mass in p.items())


def squared(law: Law) -> Law:
    """Two independent rounds."""
    return {(*x, *y): u * v for (x, u), (y, v) in product(law.items(), law.items())}


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
        exact = hockey_stick(ones_p, ones_q, epsilon)
        assert feldman.divergence_given_count(c, epsilon, 2.0) == pytest.approx(exact, rel=1e-10, abs=1e-15)
        assert feldman.divergence_given_count(c, epsilon, 2.0, reverse=True) == pytest.approx(exact, rel=1e-10, abs=1e-15)


@pytest.mark.parametrize("epsilon", [0.2, 0.6, 1.0])
@pytest.mark.parametrize("step", [1, 3, 60])
def test_feldman_delta_is_an_upper_bound_and_at_most_doubles_for_single_steps(epsilon: float, step: int) -> None:
    p, q = clones_laws(50, 2.0, feldmans=True)
    exact = hockey_stick(p, q, epsilon)
    upper = feldman.delta_upper(50, epsilon, 2.0, step=step)
    assert upper >= exact * (1.0 - 1e-10)
    if step == 1:
        assert upper <= 2.0 * exact * (1.0 + 1e-10)


def test_feldman_stops_early_when_delta_is_large_enough() -> None:
    assert feldman.delta_upper(50, 0.2, 2.0, step=1, enough=1e-3) == 1e-3


def test_feldman_epsilon_encloses_the_exact_one_from_above() -> None:
    p, q = clones_laws(50, 2.0, feldmans=True)
    exact = inverse(lambda epsilon: hockey_stick(p, q, epsilon), 1e-3, 2.0)
    # the last rule of Algorithm 6 lets delta double, so epsilon(delta) is at most epsilon(delta/2)
    doubled = inverse(lambda epsilon: hockey_stick(p, q, epsilon), 0.5e-3, 2.0)
    assert exact - 1e-9 <= feldman.epsilon(50, 2.0, 1e-3, iterations=40, step=1) <= doubled + 1e-9


def test_feldman_reproduces_the_digits_of_the_authors_readme() -> None:
    start = feldman.closed_form_start(100_000, 4.0, 1e-6)
    assert start == pytest.approx(0.5378040242374512, rel=1e-14)
    value = feldman.epsilon(100_000, 4.0, 1e-6, iterations=10, step=100, start=start, centre=50_000)
    assert value == pytest.approx(0.172790550755978, rel=1e-14)


def test_feldman_from_the_mean_outwards_stays_above_the_exact_clones_value() -> None:
    for start in (None, feldman.closed_form_start(100_000, 4.0, 1e-6)):
        value = feldman.epsilon(100_000, 4.0, 1e-6, iterations=10, step=100, start=start)
        assert 0.16977 <= value <= 0.16977 * 1.05


@pytest.mark.parametrize("feldmans", [True, False])
@pytest.mark.parametrize("epsilon", [0.3, 0.6, 1.2])
def test_koskela_clones_delta_brackets_enumeration(feldmans: bool, epsilon: float) -> None:
    pair = (koskela.feldman_pair if feldmans else koskela.clones_pair)(50, 2.0)
    p, q = clones_laws(50, 2.0, feldmans=feldmans)
    exact = hockey_stick(p, q, epsilon)
    assert exact == pytest.approx(hockey_stick(q, p, epsilon), rel=1e-9)
    upper = koskela.delta(pair, 1, epsilon, m=1_000_000)
    lower = koskela.delta(pair, 1, epsilon, m=1_000_000, lower=True)
    assert lower <= exact * (1.0 + 1e-9)
    assert exact <= upper * (1.0 + 1e-9)
    assert upper - lower < 1e-4 * exact + 1e-11


def test_koskela_pairs_differ_as_erratum_5_says() -> None:
    assert koskela.delta(koskela.clones_pair(50, 2.0), 1, 0.6, m=1_000_000) == pytest.approx(0.1008, abs=5e-5)
    assert koskela.delta(koskela.feldman_pair(50, 2.0), 1, 0.6, m=1_000_000) == pytest.approx(0.0700, abs=5e-5)


@pytest.mark.parametrize("builder", [koskela.clones_pair, koskela.feldman_pair])
def test_koskela_two_rounds_bracket_the_product_of_the_laws(builder: Callable[..., koskela.Pair]) -> None:
    p, q = clones_laws(12, 1.0, feldmans=builder is koskela.feldman_pair)
    exact = hockey_stick(squared(p), squared(q), 0.8)
    pair = builder(12, 1.0)
    upper = koskela.delta(pair, 2, 0.8, m=1_000_000)
    lower = koskela.delta(pair, 2, 0.8, m=1_000_000, lower=True)
    assert lower <= exact <= upper
    assert upper - lower < 1e-3 * exact


def test_koskela_binary_response_brackets_enumeration_in_both_orders() -> None:
    p = 1.0 / (math.e + 1.0)
    zeros: Law = {(x,): binomial(50, x, p) for x in range(51)}
    one: Law = {(x,): p * binomial(49, x, p) + (1.0 - p) * binomial(49, x - 1, p) for x in range(51)}
    for reverse, (first, second) in ((False, (one, zeros)), (True, (zeros, one))):
        pair = koskela.rr_pair(50, 1.0, reverse=reverse)
        exact = hockey_stick(first, second, 0.3)
        assert koskela.delta(pair, 1, 0.3, m=1_000_000, lower=True) <= exact <= koskela.delta(pair, 1, 0.3, m=1_000_000)
        assert koskela.delta(pair, 1, 0.3, m=1_000_000) == pytest.approx(exact, rel=1e-3)


def test_koskela_strong_krr_gives_the_printed_theorem_8() -> None:
    gamma = 3.0 / (math.exp(2.0) + 2.0)
    law = [binomial(7, x, gamma / 3.0) for x in range(8)]
    for epsilon, golden in ((0.6, 0.6656), (0.9, 0.5181)):  # erratum 4
        ratio = sum(law[x] * law[y] for x, y in product(range(8), range(8)) if y == 0 or (x + 1) / y >= math.exp(epsilon))
        assert ratio == pytest.approx(golden, abs=5e-5)
        assert koskela.delta(koskela.krr_strong_pair(8, 3, gamma), 1, epsilon, m=1_000_000) == pytest.approx(ratio, rel=1e-4)


def weak_views(n: int, k: int, gamma: float, *, independent: bool) -> dict[tuple[int, int, int], float]:
    """P of (N_1, N_2, B) under the dataset where the target holds 1."""
    views: dict[tuple[int, int, int], float] = defaultdict(float)
    for b in range(n):
        weight = binomial(n - 1, b, gamma)
        if independent:
            for x, y in product(range(b + 1), range(b + 1)):
                hay = weight * binomial(b, x, 1.0 / k) * binomial(b, y, 1.0 / k)
                for d, e in product((0, 1), (0, 1)):
                    coin = (1.0 - gamma + gamma / k) if d else gamma - gamma / k
                    views[x + d, y + e, b] += hay * coin * (gamma / k if e else 1.0 - gamma / k)
            continue
        for x in range(b + 1):
            for y in range(b - x + 1):
                hay = weight * binomial(b, x, 1.0 / k) * (binomial(b - x, y, 1.0 / (k - 1)) if k > 2 else float(x + y == b))
                views[x + 1, y, b] += hay * (1.0 - gamma + gamma / k)
                views[x, y + 1, b] += hay * gamma / k
                views[x, y, b] += hay * gamma * (k - 2) / k
    return views


@pytest.mark.parametrize("k", [2, 3, 5])
def test_koskela_weak_krr_matches_enumeration(k: int) -> None:
    n, gamma, epsilon = 25, 0.4, 0.5

    def score(count: int, b: int) -> float:
        return (1.0 - gamma) * count + gamma * (b + 1) / k

    views = weak_views(n, k, gamma, independent=True)
    printed = sum(mass for (x, y, b), mass in views.items() if score(x, b) / score(y, b) >= math.exp(epsilon))
    assert koskela.delta(koskela.krr_weak_pair(n, k, gamma), 1, epsilon, m=1_000_000) == pytest.approx(printed, rel=1e-4)

    views = weak_views(n, k, gamma, independent=False)
    swapped: Law = {(y, x, b): mass for (x, y, b), mass in views.items()}
    straight: Law = {(x, y, b): mass for (x, y, b), mass in views.items()}
    exact = hockey_stick(straight, swapped, epsilon)
    plain = sum(mass for (x, y, b), mass in views.items() if score(x, b) / score(y, b) >= math.exp(epsilon))
    assert koskela.delta(koskela.krr_weak_pair(n, k, gamma, reading="multinomial"), 1, epsilon, m=1_000_000) == pytest.approx(plain, rel=1e-4)
    corrected = koskela.krr_weak_pair(n, k, gamma, reading="exact")
    lower, upper = (koskela.delta(corrected, 1, epsilon, m=1_000_000, lower=side) for side in (True, False))
    assert lower <= exact * (1.0 + 1e-9)
    assert exact <= upper * (1.0 + 1e-9)
    assert upper == pytest.approx(exact, rel=1e-3)


def test_koskela_weak_krr_as_printed_is_no_upper_bound_for_two_rounds_unless_the_counts_are_multinomial() -> None:
    n, k, gamma, epsilon = 30, 3, 0.4, 2.8

    def two_rounds(*, independent: bool, weighted: bool) -> float:
        """Direct sum over pairs of views, no grid."""
        views = weak_views(n, k, gamma, independent=independent)
        losses = np.array([math.log(((1.0 - gamma) * x + gamma * (b + 1) / k) / ((1.0 - gamma) * y + gamma * (b + 1) / k)) for x, y, b in views])
        mass = np.array(list(views.values()))
        order = np.argsort(losses)
        losses, mass = losses[order], mass[order]
        first = np.searchsorted(losses, epsilon - losses - 1e-12)
        tail = np.append(np.cumsum(mass[::-1])[::-1], 0.0)[first]
        discounted = np.append(np.cumsum((mass * np.exp(-losses))[::-1])[::-1], 0.0)[first]
        return float(np.sum(mass * (tail - (np.exp(epsilon - losses) * discounted if weighted else 0.0))))

    exact = two_rounds(independent=False, weighted=True)
    printed = two_rounds(independent=True, weighted=False)
    assert printed < 0.9 * exact
    plain = two_rounds(independent=False, weighted=False)
    expected: dict[koskela.WeakReading, float] = {"exact": exact, "independent": printed, "multinomial": plain}
    for reading, value in expected.items():
        pair = koskela.krr_weak_pair(n, k, gamma, reading=reading)
        assert koskela.delta(pair, 2, epsilon, m=1_000_000) == pytest.approx(value, rel=2e-3)
    assert plain > exact


def test_koskela_epsilon_inverts_its_own_delta() -> None:
    for pair in (koskela.clones_pair(50, 2.0), koskela.krr_weak_pair(30, 3, 0.4), koskela.krr_weak_pair(30, 3, 0.4, reading="exact")):
        for rounds in (1, 3):
            value = koskela.epsilon(pair, rounds, 1e-3, m=200_000)
            assert koskela.delta(pair, rounds, value, m=200_000) <= 1e-3 * (1.0 + 1e-6)
            assert koskela.delta(pair, rounds, value - 5e-4, m=200_000) > 1e-3
            assert koskela.epsilon(pair, rounds, 1e-3, m=200_000, lower=True) <= value


def test_koskela_meets_the_goldens_of_theory() -> None:
    clones = koskela.feldman_pair(1000, 2.564949)
    weak = koskela.krr_weak_pair(1000, 4, 0.25, reading="exact")
    for pair, delta, golden in ((clones, 1e-4, 0.6100412), (clones, 1e-6, 0.8771301), (weak, 1e-4, 0.3890626), (weak, 1e-6, 0.5569569)):
        lower, upper = (koskela.epsilon(pair, 1, delta, m=2_000_000, lower=side) for side in (True, False))
        assert lower - 1e-6 <= golden <= upper + 1e-6
        assert upper - lower < 1e-4


def test_koskela_refuses_a_grid_that_is_too_short() -> None:
    with pytest.raises(ValueError, match="larger L"):
        koskela.place(koskela.feldman_pair(50, 2.0), L=1.0, m=1000)
    with pytest.raises(ValueError, match="even"):
        koskela.compose(koskela.place(koskela.feldman_pair(50, 2.0), L=20.0, m=1001), 2)
