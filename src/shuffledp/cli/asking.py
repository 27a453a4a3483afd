"""The options of a question about a table: what to read, what to promise, whose budget to spend,
where to write.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from shuffledp.cli.numbers import read_count, read_number
from shuffledp.cli.options import ANSWER, AS_JSON, HONEST, QUESTION, ROUNDS
from shuffledp.cli.sharing import argument, option, sharing
from shuffledp.collection.release.terms import Categories, Promise, read_categories
from shuffledp.errors import InvalidInput

if TYPE_CHECKING:  # pyarrow takes longer to load than most other commands take
    from shuffledp.collection.release.budget import Budget
    from shuffledp.collection.tables.cleaning import Cleaning

__all__ = [
    "BUDGET_OPTIONS",
    "CATEGORY_OPTIONS",
    "MESSY_OPTIONS",
    "OUTPUT_OPTIONS",
    "PROMISE_OPTIONS",
    "TABLE",
    "TABLE_OPTIONS",
    "Asking",
    "Keeping",
    "Reading",
    "with_asking",
    "with_counting",
]

TABLE, MESSY, BUDGET = "The table", "If the table is messy", "The budget"
FORMATS = ("csv", "parquet", "arrow")


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
LEARN = option(
    "learn",
    TABLE,
    "Take the categories from the data; their list is then published unprotected.",
    default=False,
    annotation=bool,
    flag="learn-categories",
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
    column: str | None
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

    def fields(self) -> dict[str, Any]:
        """The same as arguments."""
        return {name: getattr(self, name) for name in self.__slots__}


def budget_of(
    ledger: Path | None, population: str | None, limit_epsilon: float | None, limit_delta: float | None
) -> "Budget | None":
    """The budget that the options describe, if any."""
    from shuffledp.collection.release.budget import Budget

    return Budget.of(ledger, population, limit_epsilon, limit_delta)


@dataclass(frozen=True, slots=True)
class Asking:
    """What the shared options describe."""

    reading: Reading
    title: str | None
    promise: Promise
    budget: "Budget | None"
    keeping: Keeping
    dry_run: bool
    categories: Categories | None = None

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
        return replace(cls.of(**options), categories=known)

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
        **table: Any,
    ) -> Self:
        """Sort the options."""
        promise = Promise(epsilon=epsilon, delta=delta, rounds=1 if rounds is None else rounds, honest=honest)
        budget = budget_of(ledger, population, limit_epsilon, limit_delta)
        return cls(Reading.taken(table), title, promise, budget, Keeping(out, force, as_json), dry_run)


ASKED = [
    argument("source", "A CSV, Parquet or Arrow file, or - for standard input.", metavar="FILE"),
    *TABLE_OPTIONS,
    *MESSY_OPTIONS,
    *PROMISE_OPTIONS,
    *BUDGET_OPTIONS,
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
with_counting = sharing(dict([*CATEGORY_OPTIONS, LEARN, *ASKED]), Asking.counting)
