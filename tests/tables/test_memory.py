"""Values in memory are read like those of a file, whatever holds them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from shuffledp.errors import InvalidInput
from shuffledp.tables.columns import open_column
from shuffledp.tables.memory import held_table
from shuffledp.tables.values import Numbers, Places, read

CITIES = ("Lima", "Osaka", "Paris")
PEOPLE = ["Paris", "Lima", None, "Osaka", "Lima"]
TABLE = pa.table({"city": PEOPLE, "other": range(5)})


def held(kind: str) -> tuple[Any, str | None]:
    """The same people as one kind of data, and the column to name, if any."""
    pandas, polars = pd.DataFrame({"city": PEOPLE, "other": [object()] * 5}), pl.DataFrame({"city": PEOPLE, "other": 1})
    kinds: dict[str, tuple[Any, str | None]] = {
        "list": (PEOPLE, None),
        "list with NaN": (["Paris", "Lima", float("nan"), "Osaka", "Lima"], None),
        "tuple": (tuple(PEOPLE), None),
        "array of objects": (np.array(PEOPLE, dtype=object), None),
        "masked array": (np.ma.masked_array(np.array([each or "?" for each in PEOPLE]), [0, 0, 1, 0, 0]), None),
        "pandas frame": (pandas, "city"),
        "pandas series": (pandas["city"], None),
        "pandas objects": (pandas["city"].astype(object), None),
        "pandas categorical": (pandas["city"].astype("category"), None),
        "pandas index": (pd.Index(PEOPLE), None),
        "polars frame": (polars, "city"),
        "polars lazy frame": (polars.lazy(), "city"),
        "polars series": (polars["city"], None),
        "polars categorical": (polars["city"].cast(pl.Categorical), None),
        "polars enum": (polars["city"].cast(pl.Enum(CITIES)), None),
        "Arrow table": (TABLE, "city"),
        "Arrow batch": (TABLE.to_batches()[0], "city"),
        "Arrow array": (pa.array(PEOPLE), None),
        "Arrow views": (pa.array(PEOPLE, pa.string_view()), None),
        "Arrow dictionary": (pa.array(PEOPLE).dictionary_encode(), None),
        "Arrow chunks": (pa.chunked_array([PEOPLE[:2], [], PEOPLE[2:]]), None),
        "Arrow stream": (TABLE.to_reader(), "city"),
        "DuckDB relation": (duckdb.from_arrow(TABLE), "city"),
    }
    return kinds[kind]


KINDS = [
    *("list", "list with NaN", "tuple", "array of objects", "masked array"),
    *("pandas frame", "pandas series", "pandas objects", "pandas categorical", "pandas index"),
    *("polars frame", "polars lazy frame", "polars series", "polars categorical", "polars enum"),
    *("Arrow table", "Arrow batch", "Arrow array", "Arrow views", "Arrow dictionary", "Arrow chunks", "Arrow stream"),
    "DuckDB relation",
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_data_holds_the_same_people(kind: str) -> None:
    data, name = held(kind)
    column = open_column(held_table(data), name, kind="text")
    for _ in range(2):  # as often as wanted
        with read(column, Places(CITIES)) as values:
            assert (np.concatenate(list(values.chunks())).tolist(), values.missing) == ([2, 0, 1, 0], 1)


@pytest.mark.parametrize(
    "numbers",
    [
        [1.5, None, 3.0],
        [1.5, float("nan"), 3.0],
        np.array([1.5, np.nan, 3.0], dtype=">f4"),
        np.array([1.5, np.nan, 3.0], dtype=np.float16),
        pd.Series([1.5, None, 3.0], dtype="Float64"),
        pl.Series([1.5, None, 3.0]),
        pa.array([1.5, None, 3.0]),
    ],
    ids=["list", "NaN", "other byte order", "half", "pandas", "polars", "Arrow"],
)
def test_numbers_are_read_likewise(numbers: object) -> None:
    with read(open_column(held_table(numbers), kind="number"), Numbers(0.0, 5.0)) as values:
        assert (np.concatenate(list(values.chunks())).tolist(), values.missing) == ([1.5, 3.0], 1)


def test_whose_row_it_is_is_read_beside_the_value() -> None:
    table = held_table(pd.DataFrame({0: ["Lima", "Osaka", "Lima"], "who": [7, 7, 8]}))
    column = open_column(table, "0", kind="text", ids="who")
    with read(column, Places(CITIES)) as values:
        assert (values.count, values.repeated) == (2, 1)
    with read(open_column(held_table(["Lima"] * 2), kind="text"), Places(CITIES)) as values:
        assert values.repeated is None


def test_a_lazy_frame_is_computed_once_and_takes_names_as_they_are() -> None:
    computed = []

    def seen(frame: pl.DataFrame) -> pl.DataFrame:
        computed.append(frame.columns)
        return frame

    lazy = pl.DataFrame({"^.*$": PEOPLE, "other": 1}).lazy().map_batches(seen, schema=None)
    column = open_column(held_table(lazy), "^.*$", kind="text")
    for _ in range(2):
        assert sum(len(batch.values) for batch in column.batches()) == 5
    assert len(computed) == 1


def test_two_columns_of_one_name_are_told_apart_by_nobody() -> None:
    frame = pd.DataFrame([["a", "b"]], columns=["x", "x"])
    with pytest.raises(InvalidInput, match=r"got 'x', a name that 2 columns have\. Rename them"):
        open_column(held_table(frame), "x", kind="text")


def test_an_array_that_is_not_sound_is_refused() -> None:
    offsets = pa.py_buffer(np.array([0, 1], np.int32))
    bad = pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(b"\xff")])
    with pytest.raises(InvalidInput, match="the Arrow array must hold values of one kind that Arrow can hold"):
        list(open_column(held_table(bad), kind="text").batches())


ROWS = 1_000_000
MEMORY = 1 << 22  # bytes that values and fingerprints may take each; the fingerprints are 16 MB
# Megabytes beyond what a thousand rows took, about 1.8 times as many as when this was written: blocks of a text
# file of 130 MB are read ahead.
MOST = {("csv", ""): 270, ("csv", "who"): 400, ("parquet", ""): 32, ("parquet", "who"): 180}
LIMIT = 4 << 30  # of addresses, libraries and threads included: what runs away is stopped
CHILD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
import numpy as np
from pathlib import Path
from shuffledp.tables.columns import open_column
from shuffledp.tables.values import Places, read
from shuffledp.tables.formats import open_table

def people(file, ids):
    column = open_column(open_table(file), "answer", kind="text", ids=ids)
    with read(column, Places(("yes", "no")), memory={memory}, folder=Path(sys.argv[3])) as values:
        return values.count, values.repeated

def peak():  # of this program alone; ru_maxrss remembers the one that started it
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) * 1024

ids = sys.argv[4] or None
few = people(sys.argv[1], ids)
before = peak()
many = people(sys.argv[2], ids)
print(*few, *many, peak() - before)
"""


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A thousand rows and a million, each with a wide column that is not asked for; every tenth row
    is of somebody who had the row before.
    """
    folder = tmp_path_factory.mktemp("tables")
    for name, rows in (("few", 1000), ("many", ROWS)):
        place = np.arange(rows)
        who = np.char.add("person-", (place - (place % 10 == 9)).astype(str))
        table = pa.table(
            {"who": who, "answer": np.where(place % 3 == 0, "no", "yes"), "text": pa.array(["x" * 100] * rows)}
        )
        pyarrow.csv.write_csv(table, folder / f"{name}.csv")
        pyarrow.parquet.write_table(table, folder / f"{name}.parquet", row_group_size=100_000)
    return folder


@pytest.mark.parametrize("ids", ["", "who"], ids=["rows", "persons, spilled"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_million_rows_are_read_in_bounded_memory(form: str, ids: str, tables: Path, tmp_path: Path) -> None:
    words = [str(tables / f"few.{form}"), str(tables / f"many.{form}"), str(tmp_path), ids]
    program = CHILD.format(limit=LIMIT, memory=MEMORY)
    run = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-500:]
    *counts, more = run.stdout.split()
    expected = ["900", "100", "900000", "100000"] if ids else ["1000", "None", str(ROWS), "None"]
    assert counts == expected
    assert int(more) < MOST[form, ids] << 20, f"{int(more) >> 20} MB"
