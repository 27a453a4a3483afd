"""Reports added up as they are made. A multiset is its counts: in one process this is the shuffler,
and no report is ever stored.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from numpy.typing import NDArray

from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.results import Tally
from shuffledp.randomizers.randomizer import Reporting
from shuffledp.sampling import SecureSource, Source
from shuffledp.tables.reports import ReportsFile
from shuffledp.tables.spool import batch_rows
from shuffledp.tables.values import Tick

Encode = Callable[[NDArray[Any], Source], NDArray[Any]]


def tally(
    chunks: Iterable[NDArray[Any]],
    encode: Encode,
    law: Reporting,
    *,
    row_bytes: int = 1,
    source: Source | None = None,
    threads: int = 2,
    tick: Tick | None = None,
) -> Tally:
    """Randomize the values in ``chunks`` and add up the reports, in ``threads`` threads with a
    secure source each; a report takes ``row_bytes``.

    A ``source`` of one's own is used in one thread and in order, so that a seed gives the same
    votes again.
    """
    sources = [SecureSource() for _ in range(threads)] if source is None else [source]
    feed = _Feed(_pieces(chunks, batch_rows(row_bytes)), tick)

    def work(mine: Source) -> Tally:
        sums = Tally.of(law, secure=mine.secure)
        try:
            while (chunk := feed.take()) is not None:
                sums += Tally.of(law, encode(chunk, mine))
                feed.done(len(chunk))
        finally:
            feed.stop()  # at the end, or since the others work in vain if this one fails
        return sums

    with ThreadPoolExecutor(len(sources)) as pool:
        running = [pool.submit(work, each) for each in sources]
        try:
            done = [each.result() for each in running]
        finally:
            feed.stop()
    total = sum(done[1:], done[0])
    if not total.people:
        raise InvalidInput("values must hold at least one value, got none. Pass the value of at least one person.")
    return total


def tally_file(file: ReportsFile, law: Reporting, *, tick: Tick | None = None) -> Tally:
    """What a file of shuffled reports adds up to; one that the law never sends is refused."""
    if file.header.stage != "shuffled":
        raise InvalidInput(
            f"{str(file.path)!r} must hold shuffled reports, got {file.header.stage} ones. Shuffle it first: shuffledp "
            f"shuffle."
        )
    total = Tally.of(law)
    for rows in file.batches(check=law.check_reports):
        total += Tally.of(law, rows)
        if tick is not None:
            tick(len(rows))
    return Tally.handed_on(law, total.numbers, secure=file.header.secure)


def _pieces(chunks: Iterable[NDArray[Any]], rows: int) -> Iterator[NDArray[Any]]:
    """The same values, at most ``rows`` at a time."""
    return (chunk[start : start + rows] for chunk in chunks for start in range(0, len(chunk), rows))


class _Feed:
    """Chunks that several threads take turns at."""

    def __init__(self, chunks: Iterable[NDArray[Any]], tick: Tick | None) -> None:
        self._chunks: Iterator[NDArray[Any]] = iter(chunks)
        self._tick, self._lock, self._over = tick, threading.Lock(), False

    def take(self) -> NDArray[Any] | None:
        """The next chunk, or None at the end."""
        with self._lock:
            return None if self._over else next(self._chunks, None)

    def done(self, rows: int) -> None:
        """Say that a chunk has been counted."""
        if self._tick is not None:
            with self._lock:
                self._tick(rows)

    def stop(self) -> None:
        """Give out no more."""
        self._over = True
