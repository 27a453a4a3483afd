"""Balls around ends: exact laws of clones and needles, and no fast end on the wrong side of its ball."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb

from shuffledp import KRR, OUE, RAPPOR, FromMatrix, Hadamard, LocalHash, SubsetSelection, Unary
from shuffledp.judge import hadamard, krr, local_hash, worst_delta
from shuffledp.judge.balls import Kinds, Needle, TwoValues, clones, kinds_of, kinds_of_table, swaps_of
from shuffledp.judge.balls.arithmetic import Line, Positions, ends, precision
from shuffledp.judge.balls.needle import _capped, mean_positive_part, ramp_of_views
from shuffledp.judge.clones import swap_at_most
from shuffledp.judge.enumeration import binary_dataset
from shuffledp.judge.laws import CountedLaw
from shuffledp.randomizers import Randomizer
from shuffledp.randomizers.randomizer import Atoms
from tests.literature.ball_search import report, search

LAWS = [
    *(KRR(k=k, epsilon0=epsilon0) for k in (2, 3, 16) for epsilon0 in (0.1, 4.0)),
    *(family(k=k, epsilon0=2.0) for family in (OUE, RAPPOR) for k in (2, 3, 9)),
    *(LocalHash(k=k, g=g, epsilon0=1.0) for k in (2, 9) for g in (2, 5)),
    *(SubsetSelection(k=k, epsilon0=1.0) for k in (3, 10)),
    *(Hadamard(k=k, epsilon0=epsilon0) for k in (2, 3, 4, 7, 16, 100) for epsilon0 in (0.5, 2.0, 8.0)),
    Unary(k=4, p=0.7, q=0.2),
]


def kept(columns: list[tuple[float, float, float]]) -> tuple[tuple[str, ...], ...]:
    return tuple(sorted(tuple(f"{each:.9e}" for each in row) for row in columns))


def of_balls(kinds: Kinds) -> tuple[set[object], set[object]]:
    blankets, datasets = (
        {
            kept(
                [
                    (float(h.mid()), float(u.mid()), float(v.mid()))
                    for h, u, v in zip(each.hay, each.needle0, each.needle1, strict=True)
                ]
            )
            for each in needles
        }
        for needles in (kinds.blankets, kinds.datasets)
    )
    return blankets, datasets  # type: ignore[return-value]


def of_atoms(atoms: tuple[Atoms, ...]) -> set[object]:
    return {kept(np.stack([each.hay, each.needle0, each.needle1]).T.tolist()) for each in atoms}


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_counted_laws_are_those_of_the_randomizer(law: Randomizer) -> None:
    with precision(160):
        kinds = kinds_of(law.describe())
        assert kinds is not None
        for each in kinds.datasets:
            assert sum(each.hay).contains(1)
        blankets, datasets = of_balls(kinds)
    assert blankets == of_atoms(law.blankets("upper"))
    assert datasets == of_atoms(law.datasets())


def test_a_table_is_taken_as_it_is() -> None:
    rows = FromMatrix([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]])
    with precision(160):
        blankets, _ = of_balls(kinds_of_table(rows.table.tolist()))
    assert blankets == of_atoms(rows.blankets("upper"))


def test_other_laws_are_not_guessed() -> None:
    assert kinds_of({"randomizer": "laplace", "epsilon0": 1.0}) is None


HASH = {"randomizer": "blh", "k": 16, "g": 2, "epsilon0": 4.0}
LARGE = [
    (HASH, 10_000, 0.2007),
    ({"randomizer": "oue", "k": 16, "epsilon0": 1.0}, 10**5, 0.0077),
    ({"randomizer": "hadamard", "k": 16, "epsilon0": 1.0}, 10**6, 0.0025),
    ({"randomizer": "static", "epsilon0": 1.0}, 10**9, 0.0001),
]


@pytest.mark.parametrize(("law", "n", "eps"), LARGE)
def test_it_is_above_every_dataset_and_hardly_above_the_worst(law: dict[str, object], n: int, eps: float) -> None:
    kinds = kinds_of(law)
    assert kinds is not None
    with precision(192):
        most = max(ends(swap.at_most(n, eps))[1] for swap in swaps_of(law))
        least = max(ends(each.delta(n, eps, 1e-4))[0] for each in kinds.datasets)
    assert least <= most
    assert most <= least * 1.02 or law["randomizer"] == "static"


@pytest.mark.parametrize(
    ("law", "matrix", "given"),
    [
        ({"randomizer": "krr", "k": 3, "epsilon0": 1.0}, krr, (3, 1.0)),
        ({"randomizer": "static", "epsilon0": 1.0}, krr, (2, 1.0)),
        ({"randomizer": "hadamard", "k": 3, "epsilon0": 0.5}, hadamard, (3, 0.5)),
        ({"randomizer": "blh", "k": 2, "g": 2, "epsilon0": 1.0}, local_hash, (2, 2, 1.0)),
    ],
)
def test_a_handful_of_users_is_enumerated(
    law: dict[str, object], matrix: Any, given: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With few levels and much smoothing, which any number of users may have: it is quicker."""
    monkeypatch.setattr(clones, "LEVELS", 4)
    monkeypatch.setattr(clones, "BLUR", 0.1)
    exact = worst_delta(matrix(*given), 6, [0.2])[0]
    with precision(96):
        assert exact <= max(ends(swap.at_most(6, 0.2))[1] for swap in swaps_of(law))


def test_sums_and_balls_are_the_same_number() -> None:
    counted = CountedLaw.of({"type": "hash", "k": 16, "g": 2, "epsilon0": 4.0, "integers": ["663580905245434240"]})
    law = {**HASH, "epsilon0": float(counted.implied)}
    with precision(160):
        (proven,) = (ends(swap.at_most(10_000, 0.2))[1] for swap in swaps_of(law))
    (summed,) = (swap_at_most(swap, 10_000, 0.2) for swap in counted.supports.swaps)
    assert summed == pytest.approx(proven, rel=2e-3)


def test_a_kind_whose_scores_are_zero_but_for_rounding_does_not_choose_the_line() -> None:
    with precision(160):
        (swap,) = swaps_of({"randomizer": "static", "epsilon0": 0.3576411265915042})
        found = ends(swap.at_most(4, 0.0))[1]
    assert worst_delta(krr(3, 0.3576411265915042), n=4, epsilons=[0.0])[0] <= found < 0.2


def random_positions(rng: np.random.Generator, n: int, classes: int, *, whole: bool) -> Positions:
    masses = rng.dirichlet(np.ones(classes)) * (1.0 if whole else rng.uniform(0.2, 0.9))
    scores = rng.normal(size=classes) - 0.3
    scores[0] = abs(scores[0]) + 0.1
    total = arb(float(masses.sum()))
    balls = tuple(arb(float(each)) / (total if whole else 1) for each in masses)
    return Positions(n, balls, tuple(arb(float(each)) for each in scores), arb(0) if whole else 1 - sum(balls, arb(0)))


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
                needle = Needle.of([0.25, 0.25, 0.25], [0.5, 0.25, 0.25], [0.25, 0.5, 0.25], whole=False)
                found.append(ends(needle.delta(n, 2.0 / n**0.5, 1e-6)))
        (low, high), (lower, higher) = found
        assert low <= higher
        assert lower <= high
        assert high - low < 1e-4 * high


def test_without_hay_everything_is_seen() -> None:
    with precision(128):
        needle = Needle.of([0.0, 0.5], [0.5, 0.5], [0.25, 0.75], whole=False)
        low, high = ends(needle.delta(1, 0.0))
        assert low <= 0.25 <= high
        assert ends(Needle.of([0.0], [1.0], [1.0], whole=False).delta(10, 0.0)) == (0.0, 0.0)


def test_every_dataset_of_some_users() -> None:
    """Beside the sums of two binomial laws in floating point."""
    for epsilon0, n in ((0.5, 4), (1.0, 30), (3.0, 300)):
        p = 1.0 / (math.exp(epsilon0) + 1.0)
        for ones in {0, 1, n // 3, n - 1}:
            for share in (0.0, 0.2, 0.7):
                low, high = binary_dataset(p, n - 1 - ones, ones, np.array([share * epsilon0]))
                with precision(128):
                    least, most = ends(TwoValues(epsilon0, n).dataset(n - 1 - ones, ones, share * epsilon0))
                assert least <= high[0] * (1 + 1e-12)
                assert most >= low[0] * (1 - 1e-12)
                assert most - least <= 1e-12 * most


def test_no_dataset_is_above_the_scan() -> None:
    scan = TwoValues(1.0, 40)
    with precision(128):
        every = [ends(scan.dataset(39 - ones, ones, 0.4)) for ones in range(40)]
        most = ends(scan.at_most(0.4, 0.0))[1]
        least = ends(scan.at_least(0.4)[0])[0]
    assert max(high for _, high in every) <= most
    assert least == max(low for low, _ in every)
    assert most - least <= 1e-12 * most


def test_from_epsilon0_on_nothing_leaks() -> None:
    with precision(128):
        assert ends(TwoValues(1.0, 10).dataset(5, 4, 1.5)) == (0.0, 0.0)


def test_no_fast_end_is_beyond_its_ball() -> None:
    cases = search(25, seed=5)
    assert not [case for case in cases if case.false]
    assert sum(case.width < 1e-3 for case in cases) >= 15
    assert "false ends: 0" in report(cases)
