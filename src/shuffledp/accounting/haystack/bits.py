"""How often a bit was set: one user's bit on top of everybody else's, for any two chances of a 1.

A bit is 1 with probability p in the report of a user who holds its value and with probability q < p
in that of any other. With h holders and f others besides the target, S = Bin(h, p) + Bin(f, q) has
a log-concave law s. Let x = e^eps >= 1. If the target holds the value only in the *second* of two
worlds, the view y = bit + S has

    P(y) - x Q(y) = A s(y) - B s(y - 1),      A = (1 - q) - x (1 - p),      B = x p - q = A + x - 1,

so the positive part is a sum over y <= t. Under the tilt e^(-y log(B/A)) the largest such t is the
mode, and the mode of a sum of independent Bernoulli variables is the mean rounded down or up
(Darroch 1964). With any tilt c >= log(B/A), c > 0,

    delta = A s(t) - (x - 1) P(S < t)
          = A e^(K(c) + c t) [ P_c(t) - (B/A - 1) sum_{r>=1} e^(-c r) P_c(t - r) ],

K(c) = log E e^(-c S), and the bracket is one short discrete Fourier sum: |phi_c(theta)| <=
exp(-var_c (1 - cos theta)) makes all but some fifty frequencies negligible whatever the number of
users is. delta is increasing in A with x fixed, which is how A's own rounding gets to the safe
side. If the target holds the value only in the *first* world, exchange 0 and 1 in all bits: p
becomes 1 - q, q becomes 1 - p, and holders become the others.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import End, Floats, Integers
from shuffledp.randomizers.bit_law import BitLaw

__all__ = ["bit_bounds", "bit_deltas"]

UNIT = 2.0**-52
REACH = 12.0  # deviations of S inside the period
CHUNK = 1 << 21
ALIKE = 1.4  # variances within a factor e^ALIKE are alike


def bit_bounds(law: BitLaw, holders: Integers, others: Integers, epsilons: Floats) -> tuple[Floats, Floats]:
    """Both ends of delta for every dataset (rows) and epsilon (columns), if the target holds the
    value only in the second world.
    """
    if law.doubt:
        lower, upper = (bit_deltas(law, holders, others, epsilons, end) for end in ("lower", "upper"))
        return lower, upper
    return _by_columns(law, law.down, holders, others, epsilons)


def bit_deltas(law: BitLaw, holders: Integers, others: Integers, epsilons: Floats, end: End) -> Floats:
    """One of these ends."""
    limit = law.down * (1.0 + law.doubt if end == "upper" else 1.0 - law.doubt)
    return _by_columns(law, limit, holders, others, epsilons)[end == "upper"]


def _by_columns(
    law: BitLaw, limit: float, holders: Integers, others: Integers, epsilons: Floats
) -> tuple[Floats, Floats]:
    """Both ends as if ``limit`` were log(not_q / not_p)."""
    lower, upper = np.zeros((holders.size, epsilons.size)), np.zeros((holders.size, epsilons.size))
    held, free = holders.astype(np.float64), others.astype(np.float64)
    live = np.flatnonzero(epsilons < limit)
    if not live.size:
        return lower, upper
    # Datasets of like variance, tilted or not, share a tilt and a period, so that one table of
    # frequencies serves them all; so do epsilons of like tilt.
    variance = np.maximum(law.p * law.not_p * held + law.q * law.not_q * free, 0.25)
    natural = _natural(law, limit, epsilons[live])[1]
    tilt = np.floor(natural)
    for steep in np.unique(tilt):
        near = live[tilt == steep]
        _, tilted = _moments((law.p, law.not_p), (law.q, law.not_q), held, free, np.asarray(steep + 0.5))
        kinds = np.floor(np.log(np.stack([variance, np.maximum(tilted, 0.25)])) / ALIKE)
        for kind in np.unique(kinds, axis=1).T:
            alike = np.flatnonzero(np.all(kinds == kind[:, None], axis=0))
            deviation = math.sqrt(float(variance[alike].max()))
            columns = max(1, CHUNK // (128 * alike.size))
            for block in np.split(near, range(columns, near.size, columns)):
                ends = _threshold_sums(law, limit, held[alike, None], free[alike, None], epsilons[block], deviation)
                lower[np.ix_(alike, block)], upper[np.ix_(alike, block)] = ends
    return lower, upper


def _natural(law: BitLaw, limit: float, epsilons: Floats) -> tuple[Floats, Floats]:
    """log A and log(B/A), the tilt under which the threshold is the mode.

    A = not_p x (e^(limit - eps) - 1), and B/A - 1 = (x - 1)/A: logarithms, as both may leave the
    floats.
    """
    log_a = math.log(law.not_p) + epsilons + np.log(np.expm1(limit - epsilons))
    with np.errstate(divide="ignore"):
        return log_a, np.logaddexp(0.0, np.log(np.expm1(epsilons)) - log_a)


def _threshold_sums(
    law: BitLaw, limit: float, holders: Floats, others: Floats, epsilons: Floats, deviation: float
) -> tuple[Floats, Floats]:
    """Both ends, for datasets (rows) whose S has at most this standard deviation, and not much
    less.
    """
    log_a, natural = _natural(law, limit, epsilons)
    c = np.maximum(natural, min(2.5 / deviation, 1.0))
    held, free = (law.p, law.not_p), (law.q, law.not_q)
    everybody = holders + others
    mean, _ = _moments(held, free, holders, others, natural)
    threshold = np.floor(mean * (1.0 + 4.0 * UNIT))
    # The mode of a mean this large may be one further than its rounding says.
    steps = np.arange(-1.0, 3.0) if np.any(mean * everybody > 1e14) else np.arange(0.0, 2.0)
    mean, variance = _moments(held, free, holders, others, c)
    spread = np.sqrt(variance)

    # S reaches over REACH deviations; what wraps around from below carries (B/A) e^(-c r) <= e^(-c
    # (r - 1)) with r beyond that.
    far = 40.0 + 2.0 * np.log1p(1.0 / c)
    period = np.ceil(far / c + 2.0 + np.minimum(everybody, REACH * spread + 40.0).max(axis=0))
    # Frequencies above the cut-off have |phi| <= e^-negligible: 1 - cos theta >= 0.459 theta^2 up
    # to 1, and >= 2 (theta/pi)^2 up to pi.
    least = np.maximum(variance.min(axis=0), 1e-300)
    negligible = 34.0 + 2.0 * np.log1p(spread.max(axis=0))
    cutoff = np.sqrt(negligible / (0.459 * least))
    wide = np.minimum(np.pi * np.sqrt(negligible / (2.0 * least)), np.pi)
    cutoff = np.where(cutoff <= 1.0, cutoff, wide)
    last = np.minimum(np.ceil(cutoff * period / (2.0 * np.pi)), np.floor(period / 2.0))[:, None]
    k, period = np.arange(int(last.max()) + 1), period[:, None]
    theta = 2.0 * np.pi * k / period
    weight = np.where((k == 0) | (2 * k == period), 1.0, 2.0) * (k <= last) / period

    # What every dataset shares: logarithms of both kinds of users' phi, and (e^(c + i theta) - B/A)
    # / (e^(c + i theta) - 1) without its growth.
    c_ = c[:, None]
    holder, other = (_log_turn(*_tilted(*each, c_), theta) for each in (held, free))
    below = -np.expm1(-c_ - 1j * theta)
    kernel = -np.expm1((natural - c)[:, None] - 1j * theta) / below
    parts, scale, turn = weight / np.abs(below), weight * np.abs(kernel), np.angle(kernel)

    rows, counts = holders[..., None], others[..., None]
    size = np.exp(rows * holder.real + counts * other.real)
    phase = rows * holder.imag + counts * other.imag + turn + theta * threshold[..., None]
    bracket = np.stack([(size * scale * np.cos(phase + theta * step)).sum(axis=-1) for step in steps], axis=-1)
    threshold = threshold[..., None] + steps

    phases = (size * (scale * theta)).sum(axis=-1) * (mean + threshold.max(axis=-1))
    rounding = 8.0 * UNIT * ((size * parts).sum(axis=-1) * (16.0 + 2.0 * c) + phases)
    reach = REACH * spread + 40.0 - np.abs(threshold - mean[..., None]).max(axis=-1)
    tail = np.exp(-(reach**2) / (2.0 * (variance + np.abs(reach) / 3.0)))
    bernstein = np.where(everybody <= reach, 0.0, np.where(reach > 0.0, 2.0 * tail, 2.0))
    error = rounding - 2.0 / np.expm1(-c) * (np.exp(-negligible) + 4.0 * np.exp(2.0 - far - c) + bernstein)

    log_mgf = holders * _log_laplace(*held, c) + others * _log_laplace(*free, c)
    log_scale = (log_a + log_mgf)[..., None] + c_ * threshold
    size_of_logs = np.abs(log_a) + np.abs(log_mgf) + c * mean
    drift = UNIT * (16.0 * (size_of_logs[..., None] + np.abs(c_ * threshold)) + 64.0)
    with np.errstate(divide="ignore", under="ignore", over="ignore"):
        lower = np.exp(log_scale + np.log(np.maximum(bracket - error[..., None], 0.0)) - drift)
        upper = np.exp(log_scale + np.log(np.maximum(bracket + error[..., None], 0.0)) + drift)
        alone = np.exp(log_a * (1.0 - 4.0 * UNIT) + 64.0 * UNIT)  # s(t) <= 1: what the target's own bit says
    lower = np.where(threshold < 0.0, 0.0, lower).max(axis=-1)
    return np.minimum(lower, 1.0), np.clip(np.minimum(upper.max(axis=-1), alone), np.nextafter(0.0, 1.0), 1.0)


def _tilted(one: float, zero: float, c: Floats) -> tuple[Floats, Floats]:
    """The chances of 1 and 0 under the tilt e^(-c y)."""
    share = one * np.exp(-c)
    return share / (zero + share), zero / (zero + share)


def _moments(
    held: tuple[float, float], free: tuple[float, float], holders: Floats, others: Floats, c: Floats
) -> tuple[Floats, Floats]:
    """Mean and variance of the tilted S."""
    (p1, p0), (q1, q0) = _tilted(*held, c), _tilted(*free, c)
    return holders * p1 + others * q1, holders * p1 * p0 + others * q1 * q0


def _log_laplace(one: float, zero: float, c: Floats) -> Floats:
    """log(zero + one e^-c), with relative accuracy also where it is near 0."""
    lost = -one * np.expm1(-c)
    return np.where(lost < 0.5, np.log1p(-np.minimum(lost, 0.5)), np.log(zero + one * np.exp(-c)))


def _log_turn(one: Floats, zero: Floats, theta: Floats) -> NDArray[np.complex128]:
    """log(zero + one e^(-i theta)) for probabilities zero + one = 1, with relative accuracy near 0
    and near the pole.
    """
    half = np.sin(0.5 * theta) ** 2
    square = (zero - one) ** 2 + 4.0 * zero * one * np.cos(0.5 * theta) ** 2
    near = np.log1p(np.maximum(-4.0 * zero * one * half, -0.75))
    size = np.where(square > 0.5, near, np.log(np.maximum(square, 1e-300)))
    return np.asarray(0.5 * size + 1j * np.arctan2(-one * np.sin(theta), 1.0 - 2.0 * one * half))
