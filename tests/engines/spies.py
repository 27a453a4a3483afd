"""What runs on the workers of the cluster: notes of every draw, attempt by attempt, and the
troubles that befall them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from unittest import mock
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from shuffledp.client import Reporter
from shuffledp.engines.batch import Batches, BatchReporter
from shuffledp.randomizers.randomizer import Reporting

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


NO_TROUBLE = Trouble()


def running_task() -> tuple[int, int]:
    """The partition, and how many attempts at it have failed."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.partitionId(), context.attemptNumber()


def note(notes: Path, drawn: pa.Table) -> None:
    """Write down what an attempt has drawn, before it is known whether the engine will keep it."""
    partition, attempt = running_task()
    pq.write_table(drawn, notes / f"{partition}-{attempt}-{uuid4().hex}.noted")


@dataclass(frozen=True)
class Draws:
    """What one attempt drew."""

    partition: int
    attempt: int
    table: pa.Table

    def reports(self, law: Reporting) -> NDArray[Any]:
        """As the sampler gave them."""
        dtype, width, _ = law.form
        numbers = np.frombuffer(b"".join(self.table["report"].to_pylist()), dtype=dtype)
        return numbers if width is None else numbers.reshape(-1, width)


def noted(notes: Path) -> list[Draws]:
    """All that was ever drawn."""
    found = []
    for path in sorted(notes.glob("*.noted")):
        partition, attempt, _ = path.stem.split("-")
        found.append(Draws(int(partition), int(attempt), pq.read_table(path)))
    return found


@dataclass(frozen=True)
class SpiedEncoder(BatchReporter):
    """Ours, watched and troubled: it notes every report that an attempt draws, as bytes."""

    notes: Path = Path()
    trouble: Trouble = NO_TROUBLE

    def encode(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        return self._watched(BatchReporter.encode(self, batches))

    def tally(self, batches: Batches, *, first: bool | None = None) -> Iterator[pa.RecordBatch]:
        return self._watched(BatchReporter.tally(self, batches, first=first))

    def _watched(self, made: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        drawn: list[bytes] = []
        draw = Reporter.encode

        def encode(reporter: Reporter, values: Any, **options: Any) -> NDArray[Any]:
            reports = draw(reporter, values, **options)
            drawn.extend(report.tobytes() for report in reports)
            return reports

        with mock.patch.object(Reporter, "encode", encode):
            yield from made
        note(self.notes, pa.table({"report": pa.array(drawn, pa.binary())}))
        self.trouble.strike(self.notes)


@dataclass(frozen=True)
class Spying:
    """Stands where the driver looks for ``BatchReporter``."""

    notes: Path
    trouble: Trouble

    def of(self, design: Any, **rules: Any) -> SpiedEncoder:
        return SpiedEncoder.of(design, notes=self.notes, trouble=self.trouble, **rules)
