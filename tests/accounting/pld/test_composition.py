"""Composition by tilted FFT against convolution, in floating point and in fractions."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from flint import arb, arb_poly, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

import shuffledp as sdp
from shuffledp import RR, shuffle
from shuffledp._types import Floats
from shuffledp.accounting.pld import Composition, LossDistribution

SEEDS = st.integers(0, 2**32 - 1)


def random_pld(rng: np.random.Generator, spacing: float) -> LossDistribution:
    size = int(rng.integers(1, 12))
    index = np.unique(rng.integers(-30, 31, size)).astype(np.float64)
    mass = rng.dirichlet(np.full(index.size, 0.5)) + 1e-12
    infinite = float(rng.choice([0.0, 1e-9, 0.05]))
    return LossDistribution(spacing, index, mass / mass.sum() * (1.0 - infinite), infinite)


def convolved(parts: list[tuple[LossDistribution, int]]) -> tuple[Floats, Floats, float]:
    """All finite total losses, their probabilities, and that of an infinite one."""
    law, first, finite = np.ones(1), 0, 1.0
    for part, rounds in parts:
        dense = np.zeros(int(part.index[-1] - part.index[0]) + 1)
        dense[(part.index - part.index[0]).astype(int)] = part.mass
        for _ in range(rounds):
            law, first = np.convolve(law, dense), first + int(part.index[0])
            finite *= 1.0 - part.infinite
    return parts[0][0].spacing * (first + np.arange(law.size)), law, 1.0 - finite


def direct(parts: list[tuple[LossDistribution, int]], epsilons: Floats) -> Floats:
    losses, law, infinite = convolved(parts)
    return np.array(
        [infinite + law @ np.maximum(-np.expm1(np.minimum(epsilon - losses, 700.0)), 0.0) for epsilon in epsilons]
    )


@settings(max_examples=120)
@given(seed=SEEDS, parts=st.integers(1, 3), spacing=st.sampled_from([1e-4, 0.01, 0.1, 0.5]))
def test_composition_encloses_direct_convolution(seed: int, parts: int, spacing: float) -> None:
    rng = np.random.default_rng(seed)
    several = [(random_pld(rng, spacing), int(rng.integers(1, 20))) for _ in range(parts)]
    reach = max(spacing * sum(rounds * part.index[-1] for part, rounds in several), spacing)
    epsilons = np.concatenate([[0.0], reach * rng.uniform(0.0, 1.05, 6), [reach]])
    exact, composition = direct(several, epsilons), Composition(several)
    lower, upper = (composition.deltas(epsilons, end) for end in ("lower", "upper"))
    assert np.all(lower <= exact * (1.0 + 1e-9) + 1e-14), (lower, exact)
    assert np.all(exact * (1.0 - 1e-9) - 1e-14 <= upper), (exact, upper)
    assert np.all((lower >= 0.0) & (upper <= 1.0))
    assert upper == pytest.approx(exact, rel=1e-4, abs=1e-13)
    assert composition.infinite == pytest.approx(convolved(several)[2], rel=1e-9, abs=1e-15)


@settings(max_examples=60)
@given(seed=SEEDS, delta=st.floats(-12.0, -0.3).map(lambda power: 10.0**power))
def test_epsilons_are_on_the_safe_side(seed: int, delta: float) -> None:
    rng = np.random.default_rng(seed)
    several = [(random_pld(rng, 0.05), int(rng.integers(1, 12)))]
    composition = Composition(several)
    lower, upper = (composition.epsilon(delta, end) for end in ("lower", "upper"))
    if composition.infinite >= delta:
        assert upper == math.inf
        return
    assert 0.0 <= lower <= upper * (1.0 + 1e-6) + 1e-9
    assert direct(several, np.array([upper]))[0] <= delta * (1.0 + 1e-9) + 1e-15
    assert lower == 0.0 or direct(several, np.array([lower]))[0] >= delta * (1.0 - 1e-9) - 1e-15


@pytest.mark.parametrize("rounds", [1, 2, 7, 40, 150])
def test_small_deltas_are_exact_to_many_digits(rounds: int) -> None:
    """Three losses, rational: the sum in fractions, delta at 60 digits, down to 1e-80."""
    index, mass = [-3, 0, 4], [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]
    pld = LossDistribution(0.25, np.array(index, dtype=np.float64), np.array([float(m) for m in mass]), 0.0)
    law = {0: Fraction(1)}
    for _ in range(rounds):
        after: dict[int, Fraction] = {}
        for (total, p), (step, m) in product(law.items(), zip(index, mass, strict=True)):
            after[total + step] = after.get(total + step, Fraction(0)) + p * m
        law = after
    composition = Composition([(pld, rounds)])
    smallest = 1.0
    for share in (0.0, 0.1, 0.3, 0.5, 0.8, 0.95, 0.999):
        epsilon = share * rounds
        with mp.workdps(60):
            exact = mp.fsum(
                mp.mpf(p.numerator) / p.denominator * (1 - mp.exp(epsilon - mp.mpf(total) / 4))
                for total, p in law.items()
                if total / 4 > epsilon
            )
        lower, upper = (composition.deltas(np.array([epsilon]), end)[0] for end in ("lower", "upper"))
        assert lower <= float(exact) * (1.0 + 1e-13)
        assert float(exact) * (1.0 - 1e-13) <= upper
        assert upper - lower <= 1e-4 * float(exact)
        smallest = min(smallest, float(exact))
    assert rounds < 150 or smallest < 1e-80


def test_many_rounds_approach_the_normal_law() -> None:
    """Losses +-s of randomized response become a Gaussian mechanism (Dong et al. 2022)."""
    s, rounds = 0.002, 100_000
    q = 1.0 / (1.0 + math.exp(-s))
    composition = Composition([(LossDistribution(s, np.array([-1.0, 1.0]), np.array([1.0 - q, q]), 0.0), rounds)])
    mu = math.sqrt(rounds) * s
    points = mu * np.array([0.0, 1.0, 3.0])
    exact = [gaussian_delta(mu, e) for e in points]
    for end in ("lower", "upper"):
        assert composition.deltas(points, end) == pytest.approx(exact, rel=5e-3)


def test_one_atom_and_no_loss_at_all() -> None:
    nothing = Composition([(LossDistribution(0.1, np.zeros(1), np.ones(1), 0.0), 50)])
    for end in ("lower", "upper"):
        assert np.array_equal(nothing.deltas(np.array([0.0, 1.0]), end), [0.0, 0.0])
    assert nothing.epsilon(1e-6, "upper") <= 1e-6
    assert nothing.epsilon(1e-6, "lower") == 0.0
    certain = Composition([(LossDistribution(0.1, np.array([3.0]), np.ones(1), 0.0), 2)])
    for end in ("lower", "upper"):
        assert certain.deltas(np.array([0.0, 0.5, 0.6]), end) == pytest.approx(
            [-math.expm1(-0.6), -math.expm1(-0.1), 0.0], rel=1e-7, abs=1e-12
        )


@pytest.mark.parametrize("index", [[9.0], [8.0, 9.0], [-1.0, 1.0]])
def test_an_epsilon_asked_for_before_leaves_no_trace(index: list[float]) -> None:
    """The likeliest loss is the largest: the tilt of a small delta serves no other epsilon."""
    pld = LossDistribution(0.05, np.array(index), np.full(len(index), 1.0 / len(index)), 1e-9)
    composition = Composition([(pld, 2)])
    for delta in (1e-1, 1e-4, 1e-8):
        lower, upper = (composition.epsilon(delta, end) for end in ("lower", "upper"))
        assert direct([(pld, 2)], np.array([upper]))[0] <= delta * (1.0 + 1e-7)
        assert lower == 0.0 or direct([(pld, 2)], np.array([lower]))[0] >= delta * (1.0 - 1e-7)
        points = np.array([0.0, 0.02, 0.3, 0.75])
        assert np.all(direct([(pld, 2)], points) <= composition.deltas(points, "upper") * (1.0 + 1e-7))


def test_losses_that_are_all_infinite() -> None:
    everything = Composition([(LossDistribution(0.1, np.zeros(1), np.full(1, 1e-280), 1.0), 2)])
    assert np.array_equal(everything.deltas(np.array([0.0, 5.0]), "upper"), [1.0, 1.0])
    assert everything.epsilon(0.5, "upper") == math.inf


def test_the_law_of_the_total_is_pessimistic() -> None:
    rng = np.random.default_rng(3)
    several = [(random_pld(rng, 0.1), 3), (random_pld(rng, 0.1), 2)]
    total = Composition(several).law()
    assert total.infinite + total.mass.sum() >= 1.0 - 1e-12
    epsilons = np.linspace(0.0, 10.0, 30)
    values = [
        total.infinite + total.mass @ np.maximum(-np.expm1(np.minimum(epsilon - total.losses, 700.0)), 0.0)
        for epsilon in epsilons
    ]
    assert np.all(np.array(values) >= direct(several, epsilons) - 1e-13)
    assert np.array(values) == pytest.approx(direct(several, epsilons), abs=1e-9)


def gaussian_delta(mu: float, epsilon: float) -> float:
    with mp.workdps(50):
        half, ratio = mp.mpf(mu) / 2, mp.mpf(epsilon) / mu
        return float(mp.ncdf(half - ratio) - mp.exp(epsilon) * mp.ncdf(-half - ratio))


@pytest.mark.parametrize(
    "epsilon0, n, rounds, delta",
    [
        (1e-6, 10**7, 10**7, 1e-8),
        (1e-12, 10**12, 100, 1e-19),
        (5.686535608012932e-10, 7217020995, 10, 1e-16),
        (0.5, 10**6, 10**4, 1e-6),
    ],
)
def test_rounds_of_next_to_no_leakage_are_a_gaussian_mechanism(
    epsilon0: float, n: int, rounds: int, delta: float
) -> None:
    """Losses of 1e-10: errors counted as if each cost a delta of 1, knots were one, 0/0 came out."""
    once = shuffle(RR(epsilon0=epsilon0), n=n)
    mu = math.sqrt(rounds) * math.sqrt(2.0 * math.pi) * once.delta(epsilon=0.0).upper
    total = once.compose(rounds)
    for share in (0.0, 1.0, 3.0):
        bound = total.delta(epsilon=share * mu)
        limit = gaussian_delta(mu, share * mu)
        assert bound.lower == pytest.approx(limit, rel=0.1 if share > 1.0 else 0.03)
        assert bound.upper == pytest.approx(limit, rel=0.1 if share > 1.0 else 0.02)
    lower, upper = total.epsilon(delta=delta)
    assert 0.985 * upper < lower <= upper
    assert gaussian_delta(mu, 0.99 * lower) > delta > gaussian_delta(mu, 1.01 * upper)


@pytest.mark.parametrize("rounds", [7, 10_000])
def test_rounds_of_one_gaussian_report_enclose_the_exact_composition(rounds: int) -> None:
    """One user: k rounds with noise sigma are one with sigma / sqrt(k)."""
    sigma, once = 40.0 * math.sqrt(rounds), sdp.Gaussian(sigma=40.0)
    total = shuffle(sdp.Gaussian(sigma=sigma), n=1).compose(rounds)
    for epsilon in (0.0, 0.02, 0.1):
        bound = total.delta(epsilon=epsilon)
        assert bound.lower <= once.local_delta(epsilon=epsilon) <= bound.upper
        assert bound.lower >= 0.97 * bound.upper


Parts = list[tuple[LossDistribution, int]]


class Exact:
    """The law of the total loss, all numbers taken as the dyadic ones that they are."""

    def __init__(self, parts: Parts) -> None:
        ctx.prec = 1400
        law, self.first, finite = arb_poly([1]), 0, arb(1)
        for part, rounds in parts:
            lowest = int(part.index[0])
            dense = [arb(0)] * (int(part.index[-1]) - lowest + 1)
            for index, mass in zip(part.index, part.mass, strict=True):
                dense[int(index) - lowest] = arb(float(mass))
            law = law * arb_poly(dense) ** rounds
            self.first += rounds * lowest
            finite *= (1 - arb(part.infinite)) ** rounds
        self.infinite, self.masses, self.spacing = 1 - finite, law.coeffs(), arb(parts[0][0].spacing)
        ctx.prec = 53

    def delta(self, epsilon: float) -> arb:
        ctx.prec = 1400
        above = math.floor(Fraction(epsilon) / Fraction(float(self.spacing))) + 1
        total, start = self.infinite, max(above - self.first, 0)
        for place, mass in enumerate(self.masses[start:], self.first + start):
            total += mass * (1 - (arb(epsilon) - self.spacing * place).exp())
        ctx.prec = 53
        return total


def random_part(rng: np.random.Generator, spacing: float) -> LossDistribution:
    """Few or many atoms, ordinary or down to 1e-300; the masses may add up to less than 1."""
    width = int(rng.integers(1, 13))
    index = np.unique(rng.integers(-width, width + 1, int(rng.choice([1, 2, 3, 8, 20])))).astype(np.float64)
    mass = 10.0 ** rng.uniform(float(rng.choice([-0.5, -12.0, -300.0])), 0.0, index.size)
    infinite = float(
        rng.choice([0.0, 0.0, 1e-300, 1e-30, 1e-9, 0.05, 0.5, 1.0], p=[0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.08, 0.02])
    )
    mass *= (1.0 - infinite) / mass.sum() * (float(rng.uniform(0.01, 1.0)) if rng.random() < 0.2 else 1.0 - 1e-14)
    return LossDistribution(spacing, index, np.maximum(mass, 1e-300), infinite)


def questions(rng: np.random.Generator, composition: Composition) -> Floats:
    """From 0 to beyond the largest loss, and grid points where a distance is rounding alone."""
    spacing, top = composition.spacing, max(composition.spacing * composition.most, composition.spacing)
    points = spacing * rng.integers(0, max(composition.most, 1) + 1, 3).astype(np.float64)
    near = points * (1.0 + rng.integers(-2, 3, 3) * 2.0**-52)
    return np.minimum(
        np.concatenate([[0.0, top], near, top * rng.uniform(0.0, 1.02, 2), top * 10.0 ** rng.uniform(-5.0, 0.0, 2)]),
        700.0,
    )


@pytest.mark.parametrize("seed", range(10))
def test_every_end_holds_without_a_tolerance(seed: int) -> None:
    """Where epsilon was the largest loss, rounded, delta was said to be 0; near grid points lower
    ends were too large, infinite masses off by a digit.
    """
    rng = np.random.default_rng(seed)
    for _ in range(12):
        spacing = float(10.0 ** rng.uniform(-9.0, -0.1))
        parts = [
            (random_part(rng, spacing), int(10.0 ** rng.uniform(0.0, 1.7))) for _ in range(int(rng.integers(1, 4)))
        ]
        exact, composition = Exact(parts), Composition(parts)
        epsilons = questions(rng, composition)
        lower, upper = (composition.deltas(epsilons, end) for end in ("lower", "upper"))
        for epsilon, low, high in zip(epsilons, lower, upper, strict=True):
            truth = exact.delta(float(epsilon))
            assert arb(float(low)) <= truth, (parts, epsilon, low)
            assert truth <= arb(float(high)) or high == 1.0, (parts, epsilon, high)
        delta = float(10.0 ** rng.uniform(-60.0, -0.1))
        low, high = (composition.epsilon(delta, end) for end in ("lower", "upper"))
        assert low == 0.0 or exact.infinite >= delta or exact.delta(low) >= delta
        assert math.isinf(high) or exact.delta(high) <= delta


def test_many_rounds_hold_without_a_tolerance() -> None:
    part = LossDistribution(0.001, np.array([-2.0, 0.0, 2.0, 3.0]), np.array([0.25, 0.45, 0.29, 0.01]), 1e-12)
    parts: Parts = [(part, 1500), (LossDistribution(0.001, np.array([-1.0, 1.0]), np.array([0.499, 0.501]), 0.0), 800)]
    exact, composition = Exact(parts), Composition(parts)
    epsilons = np.array([0.0, 0.1, 0.4, 1.0, 2.0])
    lower, upper = (composition.deltas(epsilons, end) for end in ("lower", "upper"))
    for epsilon, low, high in zip(epsilons, lower, upper, strict=True):
        truth = exact.delta(float(epsilon))
        assert arb(float(low)) <= truth <= arb(float(high))
        assert high - low <= 1e-6 * high


def test_a_vanishing_transform_warns_nobody() -> None:
    """Two equal masses on a circle of two: the transform is 0 at one frequency."""
    halves = Composition([(LossDistribution(0.1, np.array([0.0, 1.0]), np.array([0.5, 0.5]), 0.0), 1)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        total = halves.law()
    assert total.mass @ np.maximum(-np.expm1(-total.losses), 0.0) + total.infinite >= 0.5 * -math.expm1(-0.1)
