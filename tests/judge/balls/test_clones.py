"""The first-clone swap from above, in balls and in floating point: never below what datasets leak,
and the same number twice.
"""

from __future__ import annotations

from typing import Any

import pytest

from shuffledp.judge import hadamard, krr, local_hash, worst_delta
from shuffledp.judge.balls import clones, kinds_of, swaps_of
from shuffledp.judge.balls.arithmetic import ends, precision
from shuffledp.judge.clones import swap_at_most
from shuffledp.judge.laws import CountedLaw

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
    (summed,) = (swap_at_most(swap, 10_000, 0.2) for swap in counted.swaps)
    assert summed == pytest.approx(proven, rel=2e-3)


def test_a_kind_whose_scores_are_zero_but_for_rounding_does_not_choose_the_line() -> None:
    with precision(160):
        (swap,) = swaps_of({"randomizer": "static", "epsilon0": 0.3576411265915042})
        found = ends(swap.at_most(4, 0.0))[1]
    assert worst_delta(krr(3, 0.3576411265915042), n=4, epsilons=[0.0])[0] <= found < 0.2
