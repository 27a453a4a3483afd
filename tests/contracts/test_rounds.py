"""Several rounds: against the enumerated product of laws, against dp-accounting, and against common
sense.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, reduce
from itertools import combinations, permutations, product

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as google
from scipy.stats import binom

import shuffledp as sdp
from shuffledp._types import Floats
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.haystack import BinaryDataset
from shuffledp.accounting.pld import Composition, optimistic, pessimistic
from shuffledp.judge import enumeration
from shuffledp.randomizers import AnyDeletionLDP, Randomizer
from shuffledp.testing import ABSOLUTE, assert_between, merged
from tests.contracts.enclosure import AWKWARD, awkward_matrices, ends, family, from_matrix

SHARES = np.array([0.0, 0.1, 0.3, 0.6, 0.9, 0.999, 1.3, 1.7, 1.99])  # of epsilon0: two rounds reach to 2


@pytest.mark.parametrize("e0", [0.7, 5.0])
@pytest.mark.parametrize(
    "name", ["krr 2", "krr 3", "rappor 2", "local hash 2", "rappor 3", "oue 3", "subset 4, 2", "hadamard 4"]
)
def test_two_and_three_rounds_enclose_the_enumerated_product(name: str, e0: float) -> None:
    randomizer, rows = family(name, e0)
    rows, epsilons = merged(rows), randomizer.epsilon0 * SHARES
    few = rows.shape[1] <= 4
    for n, rounds in ((1, 2), (2, 2), (4, 2), (3, 3)):
        if few or n <= 2:
            lower, upper = ends(sdp.shuffle(randomizer, n=n).compose(rounds), epsilons)
            assert_between(
                lower, enumeration.rounds_delta([rows] * rounds, n, epsilons), upper, (randomizer, n, rounds)
            )


@pytest.mark.parametrize("name", AWKWARD[:-1])
def test_two_rounds_of_any_matrix(name: str) -> None:
    """With zeros in the matrix, some losses are infinite."""
    rows = awkward_matrices()[name]
    randomizer = from_matrix(rows)
    epsilons = (
        np.array([0.0, 0.05, 0.3, 1.0, 2.0, 5.0]) if math.isinf(randomizer.epsilon0) else randomizer.epsilon0 * SHARES
    )
    for n in (1, 3) if name in AWKWARD[::2] else (3,):  # one user: every other matrix
        lower, upper = ends(sdp.shuffle(randomizer, n=n).compose(2), epsilons)
        assert_between(lower, enumeration.rounds_delta([rows] * 2, n, epsilons), upper, (name, n))


@pytest.mark.parametrize(
    "adversary, view",
    [("weak", lambda rows: enumeration.blanket(rows)[0]), ("strong", lambda rows: enumeration.blanket(rows)[0])],
)
def test_two_rounds_of_the_weak_and_strong_views(adversary: str, view: Callable[[Floats], float]) -> None:
    """Views of k-RR, each with its own coins: the product of the views, enumerated."""
    rows, n, e0 = enumeration.krr(3, 1.5), 3, 1.5
    gamma, omega, nu = enumeration.blanket(rows)
    needles = rows if adversary == "weak" else nu
    hay = np.append(gamma * omega, 1.0 - gamma)
    laws = [enumeration._law([hay] * (n - 1) + [np.append(needles[x], 0.0)], n) for x in (0, 1)]
    if adversary == "strong":  # the target's coin is seen, and says "blanket" with probability gamma
        blank = enumeration._law([hay] * (n - 1) + [np.append(omega, 0.0)], n)
        laws = [np.concatenate([gamma * blank, (1.0 - gamma) * law]) for law in laws]
    twice = [np.multiply.outer(law, law).ravel() for law in laws]
    epsilons = e0 * SHARES
    exact = [max(enumeration.hockey_stick(*pair, epsilon) for pair in permutations(twice)) for epsilon in epsilons]
    lower, upper = ends(sdp.shuffle(sdp.KRR(k=3, epsilon0=e0), n=n, adversary=adversary).compose(2), epsilons)  # type: ignore[arg-type]
    assert_between(lower, exact, upper, adversary)
    assert view(rows) == pytest.approx(3.0 / (math.exp(e0) + 2.0))


OF_TWO, OF_THREE = ("krr 2", "oue 2", "blh 2"), ("krr 3", "rappor 3", "subset 3, 2")
LOOSE = [("loose 0", "loose 2"), ("loose 1", "loose 3")]
# Two randomizers of the same inputs, once in the other order: that it does not matter has a test of its own.
MIXED = [*combinations(OF_TWO, 2), *combinations(OF_THREE, 2), ("blh 2", "krr 2"), *LOOSE]


@cache
def one_of_two(name: str) -> tuple[Randomizer, Floats]:
    if name.startswith("loose"):
        rows = np.random.default_rng(5).dirichlet(np.ones(3), size=(4, 3))[int(name[-1])]
        return from_matrix(rows), rows
    return family(name, 1.0 if name in OF_TWO else 2.0)


MIXED_EPSILONS = np.array([0.0, 0.1, 0.3, 0.6, 1.0, 1.5, 2.0])


def both(first: Randomizer, second: Randomizer, n: int) -> Guarantee:
    return sdp.Accountant().add(sdp.shuffle(first, n=n)).add(sdp.shuffle(second, n=n)).total


@pytest.mark.parametrize("one, other", MIXED)
def test_different_mechanisms_over_the_same_data(one: str, other: str) -> None:
    """One and the same dataset goes through both."""
    (first, rows), (second, others) = one_of_two(one), one_of_two(other)
    for n in (3,) if (one, other) in LOOSE else (2, 3):  # slow curves, and of two users below
        if n == 2 or rows.shape[1] * others.shape[1] <= 16:
            lower, upper = ends(both(first, second, n), MIXED_EPSILONS)
            exact = enumeration.rounds_delta([merged(rows), merged(others)], n, MIXED_EPSILONS)
            assert np.all(exact <= upper * (1.0 + 1e-12) + ABSOLUTE), (first, second, n)
            assert np.all(lower <= exact * (1.0 + 1e-12) + ABSOLUTE), (first, second, n, lower - exact)


@pytest.mark.parametrize("one, other", MIXED[::4])
def test_different_mechanisms_over_different_data_of_the_same_users(one: str, other: str) -> None:
    """Each reads its own attribute: any dataset of the first with any dataset of the second."""
    (first, rows), (second, others) = one_of_two(one), one_of_two(other)
    lower, upper = ends(both(first, second, 2), MIXED_EPSILONS)
    exact = np.zeros(MIXED_EPSILONS.size)
    for a, b in product(
        enumeration.neighbouring_laws(merged(rows), 2), enumeration.neighbouring_laws(merged(others), 2)
    ):
        for (p0, q0), (p1, q1) in product(permutations(a, 2), permutations(b, 2)):
            joint = [np.multiply.outer(x, y).ravel() for x, y in ((p0, p1), (q0, q1))]
            exact = np.maximum(exact, [enumeration.hockey_stick(*joint, epsilon) for epsilon in MIXED_EPSILONS])
    assert_between(lower, exact, upper, (first, second))


def test_order_and_grouping_of_rounds_do_not_matter() -> None:
    survey, vote = sdp.shuffle(sdp.KRR(k=4, epsilon0=2.0), n=5000), sdp.shuffle(sdp.RR(epsilon0=1.0), n=5000)
    assert survey.compose(1) is survey
    assert tuple(sdp.Accountant().add(survey).epsilon(delta=1e-6)) == tuple(survey.epsilon(delta=1e-6))
    assert tuple(survey.compose(2).compose(3).epsilon(delta=1e-6)) == tuple(survey.compose(6).epsilon(delta=1e-6))
    assert tuple(sdp.Accountant().add(survey, rounds=6).epsilon(delta=1e-6)) == tuple(
        survey.compose(6).epsilon(delta=1e-6)
    )
    ways = [
        sdp.Accountant().add(survey, rounds=2).add(vote, rounds=3),
        sdp.Accountant().add(vote, rounds=3).add(survey, rounds=2),
        sdp.Accountant().add(survey).add(vote.compose(3)).add(survey),
    ]
    answers = [way.epsilon(delta=1e-6) for way in ways]
    for answer in answers[1:]:
        assert tuple(answer) == pytest.approx(tuple(answers[0]), rel=1e-6)


@pytest.mark.parametrize(
    "randomizer, n",
    [
        (sdp.RR(epsilon0=1.0), 1000),
        (sdp.KRR(k=8, epsilon0=3.0), 10**4),
        (sdp.AnyLDP(epsilon0=1.0), 10**5),
        (AnyDeletionLDP(epsilon0=1.0), 10**4),
        (sdp.Gaussian(sigma=2.0), 10**4),
    ],
    ids=str,
)
def test_more_rounds_leak_more(randomizer: Randomizer, n: int) -> None:
    once, before = sdp.shuffle(randomizer, n=n), None
    for rounds in (1, 2, 10, 1000, 10**5):
        bound = once.compose(rounds).epsilon(delta=1e-6)
        assert 0.0 < bound.lower <= bound.upper <= rounds * once.epsilon(delta=1e-6 / rounds).upper * (1.0 + 1e-6)
        if before is not None:
            assert bound.upper >= before.upper * 0.999
            assert bound.lower >= before.lower * 0.98  # the pair may be another one, and its PLD is rounded
        before = bound


def test_composition_keeps_small_deltas() -> None:
    mechanism = sdp.shuffle(sdp.KRR(k=4, epsilon0=2.0), n=10**5)
    for rounds in (2, 16, 300):
        composed = mechanism.compose(rounds)
        bound = composed.epsilon(delta=1e-50)
        assert bound.upper / bound.lower < 1.06
        at_upper, at_lower = composed.delta(epsilon=bound.upper), composed.delta(epsilon=bound.lower)
        assert at_upper.upper <= 1e-50 * (1.0 + 1e-9)
        assert at_lower.lower >= 1e-50 * (1.0 - 1e-9)
        assert bound.lower > composed.epsilon(delta=1e-40).upper


def google_pld(
    P: Floats, Q: Floats, *, pessimistic_estimate: bool, step: float = 1e-4
) -> google.PrivacyLossDistribution:
    """dp-accounting's own discretisation of an explicit pair, in both orders."""
    seen = (P > 1e-280) & (Q > 1e-280)
    log_p, log_q = (dict(zip(range(int(seen.sum())), np.log(law[seen]).tolist(), strict=True)) for law in (P, Q))
    return google.from_two_probability_mass_functions(
        log_q, log_p, pessimistic_estimate=pessimistic_estimate, value_discretization_interval=step, symmetric=False
    )


@pytest.mark.parametrize("rounds", [1, 4, 16, 64])
def test_dp_accounting_agrees_on_the_blanket_pair(rounds: int) -> None:
    """The weak view of binary RR among 200 users, its 20,300 outcomes listed: both enclose the same
    number.
    """
    n, e0 = 200, 1.0
    gamma, q = 2.0 / (math.e + 1.0), math.e / (math.e + 1.0)
    laws = np.zeros((2, n + 1, n + 1))
    for m in range(n):  # others in the hay
        hay, a = binom.pmf(m, n - 1, gamma) * binom.pmf(np.arange(m + 1), m, 0.5), np.arange(m + 1)
        for law, high in zip(laws, (q, 1.0 - q), strict=True):
            law[a + 1, m - a] += high * hay
            law[a, m - a + 1] += (1.0 - high) * hay
    low, high = (
        google_pld(*laws.reshape(2, -1), pessimistic_estimate=side).self_compose(rounds) for side in (False, True)
    )
    ours = sdp.shuffle(sdp.RR(epsilon0=e0), n=n, adversary="weak").compose(rounds)
    for delta in (1e-3, 1e-6):
        bound, theirs = ours.epsilon(delta=delta), (low.get_epsilon_for_delta(delta), high.get_epsilon_for_delta(delta))
        assert bound.lower <= theirs[1]
        assert theirs[0] <= bound.upper
        assert (bound.lower, bound.upper) == pytest.approx(theirs, rel=4e-3)


@pytest.mark.parametrize("rounds", [1, 4, 16, 64])
@pytest.mark.parametrize("n, e0", [(200, 1.0), (10**4, 4.0)])
def test_dp_accounting_agrees_on_an_explicit_dataset(rounds: int, n: int, e0: float) -> None:
    """Binary RR, all others hold 0 (Koskela et al. 2021, first version, section 4)."""
    p, q = 1.0 / (math.exp(e0) + 1.0), 1.0 / (math.exp(-e0) + 1.0)
    others = binom.pmf(np.arange(n), n - 1, p)
    P, Q = np.convolve(others, [q, p]), np.convolve(others, [p, q])
    theirs = [
        google_pld(P, Q, pessimistic_estimate=side).self_compose(rounds).get_epsilon_for_delta(1e-6)
        for side in (False, True)
    ]
    dataset = BinaryDataset(e0, n - 1, 0)
    spacing = math.sqrt(2.0 * math.pi) * dataset.bounds(np.zeros(1))[1][0] / 60.0
    knots = np.arange(math.ceil(min(e0, 1.2) / spacing) + 1.0)
    bands = [curve.bounds(spacing * knots) for curve in (dataset, dataset.swapped())]
    better = [optimistic(*bands[::order], knots, spacing) for order in (1, -1)]
    worse = pessimistic(
        lambda epsilons: reduce(np.maximum, (curve.bounds(epsilons)[1] for curve in (dataset, dataset.swapped()))),
        knots,
        spacing,
    )
    lower = max(Composition([(pld, rounds)]).epsilon(1e-6, "lower") for pld in better)
    upper = Composition([(worse, rounds)]).epsilon(1e-6, "upper")
    assert lower <= theirs[1]
    assert theirs[0] <= upper
    assert lower == pytest.approx(theirs[0], rel=0.02)
    assert upper == pytest.approx(theirs[1], rel=0.1)  # one curve above both orders
    if rounds > 1:  # the mechanism's own lower end is at least as good as this dataset, up to its grid
        assert sdp.shuffle(sdp.RR(epsilon0=e0), n=n).compose(rounds).epsilon(delta=1e-6).upper >= theirs[0]
