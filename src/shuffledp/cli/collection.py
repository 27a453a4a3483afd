"""The commands collection new, invite, search and next, of an organizer before anybody reports, and
in a search between its levels; status, close and fetch, which ask the shuffler; and open: what it
released, opened and published.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shuffledp.cli import options, show
from shuffledp.cli.app import app, group
from shuffledp.cli.options import (
    ANSWER,
    AS_JSON,
    ENGINE,
    OUTPUT_OPTIONS,
    QUESTION,
    SPARK,
    Json,
    OutFile,
    ReplaceFile,
    argument,
    declared,
    flag,
    option,
    sharing,
    whole,
)
from shuffledp.cli.questions import Keeping, fitting, heard, show_release
from shuffledp.cli.show import patiently, progress
from shuffledp.cli.spark import spark_master
from shuffledp.cli.track import SERIES, refresh
from shuffledp.errors import InvalidInput
from shuffledp.release.options import Budgeted, Titled
from shuffledp.wording import quote

if TYPE_CHECKING:
    from shuffledp.release.budget import Budget
    from shuffledp.series.weeks import Week
    from shuffledp.survey.analyst import Analyst
    from shuffledp.survey.collection import Collection
    from shuffledp.survey.opener import Opening

    Where = tuple[Opening, tuple[str, ...]]  # where reports are opened, and what is to be said of that

WHEN = "When"
PINNED = "\nIts digest, which people pin; publish it where they trust it:\n"
collection = group("collection")

Shuffler = Annotated[str, flag("shuffler", QUESTION, "Where reports will be collected.", metavar="URL")]
Text = Annotated[str | None, flag("question", QUESTION, "What people are asked, in a line.", metavar="TEXT")]


def moment(text: str) -> int:
    """A time in ISO 8601, as seconds since 1970.

    >>> moment("2026-12-01T09:00:00+01:00")
    1796112000
    """
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        read = None
    if read is None or read.tzinfo is None or read.microsecond or read.year < 1970:
        raise typer.BadParameter(
            f"a time must be written with its zone, in whole seconds, got {text!r}. Write it as in "
            f"2026-12-01T09:00:00+01:00 or 2026-12-01T08:00Z."
        )
    return int(read.timestamp())


def _shown(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


@collection.command(
    "new",
    "collection new --design design.json --shuffler https://shuffle.example.org --out study",
    "collection new --design design.json --shuffler http://127.0.0.1:8000 --codes --closes 2026-12-01T18:00Z "
    "--out study",
)
def new(
    design: options.Designed,
    shuffler: Shuffler,
    out: options.NewFolder,
    question: Text = None,
    round_: int | None = whole(
        "round",
        QUESTION,
        "Which of the design's rounds this is: 1. Each has a folder and a key of its own.",
        default=None,
    ),
    codes: bool = flag("codes", QUESTION, "Take a report only with an invitation code.", default=False),
    opens: int | None = flag("opens", WHEN, "Take no report before that.", metavar="TIME", parser=moment, default=None),
    closes: int | None = flag(
        "closes", WHEN, "Take no report after that.", metavar="TIME", parser=moment, default=None
    ),
    as_json: options.Json = False,
) -> None:
    """Announce a collection: the file that everybody pins, and the key that opens the reports.

    The promise of the design is certified first. Times are written as in 2026-12-01T09:00:00+01:00.
    Keep analyst.key on the analyst's machine, and destroy it when the collection has been opened
    and is no longer needed: without it nobody can read a report, whoever has kept the file.
    """
    from shuffledp.client import exposure, read_design
    from shuffledp.survey.organizer import COLLECTION, KEY, new_collection

    shared, which = read_design(design), 1 if round_ is None else round_
    with patiently("certifying"):
        made = new_collection(
            shared, shuffler, out, round=which, question=question, opens=opens, closes=closes, codes=codes
        )
    file, warnings = out / COLLECTION, exposure(made.design, certified=True)[2:]
    if as_json:
        facts: dict[str, object] = {
            "collection": str(file),
            "key": str(out / KEY),
            "digest": made.digest,
            "shuffler": made.shuffler,
        }
        times = {"round": made.round, "opens": made.opens, "closes": made.closes, "codes": made.codes}
        return show.as_json(facts | times, warnings)
    rounds = "" if made.design.rounds == 1 else f", round {made.round} of {made.design.rounds:,}"
    rows = [(name, _shown(at), "") for name, at in (("opens", opens), ("closes", closes)) if at is not None]
    show.answer(
        f"{made.design.question.type} of {made.design.n:,} people{rounds}, collected at {made.shuffler}", rows, warnings
    )
    print()
    show.files(out, {COLLECTION: "public: for everybody", KEY: "the analyst's alone: never on the shuffler's machine"})
    show.command(made.digest, PINNED)
    if made.codes:
        show.command(
            f"shuffledp collection invite {quote(str(file))} --count {made.design.n} --out codes.txt --hashes "
            f"hashes.txt",
            "\nNext: ",
        )
    given = " --codes hashes.txt" * made.codes
    show.command(f"shuffledp serve {quote(str(file))} --store reports.sqlite{given}", "\nOn the shuffler: ")
    return None


@collection.command(
    "invite", "collection invite study/collection.json --count 1000 --out codes.txt --hashes hashes.txt"
)
def invite_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `shuffledp collection new` wrote.")],
    count: int = whole("count", QUESTION, "How many codes."),
    out: Path = flag("out", ANSWER, "The codes, one per line, for the organizer alone.", metavar="FILE"),
    hashes: Path = flag("hashes", ANSWER, "Their hashes, for `shuffledp serve --codes`.", metavar="FILE"),
    as_json: options.Json = False,
) -> None:
    """Invitation codes: whoever has one may send one report.

    The organizer hands each code to one person, and should forget to whom. The shuffler gets the
    hashes, in an order that says nothing about that of the codes.
    """
    from shuffledp.survey.collection import read_collection
    from shuffledp.survey.organizer import invite

    asked = read_collection(file)
    invite(asked, count, out, hashes)
    n = asked.design.n
    warnings = [
        f"{count:,} codes are more than the {n:,} people of the design, and no more reports than that are taken"
    ]
    warnings *= count > n
    if as_json:
        facts = {"codes": str(out), "hashes": str(hashes), "count": count, "digest": asked.digest}
        return show.as_json(facts, warnings)
    show.sentences([f"{count:,} codes written to {out}, for you alone; their hashes to {hashes}, for the shuffler."])
    show.warnings(f"{each}." for each in warnings)
    return show.command(
        f"shuffledp serve {quote(str(file))} --store reports.sqlite --codes {quote(str(hashes))}", "On the shuffler: "
    )


@collection.command(
    "search", "collection search --design words.json --shuffler https://shuffle.example.org --out search"
)
@sharing([*declared(Budgeted), options.AS_JSON], dict)
def search_(
    given: dict[str, Any],
    *,
    design: Path = flag("design", QUESTION, "What `shuffledp design top` wrote.", metavar="FILE"),
    shuffler: Shuffler,
    out: options.NewFolder,
    question: Text = None,
) -> None:
    """Announce a search for frequent words: its first level, a collection for some of the people.

    Everybody's level is drawn now, and everybody is invited to that level alone; FOLDER/people.txt
    and the invitations are the organizer's. A ledger is charged now, once for all levels. When the
    first level has been collected, go on with `shuffledp collection next`.
    """
    from shuffledp.client import read_written
    from shuffledp.release.arguments import budget_of
    from shuffledp.search.search import Search
    from shuffledp.survey.search import new_search

    search = Search.from_json(read_written(design))
    budget = budget_of(given)
    with patiently("certifying"):
        made = new_search(search, shuffler, out, question=question, budget=budget)
    _announced(made, out / "level-1", f"{len(search.spans) + 1} levels at most", as_json=given["as_json"])


@collection.command("next", "collection next search sealed.bin", "collection next search sealed.bin --out result")
@sharing(
    [
        argument("search", "FOLDER", "What `shuffledp collection search` wrote."),
        argument("sealed", "FILE", "What `shuffledp collection fetch` wrote."),
        *options.OUTPUT_OPTIONS,
        *declared(Titled),
        options.AS_JSON,
    ],
    dict,
)
def next_(given: dict[str, Any]) -> None:
    """Open the level of a search that was collected last, and announce the next one; after the last
    level, publish the words that were found in the folder --out.
    """
    from shuffledp.errors import check_words
    from shuffledp.release.released import Release
    from shuffledp.survey.search import SearchFolder, next_level

    check_words("--title", given["title"])
    folder = SearchFolder.read(given["search"])
    with patiently("opening, and what follows from it"):
        made = next_level(folder, given["sealed"], given["out"], title=given["title"], force=given["force"])
    if isinstance(made, Release):
        return show_release(made, as_json=given["as_json"])
    number = len(folder.tallies) + 1
    return _announced(made, folder.level(number), f"level {number}", as_json=given["as_json"])


def _announced(made: "Collection", folder: Path, what: str, *, as_json: bool) -> None:
    """A level that can be collected."""
    if as_json:
        return show.as_json(
            {"level": str(folder), "digest": made.digest, "shuffler": made.shuffler, "people": made.design.n}
        )
    show.sentences([f"Announced: {folder}, {what}. Send each person of invitations.csv their code, and no other."])
    show.command(made.digest, PINNED)
    file, hashes = quote(str(folder / "collection.json")), quote(str(folder / "hashes.txt"))
    return show.command(f"shuffledp serve {file} --store reports.sqlite --codes {hashes}", "\nOn the shuffler: ")


SHUFFLER = "The shuffler"
URL = Annotated[str, typer.Argument(metavar="URL", help="The shuffler's address.")]
Pinned = Annotated[
    Path | None,
    flag(
        "collection",
        SHUFFLER,
        "The collection.json that you know; if left out, the one that the shuffler names is believed.",
        metavar="FILE",
    ),
]
Token = Annotated[
    Path | None,
    flag(
        "token",
        SHUFFLER,
        "The token that `shuffledp serve` made; if left out, that in SHUFFLEDP_TOKEN.",
        metavar="FILE",
    ),
]
Authorities = Annotated[
    Path | None,
    flag("ca", SHUFFLER, "Trust the certificates of these authorities, in PEM, and no others.", metavar="FILE"),
]
PLACE = "https://shuffle.example.org"


def _analyst(url: str, pinned: Path | None, token: Path | None, ca: Path | None) -> "Analyst":
    from shuffledp.survey.analyst import Analyst

    return Analyst.of(url, collection=pinned, token=token, ca=ca)


@collection.command("status", f"collection status {PLACE} --collection study/collection.json")
def status(url: URL, pinned: Pinned = None, ca: Authorities = None, as_json: Json = False) -> None:
    """How far a collection is: whether it is open, and in coarse steps how many reports it has."""
    analyst = _analyst(url, pinned, None, ca)
    with patiently("asking the shuffler"):
        facts = analyst.status()
    if as_json:
        return show.as_json(facts)
    return show.answer(
        f"collection {analyst.collection.digest[:16]}: {facts['state']}",
        [
            ("reports", f"{facts['reports']:,}", f"or a little more, counted in steps of {facts['step']:,}"),
            ("promise", f"{facts['promise']:,}", "reports, before it can be closed"),
            ("most", f"{facts['most']:,}", "people that the design knows"),
        ],
        [],
    )


@collection.command("close", f"collection close {PLACE} --collection study/collection.json --token token.txt")
def close(url: URL, pinned: Pinned = None, token: Token = None, ca: Authorities = None, as_json: Json = False) -> None:
    """End a collection, for good: it takes no more reports, and what it has can be fetched.

    It is refused below the promise of the design. The token goes over TLS, or never leaves this
    machine.
    """
    analyst = _analyst(url, pinned, token, ca)
    with patiently("closing"):
        reports = analyst.close()
    if as_json:
        return show.as_json({"collection": analyst.collection.digest, "state": "closed", "reports": reports})
    show.sentences([f"Collection {analyst.collection.digest[:16]} is closed, with {reports:,} sealed reports."])
    files = {"--collection": pinned, "--token": token, "--ca": ca}
    given = "".join(f" {name} {quote(str(path))}" for name, path in files.items() if path is not None)
    return show.command(f"shuffledp collection fetch {quote(url)}{given} --out sealed.bin", "Next: ")


@collection.command(
    "fetch", f"collection fetch {PLACE} --collection study/collection.json --token token.txt --out sealed.bin"
)
def fetch(
    url: URL,
    out: OutFile,
    pinned: Pinned = None,
    token: Token = None,
    ca: Authorities = None,
    force: ReplaceFile = False,
    as_json: Json = False,
) -> None:
    """Fetch what a closed collection holds: sealed reports, sorted by their bytes.

    All of it is written, or nothing. It can be fetched again, and is the same then: other bytes
    than those of an earlier fetch are refused.
    """
    from shuffledp.storage.files import check_apart
    from shuffledp.survey.organizer import KEY

    beside = () if pinned is None else (pinned, pinned.with_name(KEY))  # without the key nothing opens any more
    check_apart(out, *beside, *(path for path in (token, ca) if path is not None))
    analyst = _analyst(url, pinned, token, ca)
    messages = analyst.collection.reporter.randomizer.messages
    with progress("fetching") as watched:
        total = analyst.status()["reports"] * messages
        header = analyst.fetch(out, force=force, tick=watched(total, lambda: None))
    people = header.count // messages if header.people is None else header.people
    several = {} if people == header.count else {"messages": header.count}
    if as_json:
        return show.as_json({"out": str(out), "collection": header.collection, "reports": people, **several})
    what = f"{header.count:,} sealed messages for {people:,} people" if several else f"{people:,} sealed reports"
    show.sentences([f"{what} written to {out}."])
    study = "study" if pinned is None else str(pinned.parent)
    return show.command(f"shuffledp open {quote(study)} {quote(str(out))} --out result", "Next: ")


ON = option(
    "engine", ENGINE, f"{SPARK} The analyst's key travels to its workers, and they must find FILE.", metavar="ADDRESS"
)


@app.command(
    "open",
    "open study sealed.bin --out result",
    "open study sealed.bin --out result --ledger budget.sqlite --population app-users --limit-epsilon 4 "
    "--limit-delta 1e-5",
    "open study /shared/sealed.bin --out result --engine spark://host:7077",
)
@sharing(
    [
        argument("study", "STUDY", "The folder of the collection, with the analyst's key."),
        argument("sealed", "FILE", "What `shuffledp collection fetch` wrote."),
        *declared(Budgeted),
        ON,
        *OUTPUT_OPTIONS,
        AS_JSON,
    ],
    dict,
)
def open_(
    given: dict[str, Any],
    title: str | None = flag(
        "title",
        ANSWER,
        "A headline for the page; if left out, the question that people were asked.",
        metavar="TEXT",
        default=None,
    ),
    series: Path | None = flag(
        "series",
        SERIES,
        "Publish it as a week of this series, that of its round, instead of --out.",
        metavar="FOLDER",
        default=None,
    ),
    period: str | None = flag(
        "period", SERIES, "With --series: the week, month or day that it is about.", metavar="PERIOD", default=None
    ),
) -> None:
    """For the analyst: open what the shuffler released, and publish estimates, a figure and a page.

    Every report is opened and checked by itself, on all cores; invalid ones are counted and left
    out. Fewer than were promised are refused. STUDY/opened.json remembers what was opened: the same
    file may be opened again, another one of the same collection is refused.
    """
    from shuffledp.errors import check_words
    from shuffledp.release.files import check_folder
    from shuffledp.survey.opener import Study, publish_study

    check_words("--title", title)
    master = None if given["engine"] is None else spark_master(given["engine"])
    study = Study.read(given["study"])
    sealed = study.sealed(given["sealed"])
    where = _here(sealed.header.count) if master is None else _on_spark(master)
    with _placed(study.collection, series, period, given) as (keeping, budget, week):
        check_folder(keeping.folder(), replace=keeping.force)
        with heard(as_json=keeping.as_json), where as (opening, notes):
            made = publish_study(
                study,
                sealed,
                keeping.folder(),
                title=title,
                budget=budget,
                force=keeping.force,
                opening=opening,
                notes=notes,
                series=None if week is None else week.said,
                by=None if week is None else week.series.by,
            )
    if series is not None:
        refresh(series, given["ledger"])
    more = fitting(budget, study.collection.design) if series is None else None
    show_release(made, as_json=keeping.as_json, more=more)


@contextmanager
def _placed(
    collection: "Collection", series: Path | None, period: str | None, given: dict[str, Any]
) -> "Iterator[tuple[Keeping, Budget | None, Week | None]]":
    """Where a release goes, and who pays for it: a folder and a budget, or a week of a series."""
    from shuffledp.release.arguments import budget_of

    keeping = Keeping.of(given)
    if series is None:
        if period is not None:
            raise InvalidInput(f"--period must come with --series, got {period!r} alone. Leave it out.")
        yield keeping, budget_of(given), None
        return
    from shuffledp.series.weeks import collected_week

    for name in ("out", "force", "population", "limit_epsilon", "limit_delta"):
        if given[name]:
            option = name.replace("_", "-")
            raise InvalidInput(f"--{option} must be left out with --series, which says it, got both. Leave one out.")
    ledger, design = given["ledger"], collection.design
    with collected_week(series, design, collection.round, period=period, ledger=ledger) as week:
        yield Keeping(week.folder, False, keeping.as_json), week.budget, week


@contextmanager
def _here(envelopes: int) -> "Iterator[Where]":
    """All cores of this machine."""
    from shuffledp.survey.opener import OnAllCores

    with progress("opening", then="certifying and writing") as watched:
        yield OnAllCores(watched(envelopes, lambda: None)), ()


@contextmanager
def _on_spark(master: str) -> "Iterator[Where]":
    """The workers of Spark."""
    from shuffledp.engines.spark_session import session_at
    from shuffledp.survey.spark import ON_SPARK, OnSpark

    with ExitStack() as held:
        with patiently("starting Spark"):
            session = held.enter_context(session_at(master))
        with patiently("opening on Spark"):
            yield OnSpark(session), (ON_SPARK,)
