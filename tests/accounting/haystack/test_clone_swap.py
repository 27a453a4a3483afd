"""The swap's functional: above brute force for every composition, near it where it should be, and
sound where floats end.
"""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest

from shuffledp._types import Floats
from shuffledp.accounting.haystack import FirstClone, Haystack, Slots, clone_swap
from shuffledp.accounting.haystack.clone_swap import CrudeSwaps, SwapFamily
from shuffledp.randomizers.randomizer import Atoms

BLURS = (0.05, 0.03, 0.007)


def by_hand(slots: list[tuple[Floats, Floats]]) -> float:
    """E(sum of the slots' scores)_+ and what is seen of slots without hay, by adding up all
    outcomes.
    """
    values, chances, seen = np.zeros(1), np.ones(1), 0.0
    for hay, gain in slots:
        held = hay > 0.0
        score = np.append(gain[held] / hay[held], 0.0)
        chance = np.append(hay[held], max(1.0 - hay.sum(), 0.0))
        values, chances = np.add.outer(values, score).ravel(), np.multiply.outer(chances, chance).ravel()
        seen += float(np.maximum(gain[~held], 0.0).sum())
    return float(chances @ np.maximum(values, 0.0)) + seen


def test_it_is_above_brute_force_for_every_composition() -> None:
    rng = np.random.default_rng(12)
    for _ in range(40):
        classes, kinds, n = (int(rng.integers(low, high)) for low, high in ((2, 4), (1, 4), (2, 6)))
        spread = np.full(classes, rng.choice([0.2, 1.0, 5.0]))
        m0, m1, omega, *laws = rng.dirichlet(spread, size=3 + kinds)
        kappa = min(float((np.array(laws) / omega).min()), 0.99)
        others = Slots(*(np.tile(m, (kinds, 1)) for m in (m0, m1)), np.array(laws), np.tile(omega, (kinds, 1)))
        swap = FirstClone("any", n, kappa, Slots(m0, m1, omega, 0.0 * omega), others)
        epsilon, u = rng.uniform(0.0, 3.0), kappa * rng.choice([0.0, 0.3, 0.9, 1.0 - 1e-13])
        gain = m0 - math.exp(epsilon) * m1
        bounds = [swap.shares(np.array([epsilon]), np.array([u]), blur)[0] for blur in BLURS]
        for composition in combinations_with_replacement(laws, n - 1):
            slots = [(omega, gain), *((np.maximum(law - u * omega, 0.0), gain) for law in composition)]
            assert by_hand(slots) / n <= min(bounds) * (1.0 + 1e-12)


@pytest.mark.parametrize("n", [2, 3, 40, 10**3, 10**6, 10**10, 10**15])
@pytest.mark.parametrize("near", [0.01, 0.3])
def test_equal_slots_are_a_haystack_and_it_is_close_to_its_value(n: int, near: float) -> None:
    rng = np.random.default_rng(n % 997)
    hay = rng.dirichlet(np.full(4, 5.0))
    m0, m1 = (law / law.sum() for law in hay * (1.0 + near * rng.uniform(-1.0, 1.0, (2, 4))))
    typical = math.sqrt(((m0 - m1) ** 2 / hay).sum() / n)
    epsilons = typical * np.array([0.0, 1.0, 3.0, 8.0, 20.0])
    lower, upper = Haystack.of(Atoms("all alike", hay, m0, m1), n).bounds(epsilons)
    swap = FirstClone("all alike", n, 0.5, Slots(m0, m1, hay, 0.0 * hay), Slots(m0, m1, hay, hay))
    for blur in BLURS:
        assert np.all(swap.shares(epsilons, 0.0 * epsilons, blur) >= lower)
    if n >= 1000:  # few users leave no room for a normal law
        close = swap.shares(epsilons, 0.0 * epsilons, BLURS[-1])
        assert np.all(close[lower > 0.0] <= 1.02 * upper[lower > 0.0])
        assert close[2] <= 1.004 * upper[2]


def test_extreme_laws_give_numbers_between_0_and_1() -> None:
    rare = 1e-300
    m0, m1 = np.array([1.0 - rare, rare]), np.array([rare, 1.0 - rare])
    omega = np.array([0.5, 0.5])
    for n in (2, 50, 10**15):
        for kappa in (2.0 * rare, 0.3):
            others = Slots(np.stack([m0, m0]), np.stack([m1, m1]), np.stack([m0, m1]), np.stack([omega, omega]))
            swap = FirstClone("far", n, kappa, Slots(m0, m1, omega, 0.0 * omega), others, Slots(m0, m1, m0, omega))
            for gap in (1e-3, 1e-7):
                lower, upper = swap.bounds(np.array([0.0, 1e-9, 1.0, 600.0, 690.0]), gap)
                assert np.all((lower >= 0.0) & (lower <= upper) & (upper <= 1.0))


def test_less_smoothing_and_more_levels_come_closer() -> None:
    m0, m1, hay = np.array([0.5, 0.2, 0.3]), np.array([0.2, 0.5, 0.3]), np.array([0.2, 0.2, 0.6])
    swap = FirstClone("three", 5_000, 1.0 / 3.0, Slots(m0, m1, hay, 0.0 * hay), Slots(m0, m1, hay, hay))
    ends = [float(swap.bounds(np.array([0.05]), gap)[1][0]) for gap in (1e-3, 2e-4, 1e-7)]
    assert ends == sorted(ends, reverse=True)


def test_crude_ends_are_the_same_one_by_one_and_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to how near their saddle points are."""
    table = np.random.default_rng(0).dirichlet(np.ones(6), 6) + 0.01
    family = SwapFamily.of(table / table.sum(axis=1, keepdims=True), 200)
    at = np.linspace(0.0, 2.0, 16)
    together = CrudeSwaps(family.members()).bounds(at)
    monkeypatch.setattr(clone_swap, "CHUNK", 1)
    one_by_one = CrudeSwaps(family.members()).bounds(at)
    assert together.shape == (len(family.members()), at.size)
    assert np.allclose(together, one_by_one, rtol=0.05)
