"""The first-clone swap for any number of users, summed in floating point: an upper end for every
composition of the others (docs/first-clone-swap.md).

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
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import erfcx

from shuffledp.judge.effort import TooLarge
from shuffledp.judge.lattice import Array

DIGITS = Context(prec=60)
Row = tuple[Any, Any, Any, Any]  # fractions or balls: hay, needle0, needle1, and how fast hay shrinks with u

LEVELS, FEWEST_LEVELS, FEW_CLONES = 28, 8, 700.0  # fewer levels where clones n kappa are many
BLUR, FAINT, WRAP = 0.03, 12.0, 10.0  # tau c; what is cut off is e^-FAINT, what the step adds about e^-WRAP
SLACK = 9.0  # swaps rarer than e^-9 of delta do not matter
MOST_USERS = 10**10  # rounding is raised to the n-th power
MOST_NODES = 1 << 20
CAP = 12.0  # deviations: larger scores count by themselves


@dataclass(frozen=True, eq=False)
class CloneSwap:
    """One kind of pair: slot 1, whose hay is the clone's law, the kinds of the others, and
    ``least`` below all of them; in fractions, or in balls.
    """

    first: tuple[Row, ...]
    kinds: tuple[tuple[Row, ...], ...]
    least: tuple[Row, ...] | None = None

    @cached_property
    def kappa(self) -> Fraction:
        """How often the clone's law is below every kind."""
        least: Fraction = min(hay / omega for kind in self.kinds for hay, _, _, omega in kind if omega)
        return least


def swap_at_most(swap: CloneSwap, n: int, eps: float) -> float:
    """The bound at eps >= 0.

    >>> half, low, high = Fraction(1, 2), Fraction(1, 4), Fraction(3, 4)  # binary response
    >>> first = ((half, high, low, Fraction(0)), (half, low, high, Fraction(0)))
    >>> ones = ((low, high, low, half), (high, low, high, half))
    >>> zeros = ((high, high, low, half), (low, low, high, half))
    >>> round(swap_at_most(CloneSwap(first, (ones, zeros)), 1000, 0.1), 4)
    0.0
    """
    if n > MOST_USERS:
        raise TooLarge(f"floating point does not reach {n} people")
    growth = Fraction(DIGITS.exp(Decimal(eps)))
    gains = [
        np.array([float(there - growth * back) for _, there, back, _ in kind]) for kind in (swap.first, *swap.kinds)
    ]
    alone = min(float(np.maximum(gains[0], 0.0).sum()), 1.0)
    most = -n * math.log1p(-float(swap.kappa))
    if n == 1 or alone <= 0.0 or most < 0.1:
        return alone
    levels = int(min(max(LEVELS * FEW_CLONES / (n * float(swap.kappa)), FEWEST_LEVELS), LEVELS))
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
    sums = _sums(first, kinds, n, c, width)
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


def _sums(first: tuple[Array, Array], kinds: list[tuple[Array, Array]], n: int, c: float, width: float) -> list[float]:
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
