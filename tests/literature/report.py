"""The table that `make test` and `make verify` print: one line per bound."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rich.table import Table

WIDTH = 110  # the table needs that much, whatever the terminal has


class Row(NamedTuple):
    """One bound's comparisons, refusals and closest call."""

    name: str
    status: str
    side: str
    comparisons: int
    refused: int
    tightest: float
    violations: int


def table(rows: Iterable[Row]) -> Table:
    """``tightest`` is exact / bound for an upper bound and bound / exact for a lower one: 1 is as tight as can be, and more refutes it."""
    shown = Table(box=None, header_style="", padding=(0, 2, 0, 0))
    shown.add_column("bound", no_wrap=True)
    for name in ("status", "side"):
        shown.add_column(name)
    for name in ("comparisons", "refused", "tightest", "refuted"):
        shown.add_column(name, justify="right")
    for row in sorted(rows):
        tightest = f"{row.tightest:.6g}" if row.tightest >= 1e-4 else f"{row.tightest:.1e}"
        shown.add_row(row.name, row.status, row.side, f"{row.comparisons:,}", f"{row.refused:,}", tightest, f"{row.violations:,}" if row.violations else "")
    return shown
