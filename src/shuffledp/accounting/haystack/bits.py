"""How often a bit was set: one user's bit on top of everybody else's, for any two chances of a 1,
in one dataset and in all of them, of unary encoding and of binary randomized response.

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

A dataset is which others hold the value. ``BitDataset`` and ``BinaryDataset`` are one of them;
``BitScan`` and ``BinaryScan`` bound all of them.

For binary randomized response the view is the number of ones: those who hold 1 send it with
probability e^eps0 / (e^eps0 + 1), and the others with probability 1 / (e^eps0 + 1). The target's
inputs are 0 and 1, in this order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import End, Floats, Integers
from shuffledp.accounting.accuracy import DEFAULT_GAP, FINE_GAP, ROUGH_GAP
from shuffledp.randomizers.unary import BitLaw

UNIT = 2.0**-52
REACH = 12.0  # deviations of S inside the period
CHUNK = 1 << 21
ALIKE = 1.4  # variances within a factor e^ALIKE are alike


def bit_bounds(law: BitLaw, holders: Integers, others: Integers, epsilons: Floats) -> tuple[Floats, Floats]:
    """Both ends per dataset (row) and epsilon; held by the target in the second world."""
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
    """Both ends, for datasets (rows) whose S has about this standard deviation, or less."""
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
    """log(zero + one e^(-i theta)), zero + one = 1, accurate near 0 and near the pole."""
    half = np.sin(0.5 * theta) ** 2
    square = (zero - one) ** 2 + 4.0 * zero * one * np.cos(0.5 * theta) ** 2
    near = np.log1p(np.maximum(-4.0 * zero * one * half, -0.75))
    size = np.where(square > 0.5, near, np.log(np.maximum(square, 1e-300)))
    return np.asarray(0.5 * size + 1j * np.arctan2(-one * np.sin(theta), 1.0 - 2.0 * one * half))


MOST_PARTS = 16  # in which one block is divided at a time
MOST_BLOCKS = 300  # in all
SAMPLED = 16  # datasets tried for the lower end each time
NOTHING = 1e-25  # no smaller delta is looked at more closely
CLOSE, WIDE = 4e-4, 4e-3  # the relative width of epsilon: for answers, and for searches


@dataclass(frozen=True, slots=True)
class BitDataset:
    """Besides the target, ``holders`` hold the bit's value and ``others`` do not; the target holds
    it in the ``first`` world, or else in the second.
    """

    law: BitLaw
    holders: int
    others: int
    first: bool

    @property
    def name(self) -> str:
        return f"{self.holders} of the others hold the value"

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        holders, others = np.array([self.holders]), np.array([self.others])
        lower, upper = (_ends(self.law, holders, others, self.first, epsilons, end)[0] for end in ("lower", "upper"))
        return lower, upper

    def mirrored(self) -> BitDataset:
        """The same where 0 and 1 are treated alike, in the form that all such share."""
        if not self.first or self.law != self.law.flipped():
            return self
        return BitDataset(self.law, self.others, self.holders, False)

    def swapped(self) -> BitDataset:
        return replace(self, first=not self.first)


@dataclass(frozen=True, slots=True)
class BitScan:
    """All datasets at once in which ``least`` to ``most`` of the n - 1 others hold the value.

    Removing a user from the view only helps the adversary, so with h in [h0, h0 + d) holders the
    dataset is dominated by the one with h0 holders among n - d others. Blocks that may leak most
    are divided until the ends are close, or there are too many of them.
    """

    law: BitLaw
    n: int
    least: int
    most: int
    first: bool

    @property
    def name(self) -> str:
        return f"{self.least} to {self.most} of the others hold the value"

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """The lower end is attained by a dataset, the upper end holds for every dataset."""
        width = WIDE if gap >= ROUGH_GAP else CLOSE
        start, stop = _divided(np.array([self.least]), np.array([self.most + 1]), np.array([MOST_PARTS]))
        lower, upper = np.zeros(epsilons.size), np.zeros(epsilons.size)
        worst, left = np.full(epsilons.size, self.least), MOST_BLOCKS
        while start.size:
            some = start[:: max(1, start.size // SAMPLED)]
            lower = np.maximum(lower, self._attained(np.append(some, stop[-1] - 1), epsilons))
            above = _ends(self.law, start, self.n - stop, self.first, epsilons, "upper")
            parts = self._parts(above, lower, width)
            parts = np.minimum(parts, stop - start)
            worst_first = np.argsort(-parts, kind="stable")
            parts[worst_first] = np.where(np.cumsum(parts[worst_first]) <= left, parts[worst_first], 1)
            divided = parts > 1
            left -= int(parts[divided].sum())
            for begin, row in zip(start[~divided], above[~divided], strict=True):
                worst = np.where(row > upper, begin, worst)
                upper = np.maximum(upper, row)
            start, stop = _divided(start[divided], stop[divided], parts[divided])
        return np.maximum(lower, self._attained(np.unique(worst), epsilons)), upper

    def _parts(self, above: Floats, lower: Floats, width: float) -> Integers:
        """In how many parts each block should be divided. From its largest value delta falls as
        e^(-z^2/2) where epsilon grows as z, so that a share of delta is a smaller one of epsilon.
        """
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            excess = np.log(above / lower) / (width * (1.0 + 2.0 * np.log(lower.max() / lower)))
        excess = np.where(lower > NOTHING, excess, np.where(above > NOTHING, MOST_PARTS, 0.0))
        parts: Integers = np.ceil(np.clip(excess.max(axis=1, initial=0.0), 1.0, MOST_PARTS)).astype(np.int64)
        return parts

    def _attained(self, holders: Integers, epsilons: Floats) -> Floats:
        ends = _ends(self.law, holders, self.n - 1 - holders, self.first, epsilons, "lower")
        return np.asarray(ends.max(axis=0))

    def mirrored(self) -> BitScan:
        """The same where 0 and 1 are treated alike, in the form that all such share."""
        if not self.first or self.law != self.law.flipped():
            return self
        return BitScan(self.law, self.n, self.n - 1 - self.most, self.n - 1 - self.least, False)

    def swapped(self) -> BitScan:
        return replace(self, first=not self.first)


def _ends(law: BitLaw, holders: Integers, others: Integers, first: bool, epsilons: Floats, end: End) -> Floats:
    if first:  # exchange 0 and 1 in all bits
        return bit_deltas(law.flipped(), others, holders, epsilons, end)
    return bit_deltas(law, holders, others, epsilons, end)


def _divided(start: Integers, stop: Integers, parts: Integers) -> tuple[Integers, Integers]:
    """Each block of [start, stop) in so many parts of about the same length, without empty ones."""
    which = np.repeat(np.arange(start.size), parts)
    place = np.arange(which.size) - np.repeat(np.cumsum(parts) - parts, parts)
    length, shares = (stop - start)[which], parts[which]
    first, last = start[which] + length * place // shares, start[which] + length * (place + 1) // shares
    kept = last > first
    return first[kept], last[kept]


# Blocks, and datasets tried for the lower end: for close answers, and for curves of many points.
FINE, COARSE = (512, 64), (96, 8)


@dataclass(frozen=True, slots=True)
class BinaryDataset:
    """The target's inputs are 0 and 1; of the others, ``zeros`` hold 0 and ``ones`` hold 1."""

    epsilon0: float
    zeros: int
    ones: int

    @property
    def name(self) -> str:
        return f"of the others, {self.zeros} hold 0 and {self.ones} hold 1"

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        lower, upper = bit_bounds(
            BitLaw.symmetric(self.epsilon0), np.array([self.ones]), np.array([self.zeros]), epsilons
        )
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
        law = BitLaw.symmetric(self.epsilon0)
        lower, _ = bit_bounds(law, ones, self.n - 1 - ones, epsilons)
        _, upper = bit_bounds(law, first, np.maximum(self.n - length - first, 0), epsilons)
        return lower.max(axis=0), upper.max(axis=0)

    def worst(self, epsilon: float) -> BinaryDataset:
        ones = self._tries(FINE[1])
        lower, _ = bit_bounds(BitLaw.symmetric(self.epsilon0), ones, self.n - 1 - ones, np.array([epsilon]))
        most = int(ones[lower[:, 0].argmax()])
        return BinaryDataset(self.epsilon0, self.n - 1 - most, most)

    def swapped(self) -> BinaryScan:
        """The same: both orders are covered."""
        return self

    def _tries(self, count: int) -> Integers:
        return np.unique(np.linspace(0, self.n - 1, min(count, self.n)).astype(np.int64))
