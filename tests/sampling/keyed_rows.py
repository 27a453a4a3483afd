"""People with ids, and keyed noise for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.sampling import KeyedNoise, KeyedSource
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
