"""Balls: numbers with a radius that holds every rounding error, from Arb (python-flint), and E(G_1
+ ... + G_n)_+ in them, by one contour integral.

The abscissa, the period and the cut-off of the integral are chosen by eye, and everything that they
leave out is bounded by theorem.

Every position independently holds score g_i with probability p_i and nothing with probability a;
S is the sum of the scores, and M(s) = E[e^(sS); some position is filled] = phi(s)^n - a^n with
phi(s) = a + sum of p_i e^(s g_i). For any c > 0, any tau > 0, and Z normal with deviation tau,

    y Phi(y/tau)  <=  y_+  <=  E(y + Z)_+ ,     E(y + Z)_+ - y Phi(y/tau) = tau phi(y/tau),

and on the line s = c + iy the first and the last have the transforms e^(tau^2 s^2 / 2) (1/s^2 -
tau^2) and e^(tau^2 s^2 / 2) / s^2. The trapezoidal rule with step h = 2 pi / T adds, by Poisson
summation, e^(-c m T) E(S + Z + m T)_+ for every m other than 0: at least 0, and at most M(a)
e^(tau^2 a^2 / 2 - 1) / a e^(-|a - c| |m| T) for any a > 0 on the right side of c (y_+ <= e^(a y -
1) / a). What lies beyond the last node is at most M(c) times an integral of the kernel, because
|M(s)| <= M(c).

Nodes are passed over where |phi| is small. With the phase of the tilted mean taken out, |phi|
changes by at most L = (mean deviation of the tilted scores) per unit of y, so that one value
bounds all nodes nearby: the work does not grow with n.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import acb, acb_mat, arb, ctx

Exact = int | float | Fraction


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """So many bits for everything inside."""
    before, ctx.prec = ctx.prec, bits
    try:
        yield
    finally:
        ctx.prec = before


def ball(number: Exact | arb) -> arb:
    """A number as a ball: exact if its digits fit, else as narrow as the precision allows.

    >>> ball(Fraction(1, 3)).contains(arb(1) / 3)
    True
    """
    if isinstance(number, Fraction):
        return arb(number.numerator) / arb(number.denominator)
    return arb(number)


def between(low: arb, high: arb) -> arb:
    """A ball that holds both, and all that lies between them."""
    return low.union(high)


def positive_part(number: arb) -> arb:
    """max(number, 0), end by end."""
    if number >= 0:
        return number
    if number <= 0:
        return arb(0)
    return arb(0).union(number.upper())


def largest(numbers: Sequence[arb]) -> arb:
    """The largest of several numbers, as a ball."""
    most = numbers[0]
    for each in numbers[1:]:
        most = most.max(each)
    return most


def midpoint(number: arb) -> float:
    """About where it is, as a float: to choose by, never to prove with."""
    return float(number.mid())


def ends(number: arb) -> tuple[float, float]:
    """The ball as two floats, rounded outwards; (-inf, inf) if nothing is known.

    >>> low, high = ends(ball(Fraction(1, 3)))
    >>> low < 1 / 3 <= high and high - low < 2e-16
    True
    """
    if not number.is_finite():
        return -math.inf, math.inf
    low, high = float(number.lower()), float(number.upper())
    while not arb(low) <= number.lower():
        low = math.nextafter(low, -math.inf)
    while not arb(high) >= number.upper():
        high = math.nextafter(high, math.inf)
    return low, high


BLOCK = 64  # nodes whose phi is one product of matrices
ROUGHLY = 64  # bits: enough to choose by
LEFT, RIGHT = (0.02, 0.1, 0.25, 0.5, 0.75), (0.25, 1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 20.0)
SHARE = 0.02  # of the smoothing, that each of the other errors may be


@dataclass(frozen=True, eq=False)
class Positions:
    """n independent positions, each with score ``scores[i]`` with probability ``masses[i]`` and
    empty with probability ``absent``.
    """

    n: int
    masses: tuple[arb, ...]
    scores: tuple[arb, ...]
    absent: arb

    @cached_property
    def top(self) -> arb:
        """The largest score."""
        return largest(self.scores)

    def filled(self, s: arb) -> list[arb]:
        """p_i e^(s g_i)."""
        return [mass * (s * score).exp() for mass, score in zip(self.masses, self.scores, strict=True)]

    def phi(self, s: arb) -> arb:
        """E e^(sG)."""
        return sum(self.filled(s), self.absent)

    def tilted(self, c: arb) -> tuple[arb, list[arb], arb, arb]:
        """phi(c), what is filled and what is empty relative to it, and by how much |phi| changes at
        most per unit of y, once the phase of the tilted mean is taken out.
        """
        phi = self.phi(c)
        filled, absent = [each / phi for each in self.filled(c)], self.absent / phi
        mean = sum((share * score for share, score in zip(filled, self.scores, strict=True)), arb(0)).mid()
        off = (share * abs(score - mean) for share, score in zip(filled, self.scores, strict=True))
        return phi, filled, absent, sum(off, abs(absent * mean))

    def fine(self, step: arb) -> acb_mat:
        """By how much every score turns phi from the first node of a block to each of them."""
        return acb_mat([[acb(0, step * place * score).exp() for place in range(BLOCK)] for score in self.scores])

    def turned(self, filled: Sequence[arb], y: arb, fine: acb_mat) -> list[acb]:
        """What is filled, at the nodes of a block from y on."""
        row = [share * acb(0, y * score).exp() for share, score in zip(filled, self.scores, strict=True)]
        return list((acb_mat([row]) * fine).entries())

    def moment(self, s: arb) -> arb:
        """M(s) at a real point."""
        filled = sum(self.filled(s), arb(0))
        if self.absent > 0:
            return _power(self.absent, self.n) * (self.n * (filled / self.absent).log1p()).expm1()
        return positive_part(_power(filled + self.absent, self.n) - _power(positive_part(self.absent), self.n))

    def slope(self, s: arb) -> tuple[float, float]:
        """About the mean and variance of S, tilted by e^(sS) and not empty, in units of 1/s."""
        filled = self.filled(s)
        phi = sum(filled, self.absent)
        steps = [each * score * s for each, score in zip(filled, self.scores, strict=True)]
        mean = sum(steps, arb(0)) / phi
        square = sum((each * score * s for each, score in zip(steps, self.scores, strict=True)), arb(0)) / phi
        nonempty = arb(1)
        if self.absent > 0:
            nonempty = -(-self.n * (sum(filled, arb(0)) / self.absent).log1p()).expm1()
        return midpoint(self.n * mean / nonempty), max(midpoint(self.n * (square - mean * mean) / nonempty), 0.0)

    def saddle(self) -> tuple[arb, float]:
        """Near the c at which log M(c) - 2 log c is least, and the deviation of S there times c."""
        with precision(ROUGHLY):
            top = self.top.mid()
            low, high = math.log(1e-4 / self.n), math.log(1e5)
            for _ in range(50):
                middle = 0.5 * (low + high)
                mean, _ = self.slope(arb(middle).exp() / top)
                low, high = (middle, high) if mean < 2.0 else (low, middle)
            c = (arb(high).exp() / top).mid()
            return c, math.sqrt(self.slope(c)[1] + 2.0)


def _power(base: arb, n: int) -> arb:
    return base**n if base >= 0 else positive_part(base) ** n


@dataclass(frozen=True, eq=False)
class Line:
    """Where E S_+ is integrated, how finely, at what cost: choices for ``positions``."""

    positions: Positions
    c: arb
    tau: arb
    period: arb
    count: int
    left: arb  # an abscissa below c, and one above, at which the aliases are bounded
    right: arb
    skipped: float  # nodes with |M| below e^-skipped phi(c)^n are passed over
    relative: float  # about how far apart the two ends will be; infinite if nodes would be too many

    @classmethod
    def through(cls, positions: Positions, relative: float, most_nodes: int) -> Line:
        """The line whose ends are ``relative`` apart, or as near as ``most_nodes`` allow."""
        c, width = positions.saddle()
        with precision(ROUGHLY):
            log_m = _log(positions.moment(c))
            size = -math.log(2.6 * width)  # of the integral, in units of M(c) / c
            while True:
                allowed = math.log(SHARE * relative) + size
                deviation = math.sqrt(relative)  # tau c
                sides = []
                for points in (LEFT, [1.0 + step / width for step in RIGHT]):
                    reached = []
                    for point in points:
                        a = c * point
                        first = (
                            _log(positions.moment(a)) - log_m - math.log(point) - 1.0 + 0.5 * (deviation * point) ** 2
                        )
                        reached.append((max(first - allowed, 1.0) / abs(point - 1.0), point))
                    sides.append(min(reached))
                period = max(sides[0][0], sides[1][0])  # in units of 1/c
                cut = math.sqrt(2.0 * max(-allowed - math.log(SHARE), 1.0)) / deviation
                nodes = cut * period / (2.0 * math.pi) + 2.0
                if nodes <= most_nodes:
                    break
                if not (math.isfinite(nodes) and relative <= 0.5):
                    relative = math.inf
                    break
                relative *= max(1.5, (nodes / most_nodes) ** 2)
            return cls(
                positions,
                c,
                (arb(deviation) / c).mid(),
                (arb(period) / c).mid(),
                math.ceil(min(nodes, most_nodes)) if math.isfinite(nodes) else 0,
                (c * sides[0][1]).mid(),
                (c * sides[1][1]).mid(),
                -allowed - math.log(SHARE),
                relative,
            )

    @staticmethod
    def roughly(positions: Positions) -> arb:
        """About what E S_+ is: Laplace's approximation."""
        c, width = positions.saddle()
        return (positions.moment(c) / c / (2.6 * width)).mid()

    def ramp(self) -> arb:
        """A ball that holds E S_+."""
        positions, c, tau = self.positions, self.c, self.tau
        step = 2 * arb.pi() / self.period
        smooth, distance, left_out = self._sums(step)
        blow = (tau * tau * c * c / 2).exp()
        edge = step * (self.count - 1)
        tail = positions.moment(c) * blow * (-((tau * edge) ** 2) / 2).exp() / arb.pi() * (1 / edge + 1 / edge)
        error = left_out + tail
        upper = smooth + error
        lower = smooth - distance - error - self._alias(self.left) - self._alias(self.right)
        return between(positive_part(lower.lower()), positive_part(upper.upper()))

    def _alias(self, a: arb) -> arb:
        """The sum over m >= 1 of M(a) e^(tau^2 a^2 / 2 - 1) / a e^(-|a - c| m T)."""
        ratio = (-abs(a - self.c) * self.period).exp()
        first = self.positions.moment(a) * ((self.tau * a) ** 2 / 2 - 1).exp() / a
        return first * ratio / (1 - ratio)

    def _sums(self, step: arb) -> tuple[arb, arb, arb]:
        """The trapezoidal sums of both kernels' parts, and a bound on the nodes passed over."""
        positions, c, tau, n = self.positions, self.c, self.tau, self.positions.n
        phi, tilted, absent, lipschitz = positions.tilted(c)
        empty = positive_part(absent) ** n
        rare = bool(empty < (arb(-self.skipped).exp()))  # an empty view is itself negligible
        threshold = (arb(-self.skipped) / n).exp().lower() if rare else arb(-1)
        reach, fine = (lipschitz * step).upper(), positions.fine(step)
        smooth, distance = arb(0), arb(0)
        start = 0
        while start < self.count:
            size = arb(2)
            for place, value in enumerate(positions.turned(tilted, step * start, fine)):
                node = start + place
                if node >= self.count:
                    break
                size = (value + absent).abs_upper()
                if size < threshold:
                    continue
                s = acb(c, step * node)
                kernel = (tau * tau * s * s / 2).exp() * self._relative_moment(value, absent, n)
                weight = 1 if node else arb(0.5)
                smooth += (kernel / (s * s)).real * weight
                distance += kernel.real * weight
            start += BLOCK
            if size < threshold:
                start += max(int(min(midpoint((threshold - size) / reach), 1e15) * (1.0 - 1e-9)) - 1, 0)
        scale = phi**n
        passed = arb(0)
        if rare:
            blow = (tau * tau * c * c / 2).exp()
            passed = scale * ((-arb(self.skipped)).exp() + empty) * blow * (1 / (2 * c) + tau)
        return scale * smooth * step / arb.pi(), scale * distance * step / arb.pi() * tau * tau, passed

    @staticmethod
    def _relative_moment(filled: acb, absent: arb, n: int) -> acb:
        """M(s) / phi(c)^n from what is filled and what is empty, both relative to phi(c)."""
        if absent > 0:
            ratio = filled / absent
            if (n * ratio).abs_upper() < 1:
                return acb(absent**n) * (n * ratio.log1p()).expm1()
        return complex_power(filled + absent, n) - positive_part(absent) ** n


def complex_power(base: acb, n: int) -> acb:
    """base^n by logarithms, away from their cut."""
    if base.real > 0:
        return (n * base.log()).exp()
    if base.real < 0:
        power = (n * (-base).log()).exp()
        return -power if n % 2 else power
    return base.pow(n)


def _log(number: arb) -> float:
    """About its logarithm."""
    return midpoint(number.mid().log()) if number.mid() > 0 else -math.inf
