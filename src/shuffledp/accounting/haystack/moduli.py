"""E(G_* + G_2 + ... + G_n)_+ at most, for independent G of several kinds in any composition, at a
cost that does not grow with n.

Slot 1 has a law of its own, phi_*(s) = E e^(s G_*); each of the n - 1 others is of some kind v. For
every c > 0 and every normal Z of deviation tau, with s = c + iy (``contour`` has the formula),

    E S_+ <= E(S + Z)_+ = 1/(2 pi) integral phi_*(s) prod phi_i(s) e^(tau^2 s^2 / 2) / s^2 dy.

1. *Step.* The trapezoidal rule with step h adds, by Poisson summation, exactly the non-negative
   terms e^(-c m T) E(S + Z + m T)_+ for m = +-1, +-2, ..., T = 2 pi / h: it is above the integral,
   whatever the composition and however large the step.
2. *Moduli, then Hoelder's inequality.* The sum over the nodes grows if the factors of its terms are
   replaced by their moduli, and a sum of products of n - 1 factors is at most the largest sum of an
   (n-1)-th power. So whatever the composition, the largest over v of

       I_v = h/(2 pi) sum of |phi_*(s)| |phi_v(s)|^(n-1) e^(tau^2 (c^2 - y^2) / 2) / |s|^2

   over the nodes y = 0, +-h, +-2h, ... bounds E S_+, if c, tau and h are the same for all kinds. At
   the saddle point the phases of the product and of 1 / s^2 cancel to first order: moduli cost 0.3
   % of the value at delta = 1e-6, 1 % at epsilon = 0. They are taken of the sum and not of the
   integral: of an integral of moduli the trapezoidal rule need not be an upper bound.
3. *Tilt and smooth.* c is where the largest I_v is about least, so that nothing cancels; tau makes
   the line short. Both are explained in ``contour``.
4. *Cut.* No factor is larger than at y = 0, and e^(-tau^2 y^2 / 2) / y^2 falls: the nodes beyond Y
   add at most M(c) e^(tau^2 (c^2 - Y^2) / 2) / (pi tau^2 Y^3), M(c) = phi_*(c) phi_v(c)^(n-1).
5. *Rounding.* Masses and scores are taken as the exact numbers that the floats are
   (``clone_swap`` rounds them so that the value can only grow). The rounding of log phi(c), and
   of r^2 = |phi(s) / phi(c)|^2 at every node before it is raised to its power, is added; both are
   multiplied by n.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx

from shuffledp._types import Complexes, Floats
from shuffledp.accounting.haystack.contour import LARGEST_TILT, UNIT, turned

CUT = 4.0  # the line is cut at CUT / tau, where the smoothing factor is e^(-CUT^2/2)
WRAP = 9.0  # what the step adds is about e^-WRAP of the value
CHUNK = 1 << 18  # complex numbers in memory at once
MOST_NODES = 1 << 13
NEAR_AND_FAR = (3.0, 10.0)  # tails that are nearer or farther, in deviations of the sum, count as these
STEPS = 60  # of the search for the saddle point
NEAR = 0.03  # of the width of the saddle: closer is not worth a step


class SlotSums(NamedTuple):
    """Rows of situations: in each, ``hay[:, v, i]`` is the mass of class i in a slot of kind v and
    ``score[:, v, i]`` its score, at most 1; what is missing of the mass is an empty slot, of score
    0. The last kind is slot 1, which occurs once; the others share the n - 1 remaining slots.
    """

    n: int
    hay: Floats
    score: Floats

    def rows(self, block: NDArray[np.intp]) -> SlotSums:
        return SlotSums(self.n, self.hay[block], self.score[block])

    def log_phi(self, c: Floats) -> Floats:
        """log E e^(cG), a row and a column per kind; accurate near 0, else from above."""
        exponent = c[:, None, None] * self.score
        excess = (np.expm1(exponent) * self.hay).sum(axis=2)
        far = excess <= -0.5
        value = np.log1p(np.where(far, 0.0, excess))
        if far.any():
            absent = np.maximum(1.0 - self.hay.sum(axis=2), 0.0) + self.hay.shape[2] * UNIT
            value[far] = np.log((np.exp(exponent) * self.hay).sum(axis=2)[far] + absent[far])
        return value

    def tilted(self, c: Floats, log_phi: Floats) -> Floats:
        """The probabilities of the classes under the tilt e^(cG)."""
        with np.errstate(divide="ignore"):
            return np.exp(c[:, None, None] * self.score + np.log(self.hay) - log_phi[:, :, None])

    def log_moments(self, c: Floats) -> tuple[Floats, Floats, Floats]:
        """log M(c) of every kind and its first two derivatives."""
        log_phi = self.log_phi(c)
        tilted = self.tilted(c, log_phi)
        mean = (tilted * self.score).sum(axis=2)
        variance = np.maximum((tilted * self.score**2).sum(axis=2) - mean**2, 0.0)
        return self.joined(log_phi), self.joined(mean), self.joined(variance)

    def joined(self, columns: Floats) -> Floats:
        """Added up over n slots, n - 1 of them of one kind."""
        return (self.n - 1.0) * columns[:, :-1] + columns[:, -1:]

    def drift(self, c: Floats, log_phi: Floats) -> Floats:
        """How far log M(c) may be off by rounding."""
        exponent = c[:, None, None] * self.score
        classes = self.hay.shape[2]
        weight = np.exp(exponent - log_phi[:, :, None]) * self.hay
        moved = np.abs(np.expm1(exponent)) * np.exp(-log_phi)[:, :, None] * self.hay
        per_slot = (2.0 * np.abs(exponent) * weight + (8.0 + classes) * np.minimum(moved, 2.0 + weight)).sum(axis=2)
        return UNIT * (self.joined(per_slot) + 8.0 * np.abs(self.joined(log_phi)) + 8.0)


def moduli_integral(sums: SlotSums, blur: float) -> Floats:
    """log of a bound on E S_+, a row each, whatever the composition of the n - 1 slots.

    ``blur`` is about tau in deviations of the sum. Smoothing adds the square of tau c, halved,
    relatively: in the far tail, where epsilon hardly depends on it, that may be more.
    """
    c, curvature = _saddle(sums)
    smoothing = blur * np.clip(c * np.sqrt(curvature.max(axis=1)), *NEAR_AND_FAR)
    # The alias at T is about e^(-cT + c^2 curvature / 2) from the factor 1/|s|^2, e^(-T^2 / (2
    # curvature)) from the sum.
    spread = np.minimum(curvature.max(axis=1), 4.0 * (WRAP / c) ** 2)
    period = np.maximum(WRAP / c + 0.5 * c * spread, np.sqrt(2.0 * WRAP * spread))
    period = np.minimum(period, 64.0 * WRAP / c)
    count = np.minimum(np.ceil(CUT / smoothing * c * period / (2.0 * np.pi)), MOST_NODES)
    values = np.empty_like(c)
    order = np.argsort(count)
    width = sums.hay.shape[1]
    while order.size:
        largest = int(count[order[-1]])
        rows = max(1, CHUNK // (largest * width))
        block, order = order[-rows:], order[:-rows]
        values[block] = _line(sums.rows(block), c[block], period[block], smoothing[block], largest)
    return values


def chernoff_bound(sums: SlotSums) -> Floats:
    """log of a bound on E S_+ at the cost of one saddle point, from y_+ <= e^(c y - 1) / c."""
    c, _ = _saddle(sums)
    log_phi = sums.log_phi(c)
    return np.asarray((sums.joined(log_phi) + sums.drift(c, log_phi)).max(axis=1) - 1.0 - np.log(c) + 1e-12)


def _saddle(sums: SlotSums) -> tuple[Floats, Floats]:
    """Near the c whose largest integral is least, with the curvatures of log M; any c > 0 gives a
    valid bound, a good one gives a close bound.

    If |M| falls as that of a normal variable of the curvature's deviation d does, the integral is
    M(c) / (2c) e^(t^2) erfc(t), t = c d / sqrt 2. Its slope changes its sign once, from below, so
    every kind has one minimum, and so has their maximum: the slope of the largest says on which
    side it is.
    """
    n = sums.n
    mean = n * (sums.score * sums.hay).sum(axis=2)[:, :-1].max(axis=1)
    variance = n * (sums.score**2 * sums.hay).sum(axis=2)[:, :-1].max(axis=1) + 1e-300
    low = np.full(len(sums.hay), 0.5 / n)
    high = np.full(len(sums.hay), 0.9 * LARGEST_TILT)
    c = np.clip((-mean + np.sqrt(mean**2 + 8.0 * variance)) / (2.0 * variance), low, high)
    row = np.arange(c.size)
    for attempt in range(STEPS):
        log_m, slopes, curvatures = sums.log_moments(c)
        largest = log_m.argmax(axis=1)
        slope, curvature = slopes[row, largest], curvatures[row, largest]
        t = c * np.sqrt(0.5 * curvature)
        power = 1.0 + np.clip(2.0 * t * (1.0 / (np.sqrt(np.pi) * erfcx(t)) - t), 0.0, 1.0)
        slope, curvature = slope - power / c, curvature + power / c**2
        if np.all((np.abs(slope) <= NEAR * np.sqrt(curvature)) | (high < 1.002 * low)):
            break
        low, high = np.where(slope < 0.0, c, low), np.where(slope < 0.0, high, c)
        newton = c - slope / curvature
        c = np.where((newton > low) & (newton < high) & (attempt % 3 < 2), newton, np.sqrt(low * high))
    return c, sums.log_moments(c)[2]


def _line(sums: SlotSums, c: Floats, period: Floats, smoothing: Floats, count: int) -> Floats:
    """log of the largest kind's sum, on nodes 0, h, ..., count h."""
    step, tau = 2.0 * np.pi / period, smoothing / c
    y = step[:, None] * np.arange(count + 1)
    weights = np.exp(-0.5 * (tau[:, None] * y) ** 2) / (1.0 + (y / c[:, None]) ** 2) * (step / np.pi)[:, None]
    weights[:, 0] *= 0.5
    edge = step * count
    tail = np.exp(-0.5 * (tau * edge) ** 2) / (np.pi * tau**2 * edge) * (c / edge) ** 2

    # Where |phi| = phi(c) at every node, a kind's sum is at its largest: most kinds are ruled out
    # by that.
    log_phi = sums.log_phi(c)
    log_m = sums.joined(log_phi) + sums.drift(c, log_phi)
    largest = np.bincount(log_m.argmax(axis=1), minlength=log_m.shape[1]) > 0
    sizes = np.repeat((weights.sum(axis=1) + tail)[:, None], log_m.shape[1], axis=1)
    sizes[:, largest] = _sizes(sums, c, step, log_phi, weights, tail, largest)
    log_value = log_m + np.log(sizes)
    rest = ~largest & np.any(log_value > log_value[:, largest].max(axis=1, keepdims=True), axis=0)
    if rest.any():
        sizes[:, rest] = _sizes(sums, c, step, log_phi, weights, tail, rest)
        log_value = log_m + np.log(sizes)
    return np.asarray(log_value.max(axis=1) + 0.5 * smoothing**2 - 2.0 * np.log(c) + 1e-10)


def _sizes(
    sums: SlotSums, c: Floats, step: Floats, log_phi: Floats, weights: Floats, tail: Floats, chosen: NDArray[np.bool_]
) -> Floats:
    """The sums of some kinds, in units of M(c) e^((tau c)^2 / 2) / c^2."""
    kept = np.append(np.flatnonzero(chosen), len(chosen))
    some = SlotSums(sums.n, sums.hay[:, kept], sums.score[:, kept])
    moved, error = _moved(some, c, step, some.tilted(c, log_phi[:, kept]), weights.shape[1] - 1)
    # r^2 - 1, from above, at most 0.
    change = np.minimum(2.0 * moved.real + moved.real**2 + moved.imag**2 + error, 0.0)
    log_r = 0.5 * np.log1p(np.maximum(change, UNIT - 1.0))
    with np.errstate(under="ignore"):
        powers = np.exp((sums.n - 1.0) * log_r[:, :-1] + log_r[:, -1:])
    return np.asarray((powers * weights[:, None, :]).sum(axis=2) + tail[:, None])


def _moved(sums: SlotSums, c: Floats, step: Floats, tilted: Floats, count: int) -> tuple[Complexes, Floats]:
    """phi(s) / phi(c) - 1 at the nodes, and how far rounding may have moved r^2."""
    rows, kinds, classes = tilted.shape
    outer = int(np.ceil(np.sqrt(count + 1.0)))
    inner = -(-(count + 1) // outer)
    # The sum of tilted (e^(iyg) - 1), with e^(a+b) - 1 = AB + A + B for A = e^a - 1 and B = e^b -
    # 1.
    turn = (step[:, None, None] * sums.score)[:, :, None, :]
    fine = turned(turn * np.arange(inner)[:, None])
    coarse = turned(turn * (inner * np.arange(outer))[:, None])
    weight = tilted[:, :, :, None]
    moved = (coarse * tilted[:, :, None, :]) @ fine.swapaxes(2, 3)
    moved += (coarse @ weight) + (fine @ weight).swapaxes(2, 3)
    moved = moved.reshape(rows, kinds, outer * inner)[:, :, : count + 1]
    # |e^(iyg) - 1| <= y |g|, and the angle, the tilted mass and the sum are off by a few units
    # each, an exponent by as many as it is large.
    slack = tilted * np.abs(sums.score) * (24.0 + 2.0 * classes + 3.0 * np.abs(c[:, None, None] * sums.score))
    y = step[:, None] * np.arange(count + 1)
    size = np.abs(moved)
    error = 4.0 * UNIT * (slack.sum(axis=2)[:, :, None] * y[:, None, :] + size) * (1.0 + size)
    return moved, error
