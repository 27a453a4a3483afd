"""The commands histogram, mean, sum, count, quantile and crosstab: from a table to a folder with a
defended answer. What they take is declared in ``release.options``. A table is read, noise
calibrated, and a plan or the release shown.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from shuffledp.cli import options, show
from shuffledp.cli.app import Given, command, load
from shuffledp.cli.options import as_declared, declared
from shuffledp.cli.show import patiently, progress
from shuffledp.cli.tree import near
from shuffledp.errors import InvalidInput, spelled
from shuffledp.questions import OURS, options_module
from shuffledp.release.options import Epsilon, Noise, Promised, WeekOptions, options_of
from shuffledp.release.options import Option as Declared
from shuffledp.wording import rounded

if TYPE_CHECKING:  # pyarrow takes longer to load than most other commands take
    from shuffledp.cli.spark import Engine
    from shuffledp.design import Design
    from shuffledp.record import Record
    from shuffledp.release.arguments import Promise
    from shuffledp.release.budget import Budget
    from shuffledp.release.files import EstimateTable
    from shuffledp.release.released import Release
    from shuffledp.release.request import Request
    from shuffledp.tables.columns import Column

FIRST = {**options_of(Epsilon), **options_of(Noise), **options_of(Promised)}  # they are missed first
TRUST = {"nobody": "without a shuffler", "curator": "with a trusted curator"}  # by the best mechanism known here
WOULD_REPLACE = (
    "An earlier release stands in that folder, and replacing it would not undo it: the noise would be drawn afresh, so "
    "if both are about the same people they "
    "would be two releases, and what they cost would add up."
)


def asking_options(name: str) -> list[Given]:
    """All that the command of a question takes."""
    own = options_module(name).Options
    listed = options_of(own).get("categories", Declared(""))
    return [
        options.SOURCES,
        options.COLUMNS if listed.kind == "texts" else options.COLUMN,
        *declared(own, only=FIRST),
        *declared(own, leave=FIRST),
        *options.ENGINE_OPTIONS,
        *options.OUTPUT,
        options.DRY_RUN,
        options.JSON,
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


def certify(design: "Design") -> "Design":
    """The design, unless its noise does not keep its promise."""
    from shuffledp.poll import certify as certified

    with patiently("certifying"):
        return certified(design)


def opened(reading: Mapping[str, Any], columns: Sequence[str] | None, design: "Design") -> "Column":
    """The column, or the columns, that a design asks about."""
    from shuffledp.client import column_for
    from shuffledp.tables.columns import open_column

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


def engine_of(given: Mapping[str, Any]) -> "Engine | None":
    """The engine that the options name, if any: then ``cli.spark`` answers."""
    if given["engine"] is not None:
        from shuffledp.cli.spark import Engine

        return Engine.of(given)
    if given["work"] is not None:
        raise InvalidInput("--work must come with --engine, got none. Add --engine spark.")
    if (many := len(given["source"])) > 1:
        raise InvalidInput(
            f"one table must be given without --engine, got {many}. Put them into one file, or add --engine spark."
        )
    return None


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
class TypedCommand:
    """A question, and what a command needs to answer it."""

    question: Any  # of release.request, or a search
    promise: "Promise"
    budget: "Budget | None"
    keeping: Keeping
    dry_run: bool
    engine: "Engine | None" = None
    own: Own = USUAL

    @classmethod
    def of(cls, name: str, typed: Mapping[str, Any]) -> Self:
        """What the options of a command describe."""
        engine = engine_of(typed)
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


def answer(asking: TypedCommand) -> None:
    """Read, calibrate, and either show the plan or carry it out."""
    from shuffledp.release.files import check_folder

    keeping = asking.keeping
    if not asking.dry_run:
        check_folder(keeping.folder(), replace=keeping.force)
    with found(asking) as table:
        with patiently("calibrating"):
            design = table.question.design(table.people, asking.promise)
        if asking.dry_run:
            planned: Callable[..., None] = asking.own.dry_run or _plan
            return planned(asking, table.question, design, table.missing, table.remarks)
        with heard(as_json=keeping.as_json):
            made = table.publish(design)
        more = fitting(asking.budget, design)
    return show_release(made, as_json=keeping.as_json, more=more, remarks=table.remarks)


def found(asking: TypedCommand) -> AbstractContextManager[Found]:
    """The table of a question, here or on an engine."""
    if asking.engine is None:
        return _in_file(asking)
    from shuffledp.cli.spark import in_spark

    return (asking.own.in_spark or in_spark)(asking, asking.engine)


@contextmanager
def _in_file(asking: TypedCommand) -> Iterator[Found]:
    """A table that this process reads."""
    keeping = asking.keeping
    with patiently("opening the table"):
        column = asking.question.open()
    named = asking.question.named(column.name)
    with progress("reading") as watched:
        values = named.values(column, tick=watched(column.table.rows, lambda: column.table.done))

    def publish(design: "Design") -> "Release":
        with progress("randomizing", then="certifying and writing") as watched:
            return named.release(  # type: ignore[no-any-return]
                values,
                design,
                keeping.folder(),
                budget=asking.budget,
                force=keeping.force,
                tick=watched(values.count, lambda: None),
            )

    with values:
        missing = values.missing if named.leaves_out else None
        yield Found(named, values.count, missing, publish, [spelled(each, typed=True) for each in values.remarks])


def fitting(budget: "Budget | None", design: "Design") -> int | None:
    """How many more releases like one that stands fit within the budget, where that can be told."""
    if budget is None:
        return None
    with patiently("composing the budget"), suppress(InvalidInput):  # the release stands, whatever becomes of this
        return budget.more(design)
    return None


@contextmanager
def heard(*, as_json: bool) -> Iterator[None]:
    """What is to be said after Ctrl-C, if anything; the parser would keep it to itself."""
    try:
        yield
    except KeyboardInterrupt as error:
        words = f"interrupted. {error}"
        if error.args:
            print(json.dumps({"error": words, "exit": 130}) if as_json else f"error: {words}", file=sys.stderr)
        raise


def _plan(
    asking: TypedCommand, question: "Request", design: "Design", missing: int | None, remarks: Sequence[str]
) -> None:
    """What would be done, what it would be worth, and what it would cost."""
    from shuffledp.release.certificate import certificate, comparison
    from shuffledp.release.files import holds_release

    with patiently("certifying"):
        certified = certificate(design)
        errors = comparison(design, certified)
        receipt = None if asking.budget is None else asking.budget.afford(design, question.what)
    by = {each.trust: each for each in errors}
    facts = {
        "asked": question.asked().as_json(),
        "design": design.as_json(),
        "certificate": certified.as_json(),
        "comparison": [each.as_json() for each in errors],
    }
    cost = {"reports": design.n, "missing": missing, "bits": design.poll.bits}
    worst = design.poll.worst_stderr()
    if asking.keeping.as_json:
        return show.as_json(
            {"dry_run": True}
            | facts
            | {"cost": cost, "worst": worst}
            | ({} if receipt is None else {"ledger": receipt}),
            remarks,
        )
    absent = f"{missing:,} without a value" if missing is not None else "including those without a value"
    show.answer(
        f"{question.what}: {design.n:,} people, {absent}",
        [
            ("epsilon", rounded(certified.epsilon.upper, up=True), f"at most, at delta = {show.exactly(design.delta)}"),
            show.alone(design.mechanism, design.reveals),
            *([("messages", f"{messages}", "of each person")] if (messages := design.poll.messages) > 1 else []),
            ("bits", f"{design.poll.bits}", "in a report"),
            ("error", show.number(by["shuffler"].stderr), f"standard error of {design.resolved.estimated}, to expect"),
            *(
                ("", show.number(by[trust].stderr), f"the same {words}: {by[trust].mechanism}")
                for trust, words in TRUST.items()
            ),
            *(
                [("worst", show.number(worst), "the same for the worst category: at most, whatever the data")]
                if design.resolved.unit == "people"
                else []
            ),
        ],
        [f"Proof: {certified.method}.", *show.algorithm(design)],
    )
    show.warnings(f"{each}." for each in remarks)
    if question.clip:
        show.warnings([question.question.to_be_clipped])
    if said := design.sparse(design.poll.predicted_stderr()):
        show.warnings(said)
    show_cost(receipt, (receipt or {}).get("more"))
    if asking.keeping.force and asking.keeping.out is not None and holds_release(asking.keeping.out):
        show.warnings([WOULD_REPLACE])
    return show.sentences(["\nNothing was written. Leave out --dry-run, and add --out FOLDER, to run it."])


def show_cost(receipt: Mapping[str, Any] | None, more: int | None = None) -> None:
    """What a release would take of a budget, and how many more like it would fit, where known."""
    if receipt is not None:
        spent = f"{rounded(receipt['total']['upper'], up=True)} of {receipt['limit']['epsilon']:g}"
        left = _more(more, "would fit after it")
        show.sentences([f"\nOf the budget of {receipt['population']!r}, {spent} would be spent{left}."])


def show_release(made: "Release", *, as_json: bool, more: int | None = None, remarks: Sequence[str] = ()) -> None:
    """The estimates, what is certified, and where everything lies; ``more`` releases like it fit
    within the budget, if that is known. The owner of the table reads the ``remarks``, and no page.
    """
    from shuffledp.page.sentences import influence, moved_quantiles
    from shuffledp.release.files import files_of
    from shuffledp.release.released import certified, charged, headline, warned

    assert made.folder is not None
    record = made.record
    if as_json:
        facts = {**record.as_json(), "out": str(made.folder)} | ({} if more is None else {"more": more})
        return show.as_json(facts, remarks)
    bound = record.certificate.epsilon
    show.answer(headline(record), [], [])
    if not record.question.ordered:
        print()
        _show_estimates(made.estimates)
    _show_told(record)
    if record.question.ordered:
        show.sentences([f"How many people are below each of {record.estimates.of:,} cut points is in estimates.csv."])
    show.sentences([f"\n{show.meaning(bound.upper, bound.delta)}", certified(record)])
    if (moved := influence(record)) is not None:
        show.sentences([moved, *moved_quantiles(record)])
    if record.ledger is not None:
        show.sentences([f"{charged(record.ledger)}{_more(more, 'fit')}."])
    show.bullets(record.notes)
    print()
    show.files(made.folder, files_of(record))
    return show.warnings([*warned(record), *(f"{each}." for each in remarks)])


def _show_told(record: "Record") -> None:
    """What was asked for beside the estimates."""
    for each in record.question.told(record):
        show.sentences([f"\n{each.title}:"])
        heads, rows = each.plain.heads[1:], [(*cells, name) for name, *cells in each.plain.rows]
        show.table([*map(str.lower, heads), ""], rows, numbers=len(heads))


def _show_estimates(table: "EstimateTable") -> None:
    """All estimates in their order, each with its own interval; of many, the largest, with
    intervals that hold for all at once.
    """
    show.table([*table.heads, ""], [(*table.words(place), table.label[place]) for place in table.shown()], numbers=3)
    if table.cut:
        many = len(table)
        show.sentences(
            [
                f"... and {many - len(table.shown()):,} more, in estimates.csv",
                f"\n{_told_apart(int((table.all_lower > 0.0).sum()), many)}",
            ]
        )


def _told_apart(told: int, many: int) -> str:
    """How many of the estimates are more than noise.

    >>> _told_apart(0, 9758)
    'None of the 9,758 counts can be told from 0: the largest of so many estimates would be about as
    large if nobody held any of these values.'
    """
    if told == 0:
        return (
            f"None of the {many:,} counts can be told from 0: the largest of so many estimates would be about as "
            f"large if nobody held any of these values."
        )
    return (
        f"{told:,} of the {many:,} counts can be told from 0, those whose interval lies above it; a ranking of the "
        f"others is a ranking of noise."
    )


def _more(count: int | None, verb: str) -> str:
    """How many more releases like this one the budget has room for, where that is known."""
    return "" if count is None else f"; {'no' if count == 0 else f'{count:,}'} more like this {verb}"


PROMISED = "--epsilon 1 --delta 1e-6"
ENDS = "--lower 0 --upper 120"


def question_command(name: str, *lines: str, own: Own | None = None) -> None:
    """Register the command of a question, with its examples."""
    if own is not None:
        OWN[name] = own

    def run(**typed: Any) -> None:
        answer(TypedCommand.of(name, typed))

    command(name, *lines, options=asking_options(name))(run)


def check_question(name: str) -> None:
    """Refuse what cannot be asked."""
    if name not in OURS:
        raise InvalidInput(f"QUESTION must be one of {', '.join(OURS)}, got {name!r}. {near(name, OURS)}".strip())


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
    f"pay.csv --column income --lower 100 --upper 1e7 --spacing log --clip {PROMISED} --out result",
)
question_command(
    "crosstab",
    f"people.csv --column region --column smoker --categories regions.txt --categories yes,no {PROMISED} --out result",
    f"people.csv --column smoker --by region --categories region=regions.txt --categories yes,no {PROMISED} --dry-run",
)
