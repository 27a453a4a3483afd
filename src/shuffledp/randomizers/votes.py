"""Reports as votes: how a randomizer of categories runs, and how its reports are counted.

A report votes for the values it supports. A user's vote for their own value has mean ``hit``, for
another value mean ``miss``, so (votes - n miss) / (hit - miss) estimates a value's count without
bias; hit - miss is called ``contrast``.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.parameters import check_values
from shuffledp.randomizers.randomizer import Randomizer
from shuffledp.randomizers.reporting import Form, GroupLaw, Ints, Opened, Reporting
from shuffledp.sampling import Rng, Source, source_of

__all__ = ["Form", "Ints", "VotingRandomizer", "bits_for", "chunks"]

CHUNK = 1 << 17  # words that fit the second-level cache


class VotingRandomizer(Randomizer, Reporting):
    """A randomizer of the categories 0, ..., k - 1 whose reports vote for some of them."""

    __slots__ = ()

    k: int

    @property
    @abstractmethod
    def hit(self) -> float:
        """The mean vote of a report for its sender's value, under the law that runs."""

    @property
    @abstractmethod
    def miss(self) -> float:
        """The mean vote of a report for a value that is not its sender's."""

    @property
    @abstractmethod
    def contrast(self) -> float:
        """hit - miss, from the integers: the difference of the two floats loses its digits when
        epsilon0 is tiny.
        """

    @property
    def votes_each(self) -> int | None:
        """How many values every report votes for, where that is fixed."""
        return 1 if self.single else None

    @property
    def blocks(self) -> int:
        """How many blocks the reports fall into, if a report votes for and against the values of
        its block; 0 if it only votes for values.
        """
        return 0

    @property
    def block_of(self) -> Ints:
        """The block of each value."""
        return np.zeros(self.k, dtype=np.int64)

    def block_counts(self, reports: NDArray[Any]) -> Ints:
        """How many reports fall into each block."""
        return np.zeros(0, dtype=np.int64)

    def favours(self, reports: NDArray[Any], values: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether each report supports the value beside it: for audits, and so written apart from
        what draws and counts reports.
        """
        raise InvalidInput(
            f"the audit must know how to read reports, got {type(self).__name__}. Write its favours(...), or describe "
            f"the law by FromMatrix(rows)."
        )

    def _blank(self, count: int) -> NDArray[Any]:
        """Room for ``count`` reports."""
        dtype, width, _ = self.form
        return np.empty(count if width is None else (count, width), dtype=dtype)

    @abstractmethod
    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        """Reports of a chunk of checked values."""

    @abstractmethod
    def _tally(self, reports: NDArray[Any]) -> Ints:
        """Votes for each of the k values in checked reports."""

    @property
    def _words(self) -> int:
        """How many numbers a report is made of while it is drawn; long reports are drawn in shorter
        chunks.
        """
        return 1

    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> NDArray[Any]:
        checked, source = check_values(values, self.k), source_of(rng)
        reports = self._blank(len(checked))
        for chunk in chunks(len(checked), self._words):
            reports[chunk] = self._draw(source, checked[chunk])
        return reports

    def supports(self, reports: ArrayLike) -> Ints:
        """How many reports vote for each value."""
        return self._tally(self.check_reports(reports))

    def tally(self, reports: ArrayLike) -> Ints:
        """All that an estimate needs to know of some reports, as numbers that add up over reports:
        the votes for each value, after how many reports there are, and in each block, where the
        votes do not say so.
        """
        checked = self.check_reports(reports)
        votes = self._tally(checked)
        if self.single:
            return votes
        return np.concatenate([[len(checked)], self.block_counts(checked), votes])

    def adds_up(self, tally: NDArray[np.int64], reports: int) -> bool:
        """Whether a ``tally`` could be that of so many reports, as far as sums tell."""
        if self.single:
            return bool(tally.min() >= 0 and tally.max() <= reports) and _total(tally) == reports
        blocks, votes = tally[1 : 1 + self.blocks], tally[1 + self.blocks :]
        if tally[0] != reports:
            return False
        if not self.blocks:
            fixed = self.votes_each is None or _total(votes) == self.votes_each * reports
            return bool(fixed and votes.min() >= 0 and votes.max() <= reports)
        if blocks.min() < 0 or blocks.max() > reports or _total(blocks) != reports:
            return False
        voters = blocks[self.block_of]  # each votes for or against
        return bool(np.all(np.abs(votes) <= voters) and np.all((voters - votes) % 2 == 0))

    @property
    def tally_size(self) -> int:
        """How many numbers a ``tally`` is."""
        return self.k if self.single else 1 + self.blocks + self.k

    def opened(self, tally: Ints) -> Opened:
        if self.single:
            return Opened(_total(tally), tally[:0], tally)
        return Opened(int(tally[0]), tally[1 : -self.k], tally[-self.k :])

    def group_law(self, size: int, people: int) -> GroupLaw:
        """A report that names one value votes for a group that has it."""
        if not self.single:
            return super().group_law(size, people)
        return GroupLaw(self.hit + (size - 1) * self.miss, size * self.miss, self.contrast)

    @property
    def sway(self) -> float:
        """A report votes for a value or does not; in a block, for it, against it, or not at all."""
        return 2.0 / self.hit if self.blocks else 1.0 / self.contrast

    def debias(self, reports: ArrayLike) -> Floats:
        """Unbiased estimates of how many users hold each value; they may be negative, and sum to
        about the number of reports.
        """
        checked = self.check_reports(reports)
        votes: Floats = self._tally(checked).astype(np.float64)
        return (votes - len(checked) * self.miss) / self.contrast

    def count_variance(self, counts: ArrayLike) -> Floats:
        """The variance of each estimate of ``debias`` when ``counts[x]`` users hold x: exact, since
        reports are independent.
        """
        held = self._check_counts(counts)
        own, other = self.hit * (1.0 - self.hit), self.miss * (1.0 - self.miss)
        variance: Floats = (held * own + (held.sum() - held) * other) / self.contrast**2
        return variance

    def _check_counts(self, counts: ArrayLike) -> Floats:
        held = np.asarray(counts, dtype=np.float64)
        if held.shape != (self.k,) or not np.all(held >= 0.0):
            raise InvalidInput(
                f"counts must be {self.k} numbers of at least 0, got shape {held.shape}. Give how many users hold each "
                f"value."
            )
        return held


def _total(numbers: Ints) -> int:
    """Their sum, which may need more than 64 bits in a file that nobody counted."""
    return sum(numbers.tolist())


def bits_for(count: int | float) -> int:
    """The bits that tell ``count`` things apart."""
    return max(1, math.ceil(math.log2(count)))


def chunks(count: int, words: int = 1) -> Iterator[slice]:
    """Cut ``count`` rows of ``words`` numbers into slices that fit the cache."""
    step = max(1, CHUNK // words)
    return (slice(start, min(start + step, count)) for start in range(0, count, step))
