"""What a crosstab takes, on the command line and as ``sdp.crosstab``."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from shuffledp.domain import as_list
from shuffledp.errors import Argument, InvalidInput, Refusal
from shuffledp.release import options as shared
from shuffledp.release.options import LISTS, Listed, Names, Option, keywords

if TYPE_CHECKING:
    from shuffledp.release.released import Release
    from shuffledp.release.request import Request
    from shuffledp.sampling import Rng


class Crossed(TypedDict, total=False):
    """The values there are in each column."""

    by: Annotated[str | None, Option("Column of groups; the page also shows shares within each.")]
    categories: Annotated[
        Iterable[Listed] | None,
        Option(
            f"{LISTS}; once for each column.",
            kind="texts",
            metavar="FILE|LIST",
            example="yes,no",
            instead=(),
        ),
    ]
    other: Annotated[
        Names | None, Option("Count all other values as this category, in every column or as COLUMN=NAME.", kind="text")
    ]
    missing: Annotated[
        Names | None, Option("Count missing values as this category, in every column or as COLUMN=NAME.", kind="text")
    ]


class Options(
    Crossed, shared.Epsilon, shared.Common, shared.Texts, shared.Titled, shared.Mechanism, shared.Choices, total=False
):
    """How many people have each combination of values."""


def request(rows: dict[str, Any], columns: object, given: dict[str, Any]) -> "Request":
    """The crosstab of several columns that the options describe."""
    from shuffledp.questions.crosstab.question import CrosstabQuestion
    from shuffledp.release.arguments import column_name, hiding_of
    from shuffledp.release.categories import parts_of
    from shuffledp.release.request import Request

    listed = as_list("columns", columns or (), remedy='Pass a list such as ["region", "smoker"].')
    named, by = [str(column_name("columns", each)) for each in listed], column_name("by", given["by"])
    asked = check_columns(named if by is None or by in named else (by, *named))
    parts = parts_of(asked, given["categories"], other=given["other"], missing=given["missing"])
    hiding = hiding_of("crosstab", given)
    all_of, other = tuple(part.all for part in parts), tuple(part.other for part in parts)
    question = CrosstabQuestion(columns=asked, categories=all_of, other=other).checked()
    for part in parts:
        part.checked()
    return Request(
        question=question,
        column=asked,
        missing={name: part.missing for name, part in zip(asked, parts, strict=True) if part.missing is not None},
        origins=tuple(part.origin for part in parts),
        by=by,
        hiding=hiding,
        **rows,
    )


def check_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """Refuse fewer than two columns, and one that is named twice, before anything is read."""
    if len(columns) < 2:
        named = ", ".join(columns) or "none"
        remedy = ("Repeat ", Argument("column"), ", or ask about one column with a histogram.")
        raise InvalidInput(Refusal("a crosstab must have at least two columns", named, remedy))
    if twice := [name for name in columns if columns.count(name) > 1]:
        raise InvalidInput(f"columns must be distinct, got {twice[0]!r} twice. Name each column once.")
    return tuple(columns)


@keywords(Options)
def crosstab(data: object, columns: Iterable[str], *, rng: "Rng" = None, **given: Unpack[Options]) -> "Release":
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
    from shuffledp.release.pipeline import answered

    return answered("crosstab", data, columns, given, rng)
