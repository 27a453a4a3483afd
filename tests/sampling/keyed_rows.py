"""People with ids, and keyed noise for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from shuffledp.sampling import KeyedNoise, KeyedSource, keyed
from shuffledp.sampling.tags import HALF, Strings

SECRET = bytes(range(32))
DIGEST = bytes(range(100, 132))


def strings(ids: Sequence[str]) -> Strings:
    given = [each.encode() for each in ids]
    return Strings(np.cumsum([0, *map(len, given)]), np.frombuffer(b"".join(given), dtype=np.uint8))


def numbered(count: int) -> Strings:
    """The ids 0, 1, ..., in eight bytes each: as many as are wanted, at once."""
    return Strings(np.arange(count + 1) * 8, np.arange(count, dtype=HALF).view(np.uint8))


def noise(
    values: ArrayLike,
    ids: Strings | Sequence[str] | None = None,
    *,
    secret: bytes = SECRET,
    digest: bytes = DIGEST,
    round: int = 1,
) -> KeyedNoise:
    rows: NDArray[Any] = np.asarray(values)
    people = numbered(len(rows)) if ids is None else ids
    named = people if isinstance(people, Strings) else strings(people)
    return KeyedNoise(secret, digest=digest, round=round, ids=named, values=rows)


def source(count: int) -> KeyedSource:
    return noise(np.zeros(count, dtype=np.int64)).source()


class _Replayed:
    """The blocks of rows as they are told: ``words[call][row]``, for all requests of whole rows."""

    def __init__(self, *words: Any) -> None:
        self.words = np.array(words, dtype=np.uint64)

    def __call__(self, key: bytes, blocks: NDArray[np.uint64]) -> NDArray[np.uint64]:
        told = np.zeros_like(blocks)
        told[..., 0] = self.words[blocks[..., 0], blocks[..., 1]]
        return told


def told(monkeypatch: pytest.MonkeyPatch, *words: Any) -> KeyedSource:
    """A keyed source of as many rows as there are words for, which says what it is told."""
    count = len(words[0])
    monkeypatch.setattr(keyed, "encrypted", _Replayed(*words))
    tags = np.stack([np.zeros(count, dtype=np.uint64), np.arange(count, dtype=np.uint64)], axis=1)
    return KeyedSource(b"", tags, np.zeros(count, dtype=np.uint64))
