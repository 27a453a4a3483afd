"""What tables, engines and networks ask of a law: how values become reports, what a report is, and
how reports are counted.

A person's report is one message or several, always the same number, so that nobody learns anything
from how many somebody sends. The shuffler mixes *messages*: those of one person do not stay
together.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.errors import InvalidInput
from shuffledp.sampling import Rng

__all__ = ["Form", "GroupLaw", "Ints", "Opened", "Reporting"]

Ints = NDArray[np.int64]


class Form(NamedTuple):
    """What one report is: a number of this type, below ``outputs`` if those can be listed, or a row
    of ``width`` of them.
    """

    dtype: np.dtype[Any]
    width: int | None = None
    outputs: int | None = None


class Opened(NamedTuple):
    """A tally, taken apart: how many people it is of, how many of their reports fall into each
    block of a Hadamard matrix, and how many votes each value has.
    """

    people: int
    blocks: Ints
    votes: Ints


class GroupLaw(NamedTuple):
    """What the votes for a group of values say of how many people hold one of them.

    A person who holds one votes for the group ``hit`` times on average, any other ``miss`` times,
    and fakes, which are nobody's, add ``fakes`` votes with a variance of ``spread``. So

        (votes - people miss - fakes) / contrast,    contrast = hit - miss,

    is unbiased, and its variance is that of as many independent coins.
    """

    hit: float
    miss: float
    contrast: float
    fakes: float = 0.0
    spread: float = 0.0

    def estimate(self, votes: Any, people: int) -> Any:
        """How many of ``people`` hold a value of the group."""
        return (votes - people * self.miss - self.fakes) / self.contrast

    def variance(self, held: Any, people: int) -> Any:
        """Of ``estimate``, if ``held`` of them do: exact."""
        own, other = self.hit * (1.0 - self.hit), self.miss * (1.0 - self.miss)
        return (held * own + (people - held) * other + self.spread) / self.contrast**2


class Reporting(ABC):
    """A law that runs: values 0, ..., k - 1 become reports, which add up to a tally."""

    __slots__ = ()

    k: int

    @property
    @abstractmethod
    def epsilon0(self) -> float:
        """What one person's report gives away by itself; ``math.inf`` where it is the truth."""

    @property
    @abstractmethod
    def integers(self) -> tuple[int, ...]:
        """The whole numbers that decide every draw, out of 2^64."""

    @abstractmethod
    def describe(self) -> dict[str, object]:
        """Name and natural parameters, for people and for JSON."""

    @property
    @abstractmethod
    def form(self) -> Form:
        """What one person's report is, for whoever stores or reads it: anything more could carry
        the value.
        """

    @property
    def messages(self) -> int:
        """How many messages a person's report consists of."""
        return 1

    @property
    def single(self) -> bool:
        """Whether every report votes for exactly one value, so that the votes count the reports."""
        return False

    @property
    def message(self) -> Form:
        """What one message is: the unit that the shuffler mixes."""
        return self.form

    @property
    def report_bytes(self) -> int:
        """How much memory one person's report takes."""
        dtype, width, _ = self.form
        return dtype.itemsize * (1 if width is None else width)

    @property
    def bits(self) -> int:
        """How many bits a person sends."""
        return 8 * self.report_bytes

    @abstractmethod
    def check_reports(self, reports: ArrayLike) -> NDArray[Any]:
        """The reports as an array, if ``randomize`` could have sent them; refused otherwise."""

    @abstractmethod
    def randomize(self, values: ArrayLike, *, rng: Rng = None) -> NDArray[Any]:
        """One report per value, each from fresh randomness; ``rng`` left out is cryptographic."""

    @abstractmethod
    def tally(self, reports: ArrayLike) -> Ints:
        """All that an estimate needs to know of some people's reports, or of the messages of some,
        as numbers that add up.
        """

    @property
    @abstractmethod
    def tally_size(self) -> int:
        """How many numbers a ``tally`` is."""

    @abstractmethod
    def adds_up(self, tally: Ints, reports: int) -> bool:
        """Whether a ``tally`` could be that of so many people's reports, as far as sums tell."""

    @abstractmethod
    def opened(self, tally: Ints) -> Opened:
        """The parts of a tally of whole reports."""

    def mixed(self, tally: Ints, *, rng: Rng = None) -> Ints:
        """What the shuffler hands on of a ``tally``: as it is, unless the law gives the shuffler
        something to do. It must be done once, before anybody else sees the tally.
        """
        return tally

    @property
    def mixes(self) -> bool:
        """Whether the law gives the shuffler something to do that must be done once."""
        return False

    def mixed_part(self, tally: Ints, *, first: bool, rng: Rng = None) -> Ints:
        """The same for one of several parts of all reports: each is mixed once, one of them as the
        ``first``, and then they add up to what ``mixed`` makes of the whole.
        """
        return tally

    @property
    def sway(self) -> float:
        """How far one malicious person can move an unbiased count, or a sum of numbers in [0, 1]:
        the largest weight less the smallest that anything which passes for a report can have;
        ``math.inf`` where there is no limit, or none is known.
        """
        return math.inf

    def group_law(self, size: int, people: int) -> GroupLaw:
        """What the votes of ``people`` say of a group of ``size`` of the k values; refused where
        that depends on which values they are.
        """
        raise InvalidInput(
            f"the law must say what reports tell of a group of values, got {self.describe()['randomizer']}. Use k-ary "
            f"randomized response."
        )
