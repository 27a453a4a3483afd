"""Many rounds: the law of the sum of independent losses, by one tilted FFT, with its errors counted.

For a total loss Y, delta(eps) = P(Y = inf) + E(1 - e^(eps - Y))_+. Tilting every round by e^(c loss) centres the sum where delta is decided, so
that small deltas keep their relative accuracy. Three errors are added to the ends: mass that the periodic FFT wraps around (Chernoff on both
sides), rounding in the transforms, and their amplification by the number of rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from shuffledp.pld.discretise import LossDistribution
from shuffledp.randomizers.base import End, Floats

__all__ = ["Composition"]

UNIT = 2.0**-52
MOST_POINTS = 1 << 21
SHARPEST = 16.0  # a tilt may favour the next grid point by at most e^16
WRAP = 32.0  # the window is widened until less than e^-WRAP of the tilted mass lies outside


class Composition:
    """Loss distributions on one grid, each repeated for a number of rounds."""

    def __init__(self, parts: Sequence[tuple[LossDistribution, int]]) -> None:
        self.parts = [(part, rounds, np.log(part.mass)) for part, rounds in parts]
        self.spacing: float = parts[0][0].spacing
        self.least = sum(rounds * int(part.index[0]) for part, rounds in parts)
        self.most = sum(rounds * int(part.index[-1]) for part, rounds in parts)
        self._last: _Tilted | None = None  # nearby questions share one FFT

    @property
    def infinite(self) -> float:
        """The probability of an infinite total loss."""
        survival = sum(rounds * np.log1p(-min(part.infinite, 1.0 - UNIT)) for part, rounds, _ in self.parts)
        return abs(float(np.expm1(survival)))

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

    def law(self) -> LossDistribution:
        """The total loss as one pessimistic distribution: whatever the FFT may have lost or blurred counts as infinite."""
        plain = self._at_tilt(0.0)
        doubt = plain.wrapped + plain.law.size * plain.noise
        index = np.rint(plain.y / self.spacing)
        return LossDistribution(self.spacing, index, np.maximum(plain.law, 0.0) * np.exp(plain.log_m), min(self.infinite + doubt, 1.0))

    def deltas(self, epsilons: Floats, end: End) -> Floats:
        """The chosen end of delta at every epsilon >= 0."""
        answer = np.where(epsilons >= self.spacing * self.most, self.infinite, np.nan)
        order = np.argsort(epsilons)
        tilted, focus = self._last, -1
        while np.isnan(answer).any():
            waiting = order[np.isnan(answer[order])]
            if tilted is None:
                focus = waiting[waiting.size // 2]
                tilted = self._last = self._at_tilt(self._tilt(float(epsilons[focus])))
            values, errors = np.array([tilted.delta(epsilon) for epsilon in epsilons[waiting]]).T
            close = (errors <= 1e-7 * (values + self.infinite)) | (waiting == focus)
            signed = values + errors if end == "upper" else np.maximum(values - errors, 0.0)
            answer[waiting[close]] = signed[close] + self.infinite
            tilted = None
        return np.asarray(np.minimum(answer, 1.0))

    def epsilon(self, delta: float, end: End) -> float:
        """An epsilon at which delta is at most (upper) or at least (lower) ``delta``, from one FFT and checked by ``deltas``."""
        left = delta - self.infinite
        if left <= 0.0:
            return float("inf")
        tilted = self._last = self._at_tilt(self._tilt_for(left))
        epsilon = tilted.solve(left)
        for attempt in range(16):
            value = float(self.deltas(np.array([epsilon]), end)[0])
            if (epsilon == 0.0 and end == "lower") or (value <= delta if end == "upper" else value >= delta):
                return epsilon
            nudge = 1e-9 * max(epsilon, self.spacing) * 8.0**attempt
            epsilon = epsilon + nudge if end == "upper" else max(epsilon - nudge, 0.0)
        return float(self.spacing * self.most if end == "upper" else 0.0)

    def _tilt_for(self, delta: float) -> float:
        """The tilt of the Chernoff bound: the c at which (log E e^(cY) - log delta) / c is least."""

        def slope(c: float) -> float:
            value, mean, _ = self.cumulant(c)
            return float(c * mean - value + np.log(delta))

        return self._root(slope)

    def _tilt(self, epsilon: float) -> float:
        """Near the minimiser of log E e^(cY) - c eps - log c(c+1), where the integrand of the tail integral peaks."""
        return self._root(lambda c: self.cumulant(c)[1] - epsilon - 1.0 / c - 1.0 / (c + 1.0))

    def _root(self, slope: Callable[[float], float]) -> float:
        """Where a rising function of the tilt changes sign, to a tenth: any tilt is valid, a good one is accurate."""
        low, high = 1e-12, 1.0 / (np.sqrt(self.cumulant(0.0)[2]) + self.spacing)
        while slope(high) < 0.0 and high * self.spacing < SHARPEST:
            low, high = high, 2.0 * high
        low = max(low, 1e-3 * high)
        for _ in range(24):
            middle = np.sqrt(low * high)
            low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
            if high < 1.1 * low:
                break
        return float(np.sqrt(low * high))

    def _at_tilt(self, c: float) -> _Tilted:
        """The total loss under the tilt c, by one FFT."""
        log_m, mean, variance = self.cumulant(c)
        points, first, wrapped = self._window(c, log_m, mean, variance)
        law, noise = self._tilted_sum(c, points)
        wrapped += 8.0 * UNIT * sum(rounds for _, rounds, _ in self.parts)  # the masses themselves are rounded
        return _Tilted(c, log_m, self.spacing * (first + np.arange(points, dtype=np.float64)), np.roll(law, -(first % points)), wrapped, noise)

    def _window(self, c: float, log_m: float, mean: float, variance: float) -> tuple[int, int, float]:
        """Number of points, first index, and a bound on the tilted mass outside."""
        spacing, least, most = self.spacing, self.least, self.most
        sigma = np.sqrt(variance) + spacing
        probes = [k / sigma for k in (0.5, 1.0, 2.0, 4.0, 8.0)]
        upper = [(a, self.cumulant(c + a)[0] - log_m) for a in probes]
        lower = [(a, self.cumulant(c - a)[0] - log_m) for a in probes]
        right, left = (min((value + WRAP) / a for a, value in side) + shift for side, shift in ((upper, -mean), (lower, mean)))
        first, last = max(int((mean - left) / spacing) - 2, least), min(int((mean + right) / spacing) + 2, most)
        points = min(last - first + 1, MOST_POINTS)
        if points == MOST_POINTS:
            first = int(mean / spacing) - points // 2
            last = first + points - 1
        high, low = spacing * last, spacing * first
        above = 0.0 if last >= most else min(np.exp(min(value - a * high, 0.0)) for a, value in upper)
        below = 0.0 if first <= least else min(np.exp(min(value + a * low, 0.0)) for a, value in lower)
        return next_fast_len(points, real=True), first, float(above + below)

    def _tilted_sum(self, c: float, points: int) -> tuple[Floats, float]:
        """The law of the tilted total on a circle of ``points``, and a bound on the error of each entry."""
        log2 = np.log2(points) + 1.0
        transform: np.ndarray = np.ones(points // 2 + 1, dtype=np.complex128)
        amplified = 0.0
        for part, rounds, log_mass in self.parts:
            exponent = c * part.losses + log_mass
            tilted = np.exp(exponent - exponent.max())
            tilted /= tilted.sum()
            circle = np.bincount((part.index.astype(np.int64) % points), weights=tilted, minlength=points)
            phi = rfft(circle)
            transform *= phi**rounds
            amplified += rounds * 4.0 * UNIT * (log2 + 2.0) * float((np.abs(phi) ** (rounds - 1)).sum())
        noise = (amplified + 4.0 * UNIT * log2 * float(np.abs(transform).sum())) * 2.0 / points
        return irfft(transform, points), noise


@dataclass(frozen=True, slots=True, eq=False)
class _Tilted:
    """The law of the total loss Y, tilted: at y it has the mass P(Y = y) e^(c y - log_m), up to ``noise`` each and ``wrapped`` in all."""

    c: float
    log_m: float
    y: Floats
    law: Floats
    wrapped: float
    noise: float

    def solve(self, delta: float) -> float:
        """The epsilon at which E(1 - e^(eps - Y))_+ = delta: between grid points it is A - e^eps B, with A and B tail sums."""
        centre = float(self.law @ self.y)
        near = self.y > centre - 300.0 / max(self.c, 1.0)
        y, law = self.y[near], np.maximum(self.law[near], 0.0)
        mass = law * np.exp(self.c * (centre - y))  # in units of e^(log_m - c centre)
        goal = delta * np.exp(min(self.c * centre - self.log_m, 700.0))
        above = np.cumsum(mass[::-1])[::-1]
        below = np.cumsum((mass * np.exp(centre - y))[::-1])[::-1]
        fallen = np.searchsorted(np.exp(np.minimum(y - centre, 700.0)) * below - above, -goal)  # the answer lies just before this point
        if fallen >= y.size or above[fallen] <= goal or below[fallen] <= 0.0:
            return max(float(y[min(fallen, y.size - 1)]), 0.0)
        return max(centre + float(np.log((above[fallen] - goal) / below[fallen])), 0.0)

    def delta(self, epsilon: float) -> tuple[float, float]:
        """E(1 - e^(eps - Y))_+ over finite Y, and a bound on its error."""
        if self.log_m - self.c * epsilon > 600.0:  # the tilt does not suit this epsilon at all
            return 0.0, np.inf
        start = int(np.searchsorted(self.y, epsilon))
        y = self.y[start:]
        weight = -np.expm1(epsilon - y) * np.exp(-self.c * (y - epsilon))
        scale = float(np.exp(self.log_m - self.c * epsilon))
        value = scale * float(self.law[start:] @ weight)
        blur = UNIT * (64.0 + 16.0 * abs(self.log_m) + 16.0 * self.c * (epsilon + float(np.abs(self.y[[0, -1]]).max())))
        return value, scale * (2.0 * self.wrapped + self.noise * float(weight.sum())) + blur * abs(value)
