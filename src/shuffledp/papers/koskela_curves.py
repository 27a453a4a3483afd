"""What the figures of Koskela et al. 2021 have in common: curves of pairs, of certified mechanisms,
and how to look a number up again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.literature.fourier import Grid, Pair
from shuffledp.papers.experiment import Kind, Line, ends, find

PAPER = "Koskela et al. 2021"
GRID = "Fourier accountant with L = 20, m = 1e7, as in the paper"


def epsilons_of(pair: Pair, rounds: Sequence[int], deltas: Floats) -> dict[int, Floats]:
    """For each number of rounds epsilon at every delta, nan where it is infinite."""
    grid = Grid(pair)
    curves = {count: grid.compose(count).epsilon for count in rounds}
    values = {count: np.array([epsilon(x) for x in deltas]) for count, epsilon in curves.items()}
    return {count: np.where(np.isfinite(each), each, math.nan) for count, each in values.items()}


def deltas_of(pair: Pair, rounds: Sequence[int], epsilons: Floats) -> dict[int, Floats]:
    """For each number of rounds delta at every epsilon; nan where it is mostly what truncation and
    rounding leave open.
    """
    grid = Grid(pair)
    curves = {count: grid.compose(count) for count in rounds}
    values = {count: np.array([curve.delta(x) for x in epsilons]) for count, curve in curves.items()}
    return {count: np.where(each < 2.0 * curves[count].beyond, math.nan, each) for count, each in values.items()}


def certified(mechanism: Guarantee, label: str, deltas: Floats, panel: str = "") -> Iterator[Line]:
    """Our ends of epsilon at every delta."""
    return ends(label, label, deltas, [mechanism.epsilon(delta=delta) for delta in deltas.tolist()], panel)


def certified_profile(mechanism: Guarantee, label: str, epsilons: Floats, panel: str = "") -> Iterator[Line]:
    """Our ends of delta at every epsilon."""
    band = mechanism.profile(epsilons)
    yield Line(label, "upper", epsilons, band.upper, panel)
    yield Line(label, "lower", epsilons, band.lower, panel)


def parted(label: str, x: Floats, y: Floats, holds: NDArray[np.bool_], panel: str = "") -> Iterator[Line]:
    """A closed form in two lines: where its conditions hold, and where it is drawn all the same. A
    part without points is left out.

    The part outside begins at the last point inside, so that the curve has no gap.
    """
    known = np.isfinite(y)
    inside = known & holds
    outside = known & ~inside
    beside = np.append(outside[1:], False) | np.append(False, outside[:-1])
    if inside.any():
        yield Line(label, "published", x, np.where(inside, y, math.nan), panel)
    if outside.any():
        yield Line(label, "outside", x, np.where(outside | (inside & beside), y, math.nan), panel)


def value(lines: Sequence[Line], label: str, kind: Kind, x: float, panel: str | None = None) -> float:
    """A line's y at the computed point nearest to x, on the scale of ratios."""
    line = find(lines, label, kind, panel)
    return float(line.y[np.argmin(np.abs(np.log(line.x / x)))])


def reaches(lines: Sequence[Line], label: str, kind: Kind, y: float) -> float:
    """The x at which a falling line with a logarithmic y comes down to ``y``, between its points;
    nan if it does not.
    """
    line = find(lines, label, kind)
    known = line.y > 0.0
    return float(np.interp(-math.log(y), -np.log(line.y[known]), line.x[known], left=math.nan, right=math.nan))


def below(claimed: Line, truth: Line) -> Floats:
    """At which of the points that both know an upper bound lies below a certified lower end."""
    return np.asarray(claimed.x[claimed.y < truth.y])


def keyed(curves: Mapping[int, Floats], family: str, kind: Kind, x: Floats, panel: str = "") -> Iterator[Line]:
    """One line for each number of rounds."""
    for rounds, y in curves.items():
        yield Line(f"{family}, nc = {rounds}", kind, x, y, panel)
