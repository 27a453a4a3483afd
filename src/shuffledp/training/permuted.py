"""One pass over secretly permuted data, a Gaussian report of every user: a round.

A report is N(g, sigma^2 I); g, of length at most L, depends on one user's data and on all reports
before. Let rho = N(0, sigma^2 I). Up to a ``spill``, every report is rho with probability gamma. So
the target hides in a haystack, with hay rho, gamma of it from every user (docs/theory.md, "Passes
over permuted data"):

    delta(eps) = 1/(gamma n) E(sum over Bin(n, gamma) draws from rho of u - e^eps v)_+,
    log u = a W - a^2/2, log v = -a W - a^2/2, W ~ N(0, 1), a = L/sigma.

Opposite vectors of length L are the worst that the target can have. The spills of all others, times
1 + e^eps, are added to delta.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from shuffledp._types import Floats
from shuffledp.accounting.haystack import Haystack
from shuffledp.accounting.reductions import Reduction, Theorem
from shuffledp.accounting.rounds import Round
from shuffledp.randomizers.gaussian_delta import SLACK, gaussian_delta
from shuffledp.randomizers.randomizer import Atoms
from shuffledp.training.step_pairs import GRID, LEAST, NODES, normal_cells, normal_masses, normal_ratio

__all__ = ["PermutedPass", "spill"]

METHOD = "Gaussian reports over a secret order as a needle in a haystack (docs/theory.md)"
MODEL = (
    "replace-one adjacency: neighboring datasets differ in one user's data",
    "the parties that see the reports do not know the order of users, drawn uniformly at random for every pass",
    "every report is a vector in a ball around 0 plus fresh Gaussian noise; the vector may depend on one user's data "
    "and on all earlier reports",
)
CELL, LOG_CELL, WIDER = 1.0 / 16.0, 1.0 / 16.0, 4.0  # in deviations, and in log u; and far out
USUAL, FARTHEST, MOST_CELLS = 7.0, 17.0, 400


def spill(noise: float, gamma: float) -> float:
    """How far a report is from one that is rho with probability ``gamma``, in total variation;
    rounded up. ``noise`` is sigma / (2 L).

    >>> spill(2.0, 0.2) < 1e-11 < spill(2.0, 0.25)
    True
    """
    return gamma * gaussian_delta(2.0 * noise, -math.log(gamma)) * (1.0 + 2.0 * SLACK) + LEAST


@dataclass(frozen=True, eq=False, repr=False)
class PermutedPass(Round):
    """``n`` reports, one of which is the target's; the others are rho with probability ``gamma``
    for certain. ``noise`` is sigma / (2 L).
    """

    noise: float
    n: int
    gamma: float

    @property
    def key(self) -> Hashable:
        return self.noise, self.n, self.gamma

    def describe(self) -> str:
        return f"one pass over {self.n:,} permuted reports; Gaussian noise, {self.noise:.6g} times the sensitivity"

    @cached_property
    def reduction(self) -> Reduction:
        """Both ends: the haystack, and all others with vectors of length 0."""
        a = 0.5 / self.noise
        above, below = (Haystack.of(atoms, self.n) for atoms in (_spread(a, self.gamma), _merged(a)))
        return Reduction((Theorem(METHOD, (above,)),), MODEL, (below,), math.inf)


def _merged(a: float) -> Atoms:
    one, middle, other = normal_cells(math.nextafter(a, 0.0), (0.0, 1.0, 2.0))
    return Atoms("all others' vectors are 0", middle, one, other)


def _spread(a: float, gamma: float) -> Atoms:
    """Cells of W, each spread to corners of its values (u, v), preserving the means of both.

    From W at a distance h into a cell of length w, u goes to its value at the far border with
    probability p = (e^(ah) - 1)/(e^(aw) - 1), and v with the larger one q = (1 - e^(-ah))/(1 -
    e^(-aw)): together with p, neither with 1 - q, and v alone with q - p = 2 sinh(a(w-h)/2)
    sinh(ah/2)/sinh(aw/2). Beyond the last border v is spread to 0 and the border, and u counts as
    seen, which is a little more than it leaves.
    """
    a = math.nextafter(a, math.inf)
    z = _borders(a)
    width, masses = np.diff(z), normal_masses(z)
    into = 0.5 * a * np.outer(width, NODES)
    left = 0.5 * a * width[:, None] - into
    whole = np.sinh(into + left)
    both = (masses * np.exp(-left) * np.sinh(into) / whole).sum(axis=1)
    neither = (masses * np.exp(-into) * np.sinh(left) / whole).sum(axis=1)
    between = (masses * 2.0 * np.sinh(left) * np.sinh(into) / whole).sum(axis=1)
    u, v = normal_ratio(a, z), normal_ratio(-a, z)
    beyond, carried = float(ndtr(-z[-1])), float(ndtr(-a - z[-1])) / v[-1]
    at_borders = np.append(neither, carried) + np.insert(both, 0, 0.0)
    lone = max(beyond - carried, 0.0)
    hay = gamma * np.concatenate([at_borders, between, [lone, 0.0]])
    rising = np.concatenate([at_borders * u, between * u[:-1], [lone * u[-1], ndtr(a - z[-1])]])
    falling = np.concatenate([at_borders * v, between * v[1:], [0.0, 0.0]])
    return Atoms("haystack", np.tile(hay, 2), np.concatenate([rising, falling]), np.concatenate([falling, rising]))


def _borders(a: float) -> Floats:
    """From 0 up: equal cells to where u has most of its mass, and wider ones from there."""
    step = max(min(CELL, LOG_CELL / a), (USUAL + a) / MOST_CELLS)
    step = GRID * max(math.floor(step / GRID), 1)
    near = step * np.arange(math.ceil((USUAL + a) / step) + 1)
    return np.append(near, near[-1] + WIDER * step * np.arange(1, math.ceil((FARTHEST - USUAL) / WIDER / step) + 1))
