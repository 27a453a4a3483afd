"""``make engines``: what privacy costs on the engine that has the data, in CPU seconds of the whole
tree of processes, beside the engine's own count of the same column, which protects nobody.

``python -m benchmarks.engines --rows 10000000 --rows 100000000 --page docs/engines-measured.md``
measures everybody in turn, prints the tables and writes the page. In ``make bench`` it is a section,
with as many rows as ROWS says.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from benchmarks.contenders import COLUMN, CONTENDERS, missing
from benchmarks.result import Result
from benchmarks.tree import Cost, measured
from shuffledp import Poll
from shuffledp.design import Design

FEW, PART, K = 10**4, 10**6, 256
MOST_RATIO = 4.0
LABELS = tuple(f"category {i:03d}" for i in range(K))
ROOT = Path(__file__).resolve().parents[1]
# What each is called, and whose own count it is held against.
WHO = {
    "files": ("`shuffledp histogram` on one machine, all of it", "duckdb"),
    "duckdb": ("DuckDB's GROUP BY, no privacy", "duckdb"),
    "spark": ("Spark's GROUP BY, no privacy", "spark"),
    "spark_tallied": ("Spark with ours, sums of each task", "spark"),
    "spark_rows": ("Spark with ours, every report written", "spark"),
    "spark_command": ("`shuffledp histogram --engine spark`, all of it", "spark"),
    "beam": ("Beam's own count of Arrow batches, no privacy", "beam"),
    "beam_ours": ("Beam with ours", "beam"),
}
Costs = dict[str, dict[int, Cost]]


def measure(rows: Sequence[int], names: Sequence[str] = tuple(WHO)) -> Costs:
    """Everybody in turn, in a process of its own, at each size; FEW people are what a start costs."""
    costs: Costs = {name: {} for name in names if missing(name) is None}
    with tempfile.TemporaryDirectory() as place:
        for count in (FEW, *rows):
            folder = Path(place) / str(count)
            people(folder, count)
            for name in costs:
                print(f"{count:,} rows: {name}", file=sys.stderr, flush=True)
                with _fresh(folder):
                    call = [sys.executable, "-m", "benchmarks.contenders", name, str(folder)]
                    costs[name][count] = measured(call, cwd=ROOT)
            shutil.rmtree(folder)
    return costs


def people(folder: Path, rows: int) -> None:
    """Category i is 1 / (i + 1) as frequent as the first, up to 16 bits; files of a million rows, and
    all of them in one.
    """
    (folder / "people").mkdir(parents=True)
    (folder / "rows").write_text(str(rows))
    (folder / "categories.txt").write_text("\n".join(LABELS) + "\n")
    poll = Poll("histogram", categories=LABELS, n=rows, epsilon=1.0, delta=1e-9)
    (folder / "design.json").write_text(json.dumps(Design.of(poll).as_json()))
    weights = 1.0 / np.arange(1, K + 1)
    guide = np.searchsorted(np.cumsum(weights / weights.sum()), (np.arange(1 << 16) + 0.5) / (1 << 16)).astype(np.int32)
    kind, rng = pa.schema([(COLUMN, pa.dictionary(pa.int32(), pa.string()))]), np.random.default_rng(1)
    with pa.parquet.ParquetWriter(folder / "people.parquet", kind) as one:
        for number, start in enumerate(range(0, rows, PART)):
            places = guide[rng.integers(0, 1 << 16, min(PART, rows - start), dtype=np.uint16)]
            column = pa.DictionaryArray.from_arrays(places, pa.array(LABELS))
            table = pa.table([column], schema=kind)
            one.write_table(table)
            pa.parquet.write_table(table, folder / "people" / f"part-{number:05d}.parquet")


@contextmanager
def _fresh(folder: Path) -> Iterator[None]:
    """Nothing that a contender leaves is there for the next one."""
    before = {each.name for each in folder.iterdir()}
    try:
        yield
    finally:
        for each in folder.iterdir():
            if each.name not in before:
                shutil.rmtree(each) if each.is_dir() else each.unlink()


def against_plain_counts() -> list[Result]:
    """A section of ``make bench``."""
    rows = int(float(os.environ.get("ROWS", "1e7")))
    costs, results = measure([rows]), []
    for name, at in costs.items():
        cost, own = at[rows], costs[WHO[name][1]][rows]
        ratio = cost.cpu / own.cpu
        held = name == "spark_tallied"
        results.append(
            Result(
                f"{WHO[name][0]}, {rows:.0e} rows",
                f"{cost.cpu:.1f} s of CPU, {ratio:.2f}x the engine's own count, {cost.megabytes:.0f} MB",
                f"at most {MOST_RATIO:g}x" if held else "",
                ratio <= MOST_RATIO if held else None,
            )
        )
    return results


def tables(costs: Costs) -> list[str]:
    """Markdown: one table for each size, and one of how they grow."""
    sizes = sorted({count for at in costs.values() for count in at} - {FEW})
    lines: list[str] = []
    for rows in sizes:
        lines += ["", f"## {rows:,} rows", ""]
        lines += ["| | CPU | of that, the start | beside the engine's own count | the same without starts |"]
        lines[-1] += " rows per core and second | peak memory |"
        lines += ["|---|--:|--:|--:|--:|--:|--:|"]
        lines += [_line(name, rows, costs) for name in costs]
    if len(sizes) > 1:
        lines += ["", f"## Growth from {sizes[0]:,} to {sizes[-1]:,} rows", ""]
        lines += ["| | CPU without the start | peak memory |", "|---|--:|--:|"]
        lines += [_growth(name, sizes[0], sizes[-1], costs) for name in costs]
    return lines


def _line(name: str, rows: int, costs: Costs) -> str:
    words, own = WHO[name]
    cost, start = costs[name][rows], costs[name][FEW].cpu
    work, plain = _work(costs[name], rows), _work(costs[own], rows)
    ratio = "" if name == own else f"{cost.cpu / costs[own][rows].cpu:.2f}x"
    net = "" if name == own or work is None or plain is None else f"{work / plain:.2f}x"
    rate = "" if work is None else f"{float(f'{rows / work / 1e6:.2g}'):g} million"
    return f"| {words} | {cost.cpu:.1f} s | {start:.1f} s | {ratio} | {net} | {rate} | {cost.megabytes:.0f} MB |"


def _work(at: dict[int, Cost], rows: int) -> float | None:
    """CPU seconds beyond the start; None where they are too few to tell, since what a start costs
    differs by as much from one time to the next.
    """
    start = at[FEW].cpu
    return None if at[rows].cpu < 1.2 * start else at[rows].cpu - start


def _growth(name: str, few: int, many: int, costs: Costs) -> str:
    at = costs[name]
    before, after = _work(at, few), _work(at, many)
    told = "lost in the start"
    if after is not None:
        told = f"from what is lost in the start to {after:.1f} s"
    if before is not None and after is not None:
        told = f"{after / before:.1f}x ({before:.1f} s to {after:.1f} s)"
    return f"| {WHO[name][0]} | {told} | {at[many].megabytes / at[few].megabytes:.1f}x |"


def page(costs: Costs) -> str:
    """docs/engines-measured.md."""
    engines = ", ".join(f"{name} {version(name)}" for name in ("pyspark", "apache-beam", "duckdb", "pyarrow"))
    top = [
        "# Engines, measured",
        "",
        "What privacy costs on the engine that has the data, beside that engine's own count of the same column, which",
        f"protects nobody. `make engines` repeats it and writes this page. One column of text with {K} categories, in",
        "Parquet files of a million rows. Every contender ran in a process of its own, one after the other, with two",
        f"cores of this machine ({platform.machine()}; Python {platform.python_version()}, {engines}). CPU seconds are",
        "user and system time of the whole tree of processes, the JVM, its Python workers, and whatever they left",
        f"behind; the start is what the same costs for {FEW:,} rows. Memory is the largest sum over the tree that was",
        "seen ten times a second, shared pages counted once; a JVM takes what it is given.",
        "",
        '"All of it" is the whole command: it surveys the column, calibrates and certifies the noise, draws, counts,',
        "and writes the page with its figure. The others with ours encode and count by a design written before.",
    ]
    absent = [f"{WHO[name][0]}: {why}." for name in WHO if (why := missing(name)) is not None]
    return "\n".join([*top, *tables(costs), *(["", *absent] if absent else [])]) + "\n"


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engines", description=__doc__)
    parser.add_argument("--rows", type=lambda text: int(float(text)), action="append", help="once for each size")
    parser.add_argument("--only", choices=sorted(CONTENDERS), action="append", help="one contender, again for more")
    parser.add_argument("--page", type=Path, help="the page to write")
    given = parser.parse_args()
    costs = measure(sorted(given.rows or [10**7, 10**8]), given.only or tuple(WHO))
    text = page(costs)
    print(text)
    if given.page is not None:
        given.page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
