"""Where the check-ins of a map come from: the public Gowalla file if the user has it, else a city
that is made up and says so.

The paper names its map (Gowalla; "a northern part of San Francisco and a part of Paris") but our
copy has neither boxes nor cells nor counts: those are ours.
"""

from __future__ import annotations

import gzip
import hashlib
import math
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput, Refusal, check_count, check_finite

FIELDS = "user, check-in time, latitude, longitude and location id, separated by tabs"
CHUNK = 1 << 24  # bytes of the file at a time
HUBS = 40  # places that people gather around, the largest first, their weights falling as 1 / rank
BACKGROUND = 0.08  # share of check-ins that follow no hub


class Unreadable(InvalidInput):
    """The user's file is missing, or is not what it should be: the file is to blame, and not the
    experiment.
    """


@dataclass(frozen=True, slots=True)
class Box:
    """A part of the map between two parallels and two meridians, cut into ``rows`` by ``columns``
    cells; row 0 is the southernmost.
    """

    south: float
    north: float
    west: float
    east: float
    rows: int
    columns: int

    def __post_init__(self) -> None:
        for low, high, most in (("south", "north", 90.0), ("west", "east", 180.0)):
            degrees = "Coordinates are in degrees."
            first, last = (check_finite(name, getattr(self, name), remedy=degrees) for name in (low, high))
            if not -most <= first < last <= most:
                rule, got = f"{low} and {high} must increase from -{most:g} to {most:g}", f"{first!r} and {last!r}"
                raise InvalidInput(Refusal(rule, got, "Swap or correct them."))
        for name in ("rows", "columns"):
            check_count(name, getattr(self, name), least=1, remedy="It counts the cells along one side.")

    @property
    def cells(self) -> int:
        """How many cells there are: the k of k-RR."""
        return self.rows * self.columns

    def count(self, latitudes: Floats, longitudes: Floats) -> NDArray[np.int64]:
        """How many of the points lie in each cell. South and west edges belong to a cell; points
        outside the box count nowhere.

        >>> Box(0.0, 2.0, 0.0, 3.0, rows=2, columns=3).count(
        ...     np.array([0.5, 1.0, 9.0]), np.array([0.5, 2.9, 0.5])
        ... ).tolist()
        [[1, 0, 0], [0, 0, 1]]
        """
        row = np.floor((latitudes - self.south) / (self.north - self.south) * self.rows)
        column = np.floor((longitudes - self.west) / (self.east - self.west) * self.columns)
        inside = (row >= 0) & (row < self.rows) & (column >= 0) & (column < self.columns)
        cell = (row[inside] * self.columns + column[inside]).astype(np.int64)
        return np.bincount(cell, minlength=self.cells).reshape(self.rows, self.columns)


def read_gowalla(path: str | os.PathLike[str], box: Box) -> NDArray[np.int64]:
    """Check-ins in each cell of ``box``, from the SNAP dump of Gowalla: lines of five fields
    separated by tabs, gzipped or not.

    A few lines of the dump have coordinates that are nowhere on Earth; they are outside every box.
    A line that has not five fields, or whose coordinates are not numbers, is refused with its
    number, as the file is then not what it seems to be.
    """
    return _read(Path(path), [box])[0]


def described(path: str | os.PathLike[str]) -> str:
    """The user's file by name and content, so that figures of another file are not taken for those
    of this one.
    """
    if not os.path.isfile(path):  # False also for a name too long, which Path.is_file raises
        remedy = "Name the SNAP collection's loc-gowalla_totalCheckins.txt, or its .gz."
        raise Unreadable(Refusal("the check-ins must be in a file", repr(os.fspath(path)), remedy))
    name = os.fsencode(os.path.basename(path)).decode("utf-8", "backslashreplace")
    try:
        with open(path, "rb") as file:
            return f"check-ins of {name} (SHA-256 {hashlib.file_digest(file, 'sha256').hexdigest()[:16]})"
    except OSError as error:
        remedy = "Check its permissions, or download it again."
        raise Unreadable(f"{os.fspath(path)!r} must be readable, got: {error}. {remedy}") from None


def _read(path: Path, boxes: Sequence[Box]) -> list[NDArray[np.int64]]:
    """The counts of several boxes in one pass."""
    described(path)
    found = [np.zeros((box.rows, box.columns), dtype=np.int64) for box in boxes]
    try:
        for first, lines in _chunks(path):
            places = _coordinates(lines, first, path)
            for counts, box in zip(found, boxes, strict=True):
                counts += box.count(*places)
    except (OSError, EOFError, zlib.error) as error:
        remedy = "It may have been cut off; download it again."
        raise Unreadable(f"{str(path)!r} must be readable, got: {error}. {remedy}") from None
    for counts, box in zip(found, boxes, strict=True):
        if not counts.any():
            where = f"latitude {box.south:g} to {box.north:g}, longitude {box.west:g} to {box.east:g}"
            rule = f"{str(path)!r} must have check-ins in the box ({where})"
            raise Unreadable(Refusal(rule, "none", "Take a file of check-ins there."))
    return found


def _chunks(path: Path) -> Iterator[tuple[int, list[bytes]]]:
    """Some lines at a time, with the number of the first."""
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    with gzip.open(path) if packed else path.open("rb") as file:
        number = 1
        while lines := file.readlines(CHUNK):
            yield number, lines
            number += len(lines)


def _coordinates(lines: Sequence[bytes], first: int, path: Path) -> tuple[Floats, Floats]:
    fields = b"\t".join(lines).split(b"\t")  # of all lines at once: millions of them take seconds
    if {line.count(b"\t") for line in lines} == {4} and all(b"T" in time for time in fields[1::5]):
        try:
            latitudes, longitudes = (np.array(list(map(float, fields[place::5]))) for place in (2, 3))
            if np.isfinite(latitudes).all() and np.isfinite(longitudes).all():
                return latitudes, longitudes
        except ValueError:
            pass  # named below
    number, line = next((first + i, line) for i, line in enumerate(lines) if not _is_check_in(line.split(b"\t")))
    shown = line[:60].decode("utf-8", "replace").rstrip("\n")
    raise Unreadable(f"line {number} of {path.name!r} must be {FIELDS}, got {shown!r}. Correct or remove the line.")


def _is_check_in(row: Sequence[bytes]) -> bool:
    try:
        return len(row) == 5 and b"T" in row[1] and math.isfinite(float(row[2])) and math.isfinite(float(row[3]))
    except ValueError:
        return False


def synthetic_city(box: Box, *, seed: int, water: Literal["coast", "river"]) -> Floats:
    """The share of check-ins in each cell of a city that does not exist: hubs of Zipf's weights
    around a centre, venues that differ, and water without any.

    The same arguments give the same city.
    """
    rng = np.random.default_rng(seed)
    y, x = np.meshgrid(*((np.arange(cells) + 0.5) / cells for cells in (box.rows, box.columns)), indexing="ij")
    if water == "coast":
        wet = (x < 0.07 + 0.03 * np.sin(9.0 * y)) | (y > 0.93 - 0.05 * np.sin(7.0 * x)) | (x + 0.25 * y > 1.12)
        centre = (0.68, 0.74)
    else:
        centre, wet = (0.52, 0.5), np.abs(y - 0.42 - 0.16 * np.sin(5.5 * x - 0.6)) < 0.35 / box.rows
    density = np.zeros((box.rows, box.columns))
    for rank in range(HUBS):
        away = rng.normal(0.0, 0.05 + 0.22 * min(1.0, rank / 10.0), size=2)
        width = rng.uniform(0.02, 0.07)
        near = np.exp(-((y - centre[0] - away[0]) ** 2 + (x - centre[1] - away[1]) ** 2) / (2.0 * width * width))
        density += near / (3.0 + rank) / max(near.sum(), 1.0)
    density = density / density.sum() + BACKGROUND / box.cells
    density *= rng.lognormal(0.0, 0.5, size=density.shape)
    density[wet] = 0.0
    return np.asarray(density / density.sum())


@dataclass(frozen=True, slots=True)
class City:
    """A box with a name, and the made-up city that stands in for it."""

    name: str
    box: Box
    seed: int
    water: Literal["coast", "river"]

    def shares(self, gowalla: str | None) -> Floats:
        """The share of check-ins in each cell, row after row: of the file if there is one, else of
        the synthetic city.
        """
        if gowalla is None:
            return synthetic_city(self.box, seed=self.seed, water=self.water).ravel()
        counts = self.check_ins(gowalla)
        return np.asarray(counts / counts.sum())

    def check_ins(self, gowalla: str) -> NDArray[np.int64]:
        """The check-ins of the file in each cell, row after row."""
        path = Path(gowalla)
        return _file_counts(path, path.stat().st_mtime_ns if os.path.isfile(path) else 0)[self.name].ravel()


@lru_cache(maxsize=1)
def _file_counts(path: Path, changed: int) -> dict[str, NDArray[np.int64]]:  # noqa: ARG001 - a file that changed is read again
    found = _read(path, [city.box for city in CITIES])
    return {city.name: counts for city, counts in zip(CITIES, found, strict=True)}


CITIES = (
    City("San Francisco", Box(37.72, 37.81, -122.52, -122.38, rows=16, columns=20), seed=1, water="coast"),
    City("Paris", Box(48.82, 48.90, 2.25, 2.42, rows=10, columns=14), seed=2, water="river"),
)
