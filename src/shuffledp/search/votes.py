"""The exact law of the votes for a word that so many people hold.

A person is asked at a level with probability ``share``, whoever they are, and then votes for their
own word with probability ``hit`` and for another given one with probability ``miss``. So the votes
of a word that c of n people hold are Bin(c, share hit) + Bin(n - c, share miss): drawing the level
and drawing the report are one draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.accounting.inversion import halve, whole
from shuffledp.mechanisms.exact_limits import binomial_above

CUT_OFF = 1e-18  # more than a binomial has beyond ten standard deviations and 40 (Bernstein)
MOST = 1 << 62


@dataclass(frozen=True)
class SplitVotes:
    """The votes for one word: ``hit`` and ``miss`` are the chances that a holder, and that anybody
    else, is asked and votes for it.

    >>> two = SplitVotes(people=2, hit=0.5, miss=0.25)
    >>> two.above(1, 2), two.above(2, 1)
    (0.125, 0.75)
    """

    people: int
    hit: float
    miss: float

    def above(self, held: int, votes: int) -> float:
        """P(votes or more) for a word that ``held`` people hold; what is cut off of the sum counts
        as if it were above.
        """
        strays, chances = self._strays(self.people - held)
        own = binomial_above(np.array([held]), votes - strays, self.hit)
        return min(1.0, float(chances @ own) + CUT_OFF)

    def below(self, held: int, votes: int) -> float:
        """P(fewer votes), likewise never too small."""
        strays, chances = self._strays(self.people - held)
        own = binomial_above(np.array([held]), votes - strays, self.hit)
        return min(1.0, float(chances @ (1.0 - own)) + CUT_OFF)

    def threshold(self, few: int, tail: float) -> int:
        """The fewest votes that a word of ``few`` holders or fewer gets with probability at most
        ``tail``.
        """
        return _first(lambda votes: self.above(few, votes) <= tail)

    def found_from(self, votes: int, tail: float) -> int | None:
        """How many holders a word needs to get ``votes`` except with probability ``tail``; None if
        even everybody would not be enough.
        """
        if self.below(self.people, votes) > tail:
            return None
        return _first(lambda held: self.below(held, votes) <= tail, self.people)

    def _strays(self, others: int) -> tuple[NDArray[np.int64], Floats]:
        """How many of the others may vote for the word, and with which chances: Bin(others, miss)
        but for ``CUT_OFF``, ten standard deviations and 40 votes away.
        """
        mean = others * self.miss
        reach = 10.0 * math.sqrt(mean) + 40.0
        votes = np.arange(max(0, math.floor(mean - reach)), min(others, math.ceil(mean + reach)) + 1)
        steps = np.log((others - votes[1:] + 1.0) / votes[1:]) + math.log(self.miss) - math.log1p(-self.miss)
        logarithms = np.concatenate([[0.0], np.cumsum(steps)])
        chances: Floats = np.exp(logarithms - logarithms.max())
        return votes, chances / chances.sum()


def passing(levels: Iterable[tuple[SplitVotes, int]], miss: float) -> int | None:
    """How many holders a word needs to get so many votes at each of the ``levels``, but for a
    probability ``miss`` at each; None if even everybody would not be enough.
    """
    needed = [votes.found_from(threshold, miss) for votes, threshold in levels]
    known = [each for each in needed if each is not None]
    return max(known) if len(known) == len(needed) else None


def _first(fits: Callable[[int], bool], most: int = MOST) -> int:
    """The least number from 1 to ``most``, which fits, from which on all do."""
    low, high = 0, 1
    while high < most and not fits(high):
        low, high = high, min(2 * high, most)
    return halve(fits, high, low, middle=whole)[0]
