"""Privacy loss distributions on a grid: above or below every pair they stand for, at every epsilon
and in both orders."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shuffledp import KRR, OUE, judge, shuffle
from shuffledp._types import Floats
from shuffledp.accounting.curves import convex, lower_hull, minorant
from shuffledp.accounting.pld import (
    Composition,
    LossDistribution,
    Spread,
    common_spacing,
    optimistic,
    own_multiple,
    pessimistic,
)
from shuffledp.accounting.rounds import Rounds
from shuffledp.accounting.shuffled import Shuffled
from shuffledp.judge.enumeration import hockey_stick

SEEDS = st.integers(0, 2**32 - 1)


def random_pair(seed: int) -> tuple[Floats, Floats]:
    """A few atoms, among them some that only one of the two laws has, and some that are rare."""
    rng = np.random.default_rng(seed)
    size, spread = int(rng.integers(2, 8)), 10.0 ** rng.uniform(-1.0, 1.5)
    P, Q = rng.dirichlet(np.full(size, spread), size=2)
    kind = rng.integers(4)
    if kind == 1:
        P[0] = 0.0
    elif kind == 2:
        Q[-1] = 0.0
    elif kind == 3:
        P[0], Q[0] = 1e-9 * P[0], 1e-7 * Q[0]
    return P / P.sum(), Q / Q.sum()


def curve_of(P: Floats, Q: Floats, epsilons: Floats) -> Floats:
    return np.array([hockey_stick(P, Q, epsilon) for epsilon in epsilons])


def delta_of(pld: LossDistribution, epsilon: float) -> float:
    """delta(eps) = P(inf) + E(1 - e^(eps - Y))_+, for any real eps."""
    return pld.infinite + math.fsum(pld.mass * np.maximum(-np.expm1(np.minimum(epsilon - pld.losses, 700.0)), 0.0))


def grid(seed: int) -> tuple[Floats, float]:
    rng = np.random.default_rng(seed + 1)
    spacing = 10.0 ** rng.uniform(-2.5, -0.5)
    reach = int(rng.integers(3, 200))
    knots = (
        np.arange(reach + 1.0)
        if rng.random() < 0.5
        else np.unique(np.concatenate([[0.0, 1.0], np.ceil(np.geomspace(1.0, reach + 1.0, 12))]))
    )
    return knots, spacing


def epsilons_for(knots: Floats, spacing: float) -> Floats:
    inside = spacing * knots
    everywhere = np.concatenate([inside, 0.5 * (inside[1:] + inside[:-1]), [1e-9, inside[-1] * 1.3, inside[-1] + 3.0]])
    return np.concatenate([-everywhere[::-1], everywhere])


@settings(max_examples=200)
@given(seed=SEEDS)
def test_a_pessimistic_distribution_dominates_both_orders(seed: int) -> None:
    (P, Q), (knots, spacing) = random_pair(seed), grid(seed)
    pld = pessimistic(lambda e: np.maximum(curve_of(P, Q, e), curve_of(Q, P, e)), knots, spacing)
    assert pld.infinite + math.fsum(pld.mass) == pytest.approx(1.0, abs=1e-12)
    assert np.all(pld.mass > 0.0)
    assert np.all(np.diff(pld.index) > 0.0)
    for epsilon in epsilons_for(knots, spacing):
        value = delta_of(pld, epsilon)
        for pair in ((P, Q), (Q, P)):
            assert value >= hockey_stick(*pair, epsilon) - 1e-13, (epsilon, value)


@settings(max_examples=200)
@given(seed=SEEDS)
def test_a_pessimistic_distribution_of_one_order_dominates_it(seed: int) -> None:
    """At every epsilon, also below 0, where the other order's curve counts."""
    (P, Q), (knots, spacing) = random_pair(seed), grid(seed)
    pld = pessimistic(lambda e: curve_of(P, Q, e), knots, spacing, lambda e: curve_of(Q, P, e))
    for epsilon in epsilons_for(knots, spacing):
        assert delta_of(pld, epsilon) >= hockey_stick(P, Q, epsilon) - 1e-13, epsilon


@settings(max_examples=200)
@given(seed=SEEDS, slack=st.sampled_from([0.0, 1e-9, 1e-4, 0.05]))
def test_an_optimistic_distribution_is_dominated(seed: int, slack: float) -> None:
    """Also when the curve is known only between two ends."""
    (P, Q), (knots, spacing) = random_pair(seed), grid(seed)
    rng = np.random.default_rng(seed)
    bands = []
    for pair in ((P, Q), (Q, P)):
        exact = curve_of(*pair, spacing * knots)
        bands.append(
            (
                exact * (1.0 - slack * rng.random(knots.size)),
                np.minimum(exact * (1.0 + slack * rng.random(knots.size)), 1.0),
            )
        )
    pld = optimistic(bands[0], bands[1], knots, spacing)
    assert pld.infinite == 0.0
    assert math.fsum(pld.mass) == pytest.approx(1.0, abs=1e-12)
    for epsilon in epsilons_for(knots, spacing):
        assert delta_of(pld, epsilon) <= hockey_stick(P, Q, epsilon) + 1e-13, (
            epsilon,
            delta_of(pld, epsilon),
            hockey_stick(P, Q, epsilon),
        )


def test_fine_grids_lose_little() -> None:
    """A pair with losses on the grid comes back exactly from above, and nearly so from below."""
    spacing = 0.01
    losses = spacing * np.array([-60.0, -10.0, 0.0, 15.0, 40.0])
    P = np.array([0.1, 0.2, 0.3, 0.25, 0.15])
    Q = P * np.exp(-losses)
    Q[0] += 1.0 - Q.sum()
    knots = np.arange(121.0)
    bands = [(curve_of(*pair, spacing * knots),) * 2 for pair in ((P, Q), (Q, P))]
    better = optimistic(*bands, knots, spacing)
    points = np.array([0.0, 0.05, 0.1, 0.2, 0.35])
    assert [delta_of(better, e) for e in points] == pytest.approx(list(curve_of(P, Q, points)), abs=2e-3)
    worse = pessimistic(lambda e: np.maximum(curve_of(P, Q, e), curve_of(Q, P, e)), knots, spacing)
    assert [delta_of(worse, e) for e in points] == pytest.approx(
        list(np.maximum(curve_of(P, Q, points), curve_of(Q, P, points))), rel=0.02
    )


@settings(max_examples=200)
@given(seed=SEEDS, slack=st.sampled_from([0.0, 1e-6, 0.01, 0.2]))
def test_minorants_stay_below_every_curve_in_the_band(seed: int, slack: float) -> None:
    P, Q = random_pair(seed)
    rng = np.random.default_rng(seed)
    x = np.unique(np.concatenate([[1.0], 1.0 + rng.exponential(1.0, int(rng.integers(2, 12)))]))
    exact = np.array([np.maximum(P - point * Q, 0.0).sum() for point in x])
    lower, upper = exact * (1.0 - slack * rng.random(x.size)), exact * (1.0 + slack * rng.random(x.size))
    values = minorant(x, lower, upper)
    assert np.all((values >= 0.0) & (values <= lower + 1e-16))
    between = np.concatenate([x[:-1] + share * np.diff(x) for share in (0.0, 0.1, 0.35, 0.5, 0.8, 1.0)])
    curve = np.maximum(P - between[:, None] * Q, 0.0).sum(axis=1)
    assert np.all(np.interp(between, x, values) <= curve + 1e-14)


@settings(max_examples=200)
@given(seed=SEEDS, size=st.integers(1, 40))
def test_hulls_are_convex_and_below(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = np.cumsum(10.0 ** rng.uniform(-3.0, 1.0, size)), rng.normal(size=size)
    corner = lower_hull(x, y)
    assert corner[0] == 0
    assert corner[-1] == size - 1
    assert np.all(np.diff(corner) > 0)
    hull = np.interp(x, x[corner], y[corner])
    assert np.all(hull <= y + 1e-12)
    assert np.all(np.diff(np.diff(y[corner]) / np.diff(x[corner])) > 0.0)
    brute = [
        min(
            (y[i] * (x[j] - p) + y[j] * (p - x[i])) / (x[j] - x[i]) if i < j else y[i]
            for i in range(size)
            for j in range(i, size)
            if x[i] <= p <= x[j]
        )
        for p in x
    ]
    assert hull == pytest.approx(brute, abs=1e-9)


@settings(max_examples=100)
@given(seed=SEEDS, noise=st.sampled_from([0.0, 1e-9, 1e-3, 0.3]))
def test_convexified_curves_fall_and_keep_both_ends_valid(seed: int, noise: float) -> None:
    P, Q = random_pair(seed)
    rng = np.random.default_rng(seed)
    epsilons = np.unique(rng.uniform(0.0, 3.0, int(rng.integers(1, 15))))
    exact = curve_of(P, Q, epsilons)
    lower, upper = (convex(epsilons, exact * (1.0 + sign * noise * rng.random(epsilons.size))) for sign in (-1.0, 1.0))
    assert np.all(lower <= exact + 1e-15)
    assert np.all(exact <= upper + 1e-15)
    for side in (lower, upper):
        assert np.all(np.diff(side) <= 1e-16)
        assert np.all(side >= 0.0)
        slopes = np.diff(side) / np.diff(np.exp(epsilons))
        assert np.all(np.diff(slopes) >= -1e-9)


YES_NO, WEAK = (KRR(k=2, epsilon0=4.0), 1000), (KRR(k=256, epsilon0=1.0), 10**6)
MIXED = {
    "yes or no, and a weak one": [(*YES_NO, 1), (*WEAK, 1)],
    "strong once, weak often": [(KRR(k=4, epsilon0=4.0), 1000, 1), (*WEAK, 3000)],
    "almost local, and weak ones beyond its ceiling": [
        (KRR(k=16, epsilon0=6.0), 100, 1),
        (KRR(k=16, epsilon0=1.0), 10**6, 50),
    ],
    "three sizes": [
        (OUE(k=16, epsilon0=3.0), 2000, 2),
        (KRR(k=64, epsilon0=2.0), 10**5, 30),
        (KRR(k=5, epsilon0=0.5), 10**6, 300),
    ],
}


def parts(*rows: tuple[KRR | OUE, int, int]) -> tuple[tuple[Shuffled, int], ...]:
    return tuple((shuffle(randomizer, n=n), rounds) for randomizer, n, rounds in rows)


@pytest.mark.parametrize("rows", MIXED.values(), ids=MIXED)
def test_the_upper_end_on_the_common_grid_is_within_two_thousandths_of_a_fine_one(
    rows: list[tuple[KRR | OUE, int, int]],
) -> None:
    mixed = parts(*rows)
    finest = min(part.spacing() for part, _ in mixed)
    times = [own_multiple(part.spacing() / 2.0, finest) for part, _ in mixed]
    fine = Composition(
        [
            (part.pessimistic_loss(spacing=each * finest).on_finer(each), rounds)
            for (part, rounds), each in zip(mixed, times, strict=True)
        ]
    )
    assert Rounds(mixed).epsilon(delta=1e-8).upper <= 1.002 * fine.epsilon(1e-8, "upper")


@pytest.mark.parametrize("rows", MIXED.values(), ids=MIXED)
def test_no_curve_is_evaluated_more_finely_than_its_own_mechanism_needs(
    rows: list[tuple[KRR | OUE, int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[Shuffled, int] = {}
    end = Shuffled._end

    def counted(self: Shuffled, side: str, epsilons: np.ndarray, *gap: float) -> np.ndarray:
        asked[self] = asked.get(self, 0) + epsilons.size
        return end(self, side, epsilons, *gap)  # type: ignore[arg-type]

    monkeypatch.setattr(Shuffled, "_end", counted)
    total = Rounds(parts(*rows))
    assert 0.0 < total.delta(epsilon=1.0).upper < 1.0
    assert max(asked.values()) < 2500, (
        "on the finest mechanism's own grid, the yes or no question is asked at half a million points"
    )


def test_a_strong_and_a_weak_mechanism_contain_the_exact_answer() -> None:
    strong, weak, epsilons = judge.krr(3, 2.0), judge.krr(3, 0.02), np.array([0.1, 0.5, 1.0, 1.9])
    total = Rounds(parts((KRR(k=3, epsilon0=2.0), 4, 1), (KRR(k=3, epsilon0=0.02), 4, 2)))
    for epsilon, truth in zip(epsilons, judge.rounds_delta([strong, weak, weak], 4, epsilons), strict=True):
        bound = total.delta(epsilon=float(epsilon))
        assert bound.lower <= truth * (1.0 + 1e-9)
        assert truth <= bound.upper * (1.0 + 1e-9)


sizes = st.tuples(st.floats(-5.0, 0.0), st.floats(40.0, 500.0), st.integers(1, 1000)).map(
    lambda s: Spread(10.0 ** s[0], 10.0 ** s[0] / s[1], s[2])
)


@given(st.lists(sizes, min_size=1, max_size=6))
def test_the_common_spacing_lies_between_the_finest_and_the_coarsest_of_its_mechanisms(spreads: list[Spread]) -> None:
    total = np.sqrt(sum(rounds * typical**2 for typical, _, rounds in spreads))
    spacing = common_spacing(spreads)
    assert (
        min(own for _, own, _ in spreads) <= spacing <= max(*(own for _, own, _ in spreads), 16.0 * total / (1 << 21))
    )
    assert total / spacing <= 1 << 17, "the sum fits into the largest transform"


@given(st.floats(1e-6, 1.0), st.integers(1, 12))
def test_equal_mechanisms_keep_their_own_grid(own: float, rounds: int) -> None:
    assert common_spacing([Spread(40.0 * own, own, rounds)] * 2) == pytest.approx(own, rel=1e-12)


def test_the_same_losses_on_a_finer_grid_are_the_same_to_the_last_bit() -> None:
    law = shuffle(KRR(k=16, epsilon0=4.0), n=1000).pessimistic_loss(spacing=0.013)
    fine = law.on_finer(own_multiple(0.013, 0.013 / 9.0))
    assert fine.spacing == 0.013 / 8.0
    assert np.array_equal(fine.losses, law.losses)
    assert (fine.infinite, fine.mass.sum()) == (law.infinite, law.mass.sum())
