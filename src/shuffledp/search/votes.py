"""The exact law of the votes for a word that so many people hold.

A person is asked at a level with probability ``share``, whoever they are, and then votes for their
own word with probability ``hit`` and for another given one with probability ``miss``. So the votes
of a word that c of n people hold are Bin(c, share hit) + Bin(n - c, share miss): drawing the level
and drawing the report are one draw.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.mechanisms.exact_limits import binomial_above

CUT_OFF = 1e-18  # more than a binomial has beyond ten standard deviations and 40 (Bernstein)


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
        low, high = 0, 1
        while self.above(few, high) > tail:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.above(few, middle) > tail else (low, middle)
        return high

    def found_from(self, votes: int, tail: float) -> int | None:
        """How many holders a word needs to get ``votes`` except with probability ``tail``; None if
        even everybody would not be enough.
        """
        if self.below(self.people, votes) > tail:
            return None
        low, high = 0, 1
        while high < self.people and self.below(high, votes) > tail:
            low, high = high, min(2 * high, self.people)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.below(middle, votes) > tail else (low, middle)
        return high

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
