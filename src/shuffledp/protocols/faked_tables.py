"""Crosstabs and distribution functions from true values among fakes, of users or of the shuffler:
the error of a group of values grows with the square root of its size, and not with the people.

All cells are asked about at once. Of bins, all levels of a tree can be: what a person sends about
one costs as much as another round would, and yet of many bins the noise of few nodes adds up
(``mechanisms.tree``). Levels of which each person answers one stay with k-ary randomized response
(``mechanisms.levels``).
"""

from __future__ import annotations

from dataclasses import dataclass

from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.tree import Tree
from shuffledp.protocols.crosstab import Crossing
from shuffledp.protocols.faked_protocol import DummiesOfShuffler, FakesOfUsers
from shuffledp.protocols.quantiles import Distribution
from shuffledp.randomizers.messages import MessageLaw, TreeDummies
from shuffledp.randomizers.messages.dummies import AddedDummies

__all__ = ["DummyCrosstab", "DummyQuantiles", "FakesCrosstab", "FakesQuantiles"]


@dataclass(frozen=True, kw_only=True, eq=False)
class FakesCrosstab(Crossing, FakesOfUsers):
    """``Crosstab`` where users send their true cell, and some of them fakes beside it; see
    ``FakesHistogram`` for the trust that this takes.
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


@dataclass(frozen=True, kw_only=True, eq=False)
class FakesQuantiles(Distribution, FakesOfUsers):
    """``Quantiles`` of all bins at once, where users send their true bin, and some of them fakes
    beside it; see ``FakesHistogram`` for the trust that this takes.
    """


@dataclass(frozen=True, kw_only=True, eq=False)
class DummyQuantiles(Distribution, DummiesOfShuffler):
    """``Quantiles`` where the shuffler adds dummies: to all bins at once, or to every node of a
    tree of coarse and fine bins, of which each person names one on each of ``levels`` levels; see
    ``DummyHistogram`` for the trust that this takes.

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

    def _prepare(self) -> None:
        super()._prepare()
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

    def _calibrated(self) -> AddedDummies:
        if self._flat:
            return super()._calibrated()
        if self.levels is not None and self.branches is not None:
            shape = (self.levels, self.branches)
            return Tree.of_shape(self._target, self._size, shape, kind=self.kind).law
        return Tree.best(self._target, self._size, self.workload(), kind=self.kind).law
