"""The obvious code, which leaks: randomize in a lazy frame, and look at it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shuffledp.client import Reporter
from shuffledp.design import Design
from tests.engines.spies import NO_TROUBLE, Trouble, note, noted

PEOPLE, PARTITIONS = 2000, 2
Reports = dict[int, list[int]]  # of each person, from all places where somebody could read them


@dataclass(frozen=True)
class Naive:
    """A function for ``mapInArrow``: people with ids and places in, ids and reports out."""

    design: dict[str, Any]
    notes: Path
    trouble: Trouble

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reporter = Reporter.of(Design.from_json(self.design))
        for batch in batches:
            reports = reporter.encode(batch["place"].to_numpy()).astype(np.int16)
            drawn = pa.record_batch({"id": batch["id"], "report": reports})
            note(self.notes, pa.Table.from_batches([drawn]))
            yield drawn
        self.trouble.strike(self.notes)


@dataclass(frozen=True)
class Naively:
    """People as a frame, randomized by that function."""

    session: Any
    design: dict[str, Any]
    notes: Path

    @property
    def out(self) -> str:
        return str(self.notes / "out")

    def frame(self, trouble: Trouble = NO_TROUBLE) -> Any:
        people = self.session.range(PEOPLE, numPartitions=PARTITIONS).selectExpr("id", "id % 5 AS place")
        return people.mapInArrow(Naive(self.design, self.notes, trouble), "id bigint, report smallint")

    def append(self, trouble: Trouble = NO_TROUBLE) -> None:
        """Write; a later start adds to what is there."""
        self.frame(trouble).write.mode("append").parquet(self.out)

    def read(self) -> Reports:
        """What anybody can read who looks into the folder."""
        return gathered([self.session.read.parquet(self.out).collect()])

    def drawn(self) -> Reports:
        """What was drawn, by whatever attempt."""
        return gathered(zip(*each.table.to_pydict().values(), strict=True) for each in noted(self.notes))


def gathered(places: Iterable[Iterable[Any]]) -> Reports:
    held: Reports = {}
    for rows in places:
        for person, report in rows:
            held.setdefault(int(person), []).append(int(report))
    return {person: sorted(reports) for person, reports in held.items()}
