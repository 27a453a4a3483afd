"""A figure of a paper, described: its axes and parameters, how its curves are computed, and what the comparison shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from shuffledp.randomizers.base import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Axis", "Experiment", "Kind", "Line"]

# published: a bound of the paper where its conditions hold    outside: the same, drawn where they do not
# invalid: a formula that is wrong as printed                  printed: numbers copied from the paper
# upper, lower: our certified ends                             law: something that is not a bound, such as a density
Kind = Literal["published", "outside", "invalid", "printed", "upper", "lower", "law"]


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
    """What is drawn along one side, with its unit if it has one."""

    label: str
    log: bool = False
    limits: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One figure or table.

    ``compute`` yields ``count`` lines one after the other, so that progress can be seen. ``parameters`` says whose they are: the paper's, or
    ours where the paper's are lost. ``verdict`` turns the finished lines into a paragraph in Markdown: what agrees with the paper, what does not and
    why; every number in it is computed from the lines.
    ``figure`` draws the lines where curves would not show them.
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
