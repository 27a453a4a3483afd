"""Theorem 3 of docs/first-clone-swap.md in floating point: `python -m tests.literature.adaptive_walk`
prints its table.

Randomizers that are chosen while reports come in. A walk whose next step may be of any of five
kinds, with payoff s_+, is worth at most E(C + G_* + Y_2 + ... + Y_n)_+ for a Laplace variable C of
rate lam and any law Y of the kinds' mean with

    integral of D+ e^(lam |t|)  <=  integral of D- e^(-lam |t|),    D(t) = E(G_v - t)_+ - E(Y - t)_+ ,

for every kind v. Nothing here is certified: rounding is not counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

import shuffledp as sdp
from tests.oracle.first_clone import static_kinds

Array = NDArray[np.float64]
Law = tuple[Array, Array]

LEVELS = (1.5, 4.0, 9.0, 20.0, 40.0)
SHARES = (0.0, 0.02, 0.05, 0.12)  # of the law that is above all kinds
BASES = ("d", "b", "ab", "bd")
SAFE = 0.999  # of the largest rate
STEEPEST = 5.0  # the saddle point is about this over the deviation of the sum, at delta = 1e-6
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)


@dataclass(frozen=True)
class Step:
    """One law for all steps, and the largest rate of a Laplace variable with which it is allowed."""

    law: Law
    rate: float


def mixture(laws: list[Law], shares: list[float]) -> Law:
    """One of the laws, drawn with these probabilities."""
    chances = [share * weights for share, (_, weights) in zip(shares, laws, strict=True)]
    return np.concatenate([values for values, _ in laws]), np.concatenate(chances)


def excess(kind: Law, law: Law) -> tuple[Array, Array]:
    """D at its corners, its zeros and 0."""
    corners = np.unique(np.concatenate([kind[0], law[0], [0.0]]))

    def call(each: Law, t: Array) -> Array:
        values: Array = np.maximum(np.subtract.outer(each[0], t), 0.0).T @ each[1]
        return values

    d = call(kind, corners) - call(law, corners)
    d[np.abs(d) < 1e-14 * np.abs(corners).max()] = 0.0
    crossing = np.flatnonzero(d[:-1] * d[1:] < 0.0)
    width = np.diff(corners)[crossing]
    zeros = corners[crossing] + width * d[crossing] / (d[crossing] - d[crossing + 1])
    order = np.argsort(np.concatenate([corners, zeros]))
    return np.concatenate([corners, zeros])[order], np.concatenate([d, np.zeros(len(zeros))])[order]


def balance(t: Array, d: Array, rate: float) -> float:
    """The left side of the condition less the right one."""
    half, middle = 0.5 * np.diff(t)[:, None], 0.5 * (t[1:] + t[:-1])[:, None]
    at = middle + half * NODES
    value = d[:-1, None] + np.diff(d)[:, None] * 0.5 * (1.0 + NODES)
    return float((half * WEIGHTS * value * np.exp(np.sign(value) * np.minimum(rate * np.abs(at), 300.0))).sum())


def largest_rate(kinds: tuple[Law, ...], law: Law) -> float:
    """The largest rate that the condition allows; 0 for none."""
    rate = 30.0  # no use of a larger one
    for kind in kinds:
        t, d = excess(kind, law)
        if d.max() <= 0.0 or balance(t, d, rate) <= 0.0:
            continue
        if balance(t, d, 0.0) >= 0.0:
            return 0.0
        rate = SAFE * float(brentq(lambda each, t=t, d=d: balance(t, d, each), 0.0, rate, xtol=1e-6))
    return rate


def step_of(kinds: tuple[Law, ...], top: Law, base: str, share: float) -> Step:
    """Kinds of these letters in equal parts, with a share of ``top``."""
    chosen = [kinds["abcde".index(letter)] for letter in base]
    law = mixture([*chosen, top], [*[(1.0 - share) / len(chosen)] * len(chosen), share])
    return Step(law, largest_rate(kinds, law))


def topmost(epsilon0: float, eps: float, u: float) -> Law:
    """The any-randomizer theorem's law: all weight at the two extreme corners, and 0."""
    E, x = math.exp(epsilon0), math.exp(eps)
    left = 1.0 - 0.5 * u * (E + 1.0)
    chance = left / (E + 1.0)
    return np.array([E - x, 1.0 - x * E, 0.0]) / left, np.array([chance, chance, 1.0 - 2.0 * chance])


def worth(first: Law, step: Step, n: int) -> float:
    """1/n E(C + G_* + Y_2 + ... + Y_n)_+ by a contour integral."""

    def log_moment(s: NDArray[np.complex128]) -> NDArray[np.complex128]:
        logs = [np.log(np.exp(np.multiply.outer(s, values)) @ chances) for values, chances in (first, step.law)]
        total: NDArray[np.complex128] = logs[0] + (n - 1) * logs[1] - np.log(1.0 - (s / step.rate) ** 2)
        return total

    deviation = math.sqrt(n * float(step.law[1] @ step.law[0] ** 2))
    limits = math.log(1e-3 / deviation), math.log(min(60.0 / deviation, 0.95 * step.rate))

    def height(log_c: float) -> float:
        return float(log_moment(np.array([math.exp(log_c) + 0j])).real[0]) - 2.0 * log_c

    c = math.exp(minimize_scalar(height, bounds=limits, method="bounded").x)
    y = np.arange(0.0, 240.0 / deviation + 20.0 * c, c / 8.0)
    s = c + 1j * y
    terms = (np.exp(log_moment(s)) / s**2).real * np.where(y > 0.0, 2.0, 1.0)
    return float(terms.sum()) * c / (16.0 * math.pi * n)


def adaptive_bound(epsilon0: float, n: int, eps: float) -> float:
    """delta of any epsilon0-LDP randomizers, chosen adaptively, in floating point."""
    E, x = math.exp(epsilon0), math.exp(eps)
    us = np.append(0.0, np.array(LEVELS) / n)
    us = us[us < 1.0 / E]

    def price(step: Step) -> float:
        """About log delta, up to a constant."""
        variance = float(step.law[1] @ step.law[0] ** 2)
        lost = (STEEPEST / step.rate) ** 2 / (n * variance) if step.rate > 0.0 else 1.0
        return math.inf if lost > 0.6 else 0.5 * STEEPEST**2 * variance / largest - math.log1p(-lost)

    _, kinds = static_kinds(epsilon0, eps, 0.0)
    largest = max(float(chances @ values**2) for values, chances in kinds)
    options = [(base, share) for base in BASES for share in SHARES] + [("d", 1.0)]
    best = min(options, key=lambda option: price(step_of(kinds, topmost(epsilon0, eps, 0.0), *option)))
    total = 0.0
    for start, end in pairwise(us.tolist()):
        first, kinds = static_kinds(epsilon0, eps, end)
        step = step_of(kinds, topmost(epsilon0, eps, end), *best)
        if step.rate <= 0.0:
            return 1.0
        total += ((1.0 - start) ** n - (1.0 - end) ** n) * worth(first, step, n)
    return total + (1.0 - float(us[-1])) ** n * (E - x) / (E + 1.0)


def main() -> None:
    """The table of the paper."""
    for epsilon0 in (0.3, 0.5, math.log(2.0), 1.0, 2.0, 4.0):
        for n in (10**4, 10**6):
            ends = sdp.shuffle(sdp.AnyLDP(epsilon0=epsilon0), n=n).epsilon(delta=1e-6)
            found = brentq(
                lambda eps, epsilon0=epsilon0, n=n: math.log(adaptive_bound(epsilon0, n, eps) / 1e-6),
                0.99 * ends.lower,
                1.3 * ends.lower,
                rtol=1e-4,
            )
            before, now = (100.0 * (end / ends.lower - 1.0) for end in (ends.upper, found))
            print(f"epsilon0 = {epsilon0:.4g}, n = {n:,}: certified {before:.2f} %, Theorem 3 {now:.2f} %", flush=True)


if __name__ == "__main__":
    main()
