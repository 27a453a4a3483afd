"""Which envelopes a store has: known by 16 bytes of memory for each, and looked up many at a time.

A fingerprint is two universal hashes of an envelope, with keys that are fresh in every process: no
sender can look for two envelopes that meet. It is a hint for all that: whether an envelope is
really there, is for the store to compare, byte by byte, at the places that are found here.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Marks = NDArray[np.uint64]
CHUNK = 1 << 16  # envelopes that are hashed at a time
FEW = 1 << 12


class _Run(NamedTuple):
    """Fingerprints in ascending order, and the place of each."""

    marks: Marks
    places: NDArray[np.int64]


class Fingerprints:
    """Of envelopes of one length, numbered in the order in which they were added.

    Runs grow as in a merge sort, each at least twice as long as the next: adding costs a logarithm,
    and so does looking up. What was added last, and is few, waits in a dictionary.
    """

    def __init__(self, length: int) -> None:
        self._length = length
        self._words = -(-length // 4)
        self._keys = np.frombuffer(os.urandom(16 * (self._words + 1)), dtype=np.uint64).reshape(2, -1)
        self._runs: list[_Run] = []
        self._last: dict[int, int] = {}
        self.count = 0

    def add(self, marks: Marks) -> None:
        """Number some envelopes, which follow each other and have these fingerprints."""
        places = np.arange(self.count, self.count + len(marks))
        self.count += len(marks)
        if len(marks) < FEW and self._last.keys().isdisjoint(few := marks.tolist()) and len(set(few)) == len(few):
            self._last.update(zip(few, places.tolist(), strict=True))
            if len(self._last) >= FEW:
                marks, places = np.array([*self._last], np.uint64), np.array([*self._last.values()], np.int64)
                self._last.clear()
                self._merge(marks, places)
            return
        self._merge(marks, places)

    def _merge(self, marks: Marks, places: NDArray[np.int64]) -> None:
        while self._runs and len(self._runs[-1].marks) < 2 * len(marks):
            last = self._runs.pop()
            marks, places = np.concatenate([last.marks, marks]), np.concatenate([last.places, places])
        order = np.argsort(marks, kind="stable")  # of runs in order: a merge
        self._runs.append(_Run(marks[order], places[order]))

    def familiar(self, marks: Marks) -> bool:
        """Whether any of these may be known, or is there twice. If not, all are new."""
        if not self._last.keys().isdisjoint(marks.tolist()):
            return True
        ordered = np.sort(marks)
        if np.any(ordered[1:] == ordered[:-1]):
            return True
        for run in self._runs:
            at = np.searchsorted(run.marks, ordered)
            if np.any(run.marks[np.minimum(at, len(run.marks) - 1)] == ordered):
                return True
        return False

    def places(self, marks: Marks) -> list[tuple[int, int]]:
        """Where envelopes with these fingerprints may be: the number of each among those asked for,
        and the place of one that has its fingerprint.
        """
        found = [(asked, self._last[mark]) for asked, mark in enumerate(marks.tolist()) if mark in self._last]
        for run in self._runs:
            begin, end = (np.searchsorted(run.marks, marks, side=side) for side in ("left", "right"))
            for asked in np.flatnonzero(begin < end).tolist():
                found += [(asked, int(place)) for place in run.places[begin[asked] : end[asked]]]
        return found

    def marks(self, joined: bytes) -> Marks:
        """The fingerprints of envelopes that follow each other."""
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
