"""The options of commands: those of a question as ``release.options`` declares them, and those that
only commands have.

A command is given its options as keywords, under their names.
"""

import inspect
from collections.abc import Container, Mapping
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from shuffledp.cli.app import Given
from shuffledp.errors import InvalidInput, spelled
from shuffledp.release import options as all_options
from shuffledp.release.options import Option as Declared
from shuffledp.release.options import options_of

ONE_REPORT, ENGINE = "What one user sends", "Where the data are"
EVERYONE, QUESTION, ANSWER = all_options.EVERYONE, all_options.QUESTION, all_options.ANSWER
TABLE, MESSY = all_options.TABLE, all_options.MESSY


def read_number(text: str) -> float:
    """A real number.

    >>> read_number("1e-6")
    1e-06
    """
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number. Write it as 0.5 or 1e-6.") from None


def read_numbers(name: str, text: str) -> list[float]:
    """Numbers with commas between them.

    >>> read_numbers("--at", "0.1, 0.5")
    [0.1, 0.5]
    """
    try:
        return [float(each) for each in text.split(",")]
    except ValueError:
        raise InvalidInput(
            f"{name} must be numbers with commas between them, got {text!r}. Write it as 0.1,0.5,0.9."
        ) from None


def read_range(text: str) -> tuple[float, float]:
    """Two numbers with a colon between them.

    >>> read_range("18:65")
    (18.0, 65.0)
    """
    low, colon, high = text.partition(":")
    try:
        if colon:
            return float(low), float(high)
    except ValueError:
        pass
    raise InvalidInput(f"--range must be two cut points with a colon between them, got {text!r}. Write it as 18:65.")


def read_count(text: str) -> int:
    """A whole number, however it is written.

    >>> read_count("1e6"), read_count("10_000"), read_count("10,000")
    (1000000, 10000, 10000)
    """
    try:
        value = Decimal(str(text).replace(",", ""))  # a default is a number already
        if value.is_finite() and value.adjusted() <= 30 and value == value.to_integral_value():
            return int(value)
    except InvalidOperation:
        pass
    raise typer.BadParameter(f"{text!r} is not a whole number of reasonable size. Write it as 10000 or 1e4.")


def read_sizes(text: str) -> int | str:
    """How many categories: a count, or one for each of several columns.

    >>> read_sizes("1e3"), read_sizes("4x3")
    (1000, '4x3')
    """
    return text if "x" in text.lower() else read_count(text)


def read_people(text: str) -> int | Fraction:
    """How many users: a count, or a share of them all.

    >>> read_people("900"), read_people("90%")
    (900, Fraction(9, 10))
    """
    if not text.endswith("%"):
        with suppress(InvalidOperation):
            if Decimal("1e-9") < (part := Decimal(text)) < 1:
                percent = (part * 100).normalize()
                raise typer.BadParameter(f"{text!r} is not a count. Write that share of the users as {percent:f}%.")
        return read_count(text)
    from shuffledp.randomizers.parameters import read_fraction

    try:
        share = read_fraction(text[:-1]) / 100
        if 0 < share <= 1:
            return share
    except (ValueError, ArithmeticError):
        pass
    raise typer.BadParameter(
        f"{text!r} is not a share of the users. Write a count such as 9000, or a share such as 90%."
    )


# How a declared option is read, and what the help calls its value.
KINDS: Mapping[str, tuple[Any, str | None]] = {
    "text": (str, "NAME"),
    "texts": (list[str], "NAME"),
    "file": (Path, "FILE"),
    "switch": (bool, None),
    "count": (read_count, "COUNT"),
    "number": (read_number, "NUMBER"),
    "people": (read_people, "COUNT"),
    "numbers": (str, "LIST"),
    "words": (str, "LIST"),
    "ranges": (list[str], "LOW:HIGH"),
}
METAVARS: Mapping[Any, str | None] = {list[Path]: "FILE", **dict(reversed([*KINDS.values()]))}


def option(
    name: str,
    panel: str,
    meaning: str,
    kind: Any = str,
    *,
    default: object = None,
    called: str | None = None,
    metavar: str | None = None,
) -> Given:
    """An option of commands; ``kind`` is its type, or what reads it. A switch is off, and one whose
    ``default`` is ... must be given.
    """
    parser = kind if inspect.isfunction(kind) else None
    more: dict[str, Any] = {
        "parser": parser,
        "metavar": metavar or METAVARS.get(kind, "NUMBER" if parser else None),
        "show_default": False,
    }
    flag = f"--{called or name.replace('_', '-')}"
    return _parameter(name, typer.Option(..., flag, help=meaning, rich_help_panel=panel, **more), parser, kind, default)


def argument(name: str, metavar: str, meaning: str, kind: Any = Path, default: object = ..., **more: Any) -> Given:
    """One argument, likewise."""
    return _parameter(
        name, typer.Argument(metavar=metavar, help=meaning, show_default=False, **more), None, kind, default
    )


def _parameter(name: str, written: Any, parser: object, kind: Any, default: object) -> Given:
    default = False if kind is bool else inspect.Parameter.empty if default is ... else default
    annotation: Any = Annotated[(str if parser else kind, written)]
    return name, inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def declared(*lists: type, only: Container[str] | None = None, leave: Container[str] = ()) -> list[Given]:
    """The flags of options that are declared in ``release.options``: of all lists, or some."""
    known = {name: each for one in lists for name, each in options_of(one).items() if not each.keyword}
    return [_flag(each) for name, each in known.items() if name not in leave and (only is None or name in only)]


def declared_for(questions: Mapping[str, type], leave: Container[str]) -> list[Given]:
    """The flags of options that several questions take, with what each of them means by one."""
    taken = dict[str, dict[str, Declared]]()
    for question, one in questions.items():
        for name, each in options_of(one).items():
            if not each.keyword and name not in leave:
                taken.setdefault(name, {})[question] = each
    return [_flag(_joined(several, len(questions))) for several in taken.values()]


def _joined(several: Mapping[str, Declared], of: int) -> Declared:
    """An option of several questions, of which some need none."""
    meanings = dict[str, list[str]]()
    for question, each in several.items():
        meanings.setdefault(each.meaning, []).append(question)
    said = "; ".join(f"for {', '.join(who)}: {what.removesuffix('.')}" for what, who in meanings.items()) + "."
    *_, last = sorted(several.values(), key=lambda each: each.kind == "texts")
    everywhere = len(several) == of and len(meanings) == 1
    needed = len(several) == of and all(each.required for each in several.values())
    return last._replace(meaning=last.meaning if everywhere else said[0].upper() + said[1:], required=needed)


def _flag(each: Declared) -> Given:
    kind, metavar = KINDS[each.kind or "text"]
    usual = rf" \[default: {each.default}]" if each.default not in (None, False, ()) else ""
    meaning = spelled(each.words, typed=True) + usual
    needed = ... if each.required else None
    named = {"called": each.argument.name, "metavar": each.metavar or metavar}
    return option(each.name, each.panel, meaning, kind, default=needed, **named)


def as_declared(known: Mapping[str, Declared], typed: Mapping[str, Any]) -> dict[str, Any]:
    """What was typed of such options, as Python gives it."""
    found = {name: typed[name] for name in known if is_typed(typed.get(name))}
    return {name: _read(known[name], each) for name, each in found.items()}


def is_typed(value: Any) -> bool:
    """Whether an option was given; 0 is a number."""
    return value is not None and value is not False and value != []


def _read(each: Declared, text: Any) -> Any:
    if each.kind == "words":
        return tuple(part.strip() for part in text.split(","))
    if each.kind == "numbers":
        return read_numbers(each.argument.typed, text)
    return [read_range(part) for part in text] if each.kind == "ranges" else text


# What only a command has: where the table is, where the answer goes, and in which form.

SOURCES = argument("source", "FILE...", "A CSV, Parquet or Arrow file, or - for standard input.", list[str])
COLUMN = option("column", TABLE, "Column to ask about; not needed if the table has only one.")
COLUMNS = option(
    "column", TABLE, "Column to ask about, repeated for a crosstab; not needed for a table of one.", list[str]
)
SPARK = "Run it on Spark: spark for this machine, or the address of a cluster, such as spark://host:7077."
ENGINE_OPTIONS = [
    option("engine", ENGINE, f"{SPARK} FILE may then be several tables, folders or patterns.", metavar="ADDRESS"),
    option("work", ENGINE, "Shared folder for Spark's reports, kept so that a killed run resumes.", metavar="FOLDER"),
]
DESIGN = option("design", QUESTION, "What `shuffledp stage design` wrote.", Path, default=...)
AGREED = option("design", QUESTION, "The agreed design; if left out, the files are trusted.", Path)
MOST_EPSILON0 = option("most_epsilon0", QUESTION, "Refuse a design with a larger epsilon0.", read_number)
CERTIFY = option("certify", QUESTION, "Refuse a design whose noise does not keep its promise.", bool)
DELTA = option("delta", QUESTION, "The delta to allow: a small probability, well below 1/n.", read_number, default=...)
SEED = option("seed", QUESTION, "A seed, to repeat it; if left out, secure randomness.", read_count)

FOLDER = option("out", ANSWER, "The folder to write; it must not exist yet.", Path, default=..., metavar="FOLDER")
OUTPUT = [
    option("out", ANSWER, "The folder to write; it must not exist yet.", Path, metavar="FOLDER"),
    option("force", ANSWER, "Replace the folder if it exists.", bool),
]
FILE = [
    option("out", ANSWER, "The file to write.", Path, default=...),
    option("force", ANSWER, "Replace the file if it exists.", bool),
]
DRY_RUN = option("dry_run", ANSWER, "Show the plan and the cost, and write nothing.", bool)
PLOT = option("plot", ANSWER, "Draw it, as png, svg or pdf.", Path)
CSV = option("csv", ANSWER, "Write the table as CSV.", Path)
LATEX = option("latex", ANSWER, "Print the table for a paper, as LaTeX.", bool)
JSON = option("as_json", ANSWER, "Print one JSON object.", bool, called="json")


def check_form(*, as_json: bool, latex: bool) -> None:
    """Refuse two forms of one answer."""
    if as_json and latex:
        raise InvalidInput("an answer must have one form, got --json and --latex. Leave one out.")
