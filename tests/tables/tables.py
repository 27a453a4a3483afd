"""Small tables in every format, and a small disk."""

from __future__ import annotations

import gzip
import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet


def as_csv(path: Path, table: pa.Table) -> None:
    pa.csv.write_csv(table, path)


def as_gzipped_csv(path: Path, table: pa.Table) -> None:
    sink = pa.BufferOutputStream()
    pa.csv.write_csv(table, sink)
    path.write_bytes(gzip.compress(sink.getvalue().to_pybytes()))


def as_parquet(path: Path, table: pa.Table) -> None:
    pa.parquet.write_table(table, path, row_group_size=100, write_page_checksum=True)


def as_arrow_file(path: Path, table: pa.Table) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=100)


def as_arrow_stream(path: Path, table: pa.Table) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=100)


def not_utf8(folder: Path) -> Path:
    """A name that a disk may hold, and that is no text."""
    return folder / os.fsdecode(b"caf\xe9")


def false_text() -> pa.Array:
    """What says that it is text in UTF-8, and is not: Parquet files may hold such columns."""
    return pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"]).buffers())


Write = Callable[[Path, pa.Table], None]
FORMATS: list[Write] = [as_csv, as_gzipped_csv, as_parquet, as_arrow_file, as_arrow_stream]


@contextmanager
def small_files(most: int) -> Iterator[None]:
    """A limit on the size of files stands for that of the disk; unlike a small disk it needs no
    permission.
    """
    old, limits = signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old)
