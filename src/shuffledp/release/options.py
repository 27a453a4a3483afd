"""What an option is, and those that several questions share, each declared once: its name, type and
default, and what it is for. The flags of the command, the keywords of Python, both helps and
what must be given come from here; ``release.arguments`` checks and reads what was given.

A ``TypedDict`` lists options that go together. A question puts its own together from such lists, in
``questions/NAME/options.py``; their types are the ones that a type checker sees.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from inspect import Parameter, Signature, cleandoc, signature
from textwrap import fill
from types import NoneType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    ParamSpec,
    Required,
    TypedDict,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from shuffledp.errors import Argument, Words, spelled
from shuffledp.schema import Format, Keep

P = ParamSpec("P")
R = TypeVar("R")
PathLike = str | os.PathLike[str]
Listed = int | PathLike | Iterable[object]
Names = str | Mapping[str, str]  # one for all columns, or by column
Kind = Literal["text", "texts", "switch", "number", "numbers", "count", "people", "file", "words", "ranges"]

LISTS = "File with one category per line, a list such as yes,no, or whole numbers such as 0..11"
# The panels of a command's help.
EVERYONE, QUESTION, ANSWER = "Who reports, and who looks", "The question", "The answer"
TABLE, MESSY, BUDGET = "The table", "If the table is messy", "The budget"


class Option(NamedTuple):
    """What there is to say of one, beside its name and type. In the ``meaning``, {name} is another
    option. ``kind`` is how it is typed, where its type does not tell. With ``instead``, it or one
    of those must be given. Only Python has a ``keyword`` for what most people leave alone.
    """

    meaning: str
    panel: str = TABLE
    default: Any = None
    kind: Kind | None = None
    metavar: str | None = None
    example: Any = None
    instead: tuple[str, ...] | None = None
    keyword: bool = False
    # From the type that it stands beside.
    name: str = ""
    type: Any = str
    required: bool = False

    @property
    def argument(self) -> Argument:
        """How it is called, in Python and as a flag."""
        return Argument.of(self.name)

    @property
    def words(self) -> tuple[Words, ...]:
        """What it is for, as a refusal says it too."""
        said, *rest = re.split(r"\{(\w+)\}", self.meaning)
        return said, *(
            each for name, text in zip(rest[::2], rest[1::2], strict=True) for each in (Argument.of(name), text)
        )

    @property
    def optional(self) -> bool:
        """Whether None stands for leaving it out."""
        return NoneType in get_args(self.type)


class Epsilon(TypedDict, total=False):
    """What is promised."""

    epsilon: Required[Annotated[float, Option("Epsilon that all rounds together may not exceed.", QUESTION, example=1)]]


class Noise(TypedDict, total=False):
    """The promise, or the noise that keeps one."""

    epsilon: Annotated[
        float | None,
        Option(
            "Epsilon that all rounds together may not exceed; or give {gamma} or {epsilon0}.",
            QUESTION,
            example=1,
            instead=("gamma", "epsilon0"),
        ),
    ]
    gamma: Annotated[
        float | None, Option("Instead of {epsilon}: the probability that a report is uniformly random.", QUESTION)
    ]
    epsilon0: Annotated[float | None, Option("Instead of {epsilon}: the epsilon0 of one report.", QUESTION)]


def by_noise(given: Mapping[str, Any]) -> bool:
    """Whether noise was given in place of a promise, in one way."""
    return given["epsilon"] is None and (given["gamma"] is None) != (given["epsilon0"] is None)


class Promised(TypedDict, total=False):
    """The rest of the promise."""

    delta: Required[
        Annotated[
            float,
            Option("Delta of the guarantee: a small probability, well below 1/n.", QUESTION, example="1e-6"),
        ]
    ]
    honest: Annotated[
        float | None,
        Option(
            "How many people follow the protocol: a number, or a share such as 90%. If left out, all.",
            EVERYONE,
            kind="people",
        ),
    ]


class Rounds(TypedDict, total=False):
    """How often."""

    rounds: Annotated[int, Option("How often the same people report.", EVERYONE, 1)]


class Budgeted(TypedDict, total=False):
    """Whose budget it takes."""

    ledger: Annotated[
        PathLike | None, Option("SQLite file in which the release is recorded before anything is written.", BUDGET)
    ]
    population: Annotated[str | None, Option("People whose budget is charged, such as app-users.", BUDGET)]
    limit_epsilon: Annotated[
        float | None, Option("Epsilon that all releases about these people may add up to.", BUDGET)
    ]
    limit_delta: Annotated[float | None, Option("Delta that all releases about these people may add up to.", BUDGET)]


class Rows(TypedDict, total=False):
    """Which rows, and whose."""

    format: Annotated[Format | None, Option("csv, parquet or arrow; if left out, the file's first bytes decide.")]
    ids: Annotated[str | None, Option("Column that identifies a person; one row per person is used.")]
    keep: Annotated[Keep | None, Option("Which row of a person to use: first or random. If left out, the first.")]
    one_row_per_person: Annotated[
        bool, Option("Count every row as another person, even if a column named like an id repeats.")
    ]
    encoding: Annotated[
        str | None, Option("Text encoding of a CSV file, such as latin-1 or utf-16. If left out, utf-8.", MESSY)
    ]


class Absent(TypedDict, total=False):
    """What means that there is no value."""

    na: Annotated[
        str | Iterable[str],
        Option("Texts that mean a missing value, such as NA,N/A.", MESSY, (), kind="words", metavar="LIST"),
    ]


class Common(Promised, Rounds, Budgeted, Rows, Absent, total=False):
    """What every question takes."""


class Texts(TypedDict, total=False):
    """What of texts is forgiven."""

    strip: Annotated[bool, Option("Ignore spaces before and after a text.", MESSY)]
    ignore_case: Annotated[bool, Option("Ignore case and how accents are composed.", MESSY)]


class Figures(TypedDict, total=False):
    """How numbers are written."""

    decimal: Annotated[str, Option("Decimal mark of numbers: . or ,", MESSY, ".", metavar="MARK")]
    thousands: Annotated[str | None, Option("Thousands separator, such as . in 1.234,5.", MESSY, metavar="MARK")]


class Titled(TypedDict, total=False):
    """What the page is called."""

    title: Annotated[str | None, Option("Headline for the page.", ANSWER, metavar="TEXT")]


class Other(TypedDict, total=False):
    """What becomes of other values."""

    other: Annotated[str | None, Option("Count all other values as this category. If left out, they are refused.")]


class Missing(TypedDict, total=False):
    """What becomes of rows without a value."""

    missing: Annotated[
        str | None, Option("Count missing values as this category. If left out, those rows are not used.")
    ]


class Mechanism(TypedDict, total=False):
    """How answers are hidden that name a place each."""

    mechanism: Annotated[
        str, Option("How reports hide answers: krr; fakes or dummies, which need more trust.", QUESTION, "krr")
    ]


class Choices(TypedDict, total=False):
    """What a mechanism leaves to choose."""

    slots: Annotated[int | None, Option("With fakes: messages that each person sends.", QUESTION, keyword=True)]
    kept: Annotated[
        float | None, Option("With dummies: probability that the shuffler forwards a message.", QUESTION, keyword=True)
    ]
    kind: Annotated[str | None, Option("With fakes or dummies: distribution of their number.", QUESTION, keyword=True)]
    light_epsilon0: Annotated[
        float | None,
        Option(
            "With fakes or dummies: epsilon0 with which true values are randomized as well.", QUESTION, keyword=True
        ),
    ]


class Reaching(TypedDict, total=False):
    """How accurate the answer is to be."""

    error: Annotated[
        float | None,
        Option("Standard error to stay below. It may take several messages per person, which need more trust."),
    ]
    messages: Annotated[int | None, Option("Largest number of messages of a person.", keyword=True)]


class WeekOptions(Rows, Absent, Texts, Figures, total=False):
    """One more week of a series: how its table is read."""

    missing: Annotated[Names | None, Option("Count missing values as this category.", kind="text")]
    clip: Annotated[bool, Option("For a mean: move values outside the range to the nearest bound.")]


KINDS: tuple[tuple[Any, Kind], ...] = (
    (bool, "switch"), (int, "count"), (float, "number"), (os.PathLike[str], "file")
)  # fmt: skip


@cache
def options_of(declared: type) -> Mapping[str, Option]:
    """The options in such a list, by name."""
    return {name: _option(name, hint) for name, hint in get_type_hints(declared, include_extras=True).items()}


def _option(name: str, hint: Any) -> Option:
    required = get_origin(hint) is Required
    if required:
        (hint,) = get_args(hint)
    kind, said = get_args(hint)
    kinds = get_args(kind) or (kind,)
    typed: Any = said.kind or next((word for each, word in KINDS if each in kinds), "text")
    default = False if kind is bool else said.default
    option: Option = said
    return option._replace(name=name, type=kind, required=required, kind=typed, default=default)


def keywords(declared: type) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Give a function the declared options as keywords, with types and defaults that ``help`` and
    notebooks show. It receives all of them, checked (``arguments.complete``).
    """
    options = options_of(declared)

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        own = [each for each in signature(function).parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
        given = [_parameter(each) for each in sorted(options.values(), key=lambda each: not each.required)]
        place = next((at for at, each in enumerate(own) if each.kind is Parameter.KEYWORD_ONLY), len(own))
        whole = Signature([*own[:place], *given, *own[place:]], return_annotation=function.__annotations__["return"])

        @wraps(function)
        def call(*positional: P.args, **named: P.kwargs) -> R:
            from shuffledp.release.arguments import complete

            try:
                bound = whole.bind(*positional, **named)
            except TypeError as wrong:
                raise TypeError(f"{function.__name__}(): {wrong}") from None
            mine = {name: bound.arguments.pop(name) for name in options if name in bound.arguments}
            return function(*bound.args, **bound.kwargs, **complete(options, mine))

        call.__signature__ = whole  # type: ignore[attr-defined]
        call.__doc__ = f"{cleandoc(function.__doc__ or '')}\n\nOptions:\n{_listed(options)}\n"
        return call

    return wrap


def _parameter(option: Option) -> Parameter:
    default = Parameter.empty if option.required else option.default
    return Parameter(option.name, Parameter.KEYWORD_ONLY, default=default, annotation=option.type)


def _listed(options: Mapping[str, Option]) -> str:
    return "\n".join(
        fill(f"{each.name}: {spelled(each.words)}", 96, initial_indent="    ", subsequent_indent="        ")
        for each in options.values()
    )
