"""Binary randomized response on explicit datasets, and a certificate over all of them.

With z others holding 0 and j holding 1, the view is the number of ones, needle + S with S = Bin(z,
p) + Bin(j, q), p = 1/(e^eps0+1) and q = 1 - p. Let s be the law of S, x = e^eps, a = e^eps0 - x, b
= x e^eps0 - 1. For the target's inputs (0, 1)

    P0(y) - x P1(y) = p (a s(y) - b s(y-1)),

and s is log-concave, so the positive part is a sum over y <= t. Under the tilt e^-y log(b/a) the
largest such t is the mode, and the mode of a sum of independent Bernoulli variables is the mean
rounded down or up (Darroch 1964). With any tilt c > 0

    delta = p a e^(K(c) + c t) [ P_c(t) - (b/a - 1) sum_{r>=1} e^(-c r) P_c(t - r) ],     K(c) = log
    E e^(-c S),

and the bracket is one short discrete Fourier sum: |phi_c(theta)| <= exp(-var_c (1 - cos theta))
makes all but some fifty frequencies negligible whatever n is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats, Integers
from shuffledp.accounting.accuracy import DEFAULT_GAP, FINE_GAP

__all__ = ["BinaryDataset", "BinaryScan"]

UNIT = 2.0**-52
REACH = 12.0  # deviations of S inside the period
CHUNK = 1 << 21
FINE, COARSE = (
    (512, 64),
    (96, 8),
)  # blocks, and datasets tried for the lower end: for close answers, and for curves of many points


@dataclass(frozen=True, slots=True)
class BinaryDataset:
    """The target's inputs are 0 and 1; of the others, ``zeros`` hold 0 and ``ones`` hold 1."""

    epsilon0: float
    zeros: int
    ones: int

    @property
    def name(self) -> str:
        """Which dataset this is, in words."""
        return f"of the others, {self.zeros} hold 0 and {self.ones} hold 1"

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """Lower and upper ends of delta at every epsilon >= 0; ``gap`` makes no difference."""
        del gap
        lower, upper = _deltas(self.epsilon0, np.array([self.zeros]), np.array([self.ones]), epsilons)
        return lower[0], upper[0]

    def swapped(self) -> BinaryDataset:
        """The target's inputs exchanged: rename the values, and the others exchange theirs."""
        return BinaryDataset(self.epsilon0, self.ones, self.zeros)


@dataclass(frozen=True, slots=True)
class BinaryScan:
    """All datasets of n users at once, for both orders of the target's inputs.

    Removing a user from the view only helps the adversary, so for j in [j0, j0 + d) ones the
    dataset is dominated by the one with j0 ones among n - d others. Exchanging 0 and 1 maps (j,
    order) to (n-1-j, other order), so one order and all j suffice.
    """

    epsilon0: float
    n: int
    name: str = "scan over all datasets"

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """The lower end is attained by a dataset, the upper end holds for every dataset."""
        blocks, tries = FINE if gap <= FINE_GAP else COARSE
        length = max(1, -(-self.n // blocks))
        first = np.arange(0, self.n, length, dtype=np.int64)
        ones = self._tries(tries)
        lower, _ = _deltas(self.epsilon0, self.n - 1 - ones, ones, epsilons)
        _, upper = _deltas(self.epsilon0, np.maximum(self.n - length - first, 0), first, epsilons)
        return lower.max(axis=0), upper.max(axis=0)

    def worst(self, epsilon: float) -> BinaryDataset:
        """The dataset that gives the lower end at epsilon."""
        ones = self._tries(FINE[1])
        lower, _ = _deltas(self.epsilon0, self.n - 1 - ones, ones, np.array([epsilon]))
        most = int(ones[lower[:, 0].argmax()])
        return BinaryDataset(self.epsilon0, self.n - 1 - most, most)

    def swapped(self) -> BinaryScan:
        """The same: both orders are covered."""
        return self

    def _tries(self, count: int) -> Integers:
        return np.unique(np.linspace(0, self.n - 1, min(count, self.n)).astype(np.int64))


def _deltas(epsilon0: float, zeros: Integers, ones: Integers, epsilons: Floats) -> tuple[Floats, Floats]:
    """Both ends for every dataset (rows) and epsilon (columns)."""
    lower, upper = np.zeros((zeros.size, epsilons.size)), np.zeros((zeros.size, epsilons.size))
    live = np.flatnonzero(epsilons < epsilon0)
    columns = max(1, CHUNK // (128 * zeros.size))
    for block in np.split(live, range(columns, live.size, columns)) if live.size else []:
        low, high = _threshold_sums(
            epsilon0, zeros[:, None].astype(float), ones[:, None].astype(float), epsilons[block]
        )
        lower[:, block], upper[:, block] = low, high
    return lower, upper


def _threshold_sums(epsilon0: float, zeros: Floats, ones: Floats, epsilons: Floats) -> tuple[Floats, Floats]:
    p = 1.0 / (np.exp(epsilon0) + 1.0)
    q = 1.0 / (np.exp(-epsilon0) + 1.0)
    a = np.exp(epsilons) * np.expm1(epsilon0 - epsilons)
    b = np.expm1(epsilon0 + epsilons)
    others = zeros + ones
    natural = np.log(b / a)  # the tilt under which the threshold is the mode
    mean, _ = _moments(p, q, zeros, ones, natural)
    threshold = np.floor(mean * (1.0 + 4.0 * UNIT))[..., None] + np.array([0.0, 1.0])
    deviation = np.sqrt(np.maximum(p * q * others, 0.25))
    c = np.maximum(natural, 2.5 / deviation)
    mean, variance = _moments(p, q, zeros, ones, c)
    spread = np.sqrt(variance)
    # S reaches over REACH deviations; what wraps around from below carries (b/a) e^(-c r) <= e^(-c
    # (r - 1)) with r beyond that.
    period = np.ceil(40.0 / c + 2.0 + np.minimum(others, REACH * spread + 40.0))
    # Frequencies above the cut-off have |phi| <= e^-negligible: 1 - cos theta >= 0.459 theta^2 up
    # to 1, and >= 2 (theta/pi)^2 up to pi.
    negligible = 34.0 + 2.0 * np.log1p(spread)
    cutoff = np.sqrt(negligible / (0.459 * np.maximum(variance, 1e-300)))
    cutoff = np.where(
        cutoff <= 1.0, cutoff, np.minimum(np.pi * np.sqrt(negligible / (2.0 * np.maximum(variance, 1e-300))), np.pi)
    )
    last = np.minimum(np.ceil(cutoff * period / (2.0 * np.pi)), np.floor(period / 2.0))
    k = np.arange(int(last.max()) + 1)
    theta = 2.0 * np.pi * k / period[..., None]
    weight = np.where(k == 0, 1.0, np.where(2 * k == period[..., None], 1.0, 2.0)) * (k <= last[..., None])
    c_, theta_mean = c[..., None], theta * mean[..., None]
    log_phi = zeros[..., None] * _log_turn(*_tilted(p, q, c_), theta) + ones[..., None] * _log_turn(
        *_tilted(q, p, c_), theta
    )
    turn = np.exp(c_ + 1j * theta)
    parts = weight / (turn - 1.0) / period[..., None] * np.exp(log_phi)
    kernel = (turn - (b / a)[..., None]) * parts
    bracket = (kernel[..., None, :] * np.exp(1j * theta[..., None, :] * threshold[..., :, None])).real.sum(axis=-1)
    ratio = (np.exp(c) + b / a) / np.expm1(c)
    size = np.abs(parts) * (np.exp(c) + b / a)[..., None]  # before turn - b/a cancels
    phases = np.abs(kernel) * (theta_mean + theta * threshold.max(axis=-1)[..., None])
    rounding = 8.0 * UNIT * (size * (8.0 + c_) + phases).sum(axis=-1)
    reach = REACH * spread + 40.0 - np.abs(threshold - mean[..., None]).max(axis=-1)
    bernstein = np.where(others <= reach, 0.0, 2.0 * np.exp(-(reach**2) / (2.0 * (variance + reach / 3.0))))
    error = rounding + ratio * (np.exp(-negligible) + 4.0 * np.exp(-38.0 - c) + bernstein)
    log_mgf = zeros * np.log1p(p * np.expm1(-c)) + ones * np.where(
        c < 0.5, np.log1p(q * np.expm1(-np.minimum(c, 0.5))), np.log(p + q * np.exp(-c))
    )
    log_scale = np.log(p * a)[:, None] + log_mgf[..., None] + c_ * threshold
    drift = UNIT * (8.0 * np.abs(log_mgf)[..., None] + 8.0 * c_ * threshold + 8.0 * mean[..., None] * c_ + 64.0)
    with np.errstate(divide="ignore", under="ignore"):
        upper = np.exp(log_scale + np.log(np.maximum(bracket + error[..., None], 0.0)) + drift)
        lower = np.exp(log_scale + np.log(np.maximum(bracket - error[..., None], 0.0)) - drift)
    return np.minimum(lower.max(axis=-1), 1.0), np.clip(upper.max(axis=-1), np.nextafter(0.0, 1.0), 1.0)


def _tilted(probability: float, complement: float, c: Floats) -> tuple[Floats, Floats]:
    """Bernoulli parameter and its complement under the tilt e^(-c y)."""
    share = probability * np.exp(-c)
    return share / (complement + share), complement / (complement + share)


def _moments(p: float, q: float, zeros: Floats, ones: Floats, c: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of the tilted S."""
    (p1, p0), (q1, q0) = _tilted(p, q, c), _tilted(q, p, c)
    return zeros * p1 + ones * q1, zeros * p1 * p0 + ones * q1 * q0


def _log_turn(one: Floats, zero: Floats, theta: Floats) -> NDArray[np.complex128]:
    """log(zero + one e^(-i theta)) for probabilities zero + one = 1, with relative accuracy near 0
    and near the pole.
    """
    real, imag = -2.0 * one * np.sin(0.5 * theta) ** 2, -one * np.sin(theta)
    square = (zero - one) ** 2 + 4.0 * zero * one * np.cos(0.5 * theta) ** 2
    near = np.log1p(np.maximum(real * (2.0 + real) + imag**2, -0.75))
    size = np.where(square > 0.5, near, np.log(np.maximum(square, 1e-300)))
    return np.asarray(0.5 * size + 1j * np.arctan2(imag, 1.0 + real))
