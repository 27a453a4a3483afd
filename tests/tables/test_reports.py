"""Files of reports: whole or refused, readable by other engines, and silent about how their reports
came.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import shuffledp as sdp
from shuffledp.errors import InvalidInput
from shuffledp.randomizers.law_file import law_of
from shuffledp.tables.reports import Header, open_reports, write_reports
from tests.tables.tables import false_text, not_utf8, small_files

KRR = sdp.KRR(k=16, epsilon0=2.0)
RANDOMIZERS = [
    KRR,
    sdp.KRR(k=1000, epsilon0=2.0),
    sdp.KRR(k=100_000, epsilon0=2.0),
    sdp.Hadamard(k=100, epsilon0=2.0),
    sdp.OLH(k=100, epsilon0=2.0),
    sdp.RAPPOR(k=20, epsilon0=2.0),
    sdp.SubsetSelection(k=300, epsilon0=2.0),
]


def design() -> dict[str, object]:
    return {"task": "histogram", "n": 1000, "law": law_of(KRR)}


def header() -> Header:
    return Header.encoded(design(), secure=True)


def sample(count: int = 1000) -> NDArray[Any]:
    return np.random.default_rng(1).integers(0, 16, count, dtype=np.uint8)


def rows_of(path: Path, **options: Any) -> NDArray[Any]:
    return np.concatenate(list(open_reports(path).batches(**options)))


def tampered(path: Path, **changes: object) -> None:
    """The same reports under another header."""
    table = pa.parquet.read_table(path)
    said = json.loads(table.schema.metadata[b"shuffledp"]) | changes
    pa.parquet.write_table(table.replace_schema_metadata({"shuffledp": json.dumps(said)}), path)


@pytest.mark.parametrize(
    "randomizer", RANDOMIZERS, ids=lambda randomizer: f"{type(randomizer).__name__}-{randomizer.k}"
)
def test_reports_of_every_randomizer_come_back_as_they_were(tmp_path: Path, randomizer: Any) -> None:
    reports = randomizer.randomize(np.arange(500) % randomizer.k)
    wrote = write_reports(tmp_path / "r", header(), [(reports[:123], None), (reports[123:], None)])
    found = open_reports(tmp_path / "r", stage="encoded")
    assert found == wrote
    assert (found.count, found.header.design, found.header.secure) == (500, design(), True)
    back = rows_of(tmp_path / "r", check=randomizer.check_reports)
    assert np.array_equal(back, reports)
    assert back.dtype == reports.dtype


@settings(max_examples=20)
@given(cuts=st.lists(st.integers(0, 3000), max_size=5))
def test_how_reports_came_in_pieces_does_not_show_in_the_file(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    folder, reports, said = tmp_path_factory.mktemp("r"), sample(3000), header()
    pieces = np.split(reports, sorted(cuts))
    write_reports(folder / "whole", said, [(reports, None)])
    write_reports(folder / "pieces", said, [(piece, None) for piece in pieces])
    assert (folder / "whole").read_bytes() == (folder / "pieces").read_bytes()


def test_row_groups_have_one_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shuffledp.tables.reports.batch_rows", lambda _: 100)
    write_reports(tmp_path / "r", header(), [(sample(33), None) for _ in range(10)])
    metadata = pa.parquet.read_metadata(tmp_path / "r")
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == [100, 100, 100, 30]
    assert np.array_equal(rows_of(tmp_path / "r"), np.tile(sample(33), 10))


def test_other_engines_read_the_reports(tmp_path: Path) -> None:
    write_reports(tmp_path / "r.parquet", header(), [(sample(), pa.array([f"u{i}" for i in range(1000)]))])
    counted = duckdb.sql(
        f"select report, count(*) from '{tmp_path}/r.parquet' group by report order by report"
    ).fetchall()
    assert [count for _, count in counted] == np.bincount(sample()).tolist()
    assert duckdb.sql(f"select max(length(id)) from '{tmp_path}/r.parquet'").fetchall() == [(4,)]
    kept = duckdb.sql(f"select key, value from parquet_kv_metadata('{tmp_path}/r.parquet')").fetchall()
    assert {bytes(key) for key, _ in kept} == {b"shuffledp", b"shuffledp-sha256"}


def test_pages_have_checksums_and_no_dictionary_or_statistics(tmp_path: Path) -> None:
    write_reports(tmp_path / "r", header(), [(sample(), None)])
    column = pa.parquet.read_metadata(tmp_path / "r").row_group(0).column(0)
    assert (column.has_dictionary_page, column.is_stats_set) == (False, False)
    assert set(column.encodings) <= {"PLAIN", "RLE"}  # the second is for which values are present: all
    content = bytearray((tmp_path / "r").read_bytes())
    content[len(content) // 4] ^= 1
    (tmp_path / "r").write_bytes(content)
    with pytest.raises(InvalidInput, match="must be a whole file of reports"):
        rows_of(tmp_path / "r")


@settings(max_examples=30)
@given(where=st.floats(0.0, 1.0, exclude_max=True))
def test_no_file_that_was_cut_off_is_taken_for_whole(tmp_path_factory: pytest.TempPathFactory, where: float) -> None:
    path = tmp_path_factory.mktemp("r") / "r"
    write_reports(path, header(), [(sample(), None)])
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * where)])
    with pytest.raises(InvalidInput, match="must be a"):
        rows_of(path)


@settings(max_examples=60)
@given(where=st.floats(0.0, 1.0, exclude_max=True), bit=st.integers(0, 7))
def test_a_changed_bit_is_noticed_or_changes_nothing_that_is_read(
    tmp_path_factory: pytest.TempPathFactory, where: float, bit: int
) -> None:
    """In what the file says of itself, such as who wrote it, a bit may be harmless; the reports and
    their header are the same or refused.
    """
    path = tmp_path_factory.mktemp("r") / "r"
    wrote = write_reports(path, header(), [(sample(), None)])
    content = bytearray(path.read_bytes())
    content[int(len(content) * where)] ^= 1 << bit
    path.write_bytes(content)
    with contextlib.suppress(InvalidInput):
        found = open_reports(path)
        rows = np.concatenate(list(found.batches(check=KRR.check_reports)))
        assert np.array_equal(rows, sample())
        assert found.header == wrote.header


@pytest.mark.parametrize(
    "changes, said",
    [
        ({"format": "other"}, "must have the format 'shuffledp-reports', got 'other'"),
        ({"version": 2}, "must have version 1, got 2"),
        ({"version": "1"}, "must have version 1, got '1'"),
        ({"stage": "mixed"}, "got 'mixed' for stage"),
        ({"secure": "yes"}, "got 'yes' for secure"),
        ({"design": []}, r"got '\[\]' for design"),
        ({"dtype": "float64"}, "got 'float64' for dtype"),
        ({"dtype": "uint16"}, "as its header says, got other columns"),
        ({"width": 3}, "as its header says, got other columns"),
        ({"width": -3}, "got '-3' for width"),
        ({"more": 1}, "got a difference in 'more'"),
        ({"batch": 7}, "got '7' for batch"),
    ],
)
def test_headers_that_this_version_would_not_write_are_refused(
    tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    write_reports(tmp_path / "r", header(), [(sample(), None)])
    tampered(tmp_path / "r", **changes)
    with pytest.raises(InvalidInput, match=said):
        open_reports(tmp_path / "r")


def test_other_files_stages_and_reports_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "r"
    pa.parquet.write_table(pa.table({"report": sample()}), path)
    with pytest.raises(InvalidInput, match="got another Parquet file"):
        open_reports(path)
    path.write_text("report\n1\n")
    with pytest.raises(InvalidInput, match="must be a file of reports, got something else"):
        open_reports(path)
    with pytest.raises(InvalidInput, match="got nothing there"):
        open_reports(tmp_path / "none")
    write_reports(path, header(), [(sample(), None)])
    with pytest.raises(InvalidInput, match=r"must hold shuffled reports, got encoded ones\. Shuffle it first"):
        open_reports(path, stage="shuffled")
    write_reports(path, header(), [(sample() + np.uint8(1), None)])
    with pytest.raises(InvalidInput, match="reports must be from 0 to 15, got 16"):
        rows_of(path, check=KRR.check_reports)


def test_reports_that_fit_no_column_are_not_written(tmp_path: Path) -> None:
    for chunks, said in (
        ([], "must hold at least one report, got none"),
        ([(sample().astype(np.float64), None)], "unsigned integers"),
        ([(sample(), None), (sample().astype(np.uint16), None)], "must all be uint8"),
    ):
        with pytest.raises(InvalidInput, match=said):
            write_reports(tmp_path / "r", header(), chunks)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("other", [1000, 900])
def test_files_of_reports_one_behind_the_other_are_refused(tmp_path: Path, other: int) -> None:
    """Else the reports of the first would be counted under the name of the second."""
    for name, count in (("a", 1000), ("b", other)):
        write_reports(tmp_path / name, header(), [(sample(count), None)])
    (tmp_path / "r").write_bytes((tmp_path / "a").read_bytes() + (tmp_path / "b").read_bytes())
    with pytest.raises(InvalidInput, match="must be one Parquet file, got several"):
        open_reports(tmp_path / "r")


@pytest.mark.parametrize(
    "ids", [pa.array([b"\xff"]), pa.array([{"a": 1}]), false_text()], ids=["bytes", "struct", "false text"]
)
def test_ids_that_are_no_text_are_refused_in_one_sentence_and_nothing_is_written(tmp_path: Path, ids: pa.Array) -> None:
    with pytest.raises(
        InvalidInput, match=r"ids must be numbers or text in UTF-8, got others in a column of .*leave out ids"
    ):
        write_reports(tmp_path / "r", header(), [(sample(1), ids)])
    assert list(tmp_path.iterdir()) == []


def test_ids_of_the_usual_kinds_are_kept_as_text(tmp_path: Path) -> None:
    for ids in (pa.array([7, None]), pa.array([b"7", None]), pa.array(["7", None]).dictionary_encode()):
        write_reports(tmp_path / "r", header(), [(sample(2), ids)])
        assert pa.parquet.read_table(tmp_path / "r")["id"].to_pylist() == ["7", None]


def test_encoded_reports_are_the_owners_alone_and_shuffled_ones_anybodys(tmp_path: Path) -> None:
    old = os.umask(0o022)
    (tmp_path / "old").touch(0o666)
    try:
        for name, stage, mode in (
            ("in", header(), 0o600),
            ("old", header(), 0o600),
            ("out", Header.shuffled(design(), secure=True, batches=1), 0o644),
        ):
            seen = []

            def chunks(seen: list[int] = seen) -> Iterator[tuple[NDArray[Any], None]]:
                yield sample(), None
                seen.extend(stat.S_IMODE(part.stat().st_mode) for part in tmp_path.glob(".*.part"))

            write_reports(tmp_path / name, stage, chunks())
            assert (seen, stat.S_IMODE((tmp_path / name).stat().st_mode)) == ([0o600], mode)
    finally:
        os.umask(old)


def test_the_path_of_reports_need_not_be_utf8(tmp_path: Path) -> None:
    write_reports(not_utf8(tmp_path), header(), [(sample(), None)])
    assert np.array_equal(rows_of(not_utf8(tmp_path)), sample())


WRITER = """
import sys, numpy as np
from pathlib import Path
from shuffledp.tables.reports import Header, write_reports
rows = np.random.default_rng(1).integers(0, 256, 1 << 19, dtype=np.uint8)
print("ready", flush=True)
while True:
    write_reports(Path(sys.argv[1]), Header.encoded({}, secure=True), [(rows, None)] * 8)
"""


def test_a_writer_that_is_killed_leaves_a_whole_file_or_none(tmp_path: Path) -> None:
    path = tmp_path / "r"
    for pause in (0.0, 0.05, 0.3):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(pause)
            os.kill(process.pid, signal.SIGKILL)
        if path.exists():
            assert len(rows_of(path)) == 1 << 22
            path.unlink()
    assert all(left.name.endswith(".part") for left in tmp_path.iterdir())
    assert write_reports(path, header(), [(sample(), None)]).count == 1000


def test_a_full_disk_is_one_sentence_and_leaves_the_old_file(tmp_path: Path) -> None:
    path, random = tmp_path / "r", np.random.default_rng(1).integers(0, 1 << 63, 1 << 18, dtype=np.uint64)
    write_reports(path, header(), [(sample(), None)])
    with (
        small_files(1 << 16),
        pytest.raises(
            InvalidInput, match=r"must be writable, got: .*[Ff]ile too large.* Choose another place, or make room there"
        ),
    ):
        write_reports(path, header(), [(random, None)] * 8)
    assert np.array_equal(rows_of(path), sample())
    assert list(tmp_path.iterdir()) == [path]
