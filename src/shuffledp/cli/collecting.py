"""The commands collection status, close and fetch: what the analyst asks of the shuffler."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shuffledp.cli import show
from shuffledp.cli.collection import collection
from shuffledp.cli.listing import examples
from shuffledp.cli.options import Json, OutFile, ReplaceFile, flag
from shuffledp.cli.waiting import patiently, progress
from shuffledp.wording import quote

if TYPE_CHECKING:
    from shuffledp.survey.analyst import Analyst

__all__ = ["collection"]

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


@collection.command("status", epilog=examples(f"collection status {PLACE} --collection study/collection.json"))
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


@collection.command(
    "close", epilog=examples(f"collection close {PLACE} --collection study/collection.json --token token.txt")
)
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
    "fetch",
    epilog=examples(f"collection fetch {PLACE} --collection study/collection.json --token token.txt --out sealed.bin"),
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
