"""Opening sealed reports: what a million costs, by one process and by all cores.

    python benchmarks/opening.py [--reports 1000000] [--folder FOLDER]

Sealing them takes longer than opening; a file that is there already is opened again.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

import numpy as np

from shuffledp.collection.network.collection_file import Collection
from shuffledp.collection.network.opening_processes import OnAllCores
from shuffledp.collection.network.opening_tasks import Opener, slices_of
from shuffledp.collection.network.sealed_file import SealedHeader, open_sealed
from shuffledp.collection.network.sealing import AnalystKey, Envelopes
from shuffledp.protocols import Histogram
from shuffledp.protocols.design import Design

KEY = AnalystKey(bytes(range(32)))


def collected(people: int) -> Collection:
    """A question with 16 answers."""
    poll = Histogram(categories=range(16), n=people, epsilon=1.0, delta=1e-8)
    return Collection(design=Design.of(poll), key=KEY.public, shuffler="http://127.0.0.1:8000")


def envelopes(content: bytes, seed: int, people: int) -> list[bytes]:
    """Sealed reports of people who all hold something."""
    collection = Collection.from_bytes(content)
    values = np.random.default_rng(seed).integers(0, 16, people)
    return Envelopes(collection).seal(collection.encoder.encode(values))


def write(path: Path, collection: Collection, people: int) -> None:
    """The file that a shuffler would release."""
    share = 10_000
    sizes = [min(share, people - begun) for begun in range(0, people, share)]
    with ProcessPoolExecutor() as pool:
        made = pool.map(envelopes, [collection.content] * len(sizes), range(len(sizes)), sizes)
        found = sorted(envelope for some in made for envelope in some)
    header = SealedHeader(collection.digest, len(found), Envelopes(collection).length)
    path.write_bytes(header.content + b"".join(found))


def spent() -> float:
    """Seconds of CPU, of this process and of those that have ended."""
    return sum(getrusage(who).ru_utime + getrusage(who).ru_stime for who in (RUSAGE_SELF, RUSAGE_CHILDREN))


def measured(what: str, path: Path, collection: Collection, opening: OnAllCores) -> None:
    """Look the file over, open it, and say what that cost."""
    began, cpu = time.perf_counter(), spent()
    sealed = open_sealed(path)
    slices = slices_of(sealed).slices
    looked = time.perf_counter() - began
    sums = opening(Opener(collection.content, KEY, path, sealed.header), slices)
    wall, cpu = time.perf_counter() - began, spent() - cpu
    assert sums.reports == sealed.header.count
    each = 1e6 * cpu / sums.reports
    print(f"{what:<14} {wall:7.1f} s  {cpu:7.1f} s of CPU, {each:5.1f} us each; looked over in {looked:.1f} s")


def main() -> None:
    """Measure both ways, and say on what."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--reports", type=int, default=1_000_000)
    asked.add_argument("--folder", type=Path)
    given = asked.parse_args()
    collection = collected(given.reports)
    with tempfile.TemporaryDirectory() as temporary:
        path = (given.folder or Path(temporary)) / f"sealed-{given.reports}.bin"
        if not path.exists():
            write(path, collection, given.reports)
        length, load = Envelopes(collection).length, os.getloadavg()[0]
        print(f"{given.reports:,} reports of {length} bytes, {os.cpu_count()} cores, load {load:.1f}")
        measured("all cores", path, collection, OnAllCores())
        measured("one process", path, collection, OnAllCores(processes=1))


if __name__ == "__main__":
    main()
