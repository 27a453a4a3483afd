"""Bad randomizers: eps0-LDP matrices from extreme points, adaptive trees of them (theory.md 2b),
and searches that make delta large.

A tree is a list of n arrays. `tree[i][z_0, ..., z_(i-1)]` is the matrix R_i(z_<i, .) with n + 1
rows: row 0 and row 1 are the target's two inputs, row 1 + j is the input of the other user j =
1..n-1. A uniformly random permutation decides who reports when, and the whole sequence z is
released.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from shuffledp.judge.enumeration import hockey_stick, worst_delta

Array = NDArray[np.float64]
Tree = list[Array]
Make = Callable[[np.random.Generator, int, int, float], Array]


def _solve_weights(patterns: Array, rng: np.random.Generator) -> Array | None:
    """Weights w >= 0 with sum_y w_y patterns[y] = 1 for every input, with a random part where there
    is room; None when there are none.
    """
    start = rng.dirichlet(np.ones(len(patterns))) * rng.uniform(0, 1 / patterns.max())
    for known in (start, np.zeros(len(patterns))):
        rest, residual = nnls(patterns.T, 1 - patterns.T @ known)
        if residual < 1e-12:
            weights: Array = known + rest
            weights += np.linalg.lstsq(patterns.T, 1 - patterns.T @ weights, rcond=None)[
                0
            ]  # rows sum to one within rounding
            return np.maximum(weights, 0.0)
    return None


def _column_matrix(patterns: Array, weights: Array) -> Array:
    """Columns weights[y] * patterns[y]. An unused column is replaced by half of the largest one,
    which changes nothing for the adversary.
    """
    columns = weights[:, None] * patterns
    for y in np.flatnonzero(weights < 1e-14):
        largest = int(np.argmax(columns.sum(axis=1)))
        columns[largest] /= 2
        columns[y] = columns[largest]
    return np.ascontiguousarray(columns.T)


def filled_matrix(rng: np.random.Generator, inputs: int, outputs: int, eps0: float) -> Array:
    """Random floor c of total mass in [e^-eps0, 1]; every row is a vertex of {c <= r <= e^eps0 c,
    sum r = 1}: all entries but one are extreme.
    """
    e = math.exp(eps0)
    floor = rng.dirichlet(np.ones(outputs)) * rng.uniform(1 / e, 1.0)
    rows = np.tile(floor, (inputs, 1))
    for row in rows:
        missing = 1 - floor.sum()
        for y in rng.permutation(outputs):
            step = min(missing, (e - 1) * floor[y])
            row[y] += step
            missing -= step
    return rows


def _random_patterns(rng: np.random.Generator, inputs: int, outputs: int, e: float) -> Array:
    """Distinct non-constant vectors of {1, e}^inputs while there are any, one per output."""
    every = np.array(list(product([1.0, e], repeat=inputs)))[1:-1]
    return every[rng.choice(len(every), size=outputs, replace=outputs > len(every))]


def pattern_matrix(rng: np.random.Generator, inputs: int, outputs: int, eps0: float, attempts: int = 200) -> Array:
    """A matrix whose columns are all proportional to vectors of {1, e^eps0}; `filled_matrix` when
    no such matrix is found.
    """
    for _ in range(attempts):
        patterns = _random_patterns(rng, inputs, outputs, math.exp(eps0))
        weights = _solve_weights(patterns, rng)
        if weights is not None:
            return _column_matrix(patterns, weights)
    return filled_matrix(rng, inputs, outputs, eps0)


def bad_ldp_matrix(
    rng: np.random.Generator,
    k: int,
    outputs: int,
    eps0: float,
    *,
    n: int | None = None,
    eps: float | None = None,
    steps: int = 0,
) -> Array:
    """A random eps0-LDP matrix (k inputs) at an extreme point. With n, eps and steps: the worst one
    for worst_delta(., n, eps) of so many moves.

    A move takes another pattern for one output, or other weights, or starts afresh; it is kept when
    delta does not fall.
    """
    best = pattern_matrix(rng, k, outputs, eps0)
    if n is None or eps is None:
        return best
    e, delta = math.exp(eps0), worst_delta(best, n, eps)[0]
    for _ in range(steps):
        kind = rng.integers(4)
        if kind == 0:
            candidate = pattern_matrix(rng, k, outputs, eps0)
        elif kind == 1:
            candidate = filled_matrix(rng, k, outputs, eps0)
        else:
            low = best.min(axis=0)
            patterns = np.where(best > low * (1 + e) / 2, e, 1.0).T
            if kind == 2:
                patterns[rng.integers(outputs)] = _random_patterns(rng, k, 1, e)[0]
            weights = _solve_weights(patterns, rng)
            if weights is None:
                continue
            candidate = _column_matrix(patterns, weights)
        new = worst_delta(candidate, n, eps)[0]
        if new >= delta:
            best, delta = candidate, new
    return best


def ldp_level(rows: Array) -> float:
    """The smallest eps0 for which these rows are eps0-LDP."""
    used = rows[:, rows.max(axis=0) > 0]
    low = used.min(axis=0)
    return math.inf if (low == 0).any() else float(np.log(used.max(axis=0) / low).max())


def deletion_matrix(rng: np.random.Generator, inputs: int, outputs: int, eps_d: float) -> Array:
    """A random reference distribution, or the one of the deletion theorem; every row is a vertex of
    {e^-eps_d ref <= r <= e^eps_d ref, sum r = 1}.
    """
    e = math.exp(eps_d)
    reference = rng.dirichlet(np.full(outputs, rng.choice([0.3, 1.0, 4.0])))
    if outputs > 2 and rng.random() < 0.5:
        reference = np.array([1.0, 1.0, *[(e - 1.0) / (outputs - 2)] * (outputs - 2)]) / (e + 1.0)
    rows = np.tile(reference / e, (inputs, 1))
    for row in rows:
        missing = 1.0 - 1.0 / e
        for y in rng.permutation(outputs):
            step = min(missing, (e - 1.0 / e) * reference[y])
            row[y] += step
            missing -= step
    rows /= rows.sum(axis=1, keepdims=True)
    return rows


def random_tree(rng: np.random.Generator, n: int, outputs: int, eps0: float, make: Make = pattern_matrix) -> Tree:
    """Independent extreme matrices at every node."""
    tree = []
    for depth in range(n):
        level = np.empty((outputs,) * depth + (n + 1, outputs))
        for prefix in product(range(outputs), repeat=depth):
            level[prefix] = make(rng, n + 1, outputs, eps0)
        tree.append(level)
    return tree


def constant_tree(rows: Array, dataset: list[int], pair: tuple[int, int]) -> Tree:
    """Everybody uses the same randomizer: the target holds pair[0] or pair[1], the others hold
    `dataset`.
    """
    matrix = np.asarray(rows, dtype=np.float64)[[*pair, *dataset]]
    n, outputs = len(dataset) + 1, matrix.shape[1]
    return [np.tile(matrix, (outputs,) * depth + (1, 1)) for depth in range(n)]


def adaptive_laws(tree: Tree) -> tuple[Array, Array]:
    """The laws of the released sequence z for the target's two inputs, averaged over all
    permutations.
    """
    n, outputs = len(tree), tree[0].shape[-1]
    laws = (np.zeros((outputs,) * n), np.zeros((outputs,) * n))
    for target, law in enumerate(laws):
        for order in permutations(range(n)):  # order[i] reports at step i; user 0 is the target
            sequence = np.ones((outputs,) * n)
            for i, user in enumerate(order):
                step = tree[i][..., target if user == 0 else 1 + user, :]
                sequence *= step.reshape(step.shape + (1,) * (n - 1 - i))
            law += sequence
        law /= math.factorial(n)
    return laws


def adaptive_delta(tree: Tree, eps: float) -> float:
    """The worse of the two orders' hockey-stick divergences."""
    P, Q = adaptive_laws(tree)
    return max(hockey_stick(P, Q, eps), hockey_stick(Q, P, eps))


def worst_tree(
    rng: np.random.Generator, n: int, outputs: int, eps0: float, eps: float, steps: int
) -> tuple[Tree, float]:
    """Hill-climb from a random tree: replace one node's matrix at a time by a new one, by another
    node's or by its own rows in another order.

    What does not lower delta is kept.
    """
    tree = random_tree(rng, n, outputs, eps0)
    best = adaptive_delta(tree, eps)
    for _ in range(steps):
        depth = int(rng.integers(n))
        node = tuple(int(z) for z in rng.integers(outputs, size=depth))
        old = tree[depth][node].copy()
        kind = rng.integers(6)
        if kind == 0:
            tree[depth][node] = filled_matrix(rng, n + 1, outputs, eps0)
        elif kind == 1:
            tree[depth][node] = old[rng.permutation(n + 1)]
        elif kind <= 3:
            other = int(rng.integers(n))
            tree[depth][node] = tree[other][tuple(rng.integers(outputs, size=other))]
        else:
            tree[depth][node] = pattern_matrix(rng, n + 1, outputs, eps0)
        new = adaptive_delta(tree, eps)
        if new >= best:
            best = new
        else:
            tree[depth][node] = old
    return tree, best
