"""The options of a question about a table, sorted: how it is read, what is promised, where it is
answered.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from shuffledp.cli import options
from shuffledp.cli.numbers import read_numbers, read_range
from shuffledp.cli.options import ANSWER, option, sharing
from shuffledp.errors import InvalidInput
from shuffledp.release.terms import BY_NOISE, Bins, Categories, Hiding, Promise, given_bins, read_categories

if TYPE_CHECKING:  # pyarrow takes longer to load than most other commands take
    from shuffledp.protocols.design import Design
    from shuffledp.release.budget import Budget
    from shuffledp.release.question import Question
    from shuffledp.release.released import Release
    from shuffledp.tables.cleaning import Cleaning
    from shuffledp.tables.columns import Column

__all__ = [
    "ASKED",
    "LOCAL",
    "Asking",
    "Engine",
    "Found",
    "Keeping",
    "Reading",
    "binned",
    "budget_of",
    "check_engine",
    "promise_of",
    "with_asking",
    "with_binning",
    "with_counting",
    "with_listing",
]

LOCAL = "local[*]"  # Spark on all cores of this machine


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
    one_row_per_person: bool

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """What belongs here of the options of a command."""
        from shuffledp.tables.cleaning import Cleaning, check_encoding
        from shuffledp.tables.people import check_keep

        own = {name: given[name] for name in ("source", "column", "format", "ids", "encoding", "one_row_per_person")}
        rules = {name: given[name] for name in ("strip", "ignore_case", "thousands")}
        words = () if given["na"] is None else tuple(part.strip() for part in given["na"].split(","))
        cleaning = Cleaning(**rules, na=words, decimal=given["decimal"] or ".")
        keep = check_keep(given["keep"], given["ids"])
        if own["encoding"] is not None:
            own["encoding"] = check_encoding(own["encoding"])
        return cls(**own, keep=keep, cleaning=cleaning)

    @property
    def columns(self) -> list[str]:
        """All columns that were named."""
        if self.column is None:
            return []
        return [self.column] if isinstance(self.column, str) else self.column

    def opened(self, design: "Design") -> "Column":
        """The column, or the columns, that a design asks about."""
        from shuffledp.client import column_for
        from shuffledp.tables import open_column

        given = {name: getattr(self, name) for name in ("format", "ids", "encoding", "one_row_per_person")}
        kind: Any = "text" if self.cleaning.reads_numbers else design.task.kind
        return open_column(self.source, column_for(design, self.columns), kind=kind, **given)

    def fields(self) -> dict[str, Any]:
        """The same as arguments."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where a result goes."""

    out: Path | None
    force: bool
    as_json: bool

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """What belongs here of the options of a command."""
        return cls(given["out"], given["force"], given["as_json"])

    def folder(self) -> Path:
        """The folder to write."""
        if self.out is None:
            raise InvalidInput(
                "--out is missing: the folder to write. Add, for example, --out result; or --dry-run to write nothing."
            )
        return self.out


@dataclass(frozen=True, slots=True)
class Engine:
    """Where a question runs, other than here: on Spark."""

    master: str
    work: str | None
    tables: tuple[str, ...]

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self | None:
        """The engine that the options name, if any; what it cannot do is refused."""
        tables, work = given["source"], given["work"]
        check_engine(given["engine"], given["master"], work)
        if given["engine"] is None:
            if len(tables) > 1:
                raise InvalidInput(
                    f"one table must be given without --engine, got {len(tables)}. Put them into one file, or add "
                    f"--engine spark."
                )
            return None
        _check_table(given)
        place = LOCAL if given["master"] is None else given["master"]
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


def _check_table(given: Mapping[str, Any]) -> None:
    """Refuse what only one machine can do."""
    if "-" in given["source"]:
        raise InvalidInput("tables must be files with --engine, got standard input. Save it where Spark can read it.")
    if given["keep"] == "first":
        raise InvalidInput(
            "--keep must be random with --engine, where no row is the first, got 'first'. Leave it out, or keep one "
            "row of each person before."
        )
    if given["encoding"] is not None:
        raise InvalidInput(
            f"--encoding must be left out with --engine, got {given['encoding']!r}. Convert the table to Parquet first."
        )
    if given["format"] not in (None, "csv", "parquet"):
        raise InvalidInput(
            f"--format must be csv or parquet with --engine, got {given['format']!r}. Convert the table first."
        )


def budget_of(**given: Any) -> "Budget | None":
    """The budget that the options describe, if any."""
    from shuffledp.release.budget import Budget

    return Budget.of(*(given[name] for name, _ in options.BUDGET_OPTIONS))


def promise_of(given: Mapping[str, Any], noise: Sequence[str] = ("gamma", "epsilon0", "k")) -> Promise:
    """The promise that the options describe, with the noise among them."""
    rounds = 1 if given["rounds"] is None else given["rounds"]
    names = ("epsilon", "delta", "honest", *(name for name in noise if name in given))
    return Promise(rounds=rounds, **{name: given[name] for name in names})


def binned(given: Mapping[str, Any]) -> Bins:
    """The bins, quantiles and ranges as they are typed."""
    return given_bins(
        **{name: given[name] for name in ("lower", "upper", "bins", "scale")},
        cuts=None if given["cuts"] is None else read_numbers("--cuts", given["cuts"]),
        at=read_numbers("--at", given["at"]),
        ranges=[read_range(each) for each in given["ranges"] or []],
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
    def counting(cls, *, categories: str | None, mechanism: str, **given: Any) -> Self:
        """The same for a question whose answers are categories."""
        hiding = Hiding("histogram", mechanism)
        known = read_categories(categories, **{name: given[name] for name in ("domain", "other", "missing")})
        return replace(cls.of(**given), categories=known, hiding=hiding)

    @classmethod
    def binning(cls, *, mechanism: str, **given: Any) -> Self:
        """The same for a question about a number that falls into bins."""
        known = binned(given)
        hiding = Hiding("quantile", mechanism)
        return replace(cls.of(**given), bins=known, hiding=hiding)

    @classmethod
    def listing(cls, *, categories: str | None, other: str | None, **given: Any) -> Self:
        """The same where categories may be listed, and need not."""
        if categories is None and other is not None:
            raise InvalidInput("--other must come with --categories, got none. Without them every other value is else.")
        known = None
        if categories is not None:
            known = read_categories(categories, domain=None, other=other, missing=None)
        return replace(cls.of(**given), categories=known)

    @classmethod
    def of(cls, **given: Any) -> Self:
        """Sort the options."""
        runs = Engine.of(given)
        promise, budget = promise_of(given), budget_of(**given)
        first, *others = given["source"]
        source = first if not others else f"{first} and {len(others)} more"
        reading = Reading.of(given | {"source": source})
        return cls(reading, given["title"], promise, budget, Keeping.of(given), given["dry_run"], runs)


@dataclass(frozen=True, slots=True)
class Found:
    """A table that was read, wherever it lies: the question as it stands then, how many people have
    a value and how many, in public, have none, and how a design for them is carried out.
    """

    question: "Question"
    people: int
    missing: int | None
    publish: "Callable[[Design], Release]"
    remarks: Sequence[str] = ()


ASKED = [
    options.SOURCES,
    *options.TABLE_OPTIONS,
    *options.MESSY_OPTIONS,
    *options.PROMISE_OPTIONS,
    *options.BUDGET_OPTIONS,
    *options.ENGINE_OPTIONS,
    *options.OUTPUT_OPTIONS,
    options.TITLE,
    option("dry_run", ANSWER, "Show the plan and the cost, and write nothing.", bool),
    options.AS_JSON,
]
OR_NOISE = [each for one in ASKED for each in (options.NOISE if one[0] == "epsilon" else [one])]
with_asking = sharing(OR_NOISE, Asking.of)
with_binning = sharing([*options.BOUND_OPTIONS, *options.BIN_OPTIONS, options.HIDING, *ASKED], Asking.binning)
with_listing = sharing(
    [*(each for each in options.CATEGORY_OPTIONS if each[0] in ("categories", "other")), *ASKED], Asking.listing
)
with_counting = sharing(
    [*options.CATEGORY_OPTIONS, options.HIDING, *(each for each in OR_NOISE if each[0] != "k")], Asking.counting
)
