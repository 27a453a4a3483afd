"""A figure of a paper, described: its axes and parameters, how its curves are computed, and what
the comparison shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting.curves import Bound
from shuffledp.errors import DoesNotApply
from shuffledp.literature.bounds.published import Published

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Axis", "Experiment", "Kind", "Line", "curve", "ends", "find", "kind_of"]

# published: a bound of the paper where its conditions hold    outside: the same, drawn where they
# do not invalid: a formula that is wrong as printed                  unproven: constants
# reconstructed, or a step of the proof missing printed: numbers copied from the paper upper, lower:
# our certified ends                             law: something that is not a bound, such as a
# density
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

    return Line(
        label, kind, np.array(xs, dtype=np.float64), np.array([known(x) for x in np.asarray(xs).tolist()]), panel
    )


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


def kind_of(bound: Published) -> Kind:
    """How a bound is drawn where its conditions hold."""
    return "published" if bound.status == "proven" else bound.status
