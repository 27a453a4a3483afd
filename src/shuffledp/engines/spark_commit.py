"""Reports of a Spark frame's column, drawn once and committed, and the work folder that they lie
in.

Spark runs a function again whenever it likes, and what draws noise would draw it again. So reports
are drawn by one job that writes, its tasks commit once each, and everything after that (counting,
releasing) reads what was committed.

The work folder holds a claim that one run makes, what was drawn under it, and whether that was
committed. It lies wherever Hadoop reaches: on a disk that all workers share, in HDFS, in an object
store.

    claim.json   what is asked of which column, and the name of this drawing; made once, exclusively
    reports/     what the tasks of one job committed, and ``_SUCCESS`` when all of them had

Rules of evolution: as for a design. A field is never removed and its meaning never changes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import numpy as np
import pyarrow as pa

from shuffledp.client import Reporter
from shuffledp.design import Design
from shuffledp.engines.batch import (
    REPORT,
    SUMS,
    UNSURE,
    BatchReporter,
    ReportTally,
    added_up,
    counted_of,
    report_type,
    title_of,
)
from shuffledp.engines.spark_column import TALLIED, PartitionTally, SparkColumn, ddl
from shuffledp.engines.spark_session import AT_ONCE, arrow_rows, check_session, failures, first_line, one_sentence
from shuffledp.errors import InvalidInput, shown
from shuffledp.mechanisms.results import Tally
from shuffledp.record import Context
from shuffledp.release.budget import Budget
from shuffledp.release.files import check_folder
from shuffledp.release.pipeline import check_sayable
from shuffledp.release.released import Release
from shuffledp.release.stages import check_design, release_counts
from shuffledp.schema import NEEDED, File, Text, Whole, part
from shuffledp.storage.canonical import Line
from shuffledp.storage.files import unwritable
from shuffledp.tables.counted_reports import CountedReports, new_batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CLAIM, REPORTS, SUCCESS = "claim.json", "reports", "_SUCCESS"
PART = re.compile(r"part-(\d+)-([0-9a-f-]{36})-c000(\.\w+)*\.parquet")
GLOBS = set("*?[]{}\\")
NEW = "Name a new folder, or delete this one."
AGAIN = "Delete the folder and start again: nothing of it was counted."


@part
class Claim(Line):
    """Which question a work folder is for, and the name of its one drawing."""

    format: Annotated[Literal["shuffledp-work"], NEEDED] = "shuffledp-work"
    version: Annotated[Whole, NEEDED] = 1
    design: Any
    column: Text
    tallied: bool
    ids: Text | None
    rules: Any  # by which values are read
    batch: Annotated[Text, NEEDED] = field(default_factory=new_batch)
    engine: Annotated[Text, NEEDED] = "spark"
    table: Annotated[Text | None, NEEDED] = None  # what tells it from another one, where a second start goes on

    def asks_as(self, other: Claim) -> bool:
        """Whether another claim is for the same question."""
        return replace(self, batch=other.batch).content == other.content

    @property
    def decoded(self) -> Design:
        """The design, read."""
        return Design.from_json(self.design)


def check_address(path: object) -> str:
    """Return the path or address of a work folder as text; no session is needed to refuse it."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path) or GLOBS & set(os.fspath(path)):
        raise InvalidInput(
            f"the work folder must be a path or an address, without any of {' '.join(sorted(GLOBS))}, got "
            f"{shown(path)}. Write, for example, hdfs:///tmp/poll."
        )
    return os.fspath(path)


class WorkFolder:
    """A folder by Hadoop's means; ``path`` is its full address."""

    def __init__(self, session: SparkSession, path: object) -> None:
        address = check_address(path)
        self._jvm, java = cast(Any, session._jvm), cast(Any, session._jsc)
        with self._reaching(address):
            self._place = self._jvm.org.apache.hadoop.fs.Path(address)
            self._system = self._place.getFileSystem(java.hadoopConfiguration())
            whole = self._system.makeQualified(self._place)
        self.path = str(whole.toString())
        self.title = repr(address)
        self._local = Path(whole.toUri().getPath()) if whole.toUri().getScheme() == "file" else None

    @property
    def reports(self) -> str:
        """Where tasks commit."""
        return f"{self.path}/{REPORTS}"

    @property
    def exists(self) -> bool:
        """Whether anything is there."""
        with self._reaching():
            return bool(self._system.exists(self._place))

    @property
    def committed(self) -> bool:
        """Whether every task of the one job has committed."""
        with self._reaching():
            return bool(self._system.exists(self._inside(REPORTS, SUCCESS)))

    def stands(self, claim: Claim, what: str, remedy: str = NEW) -> bool:
        """Whether a run began here, for the same question; one for another is refused."""
        if not self.exists:
            self.check_new()
            return False
        if not (held := self.claim()).asks_as(claim):
            of_table = " about this table" if what == "question" and held.table != claim.table else ""
            raise InvalidInput(
                f"{self.title} must be the work folder of this {what}{of_table}, got that of another. {remedy}"
            )
        return True

    def check_new(self) -> None:
        """Refuse a folder that exists: what another run drew must not be drawn again."""
        if self.exists:
            raise InvalidInput(
                f"{self.title} must not exist yet, got a folder that does. Name a new one, or count what it holds."
            )
        if self._local is not None and not self._local.parent.is_dir():
            parent = self._local.parent
            raise InvalidInput(f"the folder of {self.title} must exist, got none. Create it first: mkdir -p {parent}")

    def begin(self, claim: Claim) -> None:
        """Write the claim, which only one of several runs can."""
        text = claim.content
        if self._local is not None:  # Hadoop looks whether a file is there before it creates it, and others may too
            with unwritable(self._local):
                self._local.mkdir()
                with open(self._local / CLAIM, "xb") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
            return
        with self._reaching():
            self._system.mkdirs(self._place)
            stream = self._system.create(self._inside(CLAIM), False)
            stream.write(bytearray(text))
            stream.close()
            if self.claim().batch != claim.batch:  # an object store may let the later of two win
                raise InvalidInput(f"{self.title} must be claimed by one run, got two at once. Name another folder.")

    def claim(self) -> Claim:
        """The claim of whoever began here."""
        with self._reaching():
            if not self._system.exists(self._inside(CLAIM)):
                raise InvalidInput(
                    f"{self.title} must be a work folder, got none: it holds no {CLAIM}. Give the folder that encode "
                    f"wrote."
                )
            stream = self._system.open(self._inside(CLAIM))
            text = self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
            stream.close()
        try:
            return Claim.from_bytes(text.encode(), File(self.title, UNSURE))
        except InvalidInput:
            raise InvalidInput(
                f"{self.title} must hold a whole {CLAIM} of this version of shuffledp, got another one. If another "
                f"version wrote the folder, count it with that one. {UNSURE}"
            ) from None

    def parts(self, *, whole: bool) -> list[str]:
        """The files that were committed, one for each task; ``whole`` where every task left one."""
        if not self.committed:
            raise InvalidInput(
                f"{self.title} must hold reports that were committed, got a folder that was begun and never "
                f"committed. {AGAIN}"
            )
        with self._reaching():
            listed = self._system.listStatus(self._inside(REPORTS))
            names = sorted(str(each.getPath().getName()) for each in listed)
        found = {name: PART.fullmatch(name) for name in names if name[0] not in "_."}
        numbers = [int(match[1]) for match in found.values() if match]
        if None in found.values() or len({match[2] for match in found.values() if match}) > 1:
            raise InvalidInput(f"{self.title} must hold the reports of one job, got files of others. {UNSURE}")
        if len(set(numbers)) < len(numbers):
            raise InvalidInput(f"{self.title} must hold every partition once, got one twice. {UNSURE}")
        complete = sorted(numbers) == list(range(len(numbers)))
        if not numbers or (whole and not complete):
            raise InvalidInput(
                f"{self.title} must hold every partition, got {len(numbers):,} of more. Is it on storage that all "
                f"workers share? {UNSURE}"
            )
        return [f"{self.reports}/{name}" for name in found]

    def withdraw(self, claim: Claim) -> None:
        """Leave nothing of a run that drew nothing which could be read; what is another's stays."""
        if self.claim().batch != claim.batch:
            return
        with self._reaching():
            self._system.delete(self._inside(REPORTS), True)
            self._system.delete(self._inside(CLAIM), False)
            if not len(self._system.listStatus(self._place)):
                self._system.delete(self._place, False)

    def _inside(self, *names: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path("/".join([self.path, *names]))

    @contextmanager
    def _reaching(self, path: str | None = None) -> Iterator[None]:
        """Turn what Hadoop says into one sentence."""
        try:
            yield
        except failures() as error:
            raise InvalidInput(
                f"the work folder {self.title if path is None else repr(path)} must be within reach, got: "
                f"{first_line(error)}. Check its address, and who may write there."
            ) from None


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


def prepared(column: SparkColumn, design: Design, out: object, *, tallied: bool = True) -> tuple[WorkFolder, Claim]:
    """All that can be wrong before anything is drawn, and the claim."""
    phones = _phones(column, design)
    if not tallied:
        phones.check_shown()
    column.checked(column.reader(design))
    session = check_session(column.frame.sparkSession)
    claim = Claim(
        design=design.as_json(),
        column=column.name,
        tallied=tallied,
        ids=column.ids,
        rules=column.rules() | {"cleaning": asdict(column.cleaning)},
        table=column.fingerprint(),
    )
    return WorkFolder(session, out), claim


def encoded(column: SparkColumn, folder: WorkFolder, claim: Claim) -> EncodedFolder:
    """Draw everybody's report in one job, and commit them."""
    design = claim.decoded
    phones, reader = _phones(column, design), column.reader(design)
    task, made = (PartitionTally(phones), TALLIED) if claim.tallied else (phones.encode, phones.schema)
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


def counted_in(session: SparkSession, folder: WorkFolder, design: Design | None) -> CountedReports:
    """What the committed reports of a folder add up to; nothing is written, and nothing drawn."""
    claim = folder.claim()
    if design is not None:
        check_design(folder.title, claim.design, design)
    design = claim.decoded
    parts = folder.parts(whole=claim.tallied)
    facts: dict[str, Any] = {"engine": claim.engine, "batches": (claim.batch,)}
    with one_sentence():
        if not claim.tallied:
            return counted_of(_votes(session, parts, design), design, **facts)
        rows = _read(session, parts, TALLIED)
        tasks = rows.select("partition", "rows").toArrow()
        if sorted(tasks["partition"].to_pylist()) != list(range(len(parts))):
            raise InvalidInput(f"{folder.title} must hold one row of sums for every partition, got others. {UNSURE}")
        sums = added_rows(rows.select(*SUMS.names), design)
    if claim.rules["missing"] is None:
        facts["missing"] = sums.missing
    if claim.ids is not None:
        facts["repeated"] = sum(tasks["rows"].to_pylist()) - sums.people - sums.missing
    return counted_of(sums, design, **facts)


def release_column(
    column: SparkColumn,
    design: Design,
    asked: Context,
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
    first = None if budget is None else partial(budget.afford, design, asked.what or asked.question)
    counted = drawn_once(column, design, work, "question", first=first)
    return release_counts(counted, design, replace(asked, engine="Spark"), folder, budget=budget, force=force)


def drawn_once(
    column: SparkColumn,
    design: Design,
    work: object,
    what: str,
    *,
    remedy: str = NEW,
    first: Callable[[], object] | None = None,
) -> CountedReports:
    """What was committed in a work folder, added up; where there is none, everybody's report is
    drawn in one job, after ``first``.
    """
    place, claim = prepared(column, design, work)
    if not place.stands(claim, what, remedy):
        if first is not None:
            first()
        encoded(column, place, claim)
    return counted_in(column.frame.sparkSession, place, design)


def _votes(session: SparkSession, parts: list[str], design: Design) -> Tally:
    """The sums of reports that were committed."""
    law, task = Reporter.of(design).randomizer, ReportTally.of(design)
    reports = _read(session, parts, pa.schema([(REPORT, report_type(law))]))
    if not law.single:
        with arrow_rows(session, max(1, min(AT_ONCE, COLLECTED // law.report_bytes))):
            return added_rows(reports.mapInArrow(task.tally, ddl(SUMS)), design)
    groups = reports.groupBy(REPORT).count().toArrow()
    votes = np.zeros(law.tally_size, dtype=np.int64)
    votes[law.check_reports(groups[REPORT].to_numpy())] = groups["count"].to_numpy()
    return Tally(law, (votes,))


def added_rows(rows: DataFrame, design: Design) -> Tally:
    """Rows of sums, added up: by workers, as far as the driver could not hold them all."""
    session, task = rows.sparkSession, ReportTally.of(design)
    size = 8 * task.law.tally_size
    most = max(1, COLLECTED // size)
    with arrow_rows(session, most):
        partial = rows.mapInArrow(task.sum_rows, ddl(SUMS))
        if partial.rdd.getNumPartitions() > most:
            partial = partial.repartition(most).mapInArrow(task.sum_rows, ddl(SUMS))
        return added_up(partial.toArrow().to_batches(), task.law)


def _read(session: SparkSession, parts: list[str], schema: pa.Schema) -> DataFrame:
    return session.read.schema(ddl(schema)).options(**WHOLE).parquet(*parts)


def _phones(column: SparkColumn, design: Design) -> BatchReporter:
    """What draws the reports, on workers."""
    return BatchReporter.of(design, column=column.name, **column.rules())
