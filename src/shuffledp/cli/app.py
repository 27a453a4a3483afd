"""The program: every command in the order of the work, loaded when it is called; how a command is
parsed; and one run, which ends in an exit code and at most one line of error.

An option that takes one value is given once, all that is missing is said at once, and examples are
never wrapped.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Annotated, Any, NamedTuple, TypeVar

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from shuffledp import __version__
from shuffledp.errors import InvalidInput, ShuffledpError, printable
from shuffledp.questions import OURS, options_module
from shuffledp.randomizers.names import NAMES
from shuffledp.release.options import Option, options_of

Function = TypeVar("Function", bound=Callable[..., Any])

EXAMPLES = {"n": "10000"}


class _Examples:
    """Print what stands at the end of a command's help as it is: its lines are to be copied."""

    epilog: str | None

    def format_help(self, ctx: Any, formatter: Any) -> None:
        epilog, self.epilog = self.epilog, None
        try:
            super().format_help(ctx, formatter)  # type: ignore[misc]
        finally:
            self.epilog = epilog
        if epilog:
            print("".join(f" {line}\n" if line else "\n" for line in epilog.replace(r"\[", "[").split("\n")))


class _Command(_Examples, TyperCommand):
    """A command whose options are looked at together before any of them is believed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            values, _, order = self.make_parser(ctx).parse_args(args=list(args))
            if not any(parameter.name == "help" for parameter in order):
                _check_once(order)
                self._check_all_there(ctx, values)
        return super().parse_args(ctx, args)

    def _check_all_there(self, ctx: Any, values: Mapping[str, Any]) -> None:
        parameters = {parameter.name: parameter for parameter in self.get_params(ctx)}
        asked = str(values.get("task") if "task" in parameters else ctx.info_name)
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
    """A command that has commands."""


class App(typer.Typer):
    """A set of commands of that kind."""

    def __init__(self, **options: Any) -> None:
        super().__init__(cls=_Group, rich_markup_mode="rich", **options)

    def command(self, name: str | None = None, *lines: str, **options: Any) -> Callable[[Function], Function]:
        """Register a command with its examples; the panel of a listed one is known."""
        if lines:
            options["epilog"] = examples(*lines)
        if self is app:
            options["rich_help_panel"] = KNOWN[str(name)].panel
        return super().command(name, cls=_Command, **options)


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
PLAN, RUN, NETWORK = "Plan a collection", "Run it", "Run it over the network"
DEFEND, COMPARE = "Defend it", "Compare with the literature"


class Listed(NamedTuple):
    """A command: its name, the module of ``shuffledp.cli`` that registers it, its panel in the
    help, and the first sentences of its own help.
    """

    name: str
    module: str
    panel: str
    summary: str


def _listed(panel: str, module: str, **summaries: str) -> list[Listed]:
    """The commands of one module."""
    return [Listed(name, module, panel, summary) for name, summary in summaries.items()]


LISTED = (
    *_listed(
        PLAN,
        "commands",
        epsilon="The smallest epsilon of the shuffled reports, at a given delta.",
        delta="The smallest delta of the shuffled reports, at a given epsilon.",
        calibrate="The one unknown of a plan, so that a target (epsilon, delta) is met.",
        explain="Which theorem certifies the answer, what it assumes, and every other bound beside it.",
        curve="delta at many epsilons: as a table, as a figure beside the same reports without a shuffler, as CSV.",
    ),
    *_listed(
        PLAN,
        "plan",
        plan="Every mechanism that keeps a promise (epsilon, delta), with the error to expect and the bits to send.",
        studio="Plan on a page: move users, categories, rounds and promise, and see noise, error and every "
        "published bound while you move.",
    ),
    *_listed(
        PLAN,
        "training",
        training="Which sampler should my training use? Random allocation, Poisson sampling, shuffled batches and "
        "full batches, with the same noise and the same steps, for adding or removing one record.",
    ),
    *_listed(
        RUN,
        "look",
        look="What a table holds, what would go wrong with it, and a command to copy. It shows true values, to "
        "you alone.",
    ),
    *_listed(
        RUN,
        "questions",
        histogram="How many people hold each category: from a table to estimates, a figure and a page.",
        mean="The mean of a number that people hold.",
        sum="The sum of a number that people hold.",
        count="How many people hold one value, as accurately as a trusted curator would tell.",
        quantile="The median and other quantiles of a number that people hold, and how many lie in a range.",
        crosstab="How many people hold each combination of several columns' categories, with all sums; with --by, "
        "shares within groups.",
    ),
    *_listed(RUN, "top", top="Find the most frequent words without a list."),
    *_listed(
        RUN,
        "track",
        track="The same question every week: paid for in advance, with the trend, and what a pause would buy.",
    ),
    *_listed(
        RUN,
        "stages",
        design="Write the design file that clients, shuffler and analyst share.",
        encode="On the clients' side: from values to randomized reports. What leaves here is already noisy; ids go "
        "to the shuffler, who drops them.",
        shuffle="Between clients and analyst: all reports in a uniformly random order, without ids. Fewer than were "
        "promised are refused.",
        analyse="For the analyst: from shuffled or counted reports to estimates, a figure and a page.",
        example="Data to try things out on: a real survey with a sensitive question, and a made-up population.",
    ),
    *_listed(
        NETWORK,
        "collection",
        collection="A collection over the network: announce it, invite people, follow it, end it.",
    ),
    *_listed(
        NETWORK,
        "send",
        send="On a person's device: randomize an answer, seal it for the analyst, and send it to the shuffler.",
    ),
    *_listed(NETWORK, "serve", serve="Run a shuffler server."),
    *_listed(
        NETWORK,
        "collection",
        open="For the analyst: open what the shuffler released, and publish estimates, a figure and a page.",
    ),
    *_listed(
        DEFEND,
        "audit",
        audit="Attack the running code: an empirical lower bound on epsilon beside the certified one.",
        poison="Let people cheat: how far can they move each estimate, and what does the mechanism allow?",
    ),
    *_listed(
        DEFEND,
        "verify",
        verify="Compute every number of a page again, by a slow oracle that shares no code with the accounting.",
    ),
    *_listed(DEFEND, "ledger", ledger="What was released about a population, and what it adds up to."),
    *_listed(
        COMPARE,
        "compare",
        compare="Every known bound on the shuffled reports, sorted: how loose each one is, and which are wrong.",
    ),
    *_listed(COMPARE, "papers", papers="Look up a paper: its theorems, bounds, figures and tables."),
)

KNOWN = {each.name: each for each in LISTED}

# Those who look for a randomizer by name find the plainest first. A test sees that none is missing.
RANDOMIZERS = (
    "krr rr any static deletion laplace gaussian hadamard oue rappor olh blh local-hash subset unary matrix check-in"
)
DESIGNED = "Any other law, such as true values among fakes: --design FILE, from `shuffledp design`."

app = App(name="shuffledp", pretty_exceptions_enable=False)


def group(name: str, *lines: str) -> App:
    """A listed command of several commands, registered."""
    made = App(name=name, no_args_is_help=True, help=KNOWN[name].summary, epilog=examples(*lines) if lines else None)
    app.add_typer(made, rich_help_panel=KNOWN[name].panel)
    return made


def examples(*lines: str) -> str:
    """The end of a command's help."""
    return "\n".join(["Examples:" if len(lines) > 1 else "Example:", *(f"shuffledp {line}" for line in lines)])


def _randomizers() -> str:
    lines = (f"{name:<11}{NAMES[name].usage():<29}  {NAMES[name].title}" for name in RANDOMIZERS.split())
    return "\n".join(["Randomizers, and what they take:", *lines, DESIGNED]).replace("[", r"\[")


FIRST = examples(
    "histogram people.csv --column city --categories cities.txt --epsilon 1 --delta 1e-6 --out result",
    f"epsilon {KRR} --epsilon0 4 --n 10000 --delta 1e-6",
)


@app.callback(invoke_without_command=True, epilog=f"{FIRST}\n\n{_randomizers()}")
def start(
    context: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    """Plan, run and defend a collection in the shuffle model: from a table to a page. Every
    privacy number is an interval that contains the true one.
    """
    if version:
        print(f"shuffledp {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def _not_loaded() -> None:
    raise AssertionError("a command was called whose module was not loaded")


for _each in LISTED:  # each holds the place of the command that its module registers under the same name
    app.command(_each.name, help=_each.summary)(_not_loaded)


def load(name: str | None) -> None:
    """Load the module of one command; of a name that is not listed, all of them."""
    for module in dict.fromkeys(each.module for each in LISTED if each.name == name or name not in KNOWN):
        import_module(f"shuffledp.cli.{module}")


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
        called = next((word for word in self.arguments if not word.startswith("-")), None)
        if called is not None or COMPLETION in os.environ:
            load(None if COMPLETION in os.environ else called)
        self.command = _command(len(app.registered_commands), len(app.registered_groups))

    def code(self) -> int:
        """Call the command and return the exit code."""
        try:
            if sys.stdout is None:
                raise OSError(errno.EBADF, "standard output is closed")
            if isinstance(sys.stdout, io.TextIOWrapper):
                sys.stdout.reconfigure(
                    errors="backslashreplace"
                )  # a label that the terminal cannot show must not lose an answer
            code = self.command(args=self.arguments, prog_name="shuffledp", standalone_mode=False)
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
    words: str = error.format_message().strip()
    words += "." if words and not words.endswith((".", "?")) else ""
    if (
        isinstance(error, typer.BadParameter) and error.message
    ):  # from one of our readers, which says what to write instead
        return words
    meaning = getattr(getattr(error, "param", None), "help", None) or ""
    path = error.ctx.command_path if getattr(error, "ctx", None) else "shuffledp"
    return " ".join(filter(None, (words, meaning, f"Try '{path} --help'.")))
