"""Several rounds of one pair of laws, from the pair's curve delta(eps): each end by a law of the
privacy loss that is proven to be worse, or better.

As a function of x = e^eps, delta is convex and decreasing, 1 at x = 0, and every such curve belongs
to a pair of laws: where its slope jumps by m, the ratio P / Q is x with probability m under Q, and
so m x under P. A curve that is nowhere below another belongs to a pair that is at least as easy to
tell apart, in any number of rounds (Blackwell). Upper: chords through upper values. Lower: on every
interval between knots a convex curve is at least what its neighboring chords extend to. The loss
of R rounds is a sum of R losses (lattice.py).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from shuffledp.judge.lattice import Array, Lattice, TiltedLaw, tilted

LARGEST_TILT = 1e6
# Relative, per round: masses are differences of slopes, each right to a few units in the last
# place, so that the curve they make is, too, and so are a place times the step and the logarithm
# that it stands for.
ROUNDED = 1e-12
FINER, NEAR = 64, 1e-6  # the lower end's lattice than the knots; of its step: what is so close to it is on it
NEARER, LOGARITHMS = 1e-9, 1e-14  # the same where losses are known by themselves, and how exactly they are
REACH = 1.5  # deviations on either side of a tilted mean in which one transform keeps its digits


def rounds_at_most(knots: Array, upper: Array, back: Array, rounds: int, epsilons: Array) -> Array:
    """An upper end of delta after ``rounds`` rounds. ``upper`` bounds one round's delta at
    ``knots`` >= 0, the first 0; ``back`` that of the swapped pair.

    The knots must be multiples of the first positive one.

    >>> knots = np.array(
    ...     [0.0, 1.0]
    ... )  # one answer of binary randomized response with epsilon0 = 1
    >>> tv = np.array([math.tanh(0.5), 0.0])
    >>> round(
    ...     float(rounds_at_most(knots, tv, tv, 2, np.array([1.0]))[0]), 4
    ... )  # both answers agree with the truth: q^2 (1 - 1/e)
    0.3379
    """
    x, y = _both_sides(knots, upper, back)
    x, y = _hull(np.append(0.0, x), np.append(1.0, y))
    x, masses, never = _masses(x, y)
    places = np.rint(np.log(x) / knots[1]).astype(np.int64)
    law = Lattice(0.0, float(knots[1]), places, masses)
    sure = -math.expm1(rounds * math.log1p(-never)) if never < 1.0 else 1.0
    return np.minimum(1.0, (_deltas(law, rounds, epsilons, 1.0) + sure) * (1.0 + ROUNDED * rounds))


def rounds_at_least(
    knots: Array,
    there: tuple[Array, Array],
    back: tuple[Array, Array],
    rounds: int,
    epsilons: Array,
    certain: float = 0.0,
) -> Array:
    """A lower end of delta after ``rounds`` rounds, from lower and upper ends of one round's delta
    at ``knots``, and of the swapped pair's. With probability ``certain``, at least, one round shows
    for certain which of the two it is: an infinite loss, which the other losses do without.
    """
    x, low = _both_sides(knots, there[0], back[0])
    _, high = _both_sides(knots, there[1], back[1])
    x, y = _hull(*_beneath(x, low - certain, high - certain, 1.0 - certain))
    x, masses, _ = _masses(x, y)
    law = _pooled(x, masses, float(knots[1]) / FINER)
    moved = np.asarray(epsilons) + rounds * NEAR * law.step
    finite = _deltas(law, rounds, moved, -1.0) if masses.size else np.zeros(len(epsilons))
    sure = -math.expm1(rounds * math.log1p(-certain))
    return np.maximum((finite + sure) * (1.0 - ROUNDED * rounds), 0.0)


def rounds_of_losses(
    losses: tuple[Array, Array],
    masses: tuple[Array, Array],
    step: float,
    rounds: int,
    epsilons: Array,
    certain: tuple[float, float],
) -> tuple[Array, Array]:
    """Both ends of delta after ``rounds`` rounds of two independent losses each. Those that are
    finite have these masses, and are rounded to multiples of ``step``: so that all may be some, a
    constant may be moved from one to the other. The probability that one of them is infinite
    is between the ends of ``certain``.
    """
    ends, off = [], LOGARITHMS * (1.0 + max(float(np.abs(each).max()) for each in losses))
    for side, each_time in zip((-1.0, 1.0), certain, strict=True):
        sure = -math.expm1(rounds * math.log1p(-each_time))
        places = [
            np.where(side < 0.0, np.floor(each / step + NEARER), np.ceil(each / step - NEARER)) for each in losses
        ]
        least = [int(each.min()) for each in places]
        one, two = (
            np.bincount((each - low).astype(np.int64), weights=mass)
            for each, low, mass in zip(places, least, masses, strict=True)
        )
        both: Array = np.convolve(one, two).astype(np.float64)
        seen = np.flatnonzero(both)
        law = Lattice(0.0, step, sum(least) + seen, both[seen])
        moved = np.asarray(epsilons) - side * 2.0 * rounds * (NEARER * step + off)
        ends.append((_deltas(law, rounds, moved, side) + sure) * (1.0 + side * ROUNDED * (rounds + 1)))
    return np.maximum(ends[0], 0.0), np.minimum(ends[1], 1.0)


def _both_sides(knots: Array, there: Array, back: Array) -> tuple[Array, Array]:
    """x = e^eps and delta for eps from -knots[-1] to knots[-1]: delta(-eps) = 1 - e^-eps + e^-eps
    delta'(eps) with delta' of the swapped pair.
    """
    below = -np.expm1(-knots[:0:-1]) + np.exp(-knots[:0:-1]) * back[:0:-1]
    return np.exp(np.append(-knots[:0:-1], knots)), np.append(below, there)


def _hull(x: Array, y: Array) -> tuple[Array, Array]:
    """The corners of the largest convex curve below the points."""
    kept: list[int] = []
    for i in range(len(x)):
        while len(kept) > 1 and (y[kept[-1]] - y[kept[-2]]) * (x[i] - x[kept[-2]]) >= (y[i] - y[kept[-2]]) * (
            x[kept[-1]] - x[kept[-2]]
        ):
            kept.pop()
        kept.append(i)
    return x[kept], y[kept]


def _beneath(x: Array, low: Array, high: Array, whole: float) -> tuple[Array, Array]:
    """Points of a curve below every convex, decreasing curve between ``low`` and ``high`` at x that
    is ``whole`` at 0: the ends low, and a corner between any two of them.
    """
    x, low, high = np.append(0.0, x), np.append(whole, low), np.append(whole, high)
    # at most the slope to the right of x, which begins with that of whole - x
    rise = np.append(-1.0, (low[1:] - high[:-1]) / np.diff(x))
    fall = np.append((high[1:] - low[:-1]) / np.diff(x), 0.0)  # at least the slope to the left of x; delta >= 0 ends it
    left, right = x[:-1], x[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        corner = (low[1:] - low[:-1] + rise[:-1] * left - fall[1:] * right) / (rise[:-1] - fall[1:])
    corner = np.where((corner > left) & (corner < right), corner, 0.5 * (left + right))
    value = np.maximum(low[:-1] + rise[:-1] * (corner - left), low[1:] + fall[1:] * (corner - right))
    last = x[-1] - low[-1] / min(float(rise[-1]), -1e-300)
    if not last > x[-1] * (1.0 + 1e-9):  # so little is left that it counts for nothing
        low, last = np.append(low[:-1], 0.0), x[-1] * 2.0
    every = np.concatenate([x, corner, [last]])
    values = np.concatenate([np.maximum(low, 0.0), np.maximum(value, 0.0), [0.0]])
    order = np.argsort(every)
    return every[order], values[order]


def _pooled(x: Array, masses: Array, step: float) -> Lattice:
    """Fewer or the same ratios on a lattice of losses, from below: a ratio is put together with so
    much of the next smaller one that both have their mean, under Q, on the lattice, which tells
    less; or it is moved down, where there is too little of that.
    """
    places = np.floor(np.log(x) / step + NEAR).astype(np.int64)
    found: list[tuple[int, float]] = []  # places, and how likely under Q
    for ratio, place, mass in zip(x.tolist(), places.tolist(), (masses / x).tolist(), strict=True):
        at = math.exp(place * step)
        if found and found[-1][0] < place and ratio > at:
            before, left = found[-1]
            taken = mass * (ratio - at) / (at - math.exp(before * step))
            if taken <= left:
                found[-1] = before, left - taken
                mass += taken
        found.append((place, mass))
    where, shares = np.array([place for place, _ in found], dtype=np.int64), np.array([share for _, share in found])
    return Lattice(0.0, step, where, shares * np.exp(where * step))


def _masses(x: Array, y: Array) -> tuple[Array, Array, float]:
    """The ratios of the curve with these corners, the first (0, 1), constant after the last; their
    masses under P; and the mass of an infinite ratio.
    """
    masses = np.diff(np.append(np.diff(y) / np.diff(x), 0.0)) * x[1:]
    some = masses > 0.0
    return x[1:][some], masses[some], float(y[-1])


def _deltas(law: Lattice, rounds: int, epsilons: Array, end: float) -> Array:
    """E (1 - e^(eps - loss))_+ over all rounds; neighboring epsilons share a transform."""
    total, values = float(law.masses.sum()), law.values
    one = Lattice(law.centre, law.step, law.places, law.masses / total)
    found = np.zeros(len(epsilons))
    shared, last = None, -math.inf
    for place in np.argsort(epsilons).tolist():
        eps = float(epsilons[place])
        if rounds * values.max() <= eps:
            continue
        if shared is None or eps > last:
            tilt, last = _tilt(values, one.masses, rounds, eps)
            shared = TiltedLaw.of(one, rounds, tilt)
        above = shared.beyond(eps) - eps
        found[place] = shared.expectation(-np.expm1(-above) * np.exp(-shared.tilt * above), 1.0, end, shift=eps)
    return found * total**rounds


def _tilt(values: Array, masses: Array, rounds: int, eps: float) -> tuple[float, float]:
    """A tilt under which the loss of all rounds is REACH deviations beyond ``eps`` on average, and
    up to where it serves: as far again beyond.
    """

    def mean(tilt: float) -> float:
        return rounds * float(tilted(values, masses, tilt) @ values)

    def deviation(tilt: float) -> float:
        weights = tilted(values, masses, tilt)
        return math.sqrt(rounds * float(weights @ (values - weights @ values) ** 2))

    aim = min(eps + REACH * deviation(0.0), 0.5 * (eps + rounds * float(values.max())))
    most = 1.0
    while mean(most) < aim and most < LARGEST_TILT:
        most *= 2.0
    tilt = (
        0.0
        if mean(0.0) >= aim
        else float(brentq(lambda each: mean(each) - aim, 0.0, most))
        if mean(most) > aim
        else most
    )
    return tilt, mean(tilt) + REACH * deviation(tilt)
