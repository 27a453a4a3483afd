"""The weeks of a series: those that stand, and the next one, which is released once.

A week is a folder, absent or whole. With a ledger, it is recorded before anything is drawn, and
begun just before its folder can be seen: a run that was killed before that has used up nothing, and
of two at once one begins. A run that was killed right after that left a whole folder under a hidden
name, or one that the ledger did not hear of: both are put right by the next run (``_mended``).
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shuffledp.design import Design
from shuffledp.domain import Missing, one_name, per_column
from shuffledp.errors import Argument, InvalidInput, Refusal, check_count, check_words
from shuffledp.ledger import Ledger, PaidSeries, Turn
from shuffledp.poll import certify
from shuffledp.record import InSeries, Record, read_record
from shuffledp.release.budget import Budget
from shuffledp.release.request import Request
from shuffledp.series.series_file import FILE, Payment, SeriesFile, check_order, period_of, read_series
from shuffledp.storage.canonical import digest_of
from shuffledp.storage.files import check_new_folder, flush, locked, new_folder
from shuffledp.tables.permutation import check_crowd

WEEKS, DESIGN, LOCK, FACTS = "weeks", "design.json", ".lock", "estimates.json"


@dataclass(frozen=True, slots=True)
class Week:
    """A week that is to be released: its place, what its record says of it, and the budget that
    covers it, if the series has one.
    """

    folder: Path
    series: SeriesFile
    said: InSeries
    budget: Budget | None

    def check_people(self, people: int) -> None:
        """Refuse a week with fewer people than are promised, or more than the design knows; it is
        not used up.
        """
        design = self.series.design
        try:
            check_crowd(people, design.honest, design.n)
        except InvalidInput as error:
            raise InvalidInput(*error.args, f" {str(self.said).capitalize()} was not used up.") from None


@dataclass(frozen=True, slots=True)
class Tracked:
    """A series as it stands: the weeks in its folder, and, with a ledger, those that have begun,
    also elsewhere.
    """

    folder: Path
    series: SeriesFile
    standing: dict[int, Record]
    paid: PaidSeries | None

    @property
    def taken(self) -> frozenset[int]:
        """The weeks that were released, here or elsewhere."""
        return frozenset(self.standing) | frozenset(() if self.paid is None else self.paid.begun)

    @property
    def left(self) -> int:
        """How many weeks may still be released."""
        return self.series.weeks - len(self.taken)

    def periods(self) -> dict[int, str | None]:
        """What the weeks in the folder are about."""
        found = {week: record.asked.series for week, record in self.standing.items()}
        return {week: None if said is None else said.period for week, said in found.items()}


def new_series(
    folder: Path, design: Design, name: str, *, title: str | None = None, by: str | None = None, budget: Budget | None
) -> SeriesFile:
    """Start a series: pay for it, if there is a ledger, then write its file. Started again after a
    kill, with the same name and the same design, it is paid for once.
    """
    check_words(Argument("title"), title)
    created = datetime.now(UTC).isoformat(timespec="seconds")
    made = SeriesFile(name=name, created=created, title=title, design=design, by=by).checked()
    check_new_folder(folder, lasting=True)
    if budget is not None:
        receipt = budget.pay(design, made.name).receipt
        assert receipt.id is not None
        assert receipt.record is not None
        place = os.path.relpath(budget.path.resolve(), folder.resolve())
        paid = Payment(population=receipt.population, release=receipt.id, record=receipt.record, path=place)
        made = replace(made, ledger=paid)

    def fill(place: Path) -> None:
        (place / WEEKS).mkdir()
        (place / FILE).write_text(made.file_text(), encoding="utf-8")
        (place / DESIGN).write_text(design.file_text(), encoding="utf-8")

    new_folder(folder, fill)
    return made


def tracked(folder: Path, *, ledger: Path | None = None) -> Tracked:
    """A series as it stands; nothing is changed."""
    series = read_series(folder)
    book = _ledger(folder, series, ledger)
    paid = None
    if book is not None and series.ledger is not None:
        paid = book.series(series.ledger.population).get(series.name)
    return Tracked(folder, series, _standing(folder, series), paid)


@contextmanager
def next_week(
    folder: Path, *, week: int | None = None, period: str | None = None, ledger: Path | None = None
) -> Iterator[Week]:
    """The next week of a series, or the one that is named, for as long as it is being released: no
    other run of this folder comes between. A file that was changed to promise what its noise does
    not keep is refused.
    """
    series = read_series(folder)
    certify(series.design)
    if period is not None:
        period_of(period)
    with locked(folder / LOCK) as ours:
        if not ours:
            raise InvalidInput(
                f"{str(folder)!r} must be free, got another run that adds a week to it. Let it finish, and try again."
            )
        book = _ledger(folder, series, ledger)
        if book is not None:
            _mended(folder, series, book)
        state = tracked(folder, ledger=ledger)
        number = _number(state, week)
        check_order(number, period, state.periods())
        said = InSeries(name=series.name, week=number, weeks=series.weeks, period=period, digest=series.digest)
        budget = None
        if book is not None and series.ledger is not None:
            turn = Turn(name=series.name, weeks=series.weeks, week=number)
            budget = Budget(book.path, series.ledger.population, turn=turn)
        yield Week(folder_of(folder, number), series, said, budget)


@contextmanager
def collected_week(
    folder: Path, design: Design, round: int, *, period: str | None = None, ledger: Path | None = None
) -> Iterator[Week]:
    """The week that a collection is the round of; one of another design is refused."""
    series = read_series(folder)
    if series.design.digest != design.digest:
        raise InvalidInput(
            f"the collection must be of the design of series {series.name!r}, got another. Announce it with the "
            f"{DESIGN} in {str(folder)!r}, or open it without --series."
        )
    with next_week(folder, week=round, period=period, ledger=ledger) as week:
        yield week


def _number(state: Tracked, week: int | None) -> int:
    """The week that was named, or the next; it must not have been released."""
    name, weeks = state.series.name, state.series.weeks
    again = "Ask for a new series, which is paid for anew: shuffledp series new."
    if state.left == 0:
        raise InvalidInput(f"series {name!r} must have a week left, got all {weeks} released. {again}")
    if week is None:
        number = max(state.taken, default=0) + 1
        if number > weeks:
            missed = sorted(set(range(1, weeks + 1)) - state.taken)
            rule = (Argument("week"), f" must be given once week {weeks}, the last, is released")
            remedy = ("Name one that was left out, such as ", Argument("week", missed[0]), ".")
            raise InvalidInput(Refusal(rule, "none", remedy))
        return number
    number = check_count(Argument("week"), week, least=1, remedy="Weeks are counted from 1.")
    if number > weeks:
        rule = (Argument("week"), f" must be at most {weeks}, as many as series {name!r} has")
        raise InvalidInput(Refusal(rule, str(number), again))
    if number in state.taken:
        where = "in this folder" if number in state.standing else "elsewhere, says the ledger"
        once = f"week {number} of series {name!r} must be released once"
        remedy = ("Leave out ", Argument("week"), " to take the next.")
        raise InvalidInput(Refusal(once, f"it again: it was released {where}", remedy))
    return number


def folder_of(folder: Path, week: int) -> Path:
    """Where a week of the series in a folder stands, if it does."""
    return folder / WEEKS / f"{week:03d}"


def _ledger(folder: Path, series: SeriesFile, given: Path | None) -> Ledger | None:
    """The ledger that a series was paid in; another one is refused."""
    if series.ledger is None:
        if given is not None:
            rule = (Argument("ledger"), f" must be left out, as series {series.name!r} was started without one")
            remedy = "A series is paid for before its first week: shuffledp series new."
            raise InvalidInput(Refusal(rule, repr(str(given)), remedy))
        return None
    path = folder / series.ledger.path if given is None else given
    if not path.is_file():
        there, got = f"the ledger of series {series.name!r} must be there", f"none at {str(path)!r}"
        raise InvalidInput(Refusal(there, got, ("Say where it is: ", Argument("ledger", "FILE"))))
    ledger = Ledger(path)
    seals = [release.record for release in ledger.releases() if release.id == series.ledger.release]
    if seals != [series.ledger.record]:
        paid = f"the ledger {str(path)!r} must hold the payment of series {series.name!r}"
        instead = ("Name the one that it was paid in: ", Argument("ledger", "FILE"))
        raise InvalidInput(Refusal(paid, "another or an older one", instead))
    return ledger


def _standing(folder: Path, series: SeriesFile) -> dict[int, Record]:
    """The weeks in a folder, each checked to be of this series, in their order."""
    found = {}
    for place in sorted((folder / WEEKS).glob("[0-9]*")):
        record = read_record((place / FACTS).read_text(encoding="utf-8")) if (place / FACTS).is_file() else None
        said = None if record is None else record.asked.series
        if record is None or said is None or said.digest != series.digest or folder_of(folder, said.week) != place:
            raise InvalidInput(
                f"{str(place)!r} must be a week of series {series.name!r}, got something else. Move it away."
            )
        found[said.week] = record
    return dict(sorted(found.items()))


def _mended(folder: Path, series: SeriesFile, ledger: Ledger) -> None:
    """Finish what a killed run left after its week had begun: put its folder in place, whole under
    a hidden name, and let the ledger know. What runs left that never began is another draw of a
    week, which nobody may see: it is removed.
    """
    assert series.ledger is not None
    for release in ledger.releases(series.ledger.population):
        turn = release.entry.series
        if turn is None or turn.name != series.name or turn.week is None or release.state != "recorded":
            continue
        place = folder_of(folder, turn.week)
        for hidden in place.parent.glob(f".{place.name}.*.part"):
            if not place.exists() and _seal(hidden) == release.record and release.begun is not None:
                os.chmod(hidden, stat.S_IMODE(place.parent.stat().st_mode))
                os.rename(hidden, place)
                flush(place.parent)
        if release.begun is not None and _seal(place) == release.record:
            record = read_record((place / FACTS).read_text(encoding="utf-8"))
            ledger.publish(release.id, digest_of(record.as_json()))
    begun = {release.record for release in ledger.releases(series.ledger.population) if release.begun is not None}
    for hidden in (folder / WEEKS).glob(".*.part"):
        if _seal(hidden) not in begun:  # one that did is kept where its place is taken by something else
            shutil.rmtree(hidden)


def _seal(place: Path) -> str | None:
    """The seal in the ledger of the release in a folder, if it is one."""
    with suppress(InvalidInput, OSError, ValueError):
        record = read_record((place / FACTS).read_text(encoding="utf-8"))
        return None if record.ledger is None else record.ledger.record
    return None


ORIGIN = "the design of the series"


def question_of(week: Week, *, missing: Missing = None, clip: bool = False, **reading: Any) -> Request:
    """What is asked of a table in a week; ``reading`` says how it is read."""
    design = week.series.design
    domain, name = design.domain, design.question.type
    if clip and domain.bounds is None:
        rule = (Argument("clip"), f" must be left out for a {name}, which has no bounds")
        raise InvalidInput(Refusal(rule, "it", "Leave it out."))
    if domain.column_names is not None:
        reading |= {"column": reading["column"] or domain.column_names, "by": week.series.by}
        gaps = per_column(Argument("missing"), missing, reading["column"])
        for gap, column in zip(gaps, design.resolved.cells.columns, strict=True):
            _check_listed(gap, column.names)
    elif domain.bounds is None:
        _check_listed(one_name(Argument("missing"), missing), domain.names)
    elif missing is not None:
        rule = (Argument("missing"), f" must be left out for a {name}")
        raise InvalidInput(Refusal(rule, repr(missing), "Leave it out."))
    reading |= {"title": reading.get("title") or week.series.title, "missing": missing, "clip": clip}
    return Request(question=design.resolved, origins=(ORIGIN,), series=week.said, **reading)


def _check_listed(missing: str | None, labels: tuple[str, ...]) -> None:
    """Refuse to count missing values as anything but one of the categories of the series."""
    if missing is not None and missing not in labels:
        rule = (Argument("missing"), f" must be one of the {len(labels)} categories of the series")
        remedy = "Name one of them, or leave it out: rows without a value then do not take part."
        raise InvalidInput(Refusal(rule, repr(missing), remedy))
