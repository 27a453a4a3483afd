"""Sums of independent positions that are not alike, by contours of a product of powers.

Groups of positions share one law of scores, and each position of group g holds an item with
probability q_g. With phi(s) the transform of one item's score, the transform of the sum is

    M(s) = product over groups of (1 + q_g (e^-t phi(s) - 1))^(n_g),

where t counts the items: M(s) = E[e^(-t items) e^(s sum)]. The rest is as in ``contour``: a tilt to
the saddle point, normal smoothing, the trapezoidal rule, whose aliases are exact terms of known
size, and every rounding counted. Two functionals are evaluated.

*ramp_ends*: E[weight(items) (sum)_+] with one item more than the positions hold, where weight is a
positive combination of e^(-t items).

*advantage*: what an explicit test gains. The target's report y moves the sum by t(y) and counts
w(y) = mu_0(y) - e^eps mu_1(y); the test says "0" with probability Phi(sum / tau). Every test is a
lower end, so that smoothing costs a little sharpness and nothing has to be proven about it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from shuffledp._types import Complexes, Floats
from shuffledp.accounting.haystack.contour import CUT, NEGLIGIBLE, UNIT, complex_log1p, turned
from shuffledp.accounting.inversion import geometric, halve, within

FAR = 9.0  # where the line of a test is cut, in units of 1 / tau: 1 / s falls more slowly than 1 / s^2
MOST_NODES, MOST_WORK = 1 << 15, 1 << 20  # nodes of the line, and nodes times powers
SHARPEST = 16.0  # tau c never exceeds this times sqrt(gap)
UNSEEN = 1e-18  # shares of the transform below are bounded, not computed
LEFT, RIGHT = (0.02, 0.1, 0.25, 0.5, 0.75), (0.25, 1.0, 2.0, 4.0, 6.0, 8.0)
BLUNT = 30.0  # with tau c above, too few nodes smooth everything away
LARGEST_TILT, STEEPEST = 600.0, 1e6  # of scores above 0, and of scores that are all below
NEVER = np.zeros(1)  # thinning by e^0


@dataclass(frozen=True, slots=True, eq=False)
class ThinnedScores:
    """``count[g]`` positions that hold an item with probability ``keep[g]`` each; an item's score
    is ``score[i]`` with probability ``mass[i]``.

    ``sizes`` are the magnitudes that the scores were subtracted from, for their rounding.
    """

    mass: Floats
    score: Floats
    sizes: Floats
    keep: Floats
    count: Floats

    def excess(self, a: float) -> float:
        """phi(a) - 1."""
        return float(self.mass @ np.expm1(a * self.score))

    def tilted(self, a: float) -> Floats:
        """The law of a score under the tilt e^(a score)."""
        power = a * self.score + np.log(self.mass)
        return np.asarray(np.exp(power - log_sum(power)))

    def log_powers(self, a: float, t: Floats = NEVER) -> Floats:
        """log M(a) for every t."""
        return np.asarray(np.log1p(np.multiply.outer(self._moved(a, t), self.keep)) @ self.count)

    def held(self, a: float, t: Floats = NEVER) -> Floats:
        """The probability that a position holds an item under the tilt, for every t and group."""
        moved = self._moved(a, t)
        return np.multiply.outer(moved + 1.0, self.keep) / (1.0 + np.multiply.outer(moved, self.keep))

    def moments(self, a: float) -> tuple[float, float]:
        """Mean and variance of the tilted sum."""
        tilted, (held,) = self.tilted(a), self.held(a)
        mean, square = float(tilted @ self.score), float(tilted @ self.score**2)
        return float(self.count @ held) * mean, float(self.count @ (held * square - (held * mean) ** 2))

    def drift(self, a: float, t: Floats = NEVER) -> float:
        """How far log M(a) may be off by the rounding of masses, scores and probabilities."""
        loose = self.mass @ (np.abs(np.expm1(a * self.score)) + a * self.sizes * np.exp(a * self.score))
        moved = self._moved(a, t)
        error = np.multiply.outer(np.abs(moved) + np.exp(-t) * float(loose), self.keep)
        return 8.0 * UNIT * (float((error / (1.0 + np.multiply.outer(moved, self.keep)) @ self.count).max()) + 1.0)

    def _moved(self, a: float, t: Floats) -> Floats:
        """e^-t phi(a) - 1."""
        return np.asarray(np.exp(-t) * self.excess(a) + np.expm1(-t))


class _Line(NamedTuple):
    """The abscissa, the smoothing, the distance of the nodes and their number, and what the rule's
    aliases add at most, in units of the transform's size at the abscissa.
    """

    c: float
    tau: float
    step: float
    nodes: int
    alias: float

    @property
    def edge(self) -> float:
        """The last node."""
        return self.step * (self.nodes - 1)

    @property
    def blow(self) -> float:
        """The size of the smoothing factor on the real axis."""
        return math.exp(0.5 * (self.tau * self.c) ** 2)

    @property
    def beyond(self) -> float:
        """The smoothing factor's integral past the last node, over pi."""
        return self.blow * math.sqrt(2.0 / math.pi) / self.tau * math.exp(float(log_ndtr(-self.edge * self.tau)))

    def kernel(self, theta: Floats) -> Complexes:
        """The weights of the nodes, smoothing included."""
        first = np.where(theta == 0.0, 0.5, 1.0)
        return np.asarray(self.step / np.pi * first * np.exp(0.5 * (self.tau * (self.c + 1j * theta)) ** 2))


class _Nodes(NamedTuple):
    """Where the transform matters: theta, phi / phi(c) - 1, M / M(c), and the latter's rounding."""

    theta: Floats
    shift: Complexes
    ratio: Complexes
    blur: Floats


def ramp_ends(law: ThinnedScores, t: Floats, low: Floats, high: Floats, gap: float) -> tuple[float, float]:
    """A lower end of sum_j low_j E[e^(-t_j items) (S)_+], and an upper end of the same with
    ``high``, where S has one item more than ``law`` does, which is not counted.
    """

    def log_size(a: float) -> float:
        return float(law.log_powers(a)[0]) + math.log1p(law.excess(a))

    def slope(a: float) -> float:
        return law.moments(a)[0] + float(law.tilted(a) @ law.score) - 2.0 / a

    top = float(law.score.max())
    c = _root(slope, 1.0 / (law.count.sum() + 1.0) / top, LARGEST_TILT / top)
    lower, _ = _ramp(law, t[low > 0.0], low[low > 0.0], c, log_size, gap)
    _, upper = _ramp(law, t[high > 0.0], high[high > 0.0], c, log_size, gap)
    return lower, upper


def _ramp(
    law: ThinnedScores, t: Floats, weights: Floats, c: float, log_size: Callable[[float], float], gap: float
) -> tuple[float, float]:
    logs = np.log(weights) + law.log_powers(c, t)
    total = log_sum(logs)
    log_m = total + math.log1p(law.excess(c))
    shares = np.exp(logs - total)
    # No weight exceeds their sum, so that the aliases are at most those of the sum with t = 0.
    plain = log_size(c) + math.log(float(weights.sum())) - log_m
    line = _line(law, c, log_size, gap, t.size, ramp=True, margin=plain, top=float(law.score.max()))
    if line.tau * c > BLUNT:  # Chernoff: x_+ <= e^(cx) / (e c), where e is left to rounding
        return 0.0, math.exp(min(log_m + law.drift(c, t), 700.0)) / c + 1e-322
    seen = shares > UNSEEN
    nodes = _along(law, line, t[seen], shares[seen])

    s = c + 1j * nodes.theta
    kernel = line.kernel(nodes.theta)
    value = nodes.ratio * (1.0 + nodes.shift)
    smooth = float((kernel / s**2 * value).real.sum())
    distance = line.tau**2 * float((kernel * value).real.sum())

    size = np.abs(kernel) * (1.0 / np.abs(s) ** 2 + line.tau**2)
    tail = line.beyond * (1.0 / line.edge**2 + line.tau**2)
    passed = line.blow * (line.step / c**2 + 1.0 / c + line.step * line.tau**2 + line.tau)
    spread = math.expm1(min(law.drift(c, t) + UNIT * (16.0 * abs(log_m) + 16.0 * abs(total) + 640.0), 50.0))
    error = float(size @ (nodes.blur + spread * np.abs(value))) + tail
    error += (math.exp(-NEGLIGIBLE) + float(shares[~seen].sum())) * passed
    aliased = line.alias * math.exp(plain)
    scale = math.exp(min(log_m, 700.0))
    lower = scale * max(smooth - distance - error - aliased, 0.0) * (1.0 - 8.0 * UNIT)
    return lower, scale * (smooth + error) * (1.0 + 8.0 * UNIT) + 1e-322


def advantage(law: ThinnedScores, moves: Floats, counts: Floats, sizes: Floats, offset: float, gap: float) -> float:
    """A lower end of the sum over y of counts_y P(offset + moves_y + S + Z > 0), for a normal Z of
    some deviation; ``sizes`` are what the counts were subtracted from.
    """
    favored = counts > 0.0
    if not favored.any():
        return 0.0

    with np.errstate(divide="ignore"):
        sizes_in_logs = np.log(np.abs(counts))

    def log_size(a: float) -> float:
        return float(law.log_powers(a)[0]) + a * offset + log_sum(a * moves + sizes_in_logs)

    def slope(a: float) -> float:
        weights = counts[favored] * np.exp(a * (moves[favored] - moves[favored].max()))
        return law.moments(a)[0] + offset + float(weights @ moves[favored]) / float(weights.sum()) - 2.0 / a

    scores = np.append(law.score, moves)
    top, least = float(scores.max()), float(np.abs(scores[scores != 0.0]).min())
    farthest = LARGEST_TILT / top if top > 0.0 else STEEPEST / least
    c = _root(slope, 1e-3 / (law.count.sum() + 1.0) / float(np.abs(scores).max()), farthest)
    fine = 12.0 + 0.5 * math.log1p(law.count.sum())  # what is left of the target's two laws when they cancel
    line = _line(law, c, log_size, gap, 1, ramp=False, margin=fine, top=LARGEST_TILT / farthest)
    if line.tau * c > BLUNT:
        return 0.0
    nodes = _along(law, line, NEVER, np.ones(1))
    theta = nodes.theta

    # The target's transform, in units of e^(c times its largest move).
    unit = c * float(moves.max())
    growth = np.exp(c * moves - unit)
    turns = turned(np.multiply.outer(theta, moves))
    target = turns @ (counts * growth) + float(counts @ growth)
    whole = float(np.abs(counts) @ growth)
    doubt = float(sizes @ (growth * (2.0 + c * np.abs(moves)))) + np.multiply.outer(theta, np.abs(moves)) @ (
        np.abs(counts) * growth
    )
    kernel = line.kernel(theta) / (c + 1j * theta)
    value = float((kernel * nodes.ratio * target * np.exp(1j * theta * offset)).real.sum())

    size = np.abs(kernel)
    log_m = float(law.log_powers(c)[0]) + c * offset + unit
    wide = UNIT * (16.0 * abs(log_m) + 16.0 * (c * abs(offset) + abs(unit)) + 640.0)
    spread = math.expm1(min(law.drift(c) + wide, 50.0)) + np.expm1(np.minimum(8.0 * UNIT * theta * abs(offset), 50.0))
    error = float(size @ (nodes.blur * whole + np.abs(nodes.ratio) * (8.0 * UNIT * doubt + spread * np.abs(target))))
    passed = line.blow * (line.step / c + 3.0 + math.log1p(1.0 / (line.tau * c)))
    error += whole * (line.beyond / line.edge + math.exp(-NEGLIGIBLE) * passed)
    error += math.exp(log_size(c) - log_m) * line.alias
    return max(value - error, 0.0) * math.exp(min(log_m, 700.0)) * (1.0 - 8.0 * UNIT)


def _line(
    law: ThinnedScores,
    c: float,
    log_size: Callable[[float], float],
    gap: float,
    powers: int,
    *,
    ramp: bool,
    margin: float,
    top: float,
) -> _Line:
    """Where to integrate, closely enough for ``gap``. ``log_size`` bounds the log of the transform
    on the real axis; y_+ is at most e^(a y) / (e a), and the step function at most e^(a y).
    """
    _, variance = law.moments(c)
    width = math.sqrt(max(variance, 0.0) + 2.0 / c**2)
    tau = math.sqrt(gap) * min(width, SHARPEST / c)
    cut = CUT if ramp else FAR
    wrap = 10.0 - math.log(gap) + margin + (2.0 if ramp else 1.0) * math.log(c) + math.log(width)
    far = 1.1 * LARGEST_TILT / top
    probes = [c * share for share in LEFT], [a for a in (min(c + k / width, far) for k in RIGHT) if a > c]
    sizes = [
        [(abs(a - c), log_size(a) - log_size(c) - (1.0 + math.log(a) if ramp else 0.0), a) for a in side]
        for side in probes
    ]
    period = max(
        *(min((size + 0.5 * (tau * a) ** 2 + wrap) / reach for reach, size, a in side) for side in sizes),
        2.0 * math.pi / cut * tau,
    )
    nodes = int(min(math.ceil(cut / tau * period / (2.0 * math.pi)) + 1, MOST_NODES, MOST_WORK // powers))
    step = 2.0 * math.pi / period
    tau = max(tau, cut / (step * (nodes - 1)))
    alias = sum(
        min(_geometric(size + 0.5 * (tau * a) ** 2, reach * period) for reach, size, a in side) for side in sizes
    )
    return _Line(c, tau, step, nodes, alias)


def log_sum(logs: Floats) -> float:
    """log of the sum of e to these powers."""
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))


def _geometric(log_first: float, reach: float) -> float:
    """The sum over m >= 1 of e^(log_first - m reach)."""
    return math.exp(min(log_first - reach, 700.0)) / -math.expm1(-reach)


def _along(law: ThinnedScores, line: _Line, t: Floats, shares: Floats) -> _Nodes:
    """The transform relative to its value at c, wherever it is not below e^-NEGLIGIBLE."""
    theta = line.step * np.arange(float(line.nodes))
    tilted = law.tilted(line.c)
    shift = turned(np.multiply.outer(theta, law.score)) @ tilted
    held = law.held(line.c, t)
    # |1 + p shift| is convex in p, so that it is largest at the least p or at the largest.
    most = np.zeros(line.nodes)
    for least, largest, number in zip(held.min(axis=0), held.max(axis=0), law.count, strict=True):
        most += number * np.log(np.maximum(np.abs(1.0 + least * shift), np.abs(1.0 + largest * shift)) + 1e-300)
    kept = np.flatnonzero(most > -NEGLIGIBLE)
    theta, shift = theta[kept], shift[kept]
    ratio, blur = np.zeros(kept.size, dtype=np.complex128), np.zeros(kept.size)
    loose = UNIT * (16.0 * theta * float(tilted @ np.abs(law.score)) + 8.0 * np.abs(shift))
    for share, part in zip(shares, held, strict=True):
        power, near = np.zeros(kept.size, dtype=np.complex128), np.zeros(kept.size, dtype=np.bool_)
        for p, number in zip(part, law.count, strict=True):
            power += number * complex_log1p(p * shift)
            near |= np.abs(1.0 + p * shift) < 0.5  # where a small error is a large share of it
        one = np.exp(power)
        error = np.expm1(np.minimum(2.0 * loose * (1.0 + float(law.count @ part)) + 16.0 * UNIT * law.count.size, 50.0))
        ratio += share * one
        blur += share * error * np.where(near, 1.0, np.abs(one))
    return _Nodes(theta, shift, ratio, blur)


def _root(slope: Callable[[float], float], low: float, high: float) -> float:
    """About where a rising function is 0, by bisection in logarithms."""
    return geometric(*halve(lambda a: slope(a) < 0.0, low, high, middle=geometric, close=within(0.02)))
