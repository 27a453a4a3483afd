"""An experiment's lines as a CSV file that explains itself, and back.

Comment lines say what it is; then one row per panel and x, and one column per curve, headed ``label
[kind]``. A field is blank where the curve has no point, and nan where its point has no value.
Numbers are written in full, so reading gives back the very same lines; the last comment is a
checksum of all that follows, so that a damaged table is not taken for a whole one.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np

from shuffledp import __version__
from shuffledp.papers.experiment import Experiment, Kind, Line

__all__ = ["arranged", "facts", "read_table", "write_table"]

CHECKSUM = "sha256"


def facts(experiment: Experiment) -> dict[str, str]:
    """What the comment lines say. A table with other facts is not this experiment's."""
    words = {
        "name": experiment.name,
        "paper": experiment.paper,
        "title": experiment.title,
        "parameters": experiment.parameters,
        "y": experiment.y.label,
        "curves": str(experiment.count),
        "shuffledp": __version__,
    }
    return {key: " ".join(value.split()) for key, value in words.items()}


def arranged(lines: Iterable[Line]) -> tuple[Line, ...]:
    """The lines panel by panel, curves in the same order in every panel, points from left to right;
    lines without points are left out.
    """
    found: dict[tuple[str, str, Kind], Line] = {}
    for line in lines:
        key = (line.panel, line.label, line.kind)
        if key in found:
            raise AssertionError(f"two lines are called {line.label!r} [{line.kind}] in panel {line.panel!r}")
        order = np.argsort(line.x, kind="stable")
        found[key] = Line(
            line.label,
            line.kind,
            np.asarray(line.x, dtype=np.float64)[order],
            np.asarray(line.y, dtype=np.float64)[order],
            line.panel,
        )
    panels = dict.fromkeys(panel for panel, _, _ in found)
    curves = dict.fromkeys((label, kind) for panel in panels for mine, label, kind in found if mine == panel)
    keys = [(panel, label, kind) for panel in panels for label, kind in curves]
    return tuple(found[key] for key in keys if key in found and found[key].x.size)


def write_table(experiment: Experiment, lines: Iterable[Line]) -> str:
    """The CSV of an experiment, as text."""
    lines = arranged(lines)
    curves = list(dict.fromkeys((line.label, line.kind) for line in lines))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["panel", experiment.x.label, *(f"{label} [{kind}]" for label, kind in curves)])
    for panel in dict.fromkeys(line.panel for line in lines):
        rows: dict[tuple[float, int], dict[tuple[str, Kind], float]] = {}
        for line in lines:
            if line.panel == panel:
                for place, y in zip(_places(line.x.tolist()), line.y.tolist(), strict=True):
                    rows.setdefault(place, {})[line.label, line.kind] = y
        for (x, _), row in sorted(rows.items()):
            writer.writerow([panel, repr(x), *(repr(row[curve]) if curve in row else "" for curve in curves)])
    body = text.getvalue()
    return (
        "".join(f"# {key}: {value}\n" for key, value in (facts(experiment) | {CHECKSUM: _checksum(body)}).items())
        + body
    )


def read_table(text: str) -> tuple[dict[str, str], tuple[Line, ...]]:
    """What the comment lines say, and the lines; a ValueError if they are not as they were
    written.
    """
    said: list[str] = []
    rows: list[str] = []
    for row in text.splitlines(keepends=True):
        (said if row.startswith("# ") and not rows else rows).append(row)
    about = dict(each.removeprefix("# ").rstrip("\n").partition(": ")[::2] for each in said)
    if about.pop(CHECKSUM, "") != _checksum("".join(rows)):
        raise ValueError("the table has been changed since it was written")
    header, *body = csv.reader(rows)
    curves = [cast("tuple[str, Kind]", tuple(head.removesuffix("]").rsplit(" [", 1))) for head in header[2:]]
    points: dict[tuple[str, str, Kind], list[tuple[float, float]]] = {}
    for panel, x, *values in body:
        for (label, kind), y in zip(curves, values, strict=True):
            if y:
                points.setdefault((panel, label, kind), []).append((float(x), float(y)))
    panels = dict.fromkeys(panel for panel, _, _ in points)
    keys = [(panel, label, kind) for panel in panels for label, kind in curves]
    return about, tuple(_line(*key, points[key]) for key in keys if key in points)


def _checksum(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:16]


def _line(panel: str, label: str, kind: Kind, points: Sequence[tuple[float, float]]) -> Line:
    x, y = np.array(points).T
    return Line(label, kind, x, y, panel)


def _places(xs: Sequence[float]) -> Iterable[tuple[float, int]]:
    """Every x with the number of times it occurred before: a curve may jump."""
    seen: dict[float, int] = {}
    for x in xs:
        yield x, seen.get(x, 0)
        seen[x] = seen.get(x, 0) + 1
