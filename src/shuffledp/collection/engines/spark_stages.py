"""A column of a Spark frame, stage by stage: surveyed, encoded, committed, counted, released.

Spark runs a function again whenever it likes, and what draws noise would draw it again. So reports
are drawn by one job that writes, its tasks commit once each, and everything after that reads what
was committed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from shuffledp.collection.client import Encoder, reader_of
from shuffledp.collection.engines.batch import (
    REPORT,
    SUMS,
    SURVEY,
    BatchEncoder,
    ReportTally,
    Sums,
    added_up,
    report_type,
    title_of,
)
from shuffledp.collection.engines.spark_folder import Claim, WorkFolder
from shuffledp.collection.engines.spark_session import AT_ONCE, arrow_rows, check_frame, check_session, one_sentence
from shuffledp.collection.engines.spark_tasks import MARKED, ROWS, TALLIED, ColumnSurvey, Marks, TaskTally, add_sums
from shuffledp.collection.record import Asked
from shuffledp.collection.release.budget import Budget
from shuffledp.collection.release.facts import check_sayable
from shuffledp.collection.release.released import Release
from shuffledp.collection.release.stages import check_design, release_counts
from shuffledp.collection.release.write import check_folder
from shuffledp.collection.tables import AS_WRITTEN, Cleaning, CountedReports
from shuffledp.collection.tables.columns import nearest
from shuffledp.collection.tables.values import Places, Reader
from shuffledp.errors import InvalidInput
from shuffledp.protocols.design import Design
from shuffledp.randomizers.votes import VotingRandomizer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

__all__ = ["EncodedFolder", "SparkColumn", "Surveyed", "count_folder", "encode_column", "release_column"]

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


class Surveyed(NamedTuple):
    """How many people have a value, how many have none, and how many rows were left out since their
    person has another one; None where every row was taken for a person.
    """

    people: int
    missing: int
    repeated: int | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkColumn:
    """The column of a frame, and the rules by which it is read; ``ids`` names the column that says
    whose row it is.
    """

    frame: DataFrame
    name: str
    missing: str | None = None
    clip: bool = False
    cleaning: Cleaning = AS_WRITTEN
    ids: str | None = None

    def checked(self, reader: Reader) -> SparkColumn:
        """The same, if the columns are there, and of a kind that ``reader`` reads."""
        check_frame(self.frame)
        self._empty(self.ids, "id")
        reader.prepare(self._empty(self.name, "column"), title_of(self.name))
        return self

    def rules(self) -> dict[str, Any]:
        """How values are read, for ``BatchEncoder``."""
        return {"missing": self.missing, "clip": self.clip, "cleaning": self.cleaning}

    def reader(self, design: Design) -> Reader:
        """The same for a design."""
        return reader_of(design, **self.rules())

    def survey(self, reader: Reader) -> Surveyed:
        """Who has a value; nothing is drawn."""
        self.checked(reader)
        session = self.frame.sparkSession
        with one_sentence(), arrow_rows(session):
            found = self._surveyed(reader) if self.ids is None else self._persons_surveyed(reader)
        if not found.people:
            got = f"{found.missing:,} rows that hold none" if found.missing else "no rows"
            raise InvalidInput(
                f"{title_of(self.name)} must hold at least one value, got {got}. Check that these are the right data."
            )
        return found

    def people(self, reader: Reader) -> DataFrame:
        """One row for each person. Where rows have ids, a person's rows always meet in the same
        task, so that a task which runs again chooses again, and never for two.
        """
        if self.ids is None:
            return self.frame.select(_exactly(self.name))
        from pyspark.sql import functions

        _, value, key = MARKED
        rows = self._marked(reader).groupBy(MARKED[0])
        chosen = rows.agg(functions.max_by(value, key).alias(self.name), functions.count("*").alias(ROWS))
        return chosen.select(_exactly(self.name), _exactly(ROWS))

    def _surveyed(self, reader: Reader) -> Surveyed:
        from pyspark.sql import functions
        from pyspark.sql.types import StringType

        values, weights, kind = self.frame.select(_exactly(self.name)), None, self._type(self.name)
        collated = isinstance(kind, StringType) and kind != StringType()  # then different texts are one group
        if isinstance(reader, Places) and not collated:  # Spark groups values faster than it hands them over
            weights = ROWS
            values = values.groupBy(_exactly(self.name)).agg(functions.count("*").alias(ROWS))
        task = ColumnSurvey(self.name, reader, weights)
        (row,) = values.mapInArrow(task, _ddl(SURVEY)).groupBy().sum().collect()
        return Surveyed(row[0] or 0, row[1] or 0)

    def _persons_surveyed(self, reader: Reader) -> Surveyed:
        from pyspark.sql import functions

        person, _, key = MARKED
        persons = self._marked(reader).groupBy(person).agg(functions.count(key), functions.count("*"))
        some, rows = (functions.col(name) for name in persons.columns[1:])
        holding = functions.coalesce(functions.sum((some > 0).cast("long")), functions.lit(0))
        people = functions.count("*")
        (row,) = persons.agg(holding, people, functions.coalesce(functions.sum(rows), functions.lit(0))).collect()
        return Surveyed(row[0], row[1] - row[0], row[2] - row[1])

    def _marked(self, reader: Reader) -> DataFrame:
        from pyspark.sql.types import LongType, StringType, StructType

        assert self.ids is not None
        columns = [_exactly(name) for name in dict.fromkeys([self.ids, self.name])]
        person, value, key = MARKED
        made = StructType().add(person, StringType()).add(value, self._type(self.name)).add(key, LongType())
        return self.frame.select(*columns).mapInArrow(Marks(self.name, self.ids, reader), made)

    def _empty(self, name: str | None, option: str) -> pa.Array:
        """No values of a column, of its own type: what cannot be read is refused before it is."""
        from pyspark.errors import PySparkException
        from pyspark.sql.pandas.types import to_arrow_type

        names = self.frame.columns
        if name is None:
            return pa.nulls(0)
        if names.count(name) != 1:
            if name in names:
                raise InvalidInput(
                    f"{option} must name one column of the table, got {name!r}, a name that {names.count(name)} "
                    f"columns have. Rename them."
                )
            raise InvalidInput(f"{option} must name a column of the table, got {name!r}. {nearest(name, names)}")
        kind = self._type(name)
        try:
            return pa.array([], to_arrow_type(kind))
        except PySparkException:
            raise InvalidInput(
                f"{title_of(name)} must hold text, numbers, booleans or dates, got a column of "
                f"{kind.simpleString()}. Convert it to text first."
            ) from None

    def _type(self, name: str) -> DataType:
        return self.frame.schema[name].dataType


def encode_column(column: SparkColumn, design: Design, out: object, *, tallied: bool) -> EncodedFolder:
    """Draw everybody's report in one job, and commit them; a folder that exists is refused."""
    folder, claim = _prepared(column, design, out, tallied=tallied)
    folder.check_new()
    return _encoded(column, folder, claim)


def _prepared(column: SparkColumn, design: Design, out: object, *, tallied: bool) -> tuple[WorkFolder, Claim]:
    """All that can be wrong before anything is drawn, and the claim."""
    BatchEncoder.of(design, column=column.name, **column.rules())
    column.checked(column.reader(design))
    session = check_session(column.frame.sparkSession)
    rules = column.rules() | {"cleaning": asdict(column.cleaning)}
    claim = Claim.new(design=design.as_json(), column=column.name, tallied=tallied, ids=column.ids, rules=rules)
    return WorkFolder(session, out), claim


def _encoded(column: SparkColumn, folder: WorkFolder, claim: Claim) -> EncodedFolder:
    design = claim.settled
    phones = BatchEncoder.of(design, column=column.name, **column.rules())
    task, made = (TaskTally(phones), TALLIED) if claim.tallied else (phones.encode, phones.schema)
    people = column.people(column.reader(design))
    folder.begin(claim)
    try:
        with one_sentence(), arrow_rows(people.sparkSession):
            reports = people.mapInArrow(task, _ddl(made))
            reports.write.mode("error").options(**COMMITTED).parquet(folder.reports)
    except Exception:
        if not folder.committed:
            folder.withdraw(claim)
        raise
    committed = _read(people.sparkSession, folder.parts(whole=claim.tallied), made)
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
    facts: dict[str, Any] = {"batches": (claim.batch,), "secure": True, "engine": claim.engine}
    with one_sentence():
        if not claim.tallied:
            return _votes(session, parts, settled, law).counted(settled, **facts)
        rows = _read(session, parts, TALLIED)
        tasks = rows.select("partition", "rows").toArrow()
        if sorted(tasks["partition"].to_pylist()) != list(range(len(parts))):
            raise InvalidInput(
                f"{folder.title} must hold one row of sums for every partition, got others. Delete the folder and "
                f"start again: nothing of it was counted."
            )
        sums = _added(rows.select(*SUMS.names), law)
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
    elif not place.claim().asks_as(claim):
        raise InvalidInput(
            f"{place.title} must be the work folder of this question, got that of another. Name a new folder."
        )
    counted = _counted(column.frame.sparkSession, place, design)
    return release_counts(counted, design, asked, folder, budget=budget, force=force)


def _votes(session: SparkSession, parts: list[str], design: Design, law: VotingRandomizer) -> Sums:
    """The sums of reports that were committed."""
    reports = _read(session, parts, pa.schema([(REPORT, report_type(law))]))
    if not law.single:
        with arrow_rows(session, max(1, min(AT_ONCE, COLLECTED // law.report_bytes))):
            return _added(reports.mapInArrow(ReportTally.of(design).tally, _ddl(SUMS)), law)
    groups = reports.groupBy(REPORT).count().toArrow()
    votes = np.zeros(law.tally_size, dtype=np.int64)
    votes[law.check_reports(groups[REPORT].to_numpy())] = groups["count"].to_numpy()
    return Sums(int(votes.sum()), 0, votes)


def _added(rows: DataFrame, law: VotingRandomizer) -> Sums:
    """Rows of sums, added up: by workers, as far as the driver could not hold them all."""
    session, size = rows.sparkSession, 8 * law.tally_size
    most = max(1, COLLECTED // size)
    with arrow_rows(session, most):
        partial = rows.mapInArrow(add_sums, _ddl(SUMS))
        if partial.rdd.getNumPartitions() > most:
            partial = partial.repartition(most).mapInArrow(add_sums, _ddl(SUMS))
        return added_up(partial.toArrow().to_batches())


def _read(session: SparkSession, parts: list[str], schema: pa.Schema) -> DataFrame:
    return session.read.schema(_ddl(schema)).options(**WHOLE).parquet(*parts)


def _exactly(name: str) -> Any:
    """The column of that name, whatever signs it has."""
    from pyspark.sql import functions

    return functions.col("`" + name.replace("`", "``") + "`")


def _ddl(schema: pa.Schema) -> str:
    """An Arrow schema as Spark writes it."""
    return ", ".join(f"`{field.name}` {DDL[field.type]}" for field in schema)


DDL = {pa.int16(): "smallint", pa.int32(): "int", pa.int64(): "bigint", pa.binary(): "binary"}
