"""How many users hold each combination of several columns' categories: one report about the cell
that a user is in, and all sums of cells from the same reports.

The sums over some columns are exactly those of the estimated cells, so a table and its margins
agree. A group of cells has reports of its own law (``group_law``), so the error of a sum is exact:
under k-ary randomized response it is far smaller than that of as many independent estimates.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput
from shuffledp.protocols.bag import Bag, Reports, notes_of
from shuffledp.protocols.below import counted_group
from shuffledp.protocols.categories import Categories, as_list
from shuffledp.protocols.estimate import Estimate, Noise, check_level
from shuffledp.protocols.exact_limits import FEW, Law, Stacked
from shuffledp.protocols.histogram import RandomizedResponse
from shuffledp.protocols.protocol import ReportingProtocol
from shuffledp.protocols.share_limits import ShareTest
from shuffledp.protocols.tasks import CrosstabTask
from shuffledp.protocols.tasks.crossing import kept_columns
from shuffledp.randomizers.randomizer import Reporting
from shuffledp.randomizers.support import VotingRandomizer
from shuffledp.sampling import Rng, source_of

__all__ = ["Crossing", "Crosstab", "Shares", "crossed_estimate", "crossed_shares", "summed"]

LISTS = 'Pass a list of lists, one for each column, such as [["north", "south"], ["yes", "no"]].'


class Shares(NamedTuple):
    """Of those in a group, the share that is in each of its cells, cell by cell; ``known`` is false
    where too few are in the group to say anything, and the numbers there mean nothing.

    ``lower`` to ``upper`` covers the share of each by itself; ``all_lower`` to ``all_upper`` follow
    from the intervals of all counts at once, and hold together with them.
    """

    known: NDArray[np.bool_]
    values: Floats
    lower: Floats
    upper: Floats
    all_lower: Floats
    all_upper: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Crossing(ReportingProtocol):
    """The question of a crosstab, whatever hides the answers."""

    columns: Sequence[str]
    categories: Sequence[Any]
    other: Sequence[Hashable | None] | None = None
    _parts: tuple[Categories, ...] = field(init=False, repr=False)
    _known: Categories = field(init=False, repr=False)

    def _ask(self) -> None:
        """Check the question."""
        columns = tuple(as_list("columns", self.columns, remedy='Pass a list of names, such as ["region", "smoker"].'))
        listed = as_list("categories", self.categories, remedy=LISTS)
        given = [None] * len(listed) if self.other is None else as_list("other", self.other, remedy=LISTS)
        task = CrosstabTask(columns, tuple(map(_written, listed)), tuple(given)).checked()  # type: ignore[arg-type]
        parts = tuple(Categories.of(each, rest) for each, rest in zip(task.categories, task.other, strict=True))
        other = task.other if any(rest is not None for rest in task.other) else None
        self._set(columns=columns, categories=task.categories, other=other, _parts=parts, _task=task)
        self._set(_known=Categories(task.labels))

    @property
    def task(self) -> CrosstabTask:
        """The question, for a design."""
        task: CrosstabTask = vars(self)["_task"]
        return task

    @property
    def _size(self) -> int:
        return self.task.size

    @property
    def cells(self) -> list[tuple[Hashable, ...]]:
        """Every combination of categories, in the order of the cells."""
        return list(product(*(part.labels for part in self._parts)))

    def describe(self) -> dict[str, object]:
        asked = {"categories": self.categories, "columns": self.columns}
        return {"protocol": type(self).__name__, "n": self.n, **asked, **self.randomizer.describe()}

    def encode(self, values: Iterable[Any], *, rng: Rng = None) -> Reports:
        """One report per user, whose values are one for each column, in their order."""
        rows: list[Any] = as_list("values", values, remedy='Pass one row per user, such as ("north", "yes").')
        if wrong := [row for row in rows if not isinstance(row, (tuple, list)) or len(row) != len(self.columns)]:
            raise InvalidInput(
                f"values must be rows of {len(self.columns)} values, one for each column, got {wrong[0]!r}. Pass a "
                f"tuple per user."
            )
        columns = list(zip(*rows, strict=True)) or [()] * len(self._parts)
        places = [part.indices(list(column)) for part, column in zip(self._parts, columns, strict=True)]
        cells = np.ravel_multi_index(tuple(places), self.task.sizes)
        source = source_of(rng)
        return Reports(self.describe(), self.randomizer.randomize(cells, rng=source), source.secure)

    def analyse_counts(self, counts: ArrayLike, *, secure: bool = True, notes: tuple[str, ...] = ()) -> Estimate:
        """Estimated counts of the cells, and of their sums, from ``tally``: unbiased, and perhaps
        negative.
        """
        people, _, votes = self._opened(counts)
        return crossed_estimate(self.task, self.randomizer, votes, people, secure=secure, notes=notes)

    def shares(self, counts: ArrayLike, *, by: str, level: float = 0.95) -> Shares:
        """Of those in each group of the column ``by``, the share in each cell, from ``tally``."""
        people, _, votes = self._opened(counts)
        return crossed_shares(self.task, self.randomizer, votes, people, by=by, level=level)


@dataclass(frozen=True, kw_only=True, eq=False)
class Crosstab(Crossing, RandomizedResponse):  # type: ignore[misc]  # it has one estimator
    """Counts of every combination of the categories of two or more ``columns``, and their sums over
    some of the columns, through a shuffler.

    ``categories`` lists those of each column; values that are not listed count as the column's
    entry in ``other``, or are refused. Cells are named like "north × yes", sums like
    "north × (all)".

    >>> poll = Crosstab(
    ...     columns=["region", "smoker"],
    ...     categories=[["north", "south"], ["yes", "no"]],
    ...     n=1000,
    ...     epsilon0=3.0,
    ... )
    >>> people = [("north", "yes")] * 300 + [("south", "no")] * 700
    >>> bag = poll.shuffle(poll.encode(people, rng=np.random.default_rng(7)))
    >>> estimate = poll.analyse(bag)
    >>> bool(abs(estimate["north × yes"] - 300) < 6 * estimate.stderr[0])
    True
    >>> cells = [estimate[f"north × {answer}"] for answer in ("yes", "no")]
    >>> bool(abs(estimate["north × (all)"] - sum(cells)) < 1e-9)
    True
    """

    def _check_randomizer(self, given: object) -> VotingRandomizer:
        """A law whose reports say something of every sum of cells."""
        law = super()._check_randomizer(given)
        law.group_law(1, 1)
        return law

    def analyse(self, bag: Bag) -> Estimate:  # type: ignore[override]
        """Estimated counts of the cells, and of their sums: unbiased, and perhaps negative."""
        return self.analyse_counts(self.tally(self._open(bag)), secure=bag.secure, notes=notes_of(bag, self.n))


def crossed_estimate(
    task: CrosstabTask, law: Reporting, votes: NDArray[np.int64], people: int, *, secure: bool, notes: tuple[str, ...]
) -> Estimate:
    """Cells and their sums from the votes of ``people`` for each cell, by any law that says what
    votes tell of a group of values.
    """
    sizes = summed(np.ones_like(votes), task.sizes)
    values, noise = _groups(law, summed(votes, task.sizes), sizes, people)
    stderr = noise.stderr(np.clip(values, 0.0, people))
    return Estimate(task.rows, values, stderr, people, values, noise, secure, notes)


def crossed_shares(
    task: CrosstabTask, law: Reporting, votes: NDArray[np.int64], people: int, *, by: str, level: float
) -> Shares:
    """Of those in each group of the column ``by``, the share in each cell.

    The interval holds the shares that a test does not reject (``share_limits``). Where votes are
    too few for a normal law, the ends are those that intervals for both counts allow.
    """
    check_level(level)
    if by not in task.columns:
        raise InvalidInput(f"by must be one of the columns {', '.join(task.columns)}, got {by!r}. Name one.")
    axis = task.columns.index(by)
    group_of = np.unravel_index(np.arange(len(votes)), task.sizes)[axis]
    in_group = np.bincount(group_of, weights=votes).astype(np.int64)[group_of]
    many = np.full_like(votes, len(votes) // task.sizes[axis])
    part, part_noise = _groups(law, votes, np.ones_like(votes), people)
    whole, whole_noise = _groups(law, in_group, many, people)

    tail = (1.0 - level) / 2.0
    together = tail / len(task.rows)
    all_parts, all_wholes = part_noise.interval(part, together), whole_noise.interval(whole, together)
    known = all_wholes.lower > 0.0

    def shared(counts: Floats, wholes: Floats) -> Floats:
        """Shares from 0 to 1; where nothing is known, nothing is divided by."""
        ends: Floats = np.clip(counts / np.where(known, wholes, 1.0), 0.0, 1.0)
        return ends

    values = shared(part, whole)
    few, (lower, upper) = known, (np.zeros_like(values), np.ones_like(values))
    if not part_noise.throughout:
        size = int(many[0])
        test = ShareTest(part, whole, law.group_law(1, people), law.group_law(size - 1, people), people)
        few, (lower, upper) = known & (test.variance(values) < FEW), test.limits(values, tail)
    if few.any():
        parts, wholes = part_noise.interval(part, tail / 2.0), whole_noise.interval(whole, tail / 2.0)
        lower = np.where(few, shared(parts.lower, wholes.upper), lower)
        upper = np.where(few, shared(parts.upper, wholes.lower), upper)
    lower, upper = np.clip(lower, 0.0, values), np.clip(upper, values, 1.0)
    says = known & ~((lower <= 0.0) & (upper >= 1.0))
    all_lower, all_upper = shared(all_parts.lower, all_wholes.upper), shared(all_parts.upper, all_wholes.lower)
    return Shares(says, values, lower, upper, all_lower, all_upper)


def _groups(law: Reporting, votes: NDArray[np.int64], sizes: NDArray[np.int64], people: int) -> tuple[Floats, Noise]:
    """How many people hold a value of each group, from the votes for the group and its size; groups
    of one size have one law.
    """
    values, base, slope, skew, unit, grain = np.zeros((6, len(votes)))
    parts: list[tuple[NDArray[np.int64], Law]] = []
    for size in np.unique(sizes).tolist():
        places = np.flatnonzero(sizes == size)
        values[places], noise = counted_group(votes[places], size, law, people)
        base[places], slope[places], skew[places] = noise.base, noise.slope, noise.skew
        unit[places], grain[places] = noise.unit, noise.grain
        if noise.law is None:
            raise InvalidInput(
                f"the law of a crosstab must be k-ary randomized response, or true values among fakes, got "
                f"{law.describe()['randomizer']}. Use one of those."
            )
        parts.append((places, noise.law))
    return values, Noise(base, slope, skew, unit, Stacked(votes, people, parts=tuple(parts)), grain)


def _written(listed: object) -> tuple[Any, ...] | int:
    """The categories of a column as a design lists them."""
    if isinstance(listed, Integral):
        return int(listed)
    return tuple(as_list("categories", listed, remedy=LISTS))


def summed(cells: NDArray[np.int64], sizes: Sequence[int]) -> NDArray[np.int64]:
    """The cells, and after them their sums in the order of ``crossing.row_labels``.

    >>> summed(np.array([1, 2, 3, 4]), [2, 2]).tolist()
    [1, 2, 3, 4, 3, 7, 4, 6]
    """
    table, axes = cells.reshape(sizes), range(len(sizes))
    sums = [table.sum(axis=tuple(axis for axis in axes if axis not in kept)) for kept in kept_columns(len(sizes))]
    return np.concatenate([cells, *(each.ravel() for each in sums)])
