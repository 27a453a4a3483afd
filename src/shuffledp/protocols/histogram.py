"""How many users hold each category (Balle et al. 2019, Algorithm 1): k-ary randomized response,
shuffled and counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.errors import InvalidInput
from shuffledp.protocols.categories import Categories
from shuffledp.protocols.estimate import Estimate
from shuffledp.protocols.estimators import inversion, likelihood, simplex
from shuffledp.protocols.protocol import Bag, Family, Reports, ShuffledProtocol, bits_for, check_tally, notes_of
from shuffledp.protocols.tasks import HistogramTask
from shuffledp.randomizers import KRR
from shuffledp.randomizers.randomizer import Floats
from shuffledp.sampling import Rng, source_of

__all__ = [
    "ESTIMATORS",
    "Estimator",
    "Histogram",
    "LocalHistogram",
    "RandomizedResponse",
    "check_estimator",
    "check_held",
]

Estimator = Literal["inversion", "simplex", "likelihood"]
ESTIMATORS: tuple[Estimator, ...] = ("inversion", "simplex", "likelihood")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RandomizedResponse(ShuffledProtocol):
    """Each user sends the own category, or with probability gamma a uniformly random one."""

    categories: Iterable[Hashable]
    other: Hashable | None = None
    _known: Categories = field(init=False, repr=False)

    def _prepare(self) -> None:
        known = Categories.of(self.categories, self.other)
        self._set(categories=known.labels, _known=known)
        super()._prepare()

    def _family(self) -> tuple[Family, dict[str, int]]:
        return KRR, {"k": len(self._known)}

    def describe(self) -> dict[str, object]:
        return {
            "protocol": type(self).__name__,
            "n": self.n,
            "categories": self.categories,
            **self.randomizer.describe(),
        }

    def encode(self, values: Iterable[Hashable], *, rng: Rng = None) -> Reports:
        """One report per value; unknown values count as ``other``, or are refused."""
        source = source_of(rng)
        return Reports(
            self.describe(), self.randomizer.randomize(self._known.indices(values), rng=source), source.secure
        )

    def analyse(self, bag: Bag, *, estimator: Estimator = "inversion") -> Estimate:
        """Estimated counts.

        "inversion" is unbiased, and may be negative. "simplex" is the nearest non-negative
        histogram with the right total; "likelihood" the one under which the reports are most
        probable. Both of these are biased where a category is rare, and carry the standard errors
        of the unbiased estimate.
        """
        return self.analyse_counts(
            self.randomizer.supports(self._open(bag)),
            estimator=estimator,
            secure=bag.secure,
            notes=notes_of(bag, self.n),
        )

    def analyse_counts(
        self, counts: ArrayLike, *, estimator: Estimator = "inversion", secure: bool = True, notes: tuple[str, ...] = ()
    ) -> Estimate:
        """The same from how often each category was reported: all that the bag says."""
        check_estimator(estimator, ESTIMATORS)
        seen = check_tally(counts, len(self._known), self.n)
        n = int(seen.sum())
        unbiased, noise = inversion(seen, n, self.randomizer.hit, self.randomizer.miss, self.randomizer.contrast)
        values = unbiased
        if estimator != "inversion":
            values = (
                simplex(unbiased, n)
                if estimator == "simplex"
                else likelihood(seen, self.randomizer.hit, self.randomizer.miss)
            )
            notes = (f'standard errors and intervals are those of the unbiased estimate, not of "{estimator}"', *notes)
        return Estimate(
            tuple(self._known.labels),
            values,
            noise.stderr(np.clip(unbiased, 0.0, n)),
            n,
            unbiased,
            noise,
            secure,
            notes,
        )

    @property
    def bits(self) -> int:
        """A report names one category."""
        return bits_for(len(self._known))

    def predicted_stderr(self) -> float:
        """The root mean square over the categories of the counts' standard errors, with all n
        users: the same for all data.
        """
        return float(
            np.sqrt(np.mean(self.predicted_stderrs(np.full(len(self._known), self.n / len(self._known))) ** 2))
        )

    def predicted_stderrs(self, counts: ArrayLike) -> Floats:
        """The standard error of each category's estimated count if ``counts`` users hold it:
        exact.
        """
        deviations: Floats = np.sqrt(self.randomizer.count_variance(check_held(counts)))
        return deviations


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Histogram(RandomizedResponse):
    """Counts per category through a shuffler.

    >>> poll = Histogram(categories=["tea", "coffee", "water"], n=1000, epsilon0=3.0)
    >>> bag = poll.shuffle(
    ...     poll.encode(["tea"] * 600 + ["coffee"] * 400, rng=np.random.default_rng(7))
    ... )
    >>> estimate = poll.analyse(bag)
    >>> bool(abs(estimate["tea"] - 600) < 4 * estimate.stderr[0]), estimate.secure
    (True, False)
    >>> round(poll.guarantee.epsilon(delta=1e-6).upper, 2)
    0.8
    """

    @property
    def task(self) -> HistogramTask:
        """The question, for a design."""
        return HistogramTask(self._known.written, self.other)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LocalHistogram(RandomizedResponse):
    """The same reports without a shuffler, for comparison: every report must hide its sender alone.

    >>> alone = LocalHistogram(categories=["yes", "no"], n=1000, epsilon=1.0, delta=1e-6)
    >>> round(alone.epsilon0, 2)
    1.0
    """

    def _crowd(self, honest: int | None) -> int:
        """Whoever sees the reports sees who sent which."""
        return 1


def check_held(counts: ArrayLike) -> Floats:
    """Return ``counts`` as finite numbers of users."""
    try:
        held = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError):
        held = np.array([np.nan])
    if not np.all(np.isfinite(held)):
        raise InvalidInput(f"counts must be finite numbers, got {counts!r}. Give how many users hold each value.")
    return held


def check_estimator(estimator: str, known: tuple[str, ...]) -> None:
    """Refuse an estimator that the protocol does not have."""
    if estimator not in known:
        raise InvalidInput(
            f'estimator must be one of {", ".join(known)}, got {estimator!r}. "inversion" is the unbiased one.'
        )
