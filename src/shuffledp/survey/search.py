"""A search for frequent words over the network: every level is a collection of its own, with its
own key and invitations, and the next one follows from what was opened of the one before.

    search.json     public: what everybody agrees on before anybody is asked
    people.txt      the organizer's alone: the level of each person, drawn before the first one
    level-1/        a collection and its key; invitations.csv and hashes.txt; tally.json once opened
    level-2/        ...
    charged.json    what the ledger said, if the search was charged: once, for all levels

Each person is invited to one level, and no other has a code for them: nobody is asked twice. The
last level, where words are counted, invites all who are left.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.curves import Bound
from shuffledp.design import Design
from shuffledp.errors import InvalidInput, check_count
from shuffledp.ledger import Ledger, Receipt
from shuffledp.record import Collected, Context
from shuffledp.release.budget import Budget, Spent
from shuffledp.release.files import check_folder
from shuffledp.release.pipeline import Run, charged
from shuffledp.release.released import Release
from shuffledp.release.top_release import drawn_levels, finished_search
from shuffledp.search.found import Found
from shuffledp.search.search import Search
from shuffledp.storage.canonical import canonical, parsed
from shuffledp.storage.files import check_new_folder, new_folder, replace_file
from shuffledp.survey.collection import Collection, read_collection
from shuffledp.survey.opener import OnAllCores, Opening, Study, count_study
from shuffledp.survey.organizer import COLLECTION, fresh_codes, new_collection, write_lines

SEARCH, PEOPLE, TALLY, CHARGED = "search.json", "people.txt", "tally.json", "charged.json"
INVITATIONS, HASHES = "invitations.csv", "hashes.txt"
BATCH_DIGITS = 32
MOST_DRAWN = 10**9  # people whose levels are held and written down


@dataclass(frozen=True, slots=True)
class SearchFolder:
    """The organizer's folder of a search."""

    place: Path
    search: Search

    @classmethod
    def read(cls, place: Path) -> SearchFolder:
        """What ``new_search`` wrote."""
        return cls(place, Search.from_json(_read(place / SEARCH)))

    def level(self, number: int) -> Path:
        """The folder of a level, from 1 on."""
        return self.place / f"level-{number}"

    @property
    def tallies(self) -> list[NDArray[np.int64]]:
        """Of the levels that were opened, in their order."""
        found = list[NDArray[np.int64]]()
        while (path := self.level(len(found) + 1) / TALLY).exists():
            found.append(np.array(_read(path)["votes"], dtype=np.int64))
        return found

    @property
    def levels(self) -> NDArray[np.int64]:
        """The level of each person, from 0 on."""
        return np.loadtxt(self.place / PEOPLE, dtype=np.int64, ndmin=1)

    @property
    def spent(self) -> Spent | None:
        """The record in the ledger, if there is one."""
        if not (path := self.place / CHARGED).exists():
            return None
        kept = _read(path)
        total = Bound(**kept["receipt"].pop("total"))
        return Spent(Ledger(Path(kept["ledger"])), Receipt(**kept["receipt"] | {"total": total, "lookalikes": ()}))


def new_search(
    search: Search, shuffler: str, out: Path, *, question: str | None = None, budget: Budget | None = None
) -> Collection:
    """Draw everybody's level, and announce the first one. The budget is spent here, once for all
    levels, when all is ready and nobody has seen it: what is refused before costs nothing.
    """
    check_new_folder(out, lasting=True)
    remedy = "A level is drawn for each of them, and written down: search among fewer."
    check_count("people", search.people, least=1, most=MOST_DRAWN, remedy=remedy)
    levels = drawn_levels(search, search.people)

    def fill(place: Path) -> None:
        _write(place / SEARCH, search.as_json())
        write_lines(place / PEOPLE, levels.tolist(), private=True)
        _announce(SearchFolder(place, search), search.first_design, 0, levels, shuffler, question)
        if budget is not None:
            spent = budget.spend(search, "top words over the network", batches=(search.digest[:BATCH_DIGITS],))
            with charged(spent):
                _write(place / CHARGED, {"ledger": str(budget.path.absolute()), "receipt": asdict(spent.receipt)})

    new_folder(out, fill)
    return read_collection(SearchFolder(out, search).level(1) / COLLECTION)


def next_level(
    folder: SearchFolder,
    sealed: Path,
    out: Path | None,
    *,
    title: str | None = None,
    force: bool = False,
    opening: Opening | None = None,
) -> Collection | Release:
    """Open the level that was collected last, and announce the next one; or, after the last one,
    publish what was found. What was done before is not done again.
    """
    number = len(folder.tallies) + 1
    if folder.level(number).exists():
        _open_level(folder.level(number), sealed, opening or OnAllCores())
    tallies = folder.tallies
    step = folder.search.next(tallies)
    first = read_collection(folder.level(1) / COLLECTION)
    if not isinstance(step, Found):
        _announce(folder, step, len(tallies), folder.levels, first.shuffler, first.question)
        return read_collection(folder.level(len(tallies) + 1) / COLLECTION)
    if out is None:
        raise InvalidInput("--out is missing: the search is over, and its words can be written. Add --out result.")
    check_folder(out, replace=force)
    opened = _read(folder.level(1) / TALLY)
    asked = Context(
        question="top",
        what=f"top words of search {folder.search.digest[:16]}",
        title=title or first.question,
        source=first.shuffler,
    )
    collected = Collected(digest=first.digest, round=1, arrived=opened["arrived"], invalid=opened["invalid"])
    run = Run(asked=asked, folder=out, collected=collected, spent=folder.spent, force=force)
    with charged(run.spent):
        return finished_search(step, run)


def _open_level(place: Path, sealed: Path, opening: Opening) -> None:
    """Count the reports of a level, and keep what they add up to."""
    study = Study.read(place)
    counted = count_study(study, study.sealed(sealed), opening)
    counted.remember()
    _write(
        place / TALLY,
        {
            "collection": study.collection.digest,
            "sealed": counted.opened.sealed,
            "arrived": counted.arrived,
            "invalid": counted.opened.invalid,
            "votes": counted.tally.votes.tolist(),
        },
    )


def _announce(
    folder: SearchFolder, design: Design, asked: int, levels: NDArray[Any], shuffler: str, question: str | None
) -> None:
    """The collection of the next level, and a code for each of its people."""
    place = folder.level(asked + 1)
    mine = np.flatnonzero(levels >= asked if design.resolved.counting else levels == asked)

    def fill(inside: Path) -> None:
        made = inside / "made"
        collection = new_collection(design, shuffler, made, question=question, codes=True)
        for path in made.iterdir():
            path.rename(inside / path.name)
        made.rmdir()
        codes, hashes = fresh_codes(collection, len(mine))
        rows = [f"{person + 1},{code}" for person, code in zip(mine.tolist(), codes, strict=True)]
        write_lines(inside / INVITATIONS, ["person,code", *rows], private=True)
        write_lines(inside / HASHES, hashes, private=False)

    new_folder(place, fill)


def _read(path: Path) -> Any:
    try:
        found = parsed(path.read_bytes())
    except OSError as error:
        raise InvalidInput(
            f"{str(path)!r} must be there, got none that can be read: {error.strerror}. Name the folder that "
            f"`shuffledp survey new` wrote."
        ) from None
    if found is None:
        raise InvalidInput(f"{str(path)!r} must be as shuffledp wrote it, got something else. Restore it.")
    return found


def _write(path: Path, facts: Any) -> None:
    replace_file(path, lambda place: place.write_text(canonical(facts) + "\n", encoding="utf-8"))
