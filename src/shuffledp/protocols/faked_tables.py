"""Crosstabs and distribution functions from true values among fakes, of users or of the shuffler:
the error of a group of values grows with the square root of its size, and not with the people.

All cells, or all bins, are asked about at once. Levels of bins, of which each person answers one,
stay with k-ary randomized response (``quantiles``).
"""

from __future__ import annotations

from dataclasses import dataclass

from shuffledp.protocols.crosstab import Crossing
from shuffledp.protocols.faked_protocol import DummiesOfShuffler, FakesOfUsers
from shuffledp.protocols.quantiles import Distribution

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
    """``Quantiles`` of all bins at once, where the shuffler adds dummies to every bin; see
    ``DummyHistogram`` for the trust that this takes.
    """
