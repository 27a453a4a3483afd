"""What runs on Beam's workers: drawing, committing, adding up, writing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.windowed_value import WindowedValue

from shuffledp.engines.batch import BatchEncoder, ReportTally, Sums, added_up
from shuffledp.engines.beam_commit import Attempt, Drawing, Written, put_once
from shuffledp.engines.repeated_ids import IdShares, check_single
from shuffledp.errors import InvalidInput
from shuffledp.storage.canonical import canonical
from shuffledp.tables import CountedReports

__all__ = ["Draw", "Tallying", "as_arrow", "commit", "count", "write_once"]

Gathered = Mapping[str, Iterable[Any]]


class Draw(beam.DoFn):
    """Each bundle into a file of its own, of which only the name goes on. Fingerprints of ids go on
    beside it: a bundle that counts twice has all of them twice.
    """

    def __init__(self, drawing: Drawing, encoder: BatchEncoder, shares: IdShares | None) -> None:
        self._drawing, self._encoder, self._shares = drawing, encoder, shares
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


class Tallying(beam.CombineFn):
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


def count(added: Gathered, encoder: BatchEncoder, batch: str | None) -> CountedReports:
    """All reports of the batch and no others, or none at all."""
    sums: list[Sums] = list(added["sums"])
    drawn: list[Written] = list(added["parts"])
    counted, expected = sum(each.reports for each in sums), sum(each.reports for each in drawn)
    if not expected:
        raise InvalidInput("the column must hold at least one value, got none. Check that this is the right table.")
    if counted != expected:
        raise InvalidInput(
            f"Count must be given all {expected:,} reports of its Encode, got {counted:,}. Put nothing between the two."
        )
    whole = replace(sums[0], missing=sum(each.missing for each in drawn))
    return encoder.counted(whole, batch=batch, engine="Apache Beam")


def write_once(counted: CountedReports, path: Path) -> str:
    """Seal what was counted, unless the same is sealed already."""
    from shuffledp.release.stages import check_counts  # an accountant: whoever only encodes loads none

    check_counts(counted, "what was counted", None)
    text = canonical(counted.as_json()) + "\n"
    if put_once(path, text, mode=0o666) != text:
        raise InvalidInput(f"{str(path)!r} must not exist yet, got one that holds something else. Choose another name.")
    return str(path)
