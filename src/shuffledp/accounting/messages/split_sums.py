"""Sums by shares that add up to a value: what is seen beyond the sum (Balle et al. 2020).

Each of n honest people splits a value of Z_q into m shares, uniform but for their sum, and all
shares are mixed. Write C for the number of components of the graph on n points that m - 1
independent, uniformly random permutations draw (an edge from every point to its image), and

    tau = 1/2 sqrt( E q^(C-1) - 1 ) .

**Theorem.** For every sum there is a law that does not depend on the values beyond it, and of which
the view of any values with this sum is within total variation tau. So if the sum alone keeps
(eps, delta), the view keeps (eps, delta + (1 + e^eps) tau).

*Proof.* Show more: the last share u_i of everybody, in order; and of the others those with the same
number mixed by themselves. Y_i = x_i - u_i is uniform, and so are all n (m-1) other shares v,
whatever the m - 1 permutations are. So given v, Y is a function of v and of permutations that are
uniform. Two such draws agree with probability E q^(C-n): their difference takes v to sums along the
edges of a graph with C components, and its image has q^(n-C) elements. So the law of Y given v has
a mean chi-square distance E q^(C-1) - 1 from the uniform law on vectors with the sum of v, hence a
mean total variation of at most tau. Replace Y by such a vector: u = x - Y is then uniform given its
sum, which is that of x less that of v. QED

E q^(C-1) = B_n from above: the component of point 1 has s points with probability at most
(s/n) binom(n, s)^(2-m), and the others draw their own graph. So B_n <= 1 + q sum over k = n - s < n
of (n-k)/n binom(n, k)^(2-m) B_k. It is added up to n = ``SMALL``; beyond, B_k stays below the
constant b that solves the same inequality there, because all its terms fall with n.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput

__all__ = ["least_messages", "mixing_distance"]

SMALL = 512
ROUNDED = 1e-9  # relative, of sums of logarithms of large factorials
MOST_SHARES = 64


def mixing_distance(people: int, messages: int, modulus: int) -> float:
    """tau for so many honest ``people`` and ``messages`` of each; at most 1.

    >>> mixing_distance(10_000, 11, 1 << 32) < 2.0**-40 < mixing_distance(10_000, 10, 1 << 32)
    True
    """
    if people < 2 or messages < 3:
        return 1.0
    excess = _log_excess(people, messages - 1, modulus)
    return min(0.5 * math.exp(0.5 * min(excess, 2.0)) * (1.0 + ROUNDED), 1.0)


def least_messages(people: int, modulus: int, distance: float) -> int:
    """The least number of messages of each person that keep tau at most ``distance``.

    >>> least_messages(10_000, 1 << 32, 2.0**-40)
    11
    """
    # Points that are their own components alone leave (q-1) / n^(m-2) of the excess.
    alone = 2.0 + (2.0 * math.log(0.5 / distance) + math.log(modulus - 1)) / math.log(max(people, 2))
    for messages in range(max(math.floor(alone), 3), MOST_SHARES + 1):
        if mixing_distance(people, messages, modulus) <= distance:
            return messages
    raise InvalidInput(
        f"people must be so many that {MOST_SHARES} messages of each hide their values, got {people:,}. Collect from "
        f"more of them, or use another protocol."
    )


def _log_excess(n: int, permutations: int, modulus: int) -> float:
    """log(B_n - 1), from above."""
    log_q = math.log(modulus)
    known = _small(permutations, log_q)
    if n <= SMALL:
        return log_q + _terms(n, permutations, known[: n - 1])

    # sum over s = n - k of (s/n) binom(n, s)^(1-p): s = 1, and at most n terms with binom(n, 2).
    def rest(points: int) -> float:
        two = math.log(points * (points - 1.0) / 2.0)
        return float(np.logaddexp(-permutations * math.log(points), math.log(points) - (permutations - 1) * two))

    first = SMALL + 1
    weights = -(permutations - 1) * _binomials(first, SMALL)[1]
    near, far = log_q + _log_sum(weights + known), log_q + rest(first)
    if far >= math.log(0.5):
        return math.inf
    bound = float(np.logaddexp(0.0, near)) - math.log1p(-math.exp(far))
    return log_q + float(np.logaddexp(_terms(n, permutations, known), bound + rest(n)))


@lru_cache(maxsize=64)
def _small(permutations: int, log_q: float) -> Floats:
    """log B_1, ..., log B_SMALL, from above."""
    known = np.zeros(SMALL)
    for n in range(2, SMALL + 1):
        known[n - 1] = np.logaddexp(0.0, log_q + _terms(n, permutations, known[: n - 1]))
    return known


def _terms(n: int, permutations: int, known: Floats) -> float:
    """log of the sum over k = 1, 2, ... of (n-k)/n binom(n, k)^(1-p) B_k, as far as these are
    known.
    """
    share, binomials = _binomials(n, known.size)
    return _log_sum(share - (permutations - 1) * binomials + known)


@lru_cache(maxsize=2 * SMALL)
def _binomials(n: int, most: int) -> tuple[Floats, Floats]:
    """log((n-k)/n) and log binom(n, k) for k = 1, ..., most, the latter factor by factor: by
    log-gamma, large n would lose all digits.
    """
    i = np.arange(float(most))
    return np.log1p(-(i + 1.0) / n), np.cumsum(np.log((n - i) / (i + 1.0)))


def _log_sum(logs: Floats) -> float:
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))
