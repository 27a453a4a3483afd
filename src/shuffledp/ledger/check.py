"""Everything that can be checked about a ledger again, from the file alone, and the ledger for
other programs: as strict JSON and as a table.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import InvalidInput
from shuffledp.ledger.book import Book, Release, parsed
from shuffledp.ledger.charge import more
from shuffledp.ledger.populations import lookalikes
from shuffledp.ledger.schema import listed
from shuffledp.ledger.series import series_faults
from shuffledp.ledger.total import Mechanism, composed
from shuffledp.storage.canonical import canonical
from shuffledp.storage.files import write_table

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
    seals = [row.record for row in book.rows]
    if last is not None and last not in seals:
        instead = "the ledger was cut short, or an older or a different one is in its place"
        faults.append(f"the record with the seal {last} is not there: {instead}")
    elif last is not None:
        place = seals.index(last) + 1
        since = f"{len(seals) - place or 'no'} more {'was' if len(seals) - place == 1 else 'were'} recorded after it"
        remarks.append(f"the record with the given seal is there: release {place}; {since}")
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
        epsilon, delta = population.limit_epsilon, population.limit_delta
        try:
            total = _together(some).delta_at_most(epsilon=epsilon)
        except InvalidInput as error:  # a limit that is none, or more rounds than are counted
            faults.append(f"{population.name} cannot be added up: {error}")
            continue
        if total > delta * (1.0 + SLACK):
            have = f"its releases have delta = {total:.4g}, and {delta:g} is allowed"
            faults.append(f"{population.name} is over its limit: at epsilon = {epsilon:g} {have}")
    names = [each.name for each in book.populations]
    for population in book.populations:
        own = [each for each in releases if each.population == population.name and each.state == "recorded"]
        for series in book.series(population.name).values():
            remarks.append(f"{population.name}: {len(series.begun)} of the {series.turn} were released")
        for what, begun, why in (
            ("published", True, "because nobody can tell what was seen of them"),
            ("begun", False, "until the same release is asked for again and uses them"),
        ):
            if ids := [str(release.id) for release in own if (release.begun is not None) == begun]:
                remarks.append(f"{population.name}: recorded and never {what}: {listed(ids)}. These count, {why}")
        if similar := [repr(name) for name in lookalikes(population.name, names) if name > population.name]:
            one = "if these are the same users, they should have one budget"
            remarks.append(f"{population.name!r} looks like {listed(similar)}: {one}")
    return Check(tuple(faults), tuple(remarks))


def _parts(releases: Iterable[Release]) -> Iterator[Mechanism]:
    return (each for release in releases for each in release.entry.mechanisms)


def _together(releases: Iterable[Release]) -> Guarantee:
    return composed(_parts(releases))


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
            shown = _together([release]).delta_at_most(epsilon=entry.epsilon * (1.0 + SLACK))
            kept[key] = shown <= entry.delta * (1.0 + SLACK)
        if not kept[key]:
            promise = f"promises epsilon = {entry.epsilon:g} at delta = {entry.delta:g} by itself"
            faults.append(f"release {release.id} {promise}, and its mechanisms do not keep it")
    return faults


FORMAT = 1  # of the export; what is added to it later has a name of its own
COLUMNS = (
    *("population", "id", "state", "recorded", "published", "what", "n", "honest", "rounds", "randomizer", "epsilon0"),
    *("epsilon", "delta", "design", "output", "version", "record", "series", "week"),
)


def exported(book: Book) -> dict[str, Any]:
    """Every population with its limit, its certified total and its releases; an infinite number is
    null.
    """
    populations = [
        {
            "name": each.name,
            "created": each.created,
            "limit_epsilon": each.limit_epsilon,
            "limit_delta": each.limit_delta,
            "total": total_facts(book.charged(each.name), each.limit_delta),
            "more": more(_parts(book.charged(each.name)), releases[-1].entry, each),
            "series": [series.as_json() for series in book.series(each.name).values()],
            "releases": [_facts(release) for release in releases],
        }
        for each in book.populations
        for releases in [book.releases(each.name)]
    ]
    return {"format": FORMAT, "last": book.last, "populations": populations}


def total_facts(releases: tuple[Release, ...], delta: float) -> dict[str, Any]:
    """The certified interval of epsilon of all ``releases`` at ``delta``."""
    bound = _together(releases).epsilon(delta=delta)
    ends = {name: end if math.isfinite(end) else None for name, end in (("lower", bound.lower), ("upper", bound.upper))}
    return {"epsilon": ends, "delta": delta, "method": bound.method, "assumptions": list(bound.assumptions)}


def write_json(facts: dict[str, Any], path: Path) -> None:
    """``exported`` facts, as text."""
    path.write_text(json.dumps(facts, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def write_csv(facts: dict[str, Any], path: Path) -> None:
    """A line for every part of every release; text that a spreadsheet would take for a formula is
    written as ``files.plain_cell`` says.
    """

    def lines() -> Iterator[list[object]]:
        for population in facts["populations"]:
            for release in population["releases"]:
                turn = release["entry"].get("series", {})
                for part in release["entry"]["parts"]:
                    cells = {
                        **population,
                        **release,
                        **release["entry"],
                        **part,
                        **part["law"],
                        "randomizer": part["law"]["type"],
                        "population": population["name"],
                        "series": turn.get("name"),
                        "week": turn.get("week"),
                    }
                    yield [cells[name] for name in COLUMNS]

    write_table(path, COLUMNS, lines())


def _facts(release: Release) -> dict[str, Any]:
    names = ("id", "state", "recorded", "begun", "published", "version", "output", "record")
    return {name: getattr(release, name) for name in names} | {"entry": release.entry.as_json()}
