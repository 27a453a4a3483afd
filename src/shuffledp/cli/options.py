"""The options that commands share, and the panels of the help that they stand in."""

from pathlib import Path
from typing import Annotated, Any

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
    "Csv",
    "Delta",
    "Json",
    "MostEpsilon0",
    "OutFile",
    "Plot",
    "ReplaceFile",
    "Target",
    "check_form",
    "flag",
    "number",
    "whole",
]

ONE_REPORT, EVERYONE, QUESTION, ANSWER = (
    "What one user sends",
    "Who reports, and who looks",
    "The question",
    "The answer",
)


def flag(name: str, panel: str, meaning: str, **more: Any) -> Any:
    """An option of one command, as ``option`` is of several."""
    return typer.Option(f"--{name}", help=meaning, rich_help_panel=panel, **more)


def number(name: str, panel: str, meaning: str, *, metavar: str = "NUMBER", **more: Any) -> Any:
    """One that takes a number."""
    return flag(name, panel, meaning, parser=read_number, metavar=metavar, **more)


def whole(name: str, panel: str, meaning: str, **more: Any) -> Any:
    """One that takes a whole number."""
    return flag(name, panel, meaning, parser=read_count, metavar="COUNT", **more)


Delta = Annotated[float, number("delta", QUESTION, "The delta to allow: a small probability, well below 1/n.")]
Target = Annotated[float, number("epsilon", QUESTION, "The epsilon that must not be exceeded.")]
Plot = Annotated[Path | None, flag("plot", ANSWER, "Draw it, as png, svg or pdf.", metavar="FILE")]
Csv = Annotated[Path | None, flag("csv", ANSWER, "Write the table as CSV.", metavar="FILE")]
LATEX = flag("latex", ANSWER, "Print the table for a paper, as LaTeX.")
HONEST = option(
    "honest",
    EVERYONE,
    "How many of the n follow the protocol, as a count or as a share such as 90%; if left out, all. In Python: "
    "honest in shuffle(), least in protocols.",
    parser=read_people,
    metavar="COUNT",
)
ROUNDS = option("rounds", EVERYONE, "How often the same users report; if left out, once.", parser=read_count)
Json = Annotated[bool, flag("json", ANSWER, "Print one JSON object.")]
OutFile = Annotated[Path, flag("out", ANSWER, "The file to write.", metavar="FILE")]
ReplaceFile = Annotated[bool, flag("force", ANSWER, "Replace the file if it exists.")]
MostEpsilon0 = Annotated[
    float | None,
    number("most-epsilon0", QUESTION, "Refuse a design whose single report says more than this, whatever it promises."),
]
AS_JSON = option("as_json", ANSWER, "Print one JSON object.", default=False, flag="json")


def check_form(*, as_json: bool, latex: bool) -> None:
    """Refuse two forms of one answer."""
    if as_json and latex:
        raise InvalidInput("an answer must have one form, got --json and --latex. Leave one out.")
