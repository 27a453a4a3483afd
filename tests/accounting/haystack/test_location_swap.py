"""The swap for a number plus noise: kinds of users dominate every triple, the bound holds for every
small dataset and lies between the lower ends and what was promised.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from shuffledp import Gaussian, Laplace, shuffle
from shuffledp.accounting.haystack import Haystack
from shuffledp.accounting.haystack.location_swap import LocationSwap
from shuffledp.accounting.haystack.triples import Kinds, kinds_of_users
from shuffledp.judge import hockey_stick, shuffled_law
from shuffledp.randomizers.location import ScaledNoise

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
