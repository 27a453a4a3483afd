"""The first-clone swap by direct sums: slot by slot, and a sample of tests.literature.swap_search."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pytest

from shuffledp.judge import haystack_delta, hockey_stick, krr, shuffled_law, worst_delta
from tests.literature.swap_cases import staircase
from tests.literature.swap_search import search
from tests.oracle import adaptive
from tests.oracle.first_clone import (
    adaptive_delta,
    clone_share,
    first_clone_delta,
    kinds_delta,
    mean_of_positive_part,
    score,
    slots_delta,
    static_delta,
)


@pytest.mark.parametrize("seed", range(6))
def test_a_needle_among_slots_is_what_all_views_in_order_say(seed: int) -> None:
    """Four outputs, of which some lack hay, and "nothing"."""
    rng = np.random.default_rng(seed)
    hays = rng.dirichlet(np.ones(5), size=3)[:, :4] * (rng.random((3, 4)) < 0.7)
    needles = rng.dirichlet(np.ones(4), size=2)
    full = np.column_stack([hays, 1.0 - hays.sum(axis=1)])
    laws = [np.zeros(5**3), np.zeros(5**3)]
    for law, needle in zip(laws, needles, strict=True):
        padded = np.append(needle, 0.0)
        for place, view in enumerate(product(range(5), repeat=3)):
            chances = [
                math.prod(padded[y] if i == held else full[i, y] for i, y in enumerate(view)) for held in range(3)
            ]
            law[place] = sum(chances) / 3
    for eps in (0.0, 0.4, 1.3):
        assert slots_delta(hays, *needles, eps) == pytest.approx(hockey_stick(*laws, eps), abs=1e-14)


def test_alike_slots_are_the_haystack() -> None:
    hay, needles = np.array([0.1, 0.3, 0.2]), krr(3, 1.0)
    for eps in (0.1, 0.7):
        expected = haystack_delta(hay, needles[0], needles[1], 5, eps)
        assert slots_delta([hay] * 5, needles[0], needles[1], eps) == pytest.approx(expected, abs=1e-14)


def test_the_theorem_holds_on_a_sample() -> None:
    found = search(48, 7)
    assert found.violations == []
    assert found.comparisons["theorem"] > 200
    assert found.comparisons["moduli, largest kind"] > 60
    assert found.closest["theorem"] > 0.99


def test_it_is_an_equality_if_everybody_else_holds_one_value() -> None:
    """Then the clone may have that value's law, and there is one with certainty."""
    rows = krr(3, 1.5)
    others = [rows[2]] * 5
    laws = [np.array(list(shuffled_law(rows, [target, *[2] * 5]).values())) for target in (0, 1)]
    for eps in (0.1, 0.6, 1.1):
        bound = first_clone_delta(rows[0], rows[1], others, rows[2], eps, kappa=0.0, levels=[0.0])
        assert clone_share(others, rows[2]) == 1.0
        assert bound == pytest.approx(hockey_stick(*laws, eps), abs=1e-14)


def test_the_blanket_of_the_laws_before_the_clones_is_no_bound_after_them() -> None:
    """Who has not drawn a clone has another law, (h - u omega) / (1 - u), and less to hide in."""
    rows, n, eps = krr(3, 2.4497), 5, 0.6
    others, omega = rows[[0] * (n - 1)], 0.5 * (rows[0] + rows[1])
    exact = hockey_stick(*(list(shuffled_law(rows, [target, 0, 0, 0, 0]).values()) for target in (0, 1)), eps)
    kappa = clone_share(others, omega)
    right = first_clone_delta(rows[0], rows[1], others, omega, eps)
    after, before = (
        slots_delta(np.tile(hay, (n, 1)), rows[0], rows[1], eps)
        for hay in ((others - kappa * omega).min(axis=0) / (1.0 - kappa), rows.min(axis=0))
    )
    wrong = right + (1.0 - kappa) ** n * (before - after)
    assert wrong < 0.94 * exact < exact < right


@pytest.mark.parametrize("epsilon0", [0.4, math.log(2.0), 2.0])
@pytest.mark.parametrize("n", [2, 4])
def test_no_randomizer_fixed_in_advance_leaks_more_than_the_five_kinds(epsilon0: float, n: int) -> None:
    rng, epsilons = np.random.default_rng(n), epsilon0 * np.array([0.1, 0.4, 0.8])
    bound = np.array([static_delta(epsilon0, n, float(eps)) for eps in epsilons])
    worst = np.zeros(3)
    for rows in (krr(2, epsilon0), krr(3, epsilon0), *(staircase(rng, epsilon0, inputs) for inputs in (2, 3, 3, 4, 4))):
        worst = np.maximum(worst, worst_delta(rows, n, epsilons))
    assert np.all(worst <= bound + 1e-13)
    assert np.all(bound <= 2.0 * worst)


def test_moduli_bound_every_mixture_of_kinds_and_cost_little() -> None:
    rows, eps, n = krr(3, 1.0), 0.3, 9
    omega = rows.mean(axis=0)
    first, *kinds = [score(hay, rows[0], rows[1], eps)[0] for hay in (omega, *rows)]
    largest = min(float(kinds_delta(first, kinds, n, c, 0.02 / c).max()) for c in (0.3, 0.45, 0.6, 0.8))
    mixtures = [mean_of_positive_part([first, *each]) / n for each in combinations_with_replacement(kinds, n - 1)]
    assert max(mixtures) <= largest <= 1.1 * max(mixtures)


@pytest.mark.parametrize("epsilon0", [0.5, 1.0, 2.5])
def test_no_tree_of_randomizers_leaks_more_than_the_walk(epsilon0: float) -> None:
    rng, eps = np.random.default_rng(3), 0.3 * epsilon0
    for n, outputs in ((2, 3), (3, 3)):
        bound = adaptive_delta(epsilon0, n, eps)
        assert static_delta(epsilon0, n, eps) <= bound + 1e-13
        trees = [adaptive.random_tree(rng, n, outputs, epsilon0) for _ in range(8)]
        trees.append(adaptive.worst_tree(rng, n, outputs, epsilon0, eps, steps=30)[0])
        assert max(adaptive.adaptive_delta(tree, eps) for tree in trees) <= bound


@pytest.mark.parametrize("share", [0.1, 0.7, 1.0, 1.2])
def test_a_small_delta0_costs_a_multiple_of_itself_whatever_n_is(share: float) -> None:
    """Ternary response that is now and then the truth itself."""
    epsilon0, eps, E = 1.0, share, math.e
    for leak in (1e-4, 1e-2):
        rows = np.hstack([(1.0 - leak) * krr(3, epsilon0), leak * np.eye(3)])
        delta0 = max(hockey_stick(rows[a], rows[b], epsilon0) for a, b in permutations(range(3), 2))
        for n in (2, 5):
            static = static_delta(epsilon0, n, eps) if eps < epsilon0 else 0.0
            extra = 2.0 * (1.0 + math.exp(eps)) * (E + 3.0) / (E + 1.0) * delta0
            assert worst_delta(rows, n, eps)[0] <= static + extra
