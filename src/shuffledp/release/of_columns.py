"""How many people hold each combination of the values of several columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

from shuffledp.domain import as_list
from shuffledp.release.answered import answered
from shuffledp.release.arguments import column_name, hiding_of, parts_of
from shuffledp.release.crossed import CrossRequest, check_columns, crossed_columns
from shuffledp.release.options import CrosstabOptions, keywords
from shuffledp.release.released import Release
from shuffledp.release.request import Request
from shuffledp.sampling import Rng

__all__ = ["crosstab"]


def _crosstab(read: dict[str, Any], columns: object, given: dict[str, Any]) -> Request:
    listed = as_list("columns", columns or (), remedy='Pass a list such as ["region", "smoker"].')
    group = column_name("by", given["by"])
    asked = check_columns(crossed_columns([str(column_name("columns", each)) for each in listed], group))
    return CrossRequest(
        **read,
        title=given["title"],
        columns=asked,
        parts=parts_of(asked, given["categories"], other=given["other"], missing=given["missing"]),
        by=group,
        hiding=hiding_of("crosstab", given),
    )


@keywords(CrosstabOptions, _crosstab)
def crosstab(data: object, columns: Iterable[str], *, rng: Rng = None, **given: Unpack[CrosstabOptions]) -> Release:
    """How many people hold each combination of the categories of several ``columns``, with all sums
    over some of them.

    ``categories`` has an entry for each column, as ``histogram`` takes it. ``other`` and
    ``missing`` are one name for all columns, or names by column, such as {"region": "elsewhere"}.
    With ``by``, a column, shares within its groups are told beside the counts; it is added to the
    columns if it is not among them. A row without a value in any column is left out, unless that
    column counts it. Everything else is as for ``histogram``.

    >>> import pyarrow as pa
    >>> rows = {"region": ["north", "south"] * 2000, "smoker": ["no", "no", "yes", "no"] * 1000}
    >>> table = crosstab(
    ...     pa.table(rows),
    ...     ["region", "smoker"],
    ...     categories=[["north", "south"], ["yes", "no"]],
    ...     epsilon=1.0,
    ...     delta=1e-6,
    ... )
    >>> row = table.estimates["north × yes"]
    >>> abs(row.estimate - 1000) < 6 * row.stderr, len(table.estimates)
    (True, 8)
    """
    return answered(_crosstab, data, columns, given, rng)
