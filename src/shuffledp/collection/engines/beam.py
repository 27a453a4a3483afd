"""Encode and count on Apache Beam, on any runner: batches of values in, one file of counted reports
out.

A runner runs a bundle again when a machine fails, recomputes a collection that two others read, and
may run a bundle twice at once. A report that is drawn twice must not be seen twice. So either the
reports are *committed* (``out=``): every attempt draws into a file of its own, nothing of which
goes on before one attempt for each bundle is chosen, once and for all (``beam_commit``). Or the
noise is *keyed* (``ids=`` and ``secret=``): then whoever draws again draws the same.

    encode = Encode("design.json", column="way", out="work")
    with apache_beam.Pipeline() as pipeline:
        people = pipeline | apache_beam.io.ReadFromParquetBatched("people/*.parquet")
        people | encode | Count(encode) | WriteCounted("counted.json")

Then ``shuffledp analyse counted.json --out result``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shuffledp.collection.engines.batch import BatchEncoder, ReportTally, Sums, added_up
from shuffledp.collection.engines.beam_commit import Attempt, Drawing, Written, put_once
from shuffledp.collection.tables import AS_WRITTEN, Cleaning, CountedReports
from shuffledp.errors import InvalidInput
from shuffledp.storage.canonical import canonical
from shuffledp.storage.files import check_file

try:
    import apache_beam as beam
except ImportError:
    raise InvalidInput(
        "apache-beam must be installed to run on Beam, got no such package. Install the extra: "
        "pip install 'shuffledp[beam]'"
    ) from None
from apache_beam.options.pipeline_options import StandardOptions
from apache_beam.pvalue import AsSingleton, PCollection
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.windowed_value import WindowedValue

__all__ = ["Count", "Encode", "WriteCounted"]

TWO_WAYS = (
    "Give out=, a new folder that all workers share, or ids= and secret=, for noise that is the same when a bundle is "
    "run again"
)


class Facts(NamedTuple):
    """What is known of reports beside the reports."""

    batch: str
    reports: int
    missing: int


class Encode(beam.PTransform):
    """From Arrow batches of values (record batches or tables) to Arrow batches of reports, one for
    each value, the same ones for everybody who looks and whenever they look.

    ``out`` is a new folder on a disk that all workers share with the program that starts them. It
    is claimed where the transform is applied. A pipeline that is run twice draws once; so does a
    program that is started again when its reports were committed. One that finds a folder where
    they were not is refused. The files in it are the owner's alone, and may be removed when the
    reports have been counted.
    """

    def __init__(
        self,
        design: Any,
        *,
        column: str,
        out: str | os.PathLike[str] | None = None,
        missing: str | None = None,
        clip: bool = False,
        cleaning: Cleaning = AS_WRITTEN,
    ) -> None:
        super().__init__()
        if out is None:
            raise InvalidInput(f"reports must be safe from being drawn twice, got nothing that sees to it. {TWO_WAYS}.")
        self.encoder = BatchEncoder.of(design, column=column, missing=missing, clip=clip, cleaning=cleaning)
        self._out = out
        self._facts: PCollection | None = None

    @property
    def facts(self) -> PCollection:
        """The one element that says what the reports are beside themselves."""
        if self._facts is None:
            raise InvalidInput(
                "Count must follow the Encode that it is given, got one that is not applied yet. Write "
                "values | encode | Count(encode)."
            )
        return self._facts

    def expand(self, values: PCollection) -> PCollection:
        _check_batch_mode(values)
        drawing = Drawing.claimed(self._out, self.encoder)
        batches = values | "batches" >> beam.Map(_arrow)
        rows = batches | "rows" >> beam.Map(len) | "all rows" >> beam.CombineGlobally(sum)
        attempts = batches | "draw" >> beam.ParDo(_Draw(drawing, self.encoder))
        committed = (
            attempts
            | "wait for all" >> beam.combiners.ToList()
            | "commit" >> beam.Map(drawing.commit, AsSingleton(rows))
        )
        self._facts = committed | "facts" >> beam.Map(_facts, drawing.batch)
        return (
            committed
            | "files" >> beam.FlatMap(list)
            | "to all workers" >> beam.Reshuffle()
            | "read back" >> beam.FlatMap(drawing.reports)
        )


class Count(beam.PTransform):
    """From the reports of an ``Encode`` to the one ``CountedReports`` that they add up to."""

    def __init__(self, encode: Encode) -> None:
        super().__init__()
        if not isinstance(encode, Encode):
            raise InvalidInput(
                f"Count must be given the Encode before it, got {type(encode).__name__}. Write "
                f"values | encode | Count(encode)."
            )
        self._encode = encode

    def expand(self, reports: PCollection) -> PCollection:
        encoder = self._encode.encoder
        return (
            reports
            | "tally" >> beam.CombineGlobally(_Tallying(ReportTally(encoder.text)))
            | "count" >> beam.Map(_counted, AsSingleton(self._encode.facts), encoder)
        )


class WriteCounted(beam.PTransform):
    """Write counted reports, for ``shuffledp analyse``; fewer than the design promises are refused.
    The first file stands: a worker that writes the same once more changes nothing.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__()
        self._path = check_file(Path(path).absolute())

    def expand(self, counted: PCollection) -> PCollection:
        return counted | "write" >> beam.Map(_write, self._path)


class _Draw(beam.DoFn):
    """Each bundle into a file of its own, of which only the name goes on."""

    def __init__(self, drawing: Drawing, encoder: BatchEncoder) -> None:
        self._drawing, self._encoder = drawing, encoder
        self._attempt: Attempt | None = None

    def start_bundle(self) -> None:
        self._attempt = None

    def process(self, batch: Any) -> None:
        if self._drawing.stands():
            return
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


class _Tallying(beam.CombineFn):
    """Sums of reports, a batch at a time."""

    def __init__(self, tally: ReportTally) -> None:
        self._tally = tally

    def create_accumulator(self) -> Sums | None:
        return None

    def add_input(self, held: Sums | None, reports: pa.RecordBatch) -> Sums | None:
        return _plus(held, added_up(self._tally.tally([reports])))

    def merge_accumulators(self, parts: Iterable[Sums | None]) -> Sums | None:
        return reduce(_plus, parts, None)

    def extract_output(self, held: Sums | None) -> Sums | None:
        return held


def _plus(one: Sums | None, other: Sums | None) -> Sums | None:
    if one is None or other is None:
        return one if other is None else other
    return Sums(one.reports + other.reports, one.missing + other.missing, np.add(one.votes, other.votes))


def _check_batch_mode(values: PCollection) -> None:
    """Refuse a stream, which has no end to wait for, and windows, several of which may hold one
    person.
    """
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


def _arrow(batch: Any) -> Any:
    if not isinstance(batch, (pa.RecordBatch, pa.Table)):
        raise InvalidInput(
            f"values must come as Arrow record batches or tables, got {type(batch).__name__}. Read them with "
            f"beam.io.ReadFromParquetBatched, or make batches with pyarrow."
        )
    return batch


def _facts(files: Iterable[Written], batch: str) -> Facts:
    held = list(files)
    return Facts(batch, sum(each.reports for each in held), sum(each.missing for each in held))


def _counted(sums: Sums | None, facts: Facts, encoder: BatchEncoder) -> CountedReports:
    """All reports of the batch and no others, or none at all."""
    if sums is None or sums.reports != facts.reports:
        raise InvalidInput(
            f"Count must be given all {facts.reports:,} reports of its Encode, got "
            f"{0 if sums is None else sums.reports:,}. Put nothing between the two."
        )
    return sums.counted(
        encoder.design, batches=(facts.batch,), secure=True, missing=facts.missing, engine="Apache Beam"
    )


def _write(counted: CountedReports, path: Path) -> str:
    from shuffledp.collection.release.stages import check_counts  # an accountant: whoever only encodes loads none

    check_counts(counted, "what was counted", None)
    text = canonical(counted.as_json()) + "\n"
    if put_once(path, text, mode=0o666) != text:
        raise InvalidInput(f"{str(path)!r} must not exist yet, got one that holds something else. Choose another name.")
    return str(path)
