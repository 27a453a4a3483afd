"""One grid for mechanisms of different strength: fine enough for their sum, and no finer.

A strong mechanism on a weak one's grid would be evaluated at far more points than its own shape
needs; a weak one on a strong one's grid would be rounded up. The grid is a compromise whose cost is
bounded, and every mechanism is evaluated on a coarser part of it if that suffices.

The cost is variance. A pessimistic distribution moves a loss between two grid points to both of
them. If the step is much smaller than a mechanism's typical loss s, that adds a share of about
(step / s)^2 / 6 to its variance. If it is larger, most losses lie between 0 and the first point,
and about 2 TV step = sqrt(2 / pi) s step is added. Any step is valid: these estimates only choose
one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from shuffledp.accounting.bisection import geometric, halve, within

__all__ = ["Spread", "common_spacing", "own_multiple"]

# Of the variance: what one mechanism by itself pays on a grid of 40 points per typical loss.
SHARE = 1.0 / (6.0 * 40.0**2)
# Of the total's typical loss: where a strong mechanism is at its ceiling, what weak ones add shows
# by itself.
COARSEST = 1.0 / 4096.0
FINEST = 16.0 / (1 << 21)  # of the total's typical loss: the whole sum then fits into the largest transform


class Spread(NamedTuple):
    """A mechanism as a grid sees it: its typical loss, the spacing that it would choose by itself,
    and how often it is run.
    """

    typical: float
    spacing: float
    rounds: int


def common_spacing(spreads: Sequence[Spread]) -> float:
    """A spacing that adds at most ``SHARE`` to the variance of the sum; of equal mechanisms it is
    their own.

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
    """How many steps of the common grid one step of a mechanism may take: a power of two, so that
    no loss is rounded.
    """
    return 1 << max(math.floor(math.log2(own / spacing)), 0)
