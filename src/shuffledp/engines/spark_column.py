"""A column of a Spark frame: looked at, surveyed, and one row chosen of each person. What runs on
Spark's workers is pickled there, so small, and without anything of the driver's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256, shake_128
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from shuffledp.design import Design
from shuffledp.domain import Missing
from shuffledp.engines.batch import SUMS, SURVEY, Batches, BatchReporter, ColumnSurvey, column_of, title_of
from shuffledp.engines.spark_session import arrow_rows, check_frame, one_sentence, setting
from shuffledp.errors import Argument, InvalidInput, Words, packed
from shuffledp.tables.cleaning import AS_WRITTEN, Cleaning
from shuffledp.tables.columns import ColumnName, check_column, joined_name
from shuffledp.tables.people import SeveralRows, id_texts, like_ids, named_ids
from shuffledp.tables.values import Places, Reader, reader_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

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
        try:
            yield from self.task(batch.rename_columns(list(self.names)) for batch in batches)
        except InvalidInput as error:
            raise InvalidInput(packed(error.args)) from None


@dataclass(frozen=True, slots=True)
class PartitionTally:
    """A task's values to one row: which partition it was, and the sums of its reports."""

    phones: BatchReporter

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
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


FIRST_ROWS = 100_000  # of a column that is named like an id that are looked at
LOOKED_AT = 500  # files of a table whose length and time are looked at, some milliseconds each
# Of a plan, from session to session: numbers that tell columns and subqueries apart, and the rest.
NUMBERED = re.compile(r"(#|CTERelationDef |CTERelationRef )(\d+)")
VARYING = re.compile(r"RDD\[\d+\].*|@[0-9a-f]+|(?<=\blambda )\w+(?=#)|^\W*CollectMetrics .*$", re.M)
FIELDS, ALL = "spark.sql.debug.maxToStringFields", 1 << 30  # of a list in a plan that are written, of 25


class Surveyed(NamedTuple):
    """How many people have a value, how many have none, and how many rows were left out since their
    person has another one; None where every row was taken for a person.
    """

    people: int
    missing: int
    repeated: int | None = None


@dataclass(frozen=True, slots=True)
class People:
    """A frame of people, and what its columns are called to those who read them. Spark knows them
    by their places: it does not find every name that it allows, such as one with a dot.
    """

    frame: DataFrame
    names: tuple[str, ...]

    def mapped(self, task: Any, schema: Any) -> DataFrame:
        """``mapInArrow``, whatever the columns are called."""
        return self.frame.mapInArrow(Named(task, self.names), schema)


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkColumn:
    """The column of a frame, and the rules by which it is read; ``ids`` names the column that says
    whose row it is.
    """

    frame: DataFrame
    name: str
    missing: Missing = None
    clip: bool = False
    cleaning: Cleaning = AS_WRITTEN
    ids: str | None = None

    @classmethod
    def of(cls, frame: DataFrame, name: ColumnName, *, one_row_per_person: bool = False, **rules: Any) -> Self:
        """A column by its name; several are joined to one of structs, as on files. Where rows have
        no ids, the first rows of columns that are named like one are looked at: all of them would
        take a shuffle.
        """
        asked = (name,) if isinstance(name, str) else name
        plain = cls(frame=frame, name=asked[0])
        plain._check_rows(like_ids(frame.columns, asked, rules.get("ids"), one_row_per_person=one_row_per_person))
        if isinstance(name, str):
            return cls(frame=frame, name=name, **rules)
        from pyspark.sql import functions

        for each in name:
            plain._empty(each, "column")
        kept = [] if rules.get("ids") is None else [rules["ids"]]
        plain._empty(rules.get("ids"), Argument("id"))
        placed = plain._selected(*name, *kept).frame
        parts = [functions.col(place).alias(each) for place, each in zip(placed.columns, name, strict=False)]
        ids = [functions.col(place).alias(each) for place, each in zip(placed.columns[len(name) :], kept, strict=True)]
        joined = placed.select(functions.struct(*parts).alias(joined_name(name)), *ids)
        return cls(frame=joined, name=joined_name(name), **rules)

    def checked(self, reader: Reader) -> SparkColumn:
        """The same, if the columns are there, and of a kind that ``reader`` reads."""
        check_frame(self.frame)
        id_texts(self._empty(self.ids, Argument("id")))
        reader.prepare(self._empty(self.name, "column"), title_of(self.name))
        return self

    def rules(self) -> dict[str, Any]:
        """How values are read, for ``BatchReporter``."""
        return {"missing": self.missing, "clip": self.clip, "cleaning": self.cleaning}

    def reader(self, design: Design) -> Reader:
        """How values are read for a design."""
        return reader_of(design.domain, **self.rules())

    def fingerprint(self) -> str:
        """What tells the table from another one, as far as Spark says it: the files that it reads,
        and what is done with them; the same in every session.
        """
        from pyspark.sql import SparkSession

        session: Any = self.frame.sparkSession
        hadoop, conf = session._jvm.org.apache.hadoop.fs, session._jsc.hadoopConfiguration()
        with setting(SparkSession.getActiveSession() or session, FIELDS, ALL):  # the active one writes
            plan = _steady(self.frame._jdf.queryExecution().analyzed().toString())
        with one_sentence():
            files = sorted(self.frame.inputFiles())
            paths = [hadoop.Path(session._jvm.java.net.URI(file)) for file in files[:LOOKED_AT]]
            found = [path.getFileSystem(conf).getFileStatus(path) for path in paths]
        stamps = [f"{each.getLen()} {each.getModificationTime()}" for each in found]
        return sha256("\n".join([plan, *files, *stamps]).encode()).hexdigest()

    def survey(self, reader: Reader, *, some: bool = True) -> Surveyed:
        """Who has a value; nothing is drawn. That there are ``some`` is required."""
        self.checked(reader)
        session = self.frame.sparkSession
        with one_sentence(), arrow_rows(session):
            found = self._surveyed(reader) if self.ids is None else self._persons_surveyed(reader)
        if some and not found.people:
            got = f"{found.missing:,} rows that hold none" if found.missing else "no rows"
            raise InvalidInput(
                f"{title_of(self.name)} must hold at least one value, got {got}. Check that these are the right data."
            )
        return found

    def people(self, reader: Reader) -> People:
        """One row for each person. Where rows have ids, a person's rows always meet in the same
        task, so that a task which runs again chooses again, and never for two.
        """
        if self.ids is None:
            return self._selected(self.name)
        from pyspark.sql import functions

        person, value, key = MARKED
        rows = self._marked(reader).groupBy(person)
        chosen = rows.agg(functions.max_by(value, key).alias(value), functions.count("*").alias(key))
        return People(chosen.select(value, key), (self.name, ROWS))

    def _surveyed(self, reader: Reader) -> Surveyed:
        from pyspark.sql import functions
        from pyspark.sql.types import StringType

        values, weights, kind = self._selected(self.name), None, self._type(self.name)
        collated = isinstance(kind, StringType) and kind != StringType()  # then different texts are one group
        if isinstance(reader, Places) and not collated:  # Spark groups values faster than it hands them over
            weights = ROWS
            grouped = values.frame.groupBy(*values.frame.columns).agg(functions.count("*").alias(ROWS))
            values = People(grouped, (self.name, ROWS))
        task = ColumnSurvey(self.name, reader, weights)
        (row,) = values.mapped(task, ddl(SURVEY)).groupBy().sum().collect()
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
        person, value, key = MARKED
        made = StructType().add(person, StringType()).add(value, self._type(self.name)).add(key, LongType())
        return self._selected(*dict.fromkeys([self.ids, self.name])).mapped(Marks(self.name, self.ids, reader), made)

    def _check_rows(self, watched: list[str]) -> None:
        """Refuse a person with several of the first rows."""
        with SeveralRows(watched, "the table") as several:
            for name in watched:
                with one_sentence():
                    (seen,) = self._selected(name).frame.limit(FIRST_ROWS).toArrow().combine_chunks().columns
                several.add(name, seen.combine_chunks())

    def _selected(self, *names: str) -> People:
        """Some columns, by their places."""
        listed = self.frame.columns
        placed = self.frame.toDF(*(f"c{place}" for place in range(len(listed))))
        return People(placed.select(*(f"c{listed.index(name)}" for name in names)), names)

    def _empty(self, name: str | None, option: Words) -> pa.Array:
        """No values of a column, of its own type: what cannot be read is refused before it is."""
        from pyspark.errors import PySparkException
        from pyspark.sql.pandas.types import to_arrow_type

        if name is None:
            return pa.nulls(0)
        check_column(self.frame.columns, name, option)
        kind = self._type(name)
        try:
            return pa.array([], to_arrow_type(kind))
        except (PySparkException, AssertionError):  # of a time, whose text depends on the session's zone
            raise InvalidInput(
                f"{title_of(name)} must hold text, numbers, booleans or dates, got a column of "
                f"{kind.simpleString()}. Convert it to text first."
            ) from None

    def _type(self, name: str) -> DataType:
        return self.frame.schema[name].dataType


def _steady(plan: str) -> str:
    """A plan that is the same in every session: numbered anew, from its beginning."""
    numbers: dict[tuple[bool, str], int] = {}

    def numbered(found: re.Match[str]) -> str:
        return f"{found[1]}{numbers.setdefault((found[1] == '#', found[2]), len(numbers))}"

    return NUMBERED.sub(numbered, VARYING.sub("", plan))


def ddl(schema: pa.Schema) -> str:
    """An Arrow schema as Spark writes it."""
    return ", ".join(f"`{field.name}` {DDL[field.type]}" for field in schema)


DDL = {pa.int16(): "smallint", pa.int32(): "int", pa.int64(): "bigint", pa.binary(): "binary", pa.bool_(): "boolean"}
