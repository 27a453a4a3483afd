"""What every contract asks: lower <= exact <= upper, at every epsilon, up to the rounding of the
enumeration itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from itertools import product

import numpy as np

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.judge import enumeration
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

Family = tuple[Randomizer, Floats]

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


def _krr(k: int, e0: float) -> Family:
    return KRR(k=k, epsilon0=e0), enumeration.krr(k, e0)


def _rappor(k: int, e0: float) -> Family:
    half = math.exp(-0.5 * e0)
    return RAPPOR(k=k, epsilon0=e0), bits(k, (1.0, half), (half, 1.0))


def _oue(k: int, e0: float) -> Family:
    return OUE(k=k, epsilon0=e0), bits(k, (1.0, 1.0), (math.exp(-e0), 1.0))


def _local_hash(k: int, e0: float) -> Family:
    return LocalHash(k=k, g=3, epsilon0=e0), enumeration.local_hash(k, 3, e0)


def _blh(k: int, e0: float) -> Family:
    return BLH(k=k, epsilon0=e0), enumeration.local_hash(k, 2, e0)


def _olh(k: int, e0: float) -> Family:
    randomizer = OLH(k=k, epsilon0=e0)
    return randomizer, enumeration.local_hash(k, randomizer.g, e0)


def _fair(e0: float) -> Family:
    q = 0.5 / (1.0 + 0.5 * math.expm1(e0))  # e^epsilon0 = p (1 - q) / ((1 - p) q), and p = 1/2
    return Unary(k=3, p=0.5, q=q), enumeration.unary(3, 0.5, q)


def _loud(e0: float) -> Family:
    q = 0.9 / (0.9 + 0.1 * math.exp(e0))
    return Unary(k=3, p=0.9, q=q), enumeration.unary(3, 0.9, q)


def _subset(k: int, size: int, e0: float) -> Family:
    return SubsetSelection(k=k, epsilon0=e0, size=size), enumeration.subset(k, size, e0)


def _hadamard(k: int, e0: float) -> Family:
    return Hadamard(k=k, epsilon0=e0), enumeration.hadamard(k, e0)


# Every finite family beside its matrix, built from its description in words, at any epsilon0; with more reports than
# can be enumerated from epsilon0 = 2.5 on.
LARGE: dict[str, Callable[[float], Family]] = {f"olh {k}": partial(_olh, k) for k in (2, 3)}
FAMILIES: dict[str, Callable[[float], Family]] = {
    **{f"krr {k}": partial(_krr, k) for k in (2, 3, 4)},
    **{
        f"{name} {k}": partial(make, k)
        for k in (2, 3)
        for name, make in (("rappor", _rappor), ("oue", _oue), ("local hash", _local_hash), ("blh", _blh))
    },
    "fair unary 3": _fair,
    "loud unary 3": _loud,
    **{f"subset {k}, {size}": partial(_subset, k, size) for k, size in ((3, 2), (4, 2), (4, 3))},
    **{f"hadamard {k}": partial(_hadamard, k) for k in (2, 3, 4)},
}


def family(name: str, e0: float) -> Family:
    """The randomizer of that name at epsilon0 = e0, and its matrix."""
    return (FAMILIES | LARGE)[name](e0)


def names_at(e0: float) -> list[str]:
    """Those that can be enumerated at epsilon0 = e0."""
    return [*FAMILIES, *(LARGE if e0 < 2.5 else ())]


AWKWARD = (
    "dense 2x2",
    "dense 2x4",
    "dense 3x3",
    "dense 4x3",
    "dense 3x5",
    "zeros 2x3",
    "zeros 3x3",
    "zeros 3x4",
    "zeros 4x4",
    "identity",
    "one input seen",
    "disjoint and common",
    "repeated input",
    "almost alike",
    "rare output",
)


@cache
def awkward_matrices() -> dict[str, Floats]:
    """Random matrices, some with zeros, silent or repeated inputs, exposed or nearly proportional
    outputs, by the names in ``AWKWARD``.
    """
    rng = np.random.default_rng(7)
    dense = [
        rng.dirichlet(np.full(outputs, spread), size=k)
        for k, outputs, spread in ((2, 2, 1.0), (2, 4, 0.3), (3, 3, 1.0), (4, 3, 0.5), (3, 5, 4.0))
    ]
    sparse = []
    for k, outputs in ((2, 3), (3, 3), (3, 4), (4, 4)):
        rows = rng.dirichlet(np.ones(outputs), size=k)
        rows[rng.random(rows.shape) < 0.3] = 0.0
        rows[:, 0] += 0.05
        sparse.append(rows / rows.sum(axis=1, keepdims=True))
    special = [
        np.eye(3),
        np.array([[1.0, 0.0], [0.5, 0.5]]),
        np.array([[0.4, 0.6, 0.0], [0.4, 0.0, 0.6]]),
        np.array([[0.7, 0.3], [0.7, 0.3], [0.2, 0.8]]),
        np.array([[0.25, 0.25 + 1e-9, 0.5 - 1e-9], [0.25 - 1e-9, 0.25, 0.5 + 1e-9], [0.25, 0.25, 0.5]]),
        np.array([[1e-9, 1.0 - 1e-9], [1e-12, 1.0 - 1e-12]]),
    ]
    return dict(zip(AWKWARD, [*dense, *sparse, *special], strict=True))


def from_matrix(rows: Floats) -> FromMatrix:
    return FromMatrix(rows.tolist())
