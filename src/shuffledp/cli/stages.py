"""The commands encode, shuffle and analyse: the same as in one go, for clients, shuffler and
analyst apart. And example: data to try them on.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

from shuffledp.cli import options, show
from shuffledp.cli.answering import show_release
from shuffledp.cli.listing import RUN, app, examples
from shuffledp.cli.options import ANSWER, QUESTION, argument, declared, flag, sharing, whole
from shuffledp.cli.questions import Keeping, opened, read_as
from shuffledp.cli.waiting import patiently, progress
from shuffledp.release.options import Budgeted, Titled, WeekOptions
from shuffledp.storage.canonical import digest_of
from shuffledp.storage.files import check_apart, check_new_file
from shuffledp.wording import quote, rounded

__all__: list[str] = []

Settled = Annotated[
    Path | None,
    flag("design", QUESTION, "The design that was settled; if left out, the files are trusted.", metavar="FILE"),
]
UNSETTLED = "it was not compared with the one that was settled. Add --design to compare them."


@app.command(
    "encode",
    rich_help_panel=RUN,
    epilog=examples("encode values.csv --design city.json --column city --out reports.parquet"),
)
@sharing(
    [
        argument("source", "FILE", "A CSV, Parquet or Arrow file, or - for standard input.", str),
        options.COLUMNS,
        *declared(WeekOptions),
        options.AS_JSON,
    ],
    dict,
)
def encode(
    table: dict[str, Any],
    design: options.Designed,
    out: options.OutFile,
    most: options.MostEpsilon0 = None,
    certify: Annotated[
        bool,
        flag(
            "certify",
            QUESTION,
            "Refuse a design whose noise does not keep its promise; shuffler and analyst always do.",
        ),
    ] = False,
    force: options.ReplaceFile = False,
) -> None:
    """On the clients' side: from values to randomized reports. What leaves here is already noisy;
    ids go to the shuffler, who drops them.
    """
    from shuffledp import client

    reading = read_as(table["source"], table)
    check_apart(check_new_file(out, replace=force), design, Path(table["source"]))
    settled = client.read_design(design)
    client.check_client(settled, most)
    if certify:
        from shuffledp.poll import certify as certified

        with patiently("certifying"):
            certified(settled)
    with progress("encoding") as watched:
        column = opened(reading, table["column"], settled)
        tick = watched(column.rows, column.progress)
        rules: dict[str, Any] = {
            **{name: table[name] for name in ("missing", "clip")},
            **{name: reading[name] for name in ("cleaning", "keep")},
            "most_epsilon0": most,
        }
        done = client.encode(settled, column, out, **rules, force=force, tick=tick)
    if table["as_json"]:
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
            "epsilon0": settled.mechanism.alone,
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
@sharing(declared(Budgeted), dict)
def shuffle(
    paying: dict[str, Any],
    reports: Annotated[list[Path], typer.Argument(metavar="FILE...", help="What `shuffledp encode` wrote.")],
    out: options.OutFile,
    design: Settled = None,
    drop: Annotated[
        bool, flag("drop-invalid", QUESTION, "Leave out reports that the design never sends, and count them.")
    ] = False,
    force: options.ReplaceFile = False,
    as_json: options.Json = False,
) -> None:
    """Between clients and analyst: all reports in a uniformly random order, without ids. Fewer than
    were promised are refused.

    Every report is checked before the budget is spent, and nothing is written before that. A person
    whose id comes twice is refused.
    """
    from shuffledp.release import stages
    from shuffledp.release.arguments import budget_of

    budget = budget_of(paying)
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
    [
        argument("source", "FILE", "What `shuffledp shuffle` wrote, or an engine counted."),
        *options.OUTPUT_OPTIONS,
        *declared(Titled),
        options.AS_JSON,
    ],
    dict,
)
def analyse(given: dict[str, Any], design: Settled = None) -> None:
    """For the analyst: from shuffled or counted reports to estimates, a figure and a page."""
    from shuffledp.release import stages

    keeping = Keeping.of(given)
    settled = None if design is None else stages.read_design(design)
    with progress("counting") as watched:
        made = stages.analyse(
            given["source"],
            keeping.folder(),
            design=settled,
            title=given["title"],
            force=keeping.force,
            tick=watched(None, lambda: None),
        )
    show_release(made, as_json=keeping.as_json)


@app.command("example", rich_help_panel=RUN, epilog=examples("example data", "example data --people 10000"))
def example(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the files go; it must not exist yet.")],
    people: Annotated[int | None, whole("people", ANSWER, "Rows of the made-up population: 1000000.")] = None,
    force: Annotated[bool, flag("force", ANSWER, "Replace the folder if it exists.")] = False,
    as_json: options.Json = False,
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
