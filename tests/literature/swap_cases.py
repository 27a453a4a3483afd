"""Datasets for the first-clone swap, drawn at random: the target's two laws, those of the others,
and laws that a clone may have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from shuffledp.judge import hadamard, krr, local_hash, subset, unary

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Dataset:
    """One user per row of ``others``; ``epsilon0`` is infinite where a law has zeros."""

    family: str
    needle0: Array
    needle1: Array
    others: Array

    @property
    def n(self) -> int:
        return len(self.others) + 1

    @property
    def largest_loss(self) -> float:
        """Of one report; 3 where it is infinite."""
        with np.errstate(divide="ignore", invalid="ignore"):
            losses = np.log(self.needle0 / self.needle1)
        largest = float(np.nanmax(losses))
        return largest if math.isfinite(largest) else 3.0

    def clones(self, rng: np.random.Generator) -> Iterator[Array]:
        """Laws of a clone: what all others share, the target's mean, one of the others, the mean of
        them, and any. Some have no share in some of the others' laws.
        """
        shared = self.others.min(axis=0)
        if shared.sum() > 0.0:
            yield shared / shared.sum()
        yield 0.5 * (self.needle0 + self.needle1)
        yield self.others[0]
        yield self.others.mean(axis=0)
        alike = (self.needle0 == self.needle1) | (np.abs(self.needle0 - self.needle1) < 1e-12)
        if shared[alike].sum() > 0.0:  # as the library does for supports: less where the target's laws differ
            weighted = shared * np.where(alike, 1.0, 0.1)
            yield weighted / weighted.sum()
        yield rng.dirichlet(np.ones(len(self.needle0)))


def random_laws(rng: np.random.Generator, n: int, outputs: int) -> Dataset:
    """Any laws, everybody's own, some with outputs that never occur."""
    alpha = rng.choice([0.2, 0.6, 1.0, 4.0])
    laws = rng.dirichlet(np.full(outputs, alpha), size=n + 1)
    if rng.random() < 0.3:
        laws[rng.random(laws.shape) < 0.2] = 0.0
        laws[:, int(rng.integers(outputs))] += 0.01
    if rng.random() < 0.5:  # few kinds of users
        laws[2:] = laws[rng.integers(2, min(4, n + 1), size=n - 1)]
    laws = np.maximum(laws, 0.0) / laws.sum(axis=1, keepdims=True)
    return Dataset("random laws", laws[0], laws[1], laws[2:])


def extreme_laws(rng: np.random.Generator, n: int, outputs: int) -> Dataset:
    """A randomizer all of whose likelihoods are 1 or E, before they are normalised, and who holds
    what.
    """
    growth = math.exp(rng.uniform(0.2, 4.0))
    rows = np.where(rng.random((outputs, outputs)) < 0.5, growth, 1.0) * rng.dirichlet(np.ones(outputs))
    rows[1] = np.where(rows[1] == rows[0], rows[0] * rng.choice([1.0, growth], size=outputs), rows[1])
    return held(rng, "extreme laws", rows / rows.sum(axis=1, keepdims=True), n)


def staircase(rng: np.random.Generator, epsilon0: float, inputs: int) -> Array:
    """A vertex of the polytope of all epsilon0-LDP randomizers of so many inputs: column by column
    the likelihoods are multiples of 1 and E.
    """
    columns = np.array(list(product((1.0, math.exp(epsilon0)), repeat=inputs))).T
    solution = linprog(
        rng.standard_normal(columns.shape[1]) + columns.mean(axis=0),
        A_eq=columns,
        b_eq=np.ones(inputs),
        method="highs-ds",
    )
    rows: Array = columns * np.maximum(solution.x, 0.0)
    rows = rows[:, rows[0] > 0.0]
    return rows / rows.sum(axis=1, keepdims=True)


def held(rng: np.random.Generator, family: str, rows: Array, n: int) -> Dataset:
    """Users of one randomizer: everybody else holds anything, or few values, or one."""
    inputs = len(rows)
    zero, one = rng.choice(inputs, size=2, replace=False)
    if np.allclose(rows[zero], rows[one]):
        zero, one = 0, 1
    kinds = rng.choice(inputs, size=int(rng.integers(1, inputs + 1)), replace=False)
    return Dataset(family, rows[zero], rows[one], rows[rng.choice(kinds, size=n - 1)])


def merged(rows: Array) -> Array:
    """Outputs whose likelihoods are proportional say the same."""
    shapes = rows / rows.sum(axis=0)
    _, groups = np.unique(np.round(shapes, 10), axis=1, return_inverse=True)
    return np.array([np.bincount(groups.ravel(), weights=row) for row in rows])


FAMILIES: dict[str, Callable[[float, np.random.Generator], Array]] = {
    "k-RR": lambda e0, rng: krr(int(rng.integers(2, 6)), e0),
    "RAPPOR": lambda e0, rng: unary(
        int(rng.integers(2, 4)), 1.0 / (1.0 + math.exp(-0.5 * e0)), 1.0 / (1.0 + math.exp(0.5 * e0))
    ),
    "OUE": lambda e0, rng: unary(int(rng.integers(2, 4)), 0.5, 1.0 / (1.0 + math.exp(e0))),
    "binary hashing": lambda e0, rng: local_hash(int(rng.integers(2, 4)), 2, e0),
    "hashing": lambda e0, rng: local_hash(int(rng.integers(2, 4)), 3, e0),
    "subsets": lambda e0, rng: subset(4, int(rng.integers(1, 4)), e0),
    "Hadamard": lambda e0, rng: hadamard(int(rng.integers(3, 8)), e0),
}


def support_laws(rng: np.random.Generator, n: int, outputs: int) -> Dataset:
    """One of the package's own families, with at most ``outputs`` different outputs."""
    while True:
        family = str(rng.choice(list(FAMILIES)))
        rows = merged(FAMILIES[family](rng.uniform(0.2, 4.0), rng))
        if rows.shape[1] <= outputs:
            return held(rng, family, rows, n)
