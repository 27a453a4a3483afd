"""What every contract asks: lower <= exact <= upper, at every epsilon, up to the rounding of the
enumeration itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.literature.exact import matrices
from shuffledp.randomizers import (
    BLH,
    KRR,
    OLH,
    OUE,
    RAPPOR,
    Floats,
    FromMatrix,
    Hadamard,
    LocalHash,
    Randomizer,
    SubsetSelection,
    Unary,
)

COARSE = (
    2e-4  # the gap of the curves that PLDs are made of: a hundred times cheaper than single answers, and as binding
)
SHARES = np.array([0.0, 1e-3, 0.05, 0.3, 0.7, 0.97, 1.0 - 1e-6, 1.0])  # of epsilon0


def ends(mechanism: Guarantee, epsilons: Floats, gap: float = COARSE) -> tuple[Floats, Floats]:
    """Both ends at many epsilons at once, at a chosen gap: what delta(epsilon=...) gives, before
    anything is made of it.
    """
    return mechanism._end("lower", epsilons, gap), mechanism._end("upper", epsilons, gap)


def bits(k: int, own: tuple[float, float], other: tuple[float, float]) -> Floats:
    """Unary encoding from the odds (of 1, of 0) of the own bit and of every other: no 1 - p is
    formed, so that nothing cancels.
    """
    odds = [[[other, own][i == x] for i in range(k)] for x in range(k)]
    return np.array(
        [
            [
                math.prod(pair[1 - bit] / sum(pair) for pair, bit in zip(row, y, strict=True))
                for y in product((0, 1), repeat=k)
            ]
            for row in odds
        ]
    )


def families(e0: float) -> list[tuple[Randomizer, Floats]]:
    """Every finite family at epsilon0 = e0, beside its matrix, built from its description in
    words.
    """
    p, q = 0.5, 0.5 / (1.0 + 0.5 * np.expm1(e0))  # e^epsilon0 = p (1 - q) / ((1 - p) q)
    half, whole = np.exp(-0.5 * e0), np.exp(-e0)
    list_of: list[tuple[Randomizer, Floats]] = [(KRR(k=k, epsilon0=e0), matrices.krr(k, e0)) for k in (2, 3, 4)]
    for k in (2, 3):
        list_of.append((RAPPOR(k=k, epsilon0=e0), bits(k, (1.0, half), (half, 1.0))))
        list_of.append((OUE(k=k, epsilon0=e0), bits(k, (1.0, 1.0), (whole, 1.0))))
        list_of += [
            (LocalHash(k=k, g=3, epsilon0=e0), matrices.local_hash(k, 3, e0)),
            (BLH(k=k, epsilon0=e0), matrices.local_hash(k, 2, e0)),
        ]
        if e0 < 2.5:
            olh = OLH(k=k, epsilon0=e0)
            list_of.append((olh, matrices.local_hash(k, olh.g, e0)))
    list_of.append((Unary(k=3, p=p, q=q), matrices.unary(3, p, q)))
    list_of.append(
        (Unary(k=3, p=0.9, q=0.9 / (0.9 + 0.1 * np.exp(e0))), matrices.unary(3, 0.9, 0.9 / (0.9 + 0.1 * np.exp(e0))))
    )
    list_of += [
        (SubsetSelection(k=k, epsilon0=e0, size=w), matrices.subset(k, w, e0)) for k, w in ((3, 2), (4, 2), (4, 3))
    ]
    list_of += [(Hadamard(k=k, epsilon0=e0), matrices.hadamard(k, e0)) for k in (2, 3, 4)]
    return list_of


def awkward_matrices() -> Sequence[tuple[str, Floats]]:
    """Random matrices, some with zeros, silent or repeated inputs, exposed or nearly proportional
    outputs.
    """
    rng = np.random.default_rng(7)
    dense = [
        ("dense", rng.dirichlet(np.full(outputs, spread), size=k))
        for k, outputs, spread in ((2, 2, 1.0), (2, 4, 0.3), (3, 3, 1.0), (4, 3, 0.5), (3, 5, 4.0))
    ]
    sparse = []
    for k, outputs in ((2, 3), (3, 3), (3, 4), (4, 4)):
        rows = rng.dirichlet(np.ones(outputs), size=k)
        rows[rng.random(rows.shape) < 0.3] = 0.0
        rows[:, 0] += 0.05
        sparse.append(("zeros", rows / rows.sum(axis=1, keepdims=True)))
    nearly = np.array([[0.25, 0.25 + 1e-9, 0.5 - 1e-9], [0.25 - 1e-9, 0.25, 0.5 + 1e-9], [0.25, 0.25, 0.5]])
    special = [
        ("identity", np.eye(3)),
        ("one input seen", np.array([[1.0, 0.0], [0.5, 0.5]])),
        ("disjoint and common", np.array([[0.4, 0.6, 0.0], [0.4, 0.0, 0.6]])),
        ("repeated input", np.array([[0.7, 0.3], [0.7, 0.3], [0.2, 0.8]])),
        ("almost alike", nearly),
        ("rare output", np.array([[1e-9, 1.0 - 1e-9], [1e-12, 1.0 - 1e-12]])),
    ]
    return [*dense, *sparse, *special]


def from_matrix(rows: Floats) -> FromMatrix:
    return FromMatrix(rows.tolist())
