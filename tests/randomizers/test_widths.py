"""Narrow integers, wide hashes, tiny epsilon0: the edges of 8, 16, 32 and 64 bits."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from shuffledp.randomizers import (
    BLH,
    KRR,
    OLH,
    OUE,
    RAPPOR,
    FromMatrix,
    Hadamard,
    LocalHash,
    Randomizer,
    SubsetSelection,
    Unary,
    VotingRandomizer,
)
from shuffledp.sampling import WORD
from tests.randomizers.test_sampling import ALL_8, TRUTH, Law, hadamard_law, krr_law, subset_law, unary_law
from tests.sampling.fake import Scripted

DTYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
EDGES = [2**bits + step for bits in (7, 8, 15, 16) for step in (-2, -1, 0, 1, 2)] + [200, 50_000]
LN2 = math.log(2.0)


def signs(r: Hadamard, values: np.ndarray, reports: np.ndarray) -> np.ndarray:
    """The votes for the senders' own values, from the definition and in 64 bits."""
    blocks, rows = np.divmod(values.astype(np.int64), r.block_size - 1)
    homes, columns = np.divmod(reports.astype(np.int64), r.block_size)
    return np.where(homes == blocks, 1 - 2 * (np.bitwise_count((rows + 1) & columns).astype(np.int64) % 2), 0)


@pytest.mark.parametrize("epsilon0", [0.01, 0.5, LN2, math.nextafter(LN2, 1.0), 1.0, 5.0])
@pytest.mark.parametrize("k", EDGES)
def test_hadamard_response_runs_alike_for_every_integer_type(k: int, epsilon0: float) -> None:
    r = Hadamard(k=k, epsilon0=epsilon0)
    for kind in DTYPES:
        values = np.arange(min(k, np.iinfo(kind).max + 1)).astype(kind)
        reports = r.randomize(values, rng=np.random.default_rng(3))
        assert np.array_equal(reports, r.randomize(values.astype(np.int64), rng=np.random.default_rng(3)))
    assert len(r.check_reports(reports)) == k
    votes = signs(r, values, reports)
    spread = math.sqrt(k * (r.hit + float(r.noise) / r.block_count))
    assert abs(votes.sum() - k * r.hit) < 5.0 * spread


@pytest.mark.parametrize("k, epsilon0", [(200, 0.5), (255, LN2), (256, 0.5), (40_000, 0.5), (65_535, LN2)])
def test_a_single_block_that_fills_its_integer_type_has_the_integers_law(k: int, epsilon0: float) -> None:
    r, x, generator = Hadamard(k=k, epsilon0=epsilon0), k - 1, np.random.default_rng(8)
    columns, size = r.block_count * r.block_size, 20 * r.block_count * r.block_size + 10**6
    reports = r.randomize(np.full(size, x, dtype=np.uint16), rng=generator)
    supporting = signs(r, np.full(columns, x), np.arange(columns)) == 1
    law = float(r.noise) / columns + r.hit * supporting / supporting.sum()
    assert supporting.sum() == r.block_size // 2
    assert stats.chisquare(np.bincount(reports, minlength=columns), law * size).pvalue > 1e-4


@pytest.mark.parametrize("x", [0, 127, 199, 254])
def test_a_block_of_256_columns_uses_every_supporting_one_equally_often(x: int) -> None:
    r = Hadamard(k=255, epsilon0=0.5)
    reports = r._draw(Scripted(("u1", ALL_8), ("u2", [TRUTH] * 256)), np.full(256, x, dtype=np.uint8))
    supporting = [y for (y,), mass in hadamard_law(r, x).items() if mass > r.noise / 256]
    assert np.bincount(reports, minlength=256).tolist() == [2 * (y in supporting) for y in range(256)]


ALL_KINDS: list[Randomizer] = [
    *(
        make(k=k, epsilon0=0.5)
        for make in (KRR, Hadamard, OUE, RAPPOR, SubsetSelection, OLH, BLH)
        for k in (128, 255, 256, 257)
    ),
    FromMatrix(np.full((256, 3), 0.25) + 0.25 * np.eye(3)[np.arange(256) % 3]),
]


@pytest.mark.parametrize("r", ALL_KINDS, ids=lambda r: str(r.describe()))
def test_the_integer_type_of_values_and_reports_makes_no_difference(r: Randomizer) -> None:
    domain = r.k if isinstance(r, VotingRandomizer) else 256
    for kind in DTYPES:
        values = np.arange(min(domain, np.iinfo(kind).max + 1)).astype(kind)
        reports = r.randomize(values, rng=np.random.default_rng(4))
        assert np.array_equal(reports, r.randomize(values.astype(np.int64), rng=np.random.default_rng(4)))
        if isinstance(r, KRR | Hadamard | SubsetSelection) and int(reports.max()) <= np.iinfo(kind).max:
            assert np.array_equal(r.supports(reports.astype(kind)), r.supports(reports))


TINY: list[tuple[VotingRandomizer, Callable[..., Law]]] = [
    *((KRR(k=k, epsilon0=e), krr_law) for k in (2, 8) for e in (1e-12, 1e-9, 1.0)),
    *((Hadamard(k=k, epsilon0=e), hadamard_law) for k in (3, 7) for e in (1e-12, 1e-9, 3.0)),
    *((SubsetSelection(k=6, epsilon0=e, size=size), subset_law) for size in (1, 3, 5) for e in (1e-12, 1e-9, 1.0)),
    *((make(k=4, epsilon0=e), unary_law) for make in (OUE, RAPPOR) for e in (1e-12, 1e-9, 1.0)),
    (Unary(k=4, p=0.3, q=math.nextafter(0.3 * (1 - 1e-11), 0.0)), unary_law),
]


@pytest.mark.parametrize("r, law_of", TINY, ids=[str(r) for r, _ in TINY])
def test_the_contrast_is_right_to_the_last_digits_however_small_epsilon0_is(
    r: VotingRandomizer, law_of: Callable[..., Law]
) -> None:
    """Against the exact mean votes, report by report."""
    own, other = Fraction(0), Fraction(0)
    for report, mass in law_of(r, 0).items():
        votes = r.supports(
            np.array([report if isinstance(r, SubsetSelection | Unary | OUE | RAPPOR) else report[0]], dtype=np.uint8)
        )
        own, other = own + mass * int(votes[0]), other + mass * int(votes[1])
    assert r.contrast == float(own - other)
    assert (r.hit, r.miss) == (float(own), float(other))


@pytest.mark.parametrize("epsilon0", [1e-12, 1e-6, 1.0, 10.0])
def test_estimates_scale_with_the_contrast_of_the_integers(epsilon0: float) -> None:
    """One vote more is 1 / contrast, and variances follow: hit - miss keeps its digits."""
    r = LocalHash(k=5, g=3, epsilon0=epsilon0)
    contrast = Fraction(WORD - r.threshold, WORD) * Fraction(2, 3)
    assert r.contrast == float(contrast)
    krr = KRR(k=4, epsilon0=epsilon0)
    step = krr.debias(np.array([1, 1]))[1] - krr.debias(np.array([1, 0]))[1]
    assert step == pytest.approx(float(1 / (1 - krr.noise)), rel=1e-14)
    hit, miss = krr.hit, krr.miss
    assert krr.count_variance([1, 0, 0, 0])[:2] == pytest.approx(
        [p * (1 - p) / float(1 - krr.noise) ** 2 for p in (hit, miss)], rel=1e-14
    )


@pytest.mark.parametrize("epsilon0", [22.0, 22.18, 23.0, 30.0, 50.0])
def test_optimal_local_hashing_runs_for_every_epsilon0(epsilon0: float) -> None:
    r = OLH(k=20, epsilon0=epsilon0)
    assert r.g == min(2**32, round(math.exp(epsilon0) + 1.0))
    assert r.describe()["randomizer"] == "olh"
    assert r.realised.epsilon0 <= epsilon0
    values = np.arange(1000) % 20
    reports = r.randomize(values, rng=np.random.default_rng(6))
    votes = r.supports(reports)
    assert votes.max() <= 50  # another value is hit by chance about once in 2^32 tries
    assert stats.binomtest(int(votes.sum()), 1000, r.hit).pvalue > 1e-4  # lost votes are rare, so no normal law
    assert r.debias(reports) == pytest.approx((votes - 1000 / r.g) / r.contrast, rel=1e-12)
