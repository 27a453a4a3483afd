"""Many rounds: the law of a sum of independent losses by one tilted FFT, with its errors.

For a total loss Y, delta(eps) = P(Y = inf) + E(1 - e^(eps - Y))_+. Tilting every round by e^(c
loss) centres the sum where delta is decided, so that small deltas keep their relative accuracy.
Every error is bounded and added to the ends (u = 2^-52):

- Mass that the periodic FFT wraps around, by Chernoff on both sides. Lost or misplaced mass counts
  with the most that a unit of it can add to delta, max over t of (1 - e^-t) e^(-c t), which is far
  less than 1 where all losses are small.
- Tilted masses and their sum: |error of log| <= u (|c loss| + |log mass| + |c loss + log mass| +
  32), averaged under the tilt, times rounds.
- A transform of positive masses of sum 1 on a circle of N = 2^a 3^b 5^c points is off by at most
  2.5 u log2 N everywhere (every stage multiplies and adds once, and no partial sum exceeds 1); 4 u
  (log2 N + 3) leaves room for a power's own rounding, 5 u per round. So a value x known to h has
  its r-th power known to r h (|x| + h)^(r-1). What is below e^-740 is left out: next to the error
  at frequency 0, that is nothing.
- Sums over frequencies are pairwise: 64 u times the sum of the absolute values covers their
  rounding, that of the turns (2 pi u) and of U, V.
- Losses ``spacing * index`` and their distance to epsilon: every epsilon is first moved by 4 u to
  the safe side, and at the lower end by as much as the losses may have been rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy  # loads its transforms when they are first asked for

from shuffledp._types import Complexes, End, Floats, Integers
from shuffledp.accounting.haystack.contour import turned
from shuffledp.accounting.inversion import geometric, halve, meets, within
from shuffledp.accounting.pld.grid import LossDistribution

UNIT = 2.0**-52
MOST_POINTS = 1 << 21
SHARPEST = 16.0  # a tilt may favour the next grid point by at most e^16
UNDERFLOW = -740.0  # e to the power of less is no float
NUDGES = 6  # tries at a root to the safe side, before it is searched for
LEAST = 1e-300  # taken from both ends: what floats near their end lose
ASIDE = 4.0 * UNIT  # how far epsilons are moved to the safe side, relative to themselves
WRAP = 32.0  # the window is widened until less than e^-WRAP of the tilted mass lies outside


class Composition:
    """Loss distributions on one grid, each repeated for a number of rounds."""

    def __init__(self, parts: Sequence[tuple[LossDistribution, int]]) -> None:
        self.parts = [(part, rounds, np.log(part.mass)) for part, rounds in parts]
        self.spacing: float = parts[0][0].spacing
        self.least = sum(rounds * int(part.index[0]) for part, rounds in parts)
        self.most = sum(rounds * int(part.index[-1]) for part, rounds in parts)
        self.rounds = sum(rounds for _, rounds in parts)
        self.above = sum(rounds * part.above for part, rounds in parts)
        self.accuracy = 1e-7 + 1000.0 * UNIT * self.rounds  # of delta from a transform whose tilt suits it
        self._last: _Tilted | None = None  # nearby questions share one FFT

    @property
    def infinite(self) -> float:
        """The probability of an infinite total loss."""
        if any(part.infinite >= 1.0 for part, _, _ in self.parts):
            return 1.0
        return abs(float(np.expm1(sum(rounds * np.log1p(-part.infinite) for part, rounds, _ in self.parts))))

    def _infinite_end(self, end: End) -> float:
        """The same with its rounding: 2 u for logarithms, u for exp, u/2 for every sum."""
        return self.infinite * (1.0 + (4.0 + len(self.parts)) * (UNIT if end == "upper" else -UNIT))

    def trimmed(self, most: float, end: End) -> Composition:
        """The same without its largest losses, all rounds together no likelier than ``most``:
        infinite at the upper end, left out at the lower.

        Losses so rare decide nothing, and yet a window that holds them all may have to be too wide.
        """
        parts = []
        for part, rounds, _ in self.parts:
            above = np.cumsum(part.mass[::-1])[::-1] * (1.0 + 2.0 * UNIT * part.mass.size)
            first = max(int(np.searchsorted(-above, -most / self.rounds)), 1)  # above falls; one loss at least stays
            infinite = part.infinite + float(above[first] if first < above.size and end == "upper" else 0.0)
            parts.append((replace(part, index=part.index[:first], mass=part.mass[:first], infinite=infinite), rounds))
        return Composition(parts)

    def cumulant(self, c: float) -> tuple[float, float, float]:
        """log E[e^(c Y); Y finite] and its first two derivatives."""
        value = mean = variance = 0.0
        for part, rounds, log_mass in self.parts:
            exponent = c * part.losses + log_mass
            top = exponent.max()
            weight = np.exp(exponent - top)
            total = weight.sum()
            first = weight @ part.losses / total
            value += rounds * (top + np.log(total))
            mean += rounds * first
            variance += rounds * (weight @ (part.losses - first) ** 2 / total)
        return float(value), float(mean), float(variance)

    @property
    def crowding(self) -> float:
        """How many times too short the largest transform is for eight deviations each way."""
        return 16.0 * math.sqrt(self.cumulant(0.0)[2]) / (self.spacing * MOST_POINTS)

    def _rounding(self, c: float) -> float:
        """How far rounding moves the tilted law (total variation), and the log of its scale."""
        total = 0.0
        for part, rounds, log_mass in self.parts:
            exponent = c * part.losses + log_mass
            top = exponent.max()
            weight = np.exp(exponent - top)
            size = np.abs(c * part.losses) + np.abs(log_mass) + np.abs(exponent)
            total += rounds * float(weight @ size / weight.sum() + 2.0 * abs(top) + 2.0 * np.log(weight.sum()) + 32.0)
        return float(UNIT * total)

    def law(self) -> LossDistribution:
        """The total loss, pessimistically: what the FFT may lose or blur is infinite."""
        points, first, wrapped = self._window(0.0, *self.cumulant(0.0))
        frequency, value, error = self._transform(0.0, points)
        spectrum = np.zeros(points // 2 + 1, dtype=np.complex128)
        spectrum[frequency] = value
        mass = np.roll(scipy.fft.irfft(spectrum, points), -(first % points))
        doubt = (
            wrapped
            + self._rounding(0.0)
            + 2.0 * float(error.sum())
            + 8.0 * UNIT * (np.log2(points) + 3.0) * float(np.abs(value).sum())
        )
        finite = np.maximum(mass, 0.0) * np.exp(self.cumulant(0.0)[0])
        return LossDistribution(
            self.spacing,
            first + np.arange(points, dtype=np.float64),
            finite,
            min(self._infinite_end("upper") + doubt, 1.0),
        )

    def deltas(self, epsilons: Floats, end: End) -> Floats:
        """The chosen end of delta at every epsilon >= 0."""
        infinite, top = self._infinite_end(end), self.spacing * self.most
        answer = np.where(epsilons >= (top * (1.0 + 2.0 * UNIT) if end == "upper" else top), infinite, np.nan)
        epsilons = epsilons * (1.0 - ASIDE) if end == "upper" else (epsilons + self.above) * (1.0 + ASIDE)
        order = np.argsort(epsilons)
        tilted, focus = self._last, -1
        while np.isnan(answer).any():
            waiting = order[np.isnan(answer[order])]
            if tilted is None:
                focus = waiting[waiting.size // 2]
                tilted = self._last = self._at_tilt(self._tilt(float(epsilons[focus])))
            values, errors = np.array([tilted.delta(epsilon) for epsilon in epsilons[waiting]]).T
            close = (errors <= self.accuracy * (values + infinite)) | (waiting == focus)
            signed = values + errors + LEAST if end == "upper" else np.maximum(values - errors - LEAST, 0.0)
            answer[waiting[close]] = (signed[close] + infinite) * (1.0 + UNIT if end == "upper" else 1.0 - UNIT)
            tilted = None
        return np.asarray(np.minimum(answer, 1.0))

    def epsilon(self, delta: float, end: End) -> float:
        """An epsilon at which delta is at most (upper) or at least (lower) ``delta``, from one FFT
        and checked by ``deltas``.

        It keeps a distance of twice the accuracy, so that ``deltas`` at any other tilt says the
        same.
        """
        delta *= 1.0 - 2.0 * self.accuracy if end == "upper" else 1.0 + 2.0 * self.accuracy
        left = delta - self.infinite
        if left <= 0.0:
            return float("inf")
        tilted = self._last = self._at_tilt(self._tilt_for(left))
        epsilon = tilted.solve(left)
        error = tilted.delta(epsilon)[1]
        aim = left - 2.0 * error if end == "upper" else left + 2.0 * error
        if 0.5 * left < aim < 2.0 * left:
            epsilon = tilted.solve(aim)
        for attempt in range(NUDGES):
            value = float(self.deltas(np.array([epsilon]), end)[0])
            if (epsilon == 0.0 and end == "lower") or (value <= delta if end == "upper" else value >= delta):
                return epsilon
            nudge = 1e-9 * max(epsilon, self.spacing) * 8.0**attempt
            epsilon = epsilon + nudge if end == "upper" else max(epsilon - nudge, 0.0)
        return meets(
            lambda e, _: float(self.deltas(np.array([e]), end)[0]),
            delta,
            float(self.spacing * self.most) * (1.0 + ASIDE),
            end=end,
        )

    def _tilt_for(self, delta: float) -> float:
        """The tilt of ``_tilt`` at the epsilon that meets delta, by a saddle point."""

        def slope(c: float) -> float:
            value, mean, variance = self.cumulant(c)
            peak = np.log(c) + np.log1p(c) + 0.5 * np.log(2.0 * np.pi * (variance + 1.0 / c**2 + 1.0 / (c + 1.0) ** 2))
            return float(c * mean - value + np.log(delta) + peak - 1.0 - c / (c + 1.0))

        return self._root(slope)

    def _tilt(self, epsilon: float) -> float:
        """Near the minimum of log E e^(cY) - c eps - log c(c+1), the integrand's peak."""
        return self._root(lambda c: self.cumulant(c)[1] - epsilon - 1.0 / c - 1.0 / (c + 1.0))

    def _root(self, slope: Callable[[float], float]) -> float:
        """Where a rising function of the tilt changes sign, to a tenth; any tilt is valid."""
        low, high = 1e-12, 1.0 / (np.sqrt(self.cumulant(0.0)[2]) + self.spacing)
        while slope(high) < 0.0 and high * self.spacing < SHARPEST:
            low, high = high, 2.0 * high
        low = max(low, 1e-3 * high)
        ends = halve(lambda c: slope(c) < 0.0, low, float(high), middle=geometric, close=within(0.1), steps=24)
        return geometric(*ends)

    def _at_tilt(self, c: float) -> _Tilted:
        """The total loss under the tilt c > 0, by one FFT."""
        log_m, mean, variance = self.cumulant(c)
        points, first, wrapped = self._window(c, log_m, mean, variance)
        lattice = _Lattice(self.spacing, first, points)
        return _Tilted.of(self._transform(c, points), lattice, c, log_m, mean, wrapped, self._rounding(c))

    def _window(self, c: float, log_m: float, mean: float, variance: float) -> tuple[int, int, float]:
        """Number of points, first index, and a bound on the tilted mass outside."""
        spacing, least, most = self.spacing, self.least, self.most
        sigma = np.sqrt(variance) + spacing
        probes = [k / sigma for k in (0.5, 1.0, 2.0, 4.0, 8.0)]
        upper = [(a, self.cumulant(c + a)[0] - log_m) for a in probes]
        lower = [(a, self.cumulant(c - a)[0] - log_m) for a in probes]
        right, left = (
            min((value + WRAP) / a for a, value in side) + shift for side, shift in ((upper, -mean), (lower, mean))
        )
        first, last = max(int((mean - left) / spacing) - 2, least), min(int((mean + right) / spacing) + 2, most)
        points = min(last - first + 1, MOST_POINTS)
        if points == MOST_POINTS:
            first = int(mean / spacing) - points // 2
            last = first + points - 1
        high, low = spacing * last, spacing * first
        above = 0.0 if last >= most else min(np.exp(min(value - a * high, 0.0)) for a, value in upper)
        below = 0.0 if first <= least else min(np.exp(min(value + a * low, 0.0)) for a, value in lower)
        return scipy.fft.next_fast_len(points, real=True), first, float(above + below)

    def _transform(self, c: float, points: int) -> _Spectrum:
        """The discrete Fourier transform of the tilted total on a circle of ``points``, where it is
        not 0: after many rounds, at low frequencies.
        """
        accuracy = 4.0 * UNIT * (np.log2(points) + 3.0)
        frequency = np.arange(points // 2 + 1)
        value, error = np.ones(frequency.size, dtype=np.complex128), np.zeros(frequency.size)
        for part, rounds, log_mass in self.parts:
            exponent = c * part.losses + log_mass
            tilted = np.exp(exponent - exponent.max())
            tilted /= tilted.sum()
            phi = scipy.fft.rfft(np.bincount(part.index.astype(np.int64) % points, tilted, points))[frequency]
            shrinks = (rounds - 1) * np.log(np.abs(phi) + accuracy)
            seen = np.flatnonzero(shrinks > UNDERFLOW)
            frequency, phi, before = frequency[seen], phi[seen], np.exp(shrinks[seen])
            error = error[seen] * before + rounds * accuracy * before
            value = value[seen] * phi**rounds
        return _Spectrum(frequency, value, error + accuracy * np.abs(value))


class _Spectrum(NamedTuple):
    """A discrete Fourier transform at some frequencies, and bounds on the errors of its values."""

    frequency: Integers
    value: Complexes
    error: Floats


class _Lattice(NamedTuple):
    """The losses ``spacing * (first + j)`` for j = 0 ... ``points`` - 1, and of the rest those that
    differ from them by whole circles.
    """

    spacing: float
    first: int
    points: int

    @property
    def end(self) -> float:
        """The first loss after the last."""
        return self.spacing * (self.first + self.points)


@dataclass(frozen=True, slots=True, eq=False)
class _Tilted:
    """The law of the total loss Y, tilted: P(Y = y) e^(c y - log_m), but for ``wrapped`` in all.

    It is kept as a Fourier series over the circle of the lattice, since delta is then two short
    sums: with t = y - eps > 0 at the first loss y above eps and r = e^(-c spacing + i frequency),
    the weights (1 - e^-t) e^(-c t) of all losses from there on add up to e^(-c t) ((1 - e^-t) U +
    e^-t V), where U = 1 + r + r^2 + ... and V = sum of r^j (1 - e^(-j spacing)).
    """

    lattice: _Lattice
    c: float
    log_m: float
    centre: float
    frequency: Integers
    flat: Complexes  # coefficients times U
    rising: Complexes  # coefficients times V
    after: tuple[float, float]  # their sums at the lattice's end
    doubt: tuple[float, float]  # bounds on the errors of such sums
    wrapped: float
    rounding: float  # how far log_m may be off

    @classmethod
    def of(
        cls,
        spectrum: _Spectrum,
        lattice: _Lattice,
        c: float,
        log_m: float,
        centre: float,
        wrapped: float,
        rounding: float,
    ) -> _Tilted:
        """From the transform of the tilted law."""
        spacing, first, points = lattice
        frequency = spectrum.frequency
        share = np.where((frequency == 0) | (2 * frequency == points), 1.0, 2.0) / points
        # e^(a + ib) - 1 = AB + A + B with A = e^a - 1 and B = e^(ib) - 1: no part is subtracted.
        turn = turned(2.0 * np.pi * frequency / points)
        near, far = np.expm1(-c * spacing), np.expm1(-(c + 1.0) * spacing)
        u = -1.0 / (near * turn + near + turn)
        v = u * (np.exp(-c * spacing) * np.expm1(-spacing)) * (1.0 + turn) / (far * turn + far + turn)
        blurred = share * (spectrum.error + 64.0 * UNIT * np.abs(spectrum.value))
        doubt = float(blurred @ np.abs(u)), float(blurred @ np.abs(v))
        flat, rising = share * spectrum.value * u, share * spectrum.value * v
        end = cls._turned(frequency, first + points, points)
        after = cls._sum(end, flat), cls._sum(end, rising)
        return cls(lattice, c, log_m, centre, frequency, flat, rising, after, doubt, wrapped + rounding, rounding)

    @staticmethod
    def _turned(frequency: Integers, index: int, points: int) -> Complexes:
        """e^(2 pi i frequency index / points), reduced in integers."""
        angle = 2.0 * np.pi / points * (frequency * (index % points) % points)
        return turned(np.asarray(angle, dtype=np.float64)) + 1.0

    @staticmethod
    def _sum(turn: Complexes, coefficients: Complexes) -> float:
        """The real part of their product, in pairs: a plain sum may lose six digits."""
        return float((turn.real * coefficients.real - turn.imag * coefficients.imag).sum())

    def solve(self, delta: float) -> float:
        """About the epsilon at which E(1 - e^(eps - Y))_+ = delta."""
        from scipy.optimize import brentq  # slow to import, and needed for several rounds only

        def excess(epsilon: float) -> float:
            value = self.delta(epsilon)[0]
            return float(np.log(value / delta)) if value > 0.0 else -1e3

        last, step = max(self.lattice.end, 0.0), 1.0 / self.c
        low = high = min(max(self.centre, 0.0), last)
        while low > 0.0 and excess(low) <= 0.0:
            low, high, step = max(low - step, 0.0), low, 2.0 * step
        while high < last and excess(high) > 0.0:
            low, high, step = high, min(high + step, last), 2.0 * step
        if low == high or excess(low) <= 0.0 or excess(high) > 0.0:
            return low
        return float(brentq(excess, low, high, xtol=1e-13 * high, rtol=1e-13, maxiter=60, disp=False))

    def delta(self, epsilon: float) -> tuple[float, float]:
        """E(1 - e^(eps - Y))_+ over finite Y, and a bound on its error."""
        if self.log_m - self.c * epsilon > 600.0:  # the tilt does not suit this epsilon at all
            return 0.0, np.inf
        spacing, first, points = self.lattice
        start = max(int(np.ceil(epsilon / spacing)), first)
        if start >= first + points:
            return 0.0, float(np.exp(self.log_m - self.c * epsilon)) * 2.0 * self.wrapped * self._most
        turn = self._turned(self.frequency, start, points)
        near = max(spacing * start - epsilon, 0.0)
        sides = (
            (near, self._sum(turn, self.flat), self._sum(turn, self.rising)),
            (near + spacing * (first + points - start), *self.after),
        )
        weights = [(-np.expm1(-t), np.exp(-t), np.exp(-self.c * t)) for t, _, _ in sides]
        begin, end = (
            decay * (rise * u + fall * v) for (rise, fall, decay), (_, u, v) in zip(weights, sides, strict=True)
        )
        noise = sum(decay * (rise * self.doubt[0] + fall * self.doubt[1]) for rise, fall, decay in weights)
        farthest = max(abs(spacing * first), abs(self.lattice.end))
        blur = UNIT * (64.0 + 16.0 * abs(self.log_m) + 16.0 * self.c * (epsilon + farthest)) + 2.0 * self.rounding
        scale = float(np.exp(self.log_m - self.c * epsilon))
        return scale * float(begin - end), scale * float(
            2.0 * self.wrapped * self._most + noise + blur * (abs(begin) + abs(end))
        )

    @property
    def _most(self) -> float:
        """The most that a unit of tilted mass can add to delta, in units of ``scale``: the largest
        (1 - e^-t) e^(-c t) over t >= 0.
        """
        return float(np.exp(-self.c * np.log1p(1.0 / self.c)) / (1.0 + self.c))
