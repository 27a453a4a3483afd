"""A guarantee in words: the theorem in use, what it assumes, and the other bounds beside it."""

from __future__ import annotations

from dataclasses import dataclass

from shuffledp.accounting.curves import Bound
from shuffledp.wording import reserved

__all__ = ["Explanation", "Row"]

ALL = "shuffledp compare ... --patience inf"


@dataclass(frozen=True, slots=True)
class Row:
    """One bound on epsilon: which end it bounds, where it comes from, and whether it also holds
    where the assumptions about the law do not.
    """

    side: str
    epsilon: float
    source: str
    unreserved: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """The certified epsilon at ``delta`` and how it came about; ``print`` it."""

    title: str
    delta: float
    bound: Bound
    rows: tuple[Row, ...]
    skipped: tuple[str, ...] = ()
    """The proven bounds that were not computed, as they take long."""

    @property
    def left(self) -> str:
        """Which bounds are missing from the rows, and how to see them."""
        return f"Left out, as they take long: {', '.join(self.skipped)}. For all bounds: {ALL}" if self.skipped else ""

    def source(self, row: Row) -> str:
        """Where a row comes from, and what it rests on that is not proven."""
        only = "" if row.side == "lower" or row.unreserved else reserved(self.bound.assumptions)
        return f"{row.source}, {only}" if only else row.source

    def __str__(self) -> str:
        """The answer in about twenty lines."""
        lines = [
            self.title,
            f"  epsilon lies in [{self.bound.lower:.6g}, {self.bound.upper:.6g}] at delta = {self.delta:g}"
            + (f", {only}" if (only := reserved(self.bound.assumptions)) else ""),
            f"  by the {self.bound.method}",
            "",
            "Every bound that was computed",
            *(f"  {row.side:<6} {row.epsilon:<12.6g} {self.source(row)}" for row in self.rows),
            *([self.left] if self.left else []),
            "",
            "It holds if",
            *(f"  - {assumption}" for assumption in self.bound.assumptions),
        ]
        return "\n".join(lines)

    __repr__ = __str__
