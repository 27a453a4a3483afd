"""Rows that are kept for later: in memory while they are few, then in a temporary file without a
name, which vanishes with the process.
"""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput
from shuffledp.storage.files import unwritable

BLOCK = 1 << 20  # rows that are handled at once, if they are short
BATCH_BYTES = 1 << 25


def batch_rows(row_bytes: int) -> int:
    """How many rows of that size to handle at once, so that a few batches fit into memory and
    nothing is done for a few rows at a time.

    >>> batch_rows(1), batch_rows(1024)
    (1048576, 32768)
    """
    return max(1, min(BLOCK, BATCH_BYTES // row_bytes))


class Closing(ABC):
    """What holds memory and disk until it is closed, or left as a context."""

    @abstractmethod
    def close(self) -> None:
        """Give memory and disk back."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Spool(Closing):
    """A long array, appended to in pieces of any size and read back in ``blocks``, in order and as
    often as wanted.

    Up to ``memory`` bytes are held; what follows is written to ``folder``. All pieces must have the
    first one's dtype and width.

    >>> with Spool(memory=4, folder=None, block=3) as spool:
    ...     spool.append(np.arange(5, dtype=np.uint8))
    ...     spool.append(np.arange(5, 8, dtype=np.uint8))
    ...     [block.tolist() for block in spool.blocks()], len(spool)
    ([[0, 1, 2], [3, 4, 5], [6, 7]], 8)
    """

    def __init__(self, *, memory: int, folder: Path | None, block: int = BLOCK) -> None:
        self._memory, self._folder, self._block = memory, folder, block
        self._held: list[NDArray[Any]] = []
        self._file: Any = None
        self._place = folder or Path(tempfile.gettempdir())
        self._written = 0
        self._filling: NDArray[Any] = np.empty(0)
        self._filled = 0

    def __len__(self) -> int:
        """How many rows there are."""
        return (len(self._held) + self._written) * self._block + self._filled

    def append(self, rows: NDArray[Any]) -> None:
        """Add ``rows`` at the end."""
        if not len(self):
            self._filling = np.empty((self._block, *rows.shape[1:]), dtype=rows.dtype)
        while len(rows):
            part = rows[: self._block - self._filled]
            self._filling[self._filled : self._filled + len(part)] = part
            self._filled += len(part)
            rows = rows[len(part) :]
            if self._filled == self._block:
                self._keep()

    def blocks(self) -> Iterator[NDArray[Any]]:
        """Everything, in arrays of ``block`` rows, the last one perhaps shorter."""
        yield from self._held
        for i in range(self._written):
            yield self._read(i)
        if self._filled:
            yield self._filling[: self._filled]

    def close(self) -> None:
        """Give everything back."""
        self._held.clear()
        self._filling, self._filled, self._written = np.empty(0), 0, 0
        if self._file is not None:
            self._file.close()

    def _keep(self) -> None:
        block, self._filled = self._filling, 0
        if (len(self._held) + 1) * block.nbytes <= self._memory and self._file is None:
            self._held.append(block)
            self._filling = np.empty_like(block)
            return
        with unwritable(self._place):
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115
            self._file.seek(self._written * block.nbytes)
            rest = block.reshape(-1).view(np.uint8).data
            while rest:  # a disk that is nearly full takes a part, and then says why
                rest = rest[self._file.write(rest) :]
        self._written += 1

    def _read(self, i: int) -> NDArray[Any]:
        block = np.empty_like(self._filling)
        with unwritable(self._place):
            self._file.seek(i * block.nbytes)
            got = self._file.readinto(block.reshape(-1).view(np.uint8).data)
        if got != block.nbytes:
            raise InvalidInput(
                "the temporary file must be as long as it was written, got less. The disk may be failing; run it again "
                "elsewhere."
            )
        return block
