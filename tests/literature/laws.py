"""The laws behind the numerical baselines, one outcome at a time."""

import math
from collections import defaultdict
from itertools import product

Law = dict[tuple[int, ...], float]


def binomial(trials: int, count: int, p: float) -> float:
    return math.comb(trials, count) * p**count * (1.0 - p) ** (trials - count) if 0 <= count <= trials else 0.0


def clones_laws(n: int, epsilon0: float, *, feldmans: bool) -> tuple[Law, Law]:
    """Both laws of the clones pair: Feldman's, or Koskela's (A+D, C-A) against (A, C-A+D)."""
    p, q = math.exp(-epsilon0), math.exp(epsilon0) / (math.exp(epsilon0) + 1.0)
    laws: tuple[Law, Law] = (defaultdict(float), defaultdict(float))
    for c, d in product(range(n), (0, 1)):
        for a in range(c + 1):
            mass = binomial(n - 1, c, p) * binomial(c, a, 0.5) * (q if d else 1.0 - q)
            laws[0][a + d, c - a + (1 - d if feldmans else 0)] += mass
            laws[1][a + (1 - d if feldmans else 0), c - a + d] += mass
    return laws


def weak_views(n: int, k: int, gamma: float, *, independent: bool) -> Law:
    """P of (N_1, N_2, B) under the dataset where the target holds 1: counts independent given B, or
    those of the view itself.
    """
    views: Law = defaultdict(float)
    for b in range(n):
        weight = binomial(n - 1, b, gamma)
        if independent:
            for x, y in product(range(b + 1), range(b + 1)):
                hay = weight * binomial(b, x, 1.0 / k) * binomial(b, y, 1.0 / k)
                for d, e in product((0, 1), (0, 1)):
                    coin = (1.0 - gamma + gamma / k) if d else gamma - gamma / k
                    views[x + d, y + e, b] += hay * coin * (gamma / k if e else 1.0 - gamma / k)
            continue
        for x in range(b + 1):
            for y in range(b - x + 1):
                hay = (
                    weight
                    * binomial(b, x, 1.0 / k)
                    * (binomial(b - x, y, 1.0 / (k - 1)) if k > 2 else float(x + y == b))
                )
                views[x + 1, y, b] += hay * (1.0 - gamma + gamma / k)
                views[x, y + 1, b] += hay * gamma / k
                views[x, y, b] += hay * gamma * (k - 2) / k
    return views


def weak_tail(views: Law, k: int, gamma: float, epsilon: float) -> float:
    """The mass of the views whose loss, by Thm 10 of the revision, is at least epsilon."""

    def score(count: int, b: int) -> float:
        return (1.0 - gamma) * count + gamma * (b + 1) / k

    return sum(mass for (x, y, b), mass in views.items() if score(x, b) / score(y, b) >= math.exp(epsilon))
