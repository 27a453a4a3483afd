"""The ledger for other programs: strict JSON, and a table."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

from shuffledp.ledger.book import Book, Release
from shuffledp.ledger.schema import FORMAT
from shuffledp.ledger.total import composed

__all__ = ["exported", "total_facts", "write_csv", "write_json"]

COLUMNS = (
    *("population", "id", "state", "recorded", "published", "what", "n", "honest", "rounds", "randomizer", "epsilon0"),
    *("epsilon", "delta", "design", "output", "version", "record"),
)


def exported(book: Book) -> dict[str, Any]:
    """Every population with its limit, its certified total and its releases; an infinite number is null."""
    populations = [
        {
            "name": each.name,
            "created": each.created,
            "limit_epsilon": each.limit_epsilon,
            "limit_delta": each.limit_delta,
            "total": total_facts(releases, each.limit_delta),
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
    """A line for every part of every release."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.DictWriter(file, COLUMNS)
        lines.writeheader()
        for population in facts["populations"]:
            for release in population["releases"]:
                entry = release["entry"]
                for part in entry["parts"]:
                    law = part["law"]
                    cells = {**population, **release, **entry, **part, **law, "population": population["name"]}
                    lines.writerow({name: cells[name] for name in COLUMNS})


def _facts(release: Release) -> dict[str, Any]:
    names = ("id", "state", "recorded", "published", "version", "output", "record")
    return {name: getattr(release, name) for name in names} | {"entry": release.entry.as_json()}
