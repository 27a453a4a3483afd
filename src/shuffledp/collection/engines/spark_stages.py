"""A column of a Spark frame, stage by stage: surveyed, encoded, committed, counted, released.

Spark runs a function again whenever it likes, and what draws noise would draw it again. So reports
are drawn by one job that writes, its tasks commit once each, and everything after that reads what
was committed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shuffledp.collection.client import Encoder
from shuffledp.collection.engines.batch import (
    REPORT,
    SUMS,
    UNSURE,
    BatchEncoder,
    ReportTally,
    Sums,
    added_up,
    report_type,
    title_of,
)
from shuffledp.collection.engines.spark_column import SparkColumn, ddl
from shuffledp.collection.engines.spark_folder import Claim, WorkFolder
from shuffledp.collection.engines.spark_session import AT_ONCE, arrow_rows, check_session, one_sentence
from shuffledp.collection.engines.spark_tasks import TALLIED, TaskTally, add_sums
from shuffledp.collection.record import Asked
from shuffledp.collection.release.budget import Budget
from shuffledp.collection.release.facts import check_sayable
from shuffledp.collection.release.released import Release
from shuffledp.collection.release.stages import check_design, release_counts
from shuffledp.collection.release.write import check_folder
from shuffledp.collection.tables import CountedReports
from shuffledp.errors import InvalidInput
from shuffledp.protocols.design import Design
from shuffledp.randomizers.reporting import Reporting

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "EncodedFolder",
    "added_rows",
    "claimed_folder",
    "count_claimed",
    "count_folder",
    "draw_claimed",
    "encode_column",
    "release_column",
]

# Every part of Hadoop's commit protocol, whatever the session says: what a task wrote is seen when
# the job has committed, one attempt of each task, one file of each attempt.
COMMITTED = {
    "mapreduce.fileoutputcommitter.algorithm.version": "1",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "true",
    "mapreduce.fileoutputcommitter.cleanup.skipped": "false",
    "spark.sql.parquet.output.committer.class": "org.apache.parquet.hadoop.ParquetOutputCommitter",
    "maxRecordsPerFile": "0",
    "compression": "zstd",
}
WHOLE = {"ignoreMissingFiles": "false", "ignoreCorruptFiles": "false", "mergeSchema": "false"}
COLLECTED = 1 << 26  # bytes of partial sums that come to the driver; more are added up by workers first


@dataclass(frozen=True, slots=True)
class EncodedFolder:
    """A work folder whose reports are drawn and committed, under the name ``batch``; ``tallied``
    where each task left the sums of its reports and none of them.
    """

    path: str
    batch: str
    design: Design
    column: str
    tallied: bool


def encode_column(column: SparkColumn, design: Design, out: object, *, tallied: bool) -> EncodedFolder:
    """Draw everybody's report in one job, and commit them; a folder that exists is refused."""
    folder, claim = _prepared(column, design, out, tallied=tallied)
    folder.check_new()
    return _encoded(column, folder, claim)


def _prepared(column: SparkColumn, design: Design, out: object, *, tallied: bool) -> tuple[WorkFolder, Claim]:
    """All that can be wrong before anything is drawn, and the claim."""
    phones = _phones(column, design)
    if not tallied:
        phones.check_shown()
    column.checked(column.reader(design))
    session = check_session(column.frame.sparkSession)
    claim = Claim.new(
        design=design.as_json(),
        column=column.name,
        tallied=tallied,
        ids=column.ids,
        rules=column.rules() | {"cleaning": asdict(column.cleaning)},
        table=column.fingerprint(),
    )
    return WorkFolder(session, out), claim


def _encoded(column: SparkColumn, folder: WorkFolder, claim: Claim) -> EncodedFolder:
    design = claim.settled
    phones, reader = _phones(column, design), column.reader(design)
    task, made = (TaskTally(phones), TALLIED) if claim.tallied else (phones.encode, phones.schema)
    people, session = column.people(reader), column.frame.sparkSession
    folder.begin(claim)
    try:
        with one_sentence(), arrow_rows(session):
            reports = people.mapped(task, ddl(made))
            reports.write.mode("error").options(**COMMITTED).parquet(folder.reports)
    except BaseException:  # also when somebody loses patience
        if not folder.committed:
            folder.withdraw(claim)
        raise
    committed = _read(session, folder.parts(whole=claim.tallied), made)
    if (committed.where("reports > 0") if claim.tallied else committed).isEmpty():
        folder.withdraw(claim)
        raise InvalidInput(
            f"{title_of(column.name)} must hold at least one value, got none. Check that these are the right data."
        )
    return EncodedFolder(folder.path, claim.batch, design, claim.column, claim.tallied)


def count_folder(session: SparkSession, path: object, *, design: Design | None = None) -> CountedReports:
    """What the committed reports of a folder add up to; nothing is written, and nothing drawn."""
    return _counted(session, WorkFolder(session, path), design)


def _counted(session: SparkSession, folder: WorkFolder, design: Design | None) -> CountedReports:
    claim = folder.claim()
    if design is not None:
        check_design(folder.title, claim.design, design)
    settled = claim.settled
    law = Encoder.of(settled).randomizer
    parts = folder.parts(whole=claim.tallied)
    facts: dict[str, Any] = {"secure": True, "engine": claim.engine, "batches": (claim.batch,)}
    with one_sentence():
        if not claim.tallied:
            return _votes(session, parts, settled, law).counted(settled, **facts)
        rows = _read(session, parts, TALLIED)
        tasks = rows.select("partition", "rows").toArrow()
        if sorted(tasks["partition"].to_pylist()) != list(range(len(parts))):
            raise InvalidInput(f"{folder.title} must hold one row of sums for every partition, got others. {UNSURE}")
        sums = added_rows(rows.select(*SUMS.names), law)
    if claim.rules["missing"] is None:
        facts["missing"] = sums.missing
    if claim.ids is not None:
        facts["repeated"] = sum(tasks["rows"].to_pylist()) - sums.reports - sums.missing
    return sums.counted(settled, **facts)


def release_column(
    column: SparkColumn,
    design: Design,
    asked: Asked,
    *,
    work: object,
    folder: Path | None = None,
    budget: Budget | None = None,
    force: bool = False,
) -> Release:
    """Encode, count and publish. A work folder that holds committed reports of the same question is
    gone on with: nothing is drawn again.
    """
    check_sayable(design)
    if folder is not None:
        check_folder(folder, replace=force)
    place, claim = _prepared(column, design, work, tallied=True)
    if not place.exists:
        place.check_new()
        if budget is not None:
            budget.afford(design, asked.what or asked.task)
        _encoded(column, place, claim)
    elif not (held := place.claim()).asks_as(claim):
        asked_there = "question" if held.table == claim.table else "question about this table"
        raise InvalidInput(
            f"{place.title} must be the work folder of this {asked_there}, got that of another. Name a new folder, or "
            f"delete this one."
        )
    counted = _counted(column.frame.sparkSession, place, design)
    return release_counts(counted, design, asked, folder, budget=budget, force=force)


def claimed_folder(column: SparkColumn, design: Design, out: object) -> tuple[WorkFolder, Claim]:
    """A folder for the sums of a question, and what a run claims there."""
    return _prepared(column, design, out, tallied=True)


def draw_claimed(column: SparkColumn, folder: WorkFolder, claim: Claim) -> None:
    """Draw everybody's report in one job, and commit their sums."""
    _encoded(column, folder, claim)


def count_claimed(column: SparkColumn, folder: WorkFolder, design: Design) -> CountedReports:
    """What was committed there, added up."""
    return _counted(column.frame.sparkSession, folder, design)


def _votes(session: SparkSession, parts: list[str], design: Design, law: Reporting) -> Sums:
    """The sums of reports that were committed."""
    reports = _read(session, parts, pa.schema([(REPORT, report_type(law))]))
    if not law.single:
        with arrow_rows(session, max(1, min(AT_ONCE, COLLECTED // law.report_bytes))):
            return added_rows(reports.mapInArrow(ReportTally.of(design).tally, ddl(SUMS)), law)
    groups = reports.groupBy(REPORT).count().toArrow()
    votes = np.zeros(law.tally_size, dtype=np.int64)
    votes[law.check_reports(groups[REPORT].to_numpy())] = groups["count"].to_numpy()
    return Sums(int(votes.sum()), 0, votes)


def added_rows(rows: DataFrame, law: Reporting) -> Sums:
    """Rows of sums, added up: by workers, as far as the driver could not hold them all."""
    session, size = rows.sparkSession, 8 * law.tally_size
    most = max(1, COLLECTED // size)
    with arrow_rows(session, most):
        partial = rows.mapInArrow(add_sums, ddl(SUMS))
        if partial.rdd.getNumPartitions() > most:
            partial = partial.repartition(most).mapInArrow(add_sums, ddl(SUMS))
        return added_up(partial.toArrow().to_batches())


def _read(session: SparkSession, parts: list[str], schema: pa.Schema) -> DataFrame:
    return session.read.schema(ddl(schema)).options(**WHOLE).parquet(*parts)


def _phones(column: SparkColumn, design: Design) -> BatchEncoder:
    """What draws the reports, on workers."""
    return BatchEncoder.of(design, column=column.name, **column.rules())
