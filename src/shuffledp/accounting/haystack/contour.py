"""E(G_1 + ... + G_n)_+ for independent, identical, finitely supported G, enclosed at a cost that
does not grow with n.

Write S for the sum and M(s) = E[e^(sS); some position is filled] = phi(s)^n - (1-gamma)^n: an empty
view has S = 0 and adds nothing, and leaving its atom out keeps the accuracy when there is hardly
any hay. For every c > 0 (Laplace inversion of the ramp y_+),

    E S_+ = 1/(2 pi i) * integral over Re s = c of M(s) / s^2 ds.

Four ideas turn this into two certified ends:

1. *Tilt.* c is the saddle point of log M(s) - 2 log s, so that nothing cancels: the relative
   accuracy is the same at delta = 1e-50 as at delta = 0.1, and a handful of nodes carries the
   integral whatever n is.
2. *Smooth.* phi of a law with atoms does not decay along the line. Let Z be a centred normal
   variable of deviation tau. Then y Phi(y/tau) <= y_+ <= E(y + Z)_+ = y Phi(y/tau) + tau
   phi(y/tau), and both sides have transforms with a factor exp(tau^2 s^2 / 2): they are the two
   ends, and they differ by a factor of about 1 + (tau c)^2.
3. *Step.* The trapezoidal rule with step h adds, by Poisson summation, exactly the non-negative
   terms e^(-c m T) E(S + Z + m T)_+ for m = +-1, +-2, ..., T = 2 pi / h. The upper end may keep
   them; the lower end subtracts a Chernoff bound, from y_+ <= e^(a y - 1) / a.
4. *Count every error.* The cut-off, the nodes passed over because |phi|^n is negligible, and
   floating-point rounding (proportional to n times the unit round-off) are added to the ends.

The nodes lie on a grid, so that phi at all of them is one small complex matrix product.

*Counts.* The same, over n, by adding up every possible view: for few users or few classes, where
that is the quickest and the closest.

A view is how many of the n positions hold each class. Its probability is multinomial and its sum of
scores is linear in the counts; logarithms of probabilities cannot underflow, and their rounding
errors are added to the ends view by view.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, log_ndtr

from shuffledp._types import Complexes, Floats
from shuffledp.accounting.accuracy import MANY_POINTS_GAP

UNIT = 2.0**-52
NEGLIGIBLE = 37.0  # nodes with |phi|^n below e^-37 are not summed, only bounded
CUT = 4.5  # the line is cut at CUT / tau, where the smoothing factor is e^(-CUT^2/2)
SHARPEST = 16.0  # tau c never exceeds this times sqrt(gap)
# Hay that misses no more than this of a law is one up to rounding, or may be one.
WHOLE, NEARLY_WHOLE = 16.0 * UNIT, 1e-13
LARGEST_TILT = 690.0  # scores are at most 1, and e to the power of more is no float
SHORT = 256  # sums that may be taken term by term
FEW_CLASSES, MANY, DROPPED = 64, 100, 1e-14  # the last is relative, of the whole integral
CHUNK = 1 << 19  # complex numbers in memory at once
MOST_NODES = 1 << 21


class Ends(NamedTuple):
    """Both ends of E S_+ / n a row each; how far smoothing moved them apart; other errors that more
    care lessens; and the work, in nodes.
    """

    lower: Floats
    upper: Floats
    smoothing: Floats
    error: Floats
    nodes: Floats


def contour_ends(law: PositionLaw, sizes: Floats, gap: float, care: NDArray[np.int64], sharp: Floats) -> Ends:
    """The integral for all rows, in blocks of rows with similar numbers of nodes.

    ``gap`` is the variance of the smoothing relative to that of the sum, and ``sharp`` a factor on
    its deviation. The work grows with 1 / (sharp sqrt(gap)) and not with n. ``sizes`` are the
    magnitudes of what the scores were subtracted from.
    """
    line = _Line.through(law, gap, care, sharp)
    ceiling = line.log_m - 1.0 - np.log(line.c) - np.log(law.n)  # Chernoff: y_+ <= e^(c y - 1) / c
    with np.errstate(under="ignore"):
        crude = 1.01 * np.exp(np.minimum(ceiling + _drift(law, line.c, sizes), 700.0)) + 1e-322
    rough = gap >= MANY_POINTS_GAP
    most = (1 << 22) / law.hay.size if rough else MOST_NODES
    visible = ceiling > -700.0  # else the crude end must do, far below any delta of interest
    # Where nodes are too many all is open, as if smoothed away: another cap may do with fewer.
    worth = visible & (line.count <= most)
    ends = np.stack([np.zeros_like(crude), crude, np.where(visible & (not rough), crude, 0.0), np.zeros_like(crude)])
    order = np.argsort(line.count)[::-1]
    order = order[worth[order]]
    while order.size:
        largest = int(line.count[order[0]])
        rows = max(1, min(CHUNK // (largest + 64), CHUNK // (int(np.sqrt(largest)) * law.hay.size + 1)))
        block, order = order[:rows], order[rows:]
        ends[:, block] = _ramp(law.rows(block), line.rows(block), sizes[block])
    return Ends(ends[0], ends[1], ends[2], ends[3], line.count)


def absences(hay: Floats) -> tuple[float, float]:
    """The probability of an empty position, both ends; none if the hay is a whole law."""
    absent, error = 1.0 - float(hay.sum()), 8.0 * UNIT
    return (0.0, 0.0) if absent <= WHOLE else (absent - error if absent > NEARLY_WHOLE else 0.0, absent + error)


def chernoff(law: PositionLaw) -> Floats:
    """An upper end of E S_+ / n at the cost of one saddle point."""
    c = _saddle(law)
    return np.asarray(1.01 * np.exp(np.minimum(law.log_moment(c)[0] - 1.0 - np.log(c) - np.log(law.n), 700.0)))


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """Where to integrate, a row each: the abscissa c, log M(c), the period T = 2 pi / h, tau, and
    the number of nodes.

    ``alias`` bounds, in units of M(c), what the trapezoidal rule adds: the sum over m of e^(-c m T)
    E(S + Z + m T)_+.
    """

    c: Floats
    log_m: Floats
    period: Floats
    tau: Floats
    count: Floats
    alias: Floats

    @classmethod
    def through(cls, law: PositionLaw, gap: float, care: NDArray[np.int64], sharp: Floats) -> _Line:
        c = _saddle(law)
        log_m, _, curvature = law.log_moment(c)
        width = np.sqrt(curvature + 2.0 / c**2)
        tau = np.sqrt(gap) * np.minimum(width, SHARPEST / c)
        tau = sharp * np.maximum(tau, np.minimum(0.3 / c, CUT * width / MOST_NODES * 2.0))
        # Alias e^-wrap, relative to the usual size of the integral.
        wrap = 8.0 - np.log(gap) + 12.0 * care + 2.0 * np.log(c) + np.log(width)
        left, right = (
            [(np.abs(a - c), cls._chernoff(law, a, tau) - log_m) for a in side] for side in cls._probes(c, width)
        )
        period = np.maximum(
            *(np.min([(size + wrap) / reach for reach, size in side], axis=0) for side in (left, right))
        )
        alias = sum(
            np.min([_geometric(size, reach * period) for reach, size in side], axis=0) for side in (left, right)
        )
        count = np.ceil((CUT + 2.0 * care) / tau * period / (2.0 * np.pi)) + 1.0
        return cls(c, log_m, period, tau, count, np.asarray(alias))

    @staticmethod
    def _probes(c: Floats, width: Floats) -> tuple[list[Floats], list[Floats]]:
        return [c * share for share in (0.02, 0.1, 0.25, 0.5, 0.75)], [
            np.minimum(c + k / width, LARGEST_TILT) for k in (0.25, 1.0, 2.0, 4.0, 6.0, 8.0)
        ]

    @staticmethod
    def _chernoff(law: PositionLaw, a: Floats, tau: Floats) -> Floats:
        """log of a bound on e^(-a t) E(S + Z + t)_+ for all t, from y_+ <= e^(a y - 1) / a."""
        return law.log_moment(a)[0] + 0.5 * (tau * a) ** 2 - 1.0 - np.log(a)

    def rows(self, block: NDArray[np.intp]) -> _Line:
        return _Line(
            self.c[block], self.log_m[block], self.period[block], self.tau[block], self.count[block], self.alias[block]
        )


def _geometric(log_first: Floats, reach: Floats) -> Floats:
    """The sum over m >= 1 of e^(log_first - m reach)."""
    return np.exp(np.minimum(log_first - reach, 700.0)) / -np.expm1(-reach)


def _ramp(law: PositionLaw, line: _Line, sizes: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Both ends of E S_+ / n, their distance by smoothing, and the visible errors."""
    c, tau, step = line.c, line.tau, 2.0 * np.pi / line.period
    log_m = line.log_m
    count = int(line.count.max())
    smooth, distance, total, rounding = _node_sums(law, c, step, tau, count)

    # Rounding of the masses and scores themselves, of log M(c), and of the sums.
    rounding += total * np.expm1(
        np.minimum(_drift(law, c, sizes) + 8.0 * UNIT * np.abs(log_m) + (64.0 + SHORT) * UNIT, 50.0)
    )
    # What lies beyond the last node, where |M| <= M(c), and the nodes passed over.
    edge, blow = (count - 1) * step, np.exp(0.5 * (tau * c) ** 2)
    tail = blow * np.sqrt(2.0 / np.pi) / tau * np.exp(log_ndtr(-edge * tau)) * (1.0 / edge**2 + tau**2)
    skipped = blow * np.exp(-NEGLIGIBLE) * (step / c**2 + 1.0 / c + step * tau**2 + tau)
    error = rounding + tail + skipped

    scale = log_m - np.log(law.n)
    with np.errstate(divide="ignore", under="ignore"):
        upper = np.exp(scale + np.log(smooth + error)) * (1.0 + 8 * UNIT) + 1e-322
        lower = np.exp(scale + np.log(np.maximum(smooth - distance - error - line.alias, 0.0))) * (1.0 - 8 * UNIT)
        visible = np.exp(scale + np.log(tail + skipped + line.alias))
        smoothing = np.exp(scale + np.log(np.maximum(distance, 0.0)))
    return lower, upper, smoothing, visible


def _drift(law: PositionLaw, c: Floats, sizes: Floats) -> Floats:
    """How far log M(c) may be off by the rounding of masses and scores; where phi is small, so is
    the mass of an empty position.
    """
    log_phi = law.log_phi(c)
    phi = np.exp(log_phi)
    exponent = c[:, None] * law.g
    filled = -np.expm1(-law.n * law.log_fill(c))
    moved = np.minimum(np.abs(np.expm1(exponent)) @ law.hay / phi, 1.0)
    drift = 8.0 * UNIT * law.n * ((np.exp(exponent) * sizes) @ law.hay * c / phi / filled + moved)
    return np.asarray(drift + law.n * np.where(phi <= 0.51, law.doubt / phi, 0.0))


class PositionLaw:
    """The law of S for several rows of scores at once, without the atom of an empty view; every
    position holds score g[:, i] with probability hay[i].
    """

    def __init__(self, n: int, hay: Floats, g: Floats) -> None:
        self.n, self.hay, self.g, self.log_hay = n, hay, g, np.log(hay)
        gamma = float(hay.sum())
        self.absent = 1.0 - gamma if gamma < 1.0 - NEARLY_WHOLE else 0.0
        self.doubt = 8.0 * UNIT if self.absent else absences(hay)[1]
        self.log_absent = np.log1p(-gamma) if self.absent else -np.inf

    def rows(self, block: NDArray[np.intp]) -> PositionLaw:
        return PositionLaw(self.n, self.hay, self.g[block])

    def log_phi(self, c: Floats) -> Floats:
        """log E e^(cG), accurate near 0 and far below."""
        exponent = c[:, None] * self.g
        excess = np.expm1(exponent) @ self.hay
        far = excess <= -0.5
        value = np.log1p(np.where(far, 0.0, excess))
        if far.any():
            value[far] = np.log(np.exp(exponent[far]) @ self.hay + self.absent)
        return value

    def tilted(self, c: Floats, log_phi: Floats) -> Floats:
        """The probabilities of the classes under the tilt e^(cG); a mass may be as small, and the
        power as large, as a float can be.
        """
        return np.exp(c[:, None] * self.g + self.log_hay - log_phi[:, None])

    def log_fill(self, c: Floats) -> Floats:
        """log of phi(c) / (1 - gamma): 1 - exp(-n log_fill) of the tilted mass is not empty."""
        if self.absent == 0.0:
            return np.full_like(c, np.inf)
        return np.log1p(np.exp(c[:, None] * self.g) @ self.hay / self.absent)

    def log_moment(self, c: Floats) -> tuple[Floats, Floats, Floats]:
        """log M and its first two derivatives at real points c, one a row."""
        n = self.n
        log_phi = self.log_phi(c)
        tilted = self.tilted(c, log_phi)
        mean = np.einsum("ij,ij->i", tilted, self.g)
        variance = np.maximum(np.einsum("ij,ij,ij->i", tilted, self.g, self.g) - mean**2, 0.0)
        if self.absent == 0.0:
            return n * log_phi, n * mean, n * variance
        fill = n * self.log_fill(c)
        filled = -np.expm1(-fill)
        few = n * self.log_absent + np.log(np.expm1(np.minimum(fill, 1.0)))
        slope = n * mean / filled
        curvature = n * variance / filled - slope**2 * np.exp(-fill)
        return np.where(fill < 1.0, few, n * log_phi + np.log(filled)), slope, np.maximum(curvature, 0.0)


def _saddle(law: PositionLaw) -> Floats:
    """Near the minimum of log M(c) - 2 log c; any c > 0 is valid, a good one is close."""
    top = law.g.max(axis=1)
    mean, variance = law.n * (law.g @ law.hay), law.n * (law.g**2 @ law.hay)
    # (log M)' is at most n max G / P(not empty).
    low, high = 2.0 / (law.n * top), np.minimum(600.0 / top, 0.9 * LARGEST_TILT)
    c = np.clip((-mean + np.sqrt(mean**2 + 8.0 * variance)) / (2.0 * variance), low, high)
    low = low / (1.0 + 1e6)
    for attempt in range(90):
        _, slope, curvature = law.log_moment(c)
        slope, curvature = slope - 2.0 / c, curvature + 2.0 / c**2
        if np.all((np.abs(slope) <= 0.1 * np.sqrt(curvature)) | (high < 1.001 * low)):
            break
        low, high = np.where(slope < 0.0, c, low), np.where(slope < 0.0, high, c)
        newton = c - slope / curvature
        c = np.where((newton > low) & (newton < high) & (attempt % 3 < 2), newton, np.sqrt(low * high))
    return c


def _node_sums(
    law: PositionLaw, c: Floats, step: Floats, tau: Floats, count: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """Trapezoidal sums in units of M(c): upper end, gap to the lower, sizes, rounding."""
    n, g = law.n, law.g
    outer = int(np.ceil(np.sqrt(count)))
    inner = -(-count // outer)
    log_phi = law.log_phi(c)
    tilted = law.tilted(c, log_phi)
    fill = n * law.log_fill(c)  # e^-fill is the share of the empty view
    rare = fill < NEGLIGIBLE
    dropped = 0.0
    if (
        law.hay.size > FEW_CLASSES and n >= MANY and not rare.any()
    ):  # classes that together move phi by less than rounding does
        largest = tilted.max(axis=0)
        order = np.argsort(largest)
        shares = np.cumsum(largest[order])
        keep = np.sort(order[shares > DROPPED / n])
        dropped = float(shares[law.hay.size - keep.size - 1]) if keep.size < law.hay.size else 0.0
        tilted, g = tilted[:, keep], g[:, keep]
    # phi / phi(c) - 1 = sum of tilted (e^(i theta g) - 1), with e^(a+b) - 1 = AB + A + B for A =
    # e^a - 1 and B = e^b - 1.
    turn = step[:, None, None] * g[:, None, :]
    fine = turned(turn * np.arange(inner)[None, :, None])
    coarse = turned(turn * (inner * np.arange(outer))[None, :, None])
    shift = (coarse * tilted[:, None, :]) @ fine.transpose(0, 2, 1)
    shift += (coarse @ tilted[:, :, None]) + (fine @ tilted[:, :, None]).transpose(0, 2, 1)
    shift = shift.reshape(c.size, outer * inner)

    row, node = np.nonzero(((1.0 + shift.real) ** 2 + shift.imag**2 > np.exp(-2.0 * NEGLIGIBLE / n)) | rare[:, None])
    theta, moved = node * step[row], shift[row, node]
    power = np.exp(n * complex_log1p(moved))
    few = np.flatnonzero(rare[row])
    if few.size:
        at = row[few]
        absent = law.absent * np.exp(-log_phi[at])
        power[few] = _expm1(n * complex_log1p((moved[few] + tilted.sum(axis=1)[at]) / absent)) / np.expm1(fill[at])
    blur = 8.0 * theta * (tilted * np.abs(g)).sum(axis=1)[row] + 8.0 * np.abs(moved) + 8.0 / n + 4.0 * dropped / UNIT
    blur /= -np.expm1(-fill)[row]  # relative to what is not empty
    s = c[row] + 1j * theta
    kernel = step[row] / np.pi * np.where(node == 0, 0.5, 1.0) * np.exp(0.5 * (tau[row] * s) ** 2) * power
    size = np.abs(kernel) * (1.0 / np.abs(s) ** 2 + tau[row] ** 2)
    columns = (
        (kernel / s**2).real,
        (kernel * tau[row] ** 2).real,
        size,
        size * np.expm1(np.minimum(n * UNIT * blur, 50.0)),
    )
    smooth, distance, total, rounding = (_row_sums(row, column, c.size) for column in columns)
    return smooth, distance, total, rounding


def _row_sums(row: NDArray[np.intp], column: Floats, rows: int) -> Floats:
    """Sums over ascending row numbers: one after the other if they are short, else in pairs, whose
    rounding does not grow with their number.
    """
    lengths = np.bincount(row, minlength=rows)
    if lengths.max(initial=0) <= SHORT:
        return np.bincount(row, weights=column, minlength=rows).astype(np.float64)
    return np.array([part.sum() for part in np.split(column, np.cumsum(lengths)[:-1])])


def turned(angle: Floats) -> Complexes:
    """e^(i angle) - 1, with relative accuracy for small angles.

    With t = tan(angle / 2) it is 2t (i - t) / (1 + t^2): one tangent is up to thirty times as fast
    as two sines, and a relative error in t moves the value by no larger one.
    """
    half = np.tan(0.5 * angle)
    values = np.empty(angle.shape, dtype=np.complex128)
    np.divide(2.0 * half, 1.0 + half * half, out=values.imag)
    np.multiply(values.imag, -half, out=values.real)
    return values


def complex_log1p(z: Complexes) -> Complexes:
    """log(1 + z) with relative accuracy for small z (NumPy's forms 1 + z)."""
    square = z.real * (2.0 + z.real) + z.imag**2  # |1 + z|^2 - 1, which says little where 1 + z is nearly 0
    size = 0.5 * np.log1p(np.maximum(square, -0.5))
    small = square < -0.5
    size[small] = np.log(np.maximum(np.abs(1.0 + z[small]), 1e-300))
    return size + 1j * np.arctan2(z.imag, 1.0 + z.real)


def _expm1(z: Complexes) -> Complexes:
    """e^z - 1 with relative accuracy for small z."""
    real = np.expm1(z.real) * np.cos(z.imag) - 2.0 * np.sin(0.5 * z.imag) ** 2
    return real + 1j * np.exp(z.real) * np.sin(z.imag)


LEAST, LEAST_NORMAL = 5e-324, 2.3e-308


def views(n: int, classes: int) -> float:
    """How many views there are of n positions and some classes; infinite if far too many."""
    return math.comb(n + classes, classes) if min(n, classes) <= 32 else math.inf


def count_bounds(n: int, hay: Floats, low: Floats, high: Floats, unit: Floats) -> tuple[Floats, Floats]:
    """Both ends, a row each, for scores between the rows of ``low`` and ``high``, which are finite
    and in units of ``unit``.

    The unit belongs in the logarithms: a probability too small for a float may carry a score that
    is too large for one.
    """
    counts, log_ways = _counts(n, hay.size)
    log_unit = np.log(unit)
    ends = []
    for scores, sign, absent in zip((low, high), (-1.0, 1.0), absences(hay), strict=True):
        log_masses = np.log(np.append(hay, absent if absent > 0.0 else 1.0))
        possible = slice(None) if absent > 0.0 else counts[:, -1] == 0.0
        held, ways = counts[possible], log_ways[possible]
        size = held @ np.abs(log_masses) + 3.0 * gammaln(n + 1.0) + 1.0  # ways is a difference of such logarithms
        chance = ways + held @ log_masses + sign * 8.0 * UNIT * (size + hay.size + n)
        value = held[:, :-1] @ scores.T
        value += sign * UNIT * (hay.size + 2) * (held[:, :-1] @ np.abs(scores).T)
        with np.errstate(divide="ignore", under="ignore"):
            log_value = np.log(np.maximum(value, 0.0))
            log_value += log_unit + sign * 2.0 * UNIT * (
                np.abs(np.where(value > 0.0, log_value, 0.0)) + np.abs(log_unit)
            )
            terms = np.exp(chance[:, None] + log_value)
        ends.append(
            np.ascontiguousarray(terms.T).sum(axis=1) / n * (1.0 + sign * 8.0 * UNIT * (64.0 + np.log2(len(held))))
        )
    lost = np.any(terms < LEAST_NORMAL, axis=0) * len(terms) * LEAST  # rounding of what is hardly a float, or none
    return np.maximum(ends[0] - lost, 0.0), ends[1] + lost + LEAST


@lru_cache(maxsize=4)
def _counts(n: int, classes: int) -> tuple[Floats, Floats]:
    """Every view (rows) as counts of its classes and, in the last column, of empty positions; and
    the log of the number of its arrangements.
    """
    bars = np.array(list(combinations(range(n + classes), classes)), dtype=np.int64).reshape(-1, classes)
    edges = np.concatenate([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), n + classes)], axis=1)
    counts: NDArray[np.float64] = np.diff(edges, axis=1).astype(np.float64) - 1.0
    return counts, np.asarray(gammaln(n + 1.0) - gammaln(counts + 1.0).sum(axis=1))
