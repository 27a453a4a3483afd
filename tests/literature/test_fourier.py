"""The Fourier accountant on Koskela's pairs, against enumeration and theory.md's goldens."""

import math
import warnings
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from shuffledp import judge
from shuffledp.errors import InvalidInput
from shuffledp.literature.fourier import Composed, FourierAccountant, Grid, Pair, Terms
from shuffledp.literature.koskela_pairs import (
    WeakReading,
    clones_pair,
    feldman_pair,
    hoeffding,
    krr_strong_pair,
    krr_weak_pair,
    one_count_pair,
    rr_pair,
)
from tests.literature.laws import Law, binomial, clones_laws, weak_tail, weak_views


def ends(pair: Pair, rounds: int = 1, *, m: int = 400_000) -> tuple[Composed, Composed]:
    lower, upper = (Grid(pair, m=m, lower=side).compose(rounds) for side in (True, False))
    return lower, upper


def squared(law: Law) -> Law:
    """Two independent rounds."""
    return {(*x, *y): u * v for (x, u), (y, v) in product(law.items(), law.items())}


@pytest.mark.parametrize("feldmans", [True, False])
def test_clones_delta_brackets_enumeration(feldmans: bool) -> None:
    lower, upper = ends((feldman_pair if feldmans else clones_pair)(50, 2.0))
    p, q = clones_laws(50, 2.0, feldmans=feldmans)
    for epsilon in (0.3, 0.6, 1.2):
        truth = judge.hockey_stick(p, q, epsilon)
        assert truth == pytest.approx(judge.hockey_stick(q, p, epsilon), rel=1e-9)
        assert lower.delta(epsilon) <= truth * (1.0 + 1e-9)
        assert truth <= upper.delta(epsilon) * (1.0 + 1e-9)
        assert upper.delta(epsilon) - lower.delta(epsilon) < 4e-4 * truth + 1e-11


@pytest.mark.parametrize("builder", [clones_pair, feldman_pair])
def test_two_rounds_bracket_the_product_of_the_laws(builder: Callable[[int, float], Pair]) -> None:
    p, q = clones_laws(12, 1.0, feldmans=builder is feldman_pair)
    truth = judge.hockey_stick(squared(p), squared(q), 0.8)
    lower, upper = ends(builder(12, 1.0), 2)
    assert lower.delta(0.8) <= truth <= upper.delta(0.8)
    assert upper.delta(0.8) - lower.delta(0.8) < 2e-3 * truth


def test_binary_response_brackets_enumeration_in_both_orders() -> None:
    p = 1.0 / (math.e + 1.0)
    zeros: Law = {(x,): binomial(50, x, p) for x in range(51)}
    one: Law = {(x,): p * binomial(49, x, p) + (1.0 - p) * binomial(49, x - 1, p) for x in range(51)}
    for reverse, (first, second) in ((False, (one, zeros)), (True, (zeros, one))):
        lower, upper = (end.delta(0.3) for end in ends(rr_pair(50, 1.0, reverse=reverse)))
        assert lower <= (truth := judge.hockey_stick(first, second, 0.3)) <= upper
        assert upper == pytest.approx(truth, rel=3e-3)


@pytest.mark.parametrize(("n", "k", "epsilon0"), [(8, 3, 2.0), (6, 2, 1.0), (7, 4, 0.5)])
def test_the_exact_strong_pair_is_the_strong_view(n: int, k: int, epsilon0: float) -> None:
    rows, gamma = judge.krr(k, epsilon0), k / (math.exp(epsilon0) + k - 1.0)
    lower, upper = ends(krr_strong_pair(n, k, gamma, reading="exact"))
    for epsilon in (0.0, 0.4, 0.9, 1.7):
        truth = judge.strong_delta(rows, n, (0, 1), epsilon)
        assert lower.delta(epsilon) <= truth * (1.0 + 1e-9)
        assert truth <= upper.delta(epsilon) * (1.0 + 1e-9)
        assert upper.delta(epsilon) == pytest.approx(truth, rel=1e-3)


@pytest.mark.parametrize(("n", "k", "epsilon0"), [(8, 3, 2.0), (6, 2, 1.0), (7, 4, 0.5), (2, 5, 1.0), (1, 3, 1.0)])
def test_the_exact_weak_pair_is_the_weak_view(n: int, k: int, epsilon0: float) -> None:
    rows, gamma = judge.krr(k, epsilon0), k / (math.exp(epsilon0) + k - 1.0)
    lower, upper = ends(krr_weak_pair(n, k, gamma, reading="exact"))
    for epsilon in (0.0, 0.2, 0.45):
        truth = judge.weak_delta(rows, n, (0, 1), epsilon)
        assert lower.delta(epsilon) <= truth * (1.0 + 1e-9) + 1e-15
        assert truth <= upper.delta(epsilon) * (1.0 + 1e-9)
        assert upper.delta(epsilon) == pytest.approx(truth, rel=2e-3, abs=1e-11)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_readings_of_the_weak_view_match_their_sums(k: int) -> None:
    n, gamma, epsilon = 25, 0.4, 0.5
    for reading, independent in (("independent", True), ("multinomial", False)):
        printed = weak_tail(weak_views(n, k, gamma, independent=independent), k, gamma, epsilon)
        _, upper = ends(krr_weak_pair(n, k, gamma, reading=reading))  # type: ignore[arg-type]
        assert upper.delta(epsilon) == pytest.approx(printed, rel=3e-4)


def test_two_rounds_of_the_weak_readings_match_their_sums() -> None:
    n, k, gamma, epsilon = 30, 3, 0.4, 2.8

    def two_rounds(*, independent: bool, weighted: bool) -> float:
        """Direct sum over pairs of views, no grid."""
        views = weak_views(n, k, gamma, independent=independent)
        x, y, b = np.array(list(views)).T
        losses = np.log(((1.0 - gamma) * x + gamma * (b + 1) / k) / ((1.0 - gamma) * y + gamma * (b + 1) / k))
        order = np.argsort(losses)
        losses, mass = losses[order], np.array(list(views.values()))[order]
        first = np.searchsorted(losses, epsilon - losses - 1e-12)
        tail = np.append(np.cumsum(mass[::-1])[::-1], 0.0)[first]
        discounted = np.append(np.cumsum((mass * np.exp(-losses))[::-1])[::-1], 0.0)[first]
        return float(np.sum(mass * (tail - (np.exp(epsilon - losses) * discounted if weighted else 0.0))))

    truth, printed, plain = (
        two_rounds(independent=i, weighted=w) for i, w in ((False, True), (True, False), (False, False))
    )
    assert printed < 0.9 * truth
    assert plain > truth
    expected: dict[WeakReading, float] = {"exact": truth, "independent": printed, "multinomial": plain}
    for reading, value in expected.items():
        composed = Grid(krr_weak_pair(n, k, gamma, reading=reading), m=1_000_000).compose(2)
        assert composed.delta(epsilon) == pytest.approx(value, rel=2e-3)


def test_one_count_of_the_weak_view_matches_enumeration() -> None:
    n, k, gamma, epsilon = 12, 3, 0.4, 0.3
    views = weak_views(n, k, gamma, independent=False)
    p: Law = {}
    q: Law = {}
    for (x, y, b), mass in views.items():
        p[x, b] = p.get((x, b), 0.0) + mass
        q[y, b] = q.get((y, b), 0.0) + mass
    for reverse, truth in ((False, judge.hockey_stick(p, q, epsilon)), (True, judge.hockey_stick(q, p, epsilon))):
        lower, upper = ends(one_count_pair(n, k, gamma, adversary="weak", reverse=reverse))
        assert lower.delta(epsilon) <= truth <= upper.delta(epsilon)
        assert upper.delta(epsilon) == pytest.approx(truth, rel=1e-3)


def test_epsilon_inverts_delta() -> None:
    for pair in (clones_pair(50, 2.0), krr_weak_pair(30, 3, 0.4), krr_weak_pair(30, 3, 0.4, reading="exact")):
        for rounds in (1, 3):
            lower, upper = ends(pair, rounds, m=200_000)
            for delta in (1e-2, 1e-3, 1e-6):
                value = upper.epsilon(delta)
                assert upper.delta(value) <= delta * (1.0 + 1e-6)
                assert upper.delta(value - 5e-4) > delta
                assert lower.epsilon(delta) <= value


def test_the_goldens_of_theory_are_met() -> None:
    clones, weak = feldman_pair(1000, 2.564949), krr_weak_pair(1000, 4, 0.25, reading="exact")
    strong = krr_strong_pair(1000, 4, 0.25, reading="exact")
    found = (0.6100412, 0.8771301), (0.3890626, 0.5569569), (0.5307622, 0.7705776)
    for pair, goldens in zip((clones, weak, strong), found, strict=True):
        lower, upper = ends(pair, m=2_000_000)
        for delta, golden in zip((1e-4, 1e-6), goldens, strict=True):
            assert lower.epsilon(delta) - 1e-6 <= golden <= upper.epsilon(delta) + 1e-6
            assert upper.epsilon(delta) - lower.epsilon(delta) < 1e-4


def test_what_leaves_the_grid_is_counted_against_the_answer() -> None:
    pair, epsilon = feldman_pair(12, 2.0), 0.5
    p, q = clones_laws(12, 2.0, feldmans=True)
    for length in (0.6, 1.0, 2.5):  # losses reach 2
        lower, upper = (Grid(pair, L=length, m=100_000, lower=side).compose(1) for side in (True, False))
        assert lower.delta(epsilon) <= judge.hockey_stick(p, q, epsilon) <= upper.delta(epsilon)
    both = judge.hockey_stick(squared(p), squared(q), epsilon)
    for length in (1.0, 2.1, 3.0):  # sums reach 4, and wrap around
        lower, upper = (Grid(pair, L=length, m=100_000, lower=side).compose(2) for side in (True, False))
        assert lower.delta(epsilon) <= both <= upper.delta(epsilon)


def test_infinite_losses_have_no_finite_epsilon() -> None:
    def terms() -> Terms:
        yield np.array([0.1, math.inf]), np.array([0.99, 0.01])

    for once, thrice in zip(*(ends(Pair(terms, 0.0, weighted=True), rounds, m=1000) for rounds in (1, 3)), strict=True):
        assert once.epsilon(0.005) == math.inf
        assert once.delta(5.0) == pytest.approx(0.01)
        assert thrice.delta(5.0) == pytest.approx(1.0 - 0.99**3)


@pytest.mark.parametrize("rounds", [1, 2])
def test_the_accountant_brackets_any_two_laws_in_both_orders(rounds: int) -> None:
    others = [0, 1, 1, 2]
    laws = [judge.shuffled_law(judge.krr(3, 1.0), [x, *others]) for x in (0, 1)]
    first, second = laws if rounds == 1 else map(squared, laws)
    accountant = FourierAccountant.between(*laws, m=400_000)
    for epsilon in (0.0, 0.3, 1.1, 1.9):
        truth = max(judge.hockey_stick(first, second, epsilon), judge.hockey_stick(second, first, epsilon))
        delta = accountant.delta(epsilon=epsilon, rounds=rounds)
        assert delta.lower <= truth <= delta.upper
        assert delta.width < 1e-4
        if truth > 1e-9:
            inverse = accountant.epsilon(delta=truth, rounds=rounds)
            assert inverse.lower <= epsilon + 1e-9
            assert epsilon <= inverse.upper + 1e-9
            assert inverse.width < rounds * 3e-4


def test_a_finer_grid_brings_the_ends_together() -> None:
    p, q = (judge.shuffled_law(judge.krr(2, 1.0), [x, 0, 1]) for x in (0, 1))
    widths = [FourierAccountant.between(p, q, L=5.0, m=m).delta(epsilon=0.2).width for m in (100, 1000, 10_000)]
    assert widths[0] > 3.0 * widths[1] > 9.0 * widths[2] > 0.0
    short = FourierAccountant.between(p, q, L=0.5, m=1000).delta(epsilon=0.2)  # losses reach 1
    assert short.lower < judge.hockey_stick(p, q, 0.2) < short.upper


@pytest.mark.parametrize("delta", [1e-13, 1e-12])
def test_equal_laws_have_an_epsilon_below_what_rounding_may_do(delta: float) -> None:
    # no loss is above 0, so there is nothing to divide by
    law = {"yes": 0.35, "no": 0.65}
    found = FourierAccountant.between(law, law, m=100).epsilon(delta=delta)
    assert found.lower == 0.0
    assert found.upper <= 2e-12


def test_on_a_wide_grid_nothing_overflows() -> None:
    p, q = {0: 0.75, 1: 0.25}, {0: 0.25, 1: 0.75}
    ends = {L: FourierAccountant.between(p, q, L=float(L), m=m) for L, m in ((1000, 50_000), (800, 40_000))}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        delta = ends[1000].delta(epsilon=1.0, rounds=1000)
        epsilon = ends[800].epsilon(delta=1e-250, rounds=1000)
        first = FourierAccountant.between(p, q, L=2000.0, m=100).epsilon(delta=1e-6)
    assert 0.9999 < delta.lower <= delta.upper <= 1.0
    assert 699.0 < epsilon.lower < epsilon.upper  # e to the power of more is no float
    assert first.lower <= math.log(3.0) <= first.upper


def test_what_one_law_lacks_has_no_finite_epsilon() -> None:
    accountant = FourierAccountant.between({0: 0.9, 1: 0.1}, {0: 0.9, 2: 0.1}, m=1000)
    assert accountant.delta(epsilon=9.0, rounds=2).upper == pytest.approx(1.0 - 0.9**2)
    assert accountant.epsilon(delta=0.05).lower == math.inf


@pytest.mark.parametrize("n", [2, 3, 6, 11])
@pytest.mark.parametrize("epsilon0", [0.3, 1.0, 2.5])
def test_delta_at_infinity_is_the_papers_closed_form(n: int, epsilon0: float) -> None:
    printed = 0.5 ** (n - 1) * math.exp(-(n - 2) * epsilon0) / (math.exp(epsilon0) + 1.0)
    p, q = clones_laws(n, epsilon0, feldmans=False)
    assert sum(mass for outcome, mass in p.items() if not q.get(outcome)) == pytest.approx(printed, rel=1e-12)
    pair = clones_pair(n, epsilon0)
    lower, upper = (Grid(pair, m=1000, lower=side).infinite for side in (True, False))
    assert lower <= printed <= upper
    assert upper - lower == pytest.approx(pair.neglected, rel=1e-3)


@pytest.mark.parametrize("tau", [0.2, 1e-3, 1e-12])
@pytest.mark.parametrize(("trials", "p"), [(1, 0.5), (7, 0.01), (60, 0.3), (400, 0.97), (300, 0.5)])
def test_hoeffdings_range_loses_at_most_tau(trials: int, p: float, tau: float) -> None:
    low, high = hoeffding(trials, p, tau)
    outside = [binomial(trials, x, p) for x in range(trials + 1) if not low <= x <= high]
    assert math.fsum(outside) <= tau
    assert 0 <= low <= high <= trials


@pytest.mark.parametrize("tau", [0.3, 0.01, 1e-5])
def test_what_truncation_drops_is_added_to_delta(tau: float) -> None:
    for feldmans, build in ((False, clones_pair), (True, feldman_pair)):
        full, pair = clones_laws(90, 0.5, feldmans=feldmans), build(90, 0.5, tau=tau)
        kept = math.fsum(float(masses.sum()) for _, masses in pair.terms())
        assert 1.0 - pair.neglected <= kept <= 1.0 + 1e-12
        assert kept < 1.0 - 1e-3 * tau  # something was dropped
        lower, upper = ends(pair)
        for epsilon in (0.05, 0.2):
            assert lower.delta(epsilon) <= judge.hockey_stick(*full, epsilon) <= upper.delta(epsilon)
    for pair in (
        krr_weak_pair(60, 3, 0.4, tau=tau),
        krr_weak_pair(60, 3, 0.4, reading="exact", tau=tau),
        krr_strong_pair(60, 3, 0.4, tau=tau),
        krr_strong_pair(60, 3, 0.4, reading="exact", tau=tau),
        one_count_pair(60, 3, 0.4, adversary="weak", reverse=True, tau=tau),
        one_count_pair(60, 3, 0.4, adversary="strong", tau=tau),
    ):
        assert 1.0 - pair.neglected <= math.fsum(float(masses.sum()) for _, masses in pair.terms()) <= 1.0 + 1e-12


@pytest.mark.parametrize(("n", "epsilon0"), [(5, 1.0), (40, 2.0)])
def test_the_clones_pair_is_that_of_the_papers_lemma(n: int, epsilon0: float) -> None:
    """Lemma 11 and (6.5)-(6.8) of the first version, Lemma 12 and (5.5)-(5.8) of the revision, as printed."""
    p, q = math.exp(-epsilon0), math.exp(epsilon0) / (math.exp(epsilon0) + 1.0)

    def ratio(a: int, b: int) -> float:
        if b == 0:  # (6.6), with P_1 and P_0 by their definitions
            one, zero = (p / 2.0) ** (a - 1) * math.comb(n - 1, a - 1) if a else 0.0, 0.0
            one *= (1.0 - p) ** (n - a)
            if a < n:
                zero = math.comb(n - 1, a) * (p / 2.0) ** a * (1.0 - p) ** (n - 1 - a)
            return (q * one + (1.0 - q) * zero) / ((1.0 - q) * zero) if zero else math.inf
        hidden = (1.0 - q) * p / (1.0 - p) * (n - a - b) / (2.0 * b)
        return (q * a / b + hidden) / (q + hidden)

    def mass(a: int, b: int) -> float:
        if a == 0:
            return (1.0 - q) * math.comb(n - 1, b) * (p / 2.0) ** b * (1.0 - p) ** (n - 1 - b) if b < n else 0.0
        i, j = a + b - 1, a - 1
        shared = math.comb(n - 1, i) * math.comb(i, j) * p**i * (1.0 - p) ** (n - 1 - i) / 2.0**i
        return (q + (1.0 - q) * p / (1.0 - p) * (n - a - b) / (2.0 * a)) * shared

    counts = [(a, b) for a in range(n + 1) for b in range(n + 1 - a) if mass(a, b) > 1e-9]
    printed = sorted((round(math.log(ratio(a, b)), 9), mass(a, b)) for a, b in counts)
    terms = [each for row in clones_pair(n, epsilon0).terms() for each in zip(*row, strict=True)]
    ours = sorted((round(float(loss), 9), float(each)) for loss, each in terms if each > 1e-9)
    assert np.array(ours) == pytest.approx(np.array(printed), rel=1e-8)


@pytest.mark.parametrize("n", [10**4, 10**6])
def test_rounding_of_factorials_is_on_the_safe_side(n: int) -> None:
    pair = clones_pair(n, 4.0)
    lower, upper = (Grid(pair, m=10_000, lower=side) for side in (True, False))
    assert lower.masses.sum() + lower.infinite <= 1.0 <= upper.masses.sum() + upper.infinite


def test_what_an_accountant_cannot_take_is_refused() -> None:
    half = {0: 0.5, 1: 0.5}
    for wrong in ({0: 0.5, 1: 0.4}, {0: 1.5, 1: -0.5}, {}):
        with pytest.raises(InvalidInput, match="probabilities that add up to 1"):
            Pair.of(half, wrong)
    for no_number in (math.nan, math.inf, "0.5", [0.5]):
        with pytest.raises(InvalidInput, match="a probability must be"):
            Pair.of(half, {0: no_number, 1: 0.5})  # type: ignore[dict-item]
    for width in (1e308, 1e-320):
        with pytest.raises(InvalidInput, match=r"L must lie in \[1e-06, 1e\+06\]"):
            FourierAccountant.between(half, half, L=width).delta(epsilon=1.0)
    with pytest.raises(InvalidInput, match="m must be at most 100000000"):
        FourierAccountant.between(half, half, m=10**30).delta(epsilon=1.0)
    with pytest.raises(InvalidInput, match="must be given a pair"):
        FourierAccountant()
    accountant = FourierAccountant.between(half, half, m=1001)
    for odd in (lambda: accountant.delta(epsilon=1.0), lambda: Grid(feldman_pair(50, 2.0), m=1001)):
        with pytest.raises(InvalidInput, match="m must be even, got 1001"):
            odd()
    with pytest.raises(InvalidInput, match="rounds must be at least 1"):
        FourierAccountant.between(half, half, m=1000).delta(epsilon=1.0, rounds=0)


@pytest.mark.filterwarnings("error")
def test_a_ratio_above_every_float_is_an_infinite_loss() -> None:
    accountant = FourierAccountant.between({0: 0.5, 1: 0.5}, {0: 1e-320, 1: 1.0}, m=1000)
    bound = accountant.delta(epsilon=1.0)
    assert bound.lower == pytest.approx(0.5) == bound.upper
