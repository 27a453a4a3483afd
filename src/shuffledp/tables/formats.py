"""Tables in files: CSV (also gzipped), Parquet, Arrow (both of its formats), and CSV or an Arrow
stream from standard input.

What a file is, its first bytes say, not its name. Only the columns asked for are decoded, a batch
at a time.

Files are opened by Python, since Arrow takes no path that is not UTF-8, and only if they are one
whole. Parquet and Arrow files are read from their end, where it is said where everything lies. Two
such files one after the other, as ``cat`` joins them, pass for the last one, and its places are
then looked up in the first: people are lost, and nothing shows. So what lies between is accounted
for.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import mmap
import os
import re
import stat
import struct
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from shuffledp.errors import Argument, InvalidInput, Refusal, Words
from shuffledp.schema import Format
from shuffledp.tables.cleaning import NO_NUMBER, check_encoding

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
    from pyarrow.parquet import ParquetFile  # slow to import

    with path.open("rb") as raw, ParquetFile(raw, **options) as file:
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


Kind = Literal["text", "number"]
ROWS = 1 << 20  # of a batch
FEW_ROWS = 1 << 12  # from so many on, a batch is not put together with others
BATCH_BYTES = 1 << 28  # of a batch, were all its texts written out
LONGEST_CELL = 1 << 20  # bytes
BLOCK = 1 << 24  # bytes of CSV that are parsed at once
LONGEST_HEADER = 1 << 20
SEPARATORS = ",\t;|"
BAR = "|"  # which may also stand in the name of a single column
AHEAD, ROWS_AHEAD = 1 << 18, 100  # bytes and rows below a header that are looked at
GZIP, ARROW_STREAM = b"\x1f\x8b", b"\xff\xff\xff\xff"
CODED = pa.dictionary(pa.int32(), pa.string())
DIFFERENCES = {"DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"}  # which Arrow reads into no dictionary
FLAT_TEXT = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+|[+-]?\d{1,3}(\.\d{3})+(,\d+)?")
THOUSANDS_COMMA = re.compile(r"[+-]?\d{1,3}(,\d{3})+(,\d{3}|\.\d*)")
PLAIN_NUMBERS: Words = ("Write them like -1.5 or 2e3; leave missing ones empty, or name them: ", Argument("na"), ".")
DECIMAL_COMMAS: Words = (
    *("Where the decimal mark is a comma, add ", Argument("decimal", ","), " (and ", Argument("thousands", ".")),
    " where there are points).",
)


class Table(ABC):
    """Named columns, whose rows are read in order as often as wanted; standard input only once."""

    title: str
    names: list[str]
    rows: int | None = None
    done: float | None = None  # how much ``batches`` has read so far, from 0 to 1, if that is known
    headed = False  # whether the names are merely the first line of a text
    once = False  # whether it can be read only once
    bare = False  # whether it is a single column without a table around it
    nested: Sequence[str] = ()  # columns of lists and records, about which nothing can be asked
    watched: Sequence[str] = ()  # columns that nobody asks about: what they hold, is no reason to refuse the table

    def column_title(self, name: str) -> str:
        """How messages call one of its columns."""
        return f"column {name!r} of {self.title}"

    @abstractmethod
    def batches(self, wanted: list[str], kind: Kind) -> Iterator[pa.RecordBatch]:
        """The columns ``wanted``, the first of which is to hold ``kind``."""


def open_table(path: str, format: Format | None = None, encoding: str | None = None) -> Table:
    """The table in the file ``path``, or on standard input if that is "-"; ``encoding`` is that of
    CSV, UTF-8 if it is left out.
    """
    encoding = None if encoding is None else check_encoding(encoding)
    if format is not None and format not in get_args(Format):
        raise InvalidInput(
            f"format must be one of {', '.join(get_args(Format))}, got {format!r}. Leave it out: the first bytes of "
            f"the file are enough."
        )
    place: Path | io.BufferedReader = Path(path)
    title = repr(path)
    if path == "-":
        title = "standard input"
        if sys.stdin is None:  # the shell's <&-
            raise InvalidInput("standard input must be open, got a closed one. Pipe a table into it, or name a file.")
        with readable(title, "table"):
            head = sys.stdin.buffer.read(len(ARROW_FILE))
        place = io.BufferedReader(_Again(head, sys.stdin.buffer), 1 << 20)
    else:
        with readable(title, "file"):
            head = first_bytes(Path(path), title)
    found = format or _guess(head)
    if path == "-" and (found == "parquet" or head == ARROW_FILE):
        raise InvalidInput(
            "standard input must be CSV or an Arrow stream, got a format that is read from its end. Write it to a file "
            "and name that."
        )
    if not head:
        raise InvalidInput(f"{title} must hold a table, got an empty file. The first line names the columns.")
    if found == "csv":
        return _Csv(title, place, zipped=head.startswith(GZIP), encoding=encoding)
    if encoding is not None:
        rule = (Argument("encoding"), " must be left out for Parquet and Arrow, whose text is UTF-8 by definition")
        raise InvalidInput(Refusal(rule, f"it for {title}", "Leave it out."))
    if found == "parquet":
        return _Parquet(title, Path(path))
    return _ArrowFile(title, Path(path)) if head == ARROW_FILE else _ArrowStream(title, place)


class _Csv(Table):
    """Text with a header. A column of categories stays text, whatever it looks like; an empty field
    is a missing value.
    """

    headed = True

    def __init__(self, title: str, place: Path | io.BufferedReader, *, zipped: bool, encoding: str | None) -> None:
        self.title, self._place, self.once = title, place, not isinstance(place, Path)
        self._zipped, self._encoding = zipped, encoding
        self._raw, self._stream = self._open()
        try:
            self.names, self._separator = self._header()
        finally:
            if not self.once:
                self._close()

    def batches(self, wanted: list[str], kind: Kind) -> Iterator[pa.RecordBatch]:
        if not self.once:
            self._raw, self._stream = self._open()
            self._header()
        size = 0 if self.once else os.fstat(self._raw.fileno()).st_size
        # A quote that nobody closes would swallow what follows, people and all. So a last row is
        # added; if it does not come out, it was swallowed.
        last = str(int.from_bytes(os.urandom(6)))
        ended = _Ended(self._stream, self._separator.join(last if name == wanted[0] else "" for name in self.names))
        ragged: list[Any] = []

        def refuse(row: Any) -> str:
            ragged.append(row)
            return "error"

        types = {name: pa.binary() if name in self.watched else pa.string() for name in wanted}
        types |= {wanted[0]: CODED if kind == "text" else pa.float64()}
        with self._clear(wanted[0], ragged):
            reader = pyarrow.csv.open_csv(
                pa.PythonFile(ended, mode="r"),
                # one thread, as only then are rows numbered in errors; the next batch is read while
                # this one is used
                pyarrow.csv.ReadOptions(use_threads=False, block_size=BLOCK, column_names=self.names),
                pyarrow.csv.ParseOptions(
                    delimiter=self._separator,
                    newlines_in_values=True,
                    ignore_empty_lines=len(self.names) > 1,  # else an empty line is an empty field
                    invalid_row_handler=refuse,
                ),
                pyarrow.csv.ConvertOptions(
                    include_columns=wanted,
                    column_types=types,
                    null_values=[""] if kind == "text" else NO_NUMBER,
                    strings_can_be_null=kind == "text",
                ),
            )
            before: pa.RecordBatch | None = None
            for batch in reader:
                if not len(batch):
                    continue
                if before is not None:
                    yield from _sliced(before, self.title)
                before = batch
                self.done = self._raw.tell() / size if size else None
            if before is None or str(before.column(wanted[0])[-1]) not in (last, f"{float(last)}"):
                raise InvalidInput(
                    f"{self.title} must close every double quote, got one that is open at the end. It may have been "
                    f"cut off; copy it again."
                )
            yield from _sliced(before.slice(0, len(before) - 1), self.title)

    def _open(self) -> tuple[BinaryIO, Any]:
        """The file, and its text."""
        with readable(self.title, "file"):
            raw = self._place.open("rb") if isinstance(self._place, Path) else self._place
        text: Any = gzip.GzipFile(fileobj=raw) if self._zipped else raw
        return raw, text if self._encoding in (None, "utf-8") else io.BufferedReader(
            _AsUtf8(text, str(self._encoding), self.title), 1 << 20
        )

    def _close(self) -> None:
        self._stream.close()
        self._raw.close()

    def _header(self) -> tuple[list[str], str]:
        """The names of the columns, and what separates them."""
        line, text, separator, found = b"\n", "", SEPARATORS[0], list[list[str]]()
        with readable(self.title, "CSV file"):
            while line and not line.strip(b"\r\n"):  # empty lines before the header
                line = _read_line(self._stream)
            while line.count(b'"') % 2 and len(line) < LONGEST_HEADER and (more := _read_line(self._stream)):
                line += more
        try:
            text = line.decode("utf-8-sig")
            separator = self._separator_of(text)
            found = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
        except (UnicodeDecodeError, csv.Error):
            pass
        if len(found) != 1 or not any(found[0]) or len(line) >= LONGEST_HEADER or "\0" in text:
            rule, likely = f"{self.title} must be CSV in UTF-8, Parquet or Arrow", Argument("encoding", _likely(line))
            remedy = ("Save the table as CSV in UTF-8, or say how it is written, for example ", likely, ".")
            raise InvalidInput(Refusal(rule, "a first line that names no columns", remedy))
        return found[0], separator

    def _separator_of(self, header: str) -> str:
        """What separates the fields; where a header can be read in several ways, the rows below it
        tell, and then how many names it would hold.
        """
        marks = [mark for mark in SEPARATORS if mark in header] or [SEPARATORS[0]]
        if marks == [BAR]:
            marks.append(SEPARATORS[0])
        if len(marks) == 1:
            return marks[0]
        with readable(self.title, "CSV file"):
            ahead = self._stream.read(AHEAD)
        self._stream = io.BufferedReader(_Again(ahead, self._stream), 1 << 20)
        below = ahead.decode("utf-8", "replace")

        def likely(mark: str) -> tuple[float, bool, int]:
            fields, widths = _fields(header, mark), _widths(below, mark, whole=len(ahead) < AHEAD)
            return widths.count(fields) / max(1, len(widths)), _well_quoted(header, mark), fields

        return max(marks, key=likely)

    @contextmanager
    def _clear(self, name: str, ragged: list[Any]) -> Iterator[None]:
        """Say what is wrong with the text in our words: the parser's would quote a whole line of
        somebody's data.
        """
        try:
            with readable(self.title, "CSV file"):
                try:
                    yield
                except pa.ArrowInvalid as error:
                    if ragged:
                        row, fields, wanted = ragged[0].number, ragged[0].actual_columns, ragged[0].expected_columns
                        raise InvalidInput(
                            f"row {row} of {self.title} must have {wanted} fields like the header above it, got "
                            f"{fields}. "
                            "Put fields that hold the separator or a line break in double quotes."
                        ) from None
                    said = str(error)
                    if "straddling" in said:
                        raise InvalidInput(
                            f"a row of {self.title} must be at most {BLOCK} bytes long, got a longer one. Is a double "
                            f"quote left open?"
                        ) from None
                    if "UTF8" in said:
                        raise self._not(
                            name,
                            "be text in UTF-8",
                            "other bytes",
                            ("Say how it is written, for example ", Argument("encoding", "latin-1"), "."),
                        ) from None
                    if value := re.search(r"invalid value '(.*)'", said, re.DOTALL):
                        remedy = PLAIN_NUMBERS
                        if DECIMAL_COMMA.fullmatch(value[1].strip()):
                            remedy = DECIMAL_COMMAS
                        if THOUSANDS_COMMA.fullmatch(value[1].strip()):
                            remedy = ("Where commas separate thousands, add ", Argument("thousands", ","))
                        raise self._not(name, "hold numbers", repr(value[1][:60]), remedy) from None
                    raise
        finally:
            self._close()

    def _not(self, name: str, rule: str, got: str, remedy: Words) -> InvalidInput:
        return InvalidInput(Refusal(f"column {name!r} of {self.title} must {rule}", got, remedy))


class _Parquet(Table):
    """A Parquet file. Text is handed over as a dictionary, as it is mostly stored, which makes it
    cheap to look up; and a long one that stands in many rows in a few bytes stays one.
    """

    def __init__(self, title: str, path: Path) -> None:
        self.title, self._path = title, path
        with readable(title, "Parquet file"), open_parquet(path, title) as file:
            self.names, self.rows, self._schema = file.schema_arrow.names, file.metadata.num_rows, file.schema_arrow
            self._metadata, self.nested = file.metadata, _nested(file.schema_arrow)

    def batches(self, wanted: list[str], kind: Kind) -> Iterator[pa.RecordBatch]:
        coded, rows = self._reading(wanted)
        with (
            readable(self.title, "Parquet file"),
            # no pre_buffer: it keeps whatever it has read
            open_parquet(
                self._path, self.title, read_dictionary=coded, pre_buffer=False, page_checksum_verification=True
            ) as file,
        ):
            came = 0
            for batch in _gathered(file.iter_batches(rows, columns=wanted, use_threads=False)):
                came += len(batch)
                self.done = came / max(1, file.metadata.num_rows)
                yield from _sliced(batch, self.title)
            if came != file.metadata.num_rows:
                raise InvalidInput(
                    f"{self.title} must hold the {file.metadata.num_rows} rows it names, got {came}. {DAMAGED}"
                )

    def _reading(self, wanted: list[str]) -> tuple[list[str], int]:
        """Which columns to read as dictionaries, and how many rows at once, by how long they are
        when they are unpacked: a text that is written as its difference from the one before may be
        as long as all of them, and so may a list.
        """
        kinds, longest = {name: self._schema.field(name).type for name in wanted}, 1
        coded = [name for name in wanted if any(test(kinds[name]) for test in FLAT_TEXT)]
        for group in map(self._metadata.row_group, range(self._metadata.num_row_groups)):
            for column in map(group.column, range(group.num_columns)):
                if (name := column.path_in_schema.partition(".")[0]) in wanted:
                    size = column.total_uncompressed_size
                    each = -(-size // max(1, group.num_rows))
                    if pa.types.is_fixed_size_binary(kinds[name]):
                        each = kinds[name].byte_width
                    if each > 2 * LONGEST_CELL:
                        raise _too_long(name, self.title, each)
                    if DIFFERENCES.intersection(column.encodings):
                        coded, each = [other for other in coded if other != name], size
                    longest = max(longest, BATCH_BYTES if name in self.nested else each)
        return coded, max(1, min(ROWS, BATCH_BYTES // longest))


def _gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in fewer batches, where those are small."""
    held, size = list[pa.RecordBatch](), 0
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if size >= BLOCK or len(batch) >= FEW_ROWS:
            yield batch if len(held) == 1 else pa.concat_batches(held)
            held, size = [], 0
    if held:
        yield pa.concat_batches(held)


def _nested(schema: pa.Schema) -> list[str]:
    return [field.name for field in schema if pa.types.is_nested(field.type)]


class _ArrowFile(Table):
    """An Arrow IPC file, also known as Feather. Its batches are checked, since nothing in the
    format does.
    """

    def __init__(self, title: str, path: Path) -> None:
        self.title, self._path = title, path
        with readable(title, "Arrow file"), open_arrow(path, title) as reader:
            self.names, self.nested = reader.schema.names, _nested(reader.schema)

    def batches(self, wanted: list[str], kind: Kind) -> Iterator[pa.RecordBatch]:
        options = pa.ipc.IpcReadOptions(included_fields=[self.names.index(name) for name in wanted])
        with readable(self.title, "Arrow file"), open_arrow(self._path, self.title, options=options) as reader:
            for i in range(reader.num_record_batches):
                self.done = (i + 1) / reader.num_record_batches
                yield from _sliced(_sound(reader.get_batch(i)), self.title)


class _ArrowStream(Table):
    """An Arrow IPC stream, from a file or from standard input. A stream may just stop, or another
    may follow, and its reader takes both for an end.

    So the end is looked at: otherwise anyone who was cut off, or came after it, is lost.
    """

    def __init__(self, title: str, place: Path | io.BufferedReader) -> None:
        self.title, self._place, self.once = title, place, not isinstance(place, Path)
        self._stream, self._reader = self._open()
        self.names, self.nested = self._reader.schema.names, _nested(self._reader.schema)
        if not self.once:
            self._stream.close()

    def batches(self, wanted: list[str], kind: Kind) -> Iterator[pa.RecordBatch]:
        if not self.once:
            self._stream, self._reader = self._open()
        with readable(self.title, "Arrow stream"), self._stream:
            for batch in self._reader:
                yield from _sliced(_sound(batch.select(wanted)), self.title)
            if self._stream.short:
                raise InvalidInput(f"{self.title} must be a whole Arrow stream, got one without its end. {DAMAGED}")
            if self._stream.read(1):
                raise InvalidInput(
                    f"{self.title} must be one Arrow stream, got more after its end. Join several with a tool that "
                    f"knows the format."
                )

    def _open(self) -> tuple[_Watched, pa.RecordBatchReader]:
        with readable(self.title, "Arrow stream"):
            stream = _Watched(self._place.open("rb") if isinstance(self._place, Path) else self._place)
            return stream, pa.ipc.open_stream(stream)


def _sound(batch: pa.RecordBatch) -> pa.RecordBatch:
    batch.validate(full=True)
    return batch


def _sliced(batch: pa.RecordBatch, title: str) -> Iterator[pa.RecordBatch]:
    """``batch`` in parts of ordinary size, also when their texts are written out row by row; a text
    that is too long for that is refused.
    """
    longest = 1
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        texts = column.dictionary if pa.types.is_dictionary(column.type) else column
        if any(test(texts.type) for test in FLAT_TEXT):
            longest = max(longest, pc.max(pc.binary_length(texts)).as_py() or 0)
        if longest > LONGEST_CELL:
            raise _too_long(name, title, longest)
    rows = max(1, min(ROWS, BATCH_BYTES // longest))
    return (batch.slice(start, rows) for start in range(0, len(batch), rows))


def _too_long(name: str, title: str, bytes: int) -> InvalidInput:
    return InvalidInput(
        f"a cell of column {name!r} of {title} must have at most {LONGEST_CELL:,} bytes, got {bytes:,}. Shorten it, or "
        f"leave the column out."
    )


class _Stream(io.RawIOBase):
    """Bytes that come from another stream."""

    def readable(self) -> bool:
        return True


class _Watched(_Stream):
    """A stream that knows whether somebody wanted more of it than there was; its reader does,
    unless it finds the mark of the end.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self.short = stream, False

    def read(self, size: int = -1) -> bytes:
        got = self._stream.read(size)
        self.short |= len(got) < size
        return got

    def close(self) -> None:
        self._stream.close()
        super().close()


class _AsUtf8(_Stream):
    """Text in another encoding, as UTF-8."""

    def __init__(self, text: BinaryIO, encoding: str, title: str) -> None:
        self._text, self._decoder, self._ready, self._over = text, codecs.getincrementaldecoder(encoding)(), b"", False
        self._rule = f"{title} must be text in {encoding}"

    def readinto(self, buffer: Any) -> int:
        while not self._ready and not self._over:
            got = self._text.read(len(buffer))
            self._over = not got
            try:
                self._ready = self._decoder.decode(got, final=self._over).encode()
            except UnicodeError:
                raise InvalidInput(
                    Refusal(self._rule, "other bytes", ("Choose another ", Argument("encoding"), "."))
                ) from None
        part, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._text.close()
        super().close()


class _Again(_Stream):
    """A stream whose first bytes were read already, with them put back. It is somebody else's, and
    stays open.
    """

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = head, rest

    def readinto(self, buffer: Any) -> int:
        got = self._head or self._rest.read(len(buffer))
        got, self._head = got[: len(buffer)], got[len(buffer) :] if self._head else b""
        buffer[: len(got)] = got
        return len(got)


class _Ended(_Stream):
    """A text with one more row at its end."""

    def __init__(self, text: BinaryIO, row: str) -> None:
        self._text, self._row, self._line_over = text, row.encode(), True

    def read(self, size: int = -1) -> bytes:
        if got := self._text.read(size):
            self._line_over = got.endswith((b"\n", b"\r"))
            return got
        got, self._row = self._row, b""
        return got if self._line_over or not got else b"\n" + got


def _read_line(stream: Any) -> bytes:
    """The next line with its end: LF, CR LF, or CR alone, as some spreadsheets write it, if no LF
    follows soon, which would leave open what ends a line.
    """
    line = bytearray()
    while len(line) < LONGEST_HEADER and (letter := stream.read(1)):
        line += letter
        if letter == b"\n" or (letter == b"\r" and b"\n" not in stream.peek(1)):
            break
    return bytes(line)


def _fields(header: str, separator: str) -> int:
    """Into how many fields a header falls by a separator; 0 if it is none of that kind."""
    try:
        rows = list(csv.reader(io.StringIO(header, newline=""), delimiter=separator, strict=True))
    except csv.Error:
        return 0
    return len(rows[0]) if len(rows) == 1 else 0


def _widths(text: str, separator: str, *, whole: bool) -> list[int]:
    """How many fields each of the first rows has; unless the text is ``whole``, its last row may be
    a part of one.
    """
    widths = list[int]()
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            widths += [len(row)] if row else []
            if len(widths) > ROWS_AHEAD:
                return widths
    except csv.Error:
        return widths
    return widths if whole else widths[:-1]


def _well_quoted(line: str, separator: str) -> bool:
    """Whether quotes stand around whole fields only."""
    field = f'(?:"(?:[^"]|"")*"|[^"{separator}]*)'
    return re.fullmatch(f"{field}(?:[{separator}]{field})*", line.rstrip("\r\n")) is not None


def _likely(line: bytes) -> str:
    """What encoding a line that is no UTF-8 may be in."""
    if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in line:
        return "utf-16-be" if line.startswith(b"\0") else "utf-16-le"
    return "latin-1"


def _guess(head: bytes) -> Format:
    if head.startswith(PARQUET):
        return "parquet"
    return "arrow" if head.startswith((ARROW_FILE, ARROW_STREAM)) else "csv"
