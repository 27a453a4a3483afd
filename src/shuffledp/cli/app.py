"""The program: how a command is registered and parsed; and one run, which ends in an exit code and
at most one line of error. ``cli.tree`` lists the commands.

An option that takes one value is given once, all that is missing is said at once, and examples are
never wrapped.
"""

from __future__ import annotations

import copy
import errno
import inspect
import io
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Annotated, Any, TypeVar

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from shuffledp import __version__
from shuffledp.cli.tree import OVERVIEW, SHOWN, SUMMARIES, modules, near
from shuffledp.errors import InvalidInput, ShuffledpError, printable
from shuffledp.questions import OURS, options_module
from shuffledp.release.options import Option, options_of

Function = TypeVar("Function", bound=Callable[..., None])
Given = tuple[str, inspect.Parameter]  # an option of a command, as ``cli.options`` makes it

EXAMPLES = {"n": "10000"}
MORE: dict[str, list[str]] = {}  # what --help-all says after the options
WRAPPED = re.compile(r"(?<!\n)\n(?! *\n)")  # within a paragraph


class _Examples:
    """Print what stands at the end of a command's help as it is: its lines are to be copied."""

    epilog: str | None

    def format_help(self, ctx: Any, formatter: Any) -> None:
        epilog, self.epilog = self.epilog, None
        try:
            super().format_help(ctx, formatter)  # type: ignore[misc]
        finally:
            self.epilog = epilog
        hidden = sum(getattr(each, "hidden", False) for each in ctx.command.params)
        if hidden:
            print(f" {hidden} more option{'s' * (hidden > 1)}: {ctx.command_path} --help-all\n")
        if epilog:
            print("".join(f" {line}\n" if line else "\n" for line in epilog.split("\n")))


class _Command(_Examples, TyperCommand):
    """A command whose options are looked at together before any of them is believed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--help-all" in args:
            return self._show_all(ctx)
        if not ctx.resilient_parsing:
            values, _, order = self.make_parser(ctx).parse_args(args=list(args))
            if not any(parameter.name == "help" for parameter in order):
                _check_once(order)
                self._check_all_there(ctx, values)
        return super().parse_args(ctx, args)

    def _show_all(self, ctx: Any) -> list[str]:
        """Help with the options that most people leave alone."""
        hidden = [each for each in self.params if getattr(each, "hidden", False)]
        try:
            for each in hidden:
                each.hidden = False  # type: ignore[attr-defined]
            return super().parse_args(ctx, ["--help"])
        finally:
            for each in hidden:
                each.hidden = True  # type: ignore[attr-defined]
            for said in MORE.get(str(ctx.info_name), ()):
                print(said)

    def _check_all_there(self, ctx: Any, values: Mapping[str, Any]) -> None:
        parameters = {parameter.name: parameter for parameter in self.get_params(ctx)}
        if "web" in parameters:
            return  # it says itself what it needs
        asked = str(values.get("question") if "question" in parameters else ctx.info_name)
        known = options_of(options_module(asked).Options) if asked in OURS else {}
        needed = _needed(parameters, values, known)
        missing = [
            name
            for name, each in parameters.items()
            if (each.required and values.get(name) in (None, ())) or name in needed
        ]
        if not missing:
            return
        columns = _columns(parameters, values)
        if len(columns) > 1 and values.get("column") in (None, []):
            missing.insert(0, "column")
        if len(missing) < 2:
            return  # whoever needs it says so, with its own remedy
        titles = [_title(parameters[name]) for name in missing]
        there = (
            f" The columns are {', '.join(map(repr, columns[:20]))}{' and more' * (len(columns) > 20)}."
            if "column" in missing
            else ""
        )
        examples = (
            EXAMPLES
            | {name: each.example for name, each in known.items() if each.example is not None}
            | {"column": columns[0] if columns else ""}
            | ({"out": "result"} if "dry_run" in parameters else {})
        )
        shown = [f"--{name} {examples[name]}" for name in missing if name in examples]
        example = f" Add, for example, {' '.join(shown)}." if shown else ""
        example += " `shuffledp look FILE` prints categories to copy." if "categories" in missing else ""
        raise InvalidInput(
            f"Missing options {', '.join(titles[:-1])} and {titles[-1]}.{there}{example} Try '{ctx.command_path} "
            f"--help'."
        )


class _Group(_Examples, TyperGroup):
    """A command that has commands; alone it shows them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, ["--help"] if not args or args[0] == "--help-all" else args)


def _title(parameter: Any) -> str:
    """How a person calls it."""
    if parameter.param_type_name == "option":
        return f"'{max(parameter.opts, key=len)}'"
    return f"'{parameter.metavar or parameter.name.upper()}'"


def _check_once(order: list[Any]) -> None:
    """Refuse an option that is given twice: the last one would win without a word."""
    single = (
        each for each in order if each.param_type_name == "option" and not (each.is_flag or each.multiple or each.count)
    )
    for parameter, times in Counter(single).items():
        if times > 1:
            option = max(parameter.opts, key=len)
            raise InvalidInput(
                f"{option} must be given once, got it {times} times. Leave out all but one: only the last would count."
            )


def _needed(parameters: Mapping[str, Any], values: Mapping[str, Any], known: Mapping[str, Option]) -> list[str]:
    """What a command needs under the circumstances, and does not have."""
    needed = [
        name
        for name, each in known.items()
        if name in parameters and (each.required or each.instead is not None)
        if not any(values.get(one) for one in (name, *(each.instead or ())))
    ]
    if "out" in parameters and "force" in parameters and values.get("out") is None and not values.get("dry_run"):
        needed.append("out")
    return needed


def _columns(parameters: Mapping[str, Any], values: Mapping[str, Any]) -> list[str]:
    """The columns of the table, if that can be had; a name that none of them has is refused here,
    before anything else.
    """
    source = values.get("source")
    if isinstance(source, (tuple, list)):
        source = source[0] if len(source) == 1 and values.get("engine") is None else None
    if not {"source", "column"} <= set(parameters) or source in (None, "-"):
        return []
    from shuffledp.tables.columns import check_column
    from shuffledp.tables.formats import open_table

    table = None
    with suppress(InvalidInput):
        table = open_table(source, values.get("format"), values.get("encoding"))
    if table is None:
        return []
    named = values.get("column") or []
    for name in [named] if isinstance(named, str) else named:
        check_column(table.names, name, "column", table.title)
    return table.names


KRR = "--randomizer krr --k 16"
app = typer.Typer(name="shuffledp", cls=_Group, rich_markup_mode="rich", pretty_exceptions_enable=False)


@app.callback()
def _start() -> None:
    """With it, a single command that is loaded is still called by its name."""


@cache
def _group(name: str) -> typer.Typer:
    """A command of several commands, registered when the first of them is."""
    made = typer.Typer(name=name, cls=_Group, rich_markup_mode="rich", help=SUMMARIES[name])
    app.add_typer(made)
    return made


def command(path: str, *lines: str, options: Iterable[Given]) -> Callable[[Function], Function]:
    """Register a command, such as "survey new", with its options and with examples that begin with
    its name or leave it out. Of two options with one name, the second takes the place of the first.
    """
    above, _, name = path.rpartition(" ")
    shown = SHOWN.get(path)

    def register(function: Function) -> Function:
        def run(**given: Any) -> None:
            function(**given)

        known = {name: _hidden(each, shown) for name, each in dict(options).items()}
        run.__signature__ = inspect.Signature([*known.values()])  # type: ignore[attr-defined]
        run.__annotations__ = {name: each.annotation for name, each in known.items()}
        summary, _, details = (inspect.getdoc(function) or "").partition("\n\n")
        said = f"{summary if above else SUMMARIES[name]}\n\n{details}"
        made = {"help": WRAPPED.sub(" ", said), "epilog": _examples(path, lines), "cls": _Command}
        (_group(above) if above else app).command(name, **made)(run)  # type: ignore[arg-type]
        return function

    return register


def _hidden(parameter: inspect.Parameter, shown: set[str] | None) -> inspect.Parameter:
    """The option as a command has it: left to ``--help-all`` if the command's help shows others."""
    kind, written = parameter.annotation.__origin__, parameter.annotation.__metadata__[0]
    names = written.param_decls or ()
    if shown is None or not names or names[0].removeprefix("--") in shown:
        return parameter
    hidden = copy.copy(written)
    hidden.hidden = True
    return parameter.replace(annotation=Annotated[kind, hidden])


def _examples(path: str, lines: Sequence[str]) -> str:
    """The end of a command's help."""
    whole = (line if line.startswith(f"{path} ") or line == path else f"{path} {line}" for line in lines)
    return "\n".join(["Examples:" if len(lines) > 1 else "Example:", *(f"shuffledp {line}" for line in whole)])


def load(name: str | None) -> None:
    """Load the modules of one command; without a name, of all."""
    for module in dict.fromkeys(each for one in (SUMMARIES if name is None else [name]) for each in modules(one)):
        import_module(module)


COMPLETION = "_SHUFFLEDP_COMPLETE"  # set by a shell that completes a line
LINES = re.compile(r"\s*[\r\n]\s*")  # spaces within a line may be those of a name
# BadParameter is a UsageError is a ClickException: every error of the parser. It has no public name
# in all versions of typer.
ParserError: type[Exception] = typer.BadParameter.__mro__[2]


class Run:
    """The words after ``shuffledp``, and what they lead to."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.arguments = list(arguments)
        self.as_json = "--json" in self.arguments
        self.called = next((word for word in self.arguments if not word.startswith("-")), None)

    def code(self) -> int:
        """Call the command and return the exit code."""
        try:
            if sys.stdout is None:
                raise OSError(errno.EBADF, "standard output is closed")
            if isinstance(sys.stdout, io.TextIOWrapper):
                sys.stdout.reconfigure(
                    errors="backslashreplace"
                )  # a label that the terminal cannot show must not lose an answer
            code = self._answer()
            sys.stdout.flush()
        except ShuffledpError as error:  # anything but an invalid input is an answer withheld
            return self._refuse(error.typed, code=2 if isinstance(error, InvalidInput) else 1)
        except ParserError as error:
            return self._refuse(_explained(error))
        except (typer.Abort, KeyboardInterrupt):
            return 130
        except OSError as error:  # standard output is full, or its reader, such as head, has seen enough
            if sys.stdout is not None:
                os.dup2(
                    os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
                )  # or the interpreter would try again at exit
            return (
                1
                if isinstance(error, BrokenPipeError)
                else self._refuse(f"the answer could not be written: {error.strerror}.", code=1)
            )
        except Exception as error:  # a slip of ours: withheld, and said in one line
            words = (
                f"an internal check failed ({type(error).__name__}: {error}). This is a bug in shuffledp; please "
                f"report the command."
            )
            return self._refuse(words, code=1)
        return int(code or 0)

    def _answer(self) -> int | None:
        first = self.arguments[0] if self.arguments else "--help"
        if COMPLETION in os.environ:
            load(None)
        elif first in ("--help", "--help-all"):
            return print(OVERVIEW)
        elif first == "--version":
            return print(f"shuffledp {__version__}")
        elif self.called is not None:
            if self.called not in SUMMARIES:
                hint = near(self.called, SUMMARIES)
                raise InvalidInput(f"No such command {self.called!r}. {hint}'shuffledp --help' lists the commands.")
            load(self.called)
        command = _command(len(app.registered_commands), len(app.registered_groups))
        code: int | None = command(args=self.arguments, prog_name="shuffledp", standalone_mode=False)
        return code

    def _refuse(self, message: str, *, code: int = 2) -> int:
        words = printable(LINES.sub(" ", message.strip()))
        print(json.dumps({"error": words, "exit": code}) if self.as_json else f"error: {words}", file=sys.stderr)
        return code


@cache
def _command(*_loaded: int) -> Callable[..., Any]:
    """What the parser makes of all that is loaded; made again when there is more of it, and not for
    every run in one process.
    """
    command: Callable[..., Any] = _plainly(typer.main.get_command(app))
    return command


def _plainly(command: Any) -> Any:
    """The command, and all below it, without ``<bool>`` beside options that take no value."""
    with typer.Context(command) as context:
        for parameter in command.get_params(context):
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
    for each in getattr(command, "commands", {}).values():
        _plainly(each)
    return command


def _explained(error: Any) -> str:
    """The parser's own words, and a remedy where they have none."""
    context = getattr(error, "ctx", None)
    if (wrong := getattr(error, "option_name", None)) and context is not None and hasattr(error, "possibilities"):
        known = [name for each in context.command.params for name in each.opts if name.startswith("--")]
        return f"No such option: {wrong}. {near(wrong, known)}Try '{context.command_path} --help-all'."
    words: str = error.format_message().strip()
    words += "." if words and not words.endswith((".", "?")) else ""
    if isinstance(error, typer.BadParameter) and error.message:  # from one of our readers, which says what to write
        return words
    meaning = getattr(getattr(error, "param", None), "help", None) or ""
    path = context.command_path if context else "shuffledp"
    return " ".join(filter(None, (words, meaning, f"Try '{path} --help'.")))
