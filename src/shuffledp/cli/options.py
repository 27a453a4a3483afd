"""The options of commands: those of a question as ``release.options`` declares them, and those that
only commands have.

An option of one command is a ``flag`` in its signature; those of several are an ``option`` each,
and ``sharing`` hands them to a command as one object.
"""

import functools
import inspect
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from shuffledp.errors import InvalidInput, spelled
from shuffledp.release import options as all_options
from shuffledp.release.options import Option as Declared
from shuffledp.release.options import options_of

Option = tuple[str, inspect.Parameter]

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
        value = Decimal(text.replace(",", ""))
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
METAVARS: Mapping[Any, str | None] = dict(reversed([*KINDS.values()]))


def flag(name: str, panel: str, meaning: str, *, default: Any = ..., **more: Any) -> Any:
    """An option as a command declares it; without a ``default`` it must be given."""
    return typer.Option(default, f"--{name}", help=meaning, rich_help_panel=panel, **more)


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


def declared(*lists: type, only: Container[str] | None = None, leave: Container[str] = ()) -> list[Option]:
    """The flags of options that are declared in ``release.options``: of all lists, or some."""
    known = {name: each for one in lists for name, each in options_of(one).items() if not each.keyword}
    return [_flag(each) for name, each in known.items() if name not in leave and (only is None or name in only)]


def declared_for(questions: Mapping[str, type], leave: Container[str]) -> list[Option]:
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


def _flag(each: Declared) -> Option:
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
    "column", TABLE, "Column to ask about, repeated for a crosstab; not needed if the table has only one.", list[str]
)
SPARK = "Run it on Spark: spark for this machine, or the address of a cluster, such as spark://host:7077."
ENGINE_OPTIONS = [
    option("engine", ENGINE, f"{SPARK} FILE may then be several tables, folders or patterns.", metavar="ADDRESS"),
    option(
        "work",
        ENGINE,
        "Shared folder for Spark's reports. If it holds a finished draw, the run resumes from it. If left out, a "
        "folder beside --out, removed at the end.",
        metavar="FOLDER",
    ),
]
Designed = Annotated[Path, flag("design", QUESTION, "What `shuffledp stage design` wrote.", metavar="FILE")]
MostEpsilon0 = Annotated[
    float | None,
    number("most-epsilon0", QUESTION, "Refuse a design whose single report says more than this, whatever it promises."),
]
Delta = Annotated[float, number("delta", QUESTION, "The delta to allow: a small probability, well below 1/n.")]
Target = Annotated[float, number("epsilon", QUESTION, "The epsilon that must not be exceeded.")]

FOLDER = flag("out", ANSWER, "The folder to write; it must not exist yet.", metavar="FOLDER")
NewFolder = Annotated[Path, FOLDER]
OUTPUT_OPTIONS = [shared("out", FOLDER, Path), option("force", ANSWER, "Replace the folder if it exists.", bool)]
OutFile = Annotated[Path, flag("out", ANSWER, "The file to write.", metavar="FILE")]
ReplaceFile = Annotated[bool, flag("force", ANSWER, "Replace the file if it exists.")]
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
