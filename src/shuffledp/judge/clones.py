"""The first-clone swap (docs/first-clone-swap.md) for a handful of users, by direct sums.

Of n slots a uniformly random one holds the target's report, and every other slot i holds a draw
from ``hays[i]``, or nothing with the mass that this measure lacks of 1. The slots are shown in
order. With w = needle0 - e^eps needle1 the divergence of the two views is

    1/n E(G_1 + ... + G_n)_+  +  1/n sum over i of the integral of w_+ where hays[i] = 0,

G_i = w / hays[i] at a draw from hays[i], 0 for nothing. The theorem says that a dataset's delta is
an average of such divergences.

*The first-clone swap for any number of users, summed in floating point: an upper end for every
composition of the others (docs/first-clone-swap.md).*

With levels 0 = u_0 < ... < u_J <= kappa, w = needle0 - e^eps needle1, slot 1 of hay omega and the
others of hay h - u omega,

    delta <= sum over j of [(1-u_j)^n - (1-u_(j+1))^n] F_(j+1) + (1-u_J)^n (the integral of w_+),
    n F <= step/(2 pi) sum over nodes s = c + iy of |phi_*| |phi_v|^(n-1) e^(tau^2 (c^2 - y^2)/2) /
           |s|^2

for the kind v of users for which this, added up over the levels, is largest. Any c, tau and step
will do, with every node: the step adds positive terms to a true composition's integral, and moduli
and Hoelder's inequality are applied to its sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import erfcx

from shuffledp.judge.lattice import Array, TooLarge

__all__ = [
    "CloneSwap",
    "Row",
    "adaptive_delta",
    "clone_share",
    "first_clone_delta",
    "kinds_delta",
    "mean_of_positive_part",
    "score",
    "slots_delta",
    "static_delta",
    "static_kinds",
    "swap_at_most",
    "swap_levels",
]

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


DIGITS = Context(prec=60)
Row = tuple[Fraction, Fraction, Fraction, Fraction]  # hay, needle0, needle1, and how fast hay shrinks with u

MOST_LEVELS, FEWEST_LEVELS, FEW_CLONES = 28, 8, 700.0  # fewer levels where clones n kappa are many
BLUR, FAINT, WRAP = 0.03, 12.0, 10.0  # tau c; what is cut off is e^-FAINT, what the step adds about e^-WRAP
SLACK = 9.0  # swaps rarer than e^-9 of delta do not matter
MOST_USERS = 10**10  # rounding is raised to the n-th power
MOST_NODES = 1 << 20
CAP = 12.0  # deviations: larger scores count by themselves


@dataclass(frozen=True, eq=False)
class CloneSwap:
    """One kind of pair: slot 1, whose hay is the clone's law, and the kinds of the others."""

    kappa: Fraction
    first: tuple[Row, ...]
    kinds: tuple[tuple[Row, ...], ...]


def swap_at_most(swap: CloneSwap, n: int, eps: float) -> float:
    """The bound at eps >= 0.

    >>> half, low, high = Fraction(1, 2), Fraction(1, 4), Fraction(3, 4)  # binary response
    >>> first = ((half, high, low, Fraction(0)), (half, low, high, Fraction(0)))
    >>> ones = ((low, high, low, half), (high, low, high, half))
    >>> zeros = ((high, high, low, half), (low, low, high, half))
    >>> round(swap_at_most(CloneSwap(half, first, (ones, zeros)), 1000, 0.1), 4)
    0.0
    """
    if n > MOST_USERS:
        raise TooLarge(f"floating point does not reach {n} users")
    growth = Fraction(DIGITS.exp(Decimal(eps)))
    gains = [
        np.array([float(there - growth * back) for _, there, back, _ in kind]) for kind in (swap.first, *swap.kinds)
    ]
    alone = min(float(np.maximum(gains[0], 0.0).sum()), 1.0)
    most = -n * math.log1p(-float(swap.kappa))
    if n == 1 or alone <= 0.0 or most < 0.1:
        return alone
    levels = int(min(max(MOST_LEVELS * FEW_CLONES / (n * float(swap.kappa)), FEWEST_LEVELS), MOST_LEVELS))
    values, tilt = _level(swap, gains, n, min(1.0, 0.5 * most), None)
    rough = float(values.max())
    needed = math.log(alone) - math.log(max(rough, 1e-300)) + SLACK
    last = min(most, max(needed, 2.0))
    rate = min(0.25, 8.0 / last)
    qs = -np.log1p(np.arange(levels + 1) / levels * math.expm1(-rate * last)) / rate
    sums, best = np.zeros(len(swap.kinds)), alone
    for before, q in zip(qs[:-1].tolist(), qs[1:].tolist(), strict=True):
        values, tilt = _level(swap, gains, n, q, tilt)
        # F is at most 1, and at most a mean of the kinds' values: none is cut by itself.
        shares = values if np.all(values <= 1.0) else np.ones_like(values)
        sums += math.exp(-before) * -math.expm1(before - q) * shares
        best = min(best, float(sums.max()) + math.exp(-q) * alone)
    return min(best * (1.0 + 1e-9 + 64.0 * n * 2.0**-52), 1.0)


def _level(swap: CloneSwap, gains: list[Array], n: int, q: float, near: float | None) -> tuple[Array, float]:
    """F where e^-q of all views do without a clone, if all others are of one kind: for every kind;
    and c, which is looked for ``near`` another.
    """
    u = min(Fraction(-math.expm1(-q / n)), swap.kappa)
    laws, seen = [], []
    levels = [Fraction(0), *[u] * len(swap.kinds)]
    for kind, gain, shrinking in zip((swap.first, *swap.kinds), gains, levels, strict=True):
        hay = np.array([float(row[0] - shrinking * row[3]) for row in kind])
        some = hay > 0.0
        shown = float(np.maximum(gain[~some], 0.0).sum())
        hay, w = hay[some], gain[some]
        score = w / hay
        cap = max(-n * float(w.sum()), 0.0) + CAP * math.sqrt(n * float(hay @ np.minimum(score, 1.0) ** 2))
        shown += float(np.maximum(w - cap * hay, 0.0).sum()) if shrinking else 0.0
        laws.append((hay, np.minimum(score, cap) if shrinking else score))
        seen.append(shown)
    first, *kinds = laws
    c, width = _tilt(first, kinds, n, near)
    sums = _node_sums(first, kinds, n, c, width)
    shares = [(total + seen[0] + (n - 1) * shown) / n for total, shown in zip(sums, seen[1:], strict=True)]
    return np.array(shares), c


def _tilt(
    first: tuple[Array, Array], kinds: list[tuple[Array, Array]], n: int, near: float | None
) -> tuple[float, float]:
    """c where the largest kind's sum is about least, and the largest deviation of a sum there."""

    def size(log_c: float) -> float:
        c = math.exp(log_c)
        values = []
        for hay, score in kinds:
            log_phi, _, variance = _moments(hay, score, c)
            values.append((n - 1) * log_phi + math.log(float(erfcx(c * math.sqrt(n * variance / 2.0)))))
        return max(values) + _moments(*first, c)[0] - log_c

    if near is None:
        top = max(float(score.max()) for _, score in (first, *kinds))
        grid = np.linspace(math.log(1e-3 / (n * top)), math.log(50.0 / top), 61)
        best = int(np.argmin([size(float(each)) for each in grid]))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, 60)]
    else:
        low, high = math.log(near) - 0.4, math.log(near) + 0.4
    c = math.exp(float(minimize_scalar(size, bounds=(low, high), method="bounded", options={"xatol": 2e-3}).x))
    return c, math.sqrt(max(n * _moments(hay, score, c)[2] for hay, score in kinds) + 2.0 / c**2)


def _moments(hay: Array, score: Array, c: float) -> tuple[float, float, float]:
    """log E e^(cG), and mean and variance of G under that tilt."""
    grown = hay * np.exp(np.minimum(c * score, 600.0))
    phi = 1.0 + float(hay @ np.expm1(np.minimum(c * score, 600.0)))
    mean = float(grown @ score) / phi
    return math.log(phi), mean, max(float(grown @ score**2) / phi - mean**2, 0.0)


def _node_sums(
    first: tuple[Array, Array], kinds: list[tuple[Array, Array]], n: int, c: float, width: float
) -> list[float]:
    """For every kind, the sum over the nodes; what lies beyond the last one is added."""
    tau = BLUR / c
    period = max(WRAP / c, 0.0) + 2.0 * math.sqrt(2.0 * WRAP) * width
    step = 2.0 * math.pi / period
    cut = math.sqrt(2.0 * (FAINT + math.log(1.0 + c * width))) / tau
    count = math.ceil(cut / step) + 2
    if count > MOST_NODES:
        raise TooLarge(f"{count} nodes are needed")
    y: Array = step * np.arange(count, dtype=np.float64)
    kernel = np.exp(-0.5 * (tau * y) ** 2) / (c * c + y * y)
    kernel[0] *= 0.5
    edge = float(y[-1])
    tail = math.exp(-0.5 * (tau * edge) ** 2) / (math.pi * edge)
    log_first, turned = _turned(*first, c, y)
    found = []
    for hay, score in kinds:
        log_phi, moduli = _turned(hay, score, c, y)
        with np.errstate(under="ignore", divide="ignore"):
            total = float(kernel @ (turned * np.exp((n - 1) * np.log(moduli)))) * step / math.pi
        scale = math.exp(min((n - 1) * log_phi + log_first + 0.5 * BLUR**2, 600.0))
        found.append(scale * (total + tail))
    return found


def _turned(hay: Array, score: Array, c: float, y: Array) -> tuple[float, Array]:
    """log phi(c), and |phi(c + iy)| / phi(c)."""
    log_phi, _, _ = _moments(hay, score, c)
    tilted = hay * np.exp(np.minimum(c * score, 600.0) - log_phi)
    masses, values = np.append(tilted, max(1.0 - float(tilted.sum()), 0.0)), np.append(score, 0.0)
    # not a matrix product: its threads would spend more time waiting for each other than adding
    turned: Array = np.abs((np.exp(1j * np.multiply.outer(y, values)) * masses).sum(axis=1))
    return log_phi, np.minimum(turned * (1.0 + 1e-15), 1.0)
