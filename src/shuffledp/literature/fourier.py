"""The Fourier accountant: Algorithm 1 of Koskela, Heikkila and Honkela, arXiv 2106.00477, first
version, section 2.2. The revision describes it in words (its section 2.2).

A pair of distributions is given by its privacy losses and their probabilities, (2.2) of both
versions. ``Grid`` moves every loss to the next of m points in [-L, L); ``compose`` takes the power
of its transform; ``Composed`` reads delta and epsilon off the result, at as many places as wanted.
``FourierAccountant`` is both ends of all that.

Three things are ours, so that the ends are strict. The mass that may have wrapped around the grid
is bounded (Chernoff) and counted against the answer; the paper refers to an error analysis
elsewhere. A loss beyond the grid counts as infinite for the upper end and as L for the lower one;
the paper assumes there is none. And what rounding may have done to probabilities and losses moves
both outwards. One round needs no transform. What is left is the rounding of the transform, for
which ``NOISE`` stands.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import le, lt
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.accounting.curves import Bound
from shuffledp.accounting.inversion import halve, whole
from shuffledp.errors import (
    LARGEST_EPSILON,
    InvalidInput,
    check_count,
    check_delta,
    check_epsilon,
    check_finite,
    check_positive,
    check_rounds,
)

L = 20.0  # the paper's grid, in all its figures
M = 10_000_000
LEAST_L, MOST_L, MOST_M = 1e-6, 1e6, 10**8
WIDTH = "Losses from -L to L are on the grid; the paper takes 20."
BATCH = 1 << 20  # losses placed at once
NOISE = 1e-14  # what the transforms' rounding may add to one tail, per round; 1.2e-15 was the most seen, in 16 rounds
ROUNDED = 1e-12  # relative: the rounding of probabilities that are given, and of sums over the grid
ONE = 1e-9  # probabilities that miss 1 by no more add up to it
REMEDY = "Pass those of all outcomes, as in {'yes': 0.75, 'no': 0.25}."
TILTS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)

Terms = Iterator[tuple[Floats, Floats]]
Law = Mapping[Any, float]  # the probability of each outcome
Spectrum = NDArray[np.complex128]


@dataclass(frozen=True, slots=True)
class Pair:
    """A privacy loss distribution: ``terms()`` yields arrays of losses, which may be infinite, and
    their probabilities.

    ``neglected`` bounds the mass that truncation dropped. ``weighted``: delta(eps) integrates 1 -
    e^(eps-s) over the composed losses s > eps, (2.3) of both versions; otherwise it is their plain
    mass s >= eps, (2.4) of the revision. ``rounded`` bounds what rounding does: the relative error
    of a probability, and the absolute error of a loss.
    """

    terms: Callable[[], Terms]
    neglected: float
    weighted: bool
    rounded: float = ROUNDED

    @classmethod
    def of(cls, p: Law, q: Law) -> "Pair":
        """The losses of p against q. An outcome that is left out has probability 0."""
        outcomes = list({**p, **q})
        above, below = (
            np.array([check_finite("a probability", law.get(each, 0.0), remedy=REMEDY) for each in outcomes])
            for law in (p, q)
        )
        missed = float(np.max(np.abs([1.0 - above.sum(), 1.0 - below.sum()])))
        if not missed <= ONE or min(above.min(), below.min()) < 0.0:
            raise InvalidInput(f"p and q must each be probabilities that add up to 1. {REMEDY}")
        return cls(lambda: iter([(log_ratio(above, below), above)]), missed, weighted=True, rounded=ROUNDED + missed)


class Grid:
    """A pair on the grid: losses move to the right, or to the left if ``lower`` ((2.5) of the first
    version), so that delta only grows, or only falls (its Lemma 6).
    """

    def __init__(self, pair: Pair, *, L: float = L, m: int = M, lower: bool = False) -> None:
        L = check_positive("L", L, remedy=WIDTH)
        if not LEAST_L <= L <= MOST_L:
            raise InvalidInput(f"L must lie in [{LEAST_L:g}, {MOST_L:g}], got {L:g}. {WIDTH}")
        points = "m counts the points of the grid; the paper takes 10,000,000."
        m = check_count("m", m, least=2, most=MOST_M, remedy=points)
        if m % 2:
            raise InvalidInput(f"m must be even, got {m}. Algorithm 1 swaps two halves of the grid; pass {m + 1}.")
        self.pair, self.L, self.m, self.lower = pair, L, m, lower
        self.step = 2.0 * L / m
        self.masses = np.zeros(m)
        self.infinite = 0.0 if lower else pair.neglected
        kept = 1.0 - pair.rounded if lower else 1.0 + pair.rounded
        for losses, probabilities in _batches(pair.terms()):
            self._place(losses, kept * probabilities)

    def _place(self, losses: Floats, probabilities: Floats) -> None:
        position = (losses + self.L) / self.step
        index = np.clip(np.floor(position) if self.lower else np.ceil(position), -1.0, float(self.m)).astype(np.int64)
        if self.lower:
            lost, keep, index = np.isposinf(losses), (index >= 0) & np.isfinite(losses), np.minimum(index, self.m - 1)
        else:
            lost, keep, index = index == self.m, index < self.m, np.maximum(index, 0)
        self.infinite += float(probabilities[lost].sum())
        np.add.at(self.masses, index[keep], probabilities[keep])

    @cached_property
    def _spectrum(self) -> Spectrum:
        return np.asarray(scipy.fft.rfft(scipy.fft.fftshift(self.masses)))

    def compose(self, rounds: int) -> "Composed":
        """b = D F^-1(F(D a)^rounds), where D swaps the two halves, and what it takes to keep its
        tails strict.
        """
        if rounds == 1:
            law = self.masses[self.m // 2 :]
        else:
            law = scipy.fft.irfft(_power(self._spectrum, rounds), self.m, overwrite_x=True)[: self.m // 2]
        infinite = -math.expm1(rounds * math.log1p(-min(self.infinite, 1.0 - 1e-16)))
        slack = 0.0 if rounds == 1 else self._wrapped(rounds) + rounds * NOISE
        beyond, blur = infinite - slack if self.lower else infinite + slack, rounds * self.pair.rounded
        return Composed(law, self.step, beyond, weighted=self.pair.weighted, lower=self.lower, blur=blur)

    def _wrapped(self, rounds: int) -> float:
        """At most how much of the composed mass lies outside [-L, L): 0 if it cannot, else
        Chernoff's bound at the best of a few tilts.
        """
        used = np.flatnonzero(self.masses)
        if not used.size:
            return 0.0
        points, masses = self.step * used - self.L, self.masses[used]
        total = 0.0
        for losses in (points, -points):
            if rounds * losses.max() >= self.L:
                with np.errstate(over="ignore"):  # a tilt that overflows is not the best
                    tilted = [rounds * math.log(float(masses @ np.exp(t * losses))) - t * self.L for t in TILTS]
                total += math.exp(min(0.0, *tilted))
        return min(total, 1.0)


class Composed:
    """The losses >= 0 after all rounds, as suffix sums of b and of b e^-z, so that delta at any
    epsilon is a subtraction. ``blur`` is by how much rounding may have moved a loss.
    """

    def __init__(self, law: Floats, step: float, beyond: float, *, weighted: bool, lower: bool, blur: float) -> None:
        self.step, self.beyond, self.lower, self.blur = step, beyond, lower, blur if lower else -blur
        self.mass = _suffix_sums(law)
        self.discounted = _suffix_sums(law * np.exp(-step * np.arange(len(law)))) if weighted else None

    def delta(self, epsilon: float) -> float:
        """Algorithm 1's delta(epsilon), between 0 and 1."""
        epsilon += self.blur
        first = min(math.floor(epsilon / self.step), len(self.mass) - 1)
        short = le if self.discounted is not None else lt
        while first < len(self.mass) - 1 and short(first * self.step, epsilon):
            first += 1
        return min(max(self.beyond + self._tail(first, epsilon), 0.0), 1.0)

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon >= 0 with delta(epsilon) <= ``delta``, infinite if there is none on
        the grid, as far as e^epsilon is a float: bisection over its cells, then their closed form.

        The paper states delta(epsilon) and not how it inverts it.
        """
        target = delta - self.beyond
        if target <= 0.0:
            return math.inf
        weighted = self.discounted is not None
        if self.delta(0.0) <= delta:
            return 0.0

        def fits(place: int) -> bool:
            return self._tail(place + 1 if weighted else place, place * self.step) <= target

        end = len(self.mass) - 1
        last = min(end, math.floor(LARGEST_EPSILON / self.step))
        if last < end and not fits(last):
            return last * self.step - self.blur if self.lower else math.inf
        high, low = halve(fits, last, 0, middle=whole)
        place = self.step * (low if self.lower else high)  # where delta is constant between grid points
        if self.discounted is not None:
            excess = float(self.mass[low + 1]) - target
            place = math.log(excess / float(self.discounted[low + 1])) if excess > 0.0 else 0.0
            place = min(max(place, low * self.step), high * self.step)
        return max(place - self.blur, 0.0)

    def _tail(self, first: int, epsilon: float) -> float:
        return float(self.mass[first]) - (
            math.exp(epsilon) * float(self.discounted[first]) if self.discounted is not None else 0.0
        )


class FourierAccountant:
    """The Fourier accountant: both ends of what a pair of distributions leaks after some rounds,
    delta_L <= delta <= delta_R (Lemma 6 of the first version).

    Of several pairs the largest answer counts; ``between`` takes two distributions in both orders,
    as Definition 1 asks (both versions). Losses are rounded to ``m`` points from -L to L: a larger
    m brings the ends together, a larger L makes room for more rounds. The ends are those of the
    pair: they say of a mechanism what the pair says of it.

    >>> yes, no = {"yes": 0.75, "no": 0.25}, {"yes": 0.25, "no": 0.75}
    >>> accountant = FourierAccountant.between(yes, no, m=100_000)
    >>> accountant.delta(epsilon=2.0, rounds=3)
    Bound(lower=0.3063, upper=0.3065)
    """

    def __init__(self, *pairs: Pair, L: float = L, m: int = M) -> None:
        if not pairs:
            raise InvalidInput("a Fourier accountant must be given a pair, got nothing. Pass Pair.of(p, q).")
        self.pairs, self.L, self.m = pairs, L, m
        self._grids: dict[bool, list[Grid]] = {}
        self._known: dict[bool, tuple[int, list[Composed]]] = {}

    @classmethod
    def between(cls, p: Law, q: Law, *, L: float = L, m: int = M) -> "FourierAccountant":
        """Of two distributions, p against q and q against p: the probabilities of each outcome."""
        return cls(Pair.of(p, q), Pair.of(q, p), L=L, m=m)

    def delta(self, *, epsilon: float, rounds: int = 1) -> Bound:
        """Both ends of delta at ``epsilon``."""
        epsilon = check_epsilon(epsilon)
        return self._ends(rounds, lambda curve: curve.delta(epsilon))

    def epsilon(self, *, delta: float, rounds: int = 1) -> Bound:
        """Both ends of epsilon at ``delta``; the upper one is infinite if the grid shows none."""
        delta = check_delta(delta)
        return self._ends(rounds, lambda curve: curve.epsilon(delta))

    def curves(self, rounds: int, *, lower: bool) -> list["Composed"]:
        """The composed losses of every pair; those of the last number of rounds are kept."""
        known = self._known.get(lower)
        if known is None or known[0] != rounds:
            if lower not in self._grids:
                self._grids[lower] = [Grid(pair, L=self.L, m=self.m, lower=lower) for pair in self.pairs]
            known = self._known[lower] = rounds, [grid.compose(rounds) for grid in self._grids[lower]]
        return known[1]

    def _ends(self, rounds: int, read: Callable[["Composed"], float]) -> Bound:
        rounds = check_rounds(rounds)
        lower, upper = (max(map(read, self.curves(rounds, lower=lower))) for lower in (True, False))
        return Bound(lower, upper, method=f"Fourier accountant with L = {self.L:g} and m = {self.m:,}")


def log_ratio(above: Floats, below: Floats) -> Floats:
    """log(above / below), infinite where only ``below`` is 0 and 0 where both are, without
    warnings.
    """
    with np.errstate(over="ignore"):  # a ratio above every float is infinite, too
        ratio = np.divide(above, below, out=np.where(above > 0.0, math.inf, 1.0), where=(below > 0.0) & (above > 0.0))
    return np.asarray(np.log(np.where(above > 0.0, ratio, 1.0)))


def _suffix_sums(values: Floats) -> Floats:
    return np.append(np.cumsum(values[::-1])[::-1], 0.0)


def _power(spectrum: Spectrum, rounds: int) -> Spectrum:
    """The power by repeated squaring: numpy's own takes logarithms."""
    base, power = spectrum.copy(), np.ones_like(spectrum)
    while rounds:
        if rounds % 2:
            power *= base
        rounds //= 2
        if rounds:
            base *= base
    return power


def _batches(terms: Terms) -> Terms:
    """The same terms in arrays of about ``BATCH``: the rows of a double sum may be short."""
    rows: list[tuple[Floats, Floats]] = []
    size = 0
    for row in terms:
        rows.append(row)
        size += len(row[0])
        if size >= BATCH:
            yield _joined(rows)
            rows, size = [], 0
    if rows:
        yield _joined(rows)


def _joined(rows: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    losses, probabilities = zip(*rows, strict=True)
    return np.concatenate(losses), np.concatenate(probabilities)
