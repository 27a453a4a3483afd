"""How files are opened: by Python, since Arrow takes no path that is not UTF-8, and only if they
are one whole.

Parquet and Arrow files are read from their end, where it is said where everything lies. Two such
files one after the other, as ``cat`` joins them, pass for the last one, and its places are then
looked up in the first: people are lost, and nothing shows. So what lies between is accounted for.
"""

from __future__ import annotations

import mmap
import os
import stat
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet

from shuffledp.errors import InvalidInput

__all__ = ["ARROW_FILE", "DAMAGED", "PARQUET", "first_bytes", "open_arrow", "open_parquet", "readable"]

PARQUET, ARROW_FILE = b"PAR1", b"ARROW1"
DAMAGED = "It may have been cut off or changed on the way; copy it again."
LARGEST_GAP = 64  # bytes between the last batch of an Arrow file and its footer: a mark of 8, and padding


@contextmanager
def readable(title: str, kind: str) -> Iterator[None]:
    """Turn what the system or a decoder says of a bad file into one sentence."""
    try:
        yield
    except FileNotFoundError:
        raise InvalidInput(f"{title} must be a file, got nothing there. Check the spelling and the folder.") from None
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        said = (
            (getattr(error, "strerror", None) or str(error)).strip().partition("\n")[0].partition(". ")[0].rstrip(".")
        )
        if isinstance(error, PermissionError):
            raise InvalidInput(f"{title} must be readable, got: {said}. Ask for permission, or copy it.") from None
        raise InvalidInput(f"{title} must be a whole {kind}, got: {said}. {DAMAGED}") from None


def first_bytes(path: Path, title: str) -> bytes:
    """How the ordinary file ``path`` begins."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise InvalidInput(f"{title} must be a file, got a folder. Name one file in it; join several beforehand.")
    if not stat.S_ISREG(mode):
        raise InvalidInput(
            f"{title} must be an ordinary file, got a pipe or device. Name standard input instead, as -, and pipe into "
            f"it."
        )
    with path.open("rb") as file:
        return file.read(len(ARROW_FILE))


@contextmanager
def open_parquet(path: Path, title: str, **options: Any) -> Iterator[pa.parquet.ParquetFile]:
    """The Parquet file ``path``, if it is one."""
    with path.open("rb") as raw, pa.parquet.ParquetFile(raw, **options) as file:
        if _seam(raw, file.metadata):
            raise InvalidInput(
                f"{title} must be one Parquet file, got several, one after the other. Join them with a tool that "
                f"knows the format."
            )
        yield file


@contextmanager
def open_arrow(path: Path, title: str, **options: Any) -> Iterator[pa.ipc.RecordBatchFileReader]:
    """The Arrow file ``path``, if it is one."""
    with path.open("rb") as raw, pa.ipc.open_file(raw, **options) as reader:
        size, start = _footer(raw, ARROW_FILE)
        raw.seek(start)
        end = _last_batch(raw.read(size))
        if end and start - end > LARGEST_GAP:
            raise InvalidInput(
                f"{title} must be one Arrow file, got several, one after the other. Join them with a tool that knows "
                f"the format."
            )
        yield reader


def _seam(raw: BinaryIO, metadata: pa.parquet.FileMetaData) -> bool:
    """Whether another Parquet file ends in this one.

    Were the file's true beginning at ``b``, its footer would stand at least ``b`` behind the end of
    the data by its own account. So only that far need one look; usually that is the size of the
    page index.
    """
    groups = metadata.num_row_groups
    columns = [metadata.row_group(groups - 1).column(i) for i in range(metadata.num_columns)] if groups else []
    end = max(
        (
            min(c.data_page_offset, c.dictionary_page_offset or c.data_page_offset) + c.total_compressed_size
            for c in columns
        ),
        default=0,
    )
    furthest = _footer(raw, PARQUET)[1] - end
    content = mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ)
    at = 0
    while (at := content.find(PARQUET + PARQUET, at + 1, max(0, furthest) + len(PARQUET))) > 0:
        try:
            pa.parquet.read_metadata(pa.BufferReader(pa.py_buffer(content).slice(0, at + len(PARQUET))))
        except (pa.ArrowException, OSError):
            continue  # somebody's data
        return True
    return False


def _footer(raw: BinaryIO, magic: bytes) -> tuple[int, int]:
    """The size of the footer, and where it starts."""
    at = raw.seek(-4 - len(magic), os.SEEK_END)
    size = int.from_bytes(raw.read(4), "little")
    return size, at - size


def _last_batch(footer: bytes) -> int:
    """Where the last batch of an Arrow file ends, by its footer, or 0 if there is none.

    The footer is a flatbuffer whose fields 2 and 3 are vectors of (offset, header, padding, body):
    the dictionaries and the batches. Arrow has checked it when this is called, and does not tell
    where they are.
    """

    def number(at: int, kind: str = "<I") -> int:
        return int(struct.unpack_from(kind, footer, at)[0])

    root = number(0)
    fields, ends = root - number(root, "<i"), [0]
    for slot in (8, 10):
        if number(fields, "<H") > slot and (place := number(fields + slot, "<H")):
            vector = root + place + number(root + place)
            blocks = struct.iter_unpack("<qi4xq", footer[vector + 4 : vector + 4 + 24 * number(vector)])
            ends.extend(offset + header + body for offset, header, body in blocks)
    return max(ends)
