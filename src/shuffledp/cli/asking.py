"""The options of a question about a table: what to read, what to promise, whose budget to spend,
where to write.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from shuffledp.cli.numbers import read_count, read_number, read_numbers, read_range
from shuffledp.cli.options import ANSWER, AS_JSON, HONEST, QUESTION, ROUNDS
from shuffledp.cli.sharing import argument, option, sharing
from shuffledp.collection.release.terms import (
    BY_NOISE,
    Bins,
    Categories,
    Hiding,
    Promise,
    given_bins,
    read_categories,
)
from shuffledp.errors import InvalidInput

if TYPE_CHECKING:  # pyarrow takes longer to load than most other commands take
    from shuffledp.collection.release.budget import Budget
    from shuffledp.collection.release.question import Question
    from shuffledp.collection.release.released import Release
    from shuffledp.collection.tables.cleaning import Cleaning
    from shuffledp.protocols.design import Design

__all__ = [
    "ASKED",
    "BINNED",
    "BIN_OPTIONS",
    "BUDGET_OPTIONS",
    "CATEGORY_OPTIONS",
    "COLUMNS",
    "ENGINE",
    "HIDING_OPTIONS",
    "LEARN",
    "LISTS",
    "LOCAL",
    "MESSY_OPTIONS",
    "OUTPUT_OPTIONS",
    "PROMISE_OPTIONS",
    "TABLE",
    "TABLE_OPTIONS",
    "Asking",
    "EncodedBy",
    "Engine",
    "Found",
    "Keeping",
    "LowerBound",
    "Reading",
    "UpperBound",
    "binned",
    "check_engine",
    "hiding_of",
    "with_asking",
    "with_binning",
    "with_counting",
    "with_hiding",
]

TABLE, MESSY, BUDGET, ENGINE = "The table", "If the table is messy", "The budget", "Where the data are"
HIDING = "What hides a value"
FORMATS = ("csv", "parquet", "arrow")
LOCAL = "local[*]"  # Spark on all cores of this machine


PROMISE_OPTIONS = [
    option(
        "epsilon",
        QUESTION,
        "The epsilon to promise, for all rounds together.",
        default=...,
        parser=read_number,
        metavar="NUMBER",
    ),
    option(
        "delta",
        QUESTION,
        "The delta to promise: a small probability, well below 1/n.",
        default=...,
        parser=read_number,
        metavar="NUMBER",
    ),
    HONEST,
    ROUNDS,
]
BOUND_OPTIONS = [
    option(
        "lower",
        TABLE,
        "The smallest possible value, known without the data.",
        annotation=float,
        parser=read_number,
        metavar="NUMBER",
    ),
    option(
        "upper",
        TABLE,
        "The largest possible value, known without the data.",
        annotation=float,
        parser=read_number,
        metavar="NUMBER",
    ),
]
BIN_OPTIONS = [
    option(
        "bins",
        TABLE,
        "How many bins to cut the range into; if left out 64, or one for each whole number of a short range.",
        annotation=int,
        parser=read_count,
        metavar="N",
    ),
    option("scale", TABLE, "linear, or log: bins that grow with the value, as incomes want them.", metavar="NAME"),
    option("cuts", TABLE, "Every cut point instead, such as 0,1000,2000,5000.", metavar="LIST"),
    option("at", QUESTION, "The quantiles to ask for; 0.5 is the median.", default="0.5", metavar="LIST"),
    option(
        "ranges",
        QUESTION,
        "How many people are from one cut point to below another, such as 18:65; may be repeated.",
        annotation=list[str],
        flag="range",
        metavar="LOW:HIGH",
    ),
]
BINNED = ("bins", "scale", "cuts", "at", "ranges")
# Of a question that is settled before there is a table.
LowerBound = Annotated[
    float | None,
    typer.Option(
        "--lower",
        parser=read_number,
        metavar="NUMBER",
        help="For a mean or quantiles: the smallest possible value.",
        rich_help_panel=TABLE,
    ),
]
UpperBound = Annotated[
    float | None,
    typer.Option(
        "--upper",
        parser=read_number,
        metavar="NUMBER",
        help="For a mean or quantiles: the largest possible value.",
        rich_help_panel=TABLE,
    ),
]
EncodedBy = Annotated[
    str,
    typer.Option("--method", metavar="NAME", help="For a frequency: how values are encoded.", rich_help_panel=TABLE),
]
BUDGET_OPTIONS = [
    option(
        "ledger",
        BUDGET,
        "Record the release in this SQLite file, before anything is written.",
        annotation=Path,
        metavar="FILE",
    ),
    option("population", BUDGET, "Whose budget this is, such as app-users.", metavar="NAME"),
    option(
        "limit_epsilon",
        BUDGET,
        "What all releases about them may add up to.",
        parser=read_number,
        metavar="NUMBER",
        flag="limit-epsilon",
    ),
    option("limit_delta", BUDGET, "The delta of that limit.", parser=read_number, metavar="NUMBER", flag="limit-delta"),
]
OUTPUT_OPTIONS = [
    option("out", ANSWER, "The folder to write; it must not exist yet.", annotation=Path, metavar="FOLDER"),
    option("force", ANSWER, "Replace the folder if it exists.", default=False, annotation=bool),
]
CATEGORY_OPTIONS = [
    option("categories", TABLE, "A file with one category per line, or a list such as yes,no.", metavar="FILE|LIST"),
    option(
        "domain", TABLE, "The number of categories, if they are 0, 1, 2, and so on.", parser=read_count, metavar="COUNT"
    ),
    option("other", TABLE, "Count all other values as this category; if left out, they are refused.", metavar="NAME"),
    option(
        "missing",
        TABLE,
        "Count missing values as this category; if left out, those rows do not take part.",
        metavar="NAME",
    ),
]
HIDING_OPTIONS = [
    option(
        "protocol",
        HIDING,
        "What hides a value: krr, noise in every report; fakes, that people send; or dummies, that the shuffler adds. "
        "If left out, krr, which asks for the least trust.",
        default="krr",
        metavar="NAME",
    ),
    option(
        "slots",
        HIDING,
        "For fakes: how many a person can send; if left out, as few as will do.",
        parser=read_count,
        metavar="COUNT",
    ),
    option(
        "kept",
        HIDING,
        "For dummies: how likely the shuffler hands a person's message on; if left out, always.",
        parser=read_number,
        metavar="NUMBER",
    ),
    option(
        "kind",
        HIDING,
        "The law of the fakes: bernoulli or poisson; of the dummies: geometric or poisson, whichever errs less.",
        metavar="NAME",
    ),
    option(
        "light_epsilon0",
        HIDING,
        "Randomize the true value by this epsilon0, too: then a message says little by itself.",
        parser=read_number,
        metavar="NUMBER",
        flag="light-epsilon0",
    ),
]
LEARN = option(
    "learn",
    TABLE,
    "Take the categories from the data; their list is then published unprotected.",
    default=False,
    annotation=bool,
    flag="learn-categories",
)
LISTS = option(
    "categories",
    TABLE,
    "A file with one category per line, or a list such as yes,no; for a crosstab once for each column.",
    annotation=list[str],
    metavar="FILE|LIST",
)
COLUMNS = option(
    "column",
    TABLE,
    "The column to ask about, or each of those of a crosstab; a table with only one needs no name.",
    annotation=list[str],
    metavar="NAME",
)
TABLE_OPTIONS = [
    option("column", TABLE, "The column to ask about; a table with only one needs no name.", metavar="NAME"),
    option(
        "format", TABLE, f"One of {', '.join(FORMATS)}; if left out, the file's first bytes decide.", metavar="NAME"
    ),
    option(
        "ids",
        TABLE,
        "The column that says whose row it is: one row of each person takes part.",
        metavar="NAME",
        flag="id",
    ),
    option(
        "keep",
        TABLE,
        "Which row of a person with several values to keep: first or random; if left out, first.",
        metavar="NAME",
    ),
]
MESSY_OPTIONS = [
    option("strip", MESSY, "Ignore spaces before and after a text.", default=False, annotation=bool),
    option(
        "ignore_case",
        MESSY,
        "Ignore upper and lower case, and how accents are composed.",
        default=False,
        annotation=bool,
        flag="ignore-case",
    ),
    option("na", MESSY, "Texts that mean a missing value, such as NA,N/A.", metavar="LIST"),
    option("decimal", MESSY, "The decimal mark of numbers: . or ,", metavar="MARK"),
    option("thousands", MESSY, "The thousands separator, such as . in 1.234,5.", metavar="MARK"),
    option(
        "encoding",
        MESSY,
        "For CSV: the encoding of its text, such as latin-1 or utf-16; if left out, utf-8.",
        metavar="NAME",
    ),
]

ENGINE_OPTIONS = [
    option(
        "engine",
        ENGINE,
        "Run it on an engine: spark. FILE may then be several tables, folders or patterns.",
        metavar="NAME",
    ),
    option("master", ENGINE, "Where Spark runs, such as spark://host:7077; if left out, local[*].", metavar="ADDRESS"),
    option(
        "work",
        ENGINE,
        "The folder for what Spark draws, on storage that all its workers share; one that was committed is gone on "
        "with. If left out, one beside --out, which is removed at the end.",
        metavar="FOLDER",
    ),
]


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where a result goes, and whose budget it takes."""

    out: Path | None
    force: bool
    as_json: bool

    def folder(self) -> Path:
        """The folder to write."""
        if self.out is None:
            raise InvalidInput(
                "--out is missing: the folder to write. Add, for example, --out result; or --dry-run to write nothing."
            )
        return self.out


@dataclass(frozen=True, slots=True)
class Reading:
    """How a table is read: which column, whose rows, and what is forgiven."""

    source: str
    column: str | list[str] | None
    format: str | None
    ids: str | None
    keep: str
    cleaning: "Cleaning"
    encoding: str | None

    @classmethod
    def taken(cls, options: dict[str, Any]) -> Self:
        """Take what belongs here out of the options of a command."""
        from shuffledp.collection.tables.cleaning import Cleaning, check_encoding
        from shuffledp.collection.tables.persons import check_keep

        source, column, format, ids, keep = (
            options.pop(name) for name in ("source", "column", "format", "ids", "keep")
        )
        strip, ignore_case, na, decimal, thousands, encoding = (options.pop(name) for name, _ in MESSY_OPTIONS)
        words = () if na is None else tuple(part.strip() for part in na.split(","))
        cleaning = Cleaning(strip=strip, ignore_case=ignore_case, na=words, decimal=decimal or ".", thousands=thousands)
        return cls(
            source,
            column,
            format,
            ids,
            check_keep(keep, ids),
            cleaning,
            None if encoding is None else check_encoding(encoding),
        )

    @property
    def columns(self) -> list[str]:
        """All columns that were named."""
        if self.column is None:
            return []
        return [self.column] if isinstance(self.column, str) else self.column

    def fields(self) -> dict[str, Any]:
        """The same as arguments."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Engine:
    """Where a question runs, other than here: on Spark."""

    master: str
    work: str | None
    tables: tuple[str, ...]

    @classmethod
    def of(
        cls, name: str | None, master: str | None, work: str | None, table: dict[str, Any], *, learn: bool
    ) -> "Engine | None":
        """The engine that the options name, if any; what it cannot do is refused."""
        tables = table["source"]
        check_engine(name, master, work)
        if name is None:
            if len(tables) > 1:
                raise InvalidInput(
                    f"one table must be given without --engine, got {len(tables)}. Put them into one file, or add "
                    f"--engine spark."
                )
            return None
        _check_table(tables, table, learn=learn)
        place = LOCAL if master is None else master
        if work is None and not place.startswith("local"):
            raise InvalidInput(
                f"--work must be given with --master {place}, got none. Name a folder on storage that all its workers "
                f"share, such as hdfs:///tmp/poll."
            )
        return cls(place, work, tuple(tables))


def check_engine(name: str | None, master: str | None, work: str | None = None) -> None:
    """Refuse an engine that there is not, and options of one where none is asked for."""
    for word, given in (("--master", master), ("--work", work)):
        if name is None and given is not None:
            raise InvalidInput(f"{word} must come with --engine, got none. Add --engine spark.")
    if name not in (None, "spark"):
        raise InvalidInput(f"--engine must be spark, got {name!r}. Leave it out to run here, on one machine.")


def _check_table(tables: Sequence[str], table: dict[str, Any], *, learn: bool) -> None:
    """Refuse what only one machine can do."""
    if "-" in tables:
        raise InvalidInput("tables must be files with --engine, got standard input. Save it where Spark can read it.")
    if learn:
        raise InvalidInput(
            "--learn-categories must be left out with --engine, got it. Declare the categories: --categories FILE."
        )
    if table["keep"] == "first":
        raise InvalidInput(
            "--keep must be random with --engine, where no row is the first, got 'first'. Leave it out, or keep one "
            "row of each person before."
        )
    if table["encoding"] is not None:
        raise InvalidInput(
            f"--encoding must be left out with --engine, got {table['encoding']!r}. Convert the table to Parquet first."
        )
    if table["format"] not in (None, "csv", "parquet"):
        raise InvalidInput(
            f"--format must be csv or parquet with --engine, got {table['format']!r}. Convert the table first."
        )


def hiding_of(options: dict[str, Any]) -> Hiding:
    """Take what hides a value out of the options of a command."""
    return Hiding(**{name: options.pop(name) for name, _ in HIDING_OPTIONS})


def budget_of(
    ledger: Path | None, population: str | None, limit_epsilon: float | None, limit_delta: float | None
) -> "Budget | None":
    """The budget that the options describe, if any."""
    from shuffledp.collection.release.budget import Budget

    return Budget.of(ledger, population, limit_epsilon, limit_delta)


def binned(
    *,
    lower: float | None,
    upper: float | None,
    bins: int | None,
    scale: str | None,
    cuts: str | None,
    at: str | None,
    ranges: list[str] | None,
) -> Bins:
    """The bins, quantiles and ranges as they are typed."""
    return given_bins(
        lower=lower,
        upper=upper,
        bins=bins,
        scale=scale,
        cuts=None if cuts is None else read_numbers("--cuts", cuts),
        at=(0.5,) if at is None else read_numbers("--at", at),
        ranges=[read_range(each) for each in ranges or []],
    )


@dataclass(frozen=True, slots=True)
class Asking:
    """What the shared options describe."""

    reading: Reading
    title: str | None
    promise: Promise
    budget: "Budget | None"
    keeping: Keeping
    dry_run: bool
    engine: Engine | None = None
    categories: Categories | None = None
    hiding: Hiding = BY_NOISE
    bins: Bins | None = None

    @classmethod
    def hidden(cls, **options: Any) -> Self:
        """The same where fakes may hide the values."""
        hiding = hiding_of(options)
        return replace(cls.counting(**options), hiding=hiding)

    @classmethod
    def binning(
        cls,
        *,
        lower: float | None,
        upper: float | None,
        bins: int | None,
        scale: str | None,
        cuts: str | None,
        at: str,
        ranges: list[str] | None,
        **options: Any,
    ) -> Self:
        """The same for a question about a number that falls into bins."""
        known = binned(lower=lower, upper=upper, bins=bins, scale=scale, cuts=cuts, at=at, ranges=ranges)
        hiding = hiding_of(options)
        return replace(cls.of(**options), bins=known, hiding=hiding)

    @classmethod
    def counting(
        cls,
        *,
        categories: str | None,
        domain: int | None,
        learn: bool,
        other: str | None,
        missing: str | None,
        **options: Any,
    ) -> Self:
        """The same for a question whose answers are categories."""
        known = read_categories(categories, learn=learn, domain=domain, other=other, missing=missing)
        return replace(cls.of(learn=learn, **options), categories=known)

    @classmethod
    def of(
        cls,
        *,
        title: str | None,
        epsilon: float,
        delta: float,
        honest: int | Fraction | None,
        rounds: int | None,
        ledger: Path | None,
        population: str | None,
        limit_epsilon: float | None,
        limit_delta: float | None,
        out: Path | None,
        force: bool,
        dry_run: bool,
        as_json: bool,
        engine: str | None,
        master: str | None,
        work: str | None,
        learn: bool = False,
        **table: Any,
    ) -> Self:
        """Sort the options."""
        runs = Engine.of(engine, master, work, table, learn=learn)
        first, *others = table["source"]
        table["source"] = first if not others else f"{first} and {len(others)} more"
        promise = Promise(epsilon=epsilon, delta=delta, rounds=1 if rounds is None else rounds, honest=honest)
        budget = budget_of(ledger, population, limit_epsilon, limit_delta)
        return cls(Reading.taken(table), title, promise, budget, Keeping(out, force, as_json), dry_run, runs)


@dataclass(frozen=True, slots=True)
class Found:
    """A table that was read, wherever it lies: the question as it stands then, how many people have
    a value and how many, in public, have none, and how a design for them is carried out.
    """

    question: "Question"
    people: int
    missing: int | None
    publish: "Callable[[Design], Release]"


ASKED = [
    argument(
        "source",
        "A CSV, Parquet or Arrow file, or - for standard input.",
        metavar="FILE...",
        annotation=list[str],
    ),
    *TABLE_OPTIONS,
    *MESSY_OPTIONS,
    *PROMISE_OPTIONS,
    *BUDGET_OPTIONS,
    *ENGINE_OPTIONS,
    *OUTPUT_OPTIONS,
    option("title", ANSWER, "A headline for the page.", metavar="TEXT"),
    option(
        "dry_run",
        ANSWER,
        "Show the plan and the cost, and write nothing.",
        default=False,
        annotation=bool,
        flag="dry-run",
    ),
    AS_JSON,
]
with_asking = sharing(dict(ASKED), Asking.of)
with_binning = sharing(dict([*BOUND_OPTIONS, *BIN_OPTIONS, *HIDING_OPTIONS, *ASKED]), Asking.binning)
with_counting = sharing(dict([*CATEGORY_OPTIONS, LEARN, *ASKED]), Asking.counting)
with_hiding = sharing(dict([*CATEGORY_OPTIONS, LEARN, *HIDING_OPTIONS, *ASKED]), Asking.hidden)
