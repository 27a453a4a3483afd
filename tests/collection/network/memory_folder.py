"""A folder in memory, where there is one: what waits for a disk there, waits for nothing."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY = Path("/dev/shm")


@contextmanager
def memory_folder() -> Iterator[Path]:
    place = MEMORY if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="shuffledp-", dir=place) as folder:
        yield Path(folder)
