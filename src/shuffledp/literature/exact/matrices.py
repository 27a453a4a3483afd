"""The matrices of the finite randomizers, built output by output from their descriptions in words.
Slow and obvious.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import hadamard as sylvester

Matrix = NDArray[np.float64]


def _normalised(weights: Matrix) -> Matrix:
    rows: Matrix = weights / weights.sum(axis=1, keepdims=True)
    return rows


def _favoured(k: int, outputs: Sequence[object], supports: Callable[[object, int], bool], e0: float) -> Matrix:
    """Every row: outputs that support the input are e^e0 times as likely as the others."""
    weights = np.array([[math.exp(e0) if supports(y, x) else 1.0 for y in outputs] for x in range(k)])
    return _normalised(weights)


def krr(k: int, e0: float) -> Matrix:
    """The truth with probability E / (E + k - 1)."""
    return _favoured(k, range(k), lambda y, x: y == x, e0)


def unary(k: int, p: float, q: float) -> Matrix:
    """All bit vectors; the user's own bit is Bernoulli(p), the others Bernoulli(q)."""
    outputs = list(product((0, 1), repeat=k))

    def bit(one: float, value: int) -> float:
        return one if value else 1.0 - one

    return np.array(
        [[math.prod(bit(p if i == x else q, value) for i, value in enumerate(y)) for y in outputs] for x in range(k)]
    )


def local_hash(k: int, g: int, e0: float) -> Matrix:
    """All g^k hash functions, drawn uniformly, each with g-RR of the hash of the input."""
    truth, lie = math.exp(e0) / (math.exp(e0) + g - 1), 1.0 / (math.exp(e0) + g - 1)
    functions = list(product(range(g), repeat=k))
    return np.array(
        [[(truth if h[x] == v else lie) / len(functions) for h in functions for v in range(g)] for x in range(k)]
    )


def subset(k: int, w: int, e0: float) -> Matrix:
    """All w-subsets; those that hold the input are favored."""
    return _favoured(k, list(combinations(range(k), w)), lambda y, x: x in y, e0)  # type: ignore[operator]


def hadamard(k: int, e0: float) -> Matrix:
    """B blocks of b columns, the +1 columns of the input's row of its block favored (Acharya, Sun
    and Zhang 2019).
    """
    blocks = 2 ** (math.ceil(math.log2(min(math.exp(e0), 2 * k))) - 1)
    b = 2 ** math.ceil(math.log2(k / blocks + 1))
    signs = sylvester(b)
    supported = np.zeros((k, blocks, b), dtype=bool)
    for x in range(k):
        supported[x, x // (b - 1)] = signs[1 + x % (b - 1)] == 1
    weights = np.where(supported.reshape(k, -1), math.exp(e0), 1.0)
    return _normalised(weights)
