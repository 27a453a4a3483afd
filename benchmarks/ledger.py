"""What a release costs in a ledger that is full already, in CPU seconds of this process."""

from __future__ import annotations

import secrets
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import shuffledp as sdp
from benchmarks.result import Result
from shuffledp.ledger import Entry, Ledger
from shuffledp.ledger.schema import begun_seal, seal_of
from shuffledp.storage.canonical import canonical

RECORDS = 10_000
TARGET = 0.3
WHEN = "2026-01-01T00:00:00+00:00"


def filled(path: Path, entry: Entry, records: int) -> Ledger:
    """A ledger with so many releases of one kind, each with reports of its own, written as
    ``spend`` would and without adding up.
    """
    ledger = Ledger(path)
    last = ledger.spend("p", entry, limit_epsilon=50.0, limit_delta=1e-6).record
    (owner,) = ledger.populations()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        for id in range(2, records + 1):
            text = canonical(replace(entry, batches=(secrets.token_hex(16),)).as_json())
            seal = seal_of(owner, id=id, recorded=WHEN, entry=text, version="0", previous=str(last))
            connection.execute(
                "INSERT INTO releases (id, population, recorded, entry, version, previous, record) VALUES (?, 'p', ?, "
                "?, '0', ?, ?)",
                (id, WHEN, text, last, seal),
            )
            connection.execute("INSERT INTO begun VALUES (?, ?, ?)", (id, WHEN, begun_seal(seal, WHEN)))
            last = seal
        connection.execute("COMMIT")
    return ledger


def spending() -> list[Result]:
    """A release, and what is asked about it, in a ledger of ``RECORDS`` releases."""
    survey = sdp.shuffle(sdp.KRR(k=16, epsilon0=1.0), n=10**9)
    entry = Entry.of(survey, what="histogram", design="0" * 64, epsilon=1.0, delta=1e-6)
    with tempfile.TemporaryDirectory() as folder:
        ledger = filled(Path(folder) / "budget.sqlite", entry, RECORDS)
        spent = _cpu(lambda: ledger.spend("p", entry))
        total = _cpu(lambda: ledger.total("p").epsilon(delta=1e-6))
        more = _cpu(lambda: ledger.more("p", entry))
    what = f"{RECORDS:,} records of one kind"
    return [
        Result(f"{what}: spend", f"{spent:.2f} s", f"at most {TARGET:g} s", spent <= TARGET),
        Result(f"{what}: both ends of the total", f"{total:.2f} s"),
        Result(f"{what}: how many more fit", f"{more:.2f} s"),
    ]


def _cpu(call: Callable[[], object], repeats: int = 3) -> float:
    """The least CPU time of some calls."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best
