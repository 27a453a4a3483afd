"""Renyi divergences from delta(eps) curves.

With f(r) = r^a and both orders of the pair (Sason and Verdu 2016, Thm 9),

    E_Q (P/Q)^a = 1 + a (a-1) * integral over eps >= 0 of  e^((a-1) eps) delta(eps)  +  e^(-a eps)
                                                           delta_swapped(eps)  d eps,

in which every term is positive: no cancellation at a million users. Chords of upper values bound
the integral from above, the polygon of ``curves.minorant`` from below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from scipy.special import logsumexp

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import FARTHEST_LOSS
from shuffledp.accounting.curves import minorant
from shuffledp.accounting.pld import knot_indices

# Tried where the best order is not known.
ORDERS = (1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 128.0, 256.0, 512.0)

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
FINE = 1200  # intervals where the integrand matters
SHORT = 4.0  # up to this rate times width the eight nodes are exact to 1e-10
SHARED = 3  # orders whose knots serve many
HALVINGS = 8  # of the distance to the best order, on a logarithmic scale
QUADRATURE = 1e-7  # relative slack for all of it
Each = Callable[[float], float]  # order
Band2 = Callable[[Floats], tuple[Floats, Floats]]


def divergence_at_most(curve: Callable[[Floats], Floats], ceiling: float, order: float) -> float:
    """An upper end of the divergence of pairs whose curves, in both orders, are below ``curve``.

    ``curve`` is convex and 0 from ``ceiling`` on. If there is no ceiling it must be seen to fall
    faster than e^(-order eps); else the answer is infinite.
    """
    knots, seen = _knots(curve, ceiling, order)
    if not seen:
        return math.inf
    values = curve(knots)
    if values[-1] > 0.0:  # an unbounded loss whose weight has fallen by e^-36 and goes on falling
        knots, values = np.append(knots, knots[-1] * 1.0000001), np.append(values, 0.0)
    return divergence(knots, values, values, order) * (1.0 + QUADRATURE)


def any_order(curve: Callable[[Floats], Floats], ceiling: float) -> Each:
    """The same as a function of the order: one curve at the knots of a few; finite ``ceiling``.

    Chords of upper values bound the integral whatever the knots are, so every order may use all of
    them.
    """
    few = ORDERS[:: (len(ORDERS) - 1) // (SHARED - 1)]
    knots = np.unique(np.concatenate([_knots(curve, ceiling, order)[0] for order in few]))
    values = curve(knots)
    return cache(lambda order: divergence(knots, values, values, order) * (1.0 + QUADRATURE))


def divergence_at_least(band: Band2, swapped: Band2, ceiling: float, order: float) -> float:
    """A lower end of the divergence of the pair with these curves."""
    knots, _ = _knots(lambda e: band(e)[0], ceiling, order)
    x = np.exp(knots)
    forward, backward = (minorant(x, *side(knots)) for side in (band, swapped))
    return divergence(knots, forward, backward, order) * (1.0 - QUADRATURE)


def divergence(epsilons: Floats, delta: Floats, swapped: Floats, order: float) -> float:
    """The divergence of the polygons, in e^eps, through these points; 0 after the last."""
    with np.errstate(divide="ignore"):
        terms = [_log_integrals(epsilons, values, rate) for values, rate in ((delta, order - 1.0), (swapped, -order))]
    excess = math.log(order) + math.log(order - 1.0) + float(logsumexp(np.concatenate(terms)))
    return (excess if excess > 30.0 else math.log1p(math.exp(excess))) / (order - 1.0)


def to_epsilon(divergence: float, order: float, delta: float) -> float:
    """The epsilon >= 0 at ``delta`` that a Renyi divergence of ``order`` > 1 implies (Canonne,
    Kamath and Steinke 2020, Prop. 12).

    >>> round(to_epsilon(0.5, 8.0, 1e-5), 4)
    1.7141
    """
    return max(divergence + math.log1p(-1.0 / order) - (math.log(delta) + math.log(order)) / (order - 1.0), 0.0)


def to_delta(divergence: float, order: float, epsilon: float) -> float:
    """The same, solved for delta; never below the smallest positive float.

    >>> round(to_delta(0.5, 8.0, to_epsilon(0.5, 8.0, 1e-5)) / 1e-5, 9)
    1.0
    """
    log = (order - 1.0) * (divergence + math.log1p(-1.0 / order) - epsilon) - math.log(order)
    return max(math.exp(min(log, 0.0)), math.ulp(0.0))


def best_epsilon(
    divergence: Each, delta: float, orders: Sequence[float] = ORDERS, between: Each | None = None
) -> float:
    """The least epsilon at ``delta`` over some orders, and others near if ``between``."""
    return _least(lambda order: to_epsilon(divergence(order), order, delta), orders, between)


def best_delta(
    divergence: Each, epsilon: float, orders: Sequence[float] = ORDERS, between: Each | None = None
) -> float:
    """The smallest delta at ``epsilon``, likewise."""
    return _least(lambda order: to_delta(divergence(order), order, epsilon), orders, between)


def _least(value: Each, orders: Sequence[float], between: Each | None) -> float:
    tried = {order: value(order) for order in orders}
    for _ in range(0 if between is None else HALVINGS):
        known = sorted(tried)
        place = known.index(min(known, key=tried.__getitem__))
        best, farther = known[place] - 1.0, [1.0 + (known[0] - 1.0) / 16.0, *known, 1.0 + (known[-1] - 1.0) * 16.0]
        for other in (farther[place], farther[place + 2]):
            order = between(1.0 + math.sqrt(best * (other - 1.0)))  # type: ignore[misc]
            if order not in tried:
                tried[order] = value(order)
    return min(tried.values())


def _log_integrals(epsilons: Floats, values: Floats, rate: float) -> Floats:
    """log of the integral of e^(rate y) times the polygon over every interval, whatever the rate.

    With y from the left end, the polygon is v0 + (v1 - v0) (e^y - 1)/(e^w - 1). Short intervals
    (|rate| w small) are left to quadrature, where the closed form would cancel.
    """
    width = np.diff(epsilons)
    left, right = values[:-1], values[1:]
    y = 0.5 * width[:, None] * (1.0 + NODES)
    share = np.expm1(y) / np.expm1(width)[:, None]
    scale = np.maximum(rate * width, 0.0)
    polygon = left[:, None] * (1.0 - share) + right[:, None] * share
    short = 0.5 * width * ((polygon * np.exp(rate * y - scale[:, None])) @ WEIGHTS)
    total, tilted = _exponential(rate, width, scale), _exponential(rate + 1.0, width, scale)
    rise = (tilted - total) / np.expm1(width)  # the integral of e^(rate y - scale) times the rising share
    long = left * np.maximum(total - rise, 0.0) + right * rise
    return np.asarray(np.log(np.where(np.abs(rate) * width <= SHORT, short, long)) + scale + rate * epsilons[:-1])


def _exponential(rate: float, width: Floats, scale: Floats) -> Floats:
    """The integral of e^(rate y - scale) over [0, width]."""
    if abs(rate) < 1e-12:
        return np.asarray(width * np.exp(-scale))
    return np.asarray((np.exp(rate * width - scale) - np.exp(-scale)) / rate)


def _knots(curve: Callable[[Floats], Floats], ceiling: float, order: float) -> tuple[Floats, bool]:
    """Close knots where e^(order eps) delta matters, then sparse; whether all was seen."""
    far = min(ceiling, FARTHEST_LOSS)  # a curve that has not vanished by then has no finite upper end
    probe = np.geomspace(1e-9 * far, far, 200)
    values = curve(probe)
    with np.errstate(divide="ignore"):
        weight = np.log(values) + (order - 1.0) * probe + np.log(probe)
    matters = np.flatnonzero(weight > weight.max() - 36.0)
    after = min(matters[-1] + 1, probe.size - 1) if matters.size else 0
    last = probe[after]
    seen = (math.isfinite(ceiling) and ceiling <= FARTHEST_LOSS) or bool(
        weight[after] <= weight.max() - 36.0 and values[after] > 1e-300
    )
    spacing = last / FINE
    end = far if math.isfinite(ceiling) else last
    knots = np.unique(np.minimum(spacing * knot_indices(spacing, last, np.array([last, end]), np.ones(2)), end))
    return knots[np.diff(np.exp(knots), prepend=0.0) > 0.0], seen
