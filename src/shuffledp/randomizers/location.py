"""Location randomizers: a number in [0, 1] plus symmetric noise, reduced to finitely many classes
with a proven side.

The density falls away from the input, so the blanket is c = min(mu_0, mu_1), and for the pair (0,
1)

    y < 1/2:  c = mu_1,  (mu_0/c, mu_1/c) = (u, 1)        y > 1/2:  c = mu_0,  (mu_0/c, mu_1/c) =
              (1, v).

One ratio moves at a time, and y -> 1 - y exchanges the two sides. Cut the side y < 1/2 into cells.
*Upper*: spread the hay of a cell to its two end points, preserving the masses of mu_0 and mu_1; u -
e^eps v is affine in u there, so this is a mean-preserving spread of the loss for every eps at once,
and every haystack value can only grow. *Lower*: merge each cell, a post-processing. The masses come
from the cumulative distribution in closed form; nothing is integrated numerically.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import End, Floats
from shuffledp.randomizers.on_grid import OnGrid
from shuffledp.randomizers.randomizer import Atoms, Randomizer
from shuffledp.sampling import Rng

__all__ = ["LocationRandomizer"]

OTHERS = (0.0, 0.25, 0.5, 0.75, 1.0)


class LocationRandomizer(Randomizer):
    """Input x in [0, 1], report x + noise, with noise symmetric and its log-ratio mu_0/mu_1 falling
    in y.
    """

    __slots__ = ()

    @abstractmethod
    def cuts(self) -> Floats:
        """Cell borders from 1/2 down to -infinity."""

    @abstractmethod
    def mass(self, low: Floats, high: Floats) -> Floats:
        """The probability that the noise falls between low and high, to full relative accuracy in
        both tails.
        """

    @abstractmethod
    def log_ratio(self, y: Floats) -> Floats:
        """log(mu_0(y) / mu_1(y)); infinite at -infinity if it is unbounded."""

    @abstractmethod
    def log_shift(self, y: Floats, x: float, other: Floats) -> Floats:
        """log(mu_x(y) / mu_other(y)), which must be monotone in y between x and other and on either
        side of them.
        """

    @property
    @abstractmethod
    def scale(self) -> float:
        """The size of the noise: its standard deviation, or nearly."""

    @abstractmethod
    def reach(self, steps: int) -> int:
        """How many of ``steps`` to the unit the noise goes with all but about 2^-64 of its mass."""

    @abstractmethod
    def noise_weights(self, steps: int, reach: int) -> list[int]:
        """The noise as it runs: integer weights of -reach, ..., reach, counted in ``steps`` to the
        unit (``sampling.noise_tables``).
        """

    @property
    def realised(self) -> OnGrid:
        """The same noise on a grid, from an integer table: the continuous law cannot be drawn
        from.
        """
        return OnGrid(ideal=self)

    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> NDArray[np.int64]:
        return self.realised.randomize(values, rng=rng)

    @property
    def grid(self) -> float:
        """The number that a report of 1 stands for."""
        return self.realised.grid

    def check_reports(self, reports: ArrayLike) -> NDArray[np.int64]:
        """The reports as an array, if ``randomize`` could have sent them."""
        return self.realised.check_reports(reports)

    def mean(self, reports: ArrayLike) -> tuple[float, float]:
        """An unbiased estimate of the mean of the users' values, and its standard error."""
        return self.realised.mean(reports)

    @property
    def worst_pair(self) -> tuple[object, object]:
        """The two ends of the interval."""
        return (0.0, 1.0)

    def blankets(self, end: End) -> tuple[Atoms, ...]:
        """The pair (0, 1) with hay min(mu_0, mu_1); the pair (1, 0) is its mirror image."""
        hay, needle = self._spread() if end == "upper" else self._merged()
        kept = (hay > 0.0) | (needle > 0.0)
        hay, needle = hay[kept], needle[kept]
        both = np.concatenate([hay[::-1], hay])
        return (
            Atoms(
                f"blanket, {end} end", both, np.concatenate([needle[::-1], hay]), np.concatenate([hay[::-1], needle])
            ),
        )

    def datasets(self) -> tuple[Atoms, ...]:
        """All others hold 0, 1/4, 1/2, 3/4 or 1; merged cells. Exchanging x0 and x1 mirrors the
        list into itself.
        """
        left = self.cuts()[::-1]
        borders = np.concatenate([left, 1.0 - left[-2::-1]])
        laws = {x: self.mass(borders[:-1] - x, borders[1:] - x) for x in OTHERS}
        return tuple(Atoms(f"all others hold {x:g}", laws[x], laws[0.0], laws[1.0]) for x in OTHERS)

    def _merged(self) -> tuple[Floats, Floats]:
        """The masses of mu_1 (the hay) and of mu_0 in every cell below 1/2."""
        cuts = self.cuts()
        return self.mass(cuts[1:] - 1.0, cuts[:-1] - 1.0), self.mass(cuts[1:], cuts[:-1])

    def _spread(self) -> tuple[Floats, Floats]:
        """The same at the cell borders. A last cell without a far end exposes what its near end
        cannot carry.
        """
        hay, needle = self._merged()
        u = np.exp(self.log_ratio(self.cuts()))
        gap = np.diff(u)
        excess = np.maximum(needle - hay * u[:-1], 0.0)
        far = np.minimum(np.divide(excess, gap, out=np.zeros_like(gap), where=gap > 0.0), hay)
        spread_hay = np.append(hay - far, 0.0) + np.insert(far, 0, 0.0)
        carried = spread_hay[:-1] * u[:-1]
        last = spread_hay[-1] * u[-1] if np.isfinite(u[-1]) else excess[-1]
        return spread_hay, np.append(carried, last)
