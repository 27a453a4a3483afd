"""The commands histogram, mean, sum, count, quantile and crosstab: from a table to a folder with a
defended answer. What they take is declared in ``release.options``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from shuffledp.cli import options
from shuffledp.cli.app import KNOWN, app, load
from shuffledp.cli.options import ANSWER, Option, as_declared, declared, option, sharing
from shuffledp.errors import InvalidInput
from shuffledp.questions import options_module
from shuffledp.release.options import Epsilon, Noise, Promised, WeekOptions, options_of
from shuffledp.release.options import Option as Declared

if TYPE_CHECKING:  # pyarrow takes longer to load than most other commands take
    from shuffledp.design import Design
    from shuffledp.release.arguments import Promise
    from shuffledp.release.budget import Budget
    from shuffledp.release.released import Release
    from shuffledp.tables.columns import Column

FIRST = {**options_of(Epsilon), **options_of(Noise), **options_of(Promised)}  # they are missed first


def asking_options(name: str) -> list[Option]:
    """All that the command of a question takes."""
    own = options_module(name).Options
    listed = options_of(own).get("categories", Declared(""))
    return [
        options.SOURCES,
        options.COLUMNS if listed.kind == "texts" else options.COLUMN,
        *declared(own, only=FIRST),
        *declared(own, leave=FIRST),
        *options.ENGINE_OPTIONS,
        *options.OUTPUT_OPTIONS,
        option("dry_run", ANSWER, "Show the plan and the cost, and write nothing.", bool),
        options.AS_JSON,
    ]


def asked(name: str, typed: Mapping[str, Any], source: str) -> "tuple[Any, Promise, Budget | None]":
    """The question of that name, of a table or, with "-", of one that is still to come; what is
    promised, and whose budget it takes.
    """
    from shuffledp.release.arguments import complete
    from shuffledp.release.pipeline import described

    known = options_of(options_module(name).Options)
    given = as_declared(known, typed)
    return described(name, source, typed.get("column"), complete(known, given))


def read_as(source: str, typed: Mapping[str, Any]) -> dict[str, Any]:
    """How a table is read whose question was asked before."""
    from shuffledp.release.arguments import complete, reading

    known = options_of(WeekOptions)
    return reading(source, complete(known, as_declared(known, typed)))


def opened(reading: Mapping[str, Any], columns: Sequence[str] | None, design: "Design") -> "Column":
    """The column, or the columns, that a design asks about."""
    from shuffledp.client import column_for
    from shuffledp.tables import open_column

    given = {name: reading[name] for name in ("format", "ids", "encoding", "one_row_per_person")}
    kind: Any = "text" if reading["cleaning"].reads_numbers else design.domain.kind
    return open_column(reading["source"], column_for(design, columns or []), kind=kind, **given)


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
        if given["engine"] is None:
            if work is not None:
                raise InvalidInput("--work must come with --engine, got none. Add --engine spark.")
            if len(tables) > 1:
                raise InvalidInput(
                    f"one table must be given without --engine, got {len(tables)}. Put them into one file, or add "
                    f"--engine spark."
                )
            return None
        place = spark_master(given["engine"])
        _check_table(given)
        if work is None and not place.startswith("local"):
            raise InvalidInput(
                f"--work must be given with --engine {place}, got none. Name a folder on storage that all its workers "
                f"share, such as hdfs:///tmp/poll."
            )
        return cls(place, work, tuple(tables))


def spark_master(engine: str) -> str:
    """Where Spark runs: an address of its own kinds, or all cores of this machine."""
    if engine == "spark":
        return "local[*]"
    if engine != "yarn" and not engine.startswith(("local", "spark://", "k8s://")):
        raise InvalidInput(
            f"--engine must be spark or the address of a Spark cluster, got {engine!r}. Leave it out to run here, "
            f"without an engine."
        )
    return engine


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


def source_of(tables: Iterable[str]) -> str:
    """One name for all tables."""
    first, *others = tables
    return first if not others else f"{first} and {len(others)} more"


class Own(NamedTuple):
    """How commands show a question that is not shown as all others are: its dry run, its design and
    its plan; and how it is asked of tables in Spark.
    """

    dry_run: Any = None
    designed: Any = None
    planned: Any = None
    in_spark: Any = None


USUAL = Own()
OWN: dict[str, Own] = {}


def own_of(name: str) -> Own:
    """What its command says of itself."""
    load(name)
    return OWN.get(name, USUAL)


@dataclass(frozen=True, slots=True)
class Asking:
    """A question, and what a command needs to answer it."""

    question: Any  # of release.request, or a search
    promise: "Promise"
    budget: "Budget | None"
    keeping: Keeping
    dry_run: bool
    engine: Engine | None = None
    own: Own = USUAL

    @classmethod
    def of(cls, name: str, typed: Mapping[str, Any]) -> Self:
        """What the options of a command describe."""
        engine = Engine.of(typed)
        described = asked(name, typed, source_of(typed["source"]))
        return cls(*described, Keeping.of(typed), typed["dry_run"], engine, own_of(name))


@dataclass(frozen=True, slots=True)
class Found:
    """A table that was read, wherever it lies: the question as it stands then, how many people have
    a value and how many, in public, have none, and how a design for them is carried out.
    """

    question: Any
    people: int
    missing: int | None
    publish: "Callable[[Design], Release]"
    remarks: Sequence[str] = ()


PROMISED = "--epsilon 1 --delta 1e-6"
ENDS = "--lower 0 --upper 120"


def question_command(name: str, *lines: str, own: Own | None = None) -> None:
    """Register the command of a question, with its examples."""
    if own is not None:
        OWN[name] = own

    def run(typed: Any) -> None:
        from shuffledp.cli.answering import answer

        answer(Asking.of(name, typed))

    register = app.command(name, *(f"{name} {line}" for line in lines), help=KNOWN[name].summary)
    register(sharing(asking_options(name), dict)(run))


question_command(
    "histogram",
    f"people.parquet --column city --categories cities.txt {PROMISED} --out result",
    f"survey.csv --column answer --categories yes,no {PROMISED} --dry-run",
    f"visits.parquet --column page --categories pages.txt --mechanism hadamard {PROMISED} --out result",
    "survey.csv --column answer --categories yes,no --gamma 0.25 --delta 1e-6 --out result",
    f"'visits/*.parquet' --column city --categories cities.txt {PROMISED} --out result --engine spark",
)
question_command(
    "mean",
    f"people.parquet --column age {ENDS} {PROMISED} --out result",
    f"people.parquet --column age {ENDS} {PROMISED} --error 0.1 --out result",
)
question_command(
    "sum",
    f"people.parquet --column hours --lower 0 --upper 60 {PROMISED} --error 500 --out result",
    "people.parquet --column hours --lower 0 --upper 60 --k 6 --gamma 0.1 --delta 1e-6 --out result",
)
question_command(
    "count",
    f"survey.csv --column answer --value yes {PROMISED} --out result",
    f"survey.csv --column answer --value yes --categories yes,no {PROMISED} --out result",
)
question_command(
    "quantile",
    f"people.parquet --column age {ENDS} --at 0.1,0.5,0.9 {PROMISED} --out result",
    f"people.parquet --column age {ENDS} --range 18:65 {PROMISED} --out result",
    f"pay.csv --column income --lower 100 --upper 1e7 --scale log --clip {PROMISED} --out result",
)
question_command(
    "crosstab",
    f"people.csv --column region --column smoker --categories regions.txt --categories yes,no {PROMISED} --out result",
    f"people.csv --column smoker --by region --categories region=regions.txt --categories yes,no {PROMISED} --dry-run",
)
