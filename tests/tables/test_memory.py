"""Values in memory are read like those of a file, whatever holds them."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shuffledp.errors import InvalidInput
from shuffledp.tables import Numbers, Places, open_column, read
from shuffledp.tables.memory import held_table

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
