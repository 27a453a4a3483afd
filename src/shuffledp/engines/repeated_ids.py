"""Whether an id stands in two rows of a table that lies on many machines: fingerprints, sent to the
machine that compares their share of all. Rows are never handled one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shuffledp.engines.batch import column_of, title_of
from shuffledp.errors import InvalidInput
from shuffledp.sampling.tags import HALF
from shuffledp.tables.people import fingerprints

__all__ = ["IdShares", "check_single", "repeated"]

SHARE = 1 << 24  # ids that one machine compares at once: 256 MB


@dataclass(frozen=True, slots=True)
class IdShares:
    """How the ids in a ``column`` are shared out, for at most ``people`` people; ``key`` is drawn
    for one run.
    """

    column: str
    people: int
    key: bytes = field(repr=False)

    def of(self, batch: Any) -> Iterator[tuple[int, bytes]]:
        """The number of a share, and the fingerprints of the batch that belong there."""
        shares = np.uint64(1 + self.people // SHARE)
        for prints in fingerprints(self.key, column_of(batch, self.column, argument="ids"), title_of(self.column)):
            share = prints[:, 1] % shares
            order = np.argsort(share, kind="stable")
            numbers, starts = np.unique(share[order], return_index=True)
            for number, mine in zip(numbers.tolist(), np.split(prints[order], starts[1:]), strict=True):
                yield number, mine.tobytes()


def repeated(parts: Iterable[bytes]) -> int:
    """How many fingerprints of a share came before.

    >>> one, other = bytes(16), bytes(8) + b"12345678"
    >>> repeated([one + other]), repeated([one + other, other])
    (0, 1)
    """
    prints = np.frombuffer(b"".join(parts), dtype=HALF).reshape(-1, 2)
    halves = np.sort(prints[:, 0])
    twice = halves[1:][halves[1:] == halves[:-1]]
    alike = prints[np.isin(prints[:, 0], twice)]
    return len(alike) - len(np.unique(alike, axis=0))


def check_single(repeats: int, column: str) -> None:
    """Refuse a table with several rows of one person."""
    if repeats:
        raise InvalidInput(
            f"ids in {title_of(column)} must name everybody once, got {repeats:,} rows of people who have another. "
            f"Keep one row of each person."
        )
