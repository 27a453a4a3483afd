"""The sums of the bits of a unary encoding, on every dataset of a handful of users.

The law of all sums of a unary encoding is found by adding one user at a time. A user's own bit is 1
with probability p and every other bit with probability q. A law is an array over the vectors of
sums, each from 0 to n, so keep n and the number k of values small. Nothing here uses that sums of
different bits are independent.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import combinations_with_replacement, permutations, product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.judge.enumeration import hockey_stick

Array = NDArray[np.float64]


def neighboring_sums(p: float, q: float, k: int, n: int) -> Iterator[list[Array]]:
    """For every multiset of the n - 1 others' values: the law of the k sums for each value of the
    target. Any two of one list are neighbors.
    """
    for others in combinations_with_replacement(range(k), n - 1):
        start = np.zeros((n + 1,) * k)
        start[(0,) * k] = 1.0
        law = reduce(lambda law, value: _with_user(law, value, p, q), others, start)
        yield [_with_user(law, value, p, q) for value in range(k)]


def sums_delta(p: float, q: float, k: int, n: int, epsilons: ArrayLike, *, rounds: int = 1) -> Array:
    """The largest hockey-stick divergence over all neighboring datasets, both orders, for each
    epsilon; rounds repeat over the same data, with fresh randomness.

    >>> float(sums_delta(0.75, 0.25, 2, 1, [0.0])[0])  # one user: four reports
    0.5
    """
    grid = np.atleast_1d(np.asarray(epsilons, dtype=np.float64))
    worst = np.zeros(len(grid))
    for laws in neighboring_sums(p, q, k, n):
        products = [reduce(lambda P, Q: np.multiply.outer(P, Q).ravel(), [law.ravel()] * rounds) for law in laws]
        for P, Q in permutations(products, 2):
            worst = np.maximum(worst, [hockey_stick(P, Q, eps) for eps in grid])
    return worst


def _with_user(law: Array, value: int, p: float, q: float) -> Array:
    """One more report: every vector of bits, with its probability, is added to the sums."""
    k = law.ndim
    more = np.zeros_like(law)
    for bits in product((0, 1), repeat=k):
        chances = [p if place == value else q for place in range(k)]
        chance = np.prod([one if bit else 1.0 - one for one, bit in zip(chances, bits, strict=True)])
        more += chance * np.roll(law, bits, tuple(range(k)))  # nobody has n ones yet, so nothing wraps around
    return more
