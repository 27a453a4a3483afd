"""A question about tables that Spark reads: ``--engine spark``."""

import logging
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from shuffledp.cli.questions import Found, TypedCommand
from shuffledp.cli.show import patiently
from shuffledp.errors import Argument, InvalidInput, Refusal, check_delta, check_epsilon, check_rounds

if TYPE_CHECKING:  # pyarrow takes longer to load than most other commands take
    from shuffledp.design import Design
    from shuffledp.engines.spark_column import SparkColumn
    from shuffledp.release.released import Release
    from shuffledp.release.request import Request

# As other readers of CSV, and ours, read it: a quote is doubled, and may enclose lines; what fits
# neither the rules nor the first line is refused.
CSV = {"header": True, "escape": '"', "multiLine": True, "mode": "FAILFAST", "enforceSchema": False, "emptyValue": ""}
UNREADABLE = "\N{REPLACEMENT CHARACTER}"  # what Spark reads for bytes that are not UTF-8
ODD_NUMBERS = r"[0-9.][dDfF]\s*$|[xX]"  # which are numbers in Java, and nowhere else
ENDINGS = (".csv", ".csv.gz", ".csv.bz2", ".csv.zst")


@dataclass(frozen=True, slots=True)
class Engine:
    """Where a question runs, other than here: on Spark."""

    master: str
    work: str | None
    tables: tuple[str, ...]

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The engine that the options name; what it cannot do is refused."""
        place, work = spark_master(given["engine"]), given["work"]
        _check_table(given)
        if work is None and not place.startswith("local"):
            raise InvalidInput(
                f"--work must be given with --engine {place}, got none. Name a folder on storage that all its workers "
                f"share, such as hdfs:///tmp/poll."
            )
        return cls(place, work, tuple(given["source"]))


def spark_master(engine: str) -> str:
    """Where Spark runs: an address of its own kinds, or all cores of this machine."""
    if engine == "spark":
        return "local[*]"
    if engine != "yarn" and not engine.startswith(("local", "spark://", "k8s://")):
        raise InvalidInput(
            f"--engine must be spark or the address of a Spark cluster, got {engine!r}. Leave it out to run here, "
            f"without an engine."
        )
    return engine


def _check_table(given: Mapping[str, Any]) -> None:
    """Refuse what only one machine can do."""
    if "-" in given["source"]:
        raise InvalidInput("tables must be files with --engine, got standard input. Save it where Spark can read it.")
    if given["keep"] == "first":
        raise InvalidInput(
            "--keep must be random with --engine, where no row is the first, got 'first'. Leave it out, or keep one "
            "row of each person before."
        )
    if given["encoding"] is not None:
        raise InvalidInput(
            f"--encoding must be left out with --engine, got {given['encoding']!r}. Convert the table to Parquet first."
        )
    if given["format"] not in (None, "csv", "parquet"):
        raise InvalidInput(
            f"--format must be csv or parquet with --engine, got {given['format']!r}. Convert the table first."
        )


@contextmanager
def in_spark(asking: TypedCommand, engine: Engine, release: Any = None) -> Iterator[Found]:
    """Tables that a session of Spark reads, for as long as the question is asked; ``release`` is
    what draws, commits and counts, where that is not one design.
    """
    from shuffledp.engines.spark_commit import release_column

    with reading_column(asking, engine, asking.question) as column:
        with patiently("reading the table"):
            reader = asking.question.reader()
            people = column.survey(reader)
            if reader.sought is not None and not column.survey(reader.sought, some=False).people:
                reader.remarks(f"column {column.name!r}")  # which refuses that
        asked = asking.question.named(column.name)

        def publish(design: "Design") -> "Release":
            with patiently("drawing, committing and counting"), working(asking, engine) as work:
                how: Any = {"work": work, "folder": asking.keeping.folder(), "force": asking.keeping.force}
                carried_out = release_column if release is None else partial(release, surveyed=people)
                return carried_out(column, design, asked.asked(), budget=asking.budget, **how)

        yield Found(asked, people.people, people.missing if asked.leaves_out else None, publish)


@contextmanager
def reading_column(asking: TypedCommand, engine: Engine, question: "Request") -> Iterator["SparkColumn"]:
    """The column of a question, in a session of Spark that ends when the question is answered."""
    from shuffledp.engines.spark_session import session_at

    _check_early(asking, engine)
    with ExitStack() as held:
        quiet = logging.NullHandler()  # else py4j prints where it was when Ctrl-C came
        logging.getLogger().addHandler(quiet)
        held.callback(logging.getLogger().removeHandler, quiet)
        with patiently("starting Spark"):
            session = held.enter_context(session_at(engine.master))
        with patiently("opening the table"):
            column = _column(session, engine, question)
        yield column


def _column(session: Any, engine: Engine, question: "Request") -> "SparkColumn":
    """The column that is asked about; a table with a single one needs no name."""
    from shuffledp.engines.spark_column import SparkColumn

    frame = _read(session, engine.tables, question)
    if not question.names and len(frame.columns) > 1:
        listed = ", ".join(map(repr, frame.columns[:20]))
        rule = (Argument("column"), " must be named where there are several")
        raise InvalidInput(Refusal(rule, "none", f"The columns are {listed}."))
    names = question.names or (frame.columns[0],)
    return SparkColumn.of(
        frame,
        names if len(names) > 1 else names[0],
        missing=question.gaps,
        clip=question.clip,
        cleaning=question.cleaning,
        ids=question.ids,
        one_row_per_person=question.one_row_per_person,
    )


def _read(session: Any, tables: tuple[str, ...], question: "Request") -> Any:
    """The tables, one after another."""
    from shuffledp.engines.spark_session import failures, first_line

    ends, format = {table.lower().endswith(ENDINGS) for table in tables}, question.format
    if len(ends) > 1 and format is None:
        raise InvalidInput("tables must be of one format, got CSV and others. Convert them first, or ask one by one.")
    kind = format or ("csv" if ends == {True} else "parquet")
    try:
        frame = _read_csv(session, list(tables), question) if kind == "csv" else session.read.parquet(*tables)
        files = frame._jdf.queryExecution().analyzed().collectLeaves().head().relation().location().inputFiles()
        different = len(frame._jdf.inputFiles())
    except failures() as error:
        raise InvalidInput(
            f"tables must be there, and be {'CSV' if kind == 'csv' else 'Parquet'}, got {' '.join(tables)!r}: "
            f"{first_line(error)}. Check the names, or say what they are: --format csv or parquet."
        ) from None
    if different < len(files):
        raise InvalidInput(
            f"tables must name every file once, got {len(files) - different:,} again: whoever is in them would have "
            f"two reports. Leave out those that another name stands for."
        )
    return frame


def _read_csv(session: Any, tables: list[str], question: "Request") -> Any:
    """CSV as texts, but for a column of numbers; an id such as 01 stays what it is."""
    from pyspark.sql import functions
    from pyspark.sql.types import NumericType

    from shuffledp.engines.spark_session import one_sentence

    frame = session.read.options(**CSV).csv(tables)
    if len(frame.columns) < 2:
        raise InvalidInput(
            f"CSV must have two columns or more, with commas between them, for Spark, got {frame.columns!r}. Spark "
            f"would drop its empty lines: convert it to Parquet, or leave out --engine."
        )
    asked = [name for name in (*question.names, question.ids) if name is not None and name in frame.columns]
    texts = functions.array(*map(_exactly, asked))
    with one_sentence():
        if asked and not frame.where(functions.exists(texts, lambda text: text.contains(UNREADABLE))).isEmpty():
            raise InvalidInput("CSV must be in UTF-8 for Spark, got other bytes. Convert it first.")
    if question.kind == "number" and isinstance(question.column, str) and question.column in frame.columns:
        place = frame.columns.index(question.column)
        schema, found = frame.schema, session.read.options(**CSV, inferSchema=True).csv(tables).schema[place].dataType
        if isinstance(found, NumericType) and frame.where(_exactly(question.column).rlike(ODD_NUMBERS)).isEmpty():
            schema.fields[place].dataType = found
            frame = session.read.options(**CSV).schema(schema).csv(tables)
    return frame


def _exactly(name: str) -> Any:
    """The column of that name, whatever signs it has."""
    from pyspark.sql import functions

    return functions.col("`" + name.replace("`", "``") + "`")


def _check_early(asking: TypedCommand, engine: Engine) -> None:
    """What can be refused before a session is started, which takes a while."""
    from shuffledp.engines.spark_commit import check_address

    if asking.promise.epsilon is not None:
        check_epsilon(asking.promise.epsilon)
    check_delta(asking.promise.delta)
    check_rounds(asking.promise.rounds)
    if not asking.dry_run:
        check_address(_beside(asking) if engine.work is None else engine.work)


def _beside(asking: TypedCommand) -> Path:
    """The work folder of those who name none."""
    out = asking.keeping.folder().absolute()
    return out.with_name(f".{out.name}.work")


@contextmanager
def working(asking: TypedCommand, engine: Engine) -> Iterator[str]:
    """The folder for what is drawn: the one that was named, or one beside the answer, which is gone
    when that stands. Its name is always the same, so that whoever starts a killed run again goes on
    with what it committed, and draws nothing anew.
    """
    if engine.work is not None:
        yield engine.work
        return
    place = _beside(asking)
    yield f"file://{place}"
    shutil.rmtree(place, ignore_errors=True)
