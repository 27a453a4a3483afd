"""What runs on the workers of the cluster: notes of every draw, attempt by attempt, and the
troubles that befall them.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

PATIENCE = 120.0  # seconds that an attempt waits for its end


@dataclass(frozen=True)
class Trouble:
    """What happens to the first attempt at a task, after it has drawn: it fails, or it waits to be
    killed. ``whose`` names the partition, and None means every one.
    """

    kind: Literal["none", "fails", "waits"] = "none"
    whose: int | None = None

    def strike(self, notes: Path) -> None:
        partition, attempt = running_task()
        if self.kind == "none" or attempt > 0 or self.whose not in (None, partition):
            return
        if self.kind == "fails":
            raise RuntimeError("this attempt fails after its draws")
        (notes / f"waiting-{partition}").write_text(str(os.getppid()))
        time.sleep(PATIENCE)


def running_task() -> tuple[int, int]:
    """The partition, and how many attempts at it have failed."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.partitionId(), context.attemptNumber()


@dataclass(frozen=True)
class Draws:
    """What one attempt drew."""

    partition: int
    attempt: int
    columns: dict[str, NDArray[Any]]


def note(notes: Path, **columns: NDArray[Any]) -> None:
    """Write down what an attempt has drawn, before anybody else sees it."""
    partition, attempt = running_task()
    np.savez(notes / f"{partition}-{attempt}-{uuid4().hex}.npz", **columns)


def noted(notes: Path) -> list[Draws]:
    """All that was drawn, by whom ever."""
    found = []
    for path in sorted(notes.glob("*.npz")):
        partition, attempt, _ = path.stem.split("-")
        with np.load(path) as columns:
            found.append(Draws(int(partition), int(attempt), dict(columns)))
    return found
