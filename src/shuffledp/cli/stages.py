"""The commands stage design, encode, shuffle and analyze: the same as in one go, for clients,
shuffler and analyst apart. And example: data to try them on.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shuffledp.cli import options, questions, show
from shuffledp.cli.app import command
from shuffledp.cli.options import ANSWER, QUESTION, argument, declared, declared_for, is_typed, option, read_count
from shuffledp.cli.questions import Keeping, asked, check_question, opened, own_of, read_as, show_release
from shuffledp.cli.show import patiently, progress
from shuffledp.errors import Argument, InvalidInput
from shuffledp.questions import OURS, options_module, options_of_all
from shuffledp.release.options import Budgeted, Titled, WeekOptions, options_of
from shuffledp.storage.canonical import digest_of
from shuffledp.storage.files import check_apart, check_new_file, replace_file
from shuffledp.wording import quote, rounded

if TYPE_CHECKING:
    from shuffledp.design import Design
    from shuffledp.release.arguments import Promise

UNSETTLED = "it was not compared with the agreed design. Add --design to compare them."


@command(
    "stage encode",
    "values.csv --design city.json --column city --out reports.parquet",
    options=[
        argument("source", "FILE", "A CSV, Parquet or Arrow file, or - for standard input.", str),
        options.COLUMNS,
        *declared(WeekOptions),
        options.DESIGN,
        *options.FILE,
        options.MOST_EPSILON0,
        options.CERTIFY,
        options.JSON,
    ],
)
def encode(
    *, design: Path, out: Path, most_epsilon0: float | None, certify: bool, force: bool, as_json: bool, **table: Any
) -> None:
    """On the clients' side: from values to randomized reports. What leaves here is already noisy;
    ids go to the shuffler, who drops them.
    """
    from shuffledp import client

    reading = read_as(table["source"], table)
    check_apart(check_new_file(out, replace=force), design, Path(table["source"]))
    shared = client.read_design(design)
    client.check_client(shared, most_epsilon0)
    if certify:
        questions.certify(shared)
    with progress("encoding") as watched:
        column = opened(reading, table["column"], shared)
        tick = watched(column.table.rows, lambda: column.table.done)
        rules: dict[str, Any] = {
            **{name: table[name] for name in ("missing", "clip")},
            **{name: reading[name] for name in ("cleaning", "keep")},
            "most_epsilon0": most_epsilon0,
        }
        done = client.encode(shared, column, out, **rules, force=force, tick=tick)
    if as_json:
        facts = {"out": str(out), "reports": done.file.count, "missing": done.missing, "repeated": done.repeated}
        promise = {"epsilon": shared.epsilon, "delta": shared.delta, "epsilon0": shared.mechanism.alone}
        facts |= {"design": shared.digest, "batch": done.file.header.batch}
        return show.as_json(facts | promise | {"certified": certify}, client.exposure(shared)[2:])
    without = f", {done.missing:,} without a value left out" * bool(done.missing)
    again = f", {done.repeated:,} rows left out because their person has another one" if done.repeated else ""
    exposed = client.exposure(shared, certified=certify)
    show.sentences([f"{done.file.count:,} reports written to {out}{without}{again}.", *exposed])
    return show.command(
        f"shuffledp stage shuffle {quote(str(out))} --design {quote(str(design))} --out shuffled.parquet", "Next: "
    )


@command(
    "stage shuffle",
    "reports.parquet --design city.json --out shuffled.parquet",
    "phones.parquet tablets.parquet --design city.json --drop-invalid --out shuffled.parquet",
    options=[
        argument("reports", "FILE...", "What `shuffledp stage encode` wrote.", list[Path]),
        options.AGREED,
        *declared(Budgeted),
        option("drop_invalid", QUESTION, "Leave out reports that the design never sends, and count them.", bool),
        *options.FILE,
        options.JSON,
    ],
)
def shuffle(
    *,
    reports: list[Path],
    out: Path,
    design: Path | None,
    drop_invalid: bool,
    force: bool,
    as_json: bool,
    **paying: Any,
) -> None:
    """Between clients and analyst: all reports in a uniformly random order, without ids. Fewer than
    were promised are refused.

    Every report is checked before the budget is spent, and nothing is written before that. A person
    whose id comes twice is refused.
    """
    from shuffledp.release import stages
    from shuffledp.release.arguments import budget_of

    budget = budget_of(paying)
    shared = None if design is None else stages.read_design(design)
    with progress("shuffling") as watched:
        done = stages.shuffle(
            reports, out, design=shared, budget=budget, drop=drop_invalid, force=force, tick=watched(None, lambda: None)
        )
    ledger, dropped = None if done.spent is None else done.spent.entry().as_json(), sum(done.dropped.values())
    if as_json:
        facts = {"out": str(out), "reports": done.people, "batches": done.file.header.batches, "ledger": ledger}
        left_out = {str(path): count for path, count in done.dropped.items() if count}
        which = {"design": digest_of(dict(done.file.header.design)), "design_given": shared is not None}
        return show.as_json(facts | {"dropped": dropped, "dropped_by_file": left_out} | which)
    mixed = f"{done.people:,} reports"
    if done.people < done.file.count:
        mixed = f"{done.file.count:,} messages of {done.people:,} people"
    show.sentences([f"{mixed} written to {out}, in random order."])
    if dropped:
        show.sentences([f"{dropped:,} invalid reports were dropped:"])
        show.bullets(f"{count:,} of {path}" for path, count in done.dropped.items() if count)
    if shared is None:
        themselves = "files name themselves" if len(reports) > 1 else "file names itself"
        show.sentences([f"The design is the one that the {themselves}; {UNSETTLED}"])
    if ledger is not None:
        spent = f"{rounded(ledger['total']['upper'], up=True)} of {ledger['limit']['epsilon']:g}"
        show.sentences([f"Budget of {ledger['population']!r}: {spent} spent."])
    given = "" if design is None else f" --design {quote(str(design))}"
    return show.command(f"shuffledp stage analyze {quote(str(out))}{given} --out result", "Next: ")


@command(
    "stage analyze",
    "shuffled.parquet --design city.json --out result",
    "counted.json --design city.json --out result",
    options=[
        argument("source", "FILE", "What `shuffledp stage shuffle` wrote, or an engine counted."),
        options.AGREED,
        *options.OUTPUT,
        *declared(Titled),
        options.JSON,
    ],
)
def analyze(*, design: Path | None, **given: Any) -> None:
    """For the analyst: from shuffled or counted reports to estimates, a figure and a page."""
    from shuffledp.release import stages

    keeping = Keeping.of(given)
    shared = None if design is None else stages.read_design(design)
    with progress("counting") as watched:
        made = stages.analyse(
            given["source"],
            keeping.folder(),
            design=shared,
            title=given["title"],
            force=keeping.force,
            tick=watched(None, lambda: None),
        )
    show_release(made, as_json=keeping.as_json)


@command(
    "example",
    "data",
    "data --people 10000",
    options=[
        argument("folder", "FOLDER", "Where the files go; it must not exist yet."),
        option("people", ANSWER, "Rows of the made-up population: 1000000.", read_count, default=1_000_000),
        option("force", ANSWER, "Replace the folder if it exists.", bool),
        options.JSON,
    ],
)
def example(folder: Path, people: int, force: bool, as_json: bool) -> None:
    """Data to try things out on: a real survey with a sensitive question, and a made-up
    population.
    """
    from shuffledp.data import FILES, write_examples

    write_examples(folder, people=people, replace=force)
    if as_json:
        return show.as_json({"out": str(folder), "files": list(FILES)})
    show.files(folder, FILES)
    asked = (
        f"shuffledp histogram {quote(str(folder / 'affairs.csv'))} --column affair --categories yes,no --epsilon 1 "
        f"--delta 1e-6 --out result"
    )
    return show.command(asked, "\nTry: ")


QUESTIONS = options_of_all()
LATER = {*options_of(WeekOptions), *options_of(Budgeted), "title", "by"} - {"missing"}  # said where there is a table


@command(
    "stage design",
    "histogram --categories cities.txt --n 1e6 --epsilon 1 --delta 1e-8 --out city.json",
    "crosstab --column region --column smoker --categories regions.txt --categories yes,no --n 1e6 "
    "--epsilon 1 --delta 1e-8 --out table.json",
    "mean --lower 0 --upper 120 --n 1e6 --honest 90% --rounds 12 --epsilon 1 --delta 1e-8 --out age.json",
    "quantile --lower 0 --upper 120 --at 0.1,0.5,0.9 --n 1e6 --epsilon 1 --delta 1e-8 --out age.json",
    "top --words 10 --longest 8 --n 20000 --epsilon 1 --delta 1e-6 --out words.json",
    options=[
        argument("question", "QUESTION", f"One of {', '.join(OURS)}.", str),
        options.COLUMNS,
        *declared_for(QUESTIONS, leave=LATER),
        option("n", QUESTION, "How many people will report.", read_count, default=...),
        *options.FILE,
        options.JSON,
    ],
)
def design(*, question: str, n: int, out: Path, force: bool, as_json: bool, **given: Any) -> None:
    """Write the design file that clients, shuffler and analyst share."""
    check_apart(check_new_file(out, replace=force), *map(Path, given["categories"] or ()))
    check_question(question)
    asked, promise = _asked(question, given)
    with patiently("calibrating"):
        made = asked.design(n, promise)
    replace_file(out, lambda place: place.write_text(made.file_text(), encoding="utf-8"))
    shown: Callable[..., None] = own_of(question).designed or _designed
    return shown(made, out, as_json=as_json)


def _designed(made: "Design", out: Path, *, as_json: bool) -> None:
    """The design, and what follows from it."""
    poll = made.poll
    bound = poll.guarantee.epsilon(delta=made.delta)
    if as_json:
        facts = {"design": made.as_json(), "digest": made.digest, "lower": bound.lower, "upper": bound.upper}
        return show.as_json(facts | {"bits": poll.bits, "out": str(out)})
    show.answer(
        f"{made.question.type}: {made.n:,} people, at least {made.honest:,} of them honest",
        [
            ("epsilon", rounded(bound.upper, up=True), f"at most, at delta = {show.exactly(made.delta)}"),
            show.alone(made.mechanism, made.reveals),
            ("error", show.number(poll.predicted_stderr()), "standard error to expect"),
            ("bits", f"{poll.bits}", "in a report"),
        ],
        [*show.algorithm(made), f"Written to {out}."],
    )
    following = f"shuffledp stage encode FILE --design {quote(str(out))} --column NAME --out reports.parquet"
    if poll.epsilon0 == math.inf or poll.randomizer.mixes:  # which plain files do not hide
        following = f"shuffledp survey new --design {quote(str(out))} --shuffler URL --out study"
    return show.command(following, "Next: ")


def _asked(task: str, given: dict[str, Any]) -> "tuple[Any, Promise]":
    """The question that the options describe, without a table, and what is promised."""
    of_table = getattr(options_module(task), "OF_TABLE", ())
    known = options_of(QUESTIONS[task])
    columns, listed = given["column"], given["categories"]
    if known.get("categories", known[next(iter(known))]).kind != "texts":
        if columns or len(listed or ()) > 1:
            raise InvalidInput(
                f"a {task} is about one column, which needs no name here, got --column or several --categories. Leave "
                f"them out, or design a crosstab."
            )
        given["categories"] = listed[0] if listed else None
    for name in sorted(given.keys() - (known.keys() - {*of_table}) - {"column"}):
        if is_typed(given[name]):
            takers = [each for each, options in QUESTIONS.items() if name in options_of(options) and each != task]
            flag = Argument.of(name).typed
            raise InvalidInput(f"a design of {task} takes no {flag}. It is for {', '.join(takers)}. Leave out {flag}.")
    question, promise, _ = asked(task, given, "-")
    return question, promise
