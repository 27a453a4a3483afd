"""The distribution function of a number that people hold: how many are below each cut point, the
share between any two of them, and quantiles.

Everybody's number falls into a bin, and what is sent is about the bin. There are two shapes. *All
bins at once*, by k-ary randomized response: the count below a cut point sums the noise of few
random reports, and hardly depends on the data. *Levels* of coarse and fine bins, of which each
person answers one (``levels``): there is less noise to sum, but a person is heard on one level
only, so that the error grows where people crowd in few bins. Levels win where bins are many for so
few people, about 40 people to a bin and below.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import Floats
from shuffledp.domain import as_list
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.dummies import Dummies
from shuffledp.mechanisms.estimate import Estimate, Interval
from shuffledp.mechanisms.levels import best_levels
from shuffledp.mechanisms.tree import Tree
from shuffledp.protocols.message_protocol import DummiesOfShuffler, FakesOfUsers
from shuffledp.protocols.protocol import Family, Protocol, ShuffledProtocol
from shuffledp.questions.quantile.cuts import plainly
from shuffledp.questions.quantile.question import QuantileQuestion
from shuffledp.randomizers import KRR
from shuffledp.randomizers.messages import MessageLaw, TreeDummies
from shuffledp.randomizers.randomizer import Randomizer
from shuffledp.randomizers.wrappers import OneLevel
from shuffledp.sampling import Source
from shuffledp.workload import Ranges, below

__all__ = [
    "Distribution",
    "DummyQuantiles",
    "FakesQuantiles",
    "QuantileRow",
    "Quantiles",
    "quantile_rows",
]

MEDIAN = (0.5,)


@dataclass(frozen=True, kw_only=True, eq=False)
class Distribution(Protocol):
    """The question of quantiles, whatever hides the answers."""

    cuts: Iterable[float]
    at: Iterable[float] = MEDIAN
    ranges: Iterable[Sequence[float]] = ()

    def _ask(self) -> None:
        """Check the question."""
        cuts, at = (
            tuple(_number(name, each) for each in as_list(name, given, remedy="Pass a list of numbers."))
            for name, given in (("cuts", self.cuts), ("at", self.at))
        )
        ranges = tuple(
            tuple(_number("ranges", end) for end in as_list("ranges", each, remedy="Pass pairs of cut points."))
            for each in as_list("ranges", self.ranges, remedy="Pass a list of pairs of cut points.")
        )
        asked: Any = {"cuts": cuts, "at": at, "ranges": ranges}
        self._set(cuts=cuts, at=at, ranges=ranges, _question=QuantileQuestion(**asked).checked())

    @property
    def question(self) -> QuantileQuestion:
        """The question, for a design."""
        question: QuantileQuestion = vars(self)["_question"]
        return question

    @property
    def _size(self) -> int:
        return self.question.size

    def _asked(self) -> dict[str, object]:
        return {"cuts": self.cuts}

    def _places(self, values: Any, source: Source) -> NDArray[Any]:
        """The bins that numbers fall into."""
        return self.question.domain(0).places(values, source)

    def workload(self) -> Ranges:
        """How many people are below each inner cut point."""
        return below(tuple(f"below {plainly(cut)}" for cut in self.question.cuts[1:-1]))

    def in_ranges(self, counts: ArrayLike) -> Estimate:
        """How many people are in each of the ``ranges``, from ``tally``."""
        places = {cut: place for place, cut in enumerate(self.question.cuts)}
        ends = tuple((places[low], places[high]) for low, high in self.question.ranges)
        labels = tuple(f"{plainly(low)} to {plainly(high)}" for low, high in self.question.ranges)
        return self.hiding.estimate(self._opened(counts), Ranges(labels, ends))

    def quantiles(self, estimate: Estimate, level: float = 0.95) -> list[QuantileRow]:
        """The quantiles that were asked for, from what ``analyse`` found: each interval covers the
        bin of its quantile with probability ``level`` at least, up to the normal approximation.
        """
        asked, limits = self.question, estimate.interval(level)
        return quantile_rows(asked.at, asked.cuts, estimate.unbiased, limits, estimate.n)

    def swayed_quantiles(self, estimate: Estimate, people: int) -> list[tuple[float, float]]:
        """Between which values each quantile would have been estimated if ``people`` malicious
        people had reported honestly. They moved each count by at most ``people`` times its sway,
        and no quantile rises where counts do.
        """
        far, at, cuts = people * self.sway(estimate), self.question.at, self.question.cuts
        low, high = (quantiles_of(at, cuts, estimate.unbiased + moved, estimate.n) for moved in (far, -far))
        return list(zip(low, high, strict=True))

    def predicted_stderr(self) -> float:
        """The largest standard error of the count below any cut point, with all n people spread
        evenly over the bins.
        """
        return float(self.predicted_stderrs(np.full(self._size, self.n / self._size)).max())


@dataclass(frozen=True, kw_only=True, eq=False)
class Quantiles(Distribution, ShuffledProtocol):
    """How many people are below each of the inner ``cuts``, and the quantiles ``at``, through a
    shuffler.

    ``cuts`` are the ends of the bins (``cut_points`` makes some), ``ranges`` pairs of them.
    ``levels`` says how many runs of bins each level has, coarse ones first; ``()`` asks about all
    bins at once, and if it is left out the better one is chosen.

    >>> ages = Quantiles(cuts=range(0, 121, 10), at=[0.5], n=1000, epsilon0=4.0)
    >>> people = np.random.default_rng(8).normal(40.0, 10.0, 1000).clip(0.0, 120.0)
    >>> bag = ages.shuffle(ages.encode(people, rng=np.random.default_rng(7)))
    >>> estimate = ages.analyse(bag)
    >>> bool(abs(estimate["below 40"] - (people < 40.0).sum()) < 6 * estimate.stderr[3])
    True
    >>> (median,) = ages.quantiles(estimate)
    >>> bool(median.lower <= np.median(people) <= median.upper)
    True
    """

    levels: Iterable[int] | None = None

    def _ask(self) -> None:
        """Check the question, and choose the shape, if it was left out."""
        super()._ask()
        given: Any = self.levels
        given = given if given is None else tuple(as_list("levels", given, remedy="Pass sizes."))
        if given:
            self._check_levels(given)
        if given is None:
            given = () if self.epsilon is None else best_levels(self._target, self.workload(), self._size)
        self._set(levels=given)

    def _check_levels(self, levels: tuple[int, ...]) -> None:
        if levels[-1:] != (self._size,):
            raise InvalidInput(
                f"the last of the levels must be all {self._size} bins, got {levels}. Leave levels out to have them "
                f"chosen."
            )
        OneLevel.of_sizes(sizes=levels, epsilon0=1.0)

    def _family(self) -> tuple[Family, dict[str, Any]]:
        assert self.levels is not None
        sizes = tuple(self.levels)
        return (OneLevel.of_sizes, {"sizes": sizes}) if sizes else (KRR, {"k": self._size})

    def _check_randomizer(self, given: object) -> Any:
        """Levels of bins, or a law whose reports say something of every group of bins."""
        levels = OneLevel.of(given) if isinstance(given, Randomizer) else None
        self._set(levels=() if levels is None else tuple(level.k for level in levels.levels))
        law = super()._check_randomizer(given if levels is None else levels)
        if levels is None:
            law.group_law(1, 1)
        return law


@dataclass(frozen=True, kw_only=True, eq=False)
class FakesQuantiles(Distribution, FakesOfUsers):
    """``Quantiles`` of all bins at once, where users send their true bin, and some of them fakes
    beside it; see ``FakesOfUsers`` for the trust that this takes.
    """


@dataclass(frozen=True, kw_only=True, eq=False)
class DummyQuantiles(Distribution, DummiesOfShuffler):
    """``Quantiles`` where the shuffler adds dummies: to all bins at once, or to every node of a
    tree of coarse and fine bins, of which each person names one on each of ``levels`` levels; see
    ``DummiesOfShuffler`` for the trust that this takes.

    A node of the tree holds ``branches`` of the next level. If these are left out, the shape with
    the smallest error is taken: that is the same for all data, and known beforehand. Messages that
    the shuffler drops (``keep``), or that are randomized lightly, are about all bins at once.

    >>> ages = DummyQuantiles(cuts=range(0, 121), at=[0.5], n=1000, epsilon=1.0, delta=1e-6)
    >>> people = np.random.default_rng(8).normal(40.0, 10.0, 1000).clip(0.0, 120.0)
    >>> estimate = ages.analyse(ages.shuffle(ages.encode(people)))
    >>> (
    ...     ages.messages,
    ...     bool(
    ...         abs(estimate["below 40"] - (people < 40.0).sum())
    ...         < 8 * estimate.stderr[39]
    ...         < 110
    ...     ),
    ... )
    (2, True)
    """

    levels: int | None = None
    branches: int | None = None

    def _ask(self) -> None:
        super()._ask()
        given = self.levels is not None or self.branches is not None
        if given and (self._flat or self.levels is None or self.branches is None):
            raise InvalidInput(
                f"levels and branches must be given together, and without keep or light_epsilon0, got levels = "
                f"{self.levels} and branches = {self.branches}. Leave them out to have a shape chosen."
            )

    @property
    def _flat(self) -> bool:
        """Whether what the shuffler or people do beside the dummies leaves one shape only."""
        return self.keep not in (None, 1.0) or self.light_epsilon0 is not None

    def _answers(self, law: MessageLaw) -> bool:
        return super()._answers(law) or (isinstance(law, TreeDummies) and law.k == self._size)

    def _calibrated(self) -> Dummies:
        if self._flat:
            return super()._calibrated()
        if self.levels is not None and self.branches is not None:
            return Tree.of_shape(self._target, self._size, (self.levels, self.branches), kind=self.kind)
        return Tree.best(self._target, self._size, self.workload(), kind=self.kind)


def _number(name: str, value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be numbers, got {value!r}. Pass a list of them.") from None


class QuantileRow(NamedTuple):
    """The ``at``-quantile: half of all people are below the 0.5-quantile, as near as bins tell.

    It lies from ``lower`` to ``upper``, the ends of two bins, at least as often as was asked;
    ``value`` is interpolated inside its bin. ``first`` and ``last`` say that the first or the last
    bin may be the one.
    """

    at: float
    value: float
    lower: float
    upper: float
    first: bool
    last: bool


def quantile_rows(
    at: Sequence[float], cuts: Sequence[float], values: Floats, limits: Interval, people: int
) -> list[QuantileRow]:
    """The quantiles, from how many people are below each inner cut point: estimated ``values``, and
    ``limits`` of each by itself.

    The bin of a quantile is the first one with at least a share ``at`` of the people below its
    upper end. If the upper limit there is not missed, no bin before it is left out: the interval
    begins with the first bin whose upper limit reaches that many people. If the lower limit at its
    lower end is not missed, no bin after it is: the interval ends with the last bin at whose lower
    end the lower limit does not reach them. Which bin it is depends on the data and not on the
    noise, so each side is missed as often as one limit is, at most.
    """
    ends = np.asarray(cuts, dtype=np.float64)
    lower = np.concatenate([[0.0], limits.lower])
    upper = np.concatenate([limits.upper, [float(people)]])
    rows = []
    for share, inside in zip(at, quantiles_of(at, cuts, values, people), strict=True):
        wanted = share * people
        first, last = int(np.argmax(upper >= wanted)), int(np.flatnonzero(lower < wanted)[-1])
        rows.append(
            QuantileRow(share, inside, float(ends[first]), float(ends[last + 1]), first == 0, last == len(ends) - 2)
        )
    return rows


def quantiles_of(at: Sequence[float], cuts: Sequence[float], values: Floats, people: int) -> list[float]:
    """The point estimates alone. The ``values`` are made monotone: half-way between the largest so
    far and the smallest from there on. So no quantile rises where some of the values do.
    """
    ends = np.asarray(cuts, dtype=np.float64)
    rising = (np.maximum.accumulate(values) + np.minimum.accumulate(values[::-1])[::-1]) / 2.0
    smooth = np.concatenate([[0.0], np.clip(rising, 0.0, people), [float(people)]])
    found = []
    for share in at:
        wanted = share * people
        place = int(np.argmax(smooth[1:] >= wanted))
        below, above = smooth[place], smooth[place + 1]
        value = ends[place] + (ends[place + 1] - ends[place]) * (wanted - below) / (above - below)
        found.append(float(min(max(value, ends[place]), ends[place + 1])))
    return found
