"""An attack on a shuffler's disk: whoever has all its files and the released envelopes looks for the
order in which they came, from where, when, and with which code.

Order is looked for wherever a part of an envelope, or of its hash, stands in a file: in the place, in
the number of the page, in the place within the page, in what stands beside it, and in which envelopes
are there at all. A number is a finding beyond seven standard deviations; of a few hundred such numbers
of an innocent disk, one is beyond that less often than once in 10^9 runs.
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from shuffledp.survey.wire import code_text, hash_of_code

KEY = 8  # bytes by which an envelope, a hash or a code is known
SIGNS = 16  # and as text: eight hexadecimal digits stand somewhere in a log by chance
BEYOND = 7.0  # standard deviations
FEW = 50  # envelopes that say nothing yet
PAGES = (4096, 8192)  # of SQLite and PostgreSQL
Y2000 = 946_684_800  # PostgreSQL counts microseconds from here
SHUFFLES = np.random.default_rng(14)


@dataclass(frozen=True)
class Truth:
    """What the attacker would like to know: envelopes as they arrived, the codes that came with them,
    the addresses that sent them, and the first and last second.
    """

    digest: str
    arrived: Sequence[bytes]
    codes: Sequence[bytes] = ()
    addresses: Sequence[str] = ()
    times: tuple[float, float] = (0.0, 0.0)


@dataclass
class Disk:
    """All files below some folders: their bytes, and when they were last written."""

    files: dict[str, bytes] = field(default_factory=dict)
    written: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, *folders: Path, but: Disk | None = None) -> Disk:
        """Everything, ``but`` for what was already there, unchanged."""
        disk = cls()
        for path in (path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()):
            content = path.read_bytes()
            if len(content) >= KEY and (but is None or but.files.get(str(path)) != content):
                disk.files[str(path)], disk.written[str(path)] = content, os.stat(path).st_mtime
        return disk


def findings(disk: Disk, truth: Truth) -> dict[str, list[str]]:
    """What the attacker finds, by kind: order, code, address, time."""
    looked_for = {"order": _order, "code": _codes, "address": _addresses, "time": _times}
    found = {kind: list(look(disk, truth)) for kind, look in looked_for.items()}
    return {kind: places for kind, places in found.items() if places}


# ---- order


def _order(disk: Disk, truth: Truth) -> Iterator[str]:
    parts = {
        "beginnings": [each[:KEY] for each in truth.arrived],
        "ends": [each[-KEY:] for each in truth.arrived],
        "beginnings in hexadecimal": [each.hex()[:SIGNS].encode() for each in truth.arrived],
        "hashes": [hashlib.sha256(each).digest()[:KEY] for each in truth.arrived],
    }
    for name, content in disk.files.items():
        for part, keys in parts.items():
            places, arrivals = _spots(content, keys)
            for statistic, score in _scores(places, arrivals, len(keys)):
                if abs(score) > BEYOND:
                    yield f"{name}: {part}, {statistic}, {score:.1f} standard deviations"


def _spots(content: bytes, keys: Sequence[bytes]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where keys stand in a file, in its order, and which."""
    number, width = {key: at for at, key in enumerate(keys)}, len(keys[0])
    places = [place for place in _candidates(content, keys) if content[place : place + width] in number]
    return np.array(places, dtype=np.int64), np.array(
        [number[content[at : at + width]] for at in places], dtype=np.int64
    )


def _candidates(content: bytes, keys: Iterable[bytes]) -> list[int]:
    """Places where the first two bytes are those of a key."""
    begin = np.zeros(1 << 16, dtype=bool)
    begin[[int.from_bytes(key[:2], "little") for key in keys]] = True
    found = []
    for shift in (0, 1):
        pairs = np.frombuffer(content, dtype="<u2", offset=shift, count=(len(content) - shift) // 2)
        found.append(2 * np.flatnonzero(begin[pairs]) + shift)
    return [int(place) for place in np.sort(np.concatenate(found))]


def _scores(places: NDArray[np.int64], arrivals: NDArray[np.int64], count: int) -> Iterator[tuple[str, float]]:
    """How far from chance, in standard deviations, by everything that a place can say."""
    if not len(places):
        return
    there = np.unique(arrivals)
    if len(there) < count:
        spread = np.sqrt((count + 1) * (count - len(there)) / (12 * len(there)))
        yield "which are there", float((there.mean() - (count - 1) / 2) / spread)
    if len(there) < FEW:
        return
    for which, (places_once, arrived) in {
        "first": (places[np.unique(arrivals, return_index=True)[1]], there),
        "last": (places[::-1][np.unique(arrivals[::-1], return_index=True)[1]], there),
    }.items():
        yield f"{which} place", _spearman(places_once, arrived)
        for size in PAGES:
            yield f"{which} page of {size}", _spearman(places_once // size, arrived)
            yield f"{which} place in a page of {size}", _spearman(places_once % size, arrived)
        yield f"{which} neighbours", _neighbours(arrived[np.argsort(places_once)])


def _spearman(places: NDArray[np.int64], arrivals: NDArray[np.int64]) -> float:
    ranks, other = rankdata(places), rankdata(arrivals)
    if np.ptp(ranks) == 0:
        return 0.0
    return float(np.corrcoef(ranks, other)[0, 1] * np.sqrt(len(places) - 1))


def _neighbours(arrivals: NDArray[np.int64]) -> float:
    """Whether those that stand together came together."""

    def distance(order: NDArray[np.int64]) -> float:
        return float(np.abs(np.diff(order)).mean())

    chance = [distance(SHUFFLES.permutation(arrivals)) for _ in range(100)]
    return float((distance(arrivals) - np.mean(chance)) / np.std(chance))


# ---- codes, addresses, times


def _codes(disk: Disk, truth: Truth) -> Iterator[str]:
    """Random bytes: wherever they stand, it is no chance."""
    hashes = [hash_of_code(truth.digest, code) for code in truth.codes]
    spelled = {
        "codes": truth.codes,
        "codes in hexadecimal": [code.hex().encode() for code in truth.codes],
        "codes as text": [code_text(code).encode() for code in truth.codes],
        "codes as text without dashes": [base64.b32encode(code) for code in truth.codes],
        "hashes": hashes,
        "hashes in hexadecimal": [each.hex().encode() for each in hashes],
    }
    for name, content in disk.files.items():
        for form, texts in spelled.items():
            if texts and len(_spots(content, [text[:SIGNS] for text in texts])[0]):
                yield f"{name}: {form}"


def _addresses(disk: Disk, truth: Truth) -> Iterator[str]:
    """As text; or in four bytes, if several are there: one could be a chance."""
    for name, content in disk.files.items():
        if any(address.encode() in content for address in truth.addresses):
            yield f"{name}: as text"
        packed = [ipaddress.ip_address(address).packed for address in truth.addresses]
        for form in (packed, [each[::-1] for each in packed]):
            if sum(each in content for each in form) > len(form) / 4:
                yield f"{name}: in four bytes"


def _times(disk: Disk, truth: Truth) -> Iterator[str]:
    first, last = truth.times
    if not last:
        return
    for name, content in disk.files.items():
        if any(text in content for second in range(int(first), int(last) + 1) for text in _as_text(second)):
            yield f"{name}: as text"
        for form, hits in _numbers_near(content, first, last).items():
            # Four bytes hit so short a time by chance, though not often.
            if hits >= (20 if form.endswith("4") else 3):
                yield f"{name}: {hits} numbers {form}"
        if first < disk.written[name] < last and len(_spots(content, [each[:KEY] for each in truth.arrived])[0]):
            yield f"{name}: when it was written"


def _as_text(second: int) -> Iterator[bytes]:
    moment = datetime.fromtimestamp(second, UTC)
    for form in ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%d/%b/%Y:%H:%M:%S", "%d/%b/%Y %H:%M:%S"):
        yield moment.strftime(form).encode()
    yield b"%d" % second


def _numbers_near(content: bytes, first: float, last: float) -> Mapping[str, int]:
    """How many numbers are in a file that could be a time, at every place, in either order of bytes."""
    units = {"seconds": (1, 0), "milliseconds": (1000, 0), "microseconds": (10**6, 0), "nanoseconds": (10**9, 0)}
    ways = {form: [(1, 0)] for form in ("<u4", ">u4", "<f8", ">f8")}
    ways |= {form: [*units.values(), (10**6, Y2000)] for form in ("<i8", ">i8")}
    found: dict[str, int] = {}
    for form, scales in ways.items():
        width = np.dtype(form).itemsize
        found[form] = 0
        for shift in range(width):
            count = (len(content) - shift) // width
            numbers = np.frombuffer(content, dtype=form, offset=shift, count=count)
            for scale, since in scales:
                near = (numbers >= (first - since) * scale) & (numbers <= (last - since) * scale)
                found[form] += int(near.sum()) if width == 4 else len(np.unique(numbers[near]))
    return found
