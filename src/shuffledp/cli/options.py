"""The options that commands share, and the panels of the help that they stand in."""

from pathlib import Path
from typing import Annotated

import typer

from shuffledp.cli.numbers import read_count, read_number, read_people
from shuffledp.cli.sharing import option
from shuffledp.errors import InvalidInput

__all__ = [
    "ANSWER",
    "AS_JSON",
    "EVERYONE",
    "HONEST",
    "LATEX",
    "ONE_REPORT",
    "QUESTION",
    "ROUNDS",
    "SEVERAL",
    "Csv",
    "Json",
    "MostEpsilon0",
    "OutFile",
    "Plot",
    "ReplaceFile",
    "check_form",
]

ONE_REPORT, SEVERAL, EVERYONE, QUESTION, ANSWER = (
    "What one user sends",
    "What one user sends, in several messages or among dummies",
    "Who reports, and who looks",
    "The question",
    "The answer",
)
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw it, as png, svg or pdf.", rich_help_panel=ANSWER)
]
Csv = Annotated[
    Path | None, typer.Option("--csv", metavar="FILE", help="Write the table as CSV.", rich_help_panel=ANSWER)
]
LATEX = typer.Option("--latex", help="Print the table for a paper, as LaTeX.", rich_help_panel=ANSWER)
HONEST = option(
    "honest",
    EVERYONE,
    "How many of the n follow the protocol, as a count or as a share such as 90%; if left out, all. In Python: "
    "honest in shuffle(), least in protocols.",
    parser=read_people,
    metavar="COUNT",
)
ROUNDS = option(
    "rounds", EVERYONE, "How often the same users report; if left out, once.", parser=read_count, metavar="COUNT"
)
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel=ANSWER)]
OutFile = Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.", rich_help_panel=ANSWER)]
ReplaceFile = Annotated[bool, typer.Option("--force", help="Replace the file if it exists.", rich_help_panel=ANSWER)]
MostEpsilon0 = Annotated[
    float | None,
    typer.Option(
        "--most-epsilon0",
        parser=read_number,
        metavar="NUMBER",
        help="Refuse a design whose single report says more than this, whatever it promises.",
        rich_help_panel=QUESTION,
    ),
]
AS_JSON = option("as_json", ANSWER, "Print one JSON object.", default=False, annotation=bool, flag="json")


def check_form(*, as_json: bool, latex: bool) -> None:
    """Refuse two forms of one answer."""
    if as_json and latex:
        raise InvalidInput("an answer must have one form, got --json and --latex. Leave one out.")
