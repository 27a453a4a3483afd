"""A figure of a paper, described: its axes and parameters, how its curves are computed, and what
the comparison shows, and its lines as a CSV file that explains itself, and back.

In the file, comment lines say what it is; then comes one row per panel and x, and one column per
curve, headed ``label [kind]``. A field is blank where the curve has no point, and nan where its
point has no value. Numbers are written in full, so reading gives back the very same lines; the last
comment is a checksum of all that follows, so that a damaged table is not taken for a whole one.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from shuffledp import __version__
from shuffledp._types import Floats
from shuffledp.accounting.curves import Bound
from shuffledp.errors import DoesNotApply
from shuffledp.literature.bound import Published

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# published: a bound of the paper where its conditions hold; outside: drawn where they do not
# invalid: a formula that is wrong as printed; printed: numbers copied from the paper
# unproven: constants reconstructed, or a step of the proof missing
# upper, lower: our certified ends; law: something that is not a bound, such as a density
Kind = Literal["published", "outside", "invalid", "unproven", "printed", "upper", "lower", "law"]


@dataclass(frozen=True, slots=True)
class Line:
    """One curve: points of one panel. A y that was not computed, or does not exist, is nan."""

    label: str
    kind: Kind
    x: Floats
    y: Floats
    panel: str = ""


@dataclass(frozen=True, slots=True)
class Axis:
    """What is drawn along one side, with its unit if it has one. Panels share a range where one
    shows them all well, unless each has its ``own``.
    """

    label: str
    log: bool = False
    limits: tuple[float, float] | None = None
    own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One figure or table.

    ``compute`` yields ``count`` lines one after the other, so that progress can be seen.
    ``parameters`` says whose they are: the paper's, or ours where the paper's are lost. ``verdict``
    turns the finished lines into paragraphs in Markdown: what agrees with the paper, what does not
    and why; every number in them is computed from the lines. ``figure`` draws the lines where
    curves would not show them.
    """

    name: str
    paper: str
    title: str
    parameters: str
    x: Axis
    y: Axis
    count: int
    compute: Callable[[], Iterator[Line]]
    verdict: Callable[[Sequence[Line]], str]
    figure: Callable[[Experiment, Sequence[Line]], Figure] | None = None


def curve(label: str, kind: Kind, xs: Sequence[float] | Floats, value: Callable[[Any], float], panel: str = "") -> Line:
    """One curve; nan where a bound does not apply."""

    def known(x: float) -> float:
        try:
            return value(x)
        except DoesNotApply:
            return np.nan

    ys = np.array([known(x) for x in np.asarray(xs).tolist()])
    return Line(label, kind, np.array(xs, dtype=np.float64), ys, panel)


def ends(above: str, below: str, xs: Floats, bounds: Sequence[Bound], panel: str = "") -> Iterator[Line]:
    """The two certified ends at every x."""
    yield Line(above, "upper", xs, np.array([bound.upper for bound in bounds]), panel)
    yield Line(below, "lower", xs, np.array([bound.lower for bound in bounds]), panel)


def find(lines: Sequence[Line], label: str, kind: Kind | None = None, panel: str | None = None) -> Line:
    """The one line of this label, and of this kind and panel if they are given."""
    (found,) = (
        line for line in lines if line.label == label and kind in (None, line.kind) and panel in (None, line.panel)
    )
    return found


def span(values: Floats, form: str = ".2f") -> str:
    """From the least to the largest that is known."""
    return f"{float(np.nanmin(values)):{form}} to {float(np.nanmax(values)):{form}}"


def by_panel(lines: Iterable[Line]) -> dict[str, list[Line]]:
    """The lines of every panel."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line.panel, []).append(line)
    return found


def kind_of(bound: Published) -> Kind:
    """How a bound is drawn where its conditions hold."""
    return "published" if bound.status == "proven" else bound.status


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
        found[key] = replace(line, x=np.asarray(line.x, float)[order], y=np.asarray(line.y, float)[order])
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
    for panel, mine in by_panel(lines).items():
        rows: dict[tuple[float, int], dict[tuple[str, Kind], float]] = {}
        for line in mine:
            for place, y in zip(_places(line.x.tolist()), line.y.tolist(), strict=True):
                rows.setdefault(place, {})[line.label, line.kind] = y
        for (x, _), row in sorted(rows.items()):
            writer.writerow([panel, repr(x), *(repr(row[curve]) if curve in row else "" for curve in curves)])
    body = text.getvalue()
    said = facts(experiment) | {CHECKSUM: _checksum(body)}
    return "".join(f"# {key}: {value}\n" for key, value in said.items()) + body


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
    return about, tuple(_line(*key, np.array(points[key])) for key in keys if key in points)


def _checksum(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:16]


def _line(panel: str, label: str, kind: Kind, points: Floats) -> Line:
    return Line(label, kind, points[:, 0], points[:, 1], panel)


def _places(xs: Sequence[float]) -> Iterable[tuple[float, int]]:
    """Every x with the number of times it occurred before: a curve may jump."""
    seen: dict[float, int] = {}
    for x in xs:
        yield x, seen.get(x, 0)
        seen[x] = seen.get(x, 0) + 1
