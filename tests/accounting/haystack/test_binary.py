"""Binary randomized response: single datasets and the scan over all, against brute force."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from shuffledp._types import Floats
from shuffledp.accounting.haystack import BinaryDataset, BinaryScan
from shuffledp.judge import enumeration
from shuffledp.testing import assert_between


def law_of_ones(n: int, j: int, e0: float) -> Floats:
    """The number of ones among n - 1 others, j holding 1: positive terms, good to about 1e-14."""
    p, q = 1.0 / (math.exp(e0) + 1.0), 1.0 / (math.exp(-e0) + 1.0)
    return np.convolve(binom.pmf(np.arange(j + 1), j, q), binom.pmf(np.arange(n - j), n - 1 - j, p))


def brute_force(n: int, e0: float, epsilons: Floats) -> Floats:
    """Every dataset (rows) and epsilon (columns), inputs 0 and 1; the other order mirrors it."""
    p, q = 1.0 / (math.exp(e0) + 1.0), 1.0 / (math.exp(-e0) + 1.0)
    table = np.empty((n, epsilons.size))
    for j in range(n):
        others = law_of_ones(n, j, e0)
        zero, one = np.convolve(others, [q, p]), np.convolve(others, [p, q])
        table[j] = [enumeration.hockey_stick(zero, one, epsilon) for epsilon in epsilons]
    return table


def exact_delta(n: int, j: int, e0: float, epsilons: list[float]) -> list[mp.mpf]:
    """The same at 40 digits."""
    with mp.workdps(40):
        p, q = 1 / (mp.exp(e0) + 1), 1 / (mp.exp(-mp.mpf(e0)) + 1)
        law = [mp.mpf(1)]
        for one in [p] * (n - 1 - j) + [q] * j:
            law = [
                (law[i] * (1 - one) if i < len(law) else 0) + (law[i - 1] * one if i else 0)
                for i in range(len(law) + 1)
            ]
        law = [mp.mpf(0), *law, mp.mpf(0)]
        pairs = [(q * law[i + 1] + p * law[i], p * law[i + 1] + q * law[i]) for i in range(len(law) - 1)]
        return [mp.fsum(max(zero - mp.exp(epsilon) * one, 0) for zero, one in pairs) for epsilon in epsilons]


@settings(max_examples=150)
@given(
    e0=st.one_of(st.floats(-6.0, math.log10(50.0)).map(lambda power: 10.0**power), st.floats(5.0, 50.0)),
    n=st.integers(1, 12),
    j=st.integers(0, 11),
    shares=st.lists(
        st.one_of(st.floats(0.0, 1.0), st.floats(-13.0, -1.0).map(lambda power: 1.0 - 10.0**power)),
        min_size=1,
        max_size=6,
    ),
)
def test_single_datasets_are_enclosed_at_forty_digits(e0: float, n: int, j: int, shares: list[float]) -> None:
    """Relative to delta, however small: enumeration in doubles would be too coarse."""
    j = min(j, n - 1)
    epsilons = [e0 * share for share in shares if e0 * share < e0]
    lower, upper = BinaryDataset(e0, n - 1 - j, j).bounds(np.array(epsilons))
    for epsilon, low, exact, high in zip(epsilons, lower, exact_delta(n, j, e0, epsilons), upper, strict=True):
        assert 0.0 <= low <= high <= 1.0, (epsilon, low, high)
        assert low <= float(exact * (1 + mp.mpf(10) ** -14)), (epsilon, low, float(exact))
        assert float(exact * (1 - mp.mpf(10) ** -14)) <= high, (epsilon, float(exact), high)


@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("e0", [0.1, 1.0, 3.0, 6.0])
def test_the_scan_encloses_every_dataset(n: int, e0: float) -> None:
    scale = 1.0 / math.sqrt(n)
    epsilons = e0 * np.unique(np.array([0.0, 0.1 * scale, scale, 3.0 * scale, 0.3, 0.6, 0.9, 0.999]))
    table = brute_force(n, e0, epsilons)
    for gap in (1e-9, 1e-3):
        lower, upper = BinaryScan(e0, n).bounds(epsilons, gap)
        assert_between(lower, table.max(axis=0), upper, (n, e0, gap), relative=1e-11)
        assert np.array_equal(BinaryScan(e0, n).swapped().bounds(epsilons, gap), (lower, upper))
    for j in (0, 1, n // 3, n - 1):
        low, high = BinaryDataset(e0, n - 1 - j, j).bounds(epsilons)
        assert_between(low, table[j], high, (n, e0, j), relative=1e-11)
        assert np.array_equal(BinaryDataset(e0, j, n - 1 - j).swapped().bounds(epsilons), (low, high))


@pytest.mark.parametrize("n", range(1, 9))
def test_the_scan_is_exact_for_a_handful(n: int) -> None:
    for e0 in (1e-6, 0.5, 2.0, 10.0, 30.0):
        epsilons = e0 * np.array([0.0, 0.2, 0.5, 0.9, 0.99999])
        lower, upper = BinaryScan(e0, n).bounds(epsilons)
        assert_between(lower, enumeration.worst_delta(enumeration.krr(2, e0), n, epsilons), upper, (n, e0))


def test_the_worst_dataset_attains_the_lower_end() -> None:
    for n, e0, epsilon in ((20, 1.0, 0.5), (1000, 2.0, 0.2), (10**6, 1.0, 0.003)):
        scan = BinaryScan(e0, n)
        worst = scan.worst(epsilon)
        assert worst.zeros + worst.ones == n - 1
        assert worst.bounds(np.array([epsilon]))[0][0] >= 0.999 * scan.bounds(np.array([epsilon]))[0][0]
    assert BinaryScan(1.0, 20).worst(0.5).ones in (1, 18)  # theory.md, erratum 6: not "all zeros"


@pytest.mark.parametrize("e0", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("n", [10**3, 10**6])
def test_the_scan_is_tight(n: int, e0: float) -> None:
    scan = BinaryScan(e0, n)
    typical = math.sqrt(2.0 * math.pi) * scan.bounds(np.zeros(1))[1][0]
    lower, upper = scan.bounds(typical * np.array([0.0, 1.0, 3.0]), 1e-9)
    assert np.all(upper - lower <= 0.06 * upper)
