"""What the shuffler itself does to the messages at the close, where the law of a collection asks
for that: it drops some, by a coin for each, and adds dummies, sealed to the analyst like all.

Coins and dummies are drawn once for a close that stands. They are in memory, or where nothing of
them stays: which envelopes were dropped, and which are dummies, is written down nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.collection.network.collection_file import Collection
from shuffledp.collection.network.sealing_pool import sealed
from shuffledp.randomizers.messages.added_dummies import AddedDummies
from shuffledp.sampling import WORD, bernoulli, source_of

__all__ = ["SealedDummies"]

CHUNK = 1 << 16  # dummies whose values are in memory at once


@dataclass(frozen=True, slots=True)
class SealedDummies:
    """The shuffler's part in the law of a collection."""

    collection: Collection
    law: AddedDummies

    @classmethod
    def of(cls, collection: Collection) -> Self | None:
        """If it has one."""
        law = collection.encoder.randomizer
        return cls(collection, law) if isinstance(law, AddedDummies) else None

    @property
    def drops(self) -> bool:
        """Whether it drops any. Then nobody is told after the close whether an envelope is there:
        that a person's was handed on is for nobody to know.
        """
        return self.law.kept_threshold < WORD

    def kept(self, count: int) -> NDArray[np.bool_]:
        """Of so many messages, which are handed on."""
        if not self.drops:
            return np.ones(count, dtype=bool)
        return bernoulli(source_of(None), self.law.kept_threshold, count)

    def numbers(self) -> NDArray[np.int64]:
        """How many dummies each value gets."""
        return self.law.dummies()

    def sealed(self, numbers: NDArray[np.int64]) -> Iterator[list[bytes]]:
        """So many dummies for each value, in envelopes, some at a time. Their order says which
        value each has: it must not stay.
        """
        return sealed(self.collection, _values(numbers))


def _values(numbers: NDArray[np.int64]) -> Iterator[NDArray[Any]]:
    """Each value as often as its number says, some at a time."""
    ends = np.cumsum(numbers)
    for start in range(0, int(ends[-1]), CHUNK):
        yield np.searchsorted(ends, np.arange(start, min(start + CHUNK, int(ends[-1]))), side="right")
