"""Messages sealed on all cores: by processes, since one process seals one envelope at a time."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from functools import lru_cache
from itertools import chain, islice
from typing import Any

from numpy.typing import NDArray

from shuffledp.collection.network.collection_file import Collection
from shuffledp.collection.network.sealing import Envelopes

__all__ = ["sealed"]

SLICE = 5000  # messages that a process seals at once: half a second's work


def sealed(collection: Collection, chunks: Iterable[NDArray[Any]], *, processes: int = 1) -> Iterator[list[bytes]]:
    """The envelopes of reports that come in chunks, in their order, those of a report together.
    Other processes are started only for more than a slice.
    """
    step = max(1, SLICE // collection.encoder.randomizer.messages)
    slices = (chunk[start : start + step] for chunk in chunks for start in range(0, len(chunk), step))
    begun = list(islice(slices, 2))
    feed = chain(begun, slices)
    if processes < 2 or len(begun) < 2:
        yield from map(Envelopes(collection).seal, feed)
        return
    pending: deque[Future[list[bytes]]] = deque()
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        for reports in feed:
            pending.append(pool.submit(_seal, collection.content, reports))
            if len(pending) > 2 * processes:  # no more than that is kept in memory
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _seal(content: bytes, reports: NDArray[Any]) -> list[bytes]:
    return _envelopes(content).seal(reports)


@lru_cache(maxsize=1)
def _envelopes(content: bytes) -> Envelopes:
    """The collection, read once in a process and not for each slice."""
    return Envelopes(Collection.from_bytes(content))
