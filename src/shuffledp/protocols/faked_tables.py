"""Crosstabs and distribution functions from true values among fakes, of users or of the shuffler:
the error of a group of values grows with the square root of its size, and not with the people.

All cells are asked about at once. Of bins, all levels of a tree can be: what a person sends about
one costs as much as another round would, and yet of many bins the noise of few nodes adds up
(``tree_squares``). Levels of which each person answers one stay with k-ary randomized response
(``quantiles``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput
from shuffledp.protocols.crosstab import Crossing
from shuffledp.protocols.estimate import Estimate, Noise
from shuffledp.protocols.faked_protocol import DummiesOfShuffler, FakesOfUsers
from shuffledp.protocols.least_noise import fewest_dummies
from shuffledp.protocols.quantiles import Distribution, lower_bins
from shuffledp.protocols.tree_squares import TreeSquares, tree_shapes
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
        shapes = tree_shapes(self._size)
        if self.levels is not None and self.branches is not None:
            shapes = [(self.levels, self.branches)]
        laws = [self._in_tree(*shape) for shape in shapes]
        return min(laws, key=lambda law: float(_below(law).base.max()))

    def _in_tree(self, levels: int, branches: int) -> TreeDummies:
        """The least dummies that keep the promise in so many levels, each of which is a round."""
        epsilon, delta, rounds = self._promised()
        one = fewest_dummies(
            2, self._crowd(self.honest), epsilon, delta, rounds * levels, keep=1.0, kind=self.kind, epsilon0=math.inf
        )
        numbers = {name: getattr(one, name) for name in ("kind", "center", "left", "right", "rate")}
        return TreeDummies(k=self._size, levels=levels, branches=branches, **numbers)

    def _counted(
        self,
        counts: ArrayLike,
        groups: list[tuple[int, int]],
        labels: tuple[str, ...],
        secure: bool = True,
        notes: tuple[str, ...] = (),
    ) -> Estimate:
        if not isinstance(law := self.randomizer, TreeDummies):
            return super()._counted(counts, groups, labels, secure, notes)
        people, _, votes = self._opened(counts)
        values, noise, stderr = TreeSquares(law).estimate(votes, groups, people)
        return Estimate(labels, values, stderr, people, values, noise, secure, notes)

    def predicted_stderrs(self, counts: ArrayLike) -> Floats:
        """The standard errors of the counts below the inner cut points: of a tree, the same for all
        data.
        """
        if not isinstance(law := self.randomizer, TreeDummies):
            return super().predicted_stderrs(counts)
        errors: Floats = np.sqrt(_below(law).base)
        return errors

    def worst_stderr(self) -> float:
        return self.predicted_stderr() if isinstance(self.randomizer, TreeDummies) else super().worst_stderr()

    def sway(self, estimate: Estimate) -> Floats:
        """Of a tree, as often as there are levels the largest less the smallest weight of a node:
        nobody sees whether one person's messages fit together.
        """
        if not isinstance(law := self.randomizer, TreeDummies):
            return super().sway(estimate)
        return TreeSquares(law).sway(lower_bins(law.k))


def _below(law: TreeDummies) -> Noise:
    """The noise of the counts below the inner cut points."""
    return TreeSquares(law).noise(lower_bins(law.k))
