"""How many votes of fakes a group of values has: their exact law, limits for what is left without
them, and whether there are as many as there must be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput
from shuffledp.protocols.estimate import Noise
from shuffledp.protocols.exact_limits import Ints, Supports, binomial_above, few_successes
from shuffledp.randomizers.messages import UserFakes
from shuffledp.randomizers.messages.dummies import AddedDummies
from shuffledp.randomizers.messages.message import FakedValues
from shuffledp.sampling import WORD

__all__ = ["FakeVotes", "FakedSupports", "check_fakes", "fake_votes", "from_votes"]

NEGLIGIBLE = 1e-20  # probability that is cut off on either side of a law
MANY_STRAYS = 400.0  # stray votes on average, above which waves are fewer to add up than strays
LONG = 1 << 11
SURE = 1e-9  # a shuffler, or people, who did their part are told that they did not so rarely


class FakeVotes(NamedTuple):
    """The law of a count: ``chances[i]`` is the probability of ``first + i``; what is missing to 1
    may be anywhere.
    """

    first: int
    chances: Floats

    def plus(self, other: FakeVotes) -> FakeVotes:
        """Of the sum of two that are independent."""
        both = _convolved(self.chances, other.chances)
        return FakeVotes(self.first + other.first, np.maximum(both, 0.0)).trimmed()

    def times(self, number: int) -> FakeVotes:
        """Of the sum of so many."""
        total, power = FakeVotes(0, np.ones(1)), self
        while number:
            if number % 2:
                total = total.plus(power)
            number //= 2
            power = power.plus(power) if number else power
        return total

    def trimmed(self) -> FakeVotes:
        """The same without what is too rare at either end."""
        start = int(np.searchsorted(np.cumsum(self.chances), NEGLIGIBLE))
        end = len(self.chances) - int(np.searchsorted(np.cumsum(self.chances[::-1]), NEGLIGIBLE))
        return FakeVotes(self.first + start, self.chances[start:end])

    def log_mean(self, slope: float) -> float:
        """log E e^(slope count)."""
        counts = self.first + np.arange(len(self.chances))
        shift = float(np.max(slope * counts))
        return shift + math.log(float(self.chances @ np.exp(slope * counts - shift)))


def _convolved(one: Floats, other: Floats) -> Floats:
    if min(len(one), len(other)) <= LONG:
        return np.convolve(one, other)
    from scipy.signal import fftconvolve  # slow to import, and needed where lists are long only

    both: Floats = fftconvolve(one, other)
    return both


def fake_votes(law: FakedValues, size: int, people: int) -> FakeVotes:
    """How many fakes name one of ``size`` values, where ``people`` reported.

    >>> both = fake_votes(UserFakes(k=2, slots=1, chance=0.5), 1, 2)
    >>> both.first, both.chances.tolist()
    (0, [0.5625, 0.375, 0.0625])
    """
    if isinstance(law, AddedDummies):
        return FakeVotes(law.numbers.first, law.numbers.chances).times(size)
    assert isinstance(law, UserFakes)
    share = size / law.k
    if law.numbers is None:
        named = law.threshold / WORD * share
        return FakeVotes(0, np.array([1.0 - named, named])).times(people * law.slots)
    mine = np.zeros(law.numbers.last + 1)  # of one person: of m fakes, a binomial number name the group
    one = FakeVotes(0, np.array([1.0 - share, share]))
    for many, chance in enumerate(law.numbers.chances, start=law.numbers.first):
        named_of = one.times(many)
        mine[named_of.first : named_of.first + len(named_of.chances)] += chance * named_of.chances
    return FakeVotes(0, mine).times(people)


@dataclass(frozen=True, slots=True, eq=False)
class FakedSupports(Supports):
    """Bin(c, hit) + Bin(n - c, miss) votes for a value that c users hold, and a random number of
    ``fakes`` beside them, whose law is anything but normal.
    """

    throughout: ClassVar[bool] = True

    fakes: FakeVotes = field(default_factory=lambda: FakeVotes(0, np.ones(1)))

    def add(self, other: Self) -> Self | None:
        if (self.n, self.hit, self.miss) != (other.n, other.hit, other.miss):
            return None
        fakes = self.fakes.plus(other.fakes)
        return replace(self, seen=self.seen + other.seen, rounds=self.rounds + other.rounds, fakes=fakes)

    @property
    def _strays(self) -> float:
        return self._trials * self.miss

    @property
    def _reach(self) -> int:
        """How many sums of strays and fakes are told apart, or waves added up."""
        if self._strays > MANY_STRAYS:
            return self._waves[2]
        few = self._strays > 0.0
        return len(self.fakes.chances) + (super(FakedSupports, self)._reach - 1 if few else 0)

    def _above(self, held: Ints, least: Ints) -> tuple[Floats, Floats]:
        first, chances = self.fakes
        if self._strays > MANY_STRAYS:
            missing = np.full(len(held), max(1.0 - float(chances.sum()), 0.0))
            return self._above_by_waves(held, least - first), missing
        wanted = least[:, None] - first - np.arange(self._reach)
        weights, above = chances[None, :], binomial_above(held[:, None], wanted, self.hit)
        if self.miss:
            strays = few_successes(self._trials - held, self._reach - len(chances) + 1, self.miss)
            weights = np.array([np.convolve(row, chances) for row in strays])
        return (weights * above).sum(axis=1), np.maximum(1.0 - weights.sum(axis=1), 0.0)

    @property
    def _waves(self) -> tuple[int, int, int]:
        """How far from their mean people's votes are found, by Bernstein's inequality; the period
        that all votes fit in; and how many waves make up their law: that of frequency t has a
        height of at most exp(-2 variance t^2 / pi^2).
        """
        variances = [self._trials * chance * (1.0 - chance) for chance in (self.hit, self.miss)]
        strength = -math.log(NEGLIGIBLE)
        far = math.ceil(strength / 3.0 + math.sqrt((strength / 3.0) ** 2 + 2.0 * strength * max(variances)))
        highest = math.pi * math.sqrt(strength / (2.0 * min(variances))) if min(variances) else math.inf
        half = far + len(self.fakes.chances) // 2 + 1
        period = 2 * half + 1
        return far, period, math.ceil(min(highest / (2.0 * math.pi) * period, half))

    def _above_by_waves(self, held: Ints, least: Ints) -> Floats:
        """P(people's votes and fakes after the first >= least): the law of a whole number is a sum
        of waves, each of which is added up from ``least`` on in closed form.
        """
        (far, period, number), chances = self._waves, self.fakes.chances
        t = 2.0 * math.pi / period * np.arange(1, number + 1)
        own, stray = (np.log1p(chance * np.expm1(1j * t)) - 1j * t * chance for chance in (self.hit, self.miss))
        fakes = np.fft.rfft(chances, period)[1 : number + 1].conj()
        mean = held * self.hit + (self._trials - held) * self.miss
        start = np.floor(mean) - far
        least = np.clip(least, start, start + period)
        heights = fakes * np.exp(np.outer(held, own) + np.outer(self._trials - held, stray))
        steps = np.exp(-1j * np.outer(least - mean, t)) - np.exp(-1j * np.outer(start - mean, t))
        waves = (heights * steps / -np.expm1(-1j * t)).sum(axis=1).real
        found: Floats = ((start + period - least) * float(chances.sum()) + 2.0 * waves) / period
        return np.clip(found, 0.0, 1.0)


def from_votes(votes: Any, people: int, law: FakedValues, size: int = 1) -> tuple[Floats, Noise]:
    """From the votes for groups of ``size`` values each to how many of ``people`` hold one of
    them: unbiased, with its noise.
    """
    group = law.group_law(size, people)
    values: Floats = group.estimate(votes.astype(np.float64), people)
    base = np.full_like(values, group.variance(0, people))
    slope = np.full_like(values, group.variance(1, people) - group.variance(0, people))
    exact = FakedSupports(votes, people, group.hit, miss=group.miss, fakes=fake_votes(law, size, people))
    return values, Noise(base, slope, np.zeros_like(values), 1.0 / group.contrast, exact)


def check_fakes(law: FakedValues, people: int, votes: NDArray[np.int64], honest: int) -> None:
    """Refuse votes that are too few, or too many, to hold the fakes of the law, by a test that an
    honest collection fails with a probability of at most 1e-9 on either side (Chernoff's inequality
    for the exact law).

    Of ``people`` at least ``honest`` follow the law; what all others send may be anything.
    """
    total = sum(votes.tolist())
    if isinstance(law, AddedDummies):
        honest, free, many = people, 0, law.places
        each = FakeVotes(law.numbers.first, law.numbers.chances)
        name, who = "dummies", "Ask the shuffler whether it added them, and whether it is the one that the design names"
    else:
        assert isinstance(law, UserFakes)
        honest, free = min(honest, people), max(people - honest, 0) * law.messages
        each, many = fake_votes(law, law.k, 1), honest
        name, who = "fakes", "Ask whether clients run the design as it is written; leave out those that do not"
    true, sent = FakeVotes(0, np.array([1.0 - law.kept, law.kept])), honest * law.true_messages

    def unlikely(slope: float, seen: int) -> float:
        """The logarithm of a bound on the probability of so many, or more; with a negative slope,
        or fewer.
        """
        return sent * true.log_mean(slope) + many * each.log_mean(slope) - slope * seen

    from scipy.optimize import minimize_scalar  # slow to import, and needed where fakes are counted only

    for sign, seen, wrong in ((-1.0, total, "few"), (1.0, total - free, "many")):
        found = minimize_scalar(
            lambda power, sign=sign, seen=seen: unlikely(sign * math.exp(power), seen),
            bounds=(-25.0, 5.0),
            method="bounded",
        )
        if found.fun < math.log(SURE):
            usual = sent * law.kept + many * float(np.arange(each.first, each.first + len(each.chances)) @ each.chances)
            raise InvalidInput(
                f"messages must hold the {name} that hide people's values, got too {wrong}: {total:,} that name a "
                f"value, where about {usual:,.0f} were expected of {people:,} people. {who}."
            )
