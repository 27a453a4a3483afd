"""Who counts in ``benchmarks.engines``: each is a function of a folder, and runs in a process of its
own, ``python -m benchmarks.contenders NAME FOLDER``.

In the folder lie the same people twice, ``people/*.parquet`` and ``people.parquet``; their categories,
one a line; and the design that was written for them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

__all__ = ["COLUMN", "CONTENDERS", "missing"]

COLUMN = "category"
PROMISE = ("--epsilon", "1", "--delta", "1e-9")
MEMORY = "2g"


def files(folder: Path) -> int:
    """`shuffledp histogram` on one machine: read twice, certified, drawn, page and figure."""
    return _command(folder, folder / "people.parquet")


def duckdb(folder: Path) -> int:
    import duckdb as engine

    asked = f"select {COLUMN}, count(*) from read_parquet(?) group by {COLUMN}"
    with engine.connect(config={"threads": 2}) as connection:
        return sum(count for _, count in connection.execute(asked, [str(folder / "people" / "*.parquet")]).fetchall())


def spark(folder: Path) -> int:
    counted = _frame(folder).groupBy(COLUMN).count().collect()
    return sum(row["count"] for row in counted)


def spark_tallied(folder: Path) -> int:
    return _on_spark(folder, tallied=True)


def spark_rows(folder: Path) -> int:
    return _on_spark(folder, tallied=False)


def spark_command(folder: Path) -> int:
    """`shuffledp histogram --engine spark`: surveyed, certified, drawn, counted, page and figure."""
    work = ("--engine", "local[2]", "--work", str(folder / "work"))
    return _command(folder, folder / "people", *work)


def beam(folder: Path) -> int:
    engine: Any = import_module("apache_beam")
    with engine.Pipeline(runner="DirectRunner") as pipeline:
        counts = _batches(pipeline, folder) | engine.Map(_value_counts) | engine.CombineGlobally(_added)
        counts | "note" >> engine.Map(_note, folder)
    return int((folder / "seen").read_text())


def beam_ours(folder: Path) -> int:
    from shuffledp.engines import beam as ours
    from shuffledp.tables.counted_reports import read_counted

    engine: Any = import_module("apache_beam")
    encode = ours.Encode(str(folder / "design.json"), column=COLUMN, out=str(folder / "work"))
    with engine.Pipeline(runner="DirectRunner") as pipeline:
        reports = _batches(pipeline, folder) | encode
        reports | ours.Tally(encode) | ours.WriteCounted(str(folder / "counted.json"))
    return read_counted(folder / "counted.json").reports


CONTENDERS: dict[str, Callable[[Path], int]] = {
    each.__name__: each for each in (files, duckdb, spark, spark_tallied, spark_rows, spark_command, beam, beam_ours)
}


def missing(name: str) -> str | None:
    """Why a contender cannot run here, if so."""
    engine = name.partition("_")[0]
    module = {"duckdb": "duckdb", "spark": "pyspark", "beam": "apache_beam"}.get(engine)
    if module is not None and find_spec(module) is None:
        return f"{module} is not installed"
    if engine == "spark" and shutil.which("java") is None:
        return "Java is not installed"
    return None


def _command(folder: Path, table: Path, *more: str) -> int:
    asked = ("--column", COLUMN, "--categories", str(folder / "categories.txt"), *PROMISE)
    call = [sys.executable, "-m", "shuffledp", "histogram", str(table), *asked, *more, "--out", str(folder / "result")]
    subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
    from shuffledp.record import read_record

    return read_record((folder / "result" / "page.html").read_text(encoding="utf-8")).counted.reports


def _frame(folder: Path) -> Any:
    """A session like any other, as small as it goes."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder: Any = SparkSession.builder.master("local[2]").appName("benchmark")
    for name, value in {
        "spark.driver.memory": MEMORY,
        "spark.local.dir": str(folder),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }.items():
        builder = builder.config(name, value)
    return builder.getOrCreate().read.parquet(str(folder / "people"))


def _on_spark(folder: Path, *, tallied: bool) -> int:
    from shuffledp.engines import spark as engine

    frame, work = _frame(folder), str(folder / "work")
    engine.encode(frame, str(folder / "design.json"), column=COLUMN, out=work, tallied=tallied)
    counted: int = engine.count(frame.sparkSession, work).reports
    return counted


def _batches(pipeline: Any, folder: Path) -> Any:
    read: Any = import_module("apache_beam.io").ReadFromParquetBatched
    return pipeline | read(str(folder / "people" / "*.parquet"), columns=[COLUMN])


def _value_counts(table: Any) -> Counter[str]:
    counted = table[COLUMN].combine_chunks().value_counts().to_pylist()
    return Counter({each["values"]: each["counts"] for each in counted})


def _added(parts: Iterable[Counter[str]]) -> Counter[str]:
    return sum(parts, Counter[str]())


def _note(counted: Counter[str], folder: Path) -> None:
    (folder / "seen").write_text(str(counted.total()))


def main() -> int:
    """Run one of them; whoever loses somebody has failed."""
    name, folder = sys.argv[1], Path(sys.argv[2])
    expected, counted = int((folder / "rows").read_text()), CONTENDERS[name](folder)
    if counted != expected:
        raise AssertionError(f"{name} counted {counted:,} of {expected:,} people")
    return 0


if __name__ == "__main__":
    sys.exit(main())
