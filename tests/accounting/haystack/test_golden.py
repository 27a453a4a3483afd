"""The haystack against theory.md's numbers, and the 1006 Arb references of golden.json."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

import shuffledp as sdp
from shuffledp.accounting.haystack import BinaryDataset, Haystack
from shuffledp.accounting.inversion import meets
from shuffledp.accounting.reductions import Curve
from tests.oracle import arb

GOLDEN_RANDOMIZER = sdp.KRR.from_gamma(k=4, gamma=0.25)


def epsilon_of(curve: Curve, delta: float, ceiling: float = math.inf) -> tuple[float, float]:
    """Both ends of the epsilon at which one curve meets delta."""
    lower, upper = (
        meets(lambda e, gap, i=i: float(curve.bounds(np.array([e]), gap)[i][0]), delta, ceiling, end=end)
        for i, end in enumerate(("lower", "upper"))
    )
    return lower, upper


@pytest.mark.parametrize(
    "adversary, delta, epsilon",
    [("weak", 1e-4, 0.3890626), ("weak", 1e-6, 0.5569569), ("strong", 1e-4, 0.5307622), ("strong", 1e-6, 0.7705776)],
)
def test_the_weak_and_strong_goldens_of_the_theory(adversary: Any, delta: float, epsilon: float) -> None:
    bound = sdp.shuffle(GOLDEN_RANDOMIZER, n=1000, adversary=adversary).epsilon(delta=delta)
    assert bound.lower == pytest.approx(epsilon, rel=1e-6)
    assert bound.upper == pytest.approx(epsilon, rel=1e-6)
    assert bound.lower <= bound.upper


@pytest.mark.parametrize("delta, epsilon", [(1e-4, 0.6100412), (1e-6, 0.8771301)])
def test_the_clones_goldens_of_the_theory(delta: float, epsilon: float) -> None:
    clones = Haystack.of(sdp.AnyLDP(epsilon0=GOLDEN_RANDOMIZER.epsilon0).clones(), 1000)
    assert epsilon_of(clones, delta, GOLDEN_RANDOMIZER.epsilon0) == pytest.approx((epsilon, epsilon), rel=1e-6)


def test_any_randomizer_is_far_below_the_clones() -> None:
    """n = 1e5, epsilon0 = 4, delta = 1e-6: at most 0.1183 (Feldman et al. 0.1698; 3-RR 0.1170)."""
    lower, upper = sdp.shuffle(sdp.AnyLDP(epsilon0=4.0), n=10**5).epsilon(delta=1e-6)
    assert 0.1169 < lower < upper <= 0.1183
    clones = epsilon_of(Haystack.of(sdp.AnyLDP(epsilon0=4.0).clones(), 10**5), 1e-6, 4.0)
    assert clones == pytest.approx((0.1698, 0.1698), abs=5e-5)


def curve_of(case: str, n: int, k: Any, e0: float, j: Any) -> Curve:
    """The library's curve for one kind of entry."""
    general = sdp.AnyLDP(epsilon0=e0)
    if case == "clones":
        return Haystack.of(general.clones(), n)
    if case == "any_ldp":
        return Haystack.of(general.blankets("upper")[0], n)
    if case == "rr_dataset":
        return BinaryDataset(e0, n - 1 - j, j)
    randomizer = sdp.KRR(k=k, epsilon0=e0)
    if case == "krr_third_value":
        return Haystack.of(randomizer.datasets()[-1], n)
    return {"krr_blanket": Haystack.of, "krr_strong": Haystack.strong}[case](randomizer.blankets("upper")[0], n)


CASES = ("clones", "any_ldp", "krr_blanket", "krr_strong", "krr_third_value", "rr_dataset")


def grouped() -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """One curve each: the entries that differ in epsilon only."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for entry in arb.golden():
        groups[entry["case"], entry["n"], entry.get("k"), entry["eps0"], entry.get("j")].append(entry)
    return groups


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("n", [10**power for power in range(3, 8)])
def test_every_arb_reference_is_enclosed_closely(case: str, n: int) -> None:
    """Relative 1e-6 at every delta from 1e-2 to 1e-50; the ends within 4e-6."""
    checked = 0
    for (name, users, k, e0, j), entries in grouped().items():
        if (name, users) != (case, n):
            continue
        exact, error = (
            np.array([entry["delta"] for entry in entries]),
            np.array([entry["error"] for entry in entries]) + 1e-15,
        )
        lower, upper = curve_of(case, n, k, e0, j).bounds(np.array([entry["eps"] for entry in entries]))
        assert np.all(lower <= exact * (1.0 + error)), (k, e0, j, lower / exact - 1.0)
        assert np.all(exact * (1.0 - error) <= upper), (k, e0, j, upper / exact - 1.0)
        assert 0.5 * (lower + upper) == pytest.approx(exact, rel=1e-6, abs=0.0), (k, e0, j)
        assert lower == pytest.approx(exact, rel=4e-6, abs=0.0), (k, e0, j)
        assert upper == pytest.approx(exact, rel=4e-6, abs=0.0), (k, e0, j)
        checked += len(entries)
    assert checked >= 8


def test_no_reference_is_left_out() -> None:
    groups = grouped()
    assert sum(map(len, groups.values())) == len(arb.golden()) >= 1000
    assert {key[0] for key in groups} == set(CASES)
    assert {key[1] for key in groups} == {10**power for power in range(3, 8)}


def test_the_crossing_is_found_even_when_the_first_guess_overshoots() -> None:
    """epsilon0 = 15 is not the answer at delta = 1/2: the curve passes 0.5 near 13.63."""
    upper = sdp.shuffle(sdp.KRR(k=3, epsilon0=15.0), n=10**6).epsilon(delta=0.5).upper
    assert upper < 13.65
