from __future__ import annotations

import numpy as np
import pytest

from shuffledp import KRR, OUE, RAPPOR, FromMatrix, Hadamard, LocalHash, SubsetSelection, Unary
from shuffledp.judge.balls import Kinds, kinds_of, kinds_of_table
from shuffledp.judge.balls.arithmetic import precision
from shuffledp.randomizers import Randomizer
from shuffledp.randomizers.randomizer import Atoms

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
