"""A question about tables that Spark reads: ``--engine spark``."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shuffledp.cli.asking import Asking, Engine, Found
from shuffledp.cli.waiting import patiently
from shuffledp.errors import InvalidInput

if TYPE_CHECKING:  # pyarrow takes longer to load than most other commands take
    from shuffledp.collection.engines.spark_column import SparkColumn
    from shuffledp.collection.release.question import Question
    from shuffledp.collection.release.released import Release
    from shuffledp.protocols.design import Design

__all__ = ["in_spark"]

# As other readers of CSV, and ours, read it: a quote is doubled, and may enclose lines; what fits
# neither the rules nor the first line is refused.
CSV = {"header": True, "escape": '"', "multiLine": True, "mode": "FAILFAST", "enforceSchema": False, "emptyValue": ""}
ENDINGS = (".csv", ".csv.gz", ".csv.bz2", ".csv.zst")


@contextmanager
def in_spark(asking: Asking, engine: Engine, question: "Question") -> Iterator[Found]:
    """Tables that a session of Spark reads, for as long as the question is asked."""
    from shuffledp.collection.engines.spark_session import session_at
    from shuffledp.collection.engines.spark_stages import release_column

    settled = question.settled()
    with ExitStack() as held:
        with patiently("starting Spark"):
            session = held.enter_context(session_at(engine.master))
        with patiently("reading the table"):
            column = _column(session, engine, settled)
            people = column.survey(settled.reader())
        asked = replace(settled, column=column.name)

        def publish(design: "Design") -> "Release":
            with patiently("drawing, committing and counting"), _work(asking, engine) as work:
                return release_column(
                    column,
                    design,
                    asked.asked(),
                    work=work,
                    folder=asking.keeping.folder(),
                    budget=asking.budget,
                    force=asking.keeping.force,
                )

        yield Found(asked, people.people, people.missing if asked.leaves_out else None, publish)


def _column(session: Any, engine: Engine, question: "Question") -> "SparkColumn":
    """The column that is asked about; a table with a single one needs no name."""
    from shuffledp.collection.engines.spark_column import SparkColumn

    numbers = question.categories is None and not question.cleaning.reads_numbers
    frame = _read(session, engine.tables, question.format, numbers=numbers)
    if question.column is None and len(frame.columns) > 1:
        listed = ", ".join(map(repr, frame.columns[:20]))
        raise InvalidInput(f"column must be named where there are several, got none. The columns are {listed}.")
    return SparkColumn(
        frame=frame,
        name=frame.columns[0] if question.column is None else question.column,
        missing=None if question.categories is None else question.categories.missing,
        clip=question.clip,
        cleaning=question.cleaning,
        ids=question.ids,
    )


def _read(session: Any, tables: tuple[str, ...], format: str | None, *, numbers: bool) -> Any:
    """The tables, one after another; those of CSV are texts, or ``numbers`` where all of a column
    are.
    """
    from shuffledp.collection.engines.spark_session import failures, first_line

    ends = {table.lower().endswith(ENDINGS) for table in tables}
    if len(ends) > 1 and format is None:
        raise InvalidInput("tables must be of one format, got CSV and others. Convert them first, or ask one by one.")
    kind = format or ("csv" if ends == {True} else "parquet")
    try:
        if kind == "csv":
            return session.read.options(**CSV, inferSchema=numbers).csv(list(tables))
        return session.read.parquet(*tables)
    except failures() as error:
        raise InvalidInput(
            f"tables must be there, and be {'CSV' if kind == 'csv' else 'Parquet'}, got {' '.join(tables)!r}: "
            f"{first_line(error)}. Check the names, or say what they are: --format csv or parquet."
        ) from None


@contextmanager
def _work(asking: Asking, engine: Engine) -> Iterator[str]:
    """The folder for what is drawn: the one that was named, or one beside the answer, which is gone
    when that stands. Its name is always the same, so that whoever starts a killed run again goes on
    with what it committed, and draws nothing anew.
    """
    if engine.work is not None:
        yield engine.work
        return
    out = asking.keeping.folder().absolute()
    place = out.with_name(f".{out.name}.work")
    yield f"file://{place}"
    shutil.rmtree(place, ignore_errors=True)
