"""One round of every finite randomizer against the enumeration of all datasets, both orders: lower
<= exact <= upper.
"""

from __future__ import annotations

import math
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import shuffledp as sdp
from shuffledp.judge import enumeration
from shuffledp.randomizers import AnyDeletionLDP, Randomizer
from shuffledp.testing import ABSOLUTE, assert_between, merged
from tests.contracts.enclosure import AWKWARD, FAMILIES, SHARES, awkward_matrices, ends, family, from_matrix, names_at
from tests.oracle import adaptive

EVERY = [(name, e0) for e0 in (0.3, 1.5, 6.0) for name in names_at(e0)]


@pytest.mark.parametrize("name, e0", EVERY)
def test_every_family_encloses_the_worst_dataset(name: str, e0: float) -> None:
    randomizer, rows = family(name, e0)
    rows, epsilons = merged(rows), randomizer.epsilon0 * SHARES
    for n in (1, 2, 3, 4, 6, 8):
        lower, upper = ends(sdp.shuffle(randomizer, n=n), epsilons)
        assert_between(lower, enumeration.worst_delta(rows, n, epsilons), upper, (randomizer, n))
        assert lower[-1] == upper[-1] == 0.0  # no pure randomizer leaks more than epsilon0


@pytest.mark.parametrize("name", AWKWARD)
def test_matrices_enclose_the_worst_dataset(name: str) -> None:
    rows = awkward_matrices()[name]
    randomizer = from_matrix(rows)
    e0 = randomizer.epsilon0
    epsilons = e0 * SHARES if math.isfinite(e0) else np.array([0.0, 1e-3, 0.3, 1.0, 3.0, 10.0, 30.0])
    for n in (1, 2, 3, 5, 8 if rows.shape[1] < 4 else 6):
        lower, upper = ends(sdp.shuffle(randomizer, n=n), epsilons)
        assert_between(lower, enumeration.worst_delta(rows, n, epsilons), upper, (name, n))


@pytest.mark.parametrize(
    "name, e0", [("krr 2", 1.0), ("krr 3", 1.0), ("rappor 2", 2.0), ("hadamard 3", 0.3), ("zeros 3x3", math.inf)]
)
def test_single_answers_enclose_the_worst_dataset(name: str, e0: float) -> None:
    """At the accuracy users get, delta(epsilon=...) and epsilon(delta=...)."""
    rows = awkward_matrices().get(name)
    randomizer: Randomizer
    randomizer, rows = family(name, e0) if rows is None else (from_matrix(rows), rows)
    for n, epsilon, delta in ((2, 0.4, 0.02), (5, 0.15, 1e-3)):
        mechanism, exact = sdp.shuffle(randomizer, n=n), enumeration.worst_delta(merged(rows), n, epsilon)[0]
        bound = mechanism.delta(epsilon=epsilon)
        assert_between(bound.lower, exact, bound.upper, (randomizer, n))
        lower, upper = mechanism.epsilon(delta=delta)
        assert lower - 1e-12 <= enumeration.worst_epsilon(merged(rows), n, delta) <= upper + 1e-12


def test_an_epsilon_that_does_not_exist_is_infinite() -> None:
    """All others hold 0: with probability 0.6 the target's report 2 shows that it holds 1."""
    rows = [[0.4, 0.6, 0.0], [0.4, 0.0, 0.6]]
    mechanism = sdp.shuffle(sdp.FromMatrix(rows), n=3)
    assert enumeration.worst_epsilon(rows, 3, 0.3) == math.inf
    assert mechanism.epsilon(delta=0.3).upper == math.inf
    lower, upper = mechanism.epsilon(delta=0.61)
    assert lower <= enumeration.worst_epsilon(rows, 3, 0.61) + 1e-12 <= upper + 1e-12 < 1.0


@settings(max_examples=150)
@given(
    e0=st.one_of(
        st.floats(-6.0, math.log10(30.0)).map(lambda power: 10.0**power),
        st.sampled_from([1e-6, 1e-3, math.log(2.0), 15.0, 30.0]),
    ),
    name=st.sampled_from(list(FAMILIES)),
    n=st.integers(1, 6),
    shares=st.lists(
        st.one_of(st.floats(0.0, 1.0), st.floats(-9.0, -1.0).map(lambda p: 1.0 - 10.0**p)), min_size=1, max_size=5
    ),
    gap=st.sampled_from([1e-2, 1e-3, 1e-4]),
)
def test_enclosure_at_any_parameters(e0: float, name: str, n: int, shares: list[float], gap: float) -> None:
    randomizer, rows = family(name, e0)
    epsilons = e0 * np.sort(shares)
    lower, upper = ends(sdp.shuffle(randomizer, n=n), epsilons, gap)
    assert_between(lower, enumeration.worst_delta(merged(rows), n, epsilons), upper, (randomizer, n, gap))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 6),
    k=st.integers(2, 4),
    outputs=st.integers(2, 4),
    zeros=st.floats(0.0, 0.5),
    spread=st.floats(-1.5, 1.0),
)
def test_enclosure_of_any_matrix(seed: int, n: int, k: int, outputs: int, zeros: float, spread: float) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(outputs, 10.0**spread), size=k)
    rows[rng.random(rows.shape) < zeros] = 0.0
    rows[rows.sum(axis=1) == 0.0, 0] = 1.0
    rows /= rows.sum(axis=1, keepdims=True)
    assume(not np.all(rows == rows[0]))  # a report that says nothing is refused
    epsilons = np.concatenate([[0.0], rng.uniform(0.0, 3.0, 4), rng.uniform(0.0, 12.0, 2)])
    lower, upper = ends(sdp.shuffle(from_matrix(rows), n=n), epsilons, 1e-3)
    assert_between(lower, enumeration.worst_delta(rows, n, epsilons), upper, rows)


@pytest.mark.parametrize("adversary, exact", [("weak", enumeration.weak_delta), ("strong", enumeration.strong_delta)])
@pytest.mark.parametrize("e0", [0.3, 2.0, 5.0])
def test_weak_and_strong_views_are_enclosed_closely(adversary: str, exact: object, e0: float) -> None:
    names = ("krr 2", "krr 3", "krr 4", "local hash 2", "rappor 3", "hadamard 3")
    cases = [family(name, e0) for name in names] + (
        [(from_matrix(rows), rows) for rows in list(awkward_matrices().values())[:11]] if e0 == 2.0 else []
    )
    epsilons = np.array([0.0, 0.1, 0.5, 0.9, 0.999, 1.3]) * e0
    for randomizer, rows in cases:
        rows = merged(rows)
        for n in (1, 2, 4, 6):
            values = [
                max(exact(rows, n, pair, epsilon) for pair in permutations(range(len(rows)), 2)) for epsilon in epsilons
            ]  # type: ignore[operator]
            lower, upper = ends(sdp.shuffle(randomizer, n=n, adversary=adversary), epsilons, 1e-4)  # type: ignore[arg-type]
            assert_between(lower, values, upper, (randomizer, n, adversary))
    bound = sdp.shuffle(cases[1][0], n=4, adversary=adversary).delta(epsilon=0.5 * e0)  # type: ignore[arg-type]
    assert_between(
        bound.lower, max(exact(cases[1][1], 4, pair, 0.5 * e0) for pair in permutations(range(3), 2)), bound.upper
    )  # type: ignore[operator]
    assert bound.width <= 1e-4 * bound.upper


def test_adversaries_who_see_more_learn_more() -> None:
    epsilons = np.linspace(0.0, 1.9, 8)
    views = [
        ends(sdp.shuffle(sdp.KRR(k=3, epsilon0=2.0), n=6, adversary=adversary), epsilons)
        for adversary in ("shuffled", "weak", "strong")
    ]
    for (less, _), (_, more) in pairwise(views):
        assert np.all(less <= more)


@pytest.mark.parametrize(
    "randomizer",
    [sdp.RR(epsilon0=1.0), sdp.KRR(k=4, epsilon0=2.0), sdp.AnyLDP(epsilon0=1.0), sdp.AnyLDP(epsilon0=1.0, delta0=1e-4)],
    ids=str,
)
def test_colluders_hide_nobody(randomizer: Randomizer) -> None:
    some, few = sdp.shuffle(randomizer, n=50, honest=20), sdp.shuffle(randomizer, n=20)
    epsilons = np.linspace(0.0, 0.9, 7)
    for end in ("lower", "upper"):
        assert np.array_equal(some._end(end, epsilons, 1e-3), few._end(end, epsilons, 1e-3))  # type: ignore[arg-type]
    assert any("20 of the 50 people" in assumption for assumption in some.assumptions)


@pytest.mark.parametrize("e0", [0.4, 1.0, 2.5])
@pytest.mark.parametrize("n", [2, 3, 5])
def test_no_bad_matrix_exceeds_any_ldp(e0: float, n: int) -> None:
    """Extreme matrices, weights searched to leak the most, at every epsilon; and the lower end is
    attained by 2-RR or 3-RR.
    """
    epsilons = e0 * SHARES
    lower, upper = ends(sdp.shuffle(sdp.AnyLDP(epsilon0=e0), n=n), epsilons)
    rng = np.random.default_rng(round(100 * e0) + n)
    for k, outputs, share in ((2, 2, 0.5), (3, 3, 0.3), (3, 4, 0.8), (4, 4, 0.5)):
        rows = adaptive.bad_ldp_matrix(rng, k, outputs, e0, n=n, eps=share * e0, steps=25)
        assert adaptive.ldp_level(rows) <= e0 + 1e-12
        assert np.all(enumeration.worst_delta(rows, n, epsilons) <= upper * (1.0 + 1e-12) + 1e-14)
    attained = np.maximum(*(enumeration.worst_delta(enumeration.krr(k, e0), n, epsilons) for k in (2, 3)))
    assert_between(lower, attained, upper)
    weak = ends(sdp.shuffle(sdp.AnyLDP(epsilon0=e0), n=n, adversary="weak"), epsilons)
    assert_between(
        weak[0], [enumeration.weak_delta(enumeration.krr(2, e0), n, (0, 1), epsilon) for epsilon in epsilons], weak[1]
    )


@pytest.mark.parametrize("n, outputs", [(1, 3), (2, 2), (2, 3), (3, 2), (3, 3)])
@pytest.mark.parametrize("e0", [0.5, 1.5])
def test_no_adaptive_tree_exceeds_any_ldp(n: int, outputs: int, e0: float) -> None:
    shares = np.array([0.0, 0.2, 0.5, 0.7, 0.95])
    _, upper = ends(sdp.shuffle(sdp.AnyLDP(epsilon0=e0), n=n), e0 * shares)
    rng = np.random.default_rng(n)
    for share, bound in zip(shares, upper, strict=True):
        _, delta = adaptive.worst_tree(rng, n, outputs, e0, share * e0, steps=60)
        assert delta <= bound * (1.0 + 1e-12) + 1e-14
        assert share < 0.5 or n == 1 or delta > 0.25 * bound  # the search does find bad trees
        trees = (adaptive.random_tree(rng, n, outputs, e0) for _ in range(5))
        assert all(adaptive.adaptive_delta(tree, share * e0) <= bound + 1e-14 for tree in trees)


@pytest.mark.parametrize("delta0", [1e-9, 1e-4, 0.02])
@pytest.mark.parametrize("e0", [0.5, 2.0])
def test_leaky_randomizers_stay_below_any_ldp(e0: float, delta0: float) -> None:
    """Show the input with probability delta0, else k-RR: (e0, delta0)-LDP."""
    epsilons = np.array([0.0, 0.1, 0.5, 0.9, 1.0, 1.5, 3.0]) * e0
    for n in (1, 2, 4, 6):
        lower, upper = ends(sdp.shuffle(sdp.AnyLDP(epsilon0=e0, delta0=delta0), n=n), epsilons)
        leaky = [np.hstack([(1.0 - delta0) * enumeration.krr(k, e0), delta0 * np.eye(k)]) for k in (2, 3)]
        exact = [enumeration.worst_delta(rows, n, epsilons) for rows in leaky]
        assert np.all(np.maximum(*exact) <= upper * (1.0 + 1e-12) + ABSOLUTE)
        assert_between(lower, exact[1], upper)


@pytest.mark.parametrize("e0", [0.1, 0.5, 1.0, 2.5])
@pytest.mark.parametrize("n", [1, 2, 4, 7])
def test_no_deletion_matrix_exceeds_any_deletion_randomizer(e0: float, n: int) -> None:
    """Random references and vertices around them; and the datasets of the lower end, which are such
    matrices, attain it.
    """
    anything = AnyDeletionLDP(epsilon0=e0)
    epsilons = 2.0 * e0 * SHARES
    lower, upper = ends(sdp.shuffle(anything, n=n), epsilons)
    rng = np.random.default_rng(round(100 * e0) + n)
    for k, outputs in ((2, 2), (2, 3), (3, 3), (2, 4), (3, 5)) if n < 7 else ((2, 3), (3, 3)):
        for _ in range(5):
            rows = adaptive.deletion_matrix(rng, k, outputs, e0)
            assert np.all(enumeration.worst_delta(rows, n, epsilons) <= upper * (1.0 + 1e-12) + ABSOLUTE)
    for atoms in anything.datasets():
        held = np.stack([atoms.hay, atoms.needle0, atoms.needle1])
        assert held.sum(axis=1) == pytest.approx(1.0)
        least, most = held.max(axis=0) * math.exp(-e0), held.min(axis=0) * math.exp(e0)  # of their reference
        assert np.all(least <= most * (1.0 + 1e-12))
        assert least.sum() - 1e-12 <= 1.0 <= most.sum() + 1e-12
        assert np.all(enumeration.worst_delta(held[1:], n, epsilons) <= upper * (1.0 + 1e-12) + ABSOLUTE)
    attained = [
        [enumeration.haystack_delta(atoms.hay, atoms.needle0, atoms.needle1, n, epsilon) for epsilon in epsilons]
        for atoms in anything.datasets()
    ]
    assert_between(lower, np.max(attained, axis=0), upper)
    weak = ends(sdp.shuffle(anything, n=n, adversary="weak"), epsilons)
    x0, x1 = anything.clones().needle0, anything.clones().needle1
    assert_between(
        weak[0], [enumeration.weak_delta(np.stack([x0, x1]), n, (0, 1), epsilon) for epsilon in epsilons], weak[1]
    )


@pytest.mark.parametrize("n, outputs", [(1, 3), (2, 2), (2, 4), (3, 2), (3, 3)])
@pytest.mark.parametrize("e0", [0.5, 1.5])
def test_no_adaptive_tree_with_references_exceeds_any_deletion_randomizer(n: int, outputs: int, e0: float) -> None:
    epsilons = 2.0 * e0 * np.array([0.0, 0.1, 0.3, 0.6, 0.9])
    _, upper = ends(sdp.shuffle(AnyDeletionLDP(epsilon0=e0), n=n), epsilons)
    rng = np.random.default_rng(n)
    for _ in range(20):
        tree = adaptive.random_tree(rng, n, outputs, e0, adaptive.deletion_matrix)
        found = [adaptive.adaptive_delta(tree, float(epsilon)) for epsilon in epsilons]
        assert np.all(found <= upper * (1.0 + 1e-12) + ABSOLUTE)


@pytest.mark.parametrize("e0", [0.1, 0.6, 2.0])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_approximate_deletion_costs_at_most_the_distance(n: int, e0: float) -> None:
    """A few outputs of every row moved anywhere; delta0 is what the rows then have."""
    epsilons = 2.0 * e0 * np.array([0.0, 0.1, 0.4, 0.8, 1.0, 1.5])
    rng, growth = np.random.default_rng(round(10 * e0) + n), math.exp(e0)
    for outputs, moved in ((2, 0.3), (3, 0.1), (3, 1e-2), (4, 1e-4)):
        pure = adaptive.deletion_matrix(rng, 3, outputs, e0)
        reference = pure.mean(axis=0)  # not that of the rows, and as good as any
        rows = (1.0 - moved) * pure + moved * rng.dirichlet(np.full(outputs, 0.2), size=3)
        gaps = [np.maximum(rows - growth * reference, 0.0), np.maximum(reference - growth * rows, 0.0)]
        delta0 = max(float(gap.sum(axis=1).max()) for gap in gaps)
        randomizer = AnyDeletionLDP(epsilon0=e0, delta0=delta0)
        lower, upper = ends(sdp.shuffle(randomizer, n=n), epsilons)
        assert np.all(lower <= upper)
        assert np.all(enumeration.worst_delta(rows, n, epsilons) <= upper * (1.0 + 1e-12) + ABSOLUTE)
        largest, delta = randomizer.replaced
        assert enumeration.worst_delta(rows, 1, [largest])[0] <= delta + ABSOLUTE
        assert randomizer.local_delta(epsilon=largest) == delta


def test_two_rounds_of_a_deletion_matrix_stay_below_any_deletion_randomizer() -> None:
    epsilons = np.array([0.1, 0.4, 0.8, 1.5])
    for e0, n in ((0.3, 3), (1.0, 2)):
        anything = AnyDeletionLDP(epsilon0=e0)
        rows = np.stack([anything.clones().needle0, anything.clones().needle1])
        _, upper = ends(sdp.shuffle(anything, n=n).compose(2), epsilons)
        assert np.all(enumeration.rounds_delta([rows] * 2, n, epsilons) <= upper)


def test_a_local_delta_is_never_below_what_one_report_has() -> None:
    assert sdp.AnyLDP(epsilon0=1.0, delta0=1e-3).local_delta(epsilon=1.0) == 1e-3
    assert AnyDeletionLDP(epsilon0=1.0).local_delta(epsilon=1.5) == 1.0
    assert AnyDeletionLDP(epsilon0=1.0).local_delta(epsilon=2.0) == 0.0
