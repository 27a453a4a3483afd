"""Encode and count on Apache Beam, on any runner: batches of values in, one file of counted reports
out.

A runner runs a bundle again when a machine fails, recomputes a collection that two others read, and
may run a bundle twice at once. A report that is drawn twice must not be seen twice. So reports are
*committed*: every attempt draws into a file of its own, nothing of which goes on before one attempt
for each bundle is chosen, once and for all (``beam_commit``).

    encode = Encode("design.json", column="way", out="work")
    with apache_beam.Pipeline() as pipeline:
        people = pipeline | apache_beam.io.ReadFromParquetBatched("people/*.parquet")
        people | encode | Tally(encode) | WriteCounted("counted.json")

Then ``shuffledp stage analyze counted.json --out result``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from shuffledp.errors import InvalidInput

try:
    import apache_beam as beam
except ImportError:
    raise InvalidInput(
        "apache-beam must be installed to run on Beam, got no such package. Install the extra: "
        "pip install 'shuffledp[beam]'"
    ) from None
from apache_beam.options.pipeline_options import StandardOptions
from apache_beam.pvalue import PCollection, TaggedOutput
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.windowed_value import WindowedValue

from shuffledp.domain import Missing
from shuffledp.engines.batch import BatchReporter, ReportTally
from shuffledp.engines.beam_commit import Attempt, Drawing, IdShares, Written, check_single, put_once, repeated
from shuffledp.mechanisms.results import Tally as Sums  # ``Tally`` is a step of a pipeline here
from shuffledp.storage.canonical import canonical
from shuffledp.storage.files import check_file
from shuffledp.tables.cleaning import AS_WRITTEN, Cleaning
from shuffledp.tables.counted_reports import CountedReports

Gathered = Mapping[str, Iterable[Any]]


class Draw(beam.DoFn):
    """Each bundle into a file of its own, of which only the name goes on. Fingerprints of ids go on
    beside it: a bundle that counts twice has all of them twice.
    """

    def __init__(self, drawing: Drawing, reporter: BatchReporter, shares: IdShares | None) -> None:
        self._drawing, self._encoder, self._shares = drawing, reporter, shares
        self._attempt: Attempt | None = None

    def start_bundle(self) -> None:
        self._attempt = None

    def process(self, batch: Any) -> Iterator[TaggedOutput]:
        if self._drawing.stands():
            return
        for share in () if self._shares is None else self._shares.of(batch):
            yield TaggedOutput("ids", share)
        if self._attempt is None:
            self._attempt = self._drawing.attempt(self._encoder)
        try:
            self._attempt.add(batch)
        except BaseException:
            self._attempt.abandon()
            raise

    def finish_bundle(self) -> Iterator[WindowedValue]:
        written = None if self._attempt is None else self._attempt.finish()
        if written is not None:
            window = GlobalWindow()
            yield WindowedValue(written, window.max_timestamp(), (window,))


def as_arrow(batch: Any) -> Any:
    """A batch, if it is one of Arrow's."""
    if not isinstance(batch, (pa.RecordBatch, pa.Table)):
        raise InvalidInput(
            f"values must come as Arrow record batches or tables, got {type(batch).__name__}. Read them with "
            f"beam.io.ReadFromParquetBatched, or make batches with pyarrow."
        )
    return batch


def commit(drawn: Gathered, drawing: Drawing, ids: str | None) -> list[Written]:
    """Choose the ``files`` that count, unless they are chosen."""
    if ids is not None and not drawing.stands():
        check_single(sum(drawn["repeats"]), ids)
    return drawing.commit(drawn["files"], sum(drawn["rows"]))


def count(added: Gathered, reporter: BatchReporter, batch: str | None) -> CountedReports:
    """All reports of the batch and no others, or none at all."""
    sums: list[Sums] = list(added["sums"])
    drawn: list[Written] = list(added["parts"])
    counted, expected = sum(each.people for each in sums), sum(each.reports for each in drawn)
    if not expected:
        raise InvalidInput("the column must hold at least one value, got none. Check that this is the right table.")
    if counted != expected:
        raise InvalidInput(
            f"Tally must be given all {expected:,} reports of its Encode, got {counted:,}. Put nothing between the two."
        )
    whole = replace(sums[0], missing=sum(each.missing for each in drawn))
    return reporter.counted(whole, batch=batch, engine="Apache Beam")


def write_once(counted: CountedReports, path: Path) -> str:
    """Seal what was counted, unless the same is sealed already."""
    from shuffledp.release.stages import check_counts  # an accountant: whoever only encodes loads none

    check_counts(counted, "what was counted", None)
    text = canonical(counted.as_json()) + "\n"
    if put_once(path, text, mode=0o666) != text:
        raise InvalidInput(f"{str(path)!r} must not exist yet, got one that holds something else. Choose another name.")
    return str(path)


class Encode(beam.PTransform):
    """From Arrow batches of values (record batches or tables) to Arrow batches of reports, one for
    each value, the same ones for everybody who looks and whenever they look.

    ``out`` is a new folder on a disk that all workers share with the program that starts them. It
    is claimed where the transform is applied. A pipeline that is run twice draws once; so does a
    program that is started again when its reports were committed, whatever its table says by then.
    One that finds a folder where they were not is refused. The files in it are the owner's alone,
    and may be removed when the reports have been counted.

    ``ids`` names the column that says whose row it is. With it, two rows of one person are refused
    before anybody sees a report.

    One of these is for one table: of a person in two tables nobody would see that there are two
    reports. Several tables are made one by ``beam.Flatten``.
    """

    def __init__(
        self,
        design: Any,
        *,
        column: str | Sequence[str],
        out: str | os.PathLike[str] | None = None,
        ids: str | None = None,
        missing: Missing = None,
        clip: bool = False,
        cleaning: Cleaning = AS_WRITTEN,
    ) -> None:
        super().__init__()
        if out is None:
            raise InvalidInput(
                "out must be given, got none: reports that are not committed would be drawn anew when a bundle is run "
                'again. Add out="work", a new folder on a disk that all workers share.'
            )
        self.reporter = BatchReporter.of(design, column=column, missing=missing, clip=clip, cleaning=cleaning)
        self.reporter.check_shown()
        self._out, self._ids = out, ids
        self._shares = None if ids is None else IdShares(ids, self.reporter.design.n, os.urandom(32))
        self.batch: str | None = None
        self._parts: PCollection | None = None
        self._reports: PCollection | None = None

    def parts(self, reports: PCollection) -> PCollection:
        """How many ``reports`` there are, in parts, if they are the very ones of this transform:
        equally many of another drawing, or some of these twice, would add up as well.
        """
        if self._parts is None or reports is not self._reports:
            given = (
                "one that is not applied yet" if self._parts is None else "other reports, or some changed on the way"
            )
            raise InvalidInput(
                f"Tally must follow the Encode that it is given, got {given}. Write values | encode | Tally(encode), "
                f"with nothing in between."
            )
        return self._parts

    def expand(self, values: PCollection) -> PCollection:
        _check_batch_mode(values)
        if self._reports is not None:
            raise InvalidInput(
                "an Encode must be applied to one table, got a second one: a person in both would have two reports. "
                "Make one of them with beam.Flatten; for another run, make another Encode."
            )
        self._reports = self._committed(values | "batches" >> beam.Map(as_arrow))
        return self._reports

    def _committed(self, batches: PCollection) -> PCollection:
        """Drawn by each bundle into a file, chosen when all are there, and read back."""
        drawing = Drawing.claimed(self._out, self.reporter, ids=self._ids)
        draw = beam.ParDo(Draw(drawing, self.reporter, self._shares))
        drawn = batches | "draw" >> draw.with_outputs("ids", main="files")
        rows = batches | "rows" >> beam.Map(len)
        compared = {} if self._shares is None else {"repeats": _repeats(drawn.ids)}
        all_drawn = "when all is drawn" >> _Gather(files=drawn.files, rows=rows, **compared)
        self._parts = batches.pipeline | all_drawn | "commit" >> beam.FlatMap(commit, drawing, self._ids)
        self.batch = drawing.batch
        return self._parts | "to all workers" >> beam.Reshuffle() | "read back" >> beam.FlatMap(drawing.reports)


class Tally(beam.PTransform):
    """From the reports of an ``Encode`` to the one ``CountedReports`` that they add up to."""

    def __init__(self, encode: Encode) -> None:
        super().__init__()
        if not isinstance(encode, Encode):
            raise InvalidInput(
                f"Tally must be given the Encode before it, got {type(encode).__name__}. Write "
                f"values | encode | Tally(encode)."
            )
        self._encode = encode

    def expand(self, reports: PCollection) -> PCollection:
        encode, reporter, parts = self._encode, self._encode.reporter, self._encode.parts(reports)
        task = ReportTally(reporter.text)
        tallies = reports | "tally" >> beam.Map(lambda batch: task.added([batch]))
        sums = tallies | "add up" >> beam.CombineGlobally(task.total).without_defaults()
        all_counted = "when all is added up" >> _Gather(sums=sums, parts=parts)
        return reports.pipeline | all_counted | beam.Map(count, reporter, encode.batch)


class WriteCounted(beam.PTransform):
    """Write counted reports, for ``shuffledp stage analyze``; fewer than the design promises are
    refused. The first file stands: a worker that writes the same once more changes nothing. It is
    a worker that writes: ``path`` belongs on a disk that they share.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__()
        self._path = check_file(Path(path).absolute())

    def expand(self, counted: PCollection) -> PCollection:
        return counted | "write" >> beam.Map(write_once, self._path)


class _Gather(beam.PTransform):
    """All elements of some collections, when the last is there: one dictionary of lists, also if
    there are none.
    """

    def __init__(self, **collections: PCollection) -> None:
        super().__init__()
        self._collections = collections

    def expand(self, start: Any) -> PCollection:
        keyed = {name: each | f"key {name}" >> beam.Map(_keyed_alike) for name, each in self._collections.items()}
        begun = start | "begin" >> beam.Create([_keyed_alike(None)])
        return {**keyed, "begun": begun} | "group" >> beam.CoGroupByKey() | "gathered" >> beam.Values()


def _keyed_alike(element: Any) -> tuple[int, Any]:
    return 0, element


def _check_batch_mode(values: PCollection) -> None:
    """Refuse a stream, which has no end to wait for, and windows, several of which may hold one
    person.
    """
    if not isinstance(values, PCollection):
        raise InvalidInput(
            f"values must be a collection of Arrow batches, got {type(values).__name__}. Read them first, for example "
            f"with beam.io.ReadFromParquetBatched."
        )
    streaming = values.pipeline.options.view_as(StandardOptions).streaming
    if streaming or not values.is_bounded:
        raise InvalidInput(
            "values must be bounded, and the pipeline in batch mode, got a stream: it may deliver a batch twice. Write "
            "the values to files first, and read those."
        )
    if not values.windowing.is_default():
        raise InvalidInput(
            "values must be in the one global window, got others: a person in two windows would report twice. Leave "
            "out the WindowInto before Encode."
        )


def _repeats(shares: PCollection) -> PCollection:
    """How many rows of each share are of somebody who has another one."""
    return shares | "compare" >> beam.GroupByKey() | "repeated" >> beam.MapTuple(lambda _, parts: repeated(parts))
