"""The options of a question about a table: what to read, what to promise, whose budget to spend, where to write."""

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

from shuffledp.cli.randomizers import read_count, read_number
from shuffledp.cli.setup import ANSWER, AS_JSON, HONEST, QUESTION, ROUNDS
from shuffledp.cli.sharing import argument, option, sharing
from shuffledp.errors import InvalidInput
from shuffledp.release.budget import Budget
from shuffledp.release.terms import Categories, Promise, read_categories

__all__ = [
    "BUDGET_OPTIONS",
    "CATEGORY_OPTIONS",
    "OUTPUT_OPTIONS",
    "PROMISE_OPTIONS",
    "TABLE",
    "TABLE_OPTIONS",
    "Asking",
    "Keeping",
    "with_asking",
    "with_counting",
]

TABLE, BUDGET = "The table", "The budget"
FORMATS = ("csv", "parquet", "arrow")


PROMISE_OPTIONS = [
    option("epsilon", QUESTION, "The epsilon to promise, for all rounds together.", default=..., parser=read_number, metavar="NUMBER"),
    option("delta", QUESTION, "The delta to promise: a small probability, well below 1/n.", default=..., parser=read_number, metavar="NUMBER"),
    HONEST,
    ROUNDS,
]
BUDGET_OPTIONS = [
    option("ledger", BUDGET, "Record the release in this SQLite file, before anything is written.", annotation=Path, metavar="FILE"),
    option("population", BUDGET, "Whose budget this is, such as app-users.", metavar="NAME"),
    option("limit_epsilon", BUDGET, "What all releases about them may add up to.", parser=read_number, metavar="NUMBER", flag="limit-epsilon"),
    option("limit_delta", BUDGET, "At this delta.", parser=read_number, metavar="NUMBER", flag="limit-delta"),
]
OUTPUT_OPTIONS = [
    option("out", ANSWER, "The folder to write; it must not exist yet.", annotation=Path, metavar="FOLDER"),
    option("force", ANSWER, "Replace the folder if it exists.", default=False, annotation=bool),
]
CATEGORY_OPTIONS = [
    option("categories", TABLE, "A file with one category per line, or a list such as yes,no.", metavar="FILE|LIST"),
    option("domain", TABLE, "The categories are 0, 1, 2, and so on: how many.", parser=read_count, metavar="COUNT"),
    option("other", TABLE, "Count all other values as this category; left out, they are refused.", metavar="NAME"),
    option("missing", TABLE, "Count missing values as this category; left out, those rows do not take part.", metavar="NAME"),
]
LEARN = option(
    "learn", TABLE, "Take the categories from the data; their list is then published unprotected.", default=False, annotation=bool, flag="learn-categories"
)
TABLE_OPTIONS = [
    option("column", TABLE, "The column to ask about; a table with a single one needs no name.", metavar="NAME"),
    option("format", TABLE, f"One of {', '.join(FORMATS)}; left out, the file's first bytes say.", metavar="NAME"),
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
            raise InvalidInput("--out is missing: the folder to write. Add, for example, --out result; or --dry-run to write nothing.")
        return self.out


@dataclass(frozen=True, slots=True)
class Asking:
    """What the shared options describe."""

    source: str
    column: str | None
    format: str | None
    title: str | None
    promise: Promise
    budget: Budget | None
    keeping: Keeping
    dry_run: bool
    categories: Categories | None = None

    @classmethod
    def counting(cls, *, categories: str | None, domain: int | None, learn: bool, other: str | None, missing: str | None, **options: Any) -> Self:
        """The same for a question whose answers are categories."""
        known = read_categories(categories, learn=learn, domain=domain, other=other, missing=missing)
        return replace(cls.of(**options), categories=known)

    @classmethod
    def of(
        cls,
        *,
        source: str,
        column: str | None,
        format: str | None,
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
    ) -> Self:
        """Sort the options."""
        promise = Promise(epsilon=epsilon, delta=delta, rounds=1 if rounds is None else rounds, honest=honest)
        budget = Budget.of(ledger, population, limit_epsilon, limit_delta)
        return cls(source, column, format, title, promise, budget, Keeping(out, force, as_json), dry_run)


ASKED = [
    argument("source", "A CSV, Parquet or Arrow file, or - for standard input.", metavar="FILE"),
    *TABLE_OPTIONS,
    *PROMISE_OPTIONS,
    *BUDGET_OPTIONS,
    *OUTPUT_OPTIONS,
    option("title", ANSWER, "A headline for the report.", metavar="TEXT"),
    option("dry_run", ANSWER, "Show the plan and the cost, and write nothing.", default=False, annotation=bool, flag="dry-run"),
    AS_JSON,
]
with_asking = sharing(dict(ASKED), Asking.of)
with_counting = sharing(dict([*CATEGORY_OPTIONS, LEARN, *ASKED]), Asking.counting)
