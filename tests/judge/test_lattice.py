"""The lattice sums against enumeration and against the arbitrary-precision table."""

from __future__ import annotations

import math
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shuffledp.judge import haystack_delta, krr, rounds_delta, worst_delta
from shuffledp.judge.composition import rounds_at_least, rounds_at_most, rounds_of_losses
from shuffledp.judge.effort import TooLarge
from shuffledp.judge.enumeration import binary_dataset, binary_datasets
from shuffledp.judge.lattice import haystack_interval
from tests.oracle.arb import golden


def of_entry(entry: dict[str, object]) -> tuple[list[float], list[float], list[float]]:
    """Hay and needles of a case of the golden table."""
    growth = math.exp(float(entry["eps0"]))  # type: ignore[arg-type]
    if entry["case"] in ("clones", "any_ldp"):
        gamma = 1.0 / growth if entry["case"] == "clones" else 2.0 / (growth + 1.0)
        there = [growth / (growth + 1.0), 1.0 / (growth + 1.0)]
        return [gamma / 2.0] * 2, there, there[::-1]
    k = int(entry["k"])  # type: ignore[call-overload]
    lie = 1.0 / (growth + k - 1.0)
    if entry["case"] == "krr_blanket":
        rest = [(k - 2) * lie] if k > 2 else []
        return [lie, lie, *rest], [growth * lie, lie, *rest], [lie, growth * lie, *rest]
    rest = [(k - 3) * lie] if k > 3 else []
    return [lie, lie, growth * lie, *rest], [growth * lie, lie, lie, *rest], [lie, growth * lie, lie, *rest]


CASES = [
    e
    for e in golden()
    if e["case"] not in ("rr_dataset", "krr_strong") and e["delta"] > 1e-30 and e["n"] <= 10**5 and e["eps0"] >= 2.0
]


@pytest.mark.parametrize(
    "entry", CASES[::7], ids=lambda e: f"{e['case']}-{e['n']}-{e.get('k')}-{e['eps0']}-{e['delta']:.0e}"
)
def test_the_interval_contains_the_arbitrary_precision_value(entry: dict[str, float]) -> None:
    low, high = haystack_interval(*of_entry(entry), int(entry["n"]), entry["eps"], gap=2e-3)
    assert low <= entry["delta"] * (1.0 + 2.0 * entry["error"])
    assert high >= entry["delta"] * (1.0 - 2.0 * entry["error"])
    assert high <= low * 1.002


@settings(deadline=None, max_examples=60)
@given(
    hay=st.lists(st.floats(0.02, 1.0), min_size=2, max_size=5),
    there=st.lists(st.floats(0.05, 1.0), min_size=5, max_size=5),
    back=st.lists(st.floats(0.05, 1.0), min_size=5, max_size=5),
    gamma=st.floats(0.05, 1.0),
    n=st.integers(1, 6),
    eps=st.floats(0.0, 2.0),
)
def test_the_interval_contains_what_enumeration_finds(
    hay: list[float], there: list[float], back: list[float], gamma: float, n: int, eps: float
) -> None:
    classes = len(hay)
    masses = gamma * np.array(hay) / math.fsum(hay)
    needles = [np.array(each[:classes]) / math.fsum(each[:classes]) for each in (there, back)]
    exact = haystack_delta(masses, *needles, n, eps)
    low, high = haystack_interval(masses, *needles, n, eps, gap=0.01)
    assert low <= exact * (1.0 + 1e-12) + 1e-15
    assert high >= exact * (1.0 - 1e-12) - 1e-15


def test_a_lattice_that_would_be_too_long_is_refused() -> None:
    with pytest.raises(TooLarge):
        haystack_interval([0.3, 0.3, 0.4], [0.31, 0.3, 0.39], [0.3, 0.31, 0.39], 10**13, 1e-9, gap=1e-9)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_binary_datasets_are_exact_for_a_few_users(n: int) -> None:
    epsilons = np.array([0.0, 0.3, 0.9, 1.2])
    low, high, blocks, _ = binary_datasets(1.0 / (math.e + 1.0), n, epsilons)
    exact = worst_delta(krr(2, 1.0), n, epsilons)
    assert blocks == n
    assert np.all(low <= exact * (1.0 + 1e-9) + 1e-15)
    assert np.all(high >= exact * (1.0 - 1e-9) - 1e-15)
    assert np.allclose(low, high, rtol=1e-8, atol=1e-20)


@pytest.mark.parametrize(
    "entry", [e for e in golden() if e["case"] == "rr_dataset" and e["delta"] > 1e-20 and e["n"] <= 10**6][::5], ids=str
)
def test_one_binary_dataset_agrees_with_arbitrary_precision(entry: dict[str, float]) -> None:
    ones = int(entry["j"])
    low, high = binary_dataset(
        1.0 / (math.exp(entry["eps0"]) + 1.0), int(entry["n"]) - 1 - ones, ones, np.array([entry["eps"]])
    )
    assert low[0] <= entry["delta"] <= high[0]
    assert high[0] <= low[0] * (1.0 + 1e-8)


def test_blocks_of_binary_datasets_bound_every_dataset_in_them(monkeypatch: pytest.MonkeyPatch) -> None:
    epsilons, p, n = np.array([0.05, 0.2]), 0.2, 300
    exact, _, _, _ = binary_datasets(p, n, epsilons)
    monkeypatch.setattr("shuffledp.judge.enumeration.MOST_BLOCKS", 40)
    low, high, blocks, _ = binary_datasets(p, n, epsilons)
    assert blocks == 38
    assert np.all(low <= exact * (1.0 + 1e-9))
    assert np.all(high >= exact)
    assert np.all(high <= exact * 1.2)


@pytest.mark.parametrize("rounds", [2, 3])
def test_rounds_enclose_what_enumeration_finds(rounds: int) -> None:
    """Two people of binary response, the other holds 0: one pair, composed by enumeration."""
    p, epsilons = 1.0 / (math.exp(1.0) + 1.0), np.array([0.0, 0.4, 0.8, 1.5])
    knots = np.linspace(0.0, 1.0, 41)
    there, back = binary_dataset(p, 1, 0, knots), binary_dataset(p, 0, 1, knots)
    upper = rounds_at_most(knots, there[1], back[1], rounds, epsilons)
    lower = rounds_at_least(knots, there, back, rounds, epsilons)
    q = 1.0 - p
    P, Q = np.array([q * q, 2.0 * p * q, p * p]), np.array([p * q, p * p + q * q, p * q])
    products = [np.ones(1), np.ones(1)]
    for _ in range(rounds):
        products = [np.multiply.outer(product, law).ravel() for product, law in zip(products, (P, Q), strict=True)]
    exact = np.array([np.maximum(products[0] - math.exp(eps) * products[1], 0.0).sum() for eps in epsilons])
    assert np.all(lower <= exact + 1e-12)
    assert np.all(upper >= exact - 1e-12)
    assert np.all(upper - lower <= 0.03 * exact + 1e-3)
    assert np.all(rounds_delta([krr(2, 1.0)] * rounds, 2, epsilons) >= exact - 1e-12)


@pytest.mark.parametrize("keep", [1.0, 0.7])
def test_rounds_of_two_losses_are_between_both_ends(keep: float) -> None:
    rng = np.random.default_rng(4)
    for weights in ([1, 3, 9, 3, 1], [2, 4, 1], rng.integers(1, 9, 4).tolist()):
        without = np.append(np.array(weights) / sum(weights), 0.0)
        held = keep * np.roll(without, 1) + (1.0 - keep) * without
        both = (held > 0.0) & (without > 0.0)
        loss = np.log(held[both] / without[both])
        one, two = np.outer(held, without).ravel(), np.outer(without, held).ravel()
        certain = float(one[two == 0.0].sum())
        epsilons = np.array([0.0, 0.2, math.log(3.0), 2.0])
        for rounds in (1, 2, 3):
            views = [reduce(np.multiply.outer, [each] * rounds).ravel() for each in (one, two)]
            exact = np.array([np.maximum(views[0] - math.exp(e) * views[1], 0.0).sum() for e in epsilons])
            for step in (math.log(3.0) / 4.0, 0.01):
                low, high = rounds_of_losses(
                    (loss, -loss), (held[both], without[both]), step, rounds, epsilons, (certain, certain)
                )
                assert np.all(low <= exact + 1e-14)
                assert np.all(exact <= high + 1e-14)
                if keep == 1.0 and step > 0.1 and weights[0] == 1:  # all losses are multiples
                    assert np.all(high - low < 1e-7)
