"""The commands design, encode, shuffle and analyse: the same as in one go, for clients, shuffler
and analyst apart. And example: data to try them on.
"""

import math
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shuffledp.cli import show
from shuffledp.cli.hiding_options import HIDING_OPTIONS, hiding_of
from shuffledp.cli.listing import RUN, app, examples
from shuffledp.cli.numbers import read_count, read_number
from shuffledp.cli.options import ANSWER, AS_JSON, QUESTION
from shuffledp.cli.promise_options import BUDGET_OPTIONS, OUTPUT_OPTIONS, PROMISE_OPTIONS, Keeping, budget_of
from shuffledp.cli.release import show_release
from shuffledp.cli.sharing import argument, option, sharing
from shuffledp.cli.table_options import COLUMNS, MESSY_OPTIONS, TABLE, TABLE_OPTIONS, Reading
from shuffledp.cli.value_options import (
    BIN_OPTIONS,
    BINNED,
    CATEGORY_OPTIONS,
    LISTS,
    EncodedBy,
    LowerBound,
    UpperBound,
    binned,
)
from shuffledp.cli.waiting import patiently, progress
from shuffledp.collection.release.terms import Promise, read_categories
from shuffledp.errors import InvalidInput
from shuffledp.protocols.tasks import TASKS
from shuffledp.storage.canonical import digest_of
from shuffledp.storage.files import check_apart, check_new_file, replace_file
from shuffledp.wording import rounded

if TYPE_CHECKING:
    from shuffledp.collection.release.budget import Budget
    from shuffledp.collection.release.question import Question
    from shuffledp.collection.tables.formats import Kind

__all__ = ["ASKED_EARLY", "settled_question"]

File = Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.", rich_help_panel=ANSWER)]
Force = Annotated[bool, typer.Option("--force", help="Replace the file if it exists.", rich_help_panel=ANSWER)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel=ANSWER)]
Settled = Annotated[
    Path | None,
    typer.Option(
        "--design",
        metavar="FILE",
        help="The design that was settled; if left out, the files are trusted.",
        rich_help_panel=QUESTION,
    ),
]
HIDDEN = ("histogram", "crosstab", "quantile")  # by fakes, if asked for
# Of a count, a mean or a sum that is settled before there is a table.
REACHING_OPTIONS = [
    option("value", TABLE, "For a count: the value to count.", metavar="NAME"),
    option(
        "messages",
        TABLE,
        "For a mean, a sum or a count: how many messages each person may send.",
        annotation=int,
        parser=read_count,
        metavar="COUNT",
    ),
    option(
        "error",
        TABLE,
        "For a mean, a sum or a count: the standard error to stay below.",
        annotation=float,
        parser=read_number,
        metavar="NUMBER",
    ),
]
ASKED_EARLY = [COLUMNS, *CATEGORY_OPTIONS, LISTS, *BIN_OPTIONS, *REACHING_OPTIONS, *HIDING_OPTIONS]
UNSETTLED = "it was not compared with the one that was settled. Add --design to compare them."
with_categories = sharing(dict([*ASKED_EARLY, *PROMISE_OPTIONS, AS_JSON]), dict)
with_budget = sharing(dict(BUDGET_OPTIONS), budget_of)


@app.command(
    "design",
    rich_help_panel=RUN,
    epilog=examples(
        "design histogram --categories cities.txt --n 1e6 --epsilon 1 --delta 1e-8 --out city.json",
        "design crosstab --column region --column smoker --categories regions.txt --categories yes,no --n 1e6 "
        "--epsilon 1 --delta 1e-8 --out table.json",
        "design mean --lower 0 --upper 120 --n 1e6 --honest 90% --rounds 12 --epsilon 1 --delta 1e-8 --out age.json",
        "design quantile --lower 0 --upper 120 --at 0.1,0.5,0.9 --n 1e6 --epsilon 1 --delta 1e-8 --out age.json",
    ),
)
@with_categories
def design(
    given: dict[str, Any],
    task: Annotated[str, typer.Argument(metavar="TASK", help=f"One of {', '.join(TASKS)}.")],
    n: Annotated[
        int,
        typer.Option(
            "--n", parser=read_count, metavar="COUNT", help="How many people will report.", rich_help_panel=QUESTION
        ),
    ],
    out: File,
    lower: LowerBound = None,
    upper: UpperBound = None,
    method: EncodedBy = "hadamard",
    force: Force = False,
) -> None:
    """Settle a question and its noise: the file that clients, shuffler and analyst share."""
    check_apart(check_new_file(out, replace=force), *map(Path, given["categories"] or ()))
    promise = Promise(
        epsilon=given["epsilon"],
        delta=given["delta"],
        honest=given["honest"],
        rounds=1 if given["rounds"] is None else given["rounds"],
    )
    question = settled_question(task, given, lower=lower, upper=upper, method=method)
    with patiently("calibrating"):
        made = question.design(n, promise)
    replace_file(out, lambda place: place.write_text(made.file_text(), encoding="utf-8"))
    protocol = made.protocol
    bound = protocol.guarantee.epsilon(delta=promise.delta)
    if given["as_json"]:
        return show.as_json(
            {
                "design": made.as_json(),
                "digest": made.digest,
                "lower": bound.lower,
                "upper": bound.upper,
                "bits": protocol.bits,
                "out": str(out),
            }
        )
    show.answer(
        f"{task}: {n:,} people, at least {made.least:,} of them honest",
        [
            ("epsilon", rounded(bound.upper, up=True), f"at most, at delta = {show.exactly(promise.delta)}"),
            ("epsilon0", f"{protocol.epsilon0:.4f}", "of one report without a shuffler"),
            ("error", f"{protocol.predicted_stderr():.4g}", "standard error to expect"),
            ("bits", f"{protocol.bits}", "in a report"),
        ],
        [f"Written to {out}."],
    )
    following = f"shuffledp encode FILE --design {quote(str(out))} --column NAME --out reports.parquet"
    if protocol.epsilon0 == math.inf or protocol.randomizer.mixes:  # which plain files do not hide
        following = f"shuffledp collection new --design {quote(str(out))} --shuffler URL --out study"
    return show.command(following, "Next: ")


def settled_question(
    task: str, given: dict[str, Any], *, lower: float | None, upper: float | None, method: str
) -> "Question":
    """The question that the options of a design describe, without a table, of one column or of
    several; ``given`` holds those of ``ASKED_EARLY``.
    """
    if task not in TASKS:
        raise InvalidInput(
            f"the task must be one of {', '.join(TASKS)}, got {task!r}. A histogram counts a few categories, a "
            f"frequency very many."
        )
    hiding = hiding_of(given)
    if hiding.family is not None and task not in HIDDEN:
        raise InvalidInput(
            f"--protocol {hiding.protocol} must be of a {', '.join(HIDDEN[:-1])} or {HIDDEN[-1]}, got a {task}. Leave "
            f"it out."
        )
    common: dict[str, Any] = {"source": "-", "task": task, "hiding": hiding}
    counting = TASKS[task].counts
    if task == "quantile":
        common |= {"bins": binned(lower=lower, upper=upper, **{name: given.get(name) for name in BINNED})}
    elif any(given.get(name) is not None for name in ("bins", "scale", "cuts", "ranges")):
        raise InvalidInput(f"a {task} takes no --bins, --scale, --cuts and --range, got some. Leave them out.")
    if counting and not (lower is None and upper is None):
        raise InvalidInput(f"a {task} takes no --lower and --upper, got them. Leave them out, or design a mean.")
    if not counting and task != "quantile":
        if lower is None or upper is None:
            raise InvalidInput(
                "a mean needs --lower and --upper, the bounds that are known without the data, got none. Add --lower 0 "
                "--upper 120."
            )
        common |= {"lower": lower, "upper": upper}
    return _question(task, given, method, common).settled()


def _question(task: str, given: dict[str, Any], method: str, common: dict[str, Any]) -> "Question":
    """What is asked, of one column or of several."""
    from shuffledp.collection.release.central_questions import CountQuestion, SumQuestion
    from shuffledp.collection.release.crossed import CrossQuestion, check_columns, crossed_columns, read_parts
    from shuffledp.collection.release.question import Question

    reaching: dict[str, Any] = {name: given.get(name) for name in ("messages", "error")}
    value = _check_reaching(task, given.get("value"), reaching)
    listed, columns = given["categories"] or [], given["column"] or []
    rules = {name: given[name] for name in ("other", "missing")}
    if task == "crosstab":
        names = check_columns(crossed_columns(columns, by := given.get("by")))
        return CrossQuestion(**common, columns=names, parts=read_parts(names, listed, learn=False, **rules), by=by)
    if columns or len(listed) > 1:
        raise InvalidInput(
            f"a {task} is about one column, which needs no name here, got --column or several --categories. Leave them "
            f"out, or design a crosstab."
        )
    if value is not None:
        return CountQuestion(**common, value=value, **reaching)
    if not TASKS[task].counts:
        return SumQuestion(**common, **reaching) if task in ("mean", "sum") else Question(**common)
    known = read_categories(listed[0] if listed else None, learn=False, domain=given["domain"], **rules)
    common |= {"categories": known, "method": method}
    return Question(**common)


def _check_reaching(task: str, value: str | None, reaching: dict[str, Any]) -> str | None:
    """The value that is counted, if one is; refused where it, messages or an error say nothing."""
    if (value is not None) != (task == "count"):
        raise InvalidInput(
            f"--value must be given for a count, and for nothing else, got {value!r} for a {task}. Add it, or leave it "
            f"out."
        )
    wrong = [name for name, given in reaching.items() if given is not None and task not in ("mean", "sum", "count")]
    if wrong:
        raise InvalidInput(f"--{wrong[0]} must be of a mean, a sum or a count, got a {task}. Leave it out.")
    return value


@app.command(
    "encode",
    rich_help_panel=RUN,
    epilog=examples("encode values.csv --design city.json --column city --out reports.parquet"),
)
@sharing(
    dict(
        [
            argument("source", "A CSV, Parquet or Arrow file, or - for standard input.", metavar="FILE"),
            *TABLE_OPTIONS,
            COLUMNS,
            *MESSY_OPTIONS,
            AS_JSON,
        ]
    ),
    dict,
)
def encode(
    table: dict[str, Any],
    design: Annotated[
        Path, typer.Option("--design", metavar="FILE", help="What `shuffledp design` wrote.", rich_help_panel=QUESTION)
    ],
    out: File,
    missing: Annotated[
        str | None,
        typer.Option("--missing", metavar="NAME", help="Count missing values as this category.", rich_help_panel=TABLE),
    ] = None,
    clip: Annotated[
        bool,
        typer.Option(
            "--clip", help="For a mean: move values outside the range to the nearest bound.", rich_help_panel=TABLE
        ),
    ] = False,
    most: Annotated[
        float | None,
        typer.Option(
            "--most-epsilon0",
            parser=read_number,
            metavar="NUMBER",
            help="Refuse a design whose single report says more than this, whatever it promises.",
            rich_help_panel=QUESTION,
        ),
    ] = None,
    certify: Annotated[
        bool,
        typer.Option(
            "--certify",
            help="Refuse a design whose noise does not keep its promise; shuffler and analyst always do.",
            rich_help_panel=QUESTION,
        ),
    ] = False,
    force: Force = False,
) -> None:
    """On the clients' side: from values to randomized reports. What leaves here is already noisy;
    ids go to the shuffler, who drops them.
    """
    from shuffledp.collection import client
    from shuffledp.collection.tables import open_column

    as_json = table.pop("as_json")
    reading = Reading.taken(table)
    check_apart(check_new_file(out, replace=force), design, Path(reading.source))
    settled = client.read_design(design)
    client.check_client(settled, most)
    if certify:
        from shuffledp.protocols.settling import certify as certified

        with patiently("certifying"):
            certified(settled)
    kind: Kind = "text" if reading.cleaning.reads_numbers else settled.task.kind
    with progress("encoding") as watched:
        column = open_column(
            reading.source,
            client.column_for(settled, reading.columns),
            kind=kind,
            format=reading.format,  # type: ignore[arg-type]
            ids=reading.ids,
            encoding=reading.encoding,
        )
        tick = watched(column.rows, column.progress)
        rules: dict[str, Any] = {
            "missing": missing,
            "clip": clip,
            "cleaning": reading.cleaning,
            "keep": reading.keep,
            "most_epsilon0": most,
        }
        done = client.encode(settled, column, out, **rules, force=force, tick=tick)
    if as_json:
        facts = {
            "out": str(out),
            "reports": done.file.count,
            "missing": done.missing,
            "repeated": done.repeated,
            "design": settled.digest,
        }
        promise = {
            "epsilon": settled.epsilon,
            "delta": settled.delta,
            "epsilon0": settled.law.epsilon0,
            "certified": certify,
        }
        return show.as_json(facts | {"batch": done.file.header.batch} | promise, client.exposure(settled)[2:])
    without = f", {done.missing:,} without a value left out" * bool(done.missing)
    again = f", {done.repeated:,} rows left out because their person has another one" if done.repeated else ""
    exposed = client.exposure(settled, certified=certify)
    show.sentences([f"{done.file.count:,} reports written to {out}{without}{again}.", *exposed])
    return show.command(
        f"shuffledp shuffle {quote(str(out))} --design {quote(str(design))} --out shuffled.parquet", "Next: "
    )


@app.command(
    "shuffle",
    rich_help_panel=RUN,
    epilog=examples(
        "shuffle reports.parquet --design city.json --out shuffled.parquet",
        "shuffle phones.parquet tablets.parquet --design city.json --drop-invalid --out shuffled.parquet",
    ),
)
@with_budget
def shuffle(
    budget: "Budget | None",
    reports: Annotated[list[Path], typer.Argument(metavar="FILE...", help="What `shuffledp encode` wrote.")],
    out: File,
    design: Settled = None,
    drop: Annotated[
        bool,
        typer.Option(
            "--drop-invalid",
            help="Leave out reports that the design never sends, and count them.",
            rich_help_panel=QUESTION,
        ),
    ] = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Between clients and analyst: all reports in a uniformly random order, without ids. Fewer than
    were promised are refused.

    Every report is checked before the budget is spent, and nothing is written before that. A person
    whose id comes twice is refused.
    """
    from shuffledp.collection.release import stages

    settled = None if design is None else stages.read_design(design)
    with progress("shuffling") as watched:
        done = stages.shuffle(
            reports, out, design=settled, budget=budget, drop=drop, force=force, tick=watched(None, lambda: None)
        )
    ledger, dropped = None if done.spent is None else done.spent.facts(), sum(done.dropped.values())
    if as_json:
        facts = {"out": str(out), "reports": done.people, "batches": done.file.header.batches, "ledger": ledger}
        files = {str(path): count for path, count in done.dropped.items() if count}
        return show.as_json(
            facts
            | {
                "dropped": dropped,
                "dropped_by_file": files,
                "design": digest_of(dict(done.file.header.design)),
                "design_given": settled is not None,
            }
        )
    mixed = f"{done.people:,} reports"
    if done.people < done.file.count:
        mixed = f"{done.file.count:,} messages of {done.people:,} people"
    show.sentences([f"{mixed} written to {out}, in random order."])
    if dropped:
        show.sentences([f"{dropped:,} invalid reports were dropped:"])
        show.bullets(f"{count:,} of {path}" for path, count in done.dropped.items() if count)
    if settled is None:
        show.sentences(
            [
                f"The design is the one that the "
                f"{'files name themselves' if len(reports) > 1 else 'file names itself'}; {UNSETTLED}"
            ]
        )
    if ledger is not None:
        show.sentences(
            [
                f"Budget of {ledger['population']!r}: {rounded(ledger['total']['upper'], up=True)} of "
                f"{ledger['limit']['epsilon']:g} spent."
            ]
        )
    given = "" if design is None else f" --design {quote(str(design))}"
    return show.command(f"shuffledp analyse {quote(str(out))}{given} --out result", "Next: ")


@app.command(
    "analyse",
    rich_help_panel=RUN,
    epilog=examples(
        "analyse shuffled.parquet --design city.json --out result",
        "analyse counted.json --design city.json --out result",
    ),
)
@sharing(
    dict(
        [
            argument(
                "source", "What `shuffledp shuffle` wrote, or an engine counted.", metavar="FILE", annotation=Path
            ),
            *OUTPUT_OPTIONS,
            AS_JSON,
        ]
    ),
    dict,
)
def analyse(
    given: dict[str, Any],
    design: Settled = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="A headline for the page.", rich_help_panel=ANSWER)
    ] = None,
) -> None:
    """For the analyst: from shuffled or counted reports to estimates, a figure and a page."""
    from shuffledp.collection.release import stages

    keeping = Keeping(given["out"], given["force"], given["as_json"])
    settled = None if design is None else stages.read_design(design)
    with progress("counting") as watched:
        made = stages.analyse(
            given["source"],
            keeping.folder(),
            design=settled,
            title=title,
            force=keeping.force,
            tick=watched(None, lambda: None),
        )
    show_release(made, as_json=keeping.as_json)


@app.command("example", rich_help_panel=RUN, epilog=examples("example data", "example data --people 10000"))
def example(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the files go; it must not exist yet.")],
    people: Annotated[
        int | None,
        typer.Option(
            "--people",
            parser=read_count,
            metavar="COUNT",
            help="Rows of the made-up population: 1000000.",
            rich_help_panel=ANSWER,
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the folder if it exists.", rich_help_panel=ANSWER)
    ] = False,
    as_json: Json = False,
) -> None:
    """Data to try things out on: a real survey with a sensitive question, and a made-up
    population.
    """
    from shuffledp.data import FILES, write_examples

    write_examples(folder, people=1_000_000 if people is None else people, replace=force)
    if as_json:
        return show.as_json({"out": str(folder), "files": list(FILES)})
    show.files(folder, FILES)
    asked = (
        f"shuffledp histogram {quote(str(folder / 'affairs.csv'))} --column affair --categories yes,no --epsilon 1 "
        f"--delta 1e-6 --out result"
    )
    return show.command(asked, "\nTry: ")
