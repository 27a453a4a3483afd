"""Counts per category with noise that does not depend on how many categories there are: true values
among fakes, which users send or the shuffler adds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shuffledp.protocols.faked_protocol import DummiesOfShuffler, FakedProtocol, FakesOfUsers
from shuffledp.protocols.histogram import Categorized
from shuffledp.protocols.lazily import settled
from shuffledp.protocols.tasks import HistogramTask
from shuffledp.randomizers.messages.message import FakedValues

__all__ = ["DummyHistogram", "FakedHistogram", "FakesHistogram"]


@dataclass(frozen=True, kw_only=True, eq=False)
class FakedHistogram(Categorized, FakedProtocol):
    """Counts per category, from true values among fakes."""

    randomizer: FakedValues = settled()

    @property
    def task(self) -> HistogramTask:
        """The question, for a design."""
        return HistogramTask(self._known.written, self.other)  # type: ignore[arg-type]

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "categories": self.categories}


@dataclass(frozen=True, kw_only=True, eq=False)
class FakesHistogram(FakedHistogram, FakesOfUsers):
    """Users send their true category, and some of them a uniformly random one beside it.

    It needs more trust than ``Histogram``: messages must be sealed to the analyst, since a true one
    says what its sender holds. ``light_epsilon0`` has the true category randomized a little before
    it is sent, so that even whoever links a message to its sender learns no more than that allows.

    >>> from shuffledp import UserFakes
    >>> law = UserFakes(k=3, slots=1, chance=0.25)
    >>> poll = FakesHistogram(categories=["tea", "coffee", "water"], n=1000, randomizer=law)
    >>> sent = poll.encode(["tea"] * 600 + ["coffee"] * 400, rng=np.random.default_rng(7))
    >>> sent.rows.shape
    (1000, 2)
    >>> estimate = poll.analyse(poll.shuffle(sent))
    >>> bool(abs(estimate["tea"] - 600) < 6 * estimate.stderr[0])
    True
    """


@dataclass(frozen=True, kw_only=True, eq=False)
class DummyHistogram(FakedHistogram, DummiesOfShuffler):
    """Users send their true category, and the shuffler adds dummies before it hands messages on.

    It needs the most trust: messages must be sealed to the analyst, and the shuffler must add its
    dummies, which nobody else can do. In return the noise is as small as a curator's.

    >>> from shuffledp import ShufflerDummies
    >>> law = ShufflerDummies(k=3, center=28, left=0.6, right=0.6)
    >>> poll = DummyHistogram(categories=["tea", "coffee", "water"], n=1000, randomizer=law)
    >>> sent = poll.encode(["tea"] * 600 + ["coffee"] * 400)
    >>> estimate = poll.analyse(poll.shuffle(sent, rng=np.random.default_rng(7)))
    >>> estimate.values.round(1).tolist(), float(estimate.stderr.round(2)[0])
    ([599.0, 404.0, -1.0], 2.74)
    """
