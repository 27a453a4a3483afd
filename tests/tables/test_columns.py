"""Every format gives the same column; every bad file gets one sentence, and nobody's row is lost
without a word."""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffledp.errors import InvalidInput
from shuffledp.tables.cleaning import arrow_mask, arrow_texts, numpy_values
from shuffledp.tables.columns import Column, open_column
from shuffledp.tables.formats import Kind
from tests.tables.tables import FORMATS, Write, as_arrow_file, as_arrow_stream, as_parquet, not_utf8

PEOPLE = pa.table(
    {
        "name": [f"p{i}" for i in range(1000)],
        "city": ["01" if i % 3 else "Zürich, CH" if i % 2 else None for i in range(1000)],
        "age": [None if i % 7 == 0 else float(i) for i in range(1000)],
    }
)


def everything(column: Column) -> list[object]:
    return [value for batch in column.batches() for value in batch.values.to_pylist()]


def written(tmp_path: Path, content: bytes) -> str:
    path = tmp_path / "table"
    path.write_bytes(content)
    return str(path)


def piped(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))


@pytest.mark.parametrize("write", FORMATS)
@pytest.mark.parametrize("column, kind", [("city", "text"), ("age", "number")])
def test_every_format_gives_the_same_column_twice(tmp_path: Path, write: Write, column: str, kind: Kind) -> None:
    write(tmp_path / "table", PEOPLE)
    opened = open_column(str(tmp_path / "table"), column, kind=kind)
    assert everything(opened) == PEOPLE[column].to_pylist()
    assert everything(opened) == PEOPLE[column].to_pylist()
    assert opened.table.rows in (None, 1000)
    assert opened.table.done in (None, 1.0)


@pytest.mark.parametrize("write", FORMATS)
def test_ids_come_beside_their_values(tmp_path: Path, write: Write) -> None:
    write(tmp_path / "table", PEOPLE)
    batches = list(open_column(str(tmp_path / "table"), "city", kind="text", ids="name").batches())
    assert [name for batch in batches for name in batch.ids.to_pylist()] == PEOPLE["name"].to_pylist()
    assert [city for batch in batches for city in batch.values.to_pylist()] == PEOPLE["city"].to_pylist()


@pytest.mark.parametrize("write", FORMATS)
def test_an_unknown_column_is_refused_with_those_there_are(tmp_path: Path, write: Write) -> None:
    write(tmp_path / "table", PEOPLE)
    with pytest.raises(
        InvalidInput, match=r"got 'citty'\. Did you mean 'city'\? The columns are 'name', 'city', 'age'\."
    ):
        open_column(str(tmp_path / "table"), "citty", kind="text")
    with pytest.raises(InvalidInput, match=r"ids must name a column .* got 'user'"):
        open_column(str(tmp_path / "table"), "city", kind="text", ids="user")
    with pytest.raises(InvalidInput, match="column must be named where there are several"):
        open_column(str(tmp_path / "table"), kind="text")


@pytest.mark.parametrize("write", FORMATS)
def test_a_single_column_needs_no_name(tmp_path: Path, write: Write) -> None:
    write(tmp_path / "table", PEOPLE.select(["city"]))
    column = open_column(str(tmp_path / "table"), kind="text")
    assert (column.name, everything(column)) == ("city", PEOPLE["city"].to_pylist())


@pytest.mark.parametrize("write", FORMATS[1:])
@pytest.mark.parametrize("where", [0.3, 0.6, 0.99])
def test_no_file_that_was_cut_off_is_taken_for_whole(tmp_path: Path, write: Write, where: float) -> None:
    """Plain CSV aside: where it is cut in its last field, or between rows, nothing shows."""
    write(tmp_path / "table", PEOPLE)
    whole = (tmp_path / "table").read_bytes()
    with pytest.raises(InvalidInput, match="must be a whole"):
        everything(open_column(written(tmp_path, whole[: int(len(whole) * where)]), "name", kind="text"))


def test_no_arrow_stream_that_was_cut_between_batches_is_taken_for_whole(tmp_path: Path) -> None:
    as_arrow_stream(tmp_path / "table", PEOPLE)
    whole = (tmp_path / "table").read_bytes()
    cuts = [at for at in range(8, len(whole), 8) if whole[at : at + 4] == bytes([255] * 4)]
    assert len(cuts) >= 10
    for at in cuts:
        with pytest.raises(InvalidInput, match=r"must be a whole Arrow stream"):
            everything(open_column(written(tmp_path, whole[:at]), "name", kind="text"))


def test_no_arrow_stream_that_was_cut_behind_a_value_like_its_end_is_taken_for_whole(tmp_path: Path) -> None:
    as_arrow_stream(tmp_path / "table", pa.table({"x": pa.array([1, 2, 3, 4, 5, 6, 7, (1 << 32) - 1], pa.uint64())}))
    whole = (tmp_path / "table").read_bytes()
    assert whole[:-8].endswith(whole[-8:])
    with pytest.raises(InvalidInput, match="must be a whole Arrow stream, got one without its end"):
        everything(open_column(written(tmp_path, whole[:-8]), "x", kind="number"))


@pytest.mark.parametrize("write", [as_parquet, as_arrow_file, as_arrow_stream])
@pytest.mark.parametrize("second", [1000, 999, 500, 1])
def test_files_one_behind_the_other_are_refused_as_half_the_people_would_be_lost(
    tmp_path: Path, write: Write, second: int
) -> None:
    """As `cat` joins them. The last one's footer points into the first one, which may well fit."""
    for name, table in (("a", PEOPLE), ("b", PEOPLE.slice(0, second))):
        write(tmp_path / name, table)
    a, b = ((tmp_path / name).read_bytes() for name in "ab")
    for joined in (a + b, b + a, a + b + a):
        with pytest.raises(
            InvalidInput, match=r"must be one (Parquet file|Arrow file|Arrow stream), got .*Join"
        ) as refused:
            everything(open_column(written(tmp_path, joined), "name", kind="text"))
        assert str(refused.value).count("must") == 1


def test_a_parquet_file_with_a_page_index_is_one_whole_even_if_its_data_begin_like_two(tmp_path: Path) -> None:
    table = pa.table({"x": ["PAR1PAR1"] * 3 + ["y"], "z": ["w" * 500] * 4})
    pa.parquet.write_table(table, tmp_path / "index", write_page_index=True, compression="none", use_dictionary=False)
    assert everything(open_column(str(tmp_path / "index"), "x", kind="text")) == table["x"].to_pylist()
    twice = (tmp_path / "index").read_bytes() * 2
    with pytest.raises(InvalidInput, match="must be one Parquet file"):
        open_column(written(tmp_path, twice), "x", kind="text")


def test_a_parquet_file_with_fewer_rows_than_it_names_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_parquet(tmp_path / "table", PEOPLE)
    whole = pa.parquet.ParquetFile.iter_batches
    monkeypatch.setattr(
        pa.parquet.ParquetFile, "iter_batches", lambda *given, **options: list(whole(*given, **options))[:0]
    )
    with pytest.raises(InvalidInput, match="must hold the 1000 rows it names, got 0"):
        everything(open_column(str(tmp_path / "table"), "name", kind="text"))


def test_files_that_polars_wrote_are_whole(tmp_path: Path) -> None:
    people = polars.from_arrow(PEOPLE)
    assert isinstance(people, polars.DataFrame)
    people.write_ipc(tmp_path / "file")
    people.write_ipc_stream(tmp_path / "stream")
    people.write_parquet(tmp_path / "parquet")
    for name in ("file", "stream", "parquet"):
        assert everything(open_column(str(tmp_path / name), "city", kind="text")) == PEOPLE["city"].to_pylist()


@pytest.mark.parametrize("write", FORMATS)
def test_a_path_need_not_be_utf8(tmp_path: Path, write: Write) -> None:
    write(tmp_path / "table", PEOPLE)
    path = not_utf8(tmp_path)
    (tmp_path / "table").rename(path)
    assert everything(open_column(str(path), "city", kind="text")) == PEOPLE["city"].to_pylist()


def test_a_parquet_page_that_was_changed_is_refused(tmp_path: Path) -> None:
    pa.parquet.write_table(
        pa.table({"x": ["tea", "coffee"]}),
        tmp_path / "table",
        write_page_checksum=True,
        compression="none",
        write_statistics=False,
    )
    content = bytearray((tmp_path / "table").read_bytes())
    content[content.index(b"coffee")] ^= 1
    with pytest.raises(
        InvalidInput,
        match="must be a whole Parquet file, got: could not verify page integrity, CRC checksum verification failed",
    ):
        everything(open_column(written(tmp_path, bytes(content)), "x", kind="text"))


def test_an_arrow_file_with_places_outside_its_dictionary_is_refused(tmp_path: Path) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 99], pa.int32()), pa.array(["a", "b"]), safe=False)
    as_arrow_file(tmp_path / "table", pa.table({"x": column}))
    with pytest.raises(InvalidInput, match="must be a whole Arrow file"):
        everything(open_column(str(tmp_path / "table"), "x", kind="text"))


def test_text_is_never_taken_for_a_number_and_an_empty_field_is_missing(tmp_path: Path) -> None:
    path = written(tmp_path, b'code,n\n01,1\n1,1\n1e3,1\nNA,1\n,1\n"",1\ntrue,1\n')
    assert everything(open_column(path, "code", kind="text")) == ["01", "1", "1e3", "NA", None, None, "true"]


def test_numbers_are_numbers_and_the_usual_gaps_are_missing(tmp_path: Path) -> None:
    path = written(tmp_path, b"x,y\n1,a\n-2.5e1,b\nNA,c\n,d\nnull,e\n")
    assert everything(open_column(path, "x", kind="number")) == [1.0, -25.0, None, None, None]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_usual_separators_ends_of_lines_and_marks_are_understood(tmp_path: Path, separator: str) -> None:
    text = '\ufeffa|b\r\n"x|\n""y"""|1\r\nz|2'.replace("|", separator)
    assert everything(open_column(written(tmp_path, text.encode()), "a", kind="text")) == [f'x{separator}\n"y"', "z"]


@pytest.mark.parametrize("pipe", [False, True])
@pytest.mark.parametrize(
    "text, column, values",
    [
        ('id,"Which? (yes; no; perhaps)"\n1,yes\n2,no', "Which? (yes; no; perhaps)", ["yes", "no"]),
        ('id,"a; b; c"\n1,"x; y; z"\n', "a; b; c", ["x; y; z"]),
        ("id,tags (a;b;c)\n1,x\n2,y", "tags (a;b;c)", ["x", "y"]),
        ("id,yes|no|perhaps\n1,x\n", "yes|no|perhaps", ["x"]),
        ("yes|no\nx\ny\n", "yes|no", ["x", "y"]),
        ("id;b|c|d\n1;x\n", "b|c|d", ["x"]),
        ('id,"a\tb\tc"\n"1\t2\t3",x\n', "a\tb\tc", ["x"]),
        ("Pay, gross;Town;Age\n1,5;Rio;3\n2;Bern;4\n", "Town", ["Rio", "Bern"]),
        ("id|name, first\n1|x\n", "name, first", ["x"]),
        ("id,a;b;c\n" + "1,x\n" * 90_000, "a;b;c", ["x"] * 90_000),  # more than is looked at
    ],
)
def test_marks_within_a_name_do_not_separate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, column: str, values: list[str], pipe: bool
) -> None:
    """The rows below tell what does. The first version read all of these but the bars and the
    decimal commas.
    """
    if pipe:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert everything(open_column("-" if pipe else written(tmp_path, text.encode()), column, kind="text")) == values


@given(
    rows=st.lists(
        st.tuples(*[st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)] * 3),
        max_size=8,
    ),
    which=st.integers(0, 2),
)
def test_whatever_python_writes_as_csv_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]], which: int
) -> None:
    """Quotes, separators and ends of lines within fields included."""
    path = tmp_path_factory.mktemp("csv") / "t"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("a", "b", "c"), *rows])
    assert everything(open_column(str(path), "abc"[which], kind="text")) == [row[which] or None for row in rows]


@pytest.mark.parametrize("block", [40, 57, 100, 1000])
@pytest.mark.parametrize("end", ["", "\n"])
def test_csv_that_is_parsed_in_many_blocks_loses_and_repeats_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, end: str
) -> None:
    monkeypatch.setattr("shuffledp.tables.formats.BLOCK", block)
    values = [("x" * (i % 7) + ("\n" if i % 3 else ",") + str(i)) for i in range(300)]
    path = written(tmp_path, ("a,b\n" + "\n".join(f'"{value}",{i}' for i, value in enumerate(values)) + end).encode())
    assert everything(open_column(path, "a", kind="text")) == values
    assert everything(open_column(path, "b", kind="number")) == list(range(300))


def test_a_row_longer_than_a_block_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shuffledp.tables.formats.BLOCK", 100)
    with pytest.raises(InvalidInput, match=r"a row of .* must be at most 100 bytes long"):
        everything(open_column(written(tmp_path, b"a,b\n1,2\n" + b"x" * 500 + b",2\n3,4\n"), "a", kind="text"))


def test_a_name_with_a_dot_is_a_name(tmp_path: Path) -> None:
    for write in FORMATS:
        write(tmp_path / "table", pa.table({"a": ["x"], "a.b": ["y"], "a.b.c": ["z"]}))
        assert [
            everything(open_column(str(tmp_path / "table"), name, kind="text")) for name in ("a", "a.b", "a.b.c")
        ] == [["x"], ["y"], ["z"]]


def test_an_empty_line_of_a_single_column_is_a_missing_value_and_between_rows_nothing(tmp_path: Path) -> None:
    assert everything(open_column(written(tmp_path, b"a\nx\n\ny\n"), kind="text")) == ["x", None, "y"]
    assert everything(open_column(written(tmp_path, b"a,b\nx,1\n\ny,2\n"), "a", kind="text")) == ["x", "y"]


@pytest.mark.parametrize(
    "content, said",
    [
        (b"", "must hold a table, got an empty file"),
        (b"\n\n", "names no columns"),
        (b"PK\x03\x04\x00\x00", "names no columns"),
        ("ä,b\n1,2\n".encode("latin1"), "names no columns"),
        ("a,b\n1,2\n".encode("utf-16"), "names no columns"),
        (b"a\rb\rc\n1\n", "names no columns"),
        (b"a" * (1 << 20) + b"\n1\n", "names no columns"),
        (b"a,b\n1,2\n3,4,5\n", "row 2 of .* must have 2 fields like the header above it, got 3"),
        (b"a,b\n1,2\n3\n", "row 2 of .* must have 2 fields like the header above it, got 1"),
        (b"a,b\n\xe4,2\n", "column 'a' of .* must be text in UTF-8"),
        (b'a,b\n1,2\n3,"4\n5,6\n', "must close every double quote"),
        (b'a,b\n1,2\n,"4\n5,6', "must close every double quote"),
        (b"a,a\n1,2\n", "got 'a', a name that 2 columns have"),
        (b"PAR1 is my first column\n1\n", "must be a whole Parquet file"),
        (b"ARROW1 is too\n1\n", "must be a whole Arrow file"),
        (b"\xff\xff\xff\xff", "must be a whole Arrow stream"),
        (gzip.compress(b"a\n1\n", mtime=0)[:-1], "must be a whole CSV file, got: Compressed file ended"),
        (gzip.compress(b"a\n1\n", mtime=0)[:-8] + bytes(8), "must be a whole CSV file, got: CRC check failed"),
        (gzip.compress(b"a\n1\n", mtime=0) + b"tail", "must be a whole CSV file, got: Not a gzipped file"),
        (b"\x1f\x8bis no gzip", "must be a whole CSV file, got: Unknown compression"),
    ],
)
def test_a_bad_file_gets_one_sentence_with_a_remedy(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(InvalidInput, match=said) as refused:
        everything(open_column(written(tmp_path, content), "a", kind="text"))
    assert "\n" not in str(refused.value)
    assert str(refused.value).count("must") == 1


def test_what_is_not_a_number_is_quoted_alone_and_not_with_its_row(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"column 'x' of .* must hold numbers, got 'abc'") as refused:
        everything(open_column(written(tmp_path, b"x,y\n1,secret\nabc,secret\n"), "x", kind="number"))
    assert "secret" not in str(refused.value)


def test_folders_pipes_and_missing_files_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    cases = [
        ("pipe", "must be an ordinary file, got a pipe"),
        ("", "got a folder"),
        ("none", "got nothing there"),
        ("loop", "Too many levels of symbolic links"),
    ]
    for name, said in cases:
        with pytest.raises(InvalidInput, match=said):
            open_column(str(tmp_path / name), kind="text")


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may run as root, to whom nothing is forbidden; so the system's answer is played."""

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = written(tmp_path, b"a\n1\n")
    monkeypatch.setattr(Path, "open", forbidden)
    with pytest.raises(InvalidInput, match="must be readable, got: Permission denied"):
        open_column(path, kind="text")


@pytest.mark.parametrize("content", [b"a,b\n1,2\n3,4\n", gzip.compress(b"a,b\n1,2\n3,4\n", mtime=0)])
def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    piped(monkeypatch, content)
    column = open_column("-", "b", kind="number")
    assert everything(column) == [2.0, 4.0]
    with pytest.raises(InvalidInput, match="must be read only once"):
        everything(column)


def test_standard_input_may_be_an_arrow_stream_that_has_an_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    as_arrow_stream(tmp_path / "stream", PEOPLE)
    content = (tmp_path / "stream").read_bytes()
    piped(monkeypatch, content)
    assert everything(open_column("-", "city", kind="text")) == PEOPLE["city"].to_pylist()
    piped(monkeypatch, content[:-8])
    with pytest.raises(InvalidInput, match="standard input must be a whole Arrow stream, got one without its end"):
        everything(open_column("-", "city", kind="text"))


def test_a_closed_standard_input_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(InvalidInput, match=r"standard input must be open, got a closed one\. Pipe a table into it"):
        open_column("-", "city", kind="text")


@pytest.mark.parametrize("write", [as_parquet, as_arrow_file])
def test_formats_that_are_read_from_their_end_are_refused_on_standard_input(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, write: Write
) -> None:
    write(tmp_path / "table", PEOPLE)
    piped(monkeypatch, (tmp_path / "table").read_bytes())
    with pytest.raises(InvalidInput, match="standard input must be CSV or an Arrow stream"):
        open_column("-", "city", kind="text")


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="format must be one of csv, parquet, arrow"):
        open_column(written(tmp_path, b"a\n1\n"), kind="text", format="excel")  # type: ignore[arg-type]


def test_a_reading_may_stop_early(tmp_path: Path) -> None:
    for write in FORMATS:
        write(tmp_path / "table", PEOPLE)
        batches = open_column(str(tmp_path / "table"), "city", kind="text").batches()
        assert len(next(batches).values) > 0
        batches.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("texts", [[], [None], ["", "é", None, "語", "a" * 300], ["x", None] * 9])
def test_texts_are_those_of_arrow(texts: list[str | None]) -> None:
    made = arrow_texts(texts)
    made.validate(full=True)
    assert made.equals(pa.array(texts, pa.string()))
    assert made.null_count == texts.count(None)


@pytest.mark.parametrize("mask", [[], [True], [False, True, True] * 7])
def test_truth_values_are_those_of_arrow(mask: list[bool]) -> None:
    made = arrow_mask(mask)
    made.validate(full=True)
    assert made.equals(pa.array(mask, pa.bool_()))


@pytest.mark.parametrize("start", [0, 3, 11])
@pytest.mark.parametrize("kind", ["int8", "uint16", "int32", "int64", "float64", "bool_"])
def test_numbers_are_those_of_arrow_in_any_slice(kind: str, start: int) -> None:
    whole = pa.array([1, 0, None, 1, None, 0, 1, 1, 0, 1, None], pa.int8()).cast(getattr(pa, kind)())
    values = whole.slice(start)
    for each in (values, values.drop_null()):
        found = numpy_values(each, missing=1)
        assert found.tolist() == each.fill_null(True if kind == "bool_" else 1).to_pylist()
        assert found.dtype == each.type.to_pandas_dtype()


def test_a_missing_number_may_become_nan_and_what_it_was_read_from_stays() -> None:
    values = pa.array([1.5, None])
    first, second = numpy_values(values, math.nan).tolist()
    assert first == 1.5
    assert math.isnan(second)
    assert values.to_pylist() == [1.5, None]
    assert np.array_equal(numpy_values(values), [1.5, 0.0])
