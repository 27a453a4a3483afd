"""Messages sealed on all cores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from numpy.typing import NDArray

from shuffledp.collection.network.all_cores import on_all_cores
from shuffledp.collection.network.collection_file import Collection
from shuffledp.collection.network.sealing import Envelopes

__all__ = ["sealed"]

SLICE = 5000  # messages that a process seals at once: half a second's work


def sealed(
    collection: Collection, chunks: Iterable[NDArray[Any]], *, processes: int | None = None
) -> Iterator[list[bytes]]:
    """The envelopes of reports, or of single messages, that come in chunks, in their order, those
    of a report together; by so many ``processes``, or one for each core.
    """
    step = max(1, SLICE // collection.encoder.randomizer.messages)
    slices = (chunk[start : start + step] for chunk in chunks for start in range(0, len(chunk), step))
    return on_all_cores(Envelopes(collection).seal, slices, processes=processes)
