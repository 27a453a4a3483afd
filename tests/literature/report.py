"""The table that `make test` and `make literature` print: one line per bound."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from rich.table import Table

from shuffledp.literature.bounds import Published
from tests.literature.grid import Tally

WIDTH = 110  # the table needs that much, whatever the terminal has


class Row(NamedTuple):
    """One bound's comparisons, answers that could not fail, refusals and closest call."""

    name: str
    status: str
    side: str
    comparisons: int
    trivial: int
    refused: int
    tightest: float  # a logarithm
    violations: int

    @classmethod
    def of(cls, bound: Published, tally: Tally) -> Row:
        """What a bound's comparisons showed."""
        return cls(
            bound.name,
            bound.status,
            bound.side,
            tally.comparisons,
            tally.trivial,
            tally.refused,
            tally.tightest,
            tally.violations,
        )


def table(rows: Iterable[Row]) -> Table:
    """``tightest`` is exact / bound for an upper bound and bound / exact for a lower one: 1 is as
    tight as can be, and more refutes it.
    """
    shown = Table(box=None, header_style="", padding=(0, 2, 0, 0))
    shown.add_column("bound", no_wrap=True)
    for name in ("status", "side"):
        shown.add_column(name)
    for name in ("comparisons", "trivial", "refused", "tightest", "refuted"):
        shown.add_column(name, justify="right")
    for row in sorted(rows):
        counts = [f"{count:,}" for count in (row.comparisons, row.trivial, row.refused)]
        shown.add_row(
            row.name,
            row.status,
            row.side,
            *counts,
            _ratio(row.tightest),
            f"{row.violations:,}" if row.violations else "",
        )
    return shown


def _ratio(log: float) -> str:
    if log > 600.0:
        return "inf" if math.isinf(log) else f"10^{log / math.log(10.0):.0f}"
    if log < -600.0:
        return "" if math.isinf(log) else f"10^{log / math.log(10.0):.0f}"
    return f"{math.exp(log):.6g}" if log > -9.0 else f"{math.exp(log):.1e}"
