"""Extremes: ratios beyond 1e100, masses down to the least float, widely spread scores."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction
from itertools import combinations_with_replacement

import mpmath as mp
import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.haystack import Haystack, score_sum
from shuffledp.accounting.reductions import reduce
from shuffledp.randomizers.randomizer import Atoms
from tests.accounting.haystack.search import cases, numerical_gap


def exact_delta(atoms: Atoms, n: int, epsilon: float) -> mp.mpf:
    """Over all views, at 700 digits: nothing here is rounded that matters."""
    with mp.workdps(700):
        hay, needle0, needle1 = (
            [mp.mpf(float(mass)) for mass in column] for column in (atoms.hay, atoms.needle0, atoms.needle1)
        )
        x, absent = mp.exp(mp.mpf(epsilon)), 1 - float(sum(map(Fraction, atoms.hay.tolist())))
        gain = [a - x * b for a, b in zip(needle0, needle1, strict=True)]
        masses = [*hay, mp.mpf(absent if abs(absent) > 1e-15 else 0)]
        total = mp.mpf(0)
        for view in combinations_with_replacement(range(len(masses)), n):
            orders = math.factorial(n) // math.prod(math.factorial(view.count(y)) for y in set(view))
            others = [mp.fprod(masses[y] for place, y in enumerate(view) if place != i) for i in range(n)]
            total += orders * max(mp.fsum(gain[y] * others[i] for i, y in enumerate(view) if y < len(hay)), 0)
        return total / n


def corner_atoms(seed: int) -> tuple[Atoms, int, float]:
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    laws = (
        10.0 ** rng.uniform(-300.0, 0.0, (3, k))
        if rng.uniform() < 0.5
        else rng.dirichlet(np.ones(k), 3) * 10.0 ** rng.uniform(-150.0, 0.0, (3, k))
    )
    laws /= laws.sum(axis=1, keepdims=True)
    ratios = np.log(laws[0] / laws[1])
    epsilon = float(
        rng.uniform(0.0, 690.0)
        if rng.uniform() < 0.5
        else max(ratios.max(), 0.1) * (1.0 - 10.0 ** rng.uniform(-12.0, -1.0))
    )
    return Atoms("corner", laws[2] * (1.0 if rng.uniform() < 0.5 else 0.3), laws[0], laws[1]), n, min(epsilon, 700.0)


@pytest.mark.parametrize("seed", range(120))
def test_no_end_is_on_the_wrong_side_however_extreme_the_masses_are(seed: int) -> None:
    atoms, n, epsilon = corner_atoms(seed)
    (lower,), (upper,) = Haystack.of(atoms, n).bounds(np.array([epsilon]))
    exact = exact_delta(atoms, n, epsilon)
    assert 0.0 <= lower <= upper <= 1.0
    assert mp.mpf(float(lower)) <= exact * (1 + mp.mpf(10) ** -15)
    assert exact <= mp.mpf(float(upper)) * (1 + mp.mpf(10) ** -15)


def test_a_probability_too_small_for_a_float_may_carry_a_score_that_is_large() -> None:
    atoms = Atoms(
        "corner", np.array([1.15290278e-145, 1.0]), np.array([0.72682112, 0.27317888]), np.array([3.46886792e-149, 1.0])
    )
    (lower,), (upper,) = Haystack.of(atoms, 3).bounds(np.array([341.52220038457074]))
    exact = exact_delta(atoms, 3, 341.52220038457074)
    assert 7e-295 < exact < 7.5e-295
    assert lower <= exact * (1 + mp.mpf(10) ** -15)
    assert exact <= upper <= 1.001 * exact


@pytest.mark.parametrize("gap", [1e-7, 1e-3])
def test_an_upper_end_is_never_0_where_something_can_leak(gap: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_sum, "MANY_VIEWS", -1)  # by the contour
    for seed in range(0, 120, 6):
        atoms, n, epsilon = corner_atoms(seed)
        (lower,), (upper,) = Haystack.of(atoms, n).bounds(np.array([epsilon]), gap)
        exact = exact_delta(atoms, n, epsilon)
        assert mp.mpf(float(lower)) <= exact * (1 + mp.mpf(10) ** -15)
        assert exact <= mp.mpf(float(upper)) * (1 + mp.mpf(10) ** -15)


def test_a_ratio_beyond_1e100_gives_no_false_lower_end() -> None:
    t = 1e-150
    survey = sdp.FromMatrix([[0.5, 0.5 - t, t], [0.5, t, 0.5 - t]])
    pair = sdp.shuffle(survey, n=2).delta(epsilon=344.0)
    assert pair.lower == pytest.approx(0.125183563584, rel=1e-9)
    assert pair.upper == pytest.approx(0.125550690752, rel=1e-9)
    assert sdp.shuffle(survey, n=3).epsilon(delta=0.2).lower < 344.0


def test_little_noise_and_large_epsilons_agree_with_the_dataset_that_is_named() -> None:
    bound = sdp.shuffle(sdp.Gaussian(sigma=0.05), n=5).delta(epsilon=295.0)
    assert bound.lower <= 5.4350001e-7 <= bound.upper


@pytest.mark.parametrize(
    "randomizer, n, epsilon",
    [
        (sdp.OUE(k=16, epsilon0=12.0), 2, 4.8),
        (sdp.Gaussian(sigma=0.25), 10**5, 10.0),
        (sdp.Gaussian(sigma=1.0), 10**6, 0.01),
        (sdp.Gaussian(sigma=0.27845735819685763), 584109, 0.06634178687430986),  # too many nodes under the first cap
    ],
    ids=str,
)
def test_ends_that_were_far_apart_are_close(randomizer: sdp.Randomizer, n: int, epsilon: float) -> None:
    reduction = reduce(randomizer, n, "shuffled")
    for curve in (*reduction.uppers, *reduction.lowers):
        (lower,), (upper,) = curve.bounds(np.array([epsilon]))
        assert upper - lower <= 3e-3 * upper or upper < 1e-50


def test_a_part_of_the_random_search_for_wide_gaps() -> None:
    """`python -m tests.accounting.haystack.search 10000` is the whole of it (docs/theory.md)."""
    assert max(numerical_gap(case)[0] for case in cases(12, seed=5)) < 0.02


@pytest.mark.parametrize(
    "rows", [[[1, 6e-301], [5e-301, 1], [1, 1e-300]], [[1, 1e-310], [1e-310, 1]], [[1, 5e-324], [5e-324, 1]]], ids=str
)
def test_entries_near_the_least_float_are_answered(rows: list[list[float]]) -> None:
    for adversary in ("shuffled", "weak", "strong"):
        mechanism = sdp.shuffle(sdp.FromMatrix(rows), n=3, adversary=adversary)
        bound = mechanism.delta(epsilon=1.0)
        assert 0.999 < bound.lower <= bound.upper == 1.0
        assert mechanism.epsilon(delta=1e-6).lower > 400.0


@pytest.mark.parametrize("rows", [[[0.5, 0.5], [0.5, 0.5]], [[1.0], [1.0]], [[0.25, 0.75]] * 5], ids=str)
def test_equal_rows_leak_nothing(rows: list[list[float]]) -> None:
    survey = sdp.FromMatrix(rows)
    assert survey.epsilon0 == 0.0
    for adversary in ("shuffled", "weak", "strong"):
        mechanism = sdp.shuffle(survey, n=3, adversary=adversary)
        for guarantee in (mechanism, mechanism.compose(7), sdp.Accountant().add(mechanism, rounds=3).total):
            assert tuple(guarantee.delta(epsilon=0.0)) == (0.0, 0.0)
            assert tuple(guarantee.epsilon(delta=1e-6)) == (0.0, 0.0)
            assert tuple(guarantee.rdp(order=2.0)) == (0.0, 0.0)
            assert guarantee.explain(delta=1e-6).bound.upper == 0.0
        band = mechanism.tradeoff(np.array([0.0, 0.3, 1.0]))
        assert band.lower == pytest.approx([1.0, 0.7, 0.0])
    other = sdp.shuffle(sdp.RR(epsilon0=1.0), n=100)
    both = sdp.Accountant().add(sdp.shuffle(survey, n=3)).add(other).epsilon(delta=1e-6)
    assert both.upper == pytest.approx(other.epsilon(delta=1e-6).upper)
    assert math.isclose(survey.gamma, 1.0)


def test_two_users_and_many_outputs_need_little_memory() -> None:
    """All views of 600 outputs, as counts, once took several gigabytes."""
    laws = np.random.default_rng(0).dirichlet(np.full(600, 0.1), 2)
    haystack = Haystack.of(Atoms("many", laws.min(axis=0), laws[0], laws[1]), 2)
    tracemalloc.start()
    (lower,), (upper,) = haystack.bounds(np.array([3.0]))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 200e6
    assert 0.0 < lower <= upper <= 1.0001 * lower
