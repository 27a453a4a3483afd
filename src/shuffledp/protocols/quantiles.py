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
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput
from shuffledp.protocols.bag import Bag, Reports, notes_of
from shuffledp.protocols.below import QuantileRow, counted_groups, quantile_rows, quantiles_of
from shuffledp.protocols.binning import in_bins, plainly
from shuffledp.protocols.categories import as_list
from shuffledp.protocols.estimate import Estimate
from shuffledp.protocols.levels import LeastSquares, level_sizes
from shuffledp.protocols.protocol import Family, ReportingProtocol, ShuffledProtocol, calibrated
from shuffledp.protocols.tasks import QuantileTask
from shuffledp.randomizers import KRR
from shuffledp.randomizers.randomizer import Randomizer
from shuffledp.randomizers.wrappers import OneLevel
from shuffledp.sampling import Rng, source_of

__all__ = ["Distribution", "Quantiles", "lower_bins"]

MEDIAN = (0.5,)
GAIN = 0.75  # levels are chosen if they err so much less for people spread evenly: where these crowd, they gain less


@dataclass(frozen=True, kw_only=True, eq=False)
class Distribution(ReportingProtocol):
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
        task = QuantileTask(cuts, at, ranges).checked()  # type: ignore[arg-type]
        self._set(cuts=cuts, at=at, ranges=ranges, _task=task)

    @property
    def task(self) -> QuantileTask:
        """The question, for a design."""
        task: QuantileTask = vars(self)["_task"]
        return task

    @property
    def _size(self) -> int:
        return self.task.size

    def describe(self) -> dict[str, object]:
        return {"protocol": type(self).__name__, "n": self.n, "cuts": self.cuts, **self.randomizer.describe()}

    def encode(self, values: Any, *, rng: Rng = None) -> Reports:
        """One report per number, about the bin that it falls into."""
        source, places = source_of(rng), in_bins(values, self.task.cuts)
        return Reports(self.describe(), self.randomizer.randomize(places, rng=source), source.secure)

    def analyse_counts(self, counts: ArrayLike, *, secure: bool = True, notes: tuple[str, ...] = ()) -> Estimate:
        """How many people are below each inner cut point, from ``tally``: unbiased, and perhaps not
        quite increasing.
        """
        labels = tuple(f"below {plainly(cut)}" for cut in self.task.cuts[1:-1])
        return self._counted(counts, lower_bins(self._size), labels, secure, notes)

    def in_ranges(self, counts: ArrayLike) -> Estimate:
        """How many people are in each of the ``ranges``, from ``tally``."""
        places = {cut: place for place, cut in enumerate(self.task.cuts)}
        groups = [(places[low], places[high]) for low, high in self.task.ranges]
        labels = tuple(f"{plainly(low)} to {plainly(high)}" for low, high in self.task.ranges)
        return self._counted(counts, groups, labels)

    def _counted(
        self,
        counts: ArrayLike,
        groups: list[tuple[int, int]],
        labels: tuple[str, ...],
        secure: bool = True,
        notes: tuple[str, ...] = (),
    ) -> Estimate:
        law = self.randomizer
        opened = self._opened(counts)
        if isinstance(law, OneLevel):
            values, noise, stderr = LeastSquares(law, _rows(groups, self._size)).estimate(opened.votes)
        else:
            values, noise, stderr = counted_groups(opened.votes, groups, law, opened.people)
        return Estimate(labels, values, stderr, opened.people, values, noise, secure, notes)

    def quantiles(self, estimate: Estimate, level: float = 0.95) -> list[QuantileRow]:
        """The quantiles that were asked for, from what ``analyse`` found: each interval covers the
        bin of its quantile with probability ``level`` at least, up to the normal approximation.
        """
        return quantile_rows(self.task.at, self.task.cuts, estimate.unbiased, estimate.interval(level), estimate.n)

    def swayed_quantiles(self, estimate: Estimate, people: int) -> list[tuple[float, float]]:
        """Between which values each quantile would have been estimated if ``people`` malicious
        people had reported honestly. They moved each count by at most ``people`` times its sway,
        and no quantile rises where counts do.
        """
        far, at, cuts = people * self.sway(estimate), self.task.at, self.task.cuts
        low, high = (quantiles_of(at, cuts, estimate.unbiased + moved, estimate.n) for moved in (far, -far))
        return list(zip(low, high, strict=True))

    @property
    def bits(self) -> int:
        """A report names a bin, or a run of bins."""
        return self.randomizer.bits

    def predicted_stderr(self) -> float:
        """The largest standard error of the count below any cut point, with all n people spread
        evenly over the bins.
        """
        return float(self.predicted_stderrs(np.full(self._size, self.n / self._size)).max())

    def predicted_stderrs(self, counts: ArrayLike) -> Floats:
        """The standard errors of the counts below the inner cut points with ``counts`` people in
        each bin: exact.
        """
        return _errors(self.randomizer, self.n, np.asarray(counts, dtype=np.float64))

    def worst_stderr(self) -> float:
        """The largest standard error of the count below any cut point, whatever the data: the
        variance is linear in the people, so it is largest where all are in one bin.
        """
        law, n = self.randomizer, self.n
        if isinstance(law, OneLevel):
            return float(np.sqrt(n * LeastSquares(law, _below(law.k)).variances.max()))
        sizes = range(1, law.k // 2 + 1)
        return float(np.sqrt(max(law.group_law(size, n).variance(held, n) for size in sizes for held in (0, n))))


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

    def _prepare(self) -> None:
        self._ask()
        given = self.levels if self.levels is None else tuple(as_list("levels", self.levels, remedy="Pass sizes."))
        self._set(levels=given)
        if self.epsilon is None and vars(self)["randomizer"] is None and given is None:
            self._set(levels=())
        if self.levels:
            self._check_levels(tuple(self.levels))
        super()._prepare()

    def _check_levels(self, levels: tuple[int, ...]) -> None:
        if levels[-1:] != (self._size,):
            raise InvalidInput(
                f"the last of the levels must be all {self._size} bins, got {levels}. Leave levels out to have them "
                f"chosen."
            )
        OneLevel.of_sizes(sizes=levels, epsilon0=1.0)

    def _family(self) -> tuple[Family, dict[str, Any]]:
        assert self.levels is not None
        return _shaped(self._size, tuple(self.levels))

    def sway(self, estimate: Estimate) -> Floats:
        """Of levels, the largest less the smallest weight that a report of any node has."""
        if not isinstance(self.randomizer, OneLevel):
            return super().sway(estimate)
        spread: Floats = np.ptp(LeastSquares(self.randomizer, _below(self._size)).weights, axis=1)
        return spread

    def settle(self) -> Self:
        """Choose the shape, if it was left out, and then the noise."""
        if vars(self)["randomizer"] is None and self.levels is None:
            self._set(levels=self._best())
        return super().settle()

    def _best(self) -> tuple[int, ...]:
        """All bins at once, unless levels err less by a quarter for people who are spread evenly,
        each shape with the noise that it is certified to need.
        """
        flat = self._expected(())
        errors = {sizes: self._expected(sizes) for sizes in level_sizes(self._size)}
        best = min(errors, key=lambda sizes: errors[sizes], default=())
        return best if best and errors[best] < GAIN * flat else ()

    def _expected(self, levels: tuple[int, ...]) -> float:
        family, parameters = _shaped(self._size, levels)
        crowd, terms = self._crowd(self.honest), tuple(parameters.items())
        epsilon0 = calibrated(family, terms, crowd, *self._promised())
        law = family(**parameters, epsilon0=epsilon0)
        return float(_errors(law, self.n, np.full(self._size, self.n / self._size)).max())

    def _check_randomizer(self, given: object) -> Any:
        """Levels of bins, or a law whose reports say something of every group of bins."""
        levels = OneLevel.of(given) if isinstance(given, Randomizer) else None
        self._set(levels=() if levels is None else tuple(level.k for level in levels.levels))
        law = super()._check_randomizer(given if levels is None else levels)
        if levels is None:
            law.group_law(1, 1)
        return law

    def analyse(self, bag: Bag) -> Estimate:
        """How many people are below each inner cut point: unbiased, and perhaps not quite
        increasing.
        """
        return self.analyse_counts(self.tally(self._open(bag)), secure=bag.secure, notes=notes_of(bag, self.n))


def _shaped(bins: int, levels: tuple[int, ...]) -> tuple[Family, dict[str, Any]]:
    """The randomizers of a shape, and their parameters other than epsilon0."""
    return (OneLevel.of_sizes, {"sizes": levels}) if levels else (KRR, {"k": bins})


def _rows(groups: Sequence[tuple[int, int]], bins: int) -> Floats:
    places = np.arange(bins)
    rows: Floats = np.array([(places >= first) & (places < end) for first, end in groups], dtype=np.float64)
    return rows.reshape(len(groups), bins)


def lower_bins(bins: int) -> list[tuple[int, int]]:
    """The bins below each inner cut point."""
    return [(0, end) for end in range(1, bins)]


def _below(bins: int) -> Floats:
    return _rows(lower_bins(bins), bins)


def _errors(law: Any, n: int, held: Floats) -> Floats:
    """The standard errors of the counts below the inner cut points: exact."""
    if isinstance(law, OneLevel):
        return LeastSquares(law, _below(law.k)).predicted(held)
    below, errors = np.cumsum(held)[:-1], np.zeros(law.k - 1)
    for place, inside in enumerate(below.tolist()):
        size = place + 1
        other = 2 * size > law.k
        chance = law.group_law(law.k - size if other else size, n)
        errors[place] = np.sqrt(chance.variance(n - inside if other else inside, n))
    return errors


def _number(name: str, value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be numbers, got {value!r}. Pass a list of them.") from None
