"""Which weighted sums of people answer a question: rows of weights over the places of a domain.

A workload is a linear map and never a matrix, so that a million places are no burden. It loads no
NumPy before it is applied.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from shuffledp._types import Floats


@dataclass(frozen=True, eq=False)
class Workload(ABC):
    """Rows of weights, one per label; ``counts`` says that all weights are 0 or 1, so that a row is
    how many people are in a group of places.
    """

    counts: ClassVar[bool] = True

    labels: tuple[Hashable, ...]

    @abstractmethod
    def apply(self, per_place: Any, power: int = 1) -> Any:
        """The sums of weight ** power * per_place over the places, which are on the last axis: on
        the last axis of the answer are the rows.
        """

    def dense(self, k: int) -> Floats:
        """The rows as a matrix, for a mechanism that mixes places, which are then few."""
        import numpy as np

        rows: Floats = np.ascontiguousarray(self.apply(np.eye(k)).T)
        return rows

    @property
    def spread(self) -> float:
        """The largest weight of a row less the smallest."""
        return 1.0

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.labels)


@dataclass(frozen=True, eq=False)
class Each(Workload):
    """Every place by itself."""

    def apply(self, per_place: Any, power: int = 1) -> Any:
        return per_place


@dataclass(frozen=True, eq=False)
class Ranges(Workload):
    """Runs of places: each of ``ends`` is the first place of a run and the one after its last.

    >>> Ranges(("first two", "last"), ((0, 2), (2, 3))).apply([5, 6, 7]).tolist()
    [11, 7]
    """

    ends: tuple[tuple[int, int], ...]

    def apply(self, per_place: Any, power: int = 1) -> Any:
        import numpy as np

        held = np.asarray(per_place)
        up_to = np.concatenate([np.zeros_like(held[..., :1]), np.cumsum(held, axis=-1)], axis=-1)
        first, end = np.array(self.ends, dtype=np.int64).reshape(-1, 2).T
        return up_to[..., end] - up_to[..., first]

    def dense(self, k: int) -> Floats:
        import numpy as np

        (first, end), places = np.array(self.ends, dtype=np.int64).reshape(-1, 2).T[..., None], np.arange(k)
        rows: Floats = ((places >= first) & (places < end)).astype(np.float64)
        return rows


@dataclass(frozen=True, eq=False)
class Groups(Workload):
    """Groups that share no place: ``group`` has the row of every place.

    >>> import numpy as np
    >>> Groups(("even", "odd"), np.array([0, 1, 0])).apply(np.array([5, 6, 7])).tolist()
    [12, 6]
    """

    group: Any

    def apply(self, per_place: Any, power: int = 1) -> Any:
        import numpy as np

        found = np.zeros((*per_place.shape[:-1], len(self.labels)), per_place.dtype)
        np.add.at(found.T, self.group, per_place.T)
        return found


@dataclass(frozen=True, eq=False)
class Margins(Workload):
    """The cells of a table with so many categories in each column, and after them their sums over
    some of the columns.

    >>> Margins(tuple("abcdefgh"), (2, 2)).apply([1, 2, 3, 4]).tolist()
    [1, 2, 3, 4, 3, 7, 4, 6]
    """

    sizes: tuple[int, ...]

    def apply(self, per_place: Any, power: int = 1) -> Any:
        import numpy as np

        cells = np.asarray(per_place)
        before, axes = cells.shape[:-1], range(len(self.sizes))
        table = cells.reshape(*before, *self.sizes)
        sums = [cells]
        for kept in kept_columns(len(self.sizes)):
            left = tuple(len(before) + axis for axis in axes if axis not in kept)
            sums.append(table.sum(axis=left).reshape(*before, -1))
        return np.concatenate(sums, axis=-1)


@dataclass(frozen=True, eq=False)
class Weights(Workload):
    """One row of numbers that rise from place to place: the points of a grid, to which people's
    numbers are rounded at random. ``drawn`` is what that adds to a person's variance.
    """

    counts = False

    row: Floats
    drawn: float = 0.0

    @classmethod
    def grid(cls, label: str, steps: int, *, drawn: float = 0.0) -> Weights:
        """So many equal steps from 0 to 1; ``drawn`` is in squares of a step.

        >>> Weights.grid("mean", 4).row.tolist()
        [0.0, 0.25, 0.5, 0.75, 1.0]
        """
        import numpy as np

        return cls((label,), np.linspace(0.0, 1.0, steps + 1), drawn / steps**2)

    def apply(self, per_place: Any, power: int = 1) -> Any:
        return (per_place @ self.row**power)[..., None]

    @property
    def spread(self) -> float:
        return float(self.row[-1] - self.row[0])


def below(labels: tuple[Hashable, ...]) -> Ranges:
    """The places below each but the first: a distribution function."""
    return Ranges(labels, tuple((0, end) for end in range(1, len(labels) + 1)))


def kept_columns(columns: int) -> list[tuple[int, ...]]:
    """Which columns of a table its sums keep apart: every choice of some of them, more of them
    first.

    >>> kept_columns(2), len(kept_columns(3))
    ([(0,), (1,)], 6)
    """
    return [kept for many in range(columns - 1, 0, -1) for kept in combinations(range(columns), many)]
