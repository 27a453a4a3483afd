"""Sums of one bit with two chances of a 1: datasets at many digits, and scans, by brute force."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from shuffledp._types import Floats
from shuffledp.accounting.haystack import BinaryDataset, BitDataset, BitScan
from shuffledp.judge import hockey_stick
from shuffledp.randomizers.unary import BitLaw
from shuffledp.testing import assert_between

FEW = st.integers(0, 9)
SHARES = st.one_of(st.floats(0.0, 1.0), st.floats(-12.0, -1.0).map(lambda power: 1.0 - 10.0**power))
DATASET: dict[str, Any] = {
    "holders": FEW,
    "others": FEW,
    "first": st.booleans(),
    "shares": st.lists(SHARES, min_size=1, max_size=4),
}


def exact_deltas(p: mp.mpf, q: mp.mpf, holders: int, others: int, first: bool, epsilons: list[float]) -> list[mp.mpf]:
    """Adding one user at a time, at the working precision."""
    law = [mp.mpf(1)]
    for one in [p] * holders + [q] * others:
        padded = [mp.mpf(0), *law, mp.mpf(0)]
        law = [padded[i] * one + padded[i + 1] * (1 - one) for i in range(len(law) + 1)]
    padded = [mp.mpf(0), *law, mp.mpf(0)]
    sides = [[padded[i] * one + padded[i + 1] * (1 - one) for i in range(len(law) + 1)] for one in (p, q)]
    there, back = sides if first else sides[::-1]
    pairs = list(zip(there, back, strict=True))
    return [mp.fsum(max(a - mp.exp(mp.mpf(epsilon)) * b, 0) for a, b in pairs) for epsilon in epsilons]


def check_enclosed(
    law: BitLaw, p: mp.mpf, q: mp.mpf, counts: tuple[int, int], first: bool, shares: list[float]
) -> None:
    limit = law.up if first else law.down
    epsilons = [limit * share for share in shares]
    lower, upper = BitDataset(law, *counts, first).bounds(np.array(epsilons))
    truth = exact_deltas(p, q, *counts, first, epsilons)
    for epsilon, low, exact, high in zip(epsilons, lower, truth, upper, strict=True):
        assert 0.0 <= low <= high <= 1.0
        assert low <= float(exact * (1 + mp.mpf(10) ** -14)), epsilon
        assert float(exact * (1 - mp.mpf(10) ** -14)) <= high, epsilon


@settings(max_examples=60)
@given(p=st.floats(1e-9, 1.0 - 1e-9), ratio=st.floats(-9.0, -1e-9).map(lambda power: 10.0**power), **DATASET)
def test_single_datasets_are_enclosed(
    p: float, ratio: float, holders: int, others: int, first: bool, shares: list[float]
) -> None:
    q = p * ratio
    if q < p:
        with mp.workdps(60):
            check_enclosed(BitLaw.of(p, q), mp.mpf(p), mp.mpf(q), (holders, others), first, shares)


@settings(max_examples=30)
@given(epsilon0=st.floats(-9.0, 1.69).map(lambda power: 10.0**power), half=st.booleans(), **DATASET)
def test_laws_given_by_epsilon0_are_enclosed(
    epsilon0: float, half: bool, holders: int, others: int, first: bool, shares: list[float]
) -> None:
    law = BitLaw.half(epsilon0) if half else BitLaw.symmetric(epsilon0)
    with mp.workdps(60):
        q = 1 / (mp.exp(mp.mpf(epsilon0)) + 1)
        check_enclosed(law, mp.mpf(1) / 2 if half else 1 - q, q, (holders, others), first, shares)


@pytest.mark.parametrize(
    ("p", "q"),
    [(3e-300, 1e-300), (1e-280, 1e-300), (1.0 - 2.0**-53, 1.0 - 2.0**-51), (1.0 - 2.0**-53, 0.5), (0.5, 1e-21)],
)
@pytest.mark.parametrize("first", [True, False])
def test_chances_next_to_0_and_1(p: float, q: float, first: bool) -> None:
    with mp.workdps(700):
        check_enclosed(BitLaw.of(p, q), mp.mpf(p), mp.mpf(q), (3, 4), first, [0.0, 0.3, 0.99])
        check_enclosed(BitLaw.of(p, q), mp.mpf(p), mp.mpf(q), (0, 0), first, [0.0, 0.3, 0.99])


def test_it_agrees_with_binary_randomized_response() -> None:
    """Symmetric bits: holders hold 1, and the target goes from 0 to 1 or back."""
    law, epsilons = BitLaw.symmetric(2.0), np.linspace(0.0, 1.9, 8)
    for zeros, ones in ((0, 7), (300, 5), (10**9, 10**7)):
        expected = BinaryDataset(2.0, zeros, ones).bounds(epsilons)
        assert np.array_equal(BitDataset(law, ones, zeros, False).bounds(epsilons), expected)
        assert np.array_equal(BitDataset(law, zeros, ones, True).bounds(epsilons), expected)
        assert BitDataset(law, zeros, ones, True).mirrored() == BitDataset(law, ones, zeros, False)


def brute_force(p: float, q: float, n: int, first: bool, epsilons: Floats) -> Floats:
    """Every number of holders (rows) and epsilon (columns)."""
    table = np.empty((n, epsilons.size))
    for held in range(n):
        law = np.convolve(binom.pmf(np.arange(held + 1), held, p), binom.pmf(np.arange(n - held), n - 1 - held, q))
        there, back = np.convolve(law, [1.0 - p, p]), np.convolve(law, [1.0 - q, q])
        pair = (there, back) if first else (back, there)
        table[held] = [hockey_stick(*pair, epsilon) for epsilon in epsilons]
    return table


@pytest.mark.parametrize(("p", "q", "n"), [(0.5, 0.2, 40), (0.9, 0.4, 200), (0.8, 0.2, 90), (0.99, 0.9, 300)])
@pytest.mark.parametrize("first", [True, False])
def test_a_scan_encloses_the_worst_dataset(p: float, q: float, n: int, first: bool) -> None:
    law = BitLaw.of(p, q)
    epsilons = np.linspace(0.0, 0.6 * (law.up if first else law.down), 7)
    truth = brute_force(p, q, n, first, epsilons)
    for least, most in ((0, n - 1), (n // 3, n // 2), (5, 5)):
        lower, upper = BitScan(law, n, least, most, first).bounds(epsilons, 1e-7)
        exact = truth[least : most + 1].max(axis=0)
        assert_between(lower, exact, upper, f"{least} to {most} holders")
        some = exact > 1e-12
        assert np.all(upper[some] <= lower[some] ** (1.0 - 2e-3) * 1.002)


@pytest.mark.parametrize("first", [True, False])
def test_an_answer_stays_close_for_any_number_of_users(first: bool) -> None:
    law = BitLaw.half(4.0)
    for n in (10**6, 10**9, 10**12, 10**15):
        scan = BitScan(law, n, 0, n - 1, first)
        total = float(scan.bounds(np.zeros(1))[1][0])
        lower, upper = scan.bounds(total * np.array([0.0, 3.0, 9.0]))
        assert np.all(lower > 0.0)
        assert np.all(upper <= lower * 1.02)
        gaussian = (law.p - law.q) / math.sqrt(2.0 * math.pi * n * law.q * law.not_q)  # the total variation's limit
        assert math.isclose(total, gaussian, rel_tol=2e-3)
