from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb

from shuffledp.judge.balls import Needle
from shuffledp.judge.balls.arithmetic import Line, Positions, ends, precision
from shuffledp.judge.balls.needle import _capped, mean_positive_part, ramp_of_views


def random_positions(rng: np.random.Generator, n: int, classes: int, *, whole: bool) -> Positions:
    masses = rng.dirichlet(np.ones(classes)) * (1.0 if whole else rng.uniform(0.2, 0.9))
    scores = rng.normal(size=classes) - 0.3
    scores[0] = abs(scores[0]) + 0.1
    total = arb(float(masses.sum()))
    balls = tuple(arb(float(each)) / (total if whole else 1) for each in masses)
    return Positions(n, balls, tuple(arb(float(each)) for each in scores), None if whole else 1 - sum(balls, arb(0)))


def plainly(positions: Positions) -> Fraction:
    """E S_+ by adding up all sequences, in fractions."""
    exact = [Fraction(float(each.mid())) for each in positions.masses]
    scores = [Fraction(float(each.mid())) for each in positions.scores]
    choices = [*zip(exact, scores, strict=True), (1 - sum(exact), Fraction(0))]
    total = Fraction(0)
    for chosen in product(choices, repeat=positions.n):
        chance, value = Fraction(1), Fraction(0)
        for mass, score in chosen:
            chance, value = chance * mass, value + score
        total += chance * max(value, Fraction(0))
    return total


def test_views_hold_the_exact_sum() -> None:
    rng = np.random.default_rng(1)
    with precision(128):
        for n in (2, 3, 4):
            positions = random_positions(rng, n, 3, whole=False)
            low, high = ends(ramp_of_views(positions, n))
            exact = plainly(positions)
            assert Fraction(low) <= exact <= Fraction(high)
            assert high - low <= 1e-15 * high


@pytest.mark.parametrize("whole", [False, True])
def test_the_line_holds_what_all_views_add_up_to(whole: bool) -> None:
    rng = np.random.default_rng(2)
    with precision(128):
        for n in (2, 5, 12, 30):
            positions = random_positions(rng, n, 2, whole=whole)
            low, high = ends(Line.through(positions, 1e-5, 200_000).ramp())
            exact = ends(ramp_of_views(positions, n))
            assert low <= exact[1]
            assert exact[0] <= high
            assert high - low <= 1e-3 * high


def test_caps_hold_it_too() -> None:
    rng = np.random.default_rng(3)
    with precision(128):
        for n in (5, 20):
            positions = random_positions(rng, n, 3, whole=False)
            exact = ramp_of_views(positions, n)
            for share in (0.2, 0.5, 0.9):
                assert _capped(positions, (positions.top * share).mid(), 1e-4).overlaps(exact)


def test_few_of_many_positions_are_filled() -> None:
    """A billion users, of whom about two are seen: views and the line agree."""
    with precision(192):
        masses = (arb("1e-9"), arb("5e-10"), arb("3e-10"))
        scores = (arb(1), arb("-1.5"), arb("0.3"))
        positions = Positions(10**9, masses, scores, 1 - sum(masses, arb(0)))
        summed = mean_positive_part(positions, 1e-8)
        line = Line.through(positions, 1e-4, 400_000).ramp()
        assert summed.rel_accuracy_bits() > 25
        assert line.overlaps(summed)
        assert line.rel_accuracy_bits() > 8


def test_more_bits_are_inside_fewer() -> None:
    for n in (1_000, 10**12):
        found = []
        for bits in (160, 320):
            with precision(bits):
                needle = Needle.of("", [0.25, 0.25, 0.25], [0.5, 0.25, 0.25], [0.25, 0.5, 0.25], whole=False)
                found.append(ends(needle.delta(n, 2.0 / n**0.5, 1e-6)))
        (low, high), (lower, higher) = found
        assert low <= higher
        assert lower <= high
        assert high - low < 1e-4 * high


def test_without_hay_everything_is_seen() -> None:
    with precision(128):
        needle = Needle.of("", [0.0, 0.5], [0.5, 0.5], [0.25, 0.75], whole=False)
        low, high = ends(needle.delta(1, 0.0))
        assert low <= 0.25 <= high
        assert ends(Needle.of("", [0.0], [1.0], [1.0], whole=False).delta(10, 0.0)) == (0.0, 0.0)
