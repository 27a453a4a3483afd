"""The shares within the groups of a crosstab, as rows."""

from __future__ import annotations

import math
from typing import NamedTuple

from shuffledp.record import Record

__all__ = ["ShareRow", "share_rows"]

TOO_FEW = "too few to say"


class ShareRow(NamedTuple):
    """Of those in its group, the share that is in a cell, with its own interval and the one that
    holds for all at once; all None where too few are in the group to say.
    """

    label: str
    share: float | None
    lower: float | None
    upper: float | None
    all_lower: float | None
    all_upper: float | None

    def words(self) -> tuple[str, str]:
        """The share and its interval, which is rounded outwards.

        >>> ShareRow("north × yes", 0.25, 0.2012, 0.2988, 0.1, 0.4).words()
        ('25.0 %', '20.1 to 29.9 %')
        """
        if self.share is None or self.lower is None or self.upper is None:
            return TOO_FEW, ""
        low, high = math.floor(1000.0 * self.lower) / 10.0, math.ceil(1000.0 * self.upper) / 10.0
        return f"{100.0 * self.share:.1f} %", f"{low:.1f} to {high:.1f} %"


def share_rows(record: Record) -> tuple[ShareRow, ...]:
    """A row for each cell, in the order of the estimates; none where nobody asked."""
    found = record.estimates.shares
    if found is None:
        return ()
    columns = (found.value, found.lower, found.upper, found.all_lower, found.all_upper)
    labels = record.estimates.label[: len(found.value)]
    return tuple(ShareRow(label, *numbers) for label, *numbers in zip(labels, *columns, strict=True))
