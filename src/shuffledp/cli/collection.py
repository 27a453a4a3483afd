"""The commands collection new, invite, search and next: what an organizer does before anybody
reports, and, in a search for frequent words, between its levels.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shuffledp.cli import options, show
from shuffledp.cli.answering import show_release
from shuffledp.cli.listing import NETWORK, examples, group
from shuffledp.cli.options import ANSWER, QUESTION, argument, declared, flag, sharing, whole
from shuffledp.cli.waiting import patiently
from shuffledp.release.options import Budgeted, Titled
from shuffledp.wording import quote

if TYPE_CHECKING:
    from shuffledp.survey.collection import Collection

__all__ = ["collection", "moment"]

WHEN = "When"
collection = group(
    "collection", NETWORK, "A collection over the network: announce it, invite people, follow it, end it."
)

Shuffler = Annotated[str, flag("shuffler", QUESTION, "Where reports will be collected.", metavar="URL")]
Asked = Annotated[str | None, flag("question", QUESTION, "What people are asked, in a line.", metavar="TEXT")]


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
    epilog=examples(
        "collection new --design design.json --shuffler https://shuffle.example.org --out study",
        "collection new --design design.json --shuffler http://127.0.0.1:8000 --codes --closes 2026-12-01T18:00Z "
        "--out study",
    ),
)
def new(
    design: options.Designed,
    shuffler: Shuffler,
    out: options.NewFolder,
    question: Asked = None,
    round_: Annotated[
        int | None,
        whole("round", QUESTION, "Which of the design's rounds this is: 1. Each has a folder and a key of its own."),
    ] = None,
    codes: Annotated[bool, flag("codes", QUESTION, "Take a report only with an invitation code.")] = False,
    opens: Annotated[
        int | None, flag("opens", WHEN, "Take no report before that.", metavar="TIME", parser=moment)
    ] = None,
    closes: Annotated[
        int | None, flag("closes", WHEN, "Take no report after that.", metavar="TIME", parser=moment)
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Announce a collection: the file that everybody pins, and the key that opens the reports.

    The promise of the design is certified first. Times are written as in 2026-12-01T09:00:00+01:00.
    Keep analyst.key on the analyst's machine, and destroy it when the collection has been opened
    and is no longer needed: without it nobody can read a report, whoever has kept the file.
    """
    from shuffledp.client import exposure, read_design
    from shuffledp.survey.organizer import COLLECTION, KEY, new_collection

    settled, which = read_design(design), 1 if round_ is None else round_
    with patiently("certifying"):
        made = new_collection(
            settled, shuffler, out, round=which, question=question, opens=opens, closes=closes, codes=codes
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
    show.command(made.digest, "\nIts digest, which people pin; publish it where they trust it:\n")
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
    "invite",
    epilog=examples("collection invite study/collection.json --count 1000 --out codes.txt --hashes hashes.txt"),
)
def invite_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `shuffledp collection new` wrote.")],
    count: Annotated[int, whole("count", QUESTION, "How many codes.")],
    out: Annotated[Path, flag("out", ANSWER, "The codes, one per line, for the organizer alone.", metavar="FILE")],
    hashes: Annotated[Path, flag("hashes", ANSWER, "Their hashes, for `shuffledp serve --codes`.", metavar="FILE")],
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
    "search",
    epilog=examples("collection search --design words.json --shuffler https://shuffle.example.org --out search"),
)
@sharing([*declared(Budgeted), options.AS_JSON], dict)
def search_(
    given: dict[str, Any],
    design: Annotated[Path, flag("design", QUESTION, "What `shuffledp design top` wrote.", metavar="FILE")],
    shuffler: Shuffler,
    out: options.NewFolder,
    question: Asked = None,
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


@collection.command(
    "next", epilog=examples("collection next search sealed.bin", "collection next search sealed.bin --out result")
)
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
    show.command(made.digest, "\nIts digest, which people pin; publish it where they trust it:\n")
    file, hashes = quote(str(folder / "collection.json")), quote(str(folder / "hashes.txt"))
    return show.command(f"shuffledp serve {file} --store reports.sqlite --codes {hashes}", "\nOn the shuffler: ")
