"""The first-clone swap (docs/first-clone-swap.md) for a handful of users, by direct sums.

Of n slots a uniformly random one holds the target's report, and every other slot i holds a draw
from ``hays[i]``, or nothing with the mass that this measure lacks of 1. The slots are shown in
order. With w = needle0 - e^eps needle1 the divergence of the two views is

    1/n E(G_1 + ... + G_n)_+  +  1/n sum over i of the integral of w_+ where hays[i] = 0,

G_i = w / hays[i] at a draw from hays[i], 0 for nothing. The theorem says that a dataset's delta is
an average of such divergences. Nothing of the package is used here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations_with_replacement, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "adaptive_delta",
    "clone_share",
    "first_clone_delta",
    "kinds_delta",
    "mean_of_positive_part",
    "score",
    "slots_delta",
    "static_delta",
    "static_kinds",
    "swap_levels",
]

Array = NDArray[np.float64]
Complexes = NDArray[np.complex128]
Law = tuple[Array, Array]  # values and their probabilities

NODES = 9.0  # over the deviation: how far the line of integration is followed
LEVELS = (0.5, 1.0, 1.6, 2.4, 3.5, 5.0, 7.0, 10.0, 14.0, 20.0, 28.0, 40.0)  # n u


def slots_delta(hays: ArrayLike, needle0: ArrayLike, needle1: ArrayLike, eps: float) -> float:
    """The divergence above, with one row of ``hays`` per slot.

    >>> round(slots_delta([[0.25, 0.75]] * 2, [0.75, 0.25], [0.25, 0.75], 0.0), 9)
    0.375
    """
    rows = np.asarray(hays, dtype=np.float64)
    laws, exposed = zip(*(score(row, needle0, needle1, eps) for row in rows), strict=True)
    return (mean_of_positive_part(laws) + math.fsum(exposed)) / len(rows)


def clone_share(others: ArrayLike, omega: ArrayLike) -> float:
    """The largest kappa with kappa omega below every row of ``others``."""
    rows, law = np.asarray(others, dtype=np.float64), np.asarray(omega, dtype=np.float64)
    return float(np.min(rows[:, law > 0.0] / law[law > 0.0], initial=1.0))


def swap_levels(n: int, kappa: float) -> Array:
    """The levels of u at which the first clone is looked for: 0, and on to kappa at most."""
    inner = np.array(LEVELS) / n
    return np.concatenate([[0.0], inner[inner < kappa], [kappa] if kappa * n < LEVELS[-1] else []])


def first_clone_delta(
    needle0: ArrayLike,
    needle1: ArrayLike,
    others: ArrayLike,
    omega: ArrayLike,
    eps: float,
    *,
    levels: ArrayLike | None = None,
    kappa: float | None = None,
) -> float:
    """The theorem's bound on a dataset's delta, with the integral over u replaced by an upper sum.

    ``others`` has one row per other user. ``kappa``, if not the largest one possible, and
    ``levels``, from 0 to at most kappa, may be chosen freely. Where nobody drew a clone up to the
    last level, the smaller of two bounds is used: the target's report on its own, and the blanket
    of the laws that the others have then.
    """
    rows, law = np.asarray(others, dtype=np.float64), np.asarray(omega, dtype=np.float64)
    n = len(rows) + 1
    share = clone_share(rows, law) if kappa is None else kappa
    us = swap_levels(n, share) if levels is None else np.asarray(levels, dtype=np.float64)
    terms = []
    for start, end in pairwise(us.tolist()):
        hays = np.vstack([law, _thinned(rows, law, end)])
        chance = (1.0 - start) ** n - (1.0 - end) ** n
        terms.append(chance * slots_delta(hays, needle0, needle1, eps))
    alone = float(np.maximum(_difference(needle0, needle1, eps), 0.0).sum())
    left = 1.0 - float(us[-1])
    if left > 0.0:
        blanket = _thinned(rows, law, float(us[-1])).min(axis=0, initial=1.0) / left
        alone = min(alone, slots_delta(np.tile(blanket, (n, 1)), needle0, needle1, eps))
    return math.fsum(terms) + left**n * alone


def kinds_delta(first: Law, kinds: Sequence[Law], n: int, c: float, deviation: float) -> Array:
    """1/n E(G_1 + ... + G_n)_+ from above, by the moduli of the transforms: for every kind of users
    the value if all others are of that kind. The largest is a bound for every mixture of kinds.

    ``first`` and ``kinds`` are laws of G: in the slot that the clone fills, and in the others. c >
    0 is the line of integration, ``deviation`` > 0 that of a centred normal variable that is added
    to the sum. The trapezoidal rule adds positive terms to the integral of a true mixture, so it
    comes first; moduli and Hoelder's inequality are applied to its sum.
    """
    largest = max(float(np.abs(values).max()) for values, _ in (first, *kinds))
    step = min(math.pi / (n * largest + NODES * deviation), c / 6.0)
    y = np.arange(0.0, NODES / deviation, step)
    s: Complexes = (c + 1j * y).astype(np.complex128)
    damped = np.exp(0.5 * deviation**2 * (c * c - y * y)) / np.abs(s) ** 2
    weights = damped * np.abs(_transform(first, s)) * np.where(y > 0.0, 2.0, 1.0) * step / (2.0 * math.pi * n)
    left_out = deviation / n * math.exp(0.5 * ((c * deviation) ** 2 - NODES**2)) * abs(_transform(first, s[:1])[0])
    moduli = [np.abs(_transform(kind, s)) ** (n - 1) for kind in kinds]
    return np.array([float(weights @ each) + left_out * float(each[0]) for each in moduli])


def static_kinds(epsilon0: float, eps: float, u: float) -> tuple[Law, tuple[Law, ...]]:
    """The first slot's law and those of the five kinds of users that are the worst if all that is
    known is that every law is within e^epsilon0 of the target's two, and the clone's is their mean.

    (m_0, m_1) / h_i lies in a hexagon with mean (1, 1), and the kinds are the extreme laws on its
    corners: binary response with the others on one of the target's values, a segment, and two
    triangles, one of which is ternary response.
    """
    E, x = math.exp(epsilon0), math.exp(eps)
    corners = {
        "a": (((E, 1.0), 1.0), ((1.0 / E, 1.0), E)),
        "b": (((1.0, E), 1.0), ((1.0, 1.0 / E), E)),
        "c": (((E, E), 1.0), ((1.0 / E, 1.0 / E), E)),
        "d": (((E, 1.0), 1.0), ((1.0, E), 1.0), ((1.0 / E, 1.0 / E), E)),
        "e": (((E, E), 1.0), ((1.0 / E, 1.0), E), ((1.0, 1.0 / E), E)),
    }
    kinds = []
    for corner in corners.values():
        ratios = np.array([each for each, _ in corner])
        chances = np.array([weight for _, weight in corner]) / sum(weight for _, weight in corner)
        left = np.maximum(1.0 - 0.5 * u * ratios.sum(axis=1), 0.0)
        seen = left > 0.0  # without hay is at most (E, E), where w is negative: nothing is exposed
        values = (ratios[seen, 0] - x * ratios[seen, 1]) / left[seen]
        masses = chances[seen] * left[seen]
        kinds.append((np.append(values, 0.0), np.append(masses, max(1.0 - masses.sum(), 0.0))))
    first = np.array([E - x, 1.0 - x * E]) * 2.0 / (E + 1.0)
    return (first, np.array([0.5, 0.5])), tuple(kinds)


def static_delta(epsilon0: float, n: int, eps: float) -> float:
    """The swap's bound for n users of any epsilon0-LDP randomizer that is fixed in advance, eps >=
    0: level by level the largest value over all ways to divide the others into the five kinds.
    """
    terms, us = [], swap_levels(n, math.exp(-epsilon0))
    for start, end in pairwise(us.tolist()):
        first, kinds = static_kinds(epsilon0, eps, end)
        mixtures = combinations_with_replacement(kinds, n - 1)
        largest = max(mean_of_positive_part([first, *mixture]) for mixture in mixtures)
        terms.append(((1.0 - start) ** n - (1.0 - end) ** n) * largest / n)
    return math.fsum(terms) + (1.0 - float(us[-1])) ** n * _alone(epsilon0, eps)


def adaptive_delta(epsilon0: float, n: int, eps: float) -> float:
    """The swap's bound if randomizers are chosen while reports come in: level by level the value of
    a walk of n steps with payoff s_+, whose next step may be of any of the five kinds. One of the
    steps is that of the clone's slot, and the walker may choose which.
    """
    terms, us = [], swap_levels(n, math.exp(-epsilon0))
    for start, end in pairwise(us.tolist()):
        value = _walk(n, np.zeros(1), *static_kinds(epsilon0, eps, end), clone=True)
        terms.append(((1.0 - start) ** n - (1.0 - end) ** n) * float(value[0]) / n)
    return math.fsum(terms) + (1.0 - float(us[-1])) ** n * _alone(epsilon0, eps)


def score(hay: ArrayLike, needle0: ArrayLike, needle1: ArrayLike, eps: float) -> tuple[Law, float]:
    """The law of one slot's G, and the integral of w_+ where there is no hay."""
    row, w = np.asarray(hay, dtype=np.float64), _difference(needle0, needle1, eps)
    some = row > 0.0
    values, chances = w[some] / row[some], row[some]
    empty = max(1.0 - math.fsum(chances), 0.0)
    return (np.append(values, 0.0), np.append(chances, empty)), float(np.maximum(w[~some], 0.0).sum())


def mean_of_positive_part(laws: Sequence[Law]) -> float:
    """E(sum of independent draws, one from each law)_+: all sums of either half, put together in
    sorted order.
    """
    half = len(laws) // 2
    (a, p), (b, q) = _sums(laws[:half]), _sums(laws[half:])
    order = np.argsort(b)
    b, q = b[order], q[order]
    mass, moment = (np.append(np.cumsum(each[::-1])[::-1], 0.0) for each in (q, q * b))
    at = np.searchsorted(b, -a, side="right")
    return max(float(p @ (a * mass[at] + moment[at])), 0.0)


def _walk(steps: int, s: Array, first: Law, kinds: tuple[Law, ...], *, clone: bool) -> Array:
    """The largest mean of the payoff from s on; ``clone``: the clone's step is still to be made."""
    if steps == 0:
        payoff: Array = np.maximum(s, 0.0)
        return payoff
    choices = [(first, False)] if clone else []
    if steps > 1 or not clone:
        choices += [(kind, clone) for kind in kinds]
    best = np.zeros_like(s)
    for (values, chances), left in choices:
        ahead = [_walk(steps - 1, s + value, first, kinds, clone=left) for value in values.tolist()]
        best = np.maximum(best, chances @ np.array(ahead))
    return best


def _alone(epsilon0: float, eps: float) -> float:
    """The most that one epsilon0-LDP report can show."""
    return max((math.exp(epsilon0) - math.exp(eps)) / (math.exp(epsilon0) + 1.0), 0.0)


def _sums(laws: Sequence[Law]) -> Law:
    values, chances = np.zeros(1), np.ones(1)
    for other, weights in laws:
        values, chances = np.add.outer(values, other).ravel(), np.multiply.outer(chances, weights).ravel()
    return values, chances


def _difference(needle0: ArrayLike, needle1: ArrayLike, eps: float) -> Array:
    w: Array = np.asarray(needle0, dtype=np.float64) - math.exp(eps) * np.asarray(needle1, dtype=np.float64)
    return w


def _thinned(rows: Array, omega: Array, u: float) -> Array:
    """What is left of the others' laws; at u = kappa, rounding must not leave less than nothing."""
    left: Array = np.maximum(rows - u * omega, 0.0)
    return left


def _transform(law: Law, s: Complexes) -> Complexes:
    values, chances = law
    transform: Complexes = np.exp(np.multiply.outer(s, values.astype(np.complex128))) @ chances.astype(np.complex128)
    return transform
