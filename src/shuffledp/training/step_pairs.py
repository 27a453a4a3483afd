"""One noisy step's two laws, with and without the record, in classes with a proven side.

P is the law of the step's output if the record takes part, Q if it does not, and u = P/Q. A sum of
u's under Q is all that the privacy of random allocation depends on, and convex functions of that
sum. So cut the outputs into cells. *Upper*: spread the mass of a cell to its two ends, preserving
the masses of P and Q: a mean-preserving spread of u, by which every such expectation can only grow.
*Lower*: merge each cell, a post-processing.

Rounding: on a cell that begins at a, both densities are known values at a times e to the power of
something small, so that integrals by Gauss's rule, of positive terms, are good to a few units in
the last place, and so is u at the borders, whose logarithm is computed in two floats. The
accountant allows for eight.

A curve whose large losses are rare, and count, is evaluated close to where delta is tiny, in steps
by which neither delta nor epsilon changes much. A chord over a step by which delta falls by a
factor of e^f lies above the curve by about f^2 / 8 of it. Any choice is valid; these make the cost
in epsilon a tenth of a percent.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from shuffledp._types import End, Floats
from shuffledp.accounting.accuracy import CURVE_GAP, FARTHEST_LOSS, RAREST_LOSS
from shuffledp.accounting.inversion import halve, mean
from shuffledp.accounting.rounds import Round
from shuffledp.errors import LARGEST_EPSILON, InvalidInput
from shuffledp.randomizers.gaussian_delta import SLACK, gaussian_delta
from shuffledp.randomizers.matrix import FromMatrix
from shuffledp.randomizers.parameters import check_between, check_fields, checked
from shuffledp.randomizers.randomizer import Atoms
from shuffledp.sampling.draws import log_at_least

SMALLEST_SIGMA, LARGEST_SIGMA = 1e-3, 1e6
WIDEST = 1.0 / 16.0  # a cell of the Gaussian, in deviations
WIDEST_LOG = 1.0 / 24.0  # and in log u
MOST_CELLS = 1500  # where the likely outputs are
USUAL, FARTHEST = 9.0, 35.0  # deviations, beyond which cells are wider, and beyond which there is one
STRETCH = 8.0
SMALL_RATIOS = 3.0  # deviations
LARGEST_LOG = 690.0  # of u
DEEPEST = 37.0  # deviations, beyond which densities are no floats
APART = 60.0  # deviations, from which on P and Q are told apart but for 1e-190
LEAST = 1e-300
ROUNDING = 1e-15
GRID = 2.0**-20  # borders are multiples of it, so that their squares are exact
LAPLACE_CELLS = (64, 2048)

NODES, WEIGHTS = (0.5 * (1.0 + each) for each in np.polynomial.legendre.leggauss(16))
WEIGHTS = WEIGHTS - 0.5


class StepPair(ABC):
    """The two laws of one step's output: P with the record, Q without it."""

    __slots__ = ()

    def __post_init__(self) -> None:
        check_fields(self)

    @abstractmethod
    def atoms(self, end: End) -> Atoms:
        """Q as hay and needle1, P as needle0: spread for the upper end, else merged."""

    @property
    @abstractmethod
    def epsilon0(self) -> float:
        """The largest |log u|, rounded up; infinite if there is none."""

    @abstractmethod
    def describe(self) -> str:
        """The noise, in words."""

    @property
    @abstractmethod
    def parameter(self) -> str:
        """What builds it, as an argument of ``RandomAllocation``."""

    def delta(self, epsilon: float, times: int = 1) -> float:
        """A delta that so many steps cannot exceed, in either order."""
        return 0.0 if epsilon >= times * self.epsilon0 * (1.0 + ROUNDING) else 1.0

    def epsilon(self, delta: float, times: int) -> float:
        """An epsilon at which that delta is at most ``delta``."""
        return times * self.epsilon0 * (1.0 + ROUNDING)

    def rdp(self, order: float) -> float:
        """A Renyi divergence that one step cannot exceed, in either order."""
        return self.epsilon0


def _noise(name: str, remedy: str) -> dict[str, Any]:
    """The metadata of a field that is the size of noise."""
    return checked(lambda value: check_between(name, value, SMALLEST_SIGMA, LARGEST_SIGMA, remedy=remedy))


@dataclass(frozen=True, slots=True)
class GaussianStep(StepPair):
    """Q = N(0, sigma^2) and P = N(1, sigma^2): the pair that dominates a sum of vectors, of norm at
    most 1 each, plus Gaussian noise.

    In units of sigma, with m = 1/sigma: log u = m z - m^2/2, z ~ N(0, 1) under Q.
    """

    sigma: float = field(metadata=_noise("sigma", "It is the noise over the clipping norm; 0.5 to 5 is usual."))

    @property
    def epsilon0(self) -> float:
        return math.inf

    def describe(self) -> str:
        return f"Gaussian noise, sigma = {self.sigma:.6g}"

    @property
    def parameter(self) -> str:
        return f"sigma={self.sigma!r}"

    def delta(self, epsilon: float, times: int = 1) -> float:
        # Gaussian mechanisms together are one with less noise (Dong, Roth and Su 2022).
        noise = self.sigma / math.sqrt(times) * (1.0 - ROUNDING * (times > 1))
        return min(gaussian_delta(noise, epsilon) * (1.0 + SLACK) + LEAST, 1.0)

    def epsilon(self, delta: float, times: int) -> float:
        if self.delta(LARGEST_EPSILON, times) > delta:
            return math.inf
        least, _ = halve(lambda e: self.delta(e, times) <= delta, LARGEST_EPSILON, 0.0, middle=mean, steps=60)
        return least

    def rdp(self, order: float) -> float:
        return order / (2.0 * self.sigma**2) * (1.0 + 1e-14)

    def atoms(self, end: End) -> Atoms:
        # Less noise leaks more: the distance is rounded to the safe side.
        if end == "lower":
            absent, present = normal_cells(math.nextafter(1.0 / self.sigma, 0.0), (0.0, 1.0))
            return Atoms("merged", absent, present, absent)
        m = math.nextafter(1.0 / self.sigma, math.inf)
        z = _gaussian_borders(m)
        ends = _Ends(float(ndtr(z[0])), float(ndtr(z[0] - m)), float(ndtr(-z[-1])), float(ndtr(m - z[-1])))
        return _spread(normal_masses(z), m, np.diff(z), normal_ratio(m, z), ends)


@dataclass(frozen=True, slots=True)
class LaplaceStep(StepPair):
    """Q and P are Laplace laws of this scale around 0 and 1: a sum of numbers, of size at most 1
    each, plus Laplace noise.

    log u = (2y - 1) / scale between 0 and 1, and constant outside.
    """

    scale: float = field(metadata=_noise("scale", "It is a step's mean absolute noise; 0.5 to 5 is usual."))

    @property
    def epsilon0(self) -> float:
        return math.nextafter(1.0 / self.scale, math.inf)

    def describe(self) -> str:
        return f"Laplace noise, scale = {self.scale:.6g}"

    @property
    def parameter(self) -> str:
        return f"scale={self.scale!r}"

    def atoms(self, end: End) -> Atoms:
        rate = math.nextafter(1.0 / self.scale, math.inf if end == "upper" else 0.0)
        fewest, most = LAPLACE_CELLS
        cells = 1 << math.ceil(math.log2(min(max(fewest, 2.0 * rate / WIDEST_LOG), most)))
        y, width = np.arange(cells + 1) / cells, np.full(cells, 1.0 / cells)
        h = np.outer(width, NODES)
        density = 0.5 * rate * _exponential(-rate, y, 0.0, 0.0)[:-1, None] * np.exp(-rate * h)
        masses = density * np.outer(width, WEIGHTS)
        u = _exponential(2.0 * rate, y, -rate, 0.0)
        if end == "upper":
            inside = _spread(masses, 2.0 * rate, width, u, _Ends(0.0, 0.0, 0.0, 0.0))
            absent, present = inside.hay, inside.needle0
        else:
            absent, present = masses.sum(axis=1), u[:-1] * (masses * np.exp(2.0 * rate * h)).sum(axis=1)
        # Below 0 and above 1 the ratio is constant: two more classes, and nothing to spread.
        outside = 0.5 * math.exp(-rate)
        hay = np.concatenate([[0.5], absent, [outside]])
        return Atoms("spread" if end == "upper" else "merged", hay, np.concatenate([[outside], present, [0.5]]), hay)


@dataclass(frozen=True, slots=True)
class FiniteStep(StepPair):
    """Two laws on finitely many outputs, as (P, Q): with the record, and without it."""

    pair: ArrayLike = field(metadata=checked(lambda value: _check_pair(value)))

    @property
    def epsilon0(self) -> float:
        """Of the masses as they are: normalized once more, nearly equal ones would move."""
        columns = np.array(self.pair).T.tolist()
        if any((present == 0.0) != (absent == 0.0) for present, absent in columns):
            return math.inf
        ratios = [Fraction(max(column)) / Fraction(min(column)) for column in columns if max(column) > 0.0]
        return log_at_least(max(ratios))

    def describe(self) -> str:
        return f"a pair of laws on {np.shape(self.pair)[1]} outputs"

    @property
    def parameter(self) -> str:
        return f"pair={self.pair!r}"

    def atoms(self, end: End) -> Atoms:
        present, absent = np.array(self.pair)
        return Atoms("as it is", absent, present, absent)


def _check_pair(pair: ArrayLike) -> tuple[tuple[float, ...], ...]:
    try:
        table = FromMatrix(pair).table
    except InvalidInput as error:
        raise InvalidInput(f"pair, where row 0 is the law with the record and row 1 without it: {error}") from None
    if len(table) != 2:
        raise InvalidInput(
            f"pair must be two laws, got {len(table)}. Give the law of a step's output with the record, then without."
        )
    return tuple(tuple(row) for row in table.tolist())


class _Ends(NamedTuple):
    """What lies below the first border and above the last: masses of Q and P."""

    absent_below: float
    present_below: float
    absent_above: float
    present_above: float


def normal_cells(m: float, places: tuple[float, ...]) -> tuple[Floats, ...]:
    """N(place m, 1) for every place from 0 up, in merged cells: for lower ends."""
    z = _gaussian_borders(m * max(places))
    masses, h = normal_masses(z), np.outer(np.diff(z), NODES)
    laws = []
    for place in places:
        at = place * m
        inside = normal_ratio(at, z)[:-1] * (masses * np.exp(at * h)).sum(axis=1)
        # Far out a mass may be more than a float can say; none is 0, which would tell all.
        laws.append(np.maximum(np.concatenate([[ndtr(z[0] - at)], inside, [ndtr(at - z[-1])]]), LEAST))
    return tuple(laws)


def normal_masses(z: Floats) -> Floats:
    """Masses of N(0, 1) at the nodes of every cell, a row each."""
    width = np.diff(z)
    h = np.outer(width, NODES)
    start = np.exp(-0.5 * z[:-1] ** 2) / math.sqrt(2.0 * math.pi)
    return np.asarray(start[:, None] * np.exp(-(z[:-1, None] + 0.5 * h) * h) * np.outer(width, WEIGHTS))


def normal_ratio(m: float, z: Floats) -> Floats:
    """The density of N(m, 1) over that of N(0, 1)."""
    return _exponential(m, z, -0.5 * m * m, _product_error(-0.5 * m, m))


def _spread(masses: Floats, slope: float, width: Floats, u: Floats, ends: _Ends) -> Atoms:
    """Cells spread to their borders; ``masses`` are Q's at the nodes of every cell (rows), and u
    grows there like e^(slope h), at distances h from its beginning.
    """
    h = np.outer(width, NODES)
    # What share of an output goes to the far end of its cell: (u - u_near) / (u_far - u_near).
    near = -(masses * np.expm1(slope * (h - width[:, None]))).sum(axis=1) / -np.expm1(-slope * width)
    far = (masses * np.expm1(slope * h)).sum(axis=1) / np.expm1(slope * width)
    hay = np.append(near, 0.0) + np.insert(far, 0, 0.0)
    # Below the first border: to u = 0 and to the border. Above the last: Q's mass to the border,
    # and P's mass counts as seen, which is a little more than it leaves.
    carried = ends.present_below / u[0]
    hay[0] += carried
    hay[-1] += ends.absent_above
    needle = np.concatenate([[0.0], hay * u, [ends.present_above]])
    hay = np.concatenate([[max(ends.absent_below - carried, 0.0)], hay, [0.0]])
    return Atoms("spread", hay, needle, hay)


def _gaussian_borders(m: float) -> Floats:
    """Equal cells where P or Q is likely, wider ones beyond, while u is a float."""
    if m > APART:
        return np.array([0.5 * m])
    low, high = max(-FARTHEST, 0.5 * m - LARGEST_LOG / m), min(m + FARTHEST, 0.5 * m + LARGEST_LOG / m, DEEPEST)
    first, last = max(low, -USUAL), min(high, m + USUAL)
    step = max(min(WIDEST, WIDEST_LOG / m), (last - first) / MOST_CELLS)
    step = GRID * max(math.floor(step / GRID), 1)
    wide = STRETCH * step
    first = max(first, -SMALL_RATIOS)  # below, u is small and its cells may be wider
    inner = step * np.arange(math.floor(first / step), math.ceil(last / step) + 1)
    thin = 2.0 * step
    thinner = inner[0] - thin * np.arange(max(math.floor((inner[0] - max(low, -USUAL)) / thin), 0), 0, -1)
    inner = np.concatenate([thinner, inner])
    left = inner[0] - wide * np.arange(math.floor((inner[0] - low) / wide), 0, -1)
    right = inner[-1] + wide * np.arange(1, math.floor((high - inner[-1]) / wide) + 1)
    return np.concatenate([left, inner, right])


def _exponential(rate: float, z: Floats, shift: float, error: Floats | float) -> Floats:
    """e^(rate z + shift + error), with the exponent in two floats: one would be too rough."""
    product = rate * z
    total = product + shift
    back = total - product
    rest = (product - (total - back)) + (shift - back) + _product_error(rate, z) + error
    return np.asarray(np.exp(total) * (1.0 + rest))


def _product_error(a: float, b: Floats | float) -> Floats:
    """What a * b in floats misses of their product, exactly (Dekker 1971)."""
    (a_high, a_low), (b_high, b_low) = _halves(np.float64(a)), _halves(np.asarray(b, dtype=np.float64))
    return np.asarray(((a_high * b_high - a * b) + a_high * b_low + a_low * b_high) + a_low * b_low)


def _halves(x: Floats | np.float64) -> tuple[Floats, Floats]:
    """A float as the sum of two with half of its digits each."""
    large = np.asarray(x * 134217729.0)  # 2^27 + 1
    high = large - (large - x)
    return high, np.asarray(x - high)


STRIDE = 2  # grid points, up to so many typical losses:
NEAR = 2.5
FALL, GROWTH = 0.25, 0.06  # of log delta, and of log epsilon, from one knot to the next
TINY, COARSER = 1e-18, 8.0  # below, knots are so many times sparser
PROBED = 1.12


def tail_knots(part: Round, spacing: float) -> Floats:
    """Indices on the grid of multiples of ``spacing``, ascending from 0."""
    near, far = min(NEAR * part.typical_loss, part.ceiling), min(part.ceiling, FARTHEST_LOSS)
    probes = np.append(near * PROBED ** np.arange(math.log(max(far / near, 1.0)) / math.log(PROBED)), far)
    values = part._end("upper", probes, CURVE_GAP)
    last = np.flatnonzero((values <= RAREST_LOSS) | (probes == far))[0] + 1
    probes, values = probes[:last], np.minimum.accumulate(values[:last])
    fallen = np.maximum(-np.log(np.maximum(values, 1e-300)), 0.0)
    steps = np.minimum(fallen, -math.log(TINY)) / FALL + np.maximum(fallen + math.log(TINY), 0.0) / (COARSER * FALL)
    steps += np.log(probes / probes[0]) / GROWTH
    apart = np.interp(np.arange(steps[0], steps[-1]), steps, probes)
    close = STRIDE * np.arange(math.ceil(near / spacing / STRIDE) + 1)
    places = np.concatenate([[0, 1], close, np.ceil(np.append(apart, probes[-1]) / spacing)])
    return np.unique(places).astype(np.float64)
