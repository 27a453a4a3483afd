"""Every option that commands share, declared once, and the panels of the help that they stand in.

An option of one command is a ``flag`` in its signature; those of several are an ``option`` each,
and ``sharing`` hands them to a command as one object.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from shuffledp.cli.numbers import read_count, read_number, read_people
from shuffledp.errors import InvalidInput

Option = tuple[str, inspect.Parameter]

ONE_REPORT, EVERYONE, QUESTION, ANSWER = (
    "What one user sends",
    "Who reports, and who looks",
    "The question",
    "The answer",
)
TABLE, MESSY, BUDGET, ENGINE = "The table", "If the table is messy", "The budget", "Where the data are"

# What the help calls a value, by its type or by what reads it.
METAVARS: Mapping[Any, str | None] = {
    str: "NAME",
    list[str]: "NAME",
    Path: "FILE",
    bool: None,
    read_count: "COUNT",
    read_number: "NUMBER",
    read_people: "COUNT",
}


def flag(name: str, panel: str, meaning: str, **more: Any) -> Any:
    """An option as a command declares it."""
    return typer.Option(..., f"--{name}", help=meaning, rich_help_panel=panel, **more)


def number(name: str, panel: str, meaning: str, *, metavar: str = "NUMBER", **more: Any) -> Any:
    """One that takes a number."""
    return flag(name, panel, meaning, parser=read_number, metavar=metavar, **more)


def whole(name: str, panel: str, meaning: str, **more: Any) -> Any:
    """One that takes a whole number."""
    return flag(name, panel, meaning, parser=read_count, metavar="COUNT", **more)


def shared(name: str, written: Any, kind: Any = str, default: object = None) -> Option:
    """What was written for one command, for several, under the name that they see."""
    default = False if kind is bool else inspect.Parameter.empty if default is ... else default
    kind = Annotated[kind, written]
    return name, inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def option(
    name: str,
    panel: str,
    meaning: str,
    kind: Any = str,
    *,
    default: object = None,
    called: str | None = None,
    metavar: str | None = None,
) -> Option:
    """An option of several commands; ``kind`` is its type, or what reads it. A switch is off."""
    parser = kind if inspect.isfunction(kind) else None
    more = {"parser": parser, "metavar": metavar or METAVARS[kind], "show_default": False}
    written = flag(called or name.replace("_", "-"), panel, meaning, **more)
    return shared(name, written, str if parser else kind, default)


def argument(name: str, metavar: str, meaning: str, kind: Any = Path) -> Option:
    """One argument, likewise."""
    return shared(name, typer.Argument(metavar=metavar, help=meaning, show_default=False), kind, ...)


def sharing(
    options: Iterable[Option], build: Callable[..., object]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the shared options beside its own; it receives what ``build`` makes of them
    first. The last shared one is listed last; of two with one name, the second takes the place of
    the first.
    """
    known = dict(options)

    def wrap(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**given: Any) -> None:
            built = build(**{name: given.pop(name) for name in known})
            command(built, **given)

        built, *own = inspect.signature(command).parameters.values()
        command.__annotations__.pop(built.name)  # its type may be known to the type checker alone
        run.__annotations__ = hints = get_type_hints(command, include_extras=True)
        *most, last = known.values()
        keyword = inspect.Parameter.KEYWORD_ONLY
        mine = [each.replace(kind=keyword, annotation=hints[each.name]) for each in own]
        run.__signature__ = inspect.Signature([*most, *mine, last])  # type: ignore[attr-defined]
        return run

    return wrap


# The table: which column, whose rows, and what is forgiven.

SOURCES = argument("source", "FILE...", "A CSV, Parquet or Arrow file, or - for standard input.", list[str])
TABLE_OPTIONS = [
    option("column", TABLE, "The column to ask about; a table with only one needs no name."),
    option("format", TABLE, "One of csv, parquet, arrow; if left out, the file's first bytes decide."),
    option("ids", TABLE, "The column that says whose row it is: one row of each person takes part.", called="id"),
    option("keep", TABLE, "Which row of a person with several values to keep: first or random; if left out, first."),
    option(
        "one_row_per_person",
        TABLE,
        "Every row is another person, though a column that is named like an id repeats.",
        bool,
    ),
]
COLUMNS = option(
    "column",
    TABLE,
    "The column to ask about, or each of those of a crosstab; a table with only one needs no name.",
    list[str],
)
MESSY_OPTIONS = [
    option("strip", MESSY, "Ignore spaces before and after a text.", bool),
    option("ignore_case", MESSY, "Ignore upper and lower case, and how accents are composed.", bool),
    option("na", MESSY, "Texts that mean a missing value, such as NA,N/A.", metavar="LIST"),
    option("decimal", MESSY, "The decimal mark of numbers: . or ,", metavar="MARK"),
    option("thousands", MESSY, "The thousands separator, such as . in 1.234,5.", metavar="MARK"),
    option("encoding", MESSY, "For CSV: the encoding of its text, such as latin-1 or utf-16; if left out, utf-8."),
]
MASTER = option(
    "master", ENGINE, "Where Spark runs, such as spark://host:7077; if left out, local[*].", metavar="ADDRESS"
)
ENGINE_OPTIONS = [
    option("engine", ENGINE, "Run it on an engine: spark. FILE may then be several tables, folders or patterns."),
    MASTER,
    option(
        "work",
        ENGINE,
        "The folder for what Spark draws, on storage that all its workers share; one that was committed is gone on "
        "with. If left out, one beside --out, which is removed at the end.",
        metavar="FOLDER",
    ),
]

# Which answers count: categories, bounds, or bins.

MISSING = flag("missing", TABLE, "Count missing values as this category.", metavar="NAME")
MissingName = Annotated[str | None, MISSING]
CATEGORY_OPTIONS = [
    option("categories", TABLE, "A file with one category per line, or a list such as yes,no.", metavar="FILE|LIST"),
    option("domain", TABLE, "The number of categories, if they are 0, 1, 2, and so on.", read_count),
    option("other", TABLE, "Count all other values as this category; if left out, they are refused."),
    option("missing", TABLE, "Count missing values as this category; if left out, those rows do not take part."),
]
LISTS = option(
    "categories",
    TABLE,
    "A file with one category per line, or a list such as yes,no; for a crosstab once for each column.",
    list[str],
    metavar="FILE|LIST",
)
HIDING = option(
    "mechanism",
    QUESTION,
    "How answers are hidden: krr, noise in every report; of a histogram also hadamard, hash, subset or oue, for very "
    "many categories; fakes, that people send; or dummies, that the shuffler adds. If left out, krr, which asks for "
    "the least trust.",
    default="krr",
    metavar="NAME",
)
LOWER = number("lower", TABLE, "The smallest possible value, known without the data.")
UPPER = number("upper", TABLE, "The largest possible value, known without the data.")
BOUND_OPTIONS = [shared("lower", LOWER), shared("upper", UPPER)]
BIN_OPTIONS = [
    option(
        "bins",
        TABLE,
        "How many bins to cut the range into; if left out 64, or one for each whole number of a short range.",
        read_count,
        metavar="N",
    ),
    option("scale", TABLE, "linear, or log: bins that grow with the value, as incomes want them."),
    option("cuts", TABLE, "Every cut point instead, such as 0,1000,2000,5000.", metavar="LIST"),
    option("at", QUESTION, "The quantiles to ask for; 0.5 is the median.", default="0.5", metavar="LIST"),
    option(
        "ranges",
        QUESTION,
        "How many people are from one cut point to below another, such as 18:65; may be repeated.",
        list[str],
        called="range",
        metavar="LOW:HIGH",
    ),
]
# Of a question that is settled before there is a table.
LowerBound = Annotated[float | None, number("lower", TABLE, "For a mean or quantiles: the smallest possible value.")]
UpperBound = Annotated[float | None, number("upper", TABLE, "For a mean or quantiles: the largest possible value.")]
Clipping = Annotated[bool, flag("clip", TABLE, "For a mean: move values outside the range to the nearest bound.")]
Designed = Annotated[Path, flag("design", QUESTION, "What `shuffledp design` wrote.", metavar="FILE")]
MostEpsilon0 = Annotated[
    float | None,
    number("most-epsilon0", QUESTION, "Refuse a design whose single report says more than this, whatever it promises."),
]

# What is promised to whom, and whose budget that takes.

Delta = Annotated[float, number("delta", QUESTION, "The delta to allow: a small probability, well below 1/n.")]
Target = Annotated[float, number("epsilon", QUESTION, "The epsilon that must not be exceeded.")]
HONEST = option(
    "honest",
    EVERYONE,
    "How many of the n follow the protocol, as a count or as a share such as 90%; if left out, all.",
    read_people,
)
ROUNDS = option("rounds", EVERYONE, "How often the same users report; if left out, once.", read_count)
PROMISE_OPTIONS = [
    option("epsilon", QUESTION, "The epsilon to promise, for all rounds together.", read_number, default=...),
    option("delta", QUESTION, "The delta to promise: a small probability, well below 1/n.", read_number, default=...),
    HONEST,
    ROUNDS,
]
# Of a histogram in place of --epsilon; of a sum or a mean with the last one.
NOISE = [
    option("epsilon", QUESTION, "The epsilon to promise, for all rounds; or give --gamma or --epsilon0.", read_number),
    option("gamma", QUESTION, "In place of --epsilon: the probability that a report is uniformly random.", read_number),
    option("epsilon0", QUESTION, "In place of --epsilon: the epsilon0 of one report.", read_number),
    option(
        "k",
        QUESTION,
        "For a mean or a sum, with --gamma or --epsilon0: the steps of the grid that numbers are rounded to.",
        read_count,
    ),
]
BUDGET_OPTIONS = [
    option("ledger", BUDGET, "Record the release in this SQLite file, before anything is written.", Path),
    option("population", BUDGET, "Whose budget this is, such as app-users."),
    option("limit_epsilon", BUDGET, "What all releases about them may add up to.", read_number),
    option("limit_delta", BUDGET, "The delta of that limit.", read_number),
]

# Where the answer goes, and in which form.

FOLDER = flag("out", ANSWER, "The folder to write; it must not exist yet.", metavar="FOLDER")
NewFolder = Annotated[Path, FOLDER]
OUTPUT_OPTIONS = [shared("out", FOLDER, Path), option("force", ANSWER, "Replace the folder if it exists.", bool)]
OutFile = Annotated[Path, flag("out", ANSWER, "The file to write.", metavar="FILE")]
ReplaceFile = Annotated[bool, flag("force", ANSWER, "Replace the file if it exists.")]
TITLE = option("title", ANSWER, "A headline for the page.", metavar="TEXT")
Plot = Annotated[Path | None, flag("plot", ANSWER, "Draw it, as png, svg or pdf.", metavar="FILE")]
Csv = Annotated[Path | None, flag("csv", ANSWER, "Write the table as CSV.", metavar="FILE")]
LATEX = flag("latex", ANSWER, "Print the table for a paper, as LaTeX.")
JSON = flag("json", ANSWER, "Print one JSON object.")
Json = Annotated[bool, JSON]
AS_JSON = shared("as_json", JSON, bool)


def check_form(*, as_json: bool, latex: bool) -> None:
    """Refuse two forms of one answer."""
    if as_json and latex:
        raise InvalidInput("an answer must have one form, got --json and --latex. Leave one out.")
