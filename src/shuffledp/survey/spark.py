"""Slices opened by Spark, for very many. Nothing is drawn, so a task that runs again adds up the
same; what counts is one row of sums of each.

The analyst's key travels to the workers with the task: whoever operates the cluster could read
every report, though no sender. All else travels apart from it, since Spark writes a task of more
than a megabyte to disks. The sealed file must lie where all workers find it by the same name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import pyarrow as pa

from shuffledp.engines.batch import SUMS, Batches, sums_row
from shuffledp.engines.spark_column import ddl
from shuffledp.engines.spark_commit import added_rows
from shuffledp.engines.spark_session import arrow_rows, check_running, one_sentence
from shuffledp.mechanisms.results import Tally
from shuffledp.survey.collection import Collection
from shuffledp.survey.envelopes import AnalystKey
from shuffledp.survey.opener import Opener, Slice

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import SparkSession

TASKS_EACH = 4  # for each core, so that none waits long for the last
NO_KEY = AnalystKey(b"")
ON_SPARK = (
    "the reports were opened by Spark: its workers had the analyst's key, and whoever operates it could have read "
    "every report, though no sender"
)


@dataclass(frozen=True, slots=True)
class SliceOpener:
    """The slices of one task to one row of sums."""

    key: AnalystKey
    rest: Broadcast[tuple[Opener, tuple[Slice, ...]]]  # the opener without its key: everybody may read it

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """For ``mapInArrow``: a batch holds the numbers of slices."""
        unkeyed, slices = self.rest.value
        opener = replace(unkeyed, key=self.key)
        numbers = chain.from_iterable(batch.column(0).to_pylist() for batch in batches)
        tallies = [opener(slices[number]) for number in numbers]
        return (sums_row(sum(tallies[1:], tallies[0])) for _ in tallies[:1])


@dataclass(frozen=True, slots=True)
class OnSpark:
    """Opens slices by the workers of a ``session``."""

    session: SparkSession

    def __call__(self, opener: Opener, slices: Sequence[Slice]) -> Tally:
        """What all slices add up to."""
        session = check_running(self.session)
        design = Collection.of_bytes(opener.collection).design
        tasks = min(len(slices), TASKS_EACH * session.sparkContext.defaultParallelism)
        with one_sentence(), arrow_rows(session):
            rest = session.sparkContext.broadcast((replace(opener, key=NO_KEY), tuple(slices)))
            numbers = session.range(0, len(slices), 1, tasks)
            return added_rows(numbers.mapInArrow(SliceOpener(opener.key, rest), ddl(SUMS)), design)
