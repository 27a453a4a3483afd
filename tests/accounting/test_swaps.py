"""The first-clone swap of every family: above all datasets of a few, close for many."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shuffledp import OLH, OUE, RAPPOR, AnyLDP, Hadamard, LocalHash, Randomizer, SubsetSelection, judge, shuffle
from shuffledp._types import Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP
from shuffledp.accounting.curves import Envelope
from shuffledp.accounting.haystack import FirstClone, Haystack, SwapFamily
from shuffledp.accounting.reductions import SWAP, any_static_swap, support_swaps
from shuffledp.errors import InvalidInput
from shuffledp.randomizers import KRR, FromMatrix, Unary
from shuffledp.randomizers.support import SupportRandomizer

EPSILONS = np.array([0.0, 0.2, 0.6, 1.1])


def upper(swaps: tuple[FirstClone, ...], epsilons: Floats, gap: float = 1e-7) -> Floats:
    return np.max([swap.bounds(epsilons, gap)[1] for swap in swaps], axis=0)


def families(epsilon0: float) -> list[tuple[SupportRandomizer, Floats]]:
    """With their tables, made by somebody else."""
    p, q = 0.5, 1.0 / (math.exp(epsilon0) + 1.0)
    return [
        (KRR(k=3, epsilon0=epsilon0), judge.krr(3, epsilon0)),
        (LocalHash(k=3, g=2, epsilon0=epsilon0), judge.local_hash(3, 2, epsilon0)),
        (SubsetSelection(k=4, size=2, epsilon0=epsilon0), judge.subset(4, 2, epsilon0)),
        (Unary(k=3, p=p, q=q), judge.unary(3, p, q)),
        (Hadamard(k=3, epsilon0=epsilon0), judge.hadamard(3, epsilon0)),
        (Hadamard(k=4, epsilon0=epsilon0), judge.hadamard(4, epsilon0)),
    ]


@pytest.mark.parametrize("epsilon0", [0.5, 1.5, 3.0])
@pytest.mark.parametrize("n", [2, 4])
def test_families_leak_no_more_than_their_swap(epsilon0: float, n: int) -> None:
    for randomizer, table in families(epsilon0):
        epsilons = np.minimum(EPSILONS, 0.95 * randomizer.epsilon0)
        leaked = judge.worst_delta(table, n, epsilons)
        for gap in (1e-3, 1e-7):
            assert np.all(leaked <= upper(support_swaps(randomizer, n), epsilons, gap) * (1.0 + 1e-12)), randomizer


def test_the_product_row_of_hadamard_response_is_not_forgotten() -> None:
    randomizer, epsilon = Hadamard(k=7, epsilon0=1.0), np.array([0.2])
    leaks = {atoms.name: float(Haystack.of(atoms, 60).bounds(epsilon)[0][0]) for atoms in randomizer.datasets()}
    *others, worst = sorted(leaks, key=lambda name: leaks[name])
    assert "the product of their rows" in worst
    assert leaks[worst] > 4.0 * leaks[others[-1]]
    assert leaks[worst] <= float(upper(support_swaps(randomizer, 60), epsilon)[0]) <= 1.1 * leaks[worst]


def random_table(rng: np.random.Generator, inputs: int, outputs: int) -> Floats:
    table = rng.dirichlet(np.full(outputs, rng.choice([0.3, 1.0, 4.0])), size=inputs)
    return np.asarray((table + 0.2 * rng.random()) / (table + 0.2 * rng.random()).sum(axis=1, keepdims=True))


def test_tables_leak_no_more_than_their_swap() -> None:
    rng = np.random.default_rng(6)
    for _ in range(15):
        inputs, outputs, n = (int(rng.integers(low, high)) for low, high in ((2, 4), (2, 4), (2, 6)))
        table = random_table(rng, inputs, outputs)
        table /= table.sum(axis=1, keepdims=True)
        leaked = judge.worst_delta(table, n, EPSILONS)
        assert np.all(leaked <= SwapFamily.of(table, n).bounds(EPSILONS, 1e-7)[1] * (1.0 + 1e-12))


def test_any_static_randomizer_leaks_no_more_than_the_swap_of_its_epsilon0() -> None:
    rng = np.random.default_rng(9)
    for _ in range(15):
        epsilon0, n = rng.choice([0.4, 1.0, 2.5]), int(rng.integers(2, 6))
        corners = np.where(rng.random((3, 3)) < 0.5, math.exp(epsilon0), 1.0) * rng.dirichlet(np.ones(3))
        table = corners / corners.sum(axis=1, keepdims=True)
        strength = FromMatrix(table).epsilon0
        if strength == 0.0:
            continue
        epsilons = np.minimum(EPSILONS, 0.95 * strength)
        leaked = judge.worst_delta(table, n, epsilons)
        assert np.all(leaked <= any_static_swap(strength, n).bounds(epsilons, 1e-7)[1] * (1.0 + 1e-12))


def test_a_table_with_equal_pairs_is_looked_at_once() -> None:
    assert len(SwapFamily.of(judge.krr(7, 1.0), 100).members()) == 1
    family = SwapFamily.of(judge.krr(7, 1.0), 10_000)
    (own,) = support_swaps(KRR(k=7, epsilon0=1.0), 10_000)
    epsilons = np.array([0.01, 0.05])
    assert family.bounds(epsilons)[1] == pytest.approx(own.bounds(epsilons)[1], rel=0.02)


def asked() -> list[tuple[Randomizer, int]]:
    cases: list[tuple[Randomizer, int]] = []
    for epsilon0 in (0.5, 4.0):
        for n in (1_000, 10_000):
            if n * math.exp(-epsilon0) < 30.0:
                continue
            make = (OLH, OUE, RAPPOR, SubsetSelection, Hadamard)
            cases += [(family(k=16, epsilon0=epsilon0), n) for family in make]
            cases.append((LocalHash(k=16, g=2, epsilon0=epsilon0), n))
    cases += [(AnyLDP(epsilon0=e, adaptive=False), n) for e, n in ((0.3, 10_000), (1.0, 1_000), (3.0, 1_000))]
    return [*cases, (AnyLDP(epsilon0=3.0, adaptive=False), 10_000)]


def test_the_ends_meet() -> None:
    for randomizer, n in asked():
        lower, upper = shuffle(randomizer, n=n).epsilon(delta=1e-6)
        assert upper <= (1.003 if n >= 10_000 else 1.02) * lower, (randomizer, n)


def test_the_ends_of_a_table_meet() -> None:
    rng = np.random.default_rng(1)
    table = random_table(rng, 6, 5)
    table /= table.sum(axis=1, keepdims=True)
    bound = shuffle(FromMatrix(table), n=10_000).epsilon(delta=1e-6)
    assert bound.upper <= 1.01 * bound.lower
    assert bound.method == SWAP


def test_the_answer_says_which_theorem_it_rests_on() -> None:
    hashing = shuffle(LocalHash(k=16, g=2, epsilon0=4.0), n=10_000)
    assert hashing.epsilon(delta=1e-6).method == SWAP
    assert SWAP in hashing.method
    assert SWAP not in shuffle(KRR(k=16, epsilon0=4.0), n=10_000).method  # the blanket is as good
    assert SWAP not in shuffle(AnyLDP(epsilon0=1.0), n=10_000).method
    assert SWAP not in shuffle(LocalHash(k=16, g=2, epsilon0=4.0), n=10_000, adversary="weak").method


def test_rounds_use_it() -> None:
    alone = shuffle(LocalHash(k=16, g=2, epsilon0=2.0), n=10_000)
    lower, upper = alone.compose(10).epsilon(delta=1e-6)
    assert upper <= 1.02 * lower


def test_adaptive_is_a_choice_of_two() -> None:
    with pytest.raises(InvalidInput, match="adaptive must be True or False, got 1"):
        AnyLDP(epsilon0=1.0, adaptive=1)  # type: ignore[arg-type]
    assert any("fixed in advance" in each for each in shuffle(AnyLDP(epsilon0=1.0, adaptive=False), n=9).assumptions)


@pytest.mark.parametrize("n", [2, 7, 10**15])
def test_extremes_are_answered(n: int) -> None:
    epsilons = np.array([0.0, 1e-9, 1.0, 49.0, 690.0])
    swaps = [
        *support_swaps(OUE(k=16, epsilon0=50.0), n),
        *support_swaps(OLH(k=5, epsilon0=1e-9), n),
        any_static_swap(50.0, n),
    ]
    for swap in swaps:
        lower, upper = swap.bounds(epsilons)
        assert np.all((lower >= 0.0) & (lower <= upper) & (upper <= 1.0))


def test_no_pair_is_left_out_because_another_looked_worse_from_afar() -> None:
    """A swap's lower end is a guess: roughly, pairs of one block looked worse than they are."""
    swaps = support_swaps(Hadamard(k=219, epsilon0=2.18789260612155), 34)
    at = np.array([1.47811467])
    assert Envelope(swaps, "upper")(at)[0] == max(swap.bounds(at)[1][0] for swap in swaps)


def test_where_nobody_can_be_swapped_the_target_is_seen_alone() -> None:
    """Every output is impossible for somebody: there are no clones."""
    table = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]])
    assert SwapFamily.of(table, 5).bounds(np.zeros(1))[1][0] == pytest.approx(0.5)


def test_many_rounds_of_a_large_table_ask_only_what_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    bounds = SwapFamily.bounds

    def counted(self: SwapFamily, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        asked.append(epsilons.size)
        return bounds(self, epsilons, gap)

    monkeypatch.setattr(SwapFamily, "bounds", counted)
    rows = np.random.default_rng(0).dirichlet(np.ones(6), 6) + 0.01
    survey = shuffle(FromMatrix(rows / rows.sum(axis=1, keepdims=True)), n=200)
    assert survey.compose(30).epsilon(delta=1e-6).upper > survey.epsilon(delta=1e-6).upper
    assert asked  # of single answers it is one of the theorems
    assert max(asked) <= 16
