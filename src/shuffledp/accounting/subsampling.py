"""A random sample of the users answers, of a fixed size: sampling without replacement.

The sample has n of ``users`` people, q = n / users, chosen uniformly and kept secret; two
populations differ in one person's value. *Upper*, for any mechanism and this adjacency (Balle,
Barthe and Gaboardi 2018): delta'(log(1 + q (e^eps - 1))) <= q delta(eps).

*Lower:* the person is in the sample with probability q, and if not, somebody else is in their
place. If all others hold c, the view is that of n users of whom n - 1 report by the law of c, and
one by

    (1 - q) m_c + q m_a   or   (1 - q) m_c + q m_b ,

and so the haystack with the law of c as hay and these needles is exact.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting.accuracy import DEFAULT_GAP
from shuffledp.accounting.haystack import Haystack
from shuffledp.accounting.haystack.contour import UNIT
from shuffledp.accounting.reductions import Curve, Reduction, Theorem
from shuffledp.accounting.rounds import Round
from shuffledp.randomizers.randomizer import Atoms, Randomizer

AMPLIFIED = "sampling without replacement (Balle, Barthe and Gaboardi 2018), of: "
SECRET = "a random sample of fixed size answers, and who is in it stays secret"
OFF = 8.0 * UNIT  # relatively, of one mixture


@dataclass(frozen=True, eq=False, repr=False)
class Sampled(Round):
    """One round over a random sample of ``users``; build it with ``survey.sampled(users=...)``."""

    survey: Round
    randomizer: Randomizer
    n: int
    users: int

    def __repr__(self) -> str:
        return f"{self.survey!r}.sampled(users={self.users})"

    @property
    def share(self) -> float:
        """q: the probability of being in the sample."""
        return self.n / self.users

    @property
    def key(self) -> Hashable:
        return self.survey.key, self.users

    def describe(self) -> str:
        """The survey, and of whom it is a sample.

        >>> from shuffledp import KRR, shuffle
        >>> shuffle(KRR(k=16, epsilon0=4.0), n=1_000).sampled(users=10_000).describe()
        'krr, k = 16, epsilon0 = 4; 1,000 people; a random sample of 10,000'
        """
        return f"{self.survey.describe()}; a random sample of {self.users:,}"

    @cached_property
    def reduction(self) -> Reduction:
        alone, share = self.survey.reduction, self.share
        assumptions = (*alone.assumptions, SECRET)
        if alone.ceiling == 0.0:
            return Reduction(alone.theorems, assumptions, (), 0.0)
        amplified = [
            Theorem(AMPLIFIED + each.method, tuple(_Amplified(curve, share) for curve in each.of(None)))
            for each in alone.theorems
        ]
        lowers = tuple(Haystack.of(_mixed(each, share), self.n) for each in self.randomizer.datasets())
        ceiling = math.log1p(share * math.expm1(alone.ceiling)) if alone.ceiling < math.inf else math.inf
        return Reduction(tuple(amplified), assumptions, lowers, ceiling * (1.0 + 4.0 * UNIT))


@dataclass(frozen=True, slots=True)
class _Amplified:
    """q delta(log(1 + (e^eps' - 1) / q)), at eps'."""

    alone: Curve
    share: float

    @property
    def name(self) -> str:
        return f"a sample, {self.alone.name}"

    def bounds(self, epsilons: Floats, gap: float = DEFAULT_GAP) -> tuple[Floats, Floats]:
        """At an epsilon slightly too small, so too large; below, smaller by more than that."""
        at = np.log1p(np.expm1(epsilons) / self.share) * (1.0 - 8.0 * UNIT)
        lower, upper = self.alone.bounds(at, gap)
        return self.share * lower * (1.0 - 1e-9), np.minimum(self.share * upper * (1.0 + 4.0 * UNIT), 1.0)

    def swapped(self) -> _Amplified:
        return _Amplified(self.alone.swapped(), self.share)


def _mixed(atoms: Atoms, share: float) -> Atoms:
    """The same if, with probability 1 - ``share``, one of the others replaces the target."""
    needles = ((1.0 - share) * atoms.hay + share * needle for needle in (atoms.needle0, atoms.needle1))
    return Atoms(atoms.name, atoms.hay, *needles, rounding=atoms.rounding + OFF, doubt=atoms.doubt)
