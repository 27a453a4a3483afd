"""Arrow batches of values to Arrow batches of reports, or straight to their sums: what every engine
calls, on its workers, once for each task.

Nothing here imports an engine, and nothing certifies: that the noise of a design keeps its promise
is certified where the design was made, and again where its counts are released.

What an engine must see to is that of two drawings for the same person, one is never read: engines
run a function again when a machine fails, when a frame is used twice, or when they feel like it.
``engines.spark`` and ``engines.beam`` do.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shuffledp.client import Reporter, check_client, check_sealed, read_design
from shuffledp.design import Design
from shuffledp.domain import Missing
from shuffledp.errors import InvalidInput, Words
from shuffledp.mechanisms.results import Tally
from shuffledp.randomizers.randomizer import Reporting
from shuffledp.sampling import SecureSource
from shuffledp.storage.canonical import canonical
from shuffledp.tables.cleaning import AS_WRITTEN, Cleaning
from shuffledp.tables.columns import ColumnName, check_column, joined, joined_name
from shuffledp.tables.counted_reports import CountedReports, new_batch
from shuffledp.tables.spool import batch_rows
from shuffledp.tables.values import Reader, reader_of

REPORT = "report"
# A row of sums: ``mixed`` is that of ``Tally.first``, and null for what is not mixed yet.
SUMS = pa.schema([("reports", pa.int64()), ("missing", pa.int64()), ("votes", pa.binary()), ("mixed", pa.bool_())])
SURVEY = pa.schema([("values", pa.int64()), ("missing", pa.int64())])
VOTES = np.dtype("<i8")
# What to do with a work folder that is not as it was written.
UNSURE = (
    "If it may have been counted, draw no other reports of these people, which would be their second ones; if not, "
    "delete it and start again."
)
# Engines on the JVM have no unsigned numbers; the widest travel by their bits.
HELD = {"uint8": pa.int16(), "uint16": pa.int32(), "uint32": pa.int64(), "uint64": pa.int64()}
Batches = Iterable[pa.RecordBatch]


def design_of(given: Any) -> Design:
    """The design that ``given`` is, describes, or names: a design, a poll, or a file."""
    if isinstance(given, (str, os.PathLike)):
        return read_design(Path(given))
    return Design.from_json(given) if isinstance(given, Mapping) else Design.of(given)


@dataclass(frozen=True, slots=True)
class BatchReporter:
    """How a column's values become reports: the design and the rules by which values are read. It
    is small, and travels to workers by pickle; there the design is opened once for a process.

    >>> from shuffledp import Poll
    >>> poll = Poll("histogram", categories=["bus", "car"], n=3, epsilon=1.0, delta=1e-2)
    >>> phones = BatchReporter.of(poll, column="way")
    >>> people = pa.record_batch({"way": ["bus", None, "car"]})
    >>> [len(reports) for reports in phones.encode([people])]
    [2]
    >>> (sums,) = phones.tally([people])
    >>> sums.select(["reports", "missing"]).to_pylist()
    [{'reports': 2, 'missing': 1}]
    """

    text: str  # the design, as canonical JSON
    column: ColumnName
    missing: Missing = None
    clip: bool = False
    cleaning: Cleaning = AS_WRITTEN

    @classmethod
    def of(cls, design: Any, *, column: str | Sequence[str], **rules: Any) -> Self:
        """For a design, a poll, or the file of a design; ``rules`` are ``missing``, ``clip``
        and ``cleaning``. One that promises nothing, or that does not run here, is refused. A
        crosstab has several columns.
        """
        agreed = design_of(design)
        check_client(agreed)
        made = cls(canonical(agreed.as_json()), column if isinstance(column, str) else tuple(column), **rules)
        made._reader()
        return made

    @property
    def design(self) -> Design:
        """What is asked, of whom, with which noise."""
        return _opened(self.text).design

    @property
    def schema(self) -> pa.Schema:
        """The one column of what ``encode`` makes."""
        return pa.schema([(REPORT, report_type(_opened(self.text).randomizer))])

    def encode(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """A report for each value, in the order of the values: for whoever stores them where nobody
        reads them before they are shuffled. What must not be stored at all is refused.
        """
        self.check_shown()
        for reports in self._drawn(batches, Counter()):
            yield pa.RecordBatch.from_arrays([_held(reports)], schema=self.schema)

    def check_shown(self) -> None:
        """Refuse reports that must not be stored before the shuffler had them: the truth itself,
        and those that the shuffler adds dummies to.
        """
        check_sealed(self.design)
        if _opened(self.text).randomizer.mixes:
            raise InvalidInput(
                f"reports that the shuffler adds dummies to must not be handed out before it did, got a design of "
                f"{self.design.mechanism.type}. Keep sums only (tallied=True, or shuffledp {self.design.question.type} "
                f"--engine spark), or let people send fakes."
            )

    def tally(self, batches: Batches, *, first: bool | None = None) -> Iterator[pa.RecordBatch]:
        """One row for all ``batches``: the sums of their reports, none of which is kept.

        Where the shuffler adds dummies, ``first`` must say whether they come with these batches:
        True for all people's, or for one part of them, and False for the other parts. Sums without
        any would be the truth. Whoever asks again draws again: commit what is asked for once.
        """
        law = _opened(self.text).randomizer
        if law.mixes and first is None:
            raise InvalidInput(
                "first must say whether the shuffler's dummies come with these batches, got none. Pass True for all "
                "people, or for one part of them, and False for every other part."
            )
        tally, rows = Tally.of(law), Counter[str]()
        for drawn in self._drawn(batches, rows):
            tally += Tally.of(law, drawn)
        tally = replace(tally, missing=rows["missing"])
        yield sums_row(tally if first is None else tally.mixed(first=first))

    def counted(self, tally: Tally, *, batch: str | None = None, **facts: Any) -> CountedReports:
        """What a tally of its reports is as a file, of one drawing that ``batch`` names, or a new
        name.
        """
        # Where a missing value is a value like others, nobody is told how many there are.
        missing = tally.missing if self.missing is None else None
        return counted_of(tally, self.design, **{"batches": (batch or new_batch(),), "missing": missing} | facts)

    def added_up(self, parts: Batches) -> Tally:
        """What rows of sums add up to, each of which must be of another task."""
        return added_up(parts, _opened(self.text).randomizer)

    def _reader(self) -> Reader:
        return reader_of(self.design.domain, missing=self.missing, clip=self.clip, cleaning=self.cleaning)

    def _drawn(self, batches: Batches, rows: Counter[str]) -> Iterator[NDArray[Any]]:
        """Some reports at a time, never none; their noise is fresh, from one source for all of
        them. ``rows`` counts them, and the missing values.
        """
        reporter, reader, fresh = _opened(self.text), self._reader(), SecureSource()
        step = batch_rows(reporter.randomizer.report_bytes)
        for batch in batches:
            column = column_of(batch, self.column)
            values, _, _ = reader.prepare(column, title_of(self.column))
            rows.update(reports=len(values), missing=len(column) - len(values))
            for start in range(0, len(values), step):
                yield reporter.encode(values[start : start + step], rng=fresh)


@dataclass(frozen=True, slots=True)
class ColumnSurvey:
    """How many values a column holds and how many are missing, as one row for all batches. Nothing
    is drawn; a value that the ``reader`` does not admit is refused. Where an engine has grouped
    equal values, ``weights`` names the column that says how many each stands for.
    """

    column: ColumnName
    reader: Reader
    weights: str | None = None

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        values = missing = 0
        for batch in batches:
            column = column_of(batch, self.column)
            _, present, _ = self.reader.prepare(column, title_of(self.column))
            some = np.ones(len(column), dtype=np.int64)
            counts = some if self.weights is None else column_of(batch, self.weights).to_numpy()
            mine = int(counts.sum() if present is None else counts[present].sum())
            values, missing = values + mine, missing + int(counts.sum()) - mine
        yield pa.RecordBatch.from_arrays([pa.array([values]), pa.array([missing])], schema=SURVEY)


def title_of(column: ColumnName) -> str:
    """A column, as messages call it."""
    return f"column {joined_name(column)!r}"


def column_of(batch: pa.RecordBatch, name: ColumnName, *, argument: Words = "column") -> pa.Array:
    """A column by its name, or several joined, in one array, where a table has chunks; messages
    name the ``argument`` that named it.
    """
    if not isinstance(name, str):
        return joined([column_of(batch, each, argument=argument) for each in name], name)
    names = batch.schema.names
    check_column(names, name, argument)
    column = batch.column(names.index(name))
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


@dataclass(frozen=True, slots=True)
class ReportTally:
    """The sums of reports that an engine has stored; one that its design never sends is refused.

    >>> from shuffledp import Poll
    >>> poll = Poll("histogram", categories=["bus", "car"], n=3, epsilon=1.0, delta=1e-2)
    >>> reports = pa.record_batch({"report": pa.array([0, 1, 1], pa.int16())})
    >>> ReportTally.of(poll).added([reports]).mixed().votes.tolist()
    [1, 2]
    """

    text: str

    @classmethod
    def of(cls, design: Any) -> Self:
        """For a design, a poll, or the file of a design."""
        return cls(canonical(design_of(design).as_json()))

    @property
    def law(self) -> Reporting:
        """How reports are drawn."""
        return _opened(self.text).randomizer

    def tally(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """One row for all ``batches`` of column ``report``."""
        yield sums_row(self.added(batches))

    def sum_rows(self, parts: Batches) -> Iterator[pa.RecordBatch]:
        """One row for all rows of ``SUMS``; nothing where there are none."""
        full = (part for part in parts if len(part))
        for first in full:
            yield sums_row(added_up(chain([first], full), self.law))

    def added(self, batches: Batches) -> Tally:
        """What all ``batches`` of column ``report`` add up to."""
        law, full = self.law, (batch for batch in batches if len(batch))
        return self.total(Tally.of(law, _given_back(column_of(batch, REPORT), law)) for batch in full)

    def total(self, parts: Iterable[Tally]) -> Tally:
        """What tallies add up to."""
        return sum(parts, Tally.of(self.law))


def counted_of(tally: Tally, design: Design, **facts: Any) -> CountedReports:
    """A tally as the file of counted reports says it; ``facts`` are its other fields. What the
    shuffler draws is never drawn here: whoever counted again would see it twice.
    """
    whole = tally.mixed() if tally.first is None and not tally.law.mixes else tally.checked()
    known = {"reports": whole.people, "secure": whole.secure} | facts
    return CountedReports(design=design.as_json(), votes=whole.numbers, **known)


def sums_row(tally: Tally) -> pa.RecordBatch:
    """A tally as one row of ``SUMS``."""
    votes = tally.numbers.astype(VOTES).tobytes()
    row = {"reports": tally.sent, "missing": tally.missing, "votes": votes, "mixed": tally.first}
    return pa.RecordBatch.from_pylist([row], schema=SUMS)


def added_up(parts: Batches, law: Reporting) -> Tally:
    """Add up rows of ``SUMS`` of a law's reports, each of which must be of another task."""
    tallies = []
    for row in (row for part in parts for row in part.to_pylist()):
        if row["votes"] is None or len(row["votes"]) != VOTES.itemsize * law.tally_size:
            raise InvalidInput(
                f"the sums must be {law.tally_size} whole numbers of eight bytes, as of one design, got others. Add up "
                f"what one BatchReporter made."
            )
        numbers = np.frombuffer(row["votes"], dtype=VOTES).astype(np.int64)
        tallies.append(Tally(law, (numbers,), row["missing"], first=row["mixed"]))
    if not tallies:
        raise InvalidInput("reports must hold at least one report, got none. Check that these are the right data.")
    return sum(tallies[1:], tallies[0])


def report_type(law: Reporting) -> pa.DataType:
    """What a report is to an engine: a number with a sign, or bytes."""
    return HELD[law.form.dtype.name] if law.form.width is None else pa.binary()


def _held(reports: NDArray[Any]) -> pa.Array:
    """Reports as engines hold them."""
    if reports.ndim == 1:
        wide = reports.view(np.int64) if reports.dtype == np.uint64 else reports
        return pa.array(wide).cast(HELD[reports.dtype.name])
    width = reports.dtype.itemsize * reports.shape[1]
    plain = np.ascontiguousarray(reports.astype(reports.dtype.newbyteorder("<"), copy=False))
    fixed = pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(reports), [None, pa.py_buffer(plain)])
    return fixed.cast(pa.binary())


def _given_back(column: pa.Array, law: Reporting) -> NDArray[Any]:
    """The same reports again."""
    dtype, width, _ = law.form
    if column.null_count:
        raise InvalidInput("reports must all be there, got some without a value. Encode again.")
    try:
        held = column.cast(HELD[dtype.name] if width is None else pa.binary(law.report_bytes))
    except pa.ArrowException:
        each = f"numbers of {dtype}" if width is None else f"{law.report_bytes} bytes each"
        raise InvalidInput(f"reports must be {each}, got others, in a column of {column.type}. Encode again.") from None
    if width is None:
        numbers: NDArray[Any] = held.to_numpy()
        if dtype == np.uint64:
            return numbers.view(np.uint64)
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() <= np.iinfo(dtype).max:
            raise InvalidInput(f"reports must be numbers of {dtype}, got others. Encode again.")
        return numbers.astype(dtype)
    content = memoryview(held.buffers()[1])[held.offset * law.report_bytes :]
    rows = np.frombuffer(content, dtype=dtype.newbyteorder("<"), count=len(held) * width)
    return rows.astype(dtype, copy=False).reshape(len(held), width)


@lru_cache(maxsize=8)
def _opened(text: str) -> Reporter:
    """A design's law and sampler, opened once in a process and not for each batch."""
    return Reporter.of(Design.from_json(json.loads(text)))
