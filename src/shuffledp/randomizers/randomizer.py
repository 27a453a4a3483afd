"""What the accountant needs to know of a randomizer: the law of one report, reduced to a few
classes of outputs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import End, Floats
from shuffledp.sampling import Rng

__all__ = ["Atoms", "End", "Floats", "Randomizer"]


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """One needle-in-a-haystack situation (theory, section 2), output class by output class.

    ``needle0[i]`` and ``needle1[i]`` are the probabilities that the target's report falls into
    class i under its two inputs; both sum to 1. ``hay[i]`` is the mass that every other user
    contributes to class i; it sums to gamma, and with the remaining probability 1 - gamma that user
    is absent from the view.

    A class with no hay exposes the target: what falls there is seen.
    """

    name: str
    hay: Floats
    needle0: Floats
    needle1: Floats

    def __post_init__(self) -> None:
        for field in ("hay", "needle0", "needle1"):
            column = np.ascontiguousarray(getattr(self, field), dtype=np.float64)
            column.setflags(write=False)
            object.__setattr__(self, field, column)
        if not (self.hay.ndim == 1 and self.hay.shape == self.needle0.shape == self.needle1.shape):
            raise AssertionError("hay, needle0 and needle1 must be vectors of one length")

    def swapped(self) -> Atoms:
        """The same situation with the target's two inputs exchanged."""
        return Atoms(self.name, self.hay, self.needle1, self.needle0)


class Randomizer(ABC):
    """One report's law, described, and drawn from; subclasses are final, frozen dataclasses.

    The law that runs is made of integers over a power of two and differs from the one described by
    about 2^-64. ``realised`` describes the law that runs: give that one to the accountant.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def epsilon0(self) -> float:
        """The local privacy parameter of one report (``math.inf`` if there is no pure
        guarantee).
        """

    @property
    @abstractmethod
    def gamma(self) -> float:
        """The mass of the blanket, the measure below the law of every input."""

    @property
    @abstractmethod
    def worst_pair(self) -> tuple[object, object]:
        """The two inputs of the target that are hardest to tell apart from nobody's point of view
        but the analyst's.
        """

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the laws below take for granted; empty when everything is proven."""
        return ()

    @abstractmethod
    def blankets(self, end: End) -> tuple[Atoms, ...]:
        """One ``Atoms`` per inequivalent ordered input pair, with the blanket as hay (Balle et al.
        2019, Lemma 8).

        ``end="upper"``: every haystack value of the returned atoms is at least the randomizer's
        (outputs are spread, preserving means). ``end="lower"``: at most (outputs are merged).
        Finite randomizers return the same for both.
        """

    @abstractmethod
    def datasets(self) -> tuple[Atoms, ...]:
        """Explicit datasets, each with hay = the law of one input that all other users hold, and
        gamma = 1.

        Each is exact or merged (a post-processing), so each gives a lower bound on the leakage.
        """

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Name and natural parameters, for reports and JSON."""

    @property
    @abstractmethod
    def realised(self) -> Randomizer:
        """The law that ``randomize`` draws from, its epsilon0 computed from the integers in use and
        rounded up; ``realised`` of it is itself.
        """

    @abstractmethod
    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> NDArray[Any]:
        """One report per value, each from fresh randomness; ``rng`` left out is cryptographic. A
        generator's reports are not for release.
        """
