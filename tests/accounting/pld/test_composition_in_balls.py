"""Composition against polynomials over balls: every claim of an end, without a tolerance."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, arb_poly, ctx

from shuffledp._types import Floats
from shuffledp.accounting.pld import Composition, LossDistribution

Parts = list[tuple[LossDistribution, int]]


class Exact:
    """The law of the total loss, with masses, spacing and epsilons taken as the dyadic numbers that
    they are.
    """

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
    """From 0 to beyond the largest loss, that loss itself, and other grid points, where a distance
    to epsilon is rounding and nothing else.
    """
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
    """Two equal masses on a circle of two: the transform is 0 at one frequency, and 0 times its
    logarithm was computed.
    """
    halves = Composition([(LossDistribution(0.1, np.array([0.0, 1.0]), np.array([0.5, 0.5]), 0.0), 1)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        total = halves.law()
    assert total.mass @ np.maximum(-np.expm1(-total.losses), 0.0) + total.infinite >= 0.5 * -math.expm1(-0.1)
