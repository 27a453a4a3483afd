"""Laws in fractions against the judge's matrices, the randomizers, and whole datasets."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from shuffledp import BLH, KRR, OUE, RAPPOR, Hadamard, LocalHash, SubsetSelection
from shuffledp._types import Floats
from shuffledp.errors import InvalidInput
from shuffledp.judge import hadamard, krr, local_hash, subset, unary, weak_delta, worst_delta
from shuffledp.judge.lattice import haystack_interval
from shuffledp.judge.laws import WORD, CountedLaw
from shuffledp.judge.oracle import Oracle
from shuffledp.randomizers.law_file import law_of
from shuffledp.randomizers.support import VotingRandomizer

FEW = [
    (KRR(k=3, epsilon0=1.0), partial(krr, 3, 1.0)),
    (KRR(k=4, epsilon0=2.0), partial(krr, 4, 2.0)),
    (Hadamard(k=3, epsilon0=0.5), partial(hadamard, 3, 0.5)),
    (Hadamard(k=4, epsilon0=1.5), partial(hadamard, 4, 1.5)),
    (SubsetSelection(k=4, epsilon0=1.0, size=2), partial(subset, 4, 2, 1.0)),
    (OUE(k=3, epsilon0=1.0), partial(unary, 3, 0.5, 1.0 / (math.e + 1.0))),
    (RAPPOR(k=3, epsilon0=2.0), partial(unary, 3, math.e / (math.e + 1.0), 1.0 / (math.e + 1.0))),
]  # reports, so that all datasets can be listed
EVERY = [*FEW, (BLH(k=3, epsilon0=1.0), partial(local_hash, 3, 2, 1.0))]
MORE = [
    KRR(k=2, epsilon0=3.0),
    LocalHash(k=50, g=5, epsilon0=2.0),
    SubsetSelection(k=30, epsilon0=2.0),
    OUE(k=200, epsilon0=4.0),
    RAPPOR(k=900, epsilon0=0.1),
]
MORE += [Hadamard(k=k, epsilon0=e) for k, e in ((2, 1.0), (5, 3.0), (10, 0.5), (17, 5.0), (100, 2.0), (300, 8.0))]


def name(case: object) -> str:
    return str(case if isinstance(case, VotingRandomizer) else "")


@pytest.mark.parametrize("randomizer, matrix", EVERY, ids=name)
def test_the_blanket_of_a_counted_law_is_that_of_its_matrix(
    randomizer: VotingRandomizer, matrix: Callable[[], Floats]
) -> None:
    rows = matrix()
    law, n, eps = CountedLaw.of(law_of(randomizer)), 4, 0.3
    exact = max(weak_delta(rows, n, (x, y), eps) for x in range(len(rows)) for y in range(len(rows)) if x != y)
    found = [haystack_interval(*zip(*kind, strict=True), n, eps, gap=1e-3) for kind in law.blankets]
    assert max(low for low, _ in found) <= exact * (1.0 + 1e-9)
    assert max(high for _, high in found) >= exact * (1.0 - 1e-9)


@pytest.mark.parametrize("randomizer, matrix", FEW, ids=name)
def test_the_oracle_encloses_the_worst_of_all_datasets(
    randomizer: VotingRandomizer, matrix: Callable[[], Floats]
) -> None:
    rows = matrix()
    epsilons = np.array([0.0, 0.2, 0.6])
    n = 4 if rows.shape[1] <= 4 else 3
    span = Oracle(CountedLaw.of(law_of(randomizer)), n, 1).spans(epsilons)
    exact = worst_delta(rows, n, epsilons)
    assert np.all(span.upper[1] >= exact * (1.0 - 1e-9))
    assert np.all(span.lower[0] <= exact * (1.0 + 1e-9))


@pytest.mark.parametrize("randomizer", [*(each for each, _ in EVERY), *MORE], ids=name)
def test_classes_and_votes_agree_with_the_randomizer_that_runs(randomizer: VotingRandomizer) -> None:
    law = CountedLaw.of(law_of(randomizer))

    def kinds(found: object) -> set[object]:
        return {tuple(sorted(tuple(round(float(each), 11) for each in row) for row in kind)) for kind in found}  # type: ignore[attr-defined]

    for mine, theirs in ((law.blankets, randomizer.blankets("upper")), (law.datasets, randomizer.datasets())):
        both = [each for atoms in theirs for each in (atoms, atoms.swapped())]
        assert kinds(mine) == kinds([list(zip(each.hay, each.needle0, each.needle1, strict=True)) for each in both])
    assert float(law.hit) == randomizer.hit
    assert float(law.miss) == pytest.approx(randomizer.miss, rel=1e-15)


@pytest.mark.parametrize("randomizer", [each for each, _ in EVERY], ids=name)
def test_the_integers_imply_the_stated_epsilon0_and_no_more(randomizer: VotingRandomizer) -> None:
    law = CountedLaw.of(law_of(randomizer))
    assert law.implied <= Fraction(law.epsilon0)
    assert float(law.implied) == pytest.approx(law.epsilon0, rel=1e-14)


@pytest.mark.parametrize(
    "change",
    [
        {"type": "laplace"},
        {"k": 1},
        {"k": "3"},
        {"integers": []},
        {"integers": ["0"]},
        {"integers": [str(WORD)]},
        {"epsilon0": "x"},
        {"integers": ["x"]},
    ],
)
def test_a_law_that_does_not_run_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match="the law of a design must"):
        CountedLaw.of(law_of(KRR(k=3, epsilon0=1.0)) | change)
