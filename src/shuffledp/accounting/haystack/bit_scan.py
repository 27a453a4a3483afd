"""How often one bit was set, for one dataset and for all of them: which others hold its value."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shuffledp._types import End, Floats, Integers
from shuffledp.accounting.accuracy import DEFAULT_GAP, ROUGH_GAP
from shuffledp.accounting.haystack.bits import bit_deltas
from shuffledp.randomizers.bit_law import BitLaw

__all__ = ["BitDataset", "BitScan"]

MOST_PARTS = 16  # in which one block is divided at a time
MOST_BLOCKS = 300  # in all
SAMPLED = 16  # datasets tried for the lower end each time
NOTHING = 1e-25  # no smaller delta is looked at more closely
CLOSE, WIDE = 4e-4, 4e-3  # the relative width of epsilon: for answers, and for searches


@dataclass(frozen=True, slots=True)
class BitDataset:
    """Besides the target, ``holders`` hold the bit's value and ``others`` do not; the target holds
    it in the ``first`` world, or else in the second.
    """

    law: BitLaw
    holders: int
    others: int
    first: bool

    @property
    def name(self) -> str:
        """Which dataset this is, in words."""
        return f"{self.holders} of the others hold the value"

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """Lower and upper ends of delta at every epsilon >= 0; ``gap`` makes no difference."""
        del gap
        holders, others = np.array([self.holders]), np.array([self.others])
        lower, upper = (_ends(self.law, holders, others, self.first, epsilons, end)[0] for end in ("lower", "upper"))
        return lower, upper

    def mirrored(self) -> BitDataset:
        """The same where 0 and 1 are treated alike, in the form that all such share."""
        if not self.first or self.law != self.law.flipped():
            return self
        return BitDataset(self.law, self.others, self.holders, False)

    def swapped(self) -> BitDataset:
        """The same in the other order of the two worlds."""
        return replace(self, first=not self.first)


@dataclass(frozen=True, slots=True)
class BitScan:
    """All datasets at once in which ``least`` to ``most`` of the n - 1 others hold the value.

    Removing a user from the view only helps the adversary, so with h in [h0, h0 + d) holders the
    dataset is dominated by the one with h0 holders among n - d others. Blocks that may leak most
    are divided until the ends are close, or there are too many of them.
    """

    law: BitLaw
    n: int
    least: int
    most: int
    first: bool

    @property
    def name(self) -> str:
        """Which datasets these are, in words."""
        return f"{self.least} to {self.most} of the others hold the value"

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """The lower end is attained by a dataset, the upper end holds for every dataset."""
        width = WIDE if gap >= ROUGH_GAP else CLOSE
        start, stop = _divided(np.array([self.least]), np.array([self.most + 1]), np.array([MOST_PARTS]))
        lower, upper = np.zeros(epsilons.size), np.zeros(epsilons.size)
        worst, left = np.full(epsilons.size, self.least), MOST_BLOCKS
        while start.size:
            some = start[:: max(1, start.size // SAMPLED)]
            lower = np.maximum(lower, self._attained(np.append(some, stop[-1] - 1), epsilons))
            above = _ends(self.law, start, self.n - stop, self.first, epsilons, "upper")
            parts = self._parts(above, lower, width)
            parts = np.minimum(parts, stop - start)
            worst_first = np.argsort(-parts, kind="stable")
            parts[worst_first] = np.where(np.cumsum(parts[worst_first]) <= left, parts[worst_first], 1)
            divided = parts > 1
            left -= int(parts[divided].sum())
            for begin, row in zip(start[~divided], above[~divided], strict=True):
                worst = np.where(row > upper, begin, worst)
                upper = np.maximum(upper, row)
            start, stop = _divided(start[divided], stop[divided], parts[divided])
        return np.maximum(lower, self._attained(np.unique(worst), epsilons)), upper

    def _parts(self, above: Floats, lower: Floats, width: float) -> Integers:
        """In how many parts each block should be divided. From its largest value delta falls as
        e^(-z^2/2) where epsilon grows as z, so that a share of delta is a smaller one of epsilon.
        """
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            excess = np.log(above / lower) / (width * (1.0 + 2.0 * np.log(lower.max() / lower)))
        excess = np.where(lower > NOTHING, excess, np.where(above > NOTHING, MOST_PARTS, 0.0))
        parts: Integers = np.ceil(np.clip(excess.max(axis=1, initial=0.0), 1.0, MOST_PARTS)).astype(np.int64)
        return parts

    def _attained(self, holders: Integers, epsilons: Floats) -> Floats:
        ends = _ends(self.law, holders, self.n - 1 - holders, self.first, epsilons, "lower")
        return np.asarray(ends.max(axis=0))

    def mirrored(self) -> BitScan:
        """The same where 0 and 1 are treated alike, in the form that all such share."""
        if not self.first or self.law != self.law.flipped():
            return self
        return BitScan(self.law, self.n, self.n - 1 - self.most, self.n - 1 - self.least, False)

    def swapped(self) -> BitScan:
        """The same datasets in the other order of the two worlds."""
        return replace(self, first=not self.first)


def _ends(law: BitLaw, holders: Integers, others: Integers, first: bool, epsilons: Floats, end: End) -> Floats:
    if first:  # exchange 0 and 1 in all bits
        return bit_deltas(law.flipped(), others, holders, epsilons, end)
    return bit_deltas(law, holders, others, epsilons, end)


def _divided(start: Integers, stop: Integers, parts: Integers) -> tuple[Integers, Integers]:
    """Each block of [start, stop) in so many parts of about the same length, without empty ones."""
    which = np.repeat(np.arange(start.size), parts)
    place = np.arange(which.size) - np.repeat(np.cumsum(parts) - parts, parts)
    length, shares = (stop - start)[which], parts[which]
    first, last = start[which] + length * place // shares, start[which] + length * (place + 1) // shares
    kept = last > first
    return first[kept], last[kept]
