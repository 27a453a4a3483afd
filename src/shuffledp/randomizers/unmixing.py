"""A randomizer that is known by its matrix alone, where reports are counted.

With c_x users holding x, report y comes sum of c_x P(y | x) times on average. A matrix W with
P W = 1 undoes that: the counts of the reports times W are unbiased, for any law whose rows are
linearly independent. Of all such W the one with the least squares is taken.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import End, Floats
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.parameters import check_indices
from shuffledp.randomizers.randomizer import Atoms, Randomizer
from shuffledp.randomizers.votes import Form, Ints, VotingRandomizer, bits_for
from shuffledp.sampling import Rng, Source, smallest_dtype, source_of

__all__ = ["Unmixed"]

FAINTEST = 1e-9  # the least singular value, next to the largest, that rounding leaves meaningful


@dataclass(frozen=True, repr=False)
class Unmixed(VotingRandomizer):
    """``inner`` with a matrix for a ``table``. Its reports vote for nothing; each report is a block
    of its own, and how many there are in each is all that counts.
    """

    inner: Any

    def __post_init__(self) -> None:
        strengths = np.linalg.svd(self.table, compute_uv=False)
        if len(self.table) > self.table.shape[1] or strengths[-1] < FAINTEST * strengths[0]:
            raise InvalidInput(
                f"the rows of a matrix must be linearly independent to count who holds what, got {self.inner!r}. "
                "Some inputs send the same reports as a mixture of others: merge them, or separate their reports."
            )

    def __repr__(self) -> str:
        return repr(self.inner)

    @cached_property
    def table(self) -> Floats:
        """The law that runs."""
        return np.asarray(self.inner.realised.table, dtype=np.float64)

    @cached_property
    def weights(self) -> Floats:
        """W: how much a report y adds to the estimate of x."""
        return np.asarray(np.linalg.pinv(self.table))

    @cached_property
    def variances(self) -> Floats:
        """Entry [z][x]: what a user who holds z adds to the variance of the estimate of x."""
        return np.maximum(self.table @ self.weights**2 - np.eye(len(self.table)), 0.0)

    @cached_property
    def skews(self) -> Floats:
        """Entry [z][x]: what a user who holds z adds to its third central moment."""
        mean, square, cube = np.eye(len(self.table)), self.table @ self.weights**2, self.table @ self.weights**3
        return np.asarray(cube - 3.0 * square * mean + 2.0 * mean)

    @cached_property
    def reach(self) -> tuple[Floats, Floats]:
        """How far over its mean, and under it, a single report can move the estimate of each x."""
        off = self.weights[None, :, :] - np.eye(self.k)[:, None, :]
        possible = (self.table > 0.0)[:, :, None]
        above, below = (np.max(np.where(possible, side, 0.0), axis=(0, 1)) for side in (off, -off))
        return above, below

    @property
    def sway(self) -> float:
        sent = self.weights[self.table.max(axis=0) > 0.0]
        return float(np.ptp(sent, axis=0).max())

    @property
    def k(self) -> int:  # type: ignore[override]
        """How many inputs there are."""
        return len(self.table)

    @property
    def blocks(self) -> int:
        return int(self.table.shape[1])

    def block_counts(self, reports: NDArray[Any]) -> Ints:
        return np.bincount(reports, minlength=self.blocks).astype(np.int64)

    def _tally(self, reports: NDArray[Any]) -> Ints:
        return np.zeros(self.k, dtype=np.int64)

    @property
    def hit(self) -> float:
        """No report votes."""
        return 0.0

    miss = contrast = hit

    @property
    def form(self) -> Form:
        return Form(smallest_dtype(self.blocks), None, self.blocks)

    @property
    def bits(self) -> int:
        return bits_for(self.blocks)

    def check_reports(self, reports: ArrayLike) -> NDArray[Any]:
        checked = check_indices("reports", reports, self.blocks, remedy="A report is the number of a column.")
        never = np.flatnonzero(self.table.max(axis=0) == 0.0)
        if len(never) and np.any(wrong := np.isin(checked, never)):
            raise InvalidInput(
                f"reports must be of columns that can occur, got {int(checked[wrong][0])}, which no input sends. Leave "
                f"such reports out."
            )
        return checked

    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        drawn: NDArray[Any] = self.inner.randomize(values, rng=source)
        return drawn

    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> NDArray[Any]:
        reports = self.check_reports(self.inner.randomize(values, rng=source_of(rng)))
        if len(reports) != len(np.asarray(values)):
            raise InvalidInput(
                f"randomize must send one report for each of {len(np.asarray(values))} values, got {len(reports)} from "
                f"{self.inner!r}. shuffledp.testing.check_randomizer says more."
            )
        return reports.astype(self.form.dtype)

    def debias(self, reports: ArrayLike) -> Floats:
        counted = self.block_counts(self.check_reports(reports))
        return np.asarray(counted @ self.weights, dtype=np.float64)

    def count_variance(self, counts: ArrayLike) -> Floats:
        return np.asarray(self._check_counts(counts) @ self.variances, dtype=np.float64)

    @property
    def realised(self) -> Unmixed:
        return Unmixed(self.inner.realised) if self.inner.realised is not self.inner else self

    @property
    def epsilon0(self) -> float:
        return float(self.inner.epsilon0)

    @property
    def gamma(self) -> float:
        return float(self.inner.gamma)

    @property
    def worst_pair(self) -> tuple[object, object]:
        pair: tuple[object, object] = self.inner.worst_pair
        return pair

    def blankets(self, end: End) -> tuple[Atoms, ...]:
        made: tuple[Atoms, ...] = self.inner.blankets(end)
        return made

    def datasets(self) -> tuple[Atoms, ...]:
        made: tuple[Atoms, ...] = self.inner.datasets()
        return made

    def describe(self) -> dict[str, object]:
        """As ``inner``, and by a digest of the matrix: reports of two that agree in all else must
        not be taken for one another's.
        """
        said: dict[str, object] = self.inner.describe()
        return said | {"matrix": hashlib.sha256(self.table.tobytes()).hexdigest()[:16]}

    @classmethod
    def of(cls, given: Randomizer) -> Unmixed | None:
        """``given``, if it has a matrix."""
        return None if given.table is None else cls(given)
