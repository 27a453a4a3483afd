"""Our code on the same people, with spies on the workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shuffledp.client import Reporter
from shuffledp.design import Design
from shuffledp.engines import spark
from shuffledp.tables.counted_reports import CountedReports
from tests.engines.naive import PARTITIONS, PEOPLE
from tests.engines.spies import NO_TROUBLE, Draws, Spying, Trouble

LETTER = "substr('abcde', CAST(1 + id % 5 AS int), 1) AS letter"


@contextmanager
def spying(notes: Path, trouble: Trouble = NO_TROUBLE) -> Iterator[None]:
    with mock.patch("shuffledp.engines.spark_commit.BatchReporter", Spying(notes, trouble)):
        yield


@dataclass(frozen=True)
class Watched:
    """People as a frame, encoded into the folder ``work`` beside the notes of the spies."""

    session: Any
    design: dict[str, Any]
    notes: Path

    @property
    def work(self) -> Path:
        return self.notes / "work"

    @property
    def frame(self) -> Any:
        return self.session.range(PEOPLE, numPartitions=PARTITIONS).selectExpr(LETTER)

    def encode(self, trouble: Trouble = NO_TROUBLE, *, tallied: bool) -> None:
        with spying(self.notes, trouble):
            spark.encode(self.frame, self.design, column="letter", out=self.work, tallied=tallied)

    def release(self, **options: Any) -> Any:
        with spying(self.notes):
            return spark.release(self.frame, self.design, column="letter", work=self.work, **options)

    def count(self) -> CountedReports:
        return spark.count(self.session, self.work)

    def committed(self) -> dict[int, pa.Table]:
        """What anybody can read, by partition."""
        return {int(path.name.split("-")[1]): pq.read_table(path) for path in self.parts}

    @property
    def parts(self) -> list[Path]:
        return sorted((self.work / "reports").glob("part-*"))

    @property
    def law(self) -> Any:
        return Reporter.of(Design.from_json(self.design)).randomizer

    def shows(self, attempt: Draws) -> bool:
        """Whether what can be read of a partition is what that attempt drew: report by report, or
        the sums of them.
        """
        drawn, read = attempt.reports(self.law), self.committed()[attempt.partition]
        if "report" in read.column_names:
            return bool(np.array_equal(read["report"].to_numpy(), drawn))
        (votes,) = read["votes"].to_pylist()
        return bool(np.array_equal(np.frombuffer(votes, dtype="<i8"), self.law.tally(drawn)))

    def readable(self) -> Any:
        """The same, as a frame of Spark."""
        return self.session.read.parquet(str(self.work / "reports"))

    def files(self) -> list[str]:
        """All that lies in the work folder, without the checksums beside each file."""
        return sorted(path.name for path in self.work.rglob("*") if path.is_file() and path.suffix != ".crc")
