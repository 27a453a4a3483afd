"""How many people hold each combination of the values of several columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shuffledp.protocols.categories import as_list
from shuffledp.release.answered import answered
from shuffledp.release.arguments import (
    Listed,
    PathLike,
    budget_of,
    column_name,
    parts_of,
    promised,
    reading,
    text_cleaning,
)
from shuffledp.release.crossed import CrossQuestion, crossed_columns
from shuffledp.release.released import Release
from shuffledp.release.terms import Hiding
from shuffledp.sampling import Rng
from shuffledp.tables import Keep
from shuffledp.tables.formats import Format

__all__ = ["crosstab"]


def crosstab(
    data: object,
    columns: Iterable[str],
    *,
    categories: Iterable[Listed] | None = None,
    by: str | None = None,
    epsilon: float,
    delta: float,
    rounds: int = 1,
    honest: float | None = None,
    ledger: PathLike | None = None,
    population: str | None = None,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    other: str | Mapping[str, str] | None = None,
    missing: str | Mapping[str, str] | None = None,
    strip: bool = False,
    ignore_case: bool = False,
    na: str | Iterable[str] = (),
    ids: str | None = None,
    keep: Keep | None = None,
    one_row_per_person: bool = False,
    format: Format | None = None,
    encoding: str | None = None,
    title: str | None = None,
    mechanism: str = "krr",
    slots: int | None = None,
    kept: float | None = None,
    kind: str | None = None,
    light_epsilon0: float | None = None,
    rng: Rng = None,
) -> Release:
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
    listed = as_list("columns", columns, remedy='Pass a list such as ["region", "smoker"].')
    names = [str(column_name("columns", each)) for each in listed]
    group = column_name("by", by)
    asked = crossed_columns(names, group)
    remedy = 'Pass a list with the categories of each column, such as [["north", "south"], ["yes", "no"]].'
    known = [None] * len(asked) if categories is None else as_list("categories", categories, remedy=remedy)
    question = CrossQuestion(
        **reading(data, None, ids=ids, keep=keep, alone=one_row_per_person, format=format, encoding=encoding),
        title=title,
        columns=asked,
        parts=parts_of(asked, known, other=other, missing=missing),
        by=group,
        cleaning=text_cleaning(strip, ignore_case, na),
        hiding=Hiding("crosstab", mechanism, slots=slots, kept=kept, kind=kind, light_epsilon0=light_epsilon0),
    )
    promise = promised(epsilon, delta, rounds, honest)
    return answered(question, promise, budget_of(ledger, population, limit_epsilon, limit_delta), rng)
