"""What is attacked: code that runs, on two datasets that differ in the target's value, with the law
and the guarantee that were promised for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.audits.bench import Bench
from shuffledp.sampling import Source

__all__ = ["AT_ONCE", "Play", "Subject"]

AT_ONCE = 1 << 20  # items looked up at once


class Play(NamedTuple):
    """Many runs on one dataset, item by item in the order of release.

    ``u`` and ``v`` are the likelihood ratios of the target's two inputs to what the others hold: of
    each item, or, if there are finitely many ``classes`` of items, of each class, to be looked up;
    classes are kept in few bytes.
    """

    u: Floats
    v: Floats
    classes: NDArray[np.integer] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Runs, and items in each."""
        return self.u.shape if self.classes is None else self.classes.shape

    def totals(self) -> tuple[Floats, Floats]:
        """The sums of u and of v over each run, a bounded number of items at a time."""
        step = max(1, AT_ONCE // self.shape[1])
        parts = [self._part(slice(start, start + step)) for start in range(0, self.shape[0], step)]
        return np.concatenate([u for u, _ in parts]), np.concatenate([v for _, v in parts])

    def ratios(self, places: int | slice) -> Floats:
        """The log of u over v in some places of every run."""
        logs = (
            np.log(self.u) - np.log(self.v)
            if self.classes is not None
            else np.log(self.u[:, places]) - np.log(self.v[:, places])
        )
        return np.asarray(logs if self.classes is None else logs[self.classes[:, places]])

    def _part(self, runs: slice) -> tuple[Floats, Floats]:
        u, v = (
            (self.u[runs], self.v[runs])
            if self.classes is None
            else (self.u[self.classes[runs]], self.v[self.classes[runs]])
        )
        return u.sum(axis=1), v.sum(axis=1)


class Subject(ABC):
    """A protocol under attack, with ``n`` users."""

    name: str
    n: int
    hay: Floats | None = None
    needles: tuple[Floats, Floats] | None = None

    @abstractmethod
    def certified(self, delta: float) -> float:
        """The epsilon that was promised at ``delta``."""

    @abstractmethod
    def play(self, which: int, runs: int, source: Source) -> Play:
        """Run the code ``runs`` times on dataset 0 or 1."""

    def choose(self, delta: float) -> float | None:
        """Settle what the other users hold, and return the epsilon of that pair of datasets if it
        is known: no attack on them can do better.
        """
        return None

    def bench(self) -> Bench | None:
        """What can be tested apart from the attack: the sampler, the shuffler and the analyst, one
        by one; None if they cannot be told apart.
        """
        return None
