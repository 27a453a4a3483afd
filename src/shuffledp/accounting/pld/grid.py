"""A delta(eps) curve -> a privacy loss distribution (PLD) on a grid that is provably worse, or
provably better, and the step of the grid.

For a pair (P, Q) the curve delta(x) = sum (P - x Q)_+ is convex in x = e^eps, and its kinks are the
PLD: a kink of slope change q at x is mass q under Q and x q under P. So a polygon above the curve
with corners on the grid is a pessimistic PLD, one below it an optimistic PLD. Losses below 0 are
the losses above 0 of the pair in the other order.

Mechanisms of different strength share one grid: fine enough for their sum, and no finer. A strong
mechanism on a weak one's grid would be evaluated at far more points than its own shape needs; a
weak one on a strong one's grid would be rounded up. The grid is a compromise whose cost is bounded,
and every mechanism is evaluated on a coarser part of it if that suffices.

The cost is variance. A pessimistic distribution moves a loss between two grid points to both of
them. If the step is much smaller than a mechanism's typical loss s, that adds a share of about
(step / s)^2 / 6 to its variance. If it is larger, most losses lie between 0 and the first point,
and about 2 TV step = sqrt(2 / pi) s step is added. Any step is valid: these estimates only choose
one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import FARTHEST_LOSS, RAREST_LOSS
from shuffledp.accounting.curves import lower_hull, minorant
from shuffledp.accounting.inversion import geometric, halve, within

CurveEnd = Callable[[Floats], Floats]
CurveBand = Callable[[Floats], tuple[Floats, Floats]]
SMALLEST = 1e-280
ROUNDING = 1e-12  # relative to the curve: masses are differences of slopes, and have the rounding errors of these,
ROUNDING_PER_KNOT = 1e-15  # which add up along the knots


@dataclass(frozen=True, slots=True, eq=False)
class LossDistribution:
    """Under P, the loss log(P/Q) is ``spacing * index`` with probability ``mass`` and infinite with
    probability ``infinite``. A lower end may have rounded finite losses up, by at most ``above``.
    """

    spacing: float
    index: Floats  # integers, ascending
    mass: Floats
    infinite: float
    above: float = 0.0

    @property
    def losses(self) -> Floats:
        return self.spacing * self.index

    def on_finer(self, times: int) -> LossDistribution:
        """The same losses, bit by bit, on a grid finer by ``times``, a power of two."""
        return LossDistribution(self.spacing / times, self.index * times, self.mass, self.infinite, self.above)


def pessimistic(curve: CurveEnd, knots: Floats, spacing: float, swapped: CurveEnd | None = None) -> LossDistribution:
    """A PLD that dominates every pair whose curve is at most ``curve`` at the knots, and in the
    other order at most ``swapped``, or if that is not given ``curve`` again.

    This is "connect the dots" (Doroshenko et al. 2022). ``knots`` are grid indices from 0 up.
    Chords of a convex function lie above it, and so does the lower convex hull of upper values at
    the knots; beyond the last knot the curve goes on as a constant: infinite loss. Losses below 0
    are those of the other order, so that its curve counts, too, where only one order is asked for.
    """
    growth = np.expm1(spacing * knots)  # x - 1: of tiny losses, x itself would be 1
    doubt = ROUNDING + ROUNDING_PER_KNOT * knots.size
    there, back = (
        np.minimum.accumulate(np.minimum(side(spacing * knots) * (1.0 + doubt), 1.0))
        for side in (curve, swapped or curve)
    )  # the truth falls, whatever upper values do far out
    # The orders share their total variation, and the hull also spans from 1/x to x, across x = 1.
    across = float(np.min((there[1:] + back[1:] + growth[1:]) / (growth[1:] + 2.0))) * (1.0 + doubt)
    there[0] = back[0] = min(there[0], back[0], across)
    corners = [lower_hull(growth, values) for values in (there, back)]
    sides = [
        _kinks(knots[corner], growth[corner], values[corner])
        for values, corner in zip((there, back), corners, strict=True)
    ]
    return _two_sided(spacing, *sides[0], *sides[1], infinite=float(there[-1]), worse=True)


def pessimistic_orders(forward: Floats, backward: Floats, knots: Floats, spacing: float) -> list[LossDistribution]:
    """PLDs, one for each order, of a pair that dominates every pair whose curves in the two orders
    are at most these values at the knots.

    In the other order a curve's value at 1/x is (x - 1 + value at x) / x, so the two are one curve,
    over all of x > 0, and its hull may span x = 1 from any 1/x_j to any x_i.
    """
    growth = np.expm1(spacing * knots)
    doubt = ROUNDING + ROUNDING_PER_KNOT * knots.size
    sides = [np.minimum.accumulate(np.minimum(each * (1.0 + doubt), 1.0)) for each in (forward, backward)]
    per, inverse = [side[1:] / growth[1:] for side in sides], 1.0 / growth[1:]
    across = (1.0 + per[0] + per[1][:, None]) / (1.0 + inverse + inverse[:, None])
    base = min(float(sides[0][0]), float(sides[1][0]), float(across.min()) * (1.0 + doubt))
    kinks = []
    for values in sides:
        values[0] = base
        corner = lower_hull(growth, values)
        kinks.append(_kinks(knots[corner], growth[corner], values[corner]))
    there, back = kinks
    return [
        _two_sided(spacing, *there, *back, infinite=float(sides[0][-1]), worse=True),
        _two_sided(spacing, *back, *there, infinite=float(sides[1][-1]), worse=True),
    ]


def optimistic(
    band: tuple[Floats, Floats], swapped: tuple[Floats, Floats], knots: Floats, spacing: float
) -> LossDistribution:
    """A PLD that a pair dominates whose curves, in both orders, lie in these bands at the knots.

    What a polygon might cut off a convex curve is subtracted first, and so is the value at the last
    knot: less loss, not more.
    """
    growth = np.expm1(spacing * knots)
    doubt = ROUNDING + ROUNDING_PER_KNOT * knots.size
    low = [
        minorant(growth, lower * (1.0 - doubt), upper * (1.0 + doubt)) * (1.0 - doubt)
        for lower, upper in (band, swapped)
    ]
    floor = max(values[-1] for values in low)
    low = [np.maximum(values - floor, 0.0) for values in low]
    base = min(values[0] for values in low)
    for _ in range(20):  # the orders share their total variation, and the mass left for loss 0 is not negative
        corners = []
        for values in low:
            values[0] = base
            corners.append(lower_hull(growth, values))
        steps = [growth[corner[1]] for corner in corners]
        rest = (
            1.0
            - base
            + sum((values[corner[1]] - base) / step for values, corner, step in zip(low, corners, steps, strict=True))
        )
        if rest >= 0.0:
            break
        base = max(base + 1.01 * rest / (1.0 + sum(1.0 / step for step in steps)), 0.0)
    else:
        return LossDistribution(spacing, np.zeros(1), np.ones(1), 0.0)
    sides = [_kinks(knots[corner], growth[corner], values[corner]) for values, corner in zip(low, corners, strict=True)]
    return _two_sided(spacing, *sides[0], *sides[1], infinite=0.0, worse=False)


def chosen_knots(upper: CurveEnd, typical: float, ceiling: float, spacing: float) -> Floats:
    """Where a curve, of which ``upper`` is the upper end, is evaluated to make a PLD: densely where
    most losses are, then sparser, until they are too rare or too large to count as finite.
    """
    reach, far = min(8.0 * typical, ceiling), min(ceiling, FARTHEST_LOSS)
    probes = np.append(reach * 1.1 ** np.arange(np.log(max(far / reach, 1.0)) / np.log(1.1)), far)
    values = upper(probes)
    last = np.flatnonzero((values <= RAREST_LOSS) | (probes == far))[0] + 1
    return knot_indices(spacing, reach, probes[:last], values[:last])


def knot_indices(spacing: float, fine_until: float, probes: Floats, values: Floats) -> Floats:
    """Grid indices from 0: every one up to ``fine_until``, then one whenever the curve has halved
    or epsilon grown by an eighth.

    ``values`` are the curve, roughly, at ``probes``, which begin at ``fine_until``; the last knot
    is the last probe, rounded up.
    """
    fine = np.arange(max(int(np.ceil(fine_until / spacing)), 2) + 1)
    fallen = -np.log2(np.maximum(np.minimum.accumulate(values), 1e-300)) + np.log(probes) / np.log(1.125)
    steps = np.arange(fallen[0], fallen[-1], 1.0)
    sparse = np.append(np.interp(steps, fallen, probes), probes[-1])
    return np.unique(np.concatenate([fine, np.ceil(sparse / spacing)])).astype(np.float64)


def _kinks(knots: Floats, growth: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Indices and Q-masses of the corners at x = 1 + growth > 1 of a convex, falling polygon that
    is constant after its end.
    """
    slopes = np.append(np.diff(values) / np.diff(growth), 0.0)
    return knots[1:], np.maximum(np.diff(slopes), 0.0)


def _two_sided(
    spacing: float, up: Floats, q_up: Floats, down: Floats, q_down: Floats, *, infinite: float, worse: bool
) -> LossDistribution:
    """Losses above 0 from one order, below 0 from the other (whose Q is our P), and the rest at 0.
    Masses near 0 become infinite losses, or none.
    """
    p_up = q_up * np.exp(spacing * up)
    rest = max(1.0 - infinite - float(p_up.sum()) - float(q_down.sum()), 0.0)
    index, mass = np.concatenate([-down[::-1], [0.0], up]), np.concatenate([q_down[::-1], [rest], p_up])
    kept = mass > SMALLEST
    kept[down.size] = True  # loss 0, if only in name
    infinite += float(mass[~kept].sum()) if worse else 0.0
    mass = np.maximum(mass, SMALLEST)
    return LossDistribution(spacing, index[kept], mass[kept], infinite)


# Of the variance: what one mechanism by itself pays on a grid of 40 points per typical loss.
SHARE = 1.0 / (6.0 * 40.0**2)
# Of the total's typical loss: where a strong mechanism is at its ceiling, what weak ones add shows
# by itself.
COARSEST = 1.0 / 4096.0
FINEST = 16.0 / (1 << 21)  # of the total's typical loss: the whole sum then fits into the largest transform


class Spread(NamedTuple):
    """A mechanism as a grid sees it: typical loss, spacing of its own, and rounds."""

    typical: float
    spacing: float
    rounds: int


def common_spacing(spreads: Sequence[Spread]) -> float:
    """A spacing that adds at most ``SHARE`` to the sum's variance; of equal mechanisms their own.

    >>> common_spacing([Spread(0.4, 0.01, 30)])
    0.01
    >>> strong, weak = Spread(0.4, 0.01, 1), Spread(4e-4, 1e-5, 1)
    >>> round(common_spacing([strong, weak]) * 4096, 6)
    0.4
    """
    total = sum(rounds * typical**2 for typical, _, rounds in spreads)

    def added(step: float) -> float:
        return sum(r * min(SHARE * (s * step / own) ** 2, math.sqrt(2.0 / math.pi) * s * step) for s, own, r in spreads)

    least, most = (end(own for _, own, _ in spreads) for end in (min, max))
    widest, _ = halve(lambda step: added(step) <= SHARE * total, least, most, middle=geometric, close=within(0.01))
    size = math.sqrt(total)
    return max(least, min(widest, COARSEST * size), FINEST * size)


def own_multiple(own: float, spacing: float) -> int:
    """How many steps of the common grid one of its own may take: a power of two."""
    return 1 << max(math.floor(math.log2(own / spacing)), 0)
