"""Everything that can be checked about a ledger again, from the file alone."""

from __future__ import annotations

from dataclasses import dataclass

from shuffledp.collection.ledger.book import Book, Release, parsed
from shuffledp.collection.ledger.in_advance import series_faults
from shuffledp.collection.ledger.names import lookalikes
from shuffledp.collection.ledger.total import composed
from shuffledp.errors import InvalidInput
from shuffledp.storage.canonical import canonical

__all__ = ["Check", "checked"]

LISTED = 8  # ids in a remark
SLACK = 1e-6  # relative: another machine's arithmetic may differ in the last digits


@dataclass(frozen=True, slots=True)
class Check:
    """``faults``: something is wrong; ``remarks``: something to know. Empty faults mean that every
    record and every total was confirmed.
    """

    faults: tuple[str, ...]
    remarks: tuple[str, ...]


def checked(book: Book, last: str | None = None) -> Check:
    """The file, the chain, every entry and every total, checked again, and whether the record
    sealed ``last`` is part of it.
    """
    faults, releases, remarks = list(book.damage), [], []
    if last is not None:
        place = next((place for place, row in enumerate(book.rows, 1) if row.record == last), None)
        if place is None:
            faults.append(
                f"the record with the seal {last} is not there: the ledger was cut short, or an older or a different "
                f"one is in its place"
            )
        else:
            since = len(book.rows) - place
            remarks.append(
                f"the record with the given seal is there: release {place}; {since or 'no'} more "
                f"{'was' if since == 1 else 'were'} recorded after it"
            )
    for row in book.rows:
        try:
            releases.append(parsed(row))
        except InvalidInput as error:
            faults.append(str(error))
    faults += _promises(releases)
    for population in book.populations:
        covered = book.covered(population.name)
        some = [each for each in releases if each.population == population.name and each.id not in covered]
        if not some:
            continue
        faults += [f"{population.name}: {each}" for each in series_faults(book.rows_of(population.name))]
        try:
            total = composed(part for release in some for part in release.entry.mechanisms).delta_at_most(
                epsilon=population.limit_epsilon
            )
        except InvalidInput as error:  # a limit that is none, or more rounds than are counted
            faults.append(f"{population.name} cannot be added up: {error}")
            continue
        if total > population.limit_delta * (1.0 + SLACK):
            faults.append(
                f"{population.name} is over its limit: at epsilon = {population.limit_epsilon:g} its releases have "
                f"delta = {total:.4g},"
                f" and {population.limit_delta:g} is allowed"
            )
    names = [each.name for each in book.populations]
    for population in book.populations:
        own = [each for each in releases if each.population == population.name and each.state == "recorded"]
        for series in book.series(population.name).values():
            remarks.append(f"{population.name}: {len(series.begun)} of the {series.turn} were released")
        if waiting := [str(release.id) for release in own if release.begun is not None]:
            remarks.append(
                f"{population.name}: recorded and never published: {_listed(waiting)}. These count, because nobody can "
                f"tell what was seen of them"
            )
        if unseen := [str(release.id) for release in own if release.begun is None]:
            remarks.append(
                f"{population.name}: recorded and never begun: {_listed(unseen)}. These count, until the same release "
                f"is asked for again and uses them"
            )
        if similar := [name for name in lookalikes(population.name, names) if name > population.name]:
            remarks.append(
                f"{population.name!r} looks like {_listed([repr(name) for name in similar])}: if these are the same "
                f"users, they should have one budget"
            )
    return Check(tuple(faults), tuple(remarks))


def _listed(names: list[str]) -> str:
    return ", ".join(names[:LISTED]) + f" and {len(names) - LISTED} more" * (len(names) > LISTED)


def _promises(releases: list[Release]) -> list[str]:
    """Releases whose own promise is not what their mechanisms keep; equal ones are computed
    once.
    """
    kept: dict[str, bool] = {}
    faults = []
    for release in releases:
        entry = release.entry
        key = canonical({**entry.as_json(), "what": "", "design": "", "batches": []})
        if key not in kept:
            kept[key] = composed(entry.mechanisms).delta_at_most(
                epsilon=entry.epsilon * (1.0 + SLACK)
            ) <= entry.delta * (1.0 + SLACK)
        if not kept[key]:
            faults.append(
                f"release {release.id} promises epsilon = {entry.epsilon:g} at delta = {entry.delta:g} by itself, and "
                f"its mechanisms do not keep it"
            )
    return faults
