"""From a file to counted reports, beside a plain count of the same column that protects nobody; and
the external shuffle.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import shuffledp as sdp
from benchmarks.result import Result
from shuffledp.tables.columns import open_column
from shuffledp.tables.permutation import shuffle_files
from shuffledp.tables.reports import Header, write_reports
from shuffledp.tables.tallying import tally
from shuffledp.tables.values import Places, read

ROWS, K, EPSILON0 = 10**8, 256, 4.0
MOST_RATIO, MOST_MEMORY = 3.0, 1000.0
SHUFFLED = 10**7
LABELS = tuple(f"category {i:03d}" for i in range(K))
MEMORY = """
import sys
from pathlib import Path
from benchmarks.pipeline import ours
ours(Path(sys.argv[1]))
print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])
"""


def ours(path: Path) -> int:
    """All of it: decode, look up, keep, randomise securely, count."""
    krr = sdp.KRR(k=K, epsilon0=EPSILON0)
    with read(open_column(str(path), "c", kind="text"), Places(LABELS)) as values:
        counted = tally(values.chunks(), lambda chunk, source: krr.randomize(chunk, rng=source), krr)
    return int(counted.numbers.sum())


def against_engines() -> list[Result]:
    """Alternately ours and theirs, the best of three each, two threads each."""
    os.environ["POLARS_MAX_THREADS"] = "2"  # read when it is imported
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        _skewed(path)
        runs: dict[str, Callable[[], int]] = {"shuffledp": lambda: ours(path), "DuckDB": lambda: _duckdb(path)}
        if importlib.util.find_spec("polars"):
            runs["Polars"] = lambda: _polars(path)
        best = dict.fromkeys(runs, float("inf"))
        for _ in range(3):
            for name, run in runs.items():
                start = time.perf_counter()
                if run() != ROWS:
                    raise AssertionError(f"{name} lost somebody")
                best[name] = min(best[name], time.perf_counter() - start)
        peak = subprocess.run(
            [sys.executable, "-c", MEMORY, str(path)], capture_output=True, text=True, check=True
        ).stdout
    ratio, megabytes = best["shuffledp"] / best["DuckDB"], float(peak) / 1024.0
    times = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in best.items())
    what = f"Parquet to counted reports, {ROWS:.0e} rows, {K} categories"
    return [
        Result(
            f"{what}: against DuckDB's count",
            f"{ratio:.2f}x ({times})",
            f"at most {MOST_RATIO:g}x",
            ratio <= MOST_RATIO,
        ),
        Result(
            "the same in a fresh process: peak memory",
            f"{megabytes:.0f} MB",
            f"below {MOST_MEMORY:.0f} MB",
            megabytes < MOST_MEMORY,
        ),
    ]


def external_shuffle() -> list[Result]:
    """From a file of reports to a shuffled one, in memory and with an eighth of the memory that
    takes.
    """
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reports = np.random.default_rng(1).integers(0, K, SHUFFLED, dtype=np.uint8)
        write_reports(folder / "in", Header.encoded({}, secure=True), [(reports, None)])
        for what, memory in (("in memory", 1 << 29), ("through buckets on disk", 1 << 25)):
            start = time.perf_counter()
            shuffle_files([folder / "in"], folder / "out", least=SHUFFLED, memory=memory)
            seconds = time.perf_counter() - start
            results.append(
                Result(
                    f"{SHUFFLED:.0e} reports of one byte, file to file, {what}", f"{SHUFFLED / seconds:.2e} reports/s"
                )
            )
    return results


def _skewed(path: Path) -> None:
    """Category i is 1 / (i + 1) as frequent as the first, up to 16 bits."""
    rng, part = np.random.default_rng(1), 10**6
    weights = 1.0 / np.arange(1, K + 1)
    guide = np.searchsorted(np.cumsum(weights / weights.sum()), (np.arange(1 << 16) + 0.5) / (1 << 16)).astype(np.int32)
    kind = pa.schema([("c", pa.dictionary(pa.int32(), pa.string()))])
    with pa.parquet.ParquetWriter(path, kind) as file:
        for _ in range(ROWS // part):
            column = pa.DictionaryArray.from_arrays(
                guide[rng.integers(0, 1 << 16, part, dtype=np.uint16)], pa.array(LABELS)
            )
            file.write_table(pa.table({"c": column}, schema=kind))


def _duckdb(path: Path) -> int:
    import duckdb

    with duckdb.connect(config={"threads": 2}) as connection:
        return sum(
            count
            for _, count in connection.execute(
                "select c, count(*) from read_parquet(?) group by c", [str(path)]
            ).fetchall()
        )


def _polars(path: Path) -> int:
    import polars

    return int(polars.scan_parquet(path).group_by("c").len().collect()["len"].sum())
