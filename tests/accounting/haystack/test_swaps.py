"""Two values that trade places among clones and among shifted noise: curves against enumeration."""

from __future__ import annotations

import itertools
import math
from itertools import combinations_with_replacement

import numpy as np
import pytest
from numpy.typing import NDArray

from shuffledp import Gaussian, Laplace, shuffle
from shuffledp._types import Floats
from shuffledp.accounting.haystack import FirstClone, Haystack, Slots, clone_swap
from shuffledp.accounting.haystack.clone_swap import CrudeSwaps, SwapFamily
from shuffledp.accounting.haystack.location_swap import LocationSwap
from shuffledp.accounting.haystack.triples import Kinds, kinds_of_users
from shuffledp.judge import hockey_stick, shuffled_law
from shuffledp.randomizers.location import ScaledNoise
from shuffledp.randomizers.randomizer import Atoms

BLURS = (0.05, 0.03, 0.007)


def by_hand(slots: list[tuple[Floats, Floats]]) -> float:
    """E(sum of the slots' scores)_+ and what slots without hay show, by adding up all outcomes."""
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


NOISES = [Laplace(epsilon0=0.4), Laplace(epsilon0=3.0), Gaussian(sigma=1.0), Gaussian(sigma=4.0)]


def law(noise: ScaledNoise, v: float, borders: NDArray[np.float64]) -> NDArray[np.float64]:
    return noise.mass(borders[:-1] - v, borders[1:] - v)


def kind_of(kinds: Kinds, a: float, b: float, v: float) -> int:
    """The kind that covers a triple, found by stretching it as the theory says."""
    p, q = np.array([a - v, b - v]) / max(abs(a - v), abs(b - v), abs(a - b))
    rows = np.arange(kinds.one.size)
    inside = kinds.high <= 1.0
    if p * q <= 1e-15:
        at = -p if q > p else p
        (found, *_) = rows[inside & (kinds.low <= at + 1e-12) & (at <= kinds.high + 1e-12)]
        return int(found)
    far = kinds.one if abs(p) > abs(q) else kinds.two
    distance = abs(p - q) * (1.0 - 1e-12)
    (found, *_) = rows[
        ~inside & (far == 0.0) & (kinds.apart >= distance) & (kinds.apart / kinds.high <= distance * (1.0 + 1e-11))
    ]
    return int(found)


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_every_triple_is_below_its_kind(noise: ScaledNoise) -> None:
    """Merged outputs are below the truth in the convex order, so they must be below the kind."""
    rng = np.random.default_rng(5)
    kinds = kinds_of_users(noise, 10_000)
    assert kinds is not None
    reach = 12.0 * noise.scale
    borders = np.concatenate([[-np.inf], np.linspace(-reach, 1.0 + reach, 4000), [np.inf]])
    ends = itertools.product((0.0, 1.0), repeat=3)
    for a, b, v in [*ends, *rng.random((40, 3)).tolist()]:
        if abs(a - b) <= kinds.nearest:
            continue
        growth = math.exp(rng.uniform(0.0, 0.5) * min(noise.epsilon0, 2.0))
        mass, score, seen = (part[kind_of(kinds, a, b, v)] for part in kinds.laws(growth))
        hay = law(noise, v, borders)
        gain = law(noise, a, borders) - growth * law(noise, b, borders)
        for t in np.quantile(score, np.linspace(0.0, 1.0, 21)):
            below = np.maximum(gain - t * hay, 0.0).sum()
            above = mass @ np.maximum(score - t, 0.0) + max(-t, 0.0) * (1.0 - mass.sum()) + seen
            assert below <= above + 1e-12 * (1.0 + abs(t))


@pytest.mark.parametrize("noise", [Laplace(epsilon0=0.3), Laplace(epsilon0=0.7), Gaussian(sigma=2.0)], ids=str)
def test_no_small_dataset_leaks_more(noise: ScaledNoise) -> None:
    """All datasets of a few values, outputs merged to a few classes, enumerated."""
    n, borders = 14, np.array([-np.inf, 0.2, 0.8, np.inf])
    swap = LocationSwap(noise, n)
    assert swap.worthwhile
    epsilons = np.array([0.0, 0.02, 0.1])
    bound = swap.bounds(epsilons)[1]
    assert np.all(bound < [noise.delta_apart(1.0, e) for e in epsilons])
    for target, others in [((0.0, 1.0), 0.0), ((0.0, 1.0), 1.0), ((1.0, 0.0), 0.3), ((0.6, 1.0), 0.0)]:
        rows = [law(noise, v, borders) for v in (*target, others)]
        one, two = (shuffled_law(rows, [value] + [2] * (n - 1)) for value in (0, 1))
        leaks = [hockey_stick(one, two, e) for e in epsilons]
        assert np.all(np.array(leaks) <= bound)


@pytest.mark.parametrize("seed", range(2))
def test_never_below_a_lower_end(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(4):
        n = int(10.0 ** rng.uniform(1.5, 9.0))
        noise: ScaledNoise = Laplace(epsilon0=float(10.0 ** rng.uniform(-1.5, 0.8)))
        if rng.random() < 0.4:
            noise = Gaussian(sigma=float(10.0 ** rng.uniform(-0.1, 1.0)))
        typical = float(Haystack.of(noise.datasets()[0], n).bounds(np.zeros(1), 1e-3)[1][0]) * 2.5
        epsilons = np.array([0.0, *(rng.random(2) * 7.0 * typical)])
        upper = LocationSwap(noise, n).bounds(epsilons)[1]
        for atoms in noise.datasets()[::4]:
            for each in (atoms, atoms.swapped()):
                assert np.all(Haystack.of(each, n).bounds(epsilons, 1e-3)[0] <= upper)


@pytest.mark.parametrize(
    ("noise", "n", "within"),
    [
        (Laplace(epsilon0=1.0), 10_000, 0.01),
        (Laplace(epsilon0=2.0), 10_000, 0.01),
        (Laplace(epsilon0=4.0), 10_000, 0.01),
        (Gaussian(sigma=1.0), 1_000_000, 0.02),
    ],
    ids=str,
)
def test_the_ends_nearly_meet(noise: ScaledNoise, n: int, within: float) -> None:
    bound = shuffle(noise, n=n).epsilon(delta=1e-6)
    assert bound.lower < bound.upper <= (1.0 + within) * bound.lower
    assert "first-clone swap" in bound.method


def test_a_curve_of_many_points_is_above_the_single_ones() -> None:
    swap = LocationSwap(Laplace(epsilon0=1.0), 1000)
    many = np.linspace(0.0, 0.3, 301)
    some = many[::75]
    assert np.all(swap.bounds(many, 2e-4)[1][::75] >= swap.bounds(some, 2e-4)[1])


def test_what_cannot_gain_is_left_to_the_blanket() -> None:
    assert not LocationSwap(Laplace(epsilon0=30.0), 10_000).worthwhile
    assert not LocationSwap(Laplace(epsilon0=1.0), 3).worthwhile
    assert LocationSwap(Gaussian(sigma=0.2), 10_000).bounds(np.array([1.0]))[1][0] <= 1.0


def test_scores_stay_finite_with_hardly_any_noise() -> None:
    """An extremum may lie where ratios overflow: such cells have no mass."""
    kinds = Kinds.of(Gaussian(sigma=0.06), [(0.0, 0.1, 1.0, 1.8), (0.1, 0.0, 1.0, 4.0), (0.0, 1.0, 0.2, 0.3)], 0.1)
    for growth in (1.0, 1.5, math.exp(6.0), math.exp(20.0)):
        mass, score, seen = kinds.laws(growth)
        assert np.isfinite(score).all()
        assert np.all(mass >= 0.0)
        assert np.all((mass * score).sum(axis=1) + seen >= (1.0 - growth) * (1.0 + 1e-11))
