"""Many rounds: the law of the sum of independent losses, by one tilted FFT, with its errors counted.

For a total loss Y, delta(eps) = P(Y = inf) + E(1 - e^(eps - Y))_+. Tilting every round by e^(c loss) centres the sum where delta is decided, so
that small deltas keep their relative accuracy. Three errors are added to the ends: mass that the periodic FFT wraps around (Chernoff on both
sides), rounding in the transforms, and their amplification by the number of rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from shuffledp.pld.discretise import LossDistribution
from shuffledp.randomizers.base import End, Floats

__all__ = ["Composition"]

UNIT = 2.0**-52
MOST_POINTS = 1 << 22
WRAP = 32.0  # the window is widened until less than e^-WRAP of the tilted mass lies outside


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """Loss distributions on one grid, each repeated for a number of rounds."""

    parts: Sequence[tuple[LossDistribution, int]]

    @property
    def infinite(self) -> float:
        """The probability of an infinite total loss."""
        return float(-np.expm1(sum(rounds * np.log1p(-min(part.infinite, 1.0 - UNIT)) for part, rounds in self.parts)))

    def cumulant(self, c: float) -> tuple[float, float, float]:
        """log E[e^(c Y); Y finite] and its first two derivatives."""
        value = mean = variance = 0.0
        for part, rounds in self.parts:
            exponent = c * part.losses + np.log(part.mass)
            top = exponent.max()
            weight = np.exp(exponent - top)
            total = weight.sum()
            first = weight @ part.losses / total
            value += rounds * (top + np.log(total))
            mean += rounds * first
            variance += rounds * (weight @ (part.losses - first) ** 2 / total)
        return float(value), float(mean), float(variance)

    def deltas(self, epsilons: Floats, end: End) -> Floats:
        """The chosen end of delta at every epsilon >= 0."""
        answer = np.full(epsilons.size, np.nan)
        order = np.argsort(epsilons)
        while np.isnan(answer).any():
            waiting = order[np.isnan(answer[order])]
            focus = waiting[waiting.size // 2] if np.isnan(answer).all() else waiting[0]
            values, errors = self._at_tilt(self._tilt(float(epsilons[focus])), epsilons[waiting])
            exact = errors <= 1e-6 * np.maximum(values + self.infinite, 1e-300)
            exact[waiting == focus] = True
            signed = values + errors if end == "upper" else np.maximum(values - errors, 0.0)
            answer[waiting[exact]] = signed[exact] + self.infinite
        return np.asarray(np.minimum(answer, 1.0))

    def _tilt(self, epsilon: float) -> float:
        """Near the minimiser of log E e^(cY) - c eps - log c(c+1), where the integrand of the tail integral peaks."""
        low, high = 1e-12, 1.0
        spread = 1.0 / max(np.sqrt(self.cumulant(0.0)[2]), 1e-300)

        def slope(c: float) -> float:
            return self.cumulant(c)[1] - epsilon - 1.0 / c - 1.0 / (c + 1.0)

        high = spread
        while slope(high) < 0.0 and high < 1e12 * spread:
            low, high = high, 2.0 * high
        for _ in range(24):
            middle = np.sqrt(low * high) if low > 0.0 else high / 2.0
            low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
            if high < 1.05 * low:
                break
        return float(np.sqrt(low * high))

    def _at_tilt(self, c: float, epsilons: Floats) -> tuple[Floats, Floats]:
        """Finite parts of delta and error bounds, from one tilted FFT."""
        spacing = self.parts[0][0].spacing
        log_m, mean, variance = self.cumulant(c)
        points, first, wrapped = self._window(c, log_m, mean, variance)
        law, noise = self._tilted_sum(c, points)
        law = np.roll(law, -(first % points))
        y = spacing * (first + np.arange(points))
        values, errors = np.empty(epsilons.size), np.empty(epsilons.size)
        for i, epsilon in enumerate(epsilons):
            start = int(np.searchsorted(y, epsilon))
            weight = -np.expm1(epsilon - y[start:]) * np.exp(-c * (y[start:] - epsilon))
            scale = np.exp(min(log_m - c * epsilon, 700.0))
            values[i] = scale * (law[start:] @ weight)
            blur = UNIT * (64.0 + 16.0 * abs(log_m) + 16.0 * c * (abs(epsilon) + abs(mean)))
            errors[i] = scale * (2.0 * wrapped + noise * weight.sum()) + blur * abs(values[i])
        return values, errors

    def _window(self, c: float, log_m: float, mean: float, variance: float) -> tuple[int, int, float]:
        """Number of points, first index, and a bound on the tilted mass outside."""
        spacing = self.parts[0][0].spacing
        least = sum(rounds * int(part.index[0]) for part, rounds in self.parts)
        most = sum(rounds * int(part.index[-1]) for part, rounds in self.parts)
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
        for part, rounds in self.parts:
            exponent = c * part.losses + np.log(part.mass)
            tilted = np.exp(exponent - exponent.max())
            tilted /= tilted.sum()
            circle = np.bincount((part.index.astype(np.int64) % points), weights=tilted, minlength=points)
            phi = rfft(circle)
            transform *= phi**rounds
            amplified += rounds * 4.0 * UNIT * (log2 + 2.0) * float((np.abs(phi) ** (rounds - 1)).sum())
        noise = (amplified + 4.0 * UNIT * log2 * float(np.abs(transform).sum())) * 2.0 / points
        return irfft(transform, points), noise
