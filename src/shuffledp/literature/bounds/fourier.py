"""The Fourier accountant: Algorithm 1 of Koskela, Heikkila and Honkela, arXiv 2106.00477, first
version, section 2.2.

A pair of laws is given by its privacy losses and their probabilities, eq (2.2). ``Grid`` moves
every loss to the next of m points in [-L, L); ``compose`` takes the power of its transform;
``Composed`` reads delta and epsilon off the result, at as many places as wanted.

Two things are ours, so that the ends are strict. The mass that may have wrapped around the grid is
bounded (Chernoff) and counted against the answer; the paper refers to an error analysis elsewhere.
And a loss beyond the grid counts as infinite for the upper end and as L for the lower one; the
paper assumes there is none. One round needs no transform. What is left is the rounding of the
transform, for which ``NOISE`` stands.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.fft

from shuffledp._types import Floats
from shuffledp.accounting.bisection import halve, whole

__all__ = ["Composed", "Grid", "L", "M", "Pair", "Terms"]

L = 20.0  # the paper's grid, in all its figures
M = 10_000_000
BATCH = 1 << 20  # losses placed at once
NOISE = (
    1e-14  # what the transforms' rounding may add up to in one tail, per round; 1.2e-15 was the most seen, in 16 rounds
)
TILTS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)

Terms = Iterator[tuple[Floats, Floats]]


@dataclass(frozen=True, slots=True)
class Pair:
    """A privacy loss distribution: ``terms()`` yields arrays of losses, which may be infinite, and
    their probabilities.

    ``neglected`` bounds the mass that truncation dropped. ``weighted``: delta(eps) integrates 1 -
    e^(eps-s) over the composed losses s > eps, eq (2.3); otherwise it is their plain mass s >= eps,
    eq (2.4) of the revision.
    """

    terms: Callable[[], Terms]
    neglected: float
    weighted: bool


class Grid:
    """A pair on the grid: losses move to the right, or to the left if ``lower`` (eq (2.5)), so that
    delta only grows, or only falls (Lemma 6).
    """

    def __init__(self, pair: Pair, *, L: float = L, m: int = M, lower: bool = False) -> None:
        if m % 2:
            raise ValueError(f"m must be even, got {m}. Algorithm 1 swaps two halves of the grid.")
        self.pair, self.L, self.m, self.lower = pair, L, m, lower
        self.step = 2.0 * L / m
        self.masses = np.zeros(m)
        self.infinite = 0.0 if lower else pair.neglected
        for losses, probabilities in _batches(pair.terms()):
            self._place(losses, probabilities)

    def _place(self, losses: Floats, probabilities: Floats) -> None:
        position = (losses + self.L) / self.step
        position = np.clip(np.floor(position) if self.lower else np.ceil(position), -1.0, float(self.m))
        index = position.astype(np.int64)
        if self.lower:
            self.infinite += float(probabilities[np.isposinf(losses)].sum())
            keep = (index >= 0) & np.isfinite(losses)
            index = np.minimum(index, self.m - 1)
        else:
            self.infinite += float(probabilities[index == self.m].sum())
            keep = index < self.m
            index = np.maximum(index, 0)
        np.add.at(self.masses, index[keep], probabilities[keep])

    @cached_property
    def _spectrum(self) -> np.ndarray[tuple[int, ...], np.dtype[np.complex128]]:
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
        return Composed(
            law,
            self.step,
            infinite - slack if self.lower else infinite + slack,
            weighted=self.pair.weighted,
            lower=self.lower,
        )

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
                total += math.exp(
                    min(0.0, *(rounds * math.log(float(masses @ np.exp(t * losses))) - t * self.L for t in TILTS))
                )
        return min(total, 1.0)


class Composed:
    """The losses >= 0 after all rounds, as suffix sums of b and of b e^-z, so that delta at any
    epsilon is a subtraction.
    """

    def __init__(self, law: Floats, step: float, beyond: float, *, weighted: bool, lower: bool) -> None:
        self.step, self.beyond, self.lower = step, beyond, lower
        self.mass = _suffix_sums(law)
        self.discounted = _suffix_sums(law * np.exp(-step * np.arange(len(law)))) if weighted else None

    def delta(self, epsilon: float) -> float:
        """Algorithm 1's delta(epsilon), between 0 and 1."""
        first = min(math.floor(epsilon / self.step), len(self.mass) - 1)
        while first < len(self.mass) - 1 and (
            first * self.step <= epsilon if self.discounted is not None else first * self.step < epsilon
        ):
            first += 1
        return min(max(self.beyond + self._tail(first, epsilon), 0.0), 1.0)

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon >= 0 with delta(epsilon) <= ``delta``, infinite if there is none on
        the grid: bisection over its cells, then their closed form.

        The paper states delta(epsilon) and not how it inverts it.
        """
        target = delta - self.beyond
        if target <= 0.0:
            return math.inf
        weighted = self.discounted is not None
        if self._tail(1 if weighted else 0, 0.0) <= target:
            return 0.0

        def fits(place: int) -> bool:
            return self._tail(place + 1 if weighted else place, place * self.step) <= target

        high, low = halve(fits, len(self.mass) - 1, 0, middle=whole)
        if self.discounted is None:  # delta is constant between grid points
            return self.step * (low if self.lower else high)
        inside = (float(self.mass[low + 1]) - target) / float(self.discounted[low + 1])
        return min(max(math.log(inside), low * self.step), high * self.step) if inside > 0.0 else low * self.step

    def _tail(self, first: int, epsilon: float) -> float:
        return float(self.mass[first]) - (
            math.exp(epsilon) * float(self.discounted[first]) if self.discounted is not None else 0.0
        )


def _suffix_sums(values: Floats) -> Floats:
    return np.append(np.cumsum(values[::-1])[::-1], 0.0)


def _power(
    spectrum: np.ndarray[tuple[int, ...], np.dtype[np.complex128]], rounds: int
) -> np.ndarray[tuple[int, ...], np.dtype[np.complex128]]:
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
            yield (
                np.concatenate([losses for losses, _ in rows]),
                np.concatenate([probabilities for _, probabilities in rows]),
            )
            rows, size = [], 0
    if rows:
        yield (
            np.concatenate([losses for losses, _ in rows]),
            np.concatenate([probabilities for _, probabilities in rows]),
        )
