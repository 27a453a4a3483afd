"""Everything that can be checked about a ledger again, from the file alone."""

from __future__ import annotations

from dataclasses import dataclass

from shuffledp.canonical import canonical
from shuffledp.errors import InvalidInput
from shuffledp.ledger.book import Book, Release, parsed
from shuffledp.ledger.total import composed, delta_at_most

__all__ = ["Check", "checked"]

LISTED = 8  # ids in a remark
SLACK = 1e-6  # relative: another machine's arithmetic may differ in the last digits


@dataclass(frozen=True, slots=True)
class Check:
    """``faults``: something is wrong; ``remarks``: something to know. Empty faults mean that every record and every total was confirmed."""

    faults: tuple[str, ...]
    remarks: tuple[str, ...]


def checked(book: Book) -> Check:
    """The file, the chain, every entry and every total, checked again."""
    faults, releases = list(book.damage), []
    for row in book.rows:
        try:
            releases.append(parsed(row))
        except InvalidInput as error:
            faults.append(str(error))
    faults += _promises(releases)
    for population in book.populations:
        some = [release for release in releases if release.population == population.name]
        if not some:
            continue
        total = delta_at_most(composed(part for release in some for part in release.entry.mechanisms), population.limit_epsilon)
        if total > population.limit_delta * (1.0 + SLACK):
            faults.append(
                f"{population.name} is over its limit: at epsilon = {population.limit_epsilon:g} its releases have delta = {total:.4g},"
                f" and {population.limit_delta:g} is allowed"
            )
    remarks = []
    for population in book.populations:
        if waiting := [str(release.id) for release in releases if release.population == population.name and release.published is None]:
            listed = ", ".join(waiting[:LISTED]) + f" and {len(waiting) - LISTED} more" * (len(waiting) > LISTED)
            remarks.append(f"{population.name}: recorded and never published: {listed}. These count, because nobody can tell what was seen of them")
    return Check(tuple(faults), tuple(remarks))


def _promises(releases: list[Release]) -> list[str]:
    """Releases whose own promise is not what their mechanisms keep; equal ones are computed once."""
    kept: dict[str, bool] = {}
    faults = []
    for release in releases:
        entry = release.entry
        key = canonical({**entry.as_json(), "what": "", "design": ""})
        if key not in kept:
            kept[key] = delta_at_most(entry.guarantee, entry.epsilon * (1.0 + SLACK)) <= entry.delta * (1.0 + SLACK)
        if not kept[key]:
            faults.append(f"release {release.id} promises epsilon = {entry.epsilon:g} at delta = {entry.delta:g} by itself, and its mechanisms do not keep it")
    return faults
