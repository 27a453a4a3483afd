"""The law that runs is the law that is accounted: categories."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.linalg import hadamard

from shuffledp.errors import InvalidInput
from shuffledp.randomizers import (
    BLH,
    KRR,
    OLH,
    OUE,
    RAPPOR,
    RR,
    AnyLDP,
    FromMatrix,
    Hadamard,
    LocalHash,
    SubsetSelection,
    Unary,
    VotingRandomizer,
)
from shuffledp.randomizers.parameters import on_grid
from shuffledp.sampling import WORD, source_of
from shuffledp.sampling.draws import log_at_least
from tests.sampling.fake import Scripted

Law = dict[tuple[int, ...], Fraction]
ALL_8 = list(range(256))
NOISE, TRUTH = 0, 0xFFFF  # first words of a coin


def krr_law(r: KRR, x: int) -> Law:
    return {(y,): r.noise / r.k + (1 - r.noise) * (x == y) for y in range(r.k)}


def hadamard_law(r: Hadamard, x: int) -> Law:
    b, total = r.block_size, r.block_size * r.block_count
    block, row = divmod(x, b - 1)
    signs = hadamard(b)[row + 1]
    return {
        (y,): r.noise / total + (1 - r.noise) * (y // b == block and signs[y % b] == 1) / Fraction(b, 2)
        for y in range(total)
    }


def subset_law(r: SubsetSelection, x: int) -> Law:
    sets = list(combinations(range(r.k), r.w))
    holding = sum(x in s for s in sets)
    return {s: r.noise / len(sets) + (1 - r.noise) * (x in s) / Fraction(holding) for s in sets}


def unary_law(r: Unary | OUE | RAPPOR, x: int) -> Law:
    own, other = (Fraction(threshold, WORD) for threshold in r.thresholds)
    law: Law = {}
    for bits in product((0, 1), repeat=r.k):
        mass = Fraction(1)
        for i, bit in enumerate(bits):
            chance = own if i == x else other
            mass *= chance if bit else 1 - chance
        law[tuple(np.packbits(bits).tolist())] = mass
    return law


FINITE: list[tuple[VotingRandomizer, Callable[..., Law]]] = [
    (RR(epsilon0=1.0), krr_law),
    (KRR(k=3, epsilon0=2.5), krr_law),
    (KRR(k=8, epsilon0=0.7), krr_law),
    (KRR(k=300, epsilon0=4.0), krr_law),
    (Hadamard(k=7, epsilon0=0.5), hadamard_law),
    (Hadamard(k=5, epsilon0=1.0), hadamard_law),
    (Hadamard(k=10, epsilon0=3.0), hadamard_law),
    (SubsetSelection(k=6, epsilon0=1.0), subset_law),
    (SubsetSelection(k=5, epsilon0=2.0, size=3), subset_law),
    (SubsetSelection(k=4, epsilon0=2.0, size=1), subset_law),
    (Unary(k=3, p=0.6, q=0.1), unary_law),
    (OUE(k=3, epsilon0=1.5), unary_law),
    (RAPPOR(k=4, epsilon0=2.0), unary_law),
]
NAMES = [str(r) for r, _ in FINITE]
VOTING = [r for r, _ in FINITE] + [
    OLH(k=12, epsilon0=1.5),
    BLH(k=9, epsilon0=1.0),
    OUE(k=17, epsilon0=2.0),
    KRR(k=70_000, epsilon0=9.0),
]


@pytest.mark.parametrize("randomizer, law_of", FINITE, ids=NAMES)
def test_the_accounted_epsilon0_is_that_of_the_integers_rounded_up(
    randomizer: VotingRandomizer, law_of: Callable[..., Law]
) -> None:
    laws = [law_of(randomizer, x) for x in range(min(randomizer.k, 10))]
    assert all(sum(law.values()) == 1 for law in laws)
    largest = max(max(law[y] for law in laws) / min(law[y] for law in laws) for y in laws[0])
    realised = randomizer.realised
    assert realised.epsilon0 == log_at_least(largest)
    assert realised.epsilon0 <= randomizer.epsilon0
    assert realised.realised == realised
    assert [law_of(realised, x) for x in range(min(randomizer.k, 10))] == laws


@pytest.mark.parametrize("randomizer, law_of", FINITE, ids=NAMES)
def test_the_accounted_blanket_is_that_of_the_integers(
    randomizer: VotingRandomizer, law_of: Callable[..., Law]
) -> None:
    laws = [law_of(randomizer, x) for x in range(min(randomizer.k, 10))]  # of k-RR's laws two would do
    blanket = sum(min(law[y] for law in laws) for y in laws[0])
    assert randomizer.realised.gamma == pytest.approx(float(blanket), rel=4e-16)


@pytest.mark.parametrize("randomizer, law_of", FINITE, ids=NAMES)
def test_three_million_draws_have_the_integers_law(randomizer: VotingRandomizer, law_of: Callable[..., Law]) -> None:
    x, generator = randomizer.k - 1, np.random.default_rng(20)
    law = {y: mass for y, mass in law_of(randomizer, x).items() if mass}
    place = {y: i for i, y in enumerate(law)}
    counts = np.zeros(len(law))
    for _ in range(3):
        reports = randomizer.randomize(np.full(10**6, x), rng=generator)
        packed = reports.reshape(len(reports), -1).astype(np.int64) @ (1 << 16) ** np.arange(
            reports.size // len(reports)
        )
        outputs, times = np.unique(packed, return_counts=True)
        for output, time in zip(outputs.tolist(), times.tolist(), strict=True):
            report = tuple(output >> 16 * i & 0xFFFF for i in range(reports.size // len(reports)))
            counts[place[report]] += time
    assert stats.chisquare(counts, np.array([float(mass) for mass in law.values()]) * counts.sum()).pvalue > 1e-4


def test_krr_keeps_or_replaces_as_the_coin_says() -> None:
    r = KRR(k=8, epsilon0=1.0)
    for coin, expected in ((NOISE, [byte % 8 for byte in ALL_8]), (TRUTH, [5] * 256)):
        reports = r._draw(Scripted(("u1", ALL_8), ("u2", [coin] * 256)), np.full(256, 5))
        assert reports.tolist() == expected


@pytest.mark.parametrize("r", [Hadamard(k=7, epsilon0=0.5), Hadamard(k=10, epsilon0=3.0)], ids=str)
def test_hadamard_uses_every_supporting_column_equally_often(r: Hadamard) -> None:
    for x in range(r.k):
        supporting = [y[0] for y, mass in hadamard_law(r, x).items() if mass > r.noise / (r.block_count * r.block_size)]
        reports = r._draw(Scripted(("u1", ALL_8), ("u2", [TRUTH] * 256)), np.full(256, x))
        assert np.bincount(reports).tolist() == [
            256 * (y in supporting) // len(supporting) for y in range(max(supporting) + 1)
        ]


def test_hashes_of_two_inputs_are_as_good_as_independent() -> None:
    """How often a report votes for its own and for another value, over three million draws."""
    r, own, other = LocalHash(k=100, g=5, epsilon0=1.0), 3, 64
    counts = np.zeros(4)
    for batch in range(3):
        generator = np.random.default_rng(batch)
        reports = r.randomize(np.full(10**6, own), rng=generator)
        seeds, sent = reports.T
        pattern = sum((_hash(r, seeds, x) == sent) * weight for x, weight in ((own, 1), (other, 2)))
        counts += np.bincount(pattern, minlength=4)
    law = [(r.hit if a else 1 - r.hit) * (1 / r.g if b else 1 - 1 / r.g) for b, a in product((0, 1), repeat=2)]
    assert stats.chisquare(counts, np.array(law) * counts.sum()).pvalue > 1e-4


def _hash(r: LocalHash, seeds: np.ndarray, x: int) -> np.ndarray:
    """MurmurHash3's finaliser, in NumPy's integers, which wrap around."""

    def finalised(words: np.ndarray) -> np.ndarray:
        for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
            words = (words ^ words >> np.uint64(33)) * np.uint64(factor)
        return words ^ words >> np.uint64(33)

    words = finalised(seeds ^ finalised(np.array([x + 1], dtype=np.uint64)))
    return np.searchsorted(np.array([-(-v * WORD // r.g) for v in range(1, r.g)], dtype=np.uint64), words, side="right")


def test_a_hash_report_without_noise_is_the_hash() -> None:
    r = LocalHash(k=100, g=5, epsilon0=1.0)
    seeds = list(range(0, WORD, WORD // 256))
    reports = r._draw(Scripted(("u8", seeds), ("u2", [TRUTH] * 256), ("u2", [7] * 256)), np.full(256, 42))
    assert reports[:, 0].tolist() == seeds
    assert reports[:, 1].tolist() == _hash(r, np.array(seeds, dtype=np.uint64), 42).tolist()


@given(st.integers(2, 300), st.floats(1e-3, 50.0))
def test_the_layout_of_hadamard_response_survives_realisation(k: int, epsilon0: float) -> None:
    for near in (epsilon0, round(epsilon0 / np.log(2.0)) * np.log(2.0) or 1.0):
        for epsilon in (near, np.nextafter(near, 0.0), np.nextafter(near, 60.0)):
            r = Hadamard(k=k, epsilon0=float(min(epsilon, 50.0)))
            assert (r.realised.block_count, r.realised.block_size) == (r.block_count, r.block_size)


@given(st.integers(2, 200), st.floats(1e-3, 50.0))
def test_realised_never_exceeds_what_was_asked_and_is_a_fixed_point(k: int, epsilon0: float) -> None:
    for make in (KRR, Hadamard, OUE, RAPPOR, SubsetSelection, BLH):
        r = make(k=k, epsilon0=epsilon0)
        assert r.realised.epsilon0 <= epsilon0
        assert r.realised.realised == r.realised
        assert (r.realised.hit, r.realised.miss) == (r.hit, r.miss)


@given(st.integers(2, 50), st.floats(1e-30, 1.0, exclude_max=True), st.floats(1e-30, 1.0, exclude_max=True))
def test_unary_thresholds_are_exact_floats(k: int, p: float, q: float) -> None:
    try:
        realised = Unary(k=k, p=max(p, q), q=min(p, q)).realised
    except InvalidInput:
        return
    own, other = realised.thresholds
    assert (Fraction(realised.p), Fraction(realised.q)) == (Fraction(own, WORD), Fraction(other, WORD))
    assert realised.realised == realised
    assert realised.epsilon0 == log_at_least(Fraction(own * (WORD - other), other * (WORD - own)))


@pytest.mark.parametrize("randomizer", VOTING, ids=str)
def test_estimates_are_unbiased_with_the_stated_variance(randomizer: VotingRandomizer) -> None:
    generator = np.random.default_rng(11)
    values = np.minimum(generator.geometric(0.3, 1000) - 1, randomizer.k - 1)
    counts, repeats = np.bincount(values, minlength=randomizer.k), 400
    common = counts >= 30  # rare values of a large domain get too few votes to be nearly normal
    estimates = np.array([randomizer.debias(randomizer.randomize(values, rng=generator)) for _ in range(repeats)])
    scores = ((estimates - counts) / np.sqrt(randomizer.count_variance(counts)))[:, common]
    assert np.all(np.abs(scores.mean(axis=0)) < 5.0 / np.sqrt(repeats))
    assert np.all(np.abs((scores**2).mean(axis=0) - 1.0) < 5.0 * np.sqrt(2.0 / repeats))


@pytest.mark.parametrize("randomizer", VOTING, ids=str)
def test_supports_are_the_votes_counted_one_by_one(randomizer: VotingRandomizer) -> None:
    reports = randomizer.randomize(np.arange(50) % randomizer.k, rng=np.random.default_rng(1))
    one_by_one = sum(randomizer.supports(reports[i : i + 1]) for i in range(50))
    votes = randomizer.supports(reports)
    assert votes.dtype == np.int64
    assert np.array_equal(votes, one_by_one)


@pytest.mark.parametrize("randomizer", VOTING, ids=str)
def test_chunks_do_not_show(randomizer: VotingRandomizer) -> None:
    """As many reports as values; they pass their own check; secure by default."""
    for size in (1, 7, 5000):
        reports = randomizer.randomize(np.arange(size) % randomizer.k)
        assert len(randomizer.check_reports(reports)) == size


@pytest.mark.parametrize("randomizer", VOTING, ids=str)
def test_values_that_are_no_categories_are_refused(randomizer: VotingRandomizer) -> None:
    for wrong in ([], [randomizer.k], [-1], [0.5], [float("nan")], ["a"], [[0]], [[0], [0, 1]], [None], [True], 0):
        with pytest.raises(InvalidInput, match=r"values must .* Number the categories"):
            randomizer.randomize(wrong)


@pytest.mark.parametrize("randomizer", VOTING, ids=str)
def test_reports_that_no_user_could_send_are_refused(randomizer: VotingRandomizer) -> None:
    good = randomizer.randomize([0, 1])
    wrongs = [
        [],
        good.astype(np.float64),
        good[:0],
        good.reshape(-1, 1, 2)[:, 0] if good.ndim == 1 else good[:, :-1],
        ["a", "b"],
        [[0], [0, 1]],
    ]
    for wrong in (
        [*wrongs, np.full_like(good, np.iinfo(good.dtype).max)] if not _all_ones_is_a_report(randomizer) else wrongs
    ):
        with pytest.raises(InvalidInput, match="A report of"):
            randomizer.check_reports(wrong)


def _all_ones_is_a_report(randomizer: VotingRandomizer) -> bool:
    return isinstance(randomizer, Unary | OUE | RAPPOR) and randomizer.k % 8 == 0


def test_too_little_privacy_for_64_bits_is_lowered_and_too_much_is_refused() -> None:
    assert KRR(k=2, epsilon0=50.0).realised.epsilon0 < 46.0
    with pytest.raises(InvalidInput, match="epsilon0 must be large enough for 64-bit coins"):
        KRR(k=10**9, epsilon0=1e-12).randomize([0])
    with pytest.raises(InvalidInput, match="g must be at most"):
        LocalHash(k=10, g=2**32 + 1, epsilon0=30.0).randomize([0])
    with pytest.raises(InvalidInput, match="counts must be 3 numbers"):
        KRR(k=3, epsilon0=1.0).count_variance([1, 2])


def test_any_randomizer_cannot_run() -> None:
    with pytest.raises(InvalidInput, match="Choose one"):
        AnyLDP(epsilon0=1.0).randomize([0])
    with pytest.raises(InvalidInput, match="Choose one"):
        _ = AnyLDP(epsilon0=1.0).realised


@pytest.mark.parametrize(
    "rows", [[[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]], [[1.0, 0.0], [1e-20, 1.0]], np.full((3, 7), 0.1) + 0.3 * np.eye(3, 7)]
)
def test_a_matrix_runs_on_exact_floats(rows: list[list[float]]) -> None:
    given = FromMatrix(rows)
    realised = given.realised
    table = np.asarray(realised.rows)
    assert realised.realised == realised
    for integers, row in zip(map(on_grid, given.table.tolist()), table, strict=True):
        assert sum(integers) == 1 << 53
        assert [Fraction(p) for p in row] == [Fraction(i, 1 << 53) for i in integers]
    assert np.allclose(table, given.rows, rtol=0.0, atol=1e-15)
    reports = given.randomize(np.arange(10**6) % len(table), rng=np.random.default_rng(2))
    for x, row in enumerate(table):
        counts = np.bincount(reports[x :: len(table)], minlength=len(row))
        seen = row > 1e-9
        assert (
            stats.chisquare(counts[seen], row[seen] / row[seen].sum() * counts.sum()).pvalue > 1e-4
            if seen.sum() > 1
            else counts[seen].sum() == counts.sum()
        )


def test_the_same_generator_gives_the_same_reports_and_the_secure_source_does_not() -> None:
    r, values = KRR(k=100, epsilon0=1.0), np.zeros(1000, dtype=np.int64)
    first, second = (r.randomize(values, rng=np.random.default_rng(9)) for _ in range(2))
    assert np.array_equal(first, second)
    assert not np.array_equal(r.randomize(values), r.randomize(values))
    assert np.array_equal(r.randomize(values, rng=source_of(np.random.default_rng(9))), first)
