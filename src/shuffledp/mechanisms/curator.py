"""Central differential privacy with the same interface: a trusted curator sees all values and adds
Gaussian noise. Where a curator is compared with, it is the best one known here: ``best_curator``.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from shuffledp._types import Floats
from shuffledp.accounting import analytic_gaussian as gaussian
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.central import CentralGaussian
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.mechanisms.rows import Weighted
from shuffledp.protocols.bag import Bag, Reports, notes_of
from shuffledp.protocols.categories import Categories
from shuffledp.protocols.protocol import Protocol, bits_for
from shuffledp.protocols.rounding import check_bounds, check_numbers
from shuffledp.randomizers.parameters import check_indices
from shuffledp.sampling import Rng, source_of

__all__ = ["CentralHistogram", "CentralMean", "CentralSum"]

COMPARISON = "not for release: a baseline for comparison, with floating-point noise (Mironov 2012)"


@dataclass(frozen=True, kw_only=True, eq=False)
class Central(Protocol):
    """Users hand their values to a curator they trust, who adds N(0, sigma^2) to every number
    released (Balle and Wang 2018).
    """

    sigma: float = field(init=False)

    @property
    @abstractmethod
    def sensitivity(self) -> float:
        """The most that one user's value can move the exact answer, in Euclidean distance."""

    @abstractmethod
    def _exact(self, rows: NDArray[Any]) -> tuple[tuple[Hashable, ...], Floats, float]:
        """Labels, exact answers, and what an answer is divided by before it is released."""

    def _prepare(self) -> None:
        if self.epsilon is None or self.delta is None:
            raise InvalidInput(
                f"epsilon and delta must be given to {type(self).__name__}, got epsilon0. Users do not randomize here."
            )
        self._set(
            sigma=gaussian.sigma(
                epsilon=self.epsilon, delta=self.delta, sensitivity=self.sensitivity * math.sqrt(self.rounds)
            )
        )
        self._check_promise(self.guarantee)

    def guarantee_for(self, arrived: int, *, colluding: int = 0) -> Guarantee:
        """The same for any number of users: the noise does not come from them."""
        self._honest(arrived, colluding)
        return CentralGaussian(self.sigma, self.sensitivity, self.rounds)

    def analyse(self, bag: Bag, *, rng: Rng = None) -> Estimate:
        """The exact answer plus noise; here the randomness is the curator's, so every call is a
        fresh release: ``rounds`` must count them all.
        """
        rows, source = self._open(bag), source_of(rng)
        labels, exact, divisor = self._exact(rows)
        words = source.words(len(exact), np.uint64) >> np.uint64(11)
        values = (exact + self.sigma * ndtri((words + 0.5) * 2.0**-53)) / divisor
        noisy = Weighted.normal(values, (self.sigma / divisor) ** 2)
        return Estimate(labels, len(rows), noisy, False, notes_of(bag, self.n, COMPARISON))


@dataclass(frozen=True, kw_only=True, eq=False)
class CentralHistogram(Central):
    """Counts per category; replacing one user's value moves two counts by 1, so the sensitivity is
    sqrt(2).

    >>> round(
    ...     CentralHistogram(
    ...         categories=["yes", "no"], n=1000, epsilon=1.0, delta=1e-6
    ...     ).predicted_stderr(),
    ...     2,
    ... )
    5.97
    """

    categories: Iterable[Hashable]
    other: Hashable | None = None
    _known: Categories = field(init=False, repr=False)

    def _prepare(self) -> None:
        known = Categories.of(self.categories, self.other)
        self._set(categories=known.labels, _known=known)
        super()._prepare()

    @property
    def sensitivity(self) -> float:
        return math.sqrt(2.0)

    def describe(self) -> dict[str, object]:
        return {"protocol": type(self).__name__, "n": self.n, "categories": self.categories, "sigma": self.sigma}

    def encode(self, values: Iterable[Hashable], *, rng: Rng = None) -> Reports:
        """The values as they are: the curator is trusted."""
        return Reports(self.describe(), self._known.indices(values))

    def _check_reports(self, reports: ArrayLike) -> NDArray[Any]:
        return check_indices("reports", reports, len(self._known), remedy="A report is a category's place in the list.")

    def _exact(self, rows: NDArray[Any]) -> tuple[tuple[Hashable, ...], Floats, float]:
        return tuple(self._known.labels), np.bincount(rows, minlength=len(self._known)).astype(np.float64), 1.0

    @property
    def bits(self) -> int:
        """A category."""
        return bits_for(len(self._known))

    def predicted_stderr(self) -> float:
        """sigma."""
        return self.sigma


@dataclass(frozen=True, kw_only=True, eq=False)
class CentralNumbers(Central):
    """Numbers from ``lower`` to ``upper``; replacing one moves the sum by at most their
    distance.
    """

    lower: float = 0.0
    upper: float = 1.0

    def _prepare(self) -> None:
        low, high = check_bounds(self.lower, self.upper)
        self._set(lower=low, upper=high)
        super()._prepare()

    @property
    def sensitivity(self) -> float:
        return self.upper - self.lower

    def describe(self) -> dict[str, object]:
        bounds = {"lower": self.lower, "upper": self.upper}
        return {"protocol": type(self).__name__, "n": self.n, **bounds, "sigma": self.sigma}

    def encode(self, values: Any, *, rng: Rng = None) -> Reports:
        """The numbers as they are: the curator is trusted."""
        return Reports(self.describe(), self._check_reports(values))

    def _check_reports(self, reports: ArrayLike) -> NDArray[Any]:
        return check_numbers(reports, self.lower, self.upper)

    def _exact(self, rows: NDArray[Any]) -> tuple[tuple[Hashable, ...], Floats, float]:
        return (
            (type(self).__name__.removeprefix("Central").lower(),),
            np.array([math.fsum(rows)]),
            float(self._divisor(len(rows))),
        )

    def _divisor(self, reports: int) -> int:
        return reports

    @property
    def bits(self) -> int:
        """A double-precision number."""
        return 64

    def predicted_stderr(self) -> float:
        """sigma, divided by n for a mean."""
        return self.sigma / self._divisor(self.n)


@dataclass(frozen=True, kw_only=True, eq=False)
class CentralSum(CentralNumbers):
    """The sum of the users' numbers.

    >>> round(CentralSum(n=1000, epsilon=1.0, delta=1e-6).predicted_stderr(), 2)
    4.22
    """

    def _divisor(self, reports: int) -> int:
        return 1


@dataclass(frozen=True, kw_only=True, eq=False)
class CentralMean(CentralNumbers):
    """The mean of the users' numbers; how many there are is public.

    >>> round(1000 * CentralMean(n=1000, epsilon=1.0, delta=1e-6).predicted_stderr(), 2)
    4.22
    """
