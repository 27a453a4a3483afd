"""The commands survey new, invite and next, of an organizer before anybody reports, and in a
search between its levels; status, close and fetch, which ask the shuffler; and open: what it
released, opened and published.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from shuffledp.cli import options, show
from shuffledp.cli.app import command
from shuffledp.cli.options import ANSWER, ENGINE, JSON, OUTPUT, QUESTION, SPARK, argument, declared, option, read_count
from shuffledp.cli.questions import Keeping, fitting, heard, show_release
from shuffledp.cli.series import PERIOD, SERIES, refresh
from shuffledp.cli.show import patiently, progress
from shuffledp.cli.spark import spark_master
from shuffledp.errors import Argument, InvalidInput
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


@command(
    "survey new",
    "--design design.json --shuffler https://shuffle.example.org --out study",
    "--design design.json --shuffler http://127.0.0.1:8000 --codes --closes 2026-12-01T18:00Z --out study",
    "--design words.json --shuffler https://shuffle.example.org --out search",
    options=[
        options.DESIGN,
        option("shuffler", QUESTION, "Where reports will be collected.", default=..., metavar="URL"),
        options.FOLDER,
        option("text", QUESTION, "What people are asked, in a line.", metavar="TEXT"),
        option("round", QUESTION, "Which round of the design this is: 1.", read_count),
        option("codes", QUESTION, "Take a report only with an invitation code.", bool),
        option("opens", WHEN, "Take no report before that.", moment, metavar="TIME"),
        option("closes", WHEN, "Take no report after that.", moment, metavar="TIME"),
        *declared(Budgeted),
        JSON,
    ],
)
def new(
    *,
    design: Path,
    shuffler: str,
    out: Path,
    text: str | None,
    round: int | None,
    codes: bool,
    opens: int | None,
    closes: int | None,
    as_json: bool,
    **paying: Any,
) -> None:
    """Announce a survey: the file that everybody pins, and the key that opens the reports.

    The promise of the design is certified first. Times are written as in 2026-12-01T09:00:00+01:00.
    Keep analyst.key on the analyst's machine, and destroy it when the survey has been opened and is
    no longer needed: without it nobody can read a report, whoever has kept the file.

    A search for frequent words, from `shuffledp stage design top`, is announced level by level.
    Everybody's level is drawn now; FOLDER/people.txt and the invitations are the organizer's. Only
    a search takes a ledger, which is charged now, once for all levels. When its first level has
    been collected, go on with `shuffledp survey next`.
    """
    from shuffledp.client import exposure, read_design, read_search
    from shuffledp.survey.organizer import COLLECTION, KEY, new_collection

    of_design = {"round": round, "codes": codes, "opens": opens, "closes": closes}
    search = read_search(design)
    other, what = (paying, "one question") if search is None else (of_design, "a search")
    if used := [Argument.of(name).typed for name, value in other.items() if value]:
        raise InvalidInput(f"a survey of {what} takes no {used[0]}, got it. Leave it out.")
    if search is not None:
        return _new_search(search, shuffler, out, text, paying, as_json=as_json)
    shared, which = read_design(design), 1 if round is None else round
    with patiently("certifying"):
        made = new_collection(
            shared, shuffler, out, round=which, question=text, opens=opens, closes=closes, codes=codes
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
            f"shuffledp survey invite {quote(str(file))} --count {made.design.n} --out codes.txt --hashes hashes.txt",
            "\nNext: ",
        )
    given = " --codes hashes.txt" * made.codes
    show.command(f"shuffledp survey serve {quote(str(file))} --store reports.sqlite{given}", "\nOn the shuffler: ")
    return None


@command(
    "survey invite",
    "study/collection.json --count 1000 --out codes.txt --hashes hashes.txt",
    options=[
        argument("file", "FILE", "What `shuffledp survey new` wrote."),
        option("count", QUESTION, "How many codes.", read_count, default=...),
        option("out", ANSWER, "The codes, one per line, for the organizer alone.", Path, default=...),
        option("hashes", ANSWER, "Their hashes, for `shuffledp survey serve --codes`.", Path, default=...),
        JSON,
    ],
)
def invite_(file: Path, count: int, out: Path, hashes: Path, as_json: bool) -> None:
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
        f"shuffledp survey serve {quote(str(file))} --store reports.sqlite --codes {quote(str(hashes))}",
        "On the shuffler: ",
    )


def _new_search(
    written: object, shuffler: str, out: Path, text: str | None, paying: dict[str, Any], *, as_json: bool
) -> None:
    """The first level of a search, a survey for some of the people."""
    from shuffledp.release.arguments import budget_of
    from shuffledp.search.search import Search
    from shuffledp.survey.search import new_search

    search, budget = Search.from_json(written), budget_of(paying)
    with patiently("certifying"):
        made = new_search(search, shuffler, out, question=text, budget=budget)
    _announced(made, out / "level-1", f"{len(search.spans) + 1} levels at most", as_json=as_json)


@command(
    "survey next",
    "search sealed.bin",
    "search sealed.bin --out result",
    options=[
        argument("search", "FOLDER", "What `shuffledp survey new` wrote."),
        argument("sealed", "FILE", "What `shuffledp survey fetch` wrote."),
        *OUTPUT,
        *declared(Titled),
        JSON,
    ],
)
def next_(**given: Any) -> None:
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
    return show.command(f"shuffledp survey serve {file} --store reports.sqlite --codes {hashes}", "\nOn the shuffler: ")


SHUFFLER = "The shuffler"
ASKED = [
    argument("url", "URL", "The shuffler's address.", str),
    option("collection", SHUFFLER, "Known collection.json; if left out, the shuffler is believed.", Path),
    option("ca", SHUFFLER, "Trust the certificates of these authorities, in PEM, and no others.", Path),
    JSON,
]
TOKEN = option("token", SHUFFLER, "Token of `shuffledp survey serve`; if left out, that in SHUFFLEDP_TOKEN.", Path)
PLACE = "https://shuffle.example.org"


def _analyst(url: str, pinned: Path | None, token: Path | None, ca: Path | None) -> "Analyst":
    from shuffledp.survey.analyst import Analyst

    return Analyst.of(url, collection=pinned, token=token, ca=ca)


@command("survey status", f"{PLACE} --collection study/collection.json", options=ASKED)
def status(url: str, collection: Path | None, ca: Path | None, as_json: bool) -> None:
    """How far a collection is: whether it is open, and in coarse steps how many reports it has."""
    analyst = _analyst(url, collection, None, ca)
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


@command("survey close", f"{PLACE} --collection study/collection.json --token token.txt", options=[*ASKED, TOKEN])
def close(url: str, collection: Path | None, token: Path | None, ca: Path | None, as_json: bool) -> None:
    """End a collection, for good: it takes no more reports, and what it has can be fetched.

    It is refused below the promise of the design. The token goes over TLS, or never leaves this
    machine.
    """
    analyst = _analyst(url, collection, token, ca)
    with patiently("closing"):
        reports = analyst.close()
    if as_json:
        return show.as_json({"collection": analyst.collection.digest, "state": "closed", "reports": reports})
    show.sentences([f"Collection {analyst.collection.digest[:16]} is closed, with {reports:,} sealed reports."])
    files = {"--collection": collection, "--token": token, "--ca": ca}
    given = "".join(f" {name} {quote(str(path))}" for name, path in files.items() if path is not None)
    return show.command(f"shuffledp survey fetch {quote(url)}{given} --out sealed.bin", "Next: ")


@command(
    "survey fetch",
    f"{PLACE} --collection study/collection.json --token token.txt --out sealed.bin",
    options=[*ASKED, TOKEN, *options.FILE],
)
def fetch(
    *, url: str, out: Path, collection: Path | None, token: Path | None, ca: Path | None, force: bool, as_json: bool
) -> None:
    """Fetch what a closed collection holds: sealed reports, sorted by their bytes.

    All of it is written, or nothing. It can be fetched again, and is the same then: other bytes
    than those of an earlier fetch are refused.
    """
    from shuffledp.storage.files import check_apart
    from shuffledp.survey.organizer import KEY

    beside = (
        () if collection is None else (collection, collection.with_name(KEY))
    )  # without the key nothing opens any more
    check_apart(out, *beside, *(path for path in (token, ca) if path is not None))
    analyst = _analyst(url, collection, token, ca)
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
    study = "study" if collection is None else str(collection.parent)
    return show.command(f"shuffledp survey open {quote(study)} {quote(str(out))} --out result", "Next: ")


ON = option("engine", ENGINE, f"{SPARK} The analyst's key travels to its workers.", metavar="ADDRESS")


@command(
    "survey open",
    "study sealed.bin --out result",
    "study sealed.bin --out result --ledger budget.sqlite --population app-users --limit-epsilon 4 --limit-delta 1e-5",
    "study /shared/sealed.bin --out result --engine spark://host:7077",
    options=[
        argument("study", "STUDY", "The folder of the survey, with the analyst's key."),
        argument("sealed", "FILE", "What `shuffledp survey fetch` wrote."),
        *declared(Budgeted),
        ON,
        *OUTPUT,
        option("title", ANSWER, "Headline for the page; if left out, what people were asked.", metavar="TEXT"),
        option("series", SERIES, "Publish it as a week of this series, instead of --out.", Path, metavar="FOLDER"),
        PERIOD,
        JSON,
    ],
)
def open_(*, title: str | None, series: Path | None, period: str | None, **given: Any) -> None:
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
