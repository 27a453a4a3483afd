"""Renyi divergences from delta(eps) curves.

With f(r) = r^a and both orders of the pair (Sason and Verdu 2016, Thm 9),

    E_Q (P/Q)^a = 1 + a (a-1) * integral over eps >= 0 of  e^((a-1) eps) delta(eps)  +  e^(-a eps) delta_swapped(eps)  d eps,

in which every term is positive: no cancellation at a million users. Chords of upper values bound the integral from above, the
polygon of ``profile.minorant`` from below.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp

from shuffledp.pld import knot_indices
from shuffledp.profile import minorant
from shuffledp.randomizers.base import Floats

__all__ = ["divergence", "divergence_at_least", "divergence_at_most"]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
FINE = 1200  # intervals where the integrand matters
QUADRATURE = 1e-7  # relative slack for Gauss-Legendre on a polygon times an exponential
Band2 = Callable[[Floats], tuple[Floats, Floats]]


def divergence_at_most(curve: Callable[[Floats], Floats], ceiling: float, order: float) -> float:
    """An upper end of the divergence of every pair whose curves, in both orders, are at most ``curve``.

    ``curve`` must be convex and reach 0, or fall faster than e^(-order eps), before ``ceiling``.
    """
    knots = _knots(curve, ceiling, order)
    values = curve(knots)
    if values[-1] != 0.0:
        knots, values = np.append(knots, knots[-1] * 1.0000001), np.append(values, 0.0)
    return divergence(knots, values, values, order) * (1.0 + QUADRATURE)


def divergence_at_least(band: Band2, swapped: Band2, ceiling: float, order: float) -> float:
    """A lower end of the divergence of the pair with these curves."""
    knots = _knots(lambda e: band(e)[0], ceiling, order)
    x = np.exp(knots)
    forward, backward = (minorant(x, *side(knots)) for side in (band, swapped))
    return divergence(knots, forward, backward, order) * (1.0 - QUADRATURE)


def divergence(epsilons: Floats, delta: Floats, swapped: Floats, order: float) -> float:
    """The divergence whose curves are the polygons, in e^eps, through the given points; 0 after the last."""
    half = np.diff(epsilons)[:, None] / 2.0
    y = epsilons[:-1, None] + half * (1.0 + NODES)
    share = np.expm1(y - epsilons[:-1, None]) / np.expm1(2.0 * half)
    scale = math.log(order) + math.log(order - 1.0)
    terms = []
    for values, rate in ((delta, order - 1.0), (swapped, -order)):
        polygon = values[:-1, None] * (1.0 - share) + values[1:, None] * share
        with np.errstate(divide="ignore"):
            terms.append(np.log(polygon * half * WEIGHTS) + rate * y)
    excess = scale + float(logsumexp(np.concatenate(terms)))
    return (excess if excess > 30.0 else math.log1p(math.exp(excess))) / (order - 1.0)


def _knots(curve: Callable[[Floats], Floats], ceiling: float, order: float) -> Floats:
    """Close knots where e^(order eps) delta(eps) matters, sparse ones up to where the curve ends."""
    far = ceiling if math.isfinite(ceiling) else 600.0
    probe = np.geomspace(1e-9 * far, far, 200)
    with np.errstate(divide="ignore"):
        weight = np.log(curve(probe)) + (order - 1.0) * probe + np.log(probe)
    matters = np.flatnonzero(weight > weight.max() - 36.0)
    last = probe[min(matters[-1] + 1, probe.size - 1)]
    if not math.isfinite(ceiling):
        far = last
    spacing = last / FINE
    return np.unique(np.minimum(spacing * knot_indices(spacing, last, np.array([last, far]), np.ones(2)), far))
