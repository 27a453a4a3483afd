"""The laws of finite randomizers: against matrices built output by output, and at the extremes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import permutations, product

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp.judge import enumeration
from shuffledp.randomizers import (
    BLH,
    KRR,
    OLH,
    OUE,
    RAPPOR,
    RR,
    AnyLDP,
    Floats,
    FromMatrix,
    Hadamard,
    Laplace,
    LocalHash,
    Randomizer,
    SubsetSelection,
    Unary,
)
from shuffledp.randomizers.support import SupportRandomizer
from tests.randomizers.haystacks import ENDS, check_atoms, signature, signatures


def cases() -> Iterable[tuple[SupportRandomizer, Callable[[], Floats]]]:
    for k, e0 in product(range(2, 8), (0.1, 1.0, 3.0)):
        yield KRR(k=k, epsilon0=e0), lambda k=k, e0=e0: enumeration.krr(k, e0)
    for k, e0 in product(range(2, 7), (0.3, 2.0)):
        for unary in (RAPPOR(k=k, epsilon0=e0), OUE(k=k, epsilon0=e0)):
            yield unary, lambda k=k, u=unary: enumeration.unary(k, u.p, u.q)
        yield Unary(k=k, p=0.7, q=0.6), lambda k=k: enumeration.unary(k, 0.7, 0.6)
        for w in range(1, k):
            yield SubsetSelection(k=k, epsilon0=e0, size=w), lambda k=k, w=w, e0=e0: enumeration.subset(k, w, e0)
    for k, g, e0 in product((2, 3, 4), (2, 3, 4), (0.3, 2.0)):
        yield LocalHash(k=k, g=g, epsilon0=e0), lambda k=k, g=g, e0=e0: enumeration.local_hash(k, g, e0)
    for k, e0 in (*product(range(2, 10), (0.3, 1.0, 1.5, 2.5, 4.0)), (15, 0.3), (15, 1.0), (14, 2.0)):
        yield Hadamard(k=k, epsilon0=e0), lambda k=k, e0=e0: enumeration.hadamard(k, e0)


@pytest.mark.parametrize(
    "randomizer, build", list(cases()), ids=lambda case: str(case) if isinstance(case, Randomizer) else ""
)
def test_support_randomizers_are_their_matrices(randomizer: SupportRandomizer, build: Callable[[], Floats]) -> None:
    matrix = build()
    blanket = matrix.min(axis=0)
    pairs = list(permutations(matrix, 2))
    general = FromMatrix(matrix)
    expected = {signature(blanket, x0, x1) for x0, x1 in pairs}
    for end in ENDS:
        assert signatures(randomizer.blankets(end)) == expected == signatures(general.blankets(end))
    kinds = {signature(other, x0, x1) for x0, x1 in pairs for other in matrix}
    assert signatures(randomizer.datasets()) == kinds
    assert signatures(general.datasets()) == kinds if len(matrix) <= 6 else signatures(general.datasets()) <= kinds
    assert randomizer.gamma == pytest.approx(general.gamma, rel=1e-13)
    assert randomizer.epsilon0 == pytest.approx(general.epsilon0, rel=1e-12)
    i, j = randomizer.worst_pair
    assert np.abs(matrix[i] - matrix[j]).sum() == pytest.approx(max(np.abs(x0 - x1).sum() for x0, x1 in pairs))


FAMILIES: list[Callable[[int, float], SupportRandomizer]] = [
    lambda k, e0: KRR(k=k, epsilon0=e0),
    lambda k, e0: RAPPOR(k=k, epsilon0=e0),
    lambda k, e0: OUE(k=k, epsilon0=e0),
    lambda k, e0: OLH(k=k, epsilon0=e0),
    lambda k, e0: BLH(k=k, epsilon0=e0),
    lambda k, e0: SubsetSelection(k=k, epsilon0=e0),
    lambda k, e0: Hadamard(k=k, epsilon0=e0),
]


@given(
    family=st.sampled_from(FAMILIES),
    k=st.one_of(st.integers(2, 40), st.sampled_from([10**3, 10**6, 10**9])),
    e0=st.one_of(st.floats(1e-6, 50.0), st.sampled_from([1e-6, 1e-3, math.log(2.0), 30.0, 50.0])),
)
def test_support_laws_at_the_extremes(family: Callable[[int, float], SupportRandomizer], k: int, e0: float) -> None:
    randomizer = family(k, e0)
    blankets = randomizer.blankets("upper")
    assert 0.0 < randomizer.gamma <= 1.0
    for atoms in blankets:
        check_atoms(atoms, randomizer.gamma)
        for needle in (atoms.needle0, atoms.needle1):
            assert np.all(needle >= atoms.hay * (1.0 - 1e-15))
            assert np.all(needle <= atoms.hay * math.exp(e0) * (1.0 + 1e-14))
        assert signature(atoms.hay, atoms.needle1, atoms.needle0) == signature(atoms.hay, atoms.needle0, atoms.needle1)
    for atoms in randomizer.datasets():
        check_atoms(atoms, 1.0)
    names = [atoms.name for atoms in (*blankets, *randomizer.datasets())]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("e0", [1e-6, 1.0, 30.0])
def test_unary_laws_to_full_relative_accuracy(e0: float) -> None:
    with mp.workdps(60):
        growth = mp.e ** mp.mpf(e0)
        for randomizer, q in (
            (RAPPOR(k=5, epsilon0=e0), 1 / (mp.sqrt(growth) + 1)),
            (OUE(k=5, epsilon0=e0), 1 / (growth + 1)),
        ):
            z = 1 + (growth - 1) * q
            exact = {
                (1, 1): (q**2 - q**5) / z,
                (1, 0): q * (1 - q) / z,
                (0, 1): q * (1 - q) / z,
                (0, 0): ((1 - q) ** 2 + growth * q**5) / z,
            }
            (atoms,) = randomizer.blankets("upper")
            assert atoms.hay == pytest.approx(
                [float(exact[key]) for key in ((1, 1), (1, 0), (0, 1), (0, 0))], rel=1e-14
            )
            assert randomizer.gamma == pytest.approx(float(mp.fsum(exact.values())), rel=1e-14)


def test_other_ways_in() -> None:
    assert KRR.from_gamma(k=4, gamma=0.25).gamma == pytest.approx(0.25, rel=1e-15)
    assert KRR.from_gamma(k=4, gamma=0.25).epsilon0 == pytest.approx(2.564949, abs=1e-6)
    assert RR(epsilon0=1.0) == KRR(k=2, epsilon0=1.0)
    assert RR(epsilon0=1).binary
    assert not KRR(k=3, epsilon0=1.0).binary
    assert RAPPOR.from_flip(k=5, flip=0.1).q == pytest.approx(0.1, rel=1e-14)
    assert RAPPOR.from_flip(k=5, flip=0.5 - 1e-7).epsilon0 == pytest.approx(8e-7, rel=1e-8)
    assert OLH(k=5, epsilon0=0.1).g == 2
    assert OLH(k=5, epsilon0=2.0) == LocalHash(k=5, g=8, epsilon0=2.0)
    assert Laplace.from_scale(scale=0.25) == Laplace(epsilon0=4.0)
    for made in (OUE(k=5, epsilon0=1.0), RAPPOR(k=5, epsilon0=1.0)):
        same = Unary(k=5, p=made.p, q=made.q)
        assert same.epsilon0 == pytest.approx(1.0, rel=1e-14)
        assert signatures(same.datasets()) == signatures(made.datasets())
    assert signatures(SubsetSelection(k=5, epsilon0=1.0, size=1).datasets()) == signatures(
        KRR(k=5, epsilon0=1.0).datasets()
    )


def test_hadamard_with_large_epsilon0_gives_every_input_a_block_of_its_own() -> None:
    sparse = Hadamard(k=5, epsilon0=10.0)
    assert (sparse.block_count, sparse.block_size) == (8, 2)
    assert {atoms.name for atoms in sparse.blankets("upper")} == {"blanket; x0 and x1 of different blocks"}
    assert Hadamard(k=10**6, epsilon0=1e-6).block_count == 1


# Matrices


def random_matrix(k: int, outputs: int, seed: int) -> Floats:
    return np.random.default_rng(seed).dirichlet(np.ones(outputs), size=k)


@given(k=st.integers(2, 5), outputs=st.integers(2, 6), seed=st.integers(0, 2**32 - 1))
def test_every_pair_and_dataset_of_a_matrix(k: int, outputs: int, seed: int) -> None:
    matrix = random_matrix(k, outputs, seed)
    randomizer = FromMatrix(matrix)
    blanket = matrix.min(axis=0)
    assert signatures(randomizer.blankets("upper")) == {signature(blanket, *pair) for pair in permutations(matrix, 2)}
    assert signatures(randomizer.datasets()) == {
        signature(hay, *pair) for pair in permutations(matrix, 2) for hay in matrix
    }
    for atoms in randomizer.blankets("lower"):
        check_atoms(atoms, randomizer.gamma)


def test_many_rows_give_all_blankets_but_few_datasets() -> None:
    matrix = random_matrix(20, 8, 1)
    randomizer = FromMatrix(matrix)
    assert len(randomizer.blankets("upper")) == 20 * 19
    assert len(randomizer.datasets()) == 200
    i, j = randomizer.worst_pair
    assert randomizer.datasets()[0].name.endswith(f"inputs {i} and {j}")
    assert len(FromMatrix(enumeration.krr(20, 1.0)).datasets()) == 3


def test_matrix_with_impossible_outputs() -> None:
    randomizer = FromMatrix([[0.5, 0.5, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0]])
    assert randomizer.epsilon0 == math.inf
    assert randomizer.gamma == 0.5
    atoms = randomizer.blankets("upper")[0]
    assert sorted(zip(atoms.hay, atoms.needle0, atoms.needle1, strict=True)) == [
        (0.0, 0.0, 0.5),
        (0.0, 0.5, 0.0),
        (0.5, 0.5, 0.5),
    ]


def test_matrix_is_a_value() -> None:
    randomizer = FromMatrix(np.array([[0.75, 0.25], [0.25, 0.75]]))
    assert randomizer == FromMatrix([[0.75, 0.25], [0.25, 0.75]])
    assert len({randomizer, FromMatrix([(0.75, 0.25), (0.25, 0.75)])}) == 1
    assert FromMatrix([[0.5 + 4e-10, 0.5], [0.5, 0.5]]).gamma <= 1.0
    worst = FromMatrix([[0.2, 0.5, 0.3], [0.5, 0.3, 0.2], [0.4, 0.5, 0.1]])
    assert worst.worst_pair == (1, 0)  # total variation 0.3 and ratio 5/2 one way, 5/3 the other


# Any randomizer


@pytest.mark.parametrize("e0", [1e-6, 1.0, 30.0, 50.0])
def test_any(e0: float) -> None:
    randomizer = AnyLDP(epsilon0=e0)
    (pair,) = randomizer.blankets("upper")
    assert signatures([pair]) == signatures(RR(epsilon0=e0).blankets("upper"))
    check_atoms(pair, randomizer.gamma)
    check_atoms(randomizer.clones(), math.exp(-e0))
    assert signatures(randomizer.datasets()) == signatures(KRR(k=3, epsilon0=e0).datasets())
    assert AnyLDP(epsilon0=e0, delta0=1e-9).blankets("upper") == ()
