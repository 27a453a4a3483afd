"""A step's two laws in classes: masses to the last digits, and on the proven side."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr

from shuffledp.errors import InvalidInput
from shuffledp.randomizers.randomizer import Atoms
from shuffledp.training.step_pairs import FiniteStep, GaussianStep, LaplaceStep, StepPair

KINDS: list[tuple[Callable[[float], StepPair], float]] = [
    *((GaussianStep, sigma) for sigma in (1e-3, 0.02, 0.1, 0.35, 1.0, 5.0, 1e3)),
    *((LaplaceStep, scale) for scale in (0.03, 0.5, 1.0, 100.0)),
]


@pytest.mark.parametrize(("kind", "noise"), KINDS)
def test_both_ends_are_laws(kind: Callable[[float], StepPair], noise: float) -> None:
    step = kind(noise)
    for end in ("upper", "lower"):
        atoms = step.atoms(end)
        assert np.all(np.isfinite(atoms.hay))
        assert np.all(np.isfinite(atoms.needle0))
        assert np.all(atoms.hay >= 0.0)
        assert atoms.hay.sum() == pytest.approx(1.0, abs=3e-15)
        assert atoms.needle0.sum() == pytest.approx(1.0, abs=3e-15)


@pytest.mark.parametrize("sigma", [0.35, 1.0, 5.0])
def test_cells_bracket_every_convex_expectation(sigma: float) -> None:
    """E(u - a)_+ and E(a - u)_+ of the Gaussian, in closed form."""
    m = 1.0 / sigma
    spread, merged = GaussianStep(sigma).atoms("upper"), GaussianStep(sigma).atoms("lower")
    for a in (0.01, 0.3, 0.9, 1.0, 1.7, 20.0):
        z = math.log(a) / m + 0.5 * m
        exact = ndtr(m - z) - a * ndtr(-z)
        assert _ramp(merged, a) <= exact * (1.0 + 1e-12) <= _ramp(spread, a) * (1.0 + 2e-12)


def _ramp(atoms: Atoms, a: float) -> float:
    return float(np.maximum(atoms.needle0 - a * atoms.hay, 0.0).sum())


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: GaussianStep(0.0), "sigma must be positive"),
        (lambda: GaussianStep(1e-4), "sigma must be at least 0.001"),
        (lambda: GaussianStep(1e7), "sigma must be at most 1e"),
        (lambda: LaplaceStep(1e-9), "scale must lie in"),
        (lambda: FiniteStep([[0.5, 0.5], [0.2, 0.7]]), "row 1 must sum to 1"),
        (lambda: FiniteStep([[0.5, 0.5], [0.2, 0.8], [0.1, 0.9]]), "pair must be two laws"),
    ],
)
def test_what_is_no_step_is_refused(wrong: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        wrong()  # type: ignore[operator]


def test_the_ceiling_of_nearly_equal_laws_is_that_of_the_masses_in_use() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        law = rng.dirichlet(np.ones(4))
        other = law + 1e-12 * rng.normal(size=4)
        step = FiniteStep([law.tolist(), (other / other.sum()).tolist()])
        present, absent = np.array(step.pair)
        most = max(
            Fraction(max(a, b)) / Fraction(min(a, b)) for a, b in zip(present.tolist(), absent.tolist(), strict=True)
        )
        assert Fraction(step.epsilon0) >= (most - 1) / most  # log r >= 1 - 1/r, which is nearly all of it here
