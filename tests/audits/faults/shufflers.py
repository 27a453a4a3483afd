"""Mistakes of the shuffler, for ``faults``. Every one hands on the reports, in an order that says
something of the order in which they came.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.mechanisms.shuffler import Reports
from shuffledp.sampling import source_of
from shuffledp.sampling.draws import permutation
from tests.audits.faults.reports import Planted

__all__ = [
    "BiasedSwaps",
    "FirstKept",
    "Halves",
    "LongSeed",
    "Lossy",
    "Neighbours",
    "Reversed",
    "Rotated",
    "ShortSeed",
    "Unshuffled",
]


class Ordered(Planted):
    """A shuffler with an order of its own."""

    def shuffle(self, reports: Reports) -> NDArray[Any]:
        return np.asarray(reports.rows[self.order(len(reports))])

    def order(self, n: int) -> NDArray[np.intp]:
        """Which report comes first, and so on."""
        return permutation(source_of(None), n)

    def below(self, n: int) -> int:
        """A random number below n."""
        return int(source_of(None).words(1, np.uint64)[0]) * n >> 64


class Unshuffled(Ordered):
    """The shuffler passes reports on as they come."""

    def order(self, n: int) -> NDArray[np.intp]:
        return np.arange(n)


class Reversed(Ordered):
    """The shuffler always uses the same order: backwards."""

    def order(self, n: int) -> NDArray[np.intp]:
        return np.arange(n)[::-1]


class Rotated(Ordered):
    """The shuffler begins at a random report and goes around, so that neighbors stay neighbors."""

    def order(self, n: int) -> NDArray[np.intp]:
        return np.roll(np.arange(n), self.below(n))


class FirstKept(Ordered):
    """The shuffler forgets the first report, which stays in its place."""

    def order(self, n: int) -> NDArray[np.intp]:
        return np.concatenate([[0], 1 + permutation(source_of(None), n - 1)])


class BiasedSwaps(Ordered):
    """The shuffler swaps each report with one from anywhere, not with one that is still to
    come: not all orders are equally likely.
    """

    def order(self, n: int) -> NDArray[np.intp]:
        order = list(range(n))
        words = source_of(None).words(n, np.uint64).tolist()
        for place, word in enumerate(words):
            other = word * n >> 64
            order[place], order[other] = order[other], order[place]
        return np.array(order)


class Neighbours(Ordered):
    """The shuffler swaps some neighbors and does nothing else."""

    def order(self, n: int) -> NDArray[np.intp]:
        pairs = np.arange(n - n % 2).reshape(-1, 2)
        swapped = source_of(None).words(len(pairs), np.uint8) & 1 == 1
        pairs[swapped] = pairs[swapped][:, ::-1]
        return np.concatenate([pairs.ravel(), np.arange(n - n % 2, n)])


class Halves(Ordered):
    """The shuffler shuffles the first half of the reports and then the second."""

    def order(self, n: int) -> NDArray[np.intp]:
        return np.concatenate([permutation(source_of(None), n // 2), n // 2 + permutation(source_of(None), n - n // 2)])


class ShortSeed(Ordered):
    """The shuffler's generator has a seed of 16 bits."""

    bits = 16

    def order(self, n: int) -> NDArray[np.intp]:
        return np.random.default_rng(self.below(1 << self.bits)).permutation(n)


class LongSeed(ShortSeed):
    """The shuffler's generator has a seed of 40 bits."""

    bits = 40


class Lossy(Ordered):
    """The shuffler loses duplicates."""

    def shuffle(self, reports: Reports) -> NDArray[Any]:
        return np.unique(reports.rows, axis=0)
