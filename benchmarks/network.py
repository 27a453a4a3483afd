"""``make network``: how many reports a shuffler takes, how long clients wait, and what it needs,
beside a handler of the same framework and the same server that reads an upload and stores nothing.

``python -m benchmarks.network --page docs/network-measured.md`` measures everybody in turn, prints
the tables and writes the page. Clients (``benchmarks.load``) run beside the shuffler on the same cores.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from pathlib import Path

import httpx
import numpy as np

from benchmarks.load import Came
from shuffledp import Poll
from shuffledp.design import Design
from shuffledp.survey.all_cores import sealed
from shuffledp.survey.collection import Collection
from shuffledp.survey.envelopes import AnalystKey, SealedHeader
from shuffledp.survey.wire import Address
from tests.survey.stores.running_postgres import RunningPostgres, program

ROOT = Path(__file__).resolve().parents[1]
MANY = 10**6
# Connections, reports of an upload, uploads of one measurement.
LOADS = ((32, 1, 20_000), (256, 1, 20_000), (32, 100, 2_000), (32, 1000, 300))


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs: where, and as which process."""

    port: int
    process: int

    def came(self, path: str, *, connections: int, batch: int, reports: int) -> Came:
        """What clients saw."""
        options = {"port": self.port, "path": path, "connections": connections, "batch": batch, "reports": reports}
        call = [sys.executable, "-m", "benchmarks.load", *(f"--{name}={value}" for name, value in options.items())]
        done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        return Came(**json.loads(done.stdout))

    @property
    def cpu(self) -> float:
        """Its CPU seconds so far."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def megabytes(self) -> float:
        """Its memory now."""
        lines = Path(f"/proc/{self.process}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def announced(folder: Path, n: int = 20 * MANY) -> tuple[Collection, AnalystKey]:
    """A collection that has room for everybody."""
    poll = Poll("histogram", categories=["yes", "no"], n=n, honest=1000, epsilon=1.0, delta=1e-9)
    key = AnalystKey.new()
    collection = Collection(design=Design.of(poll), key=key.public, shuffler="http://127.0.0.1:8000")
    folder.mkdir(exist_ok=True)
    (folder / "collection.json").write_bytes(collection.content)
    return collection, key


@contextmanager
def serving(folder: Path, store: str) -> Iterator[Served]:
    """The real command, without a limit on one address."""
    call = [sys.executable, "-m", "shuffledp", "survey", "serve", str(folder / "collection.json"), "--store", store]
    call += ["--port", "0", "--rate", "0", "--json", "--token", str(folder / "token")]
    with subprocess.Popen(call, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            said = process.stdout.readline()
            if not said:
                raise RuntimeError(process.stderr.read())
            yield Served(httpx.URL(json.loads(said)["address"]).port or 0, process.pid)
        finally:
            process.terminate()


@contextmanager
def bare() -> Iterator[Served]:
    """The same server with a handler that reads an upload and stores nothing."""
    call = [sys.executable, "-m", "benchmarks.bare_handler"]
    with subprocess.Popen(call, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Served(int(process.stdout.readline()), process.pid)
        finally:
            process.terminate()


@contextmanager
def stores(folder: Path) -> Iterator[dict[str, str]]:
    """A file, and a database of our own where its server is installed."""
    places = {"SQLite": str(folder / "reports.sqlite")}
    if program("initdb") is None:
        yield places
        return
    database = RunningPostgres(folder=Path(tempfile.gettempdir()))
    try:
        yield places | {"PostgreSQL": database.address()}
    finally:
        database.remove()


Measured = dict[tuple[int, int], tuple[Came, float]]


def under_load(served: Served, path: str) -> Measured:
    """Every load in turn: what clients saw, and the server's microseconds of CPU for a report."""
    found: Measured = {}
    served.came(path, connections=8, batch=1, reports=500)  # everything is loaded then
    for connections, batch, uploads in LOADS:
        before = served.cpu
        came = served.came(path, connections=connections, batch=batch, reports=uploads * batch)
        found[connections, batch] = came, 1e6 * (served.cpu - before) / came.reports
    return found


def filled(served: Served, path: str) -> tuple[float, float]:
    """The server's memory before and after a million reports more, in batches."""
    before = served.megabytes
    served.came(path, connections=32, batch=1000, reports=MANY)
    return before, served.megabytes


@dataclass(frozen=True, slots=True)
class Opened:
    """What it took to open reports: seconds on all cores, CPU seconds of the whole tree."""

    reports: int
    seconds: float
    cpu: float


def opening(folder: Path, reports: int) -> Opened:
    """`shuffledp survey open`, from the sealed file of `reports` to the page."""
    study = folder / "study"
    collection, key = announced(study, n=reports)
    key.write(study / "analyst.key")
    drawn = collection.reporter.encode(np.arange(reports) % 2)
    content = b"".join(sorted(chain.from_iterable(sealed(collection, [drawn], processes=os.cpu_count() or 1))))
    header = SealedHeader.of(collection.digest, reports, len(content) // reports)
    (folder / "sealed.bin").write_bytes(header.content + content)
    call = [
        "-m",
        "shuffledp",
        "survey",
        "open",
        str(study),
        str(folder / "sealed.bin"),
        "--out",
        str(folder / "result"),
    ]
    began, before = time.perf_counter(), os.times()
    subprocess.run([sys.executable, *call], check=True, capture_output=True, cwd=folder)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Opened(reports, time.perf_counter() - began, cpu)


def measure() -> tuple[dict[str, Measured], dict[str, tuple[float, float]], Opened]:
    """Everybody in turn, each in a process of its own."""
    loads: dict[str, Measured] = {}
    memory: dict[str, tuple[float, float]] = {}
    folder = Path(tempfile.mkdtemp())
    try:
        collection, _ = announced(folder)
        path = Address(collection.digest).reports
        with bare() as served:
            loads["bare handler, stores nothing"] = under_load(served, path)
        with stores(folder) as places:
            for name, store in places.items():
                print(name, file=sys.stderr, flush=True)
                with serving(folder, store) as served:
                    loads[name] = under_load(served, path)
                    memory[name] = filled(served, path)
        return loads, memory, opening(folder, MANY)
    finally:
        shutil.rmtree(folder)


def tables(loads: dict[str, Measured], memory: dict[str, tuple[float, float]], opened: Opened) -> list[str]:
    """Markdown."""
    lines, own = [], loads["bare handler, stores nothing"]
    for connections, batch, _ in LOADS:
        title = "single reports" if batch == 1 else f"batches of {batch:,}"
        lines += ["", f"## {title.capitalize()}, {connections} connections", ""]
        lines += ["| | reports per second | beside the bare handler | P50 | P99 | server's CPU for a report |"]
        lines += ["|---|--:|--:|--:|--:|--:|"]
        for name, found in loads.items():
            came, cpu = found[connections, batch]
            ratio = "" if found is own else f"{came.rate / own[connections, batch][0].rate:.2f}"
            waits = f"{came.p50:.1f} ms | {came.p99:.1f} ms"
            lines += [f"| {name} | {came.rate:,.0f} | {ratio} | {waits} | {cpu:.1f} µs |"]
    lines += ["", f"## Memory of the shuffler, before and after {MANY:,} reports more", "", "| | before | after |"]
    lines += ["|---|--:|--:|"]
    lines += [f"| {name} | {before:.0f} MB | {after:.0f} MB |" for name, (before, after) in memory.items()]
    each = 1e6 * opened.cpu / opened.reports
    lines += ["", "## Opening", ""]
    lines += [
        f"`shuffledp survey open` of {opened.reports:,} reports, from sealed file to page: {opened.seconds:.0f} s"
    ]
    lines += [f"on {os.cpu_count()} cores, {opened.cpu:.0f} s of CPU, {each:.0f} µs for a report."]
    return lines


def page(body: list[str]) -> str:
    """docs/network-measured.md."""
    names = ", ".join(f"{name} {version(name)}" for name in ("uvicorn", "starlette", "cryptography"))
    top = [
        "# The network, measured",
        "",
        "How many reports a shuffler takes, beside a handler of the same framework on the same server that reads an",
        "upload and stores nothing. `make network` repeats it and writes this page. The clients ran beside the server,",
        f"on the same {os.cpu_count()} cores ({platform.machine()}; Python {platform.python_version()}, {names}):",
        "a server with cores of its own takes more. Each connection sends an upload, waits until it is acknowledged,",
        "which is after the commit is on the disk, and sends the next. A sealed report is 49 bytes.",
    ]
    return "\n".join([*top, *body]) + "\n"


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.network", description=__doc__)
    parser.add_argument("--page", type=Path, help="the page to write")
    given = parser.parse_args()
    text = page(tables(*measure()))
    print(text)
    if given.page is not None:
        given.page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
