"""What runs on Spark's workers: pickled there, so small, and without anything of the driver's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import shake_128
from itertools import chain

import numpy as np
import pyarrow as pa

from shuffledp.engines.batch import SUMS, BatchEncoder, Batches, added_up, column_of, survey, title_of
from shuffledp.errors import InvalidInput, packed
from shuffledp.tables.people import named_ids
from shuffledp.tables.values import Reader

__all__ = ["MARKED", "ROWS", "TALLIED", "ColumnSurvey", "Marks", "Named", "TaskTally", "add_sums"]

ROWS = "shuffledp: rows"  # how many rows of the table a row of one person stands for
MARKED = ("id", "value", "key")
TALLIED = pa.schema([("partition", pa.int64()), ("rows", pa.int64()), *SUMS])


@dataclass(frozen=True, slots=True)
class Named:
    """A task whose columns have these ``names``, whatever Spark calls them. What it refuses goes to
    the driver as JSON: Spark hands on no more than the text of an error.
    """

    task: Callable[[Batches], Iterator[pa.RecordBatch]]
    names: tuple[str, ...]

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """For ``mapInArrow``."""
        try:
            yield from self.task(batch.rename_columns(list(self.names)) for batch in batches)
        except InvalidInput as error:
            raise InvalidInput(packed(error.args)) from None


@dataclass(frozen=True, slots=True)
class TaskTally:
    """A task's values to one row: which partition it was, and the sums of its reports."""

    phones: BatchEncoder

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """For ``mapInArrow``."""
        from pyspark import TaskContext

        rows = 0

        def watched() -> Iterator[pa.RecordBatch]:
            nonlocal rows
            for batch in batches:
                several = batch.schema.names[1:] == [ROWS]
                rows += int(np.asarray(batch.column(1)).sum()) if several else len(batch)
                yield batch

        task = TaskContext.get()
        assert task is not None
        # Committed once with this task: whoever counts again finds the same dummies.
        for sums in self.phones.tally(watched(), first=task.partitionId() == 0):
            facts = [pa.array([task.partitionId()], pa.int64()), pa.array([rows], pa.int64())]
            yield pa.RecordBatch.from_arrays([*facts, *sums.columns], schema=TALLIED)


@dataclass(frozen=True, slots=True)
class ColumnSurvey:
    """How many values there are, for a task; ``weights`` names a column, as in ``survey``."""

    column: str
    reader: Reader
    weights: str | None = None

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """For ``mapInArrow``."""
        return survey(batches, self.column, self.reader, weights=self.weights)


@dataclass(frozen=True, slots=True)
class Marks:
    """Each row with the text of its id, its value, and a key: the row of a person whose key is the
    largest stands for them, and one that holds no value has none.

    Keys are random by the ``seed``, and the same when a task runs again: where some of its rows
    were read already, Spark would give up if others came.
    """

    column: str
    ids: str
    reader: Reader
    seed: bytes = field(default_factory=lambda: os.urandom(32), repr=False)

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """For ``mapInArrow``."""
        from pyspark import TaskContext

        task = TaskContext.get()
        assert task is not None
        for number, batch in enumerate(batches):
            values = column_of(batch, self.column)
            names = named_ids(column_of(batch, self.ids), "the table").cast(pa.string())
            _, present, _ = self.reader.prepare(values, title_of(self.column))
            place = np.array([task.partitionId(), number], dtype=np.int64).tobytes()
            keys = np.frombuffer(shake_128(self.seed + place).digest(8 * len(values)), dtype=np.int64)
            marks = pa.array(keys, mask=None if present is None else ~present)
            yield pa.RecordBatch.from_arrays([names, values, marks], names=list(MARKED))


def add_sums(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Rows of ``SUMS`` to one, for ``mapInArrow``; nothing where there are none."""
    full = (batch for batch in batches if len(batch))
    for first in full:
        yield added_up(chain([first], full)).row()
