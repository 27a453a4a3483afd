"""The ledger for other programs: strict JSON, and a table."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shuffledp.collection.ledger.book import Book, Release
from shuffledp.collection.ledger.entry import Entry
from shuffledp.collection.ledger.fit import more
from shuffledp.collection.ledger.seal import Population
from shuffledp.collection.ledger.total import composed
from shuffledp.storage.files import write_table

__all__ = ["exported", "total_facts", "write_csv", "write_json"]

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
            "more": _more(each, book.charged(each.name), releases[-1].entry),
            "series": [series.as_json() for series in book.series(each.name).values()],
            "releases": [_facts(release) for release in releases],
        }
        for each in book.populations
        for releases in [book.releases(each.name)]
    ]
    return {"format": FORMAT, "last": book.last, "populations": populations}


def total_facts(releases: tuple[Release, ...], delta: float) -> dict[str, Any]:
    """The certified interval of epsilon of all ``releases`` at ``delta``."""
    bound = composed(each for release in releases for each in release.entry.mechanisms).epsilon(delta=delta)
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
                        "population": population["name"],
                        "series": turn.get("name"),
                        "week": turn.get("week"),
                    }
                    yield [cells[name] for name in COLUMNS]

    write_table(path, COLUMNS, lines())


def _more(population: Population, releases: tuple[Release, ...], last: Entry) -> int:
    """How many more releases like the last one fit."""
    earlier = [each for release in releases for each in release.entry.mechanisms]
    return more(earlier, last, limit_epsilon=population.limit_epsilon, limit_delta=population.limit_delta)


def _facts(release: Release) -> dict[str, Any]:
    names = ("id", "state", "recorded", "begun", "published", "version", "output", "record")
    return {name: getattr(release, name) for name in names} | {"entry": release.entry.as_json()}
