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
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.domain import Labels, as_list
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.shares import Shares, shares
from shuffledp.protocols.message_protocol import DummiesOfShuffler, FakesOfUsers
from shuffledp.protocols.protocol import Family, Protocol, ShuffledProtocol
from shuffledp.questions.crosstab.question import CrosstabQuestion
from shuffledp.randomizers import KRR
from shuffledp.randomizers.support import VotingRandomizer
from shuffledp.sampling import Source
from shuffledp.workload import Each, Margins

__all__ = ["Crossing", "Crosstab", "DummyCrosstab", "FakesCrosstab"]

LISTS = 'Pass a list of lists, one for each column, such as [["north", "south"], ["yes", "no"]].'


@dataclass(frozen=True, kw_only=True, eq=False)
class Crossing(Protocol):
    """The question of a crosstab, whatever hides the answers."""

    columns: Sequence[str]
    categories: Sequence[Any]
    other: Sequence[Hashable | None] | None = None
    _parts: tuple[Labels, ...] = field(init=False, repr=False)
    _known: Labels = field(init=False, repr=False)

    def _ask(self) -> None:
        """Check the question."""
        columns = tuple(as_list("columns", self.columns, remedy='Pass a list of names, such as ["region", "smoker"].'))
        listed = as_list("categories", self.categories, remedy=LISTS)
        given = [None] * len(listed) if self.other is None else as_list("other", self.other, remedy=LISTS)
        asked: Any = {"columns": columns, "categories": tuple(map(_written, listed)), "other": tuple(given)}
        question = CrosstabQuestion(**asked).checked()
        other = question.other if any(rest is not None for rest in question.other) else None
        self._set(columns=columns, categories=question.categories, other=other, _parts=question.cells.columns)
        self._set(_known=Labels(labels=question.cells.names), _question=question)

    @property
    def question(self) -> CrosstabQuestion:
        """The question, for a design."""
        question: CrosstabQuestion = vars(self)["_question"]
        return question

    @property
    def _size(self) -> int:
        return self.question.size

    @property
    def cells(self) -> list[tuple[Hashable, ...]]:
        """Every combination of categories, in the order of the cells."""
        return list(product(*(part.listed for part in self._parts)))

    def _asked(self) -> dict[str, object]:
        return {"categories": self.categories, "columns": self.columns}

    def _places(self, values: Iterable[Any], source: Source) -> NDArray[Any]:
        """Of each user a value for each column, in their order."""
        rows: list[Any] = as_list("values", values, remedy='Pass one row per user, such as ("north", "yes").')
        if wrong := [row for row in rows if not isinstance(row, (tuple, list)) or len(row) != len(self.columns)]:
            raise InvalidInput(
                f"values must be rows of {len(self.columns)} values, one for each column, got {wrong[0]!r}. Pass a "
                f"tuple per user."
            )
        columns = list(zip(*rows, strict=True)) or [()] * len(self._parts)
        places = [part.indices(list(column)) for part, column in zip(self._parts, columns, strict=True)]
        return np.asarray(np.ravel_multi_index(tuple(places), self.question.cells.sizes))

    def workload(self) -> Margins:
        return Margins(self.question.rows, self.question.cells.sizes)

    def _weighed(self) -> Each:
        """The cells: sums of them err in other units."""
        return Each(self.question.cells.names)

    def shares(self, counts: ArrayLike, *, by: str, level: float = 0.95) -> Shares:
        """Of those in each group of the column ``by``, the share in each cell, from ``tally``."""
        if by not in self.columns:
            raise InvalidInput(f"by must be one of the columns {', '.join(self.columns)}, got {by!r}. Name one.")
        tally, axis = self._opened(counts), self.question.columns.index(by)
        return shares(self.hiding, tally, self.question.cells.sizes, axis, level=level)


@dataclass(frozen=True, kw_only=True, eq=False)
class Crosstab(Crossing, ShuffledProtocol):
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

    def _family(self) -> tuple[Family, dict[str, int]]:
        return KRR, {"k": self._size}

    def _check_randomizer(self, given: object) -> VotingRandomizer:
        """A law whose reports say something of every sum of cells."""
        law = super()._check_randomizer(given)
        law.group_law(1, 1)
        return law


@dataclass(frozen=True, kw_only=True, eq=False)
class FakesCrosstab(Crossing, FakesOfUsers):
    """``Crosstab`` where users send their true cell, and some of them fakes beside it; see
    ``FakesOfUsers`` for the trust that this takes.
    """


@dataclass(frozen=True, kw_only=True, eq=False)
class DummyCrosstab(Crossing, DummiesOfShuffler):
    """``Crosstab`` where the shuffler adds dummies to every cell; see ``DummyHistogram`` for the
    trust that this takes.

    >>> table = DummyCrosstab(
    ...     columns=["region", "smoker"],
    ...     categories=[["north", "south"], ["yes", "no"]],
    ...     n=1000,
    ...     epsilon=1.0,
    ...     delta=1e-6,
    ... )
    >>> people = [("north", "yes")] * 300 + [("south", "no")] * 700
    >>> estimate = table.analyse(table.shuffle(table.encode(people)))
    >>> bool(abs(estimate["north × (all)"] - 300) < 8 * estimate.stderr[4] < 40)
    True
    """


def _written(listed: object) -> tuple[Any, ...] | int:
    """The categories of a column as a design lists them."""
    if isinstance(listed, Integral):
        return int(listed)
    return tuple(as_list("categories", listed, remedy=LISTS))
