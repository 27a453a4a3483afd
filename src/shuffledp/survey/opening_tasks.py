"""Slices of a sealed file, opened on all cores of this machine or in any other process. Nothing is
drawn here: the same slice gives the same sums wherever, and however often, it is opened.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from shuffledp.engines.batch import Sums
from shuffledp.errors import InvalidInput
from shuffledp.survey.all_cores import on_all_cores
from shuffledp.survey.envelopes import AnalystKey, SealedFile, SealedHeader, envelopes_of
from shuffledp.tables.reports import legal_rows
from shuffledp.tables.spool import batch_rows

__all__ = [
    "OnAllCores",
    "Opener",
    "Opening",
    "Slice",
    "SlicedFile",
    "slices_of",
]

SLICE = 10_000  # envelopes of a slice, at most: half a second's work


@dataclass(frozen=True, slots=True)
class Slice:
    """Some envelopes of a sealed file, and the SHA-256 of their bytes when it was looked over."""

    begin: int
    end: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class SlicedFile:
    """A sealed file that was looked over: its SHA-256, and that of every slice."""

    digest: str
    slices: tuple[Slice, ...]


def slices_of(sealed: SealedFile) -> SlicedFile:
    """Read a file once: envelopes out of order, or there twice, are refused."""
    whole, feed, slices = hashlib.sha256(sealed.header.content), sealed.in_order(), []
    step = min(SLICE, batch_rows(sealed.header.length))  # long envelopes would not fit into memory
    for begin in range(0, sealed.header.count, step):
        envelopes = list(islice(feed, step))
        content = b"".join(envelopes)
        whole.update(content)
        slices.append(Slice(begin, begin + len(envelopes), hashlib.sha256(content).digest()))
    return SlicedFile(whole.hexdigest(), tuple(slices))


@dataclass(frozen=True, slots=True)
class Opener:
    """Opens slices of one sealed file; ``collection`` is the file of the collection. It holds the
    analyst's ``key``: whoever runs it could read every report of the collection.
    """

    collection: bytes
    key: AnalystKey
    path: Path
    header: SealedHeader

    def __call__(self, part: Slice) -> Sums:
        """What the valid messages of a slice add up to; all others count for nothing."""
        try:
            envelopes = list(SealedFile(self.path, self.header).envelopes(part.begin, part.end))
        except OSError as error:
            raise InvalidInput(
                f"{str(self.path)!r} must lie where every process can read it, got: {error.strerror}. Put it on "
                f"storage that all of them share."
            ) from None
        if hashlib.sha256(b"".join(envelopes)).digest() != part.digest:
            raise InvalidInput(
                f"{str(self.path)!r} must not change while it is opened, and be the same for every process, got other "
                f"bytes. Open it again when nobody is writing there."
            )
        sealing = envelopes_of(self.collection)
        law = sealing.collection.reporter.randomizer
        messages = sealing.opened(envelopes, self.key)
        legal = legal_rows(messages, law.check_reports) if len(messages) else None
        valid = messages if legal is None else messages[legal]
        votes = law.tally(valid) if len(valid) else np.zeros(law.tally_size, dtype=np.int64)
        return Sums(len(valid), 0, votes)


Opening = Callable[[Opener, Sequence[Slice]], Sums]  # where slices are opened, and how many at a time


class OnAllCores:
    """Opens slices by so many ``processes``, or as many as there are cores; ``tick`` is told how
    many envelopes are done.
    """

    def __init__(self, tick: Callable[[int], object] | None = None, *, processes: int | None = None) -> None:
        self._tick, self._processes = tick, processes

    def __call__(self, opener: Opener, slices: Sequence[Slice]) -> Sums:
        """What all slices add up to."""
        found = []
        for part, sums in zip(slices, on_all_cores(opener, slices, processes=self._processes), strict=True):
            found.append(sums)
            if self._tick is not None:
                self._tick(part.end - part.begin)
        return Sums(sum(each.reports for each in found), 0, np.sum([each.votes for each in found], axis=0))
