"""Values become places or numbers without going through Python one by one, and whoever has none is
counted.
"""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp.errors import InvalidInput
from shuffledp.sampling import smallest_dtype
from shuffledp.tables.columns import open_column
from shuffledp.tables.spool import Spool
from shuffledp.tables.values import Numbers, Places, prepared, read
from tests.tables.tables import FORMATS, Write, as_arrow_file, as_parquet, false_text, small_files

LABELS = ("tea", "coffee", "", "none")
TITLE = "column 'drink'"


def in_file(tmp_path: Path, values: object, name: str = "x") -> str:
    as_parquet(tmp_path / "table", pa.table({name: values}))
    return str(tmp_path / "table")


@given(
    values=st.lists(st.sampled_from([*LABELS, "water", "te", None])),
    other=st.sampled_from([None, "none"]),
    missing=st.sampled_from([None, "", "tea"]),
    coded=st.booleans(),
    offset=st.integers(0, 3),
)
def test_places_are_what_a_loop_would_find(
    values: list[str | None], other: str | None, missing: str | None, coded: bool, offset: int
) -> None:
    array = pa.array(["water"] * offset + values, pa.string())
    array = (array.dictionary_encode() if coded else array)[offset:]
    places = Places(LABELS, other=other, missing=missing)
    kept = [missing if value is None else value for value in values if value is not None or missing is not None]
    expected = [
        LABELS.index(value) if value in LABELS else -1 if other is None else LABELS.index(other) for value in kept
    ]
    if -1 in expected:
        with pytest.raises(
            InvalidInput,
            match=r"column 'drink' must hold only the 4 categories, got '(water|te)'\. Add it to the list, .*other=",
        ):
            places.prepare(array, TITLE)
        return
    codes, present, clipped = places.prepare(array, TITLE)
    assert (codes.tolist(), codes.dtype, clipped) == (expected, np.uint8, 0)
    assert (present is None) == (len(kept) == len(values))
    if present is not None:
        assert present.tolist() == [value is not None for value in values]


@pytest.mark.parametrize(
    "values, labels",
    [
        (pa.array([3, 1, None], pa.int8()), ("1", "3")),
        (pa.array([3, 1, None], pa.uint64()), ("1", "3")),
        (pa.array([3.0, 1.0, math.nan]), ("1", "3")),
        (pa.array([3.0, 1.0, None], pa.float32()), ("1", "3")),
        (pa.array([True, False, None]), ("false", "true")),
        (pa.array([b"yes", b"no", None]), ("no", "yes")),
        (pa.array(["yes", "no", None], pa.large_string()), ("no", "yes")),
        (pa.array(["yes", "no", None], pa.string_view()), ("no", "yes")),
        (pa.array([date(2026, 1, 31), date(2025, 1, 1), None]), ("2025-01-01", "2026-01-31")),
        (pa.DictionaryArray.from_arrays([2, 0, 1], pa.array(["no", None, "yes"])), ("no", "yes")),
        (pa.DictionaryArray.from_arrays([1, 0, None], pa.array([1, 3])), ("1", "3")),
    ],
)
def test_columns_of_any_kind_compare_by_their_usual_text(values: pa.Array, labels: tuple[str, str]) -> None:
    codes, present, _ = Places(labels).prepare(values, TITLE)
    assert codes.tolist() == [1, 0]
    assert present is not None
    assert present.tolist() == [True, True, False]


@pytest.mark.parametrize(
    "values, said",
    [
        (pa.array([0.5, 1.0]), "must hold text or whole numbers to be counted by category, got a column of double"),
        (pa.array([math.inf]), "must hold text or whole numbers"),
        (pa.array([[1]]), "must hold text, whole numbers, booleans or dates, got a column of list"),
        (pa.array([{"a": 1}]), "got a column of struct"),
        (pa.array([b"\xff"]), "must be text in UTF-8"),
        (false_text(), "must be text in UTF-8"),
        (false_text().dictionary_encode(), "must be text in UTF-8"),
    ],
)
def test_columns_that_are_no_categories_are_refused(values: pa.Array, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Places(LABELS).prepare(values, TITLE)


@pytest.mark.parametrize("write", [as_parquet, as_arrow_file])
@pytest.mark.parametrize(
    "values",
    [[["tea"], None], [{"a": "tea"}, None], [[1.5]], [{"a": 1.5}]],
    ids=["texts", "struct", "numbers", "struct of numbers"],
)
def test_nested_columns_of_a_file_are_refused_in_one_sentence(tmp_path: Path, write: Write, values: list[Any]) -> None:
    write(tmp_path / "t", pa.table({"x": values}))
    with pytest.raises(
        InvalidInput,
        match=r"column 'x' of .* must hold text, whole numbers, booleans or dates, got a column of (list|struct)",
    ):
        read(open_column(str(tmp_path / "t"), "x", kind="text"), Places(LABELS))
    with pytest.raises(InvalidInput, match=r"column 'x' of .* must hold numbers, got a column of (list|struct)"):
        read(open_column(str(tmp_path / "t"), "x", kind="number"), Numbers(0.0, 1.0))


@pytest.mark.parametrize(
    "kind, size", [(pa.int8(), 128), (pa.uint8(), 256), (pa.int16(), 1 << 15), (pa.uint64(), 3)], ids=str
)
def test_a_missing_value_has_a_place_behind_a_dictionary_that_is_full(kind: pa.DataType, size: int) -> None:
    labels = tuple(map(str, range(size)))
    values = pa.DictionaryArray.from_arrays(pa.array([size - 1, None, 0], kind), pa.array(labels))
    assert Places(labels, missing="1").prepare(values, TITLE)[0].tolist() == [size - 1, 1, 0]


def test_an_entry_of_a_dictionary_that_nobody_has_is_no_category_and_no_fault() -> None:
    values = pa.DictionaryArray.from_arrays([0, 0], pa.array(["tea", "water"]))
    assert Places(LABELS).prepare(values, TITLE)[0].tolist() == [0, 0]


@pytest.mark.parametrize("k", [2, 256, 257, 70_000])
def test_codes_are_as_narrow_as_the_categories_allow(k: int) -> None:
    codes, _, _ = Places(tuple(map(str, range(k)))).prepare(pa.array([str(k - 1), "0"]), TITLE)
    assert (codes.tolist(), codes.dtype) == ([k - 1, 0], smallest_dtype(k))


def test_a_column_without_any_value_counts_as_missing_throughout() -> None:
    assert Places(LABELS, missing="none").prepare(pa.nulls(3), TITLE)[0].tolist() == [3, 3, 3]
    assert Places(LABELS).prepare(pa.nulls(3), TITLE)[0].tolist() == []


def test_categories_must_be_distinct_and_hold_those_that_stand_for_others() -> None:
    for wrong, said in (
        ((("a", "a"), None, None), "must be distinct"),
        ((("a", "b"), "c", None), "other must be one"),
        ((("a", "b"), None, "c"), "missing must"),
    ):
        with pytest.raises(InvalidInput, match=said):
            Places(*wrong)


numbers = st.one_of(st.none(), st.floats(width=32), st.sampled_from([0.0, 1.0, -0.0, math.inf, -math.inf, math.nan]))


@given(values=st.lists(numbers), clip=st.booleans())
def test_numbers_are_what_a_loop_would_find(values: list[float | None], clip: bool) -> None:
    kept = [value for value in values if value is not None and not math.isnan(value)]
    outside = [value for value in kept if not 0.0 <= value <= 1.0]
    reader = Numbers(0.0, 1.0, clip=clip)
    if outside and not clip:
        with pytest.raises(InvalidInput, match=r"must lie in \[0, 1\], got .*clip=True"):
            reader.prepare(pa.array(values, pa.float64()), TITLE)
        return
    got, _, clipped = reader.prepare(pa.array(values, pa.float64()), TITLE)
    assert (got.tolist(), clipped) == ([min(max(value, 0.0), 1.0) for value in kept], len(outside))


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(5, 2), pa.bool_()])
def test_numbers_of_any_kind_are_read(kind: pa.DataType) -> None:
    values = (
        pa.array([True, False, None])
        if kind == pa.bool_()
        else pa.array([np.float16(1), np.float16(0), None] if kind == pa.float16() else [1, 0, None], kind)
    )
    got, present, _ = Numbers(0.0, 1.0).prepare(values, TITLE)
    assert (got.tolist(), got.dtype, list(present if present is not None else [])) == (
        [1.0, 0.0],
        np.float64,
        [True, True, False],
    )


def test_what_is_no_number_and_bounds_that_are_none_are_refused() -> None:
    with pytest.raises(InvalidInput, match="must hold numbers, got a column of string"):
        Numbers(0.0, 1.0).prepare(pa.array(["1"]), TITLE)
    for lower, upper in ((1.0, 1.0), (0.0, math.inf), (math.nan, 1.0)):
        with pytest.raises(InvalidInput, match="lower must be below upper"):
            Numbers(lower, upper)


def test_a_whole_column_is_read_in_order_and_the_missing_are_counted(tmp_path: Path) -> None:
    cities = [f"c{i % 300}" if i % 5 else None for i in range(5000)]
    labels, ticks = tuple(f"c{i}" for i in range(300)), []
    with read(open_column(in_file(tmp_path, cities), kind="text"), Places(labels), tick=ticks.append) as values:
        assert (values.count, values.missing, values.clipped, sum(ticks)) == (4000, 1000, 0, 5000)
        for _ in range(2):
            assert np.concatenate(list(values.chunks())).tolist() == [int(city[1:]) for city in cities if city]


def test_ids_stay_with_their_values_when_others_have_none(tmp_path: Path) -> None:
    as_parquet(tmp_path / "t", pa.table({"x": ["a", None, "b", None, "a"], "id": list("vwxyz")}))
    [batch] = prepared(open_column(str(tmp_path / "t"), "x", kind="text", ids="id"), Places(("a", "b")))
    assert (batch.values.tolist(), batch.ids.to_pylist(), batch.missing) == ([0, 1, 0], ["v", "x", "z"], 2)


def test_a_column_with_no_value_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="must hold at least one value, got 2 rows that hold none"):
        read(open_column(in_file(tmp_path, pa.nulls(2, pa.string())), kind="text"), Places(LABELS))


def test_nobody_is_lost_to_a_header_that_is_a_value(tmp_path: Path) -> None:
    """A CSV file without a header, and nobody named the column."""
    (tmp_path / "x.csv").write_text("tea\ncoffee\ntea\n")
    (tmp_path / "y.csv").write_text("17\n18\n")
    with pytest.raises(
        InvalidInput, match=r"the first line of a table must name its columns, got 'tea', which is a value"
    ):
        read(open_column(str(tmp_path / "x.csv"), kind="text"), Places(LABELS))
    with pytest.raises(InvalidInput, match=r"got '17', which is a value"):
        read(open_column(str(tmp_path / "y.csv"), kind="number"), Numbers(0.0, 100.0))
    with read(open_column(str(tmp_path / "x.csv"), "tea", kind="text"), Places(LABELS)) as values:
        assert values.count == 2


@given(
    pieces=st.lists(st.integers(0, 40), max_size=12),
    memory=st.integers(0, 300),
    block=st.integers(1, 20),
    width=st.sampled_from([(), (3,)]),
)
def test_a_spool_gives_back_what_it_got_from_memory_or_disk(
    pieces: list[int], memory: int, block: int, width: tuple[int, ...]
) -> None:
    rows = np.random.default_rng(1).integers(0, 1 << 16, (sum(pieces), *width), dtype=np.uint16)
    with Spool(memory=memory, folder=None, block=block) as spool:
        for piece in np.split(rows, np.cumsum(pieces[:-1])) if pieces else []:
            spool.append(piece)
        for _ in range(2):
            blocks = list(spool.blocks())
            assert len(spool) == len(rows)
            assert all(len(each) == block for each in blocks[:-1])
            assert np.array_equal(np.concatenate([rows[:0], *blocks]), rows)


def test_a_spool_leaves_no_file_behind_and_says_so_if_it_may_not_write(tmp_path: Path) -> None:
    with Spool(memory=0, folder=tmp_path, block=10) as spool:
        spool.append(np.zeros(100, dtype=np.uint8))
        assert len(list(spool.blocks())) == 10
        assert list(tmp_path.iterdir()) == []
    with (
        Spool(memory=0, folder=tmp_path / "none", block=10) as spool,
        pytest.raises(InvalidInput, match="must be writable, got: No such file"),
    ):
        spool.append(np.zeros(100, dtype=np.uint8))


def test_a_spool_on_a_full_disk_says_so_and_still_closes(tmp_path: Path) -> None:
    with (
        Spool(memory=0, folder=tmp_path, block=1000) as spool,
        small_files(2500),
        pytest.raises(InvalidInput, match="must be writable, got: File too large"),
    ):
        spool.append(np.zeros(10_000, dtype=np.uint8))


@pytest.mark.parametrize("write", FORMATS)
def test_a_table_without_rows_is_refused(tmp_path: Path, write: Write) -> None:
    write(tmp_path / "t", pa.table({"x": pa.array([], pa.string()), "y": pa.array([], pa.string())}))
    with pytest.raises(InvalidInput, match="must hold at least one value, got no rows"):
        read(open_column(str(tmp_path / "t"), "x", kind="text"), Places(LABELS))
