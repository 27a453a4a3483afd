"""The command crosstab: several columns at once, from a table to a defended answer."""

from dataclasses import replace
from typing import Any

from shuffledp.cli.answering import answer
from shuffledp.cli.asking import ASKED, Asking
from shuffledp.cli.listing import RUN, app, examples
from shuffledp.cli.options import COLUMNS, HIDING, LISTS, TABLE, option, sharing
from shuffledp.cli.release import PROMISED

__all__ = ["crosstab"]

CROSSTAB_OPTIONS = [
    LISTS,
    option(
        "other",
        TABLE,
        "Count all other values as this category, in every column or as COLUMN=NAME; if left out, they are refused.",
    ),
    option(
        "missing",
        TABLE,
        "Count missing values as this category, in every column or as COLUMN=NAME; if left out, rows with a missing "
        "value do not take part.",
    ),
    option("by", TABLE, "Tell shares within the groups of this column too."),
]


def _crossing(
    *,
    column: list[str] | None,
    categories: list[str] | None,
    other: str | None,
    missing: str | None,
    by: str | None,
    mechanism: str,
    **options: Any,
) -> tuple[Asking, dict[str, Any]]:
    """The shared options, and those of several columns."""
    from shuffledp.release.crossed import check_columns, crossed_columns, read_parts
    from shuffledp.release.terms import Hiding

    columns = check_columns(crossed_columns(column or (), by))
    hiding = Hiding("crosstab", mechanism)
    parts = read_parts(columns, categories or (), other=other, missing=missing)
    asking = Asking.of(column=None, **options)
    return replace(asking, categories=parts[0]), {"columns": columns, "parts": parts, "by": by, "hiding": hiding}


@app.command(
    "crosstab",
    rich_help_panel=RUN,
    epilog=examples(
        f"crosstab people.csv --column region --column smoker --categories regions.txt --categories yes,no {PROMISED} "
        f"--out result",
        f"crosstab people.csv --column smoker --by region --categories region=regions.txt --categories yes,no "
        f"{PROMISED} --dry-run",
    ),
)
@sharing([COLUMNS, *CROSSTAB_OPTIONS, HIDING, *(each for each in ASKED if each[0] != "column")], _crossing)
def crosstab(given: tuple[Asking, dict[str, Any]]) -> None:
    """How many people hold each combination of several columns' categories, with all sums; with
    --by, shares within groups.
    """
    from shuffledp.release.crossed import CrossQuestion

    asking, asked = given
    answer(asking, CrossQuestion, **asked)
