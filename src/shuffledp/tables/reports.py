"""The file of reports: what a client sends, and what the shuffler releases.

It is a Parquet file, so that any engine can hold, move and join such files; Spark, DuckDB and
Polars read it. Its one column ``report`` is an unsigned integer, or for longer reports a row of
bytes; before the shuffle a column ``id`` may stand beside it. Under the key "shuffledp" it says
what the reports mean, with the integers of the law that drew them, so that nobody counts reports of
another law. That header and every page have a checksum.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shuffledp.errors import Argument, InvalidInput
from shuffledp.schema import NEEDED, Count, File, Limits, Part, Text, Whole, check_format, part, unusual
from shuffledp.storage.canonical import canonical, parsed
from shuffledp.storage.files import replace_file
from shuffledp.tables.formats import DAMAGED, PARQUET, first_bytes, open_parquet, readable
from shuffledp.tables.people import id_texts
from shuffledp.tables.spool import batch_rows

Stage = Literal["encoded", "shuffled"]
Check = Callable[[NDArray[Any]], NDArray[Any]]
KEY, SEAL, VERSION = b"shuffledp", b"shuffledp-sha256", 1
FORMAT: Literal["shuffledp-reports"] = "shuffledp-reports"
Dtype = Literal["uint8", "uint16", "uint32", "uint64"]
MOST_WIDTH = 1 << 20
FIX = {"encoded": "Give what `shuffledp stage encode` wrote.", "shuffled": "Shuffle it first: shuffledp stage shuffle."}
ILLEGAL = {
    "encoded": ("Leave the file out, or drop such reports and have them counted: ", Argument("drop-invalid"), "."),
    "shuffled": "No shuffler of this package writes it; ask for the file again.",
}


@part
class Header(Part):
    """What a file of reports says of itself. ``design`` is that of the poll, the same in all files
    that meet.

    ``batch`` names the call of ``encode`` that made the file, so that no report is counted twice;
    after the shuffle ``batches`` counts them. ``dtype`` and ``width`` give the shape of a report:
    one number, or ``width`` of them.
    """

    format: Annotated[Literal["shuffledp-reports"], NEEDED] = FORMAT
    version: Annotated[Whole, NEEDED] = VERSION
    stage: Stage
    design: Any
    secure: bool
    batch: Text | None = None
    batches: Count | None = None
    dtype: Annotated[Dtype, NEEDED] = "uint8"
    width: Annotated[Annotated[int, Limits(1, MOST_WIDTH)] | None, NEEDED] = None

    @classmethod
    def encoded(cls, design: Mapping[str, Any], *, secure: bool) -> Self:
        """For reports as they leave the clients, with a new name for this batch."""
        return cls(stage="encoded", design=design, secure=secure, batch=os.urandom(16).hex())

    @classmethod
    def shuffled(cls, design: Mapping[str, Any], *, secure: bool, batches: int) -> Self:
        """For reports that have lost their senders."""
        return cls(stage="shuffled", design=design, secure=secure, batches=batches)

    @property
    def row_bytes(self) -> int:
        """The size of one report."""
        return np.dtype(self.dtype).itemsize * (self.width or 1)

    def of(self, rows: NDArray[Any]) -> Self:
        """The same for reports in the shape of ``rows``."""
        if rows.dtype.name not in get_args(Dtype) or rows.ndim not in (1, 2):
            raise InvalidInput(
                f"reports must be a vector or table of unsigned integers, got shape {rows.shape} of {rows.dtype}. Take "
                f"those of a randomizer."
            )
        kind: Any = rows.dtype.name
        return dataclasses.replace(self, dtype=kind, width=None if rows.ndim == 1 else rows.shape[1])

    @property
    def text(self) -> bytes:
        """Canonical JSON: equal headers are equal bytes."""
        return canonical(self.as_json()).encode()

    @classmethod
    def from_text(cls, text: bytes, title: str) -> Self:
        """The header that a file holds; anything that this version would not have written is
        refused.
        """
        file = File(f"the header of {title}", DAMAGED)
        made = check_format(title, parsed(text), FORMAT, VERSION, "Make it with `shuffledp stage encode`.")
        header, encoded = cls.read(made, file), made.get("stage") == "encoded"
        if not isinstance(header.design, dict):
            raise unusual("design", header.design, file)
        if (header.batch is None, header.batches is None) != (not encoded, encoded):
            raise unusual("batch", header.batch, file)
        return header

    def _schema(self, *, ids: bool) -> pa.Schema:
        report = getattr(pa, self.dtype)() if self.width is None else pa.binary(self.row_bytes)
        named = [pa.field("id", pa.string())] if ids else []
        return pa.schema([pa.field("report", report, nullable=False), *named])

    def _column(self, rows: NDArray[Any]) -> pa.Array:
        if self.of(rows) != self:
            raise InvalidInput(
                f"reports must all be {self.dtype} of width {self.width}, got shape {rows.shape} of {rows.dtype}. Use "
                f"one randomizer."
            )
        kind = self._schema(ids=False).field("report").type
        return pa.Array.from_buffers(kind, len(rows), [None, pa.py_buffer(np.ascontiguousarray(rows))])

    def _rows(self, column: pa.Array) -> NDArray[Any]:
        start, size = column.offset * self.row_bytes, len(column) * self.row_bytes
        rows = np.frombuffer(column.buffers()[1], dtype=np.uint8)[start : start + size].view(self.dtype)
        return rows if self.width is None else rows.reshape(len(column), self.width)


class Rows(NamedTuple):
    """Some reports of a file, the ids beside them if there are any and they were asked for, and how
    many illegal reports were ``dropped``.
    """

    reports: NDArray[Any]
    ids: pa.Array | None
    dropped: int


@dataclass(frozen=True, slots=True)
class ReportsFile:
    """A file of ``count`` reports, ``named`` if ids stand beside them, whose header has been read
    and whose rows have not.
    """

    path: Path
    header: Header
    count: int
    named: bool = False

    def batches(self, *, check: Check | None = None) -> Iterator[NDArray[Any]]:
        """The reports in their order; ``check`` refuses those that the law never sends: a
        randomizer's ``check_reports``.
        """
        return (rows.reports for rows in self.rows(check=check))

    def rows(self, *, check: Check | None = None, drop: bool = False, ids: bool = False) -> Iterator[Rows]:
        """The same with their ``ids``; with ``drop``, reports that ``check`` refuses are left out
        and counted.

        The file is opened again here. One that meanwhile became another is refused, and so are rows
        that are not those it names.
        """
        came, title, wanted = 0, repr(str(self.path)), ["report", "id"] if ids and self.named else ["report"]
        with (
            readable(title, "file of reports"),
            open_parquet(self.path, title, pre_buffer=False, page_checksum_verification=True) as file,
        ):
            if _described(self.path, file, title) != self:
                raise InvalidInput(
                    f"{title} must not change while it is read, got another file of that name. Run it again when "
                    f"nobody is writing there."
                )
            for batch in file.iter_batches(batch_rows(self.header.row_bytes), columns=wanted, use_threads=False):
                reports = self.header._rows(batch.column(0))
                legal = None if check is None else legal_rows(reports, check)
                if legal is not None and not drop:
                    raise self._illegal(reports, came, legal, check)
                yield _kept(reports, batch.column(1) if len(wanted) == 2 else None, legal)
                came += len(reports)
        if came != self.count:
            raise InvalidInput(f"{title} must hold the {self.count} reports it names, got {came}. {DAMAGED}")

    def _illegal(
        self, reports: NDArray[Any], before: int, legal: NDArray[np.bool_], check: Check | None
    ) -> InvalidInput:
        """What is wrong with the first illegal report, and where it stands."""
        first = int(np.argmin(legal))
        try:
            said = "" if check is None else str(check(reports[first : first + 1]))
        except InvalidInput as error:
            said = str(error)
        where = f"row {before + first + 1} of {str(self.path)!r}"
        return InvalidInput(
            f"{where} must be a report that its design allows, got one that is not: {said} {ILLEGAL[self.header.stage]}"
        )


def write_reports(
    path: Path,
    header: Header,
    chunks: Iterable[tuple[NDArray[Any], pa.Array | None]],
    *,
    last: Callable[[], object] | None = None,
) -> ReportsFile:
    """Write reports, and beside each its id unless those are None; the file is there when all of it
    is, or not at all.

    ``last`` is called just before it is there.

    Row groups have the same size whatever the chunks were, so that the file says nothing about how
    its reports came.
    """
    from pyarrow.parquet import ParquetWriter

    written: list[ReportsFile] = []

    def fill(temporary: Path) -> None:
        feed = iter(chunks)
        first = next((chunk for chunk in feed if len(chunk[0])), None)
        if first is None:
            raise InvalidInput(
                "reports must hold at least one report, got none. Pass the value of at least one person."
            )
        shaped = header.of(first[0])
        schema = shaped._schema(ids=first[1] is not None)
        # zstd squeezes small integers, which Parquet stores in four bytes, to a little over one;
        # newer encodings are smaller, but few engines read them
        options = {
            "compression": "zstd",
            "use_dictionary": False,
            "write_statistics": False,
            "write_page_checksum": True,
            "store_schema": False,
        }
        with temporary.open("wb") as sink, ParquetWriter(sink, schema, **options) as file:
            text = shaped.text
            file.add_key_value_metadata({KEY: text, SEAL: _seal(text)})
            count, pending, group = 0, schema.empty_table(), batch_rows(shaped.row_bytes)
            for rows, ids in chain([first], feed):
                named = [] if ids is None else [id_texts(ids)]
                pending = pa.concat_tables(
                    [pending, pa.Table.from_arrays([shaped._column(rows), *named], schema=schema)]
                )
                count += len(rows)
                while len(pending) >= group:
                    file.write_table(pending.slice(0, group).combine_chunks(), group)
                    pending = pending.slice(group)
            if len(pending):
                file.write_table(pending.combine_chunks(), group)
        written.append(ReportsFile(path, shaped, count, named=first[1] is not None))

    replace_file(
        path, fill, private=header.stage == "encoded", last=last
    )  # before the shuffle a report may stand beside a name
    return written[0]


def open_reports(path: Path, *, stage: Stage | None = None) -> ReportsFile:
    """A file of reports, if it is one, of this version, whole, and (with ``stage``) of that
    stage.
    """
    title = repr(str(path))
    with readable(title, "file of reports"):
        if first_bytes(path, title)[: len(PARQUET)] != PARQUET:
            raise InvalidInput(
                f"{title} must be a file of reports, got something else. Make it with `shuffledp stage encode`."
            )
        with open_parquet(path, title) as file:
            found = _described(path, file, title)
    if stage is not None and found.header.stage != stage:
        raise InvalidInput(f"{title} must hold {stage} reports, got {found.header.stage} ones. {FIX[stage]}")
    return found


def _described(path: Path, file: pa.parquet.ParquetFile, title: str) -> ReportsFile:
    """What an open file says of itself."""
    schema, metadata = file.schema_arrow, file.metadata
    if KEY not in (metadata.metadata or {}):
        raise InvalidInput(
            f"{title} must be a file of reports, got another Parquet file. Make it with `shuffledp stage encode`."
        )
    header = Header.from_text(metadata.metadata[KEY], title)
    named = len(schema.names) == 2 and header.stage == "encoded"
    if not schema.equals(header._schema(ids=named)) or not metadata.num_rows:
        raise InvalidInput(
            f"{title} must hold at least one report as its header says, got other columns or none. {DAMAGED}"
        )
    if metadata.metadata.get(SEAL) != _seal(metadata.metadata[KEY]):
        raise InvalidInput(f"{title} must have the header it was written with, got a changed one. {DAMAGED}")
    return ReportsFile(path, header, metadata.num_rows, named)


def legal_rows(reports: NDArray[Any], check: Check) -> NDArray[np.bool_] | None:
    """Which reports ``check`` lets pass, or None for all. It judges rows one by one, so that halves
    find the culprits among distinct rows.
    """
    if _passes(reports, check):
        return None
    distinct, places = np.unique(reports, axis=0, return_inverse=True)
    legal, unsure = np.ones(len(distinct), dtype=np.bool_), [(0, len(distinct))]
    while unsure:
        start, end = unsure.pop()
        if _passes(distinct[start:end], check):
            continue
        if end - start == 1:
            legal[start] = False
        else:
            unsure += [(start, (start + end) // 2), ((start + end) // 2, end)]
    return legal[places.reshape(-1)]


def _passes(reports: NDArray[Any], check: Check) -> bool:
    try:
        check(reports)
    except InvalidInput:
        return False
    return True


def _kept(reports: NDArray[Any], ids: pa.Array | None, legal: NDArray[np.bool_] | None) -> Rows:
    if legal is None:
        return Rows(reports, ids, 0)
    kept = reports[legal]
    return Rows(kept, None if ids is None else ids.filter(pa.array(legal)), len(reports) - len(kept))


def _seal(header: bytes) -> bytes:
    """Parquet has checksums for pages and none for what is said about them, where a changed bit
    could rename a category.
    """
    return hashlib.sha256(header).hexdigest().encode()
