"""How many users hold each category (Balle et al. 2019, Algorithm 1): k-ary randomized response,
shuffled and counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput, shown
from shuffledp.protocols.bag import Bag, Reports, check_tally, notes_of
from shuffledp.protocols.categories import Categories
from shuffledp.protocols.estimate import Estimate
from shuffledp.protocols.estimators import debiased, inversion, likelihood, opened, simplex
from shuffledp.protocols.lazily import settled
from shuffledp.protocols.protocol import Family, ReportingProtocol, ShuffledProtocol
from shuffledp.protocols.tasks import HistogramTask
from shuffledp.randomizers import KRR
from shuffledp.randomizers.support import VotingRandomizer
from shuffledp.randomizers.wrappers.check_in import answering
from shuffledp.sampling import Rng, source_of

__all__ = [
    "ESTIMATORS",
    "Categorized",
    "Estimator",
    "Histogram",
    "LocalHistogram",
    "RandomizedResponse",
    "check_estimator",
    "check_held",
]

Estimator = Literal["inversion", "simplex", "likelihood"]
ESTIMATORS: tuple[Estimator, ...] = ("inversion", "simplex", "likelihood")


@dataclass(frozen=True, kw_only=True, eq=False)
class Categorized(ReportingProtocol):
    """The question of a histogram, whatever hides the answers."""

    categories: Iterable[Hashable]
    other: Hashable | None = None
    _known: Categories = field(init=False, repr=False)

    def _ask(self) -> None:
        """Check the question."""
        known = Categories.of(self.categories, self.other)
        self._set(categories=known.labels, _known=known)

    @property
    def _size(self) -> int:
        return len(self._known)

    def encode(self, values: Iterable[Hashable], *, rng: Rng = None) -> Reports:
        """One report per value; unknown values count as ``other``, or are refused."""
        source, places = source_of(rng), self._known.indices(values)
        return Reports(self.describe(), self.randomizer.randomize(places, rng=source), source.secure)


@dataclass(frozen=True, kw_only=True, eq=False)
class RandomizedResponse(Categorized, ShuffledProtocol):
    """Each user sends their own category, or with probability gamma a uniformly random one.

    Any other ``randomizer`` whose reports vote, or that has a matrix, may take the place of k-ary
    randomized response; its noise is then given, and neither epsilon nor epsilon0 is.
    """

    randomizer: VotingRandomizer = settled()

    def _prepare(self) -> None:
        self._ask()
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

    def analyse(self, bag: Bag, *, estimator: Estimator = "inversion") -> Estimate:
        """Estimated counts.

        "inversion" is unbiased, and may be negative. "simplex" is the nearest non-negative
        histogram with the right total; "likelihood" the one under which the reports are most
        probable. Both of these are biased where a category is rare, and carry the standard errors
        of the unbiased estimate.
        """
        return self.analyse_counts(
            self.tally(self._open(bag)),
            estimator=estimator,
            secure=bag.secure,
            notes=notes_of(bag, self.n),
        )

    def analyse_counts(
        self, counts: ArrayLike, *, estimator: Estimator = "inversion", secure: bool = True, notes: tuple[str, ...] = ()
    ) -> Estimate:
        """The same from ``tally``: all that the bag says."""
        randomizer = self.randomizer
        check_estimator(estimator, ESTIMATORS if randomizer.single else ("inversion", "simplex"))
        if randomizer.single:
            votes = check_tally(counts, len(self._known), self.n)
            n = int(votes.sum())
            unbiased, noise = inversion(votes, n, randomizer.hit, randomizer.miss, randomizer.contrast)
            stderr = noise.stderr(np.clip(unbiased, 0.0, n))
        else:
            n, blocks, votes = opened(counts, randomizer, self.n)
            unbiased, noise, stderr = debiased(votes, n, randomizer, blocks)
        values = unbiased
        if estimator != "inversion":
            values = (
                simplex(unbiased, n) if estimator == "simplex" else likelihood(votes, randomizer.hit, randomizer.miss)
            )
            notes = (f'standard errors and intervals are those of the unbiased estimate, not of "{estimator}"', *notes)
        return Estimate(
            tuple(self._known.labels),
            values,
            stderr,
            n,
            unbiased,
            noise,
            secure,
            notes,
        )

    @property
    def bits(self) -> int:
        """A report usually names one category."""
        return self.randomizer.bits

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


@dataclass(frozen=True, kw_only=True, eq=False)
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
        if not answering(self.randomizer).single:
            raise InvalidInput(
                f"a histogram must use k-ary randomized response to be written down, got "
                f"{type(self.randomizer).__name__}. Leave out randomizer, or use Frequency."
            )
        return HistogramTask(self._known.written, self.other)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalHistogram(RandomizedResponse):
    """The same reports without a shuffler, for comparison: every report must hide its sender by
    itself.

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
    except (TypeError, ValueError, OverflowError):
        held = np.array([np.nan])
    if not np.all(np.isfinite(held)):
        raise InvalidInput(f"counts must be finite numbers, got {shown(counts)}. Give how many users hold each value.")
    return held


def check_estimator(estimator: str, known: tuple[str, ...]) -> None:
    """Refuse an estimator that the protocol does not have."""
    if estimator not in known:
        raise InvalidInput(
            f'estimator must be one of {", ".join(known)}, got {estimator!r}. "inversion" is the unbiased one.'
        )
