"""Which envelopes a store has: known by 16 bytes of memory for each, and looked up many at a time.

A fingerprint is two universal hashes of an envelope, with keys that are fresh in every process: no
sender can look for two envelopes that meet. It is a hint for all that: whether an envelope is
really there, is for the store to compare, byte by byte, at the places that are found here.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Fingerprints"]

Words = NDArray[np.uint64]
CHUNK = 1 << 16  # envelopes that are hashed at a time


@dataclass(frozen=True, slots=True)
class _Run:
    """Fingerprints in ascending order, and the place of each."""

    marks: Words
    places: NDArray[np.int64]

    def joined(self, other: _Run) -> _Run:
        """Both in one."""
        marks, places = np.concatenate([self.marks, other.marks]), np.concatenate([self.places, other.places])
        order = np.argsort(marks, kind="stable")
        return _Run(marks[order], places[order])


class Fingerprints:
    """Of envelopes of one length, numbered in the order in which they were added.

    Runs grow as in a merge sort, each at least twice as long as the next: adding costs a logarithm,
    and so does looking up.
    """

    def __init__(self, length: int) -> None:
        self._length = length
        self._words = -(-length // 4)
        self._keys = np.frombuffer(os.urandom(16 * (self._words + 1)), dtype=np.uint64).reshape(2, -1)
        self._runs: list[_Run] = []
        self.count = 0

    def add(self, joined: bytes) -> None:
        """Number some envelopes, which follow each other."""
        marks = self._marks(joined)
        order = np.argsort(marks, kind="stable")
        run = _Run(marks[order], self.count + order)
        self.count += len(marks)
        while self._runs and len(self._runs[-1].marks) < 2 * len(run.marks):
            run = self._runs.pop().joined(run)
        self._runs.append(run)

    def places(self, envelopes: Sequence[bytes]) -> list[tuple[int, int]]:
        """Where some of these envelopes may be: the number of each among those asked for, and the
        place of one that has its fingerprint.
        """
        found: list[tuple[int, int]] = []
        if not self._runs or not envelopes:
            return found
        marks = self._marks(b"".join(envelopes))
        for run in self._runs:
            begin, end = (np.searchsorted(run.marks, marks, side=side) for side in ("left", "right"))
            for asked in np.flatnonzero(begin < end).tolist():
                found += [(asked, int(place)) for place in run.places[begin[asked] : end[asked]]]
        return found

    def _marks(self, joined: bytes) -> Words:
        rows: NDArray[Any] = np.frombuffer(joined, dtype=np.uint8).reshape(-1, self._length)
        marks = np.empty(len(rows), dtype=np.uint64)
        for start in range(0, len(rows), CHUNK):
            part = rows[start : start + CHUNK]
            padded = np.zeros((len(part), 4 * self._words), dtype=np.uint8)
            padded[:, : self._length] = part
            words = padded.view("<u4").astype(np.uint64)
            # The upper half of k0 + k1 w1 + ... mod 2^64 is strongly universal
            # (Lemire and Kaser 2014).
            high, low = (words @ keys[1:] + keys[0] for keys in self._keys)
            marks[start : start + CHUNK] = (high & np.uint64(0xFFFFFFFF00000000)) | (low >> np.uint64(32))
        return marks
