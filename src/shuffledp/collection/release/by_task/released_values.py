"""How many people hold each value, one value, each cell of a crosstab, or a frequent word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.collection.page.crosstabs import grid_of
from shuffledp.collection.page.margins import margins_of, together
from shuffledp.collection.record import Asked, GroupShares, Record
from shuffledp.collection.release.by_task.released_answer import LEVEL, ReleasedAnswer
from shuffledp.figures import DrawnTable, draw_table
from shuffledp.protocols.crosstab import Crossing
from shuffledp.protocols.design import Design
from shuffledp.protocols.estimate import Estimate
from shuffledp.protocols.tasks.crossing import ALL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ReleasedCells", "ReleasedValues"]


class ReleasedValues(ReleasedAnswer):
    """How many people hold each of a few values."""


class ReleasedCells(ReleasedValues):
    """How many people hold each combination of several columns."""

    def beside(self, design: Design, tally: NDArray[np.int64], estimate: Estimate, asked: Asked) -> dict[str, Any]:
        """The shares within the groups, if they were asked for; of a group with too few people,
        none.
        """
        protocol = design.protocol
        if asked.by is None:
            return {}
        assert isinstance(protocol, Crossing)
        known, *columns = protocol.shares(tally, by=asked.by, level=LEVEL)
        value, lower, upper, all_lower, all_upper = (
            tuple(share if said else None for share, said in zip(column.tolist(), known.tolist(), strict=True))
            for column in columns
        )
        shares = GroupShares(value=value, lower=lower, upper=upper, all_lower=all_lower, all_upper=all_upper)
        return {"shares": shares}

    def drawn_whole(self, record: Record) -> bool:
        """A table that is small enough is drawn cell by cell."""
        return grid_of(record).readable

    def figure(self, record: Record, title: str) -> Figure:
        grid, found = grid_of(record), record.estimates
        if not grid.readable:
            return super().figure(record, title)
        margins, known = margins_of(found), float(record.counted.reports)
        table = DrawnTable(
            down=[*grid.down, ALL],
            across=[*grid.across, ALL],
            values=[[known if at is None else found.value[at] for at in row] for row in grid.places],
            errors=[[None if at is None else margins[at] for at in row] for row in grid.places],
            level=found.level,
            together=together(found),
        )
        return draw_table(table, title=title)
