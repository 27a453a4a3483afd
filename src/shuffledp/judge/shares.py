"""Noise that people share, from the whole numbers in a record: counts by +1 and -1, sums by split
and mix. Tables, estimates and limits are worked out again by other means than those that made them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np

from shuffledp.judge.effort import TooLarge
from shuffledp.judge.lattice import UNIT, Array
from shuffledp.judge.laws import WORD, CountedMessages
from shuffledp.judge.rows import Estimated

SHARED = {
    "signed": ("honest", "decay", "pairs", "messages"),
    "split": ("honest", "decay", "share_bits", "messages", "reach"),
}
DIGITS = Context(prec=100)
TOO_NEAR = Decimal("1e-15")
LIMB = 26  # bits: shares are added up in two parts
IMPOSSIBLE = 1e-10
SLOPES = np.linspace(0.4, 1.0, 13)  # of the decay of the noise: those that limits are chosen from
LEAST_AT = np.linspace(1.0, 1.5, 33)  # losses of one step
SHARP, LEFT_OUT = 1e-8, 1e-17
MOST_STEPS = 1 << 22


@dataclass(frozen=True)
class CountedShares(CountedMessages):
    """A law of ``signed`` units or of ``split`` shares; ``own`` are its parameters beside k."""

    parameters = SHARED

    def _sound(self) -> bool:
        own, integers = self.own, self.integers
        if not all(type(own[name]) is int and 0 <= own[name] < 10**18 for name in own if name != "decay"):
            return False
        most = own["honest"] * (self.k - 1 + 2 * own.get("reach", 0))  # what shares add up to: it must not wrap around
        small = own["messages"] <= 1024 and own.get("share_bits", 2) <= 52 and own.get("reach", 1) <= MOST_STEPS
        small = small and most < 1 << own.get("share_bits", 80)
        sized = len(integers) == (5 if self.family == "signed" else 3) and 0 < integers[0] < WORD
        return self.epsilon0 == math.inf and small and sized and own["honest"] > 0

    @property
    def messages(self) -> int:
        return int(self.own["messages"])

    @property
    def shuffler(self) -> str:
        return "messages mixed"

    @property
    def theorems(self) -> tuple[tuple[str, ...], ...]:
        return (("signed units",) if self.family == "signed" else ("split shares",),)

    @property
    def implied(self) -> Decimal:
        """A message hides nothing by itself."""
        return Decimal("Infinity")

    @property
    def least_integers(self) -> tuple[int, ...]:
        """The ratio, and the chances of no noise and of no pair, to 100 digits."""
        decay, honest = Decimal(self.own["decay"]), Decimal(self.own["honest"])
        ratio = int(DIGITS.multiply(DIGITS.exp(-decay), Decimal(WORD))) + 1
        log = DIGITS.ln(DIGITS.divide(Decimal(WORD - ratio), Decimal(WORD)))
        nothing = [DIGITS.exp(DIGITS.divide(log, honest))]
        if self.family == "signed":
            nothing.append(DIGITS.exp(DIGITS.divide(Decimal(-self.own["pairs"]), honest)))
        mine = [ratio]
        for each, said in zip(nothing, zip(*[iter(self.integers[1:])] * 2, strict=True), strict=True):
            wide = DIGITS.multiply(each, Decimal(WORD**2))
            # So near to a whole number that 60 digits do not tell on which side: it may be either.
            either = [min(int(DIGITS.add(wide, off)), WORD**2 - 1) for off in (-TOO_NEAR, TOO_NEAR)]
            claimed = said[0] * WORD + said[1]
            mine += divmod(claimed if claimed in either else either[0], WORD)
        return tuple(mine)

    @property
    def ratio(self) -> Fraction:
        """q, as it ran."""
        return Fraction(self.integers[0], WORD)

    @property
    def certain(self) -> float:
        """How likely one round tells for certain, at least."""
        return 0.0

    @property
    def unit(self) -> float:
        """The loss of one step of the noise."""
        return -math.log1p(-float(1 - self.ratio))

    @property
    def farthest(self) -> float:
        """From where on a larger loss is never seen, but for what delta pays."""
        return (self.k - 1) * self.unit if self.family == "split" else math.inf

    def spans(
        self, users: int, epsilons: Array, check: Callable[[], None]
    ) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """What is seen of one round with so many honest users, from below and from above, as the
        theorem has it, and of what really runs: the same.
        """
        from shuffledp.judge.messages import MessageSums  # slow to import, and for these laws only

        written = {"type": self.family, "k": self.k, **self.own, "integers": self.integers}
        # What is kept at an epsilon is kept at larger ones, whatever its distance costs there. It
        # is least where the largest likely loss is, or not far beyond.
        most = self.farthest if self.family == "split" else self.unit
        tried = np.append(epsilons, most * LEAST_AT)
        low, high = MessageSums.of(written, users).deltas(tried, check)
        order = np.argsort(tried)
        high[order] = np.minimum.accumulate(high[order])
        found = low[: len(epsilons)], high[: len(epsilons)]
        return found, found

    def influence(self, scale: float) -> float | None:
        """How far a malicious person can move a count; nothing limits a sum."""
        return 2.0 * self.messages * scale if self.family == "signed" else None

    def usual(self, votes: Sequence[int], people: int, honest: int) -> tuple[str, bool]:
        """What the two numbers of a tally must be like, and whether they are."""
        sent = people * self.messages
        if self.family == "split":
            most = [sent * ((1 << LIMB) - 1), sent * (((1 << self.own["share_bits"]) - 1) >> LIMB)]
            return f"at most {most[0]} and {most[1]}", all(0 <= a <= b for a, b in zip(votes, most, strict=True))
        mean = self.own["pairs"] * honest / self.own["honest"]
        from scipy.stats import poisson  # slow to import, and needed for these laws only

        fewest = int(poisson.ppf(IMPOSSIBLE, mean)) if mean else 0
        right = min(votes) >= 0 and sum(votes) <= sent and votes[1] >= fewest
        return f"at least {fewest} of -1, and {sent} in all at most", right

    def variance(self, people: int) -> Fraction:
        """Of the noise that so many people add, in squared steps."""
        return Fraction(2 * people, self.own["honest"]) * self.ratio / (1 - self.ratio) ** 2

    def error(self, people: int, scale: float) -> float:
        """The standard error, where a step is worth ``scale``, for the worst data."""
        rounded = Fraction(people, 4) if self.family == "split" else Fraction(0)
        return math.sqrt(self.variance(people) + rounded) * scale

    def total(self, votes: Sequence[int], people: int) -> int:
        """What the answer is in steps, noise and all."""
        first, second = votes
        if self.family == "signed":
            return first - second
        modulus = 1 << self.own["share_bits"]
        total: int = (first + (second << LIMB)) % modulus
        return total if total <= people * (self.k - 1 + self.own["reach"]) else total - modulus

    def estimated(self, votes: Sequence[int], people: int, start: float, scale: float) -> Estimated:
        """``start`` and so many steps of width ``scale``, with limits by the law of the noise."""
        value = np.array([start + scale * self.total(votes, people)])
        rounded = people if self.family == "split" else 0

        def limits(tail: float) -> tuple[Array, Array]:
            far = scale * self._reach(people, rounded, tail)
            return value - far, value + far

        error = np.array([self.error(people, scale)])
        return Estimated(value, error, limits, math.sqrt(UNIT * people) * scale)

    def _reach(self, people: int, rounded: int, tail: float) -> float:
        above = self._above(people / self.own["honest"])
        if not rounded:
            return float(np.flatnonzero(above[1:] <= tail)[0])
        sharp = above[above >= SHARP]
        decay = -math.log1p(-float(1 - self.ratio))
        steepest = decay - max(math.log1p((people / self.own["honest"] - 1.0) / len(sharp)), 0.0)
        places = np.arange(1 - len(sharp), len(sharp))
        chances = np.append(1.0 - sharp[:0:-1], sharp)
        found: list[float] = []
        for slope in steepest * SLOPES:
            constant = float(np.max(np.log(chances) + slope * places))
            found.append((constant - math.log(tail)) / slope + slope * rounded / 8.0)
        return min(found)

    def _above(self, shape: float) -> Array:
        """P(A - B >= j), j = 0, 1, ..., for two negative binomial numbers, by convolving them."""
        success = float(1 - self.ratio)
        from scipy.signal import fftconvolve
        from scipy.stats import nbinom

        most = int(nbinom.isf(LEFT_OUT, shape, success)) + 2
        if most > MOST_STEPS:
            raise TooLarge(f"{most} steps of noise are too many to be convolved")
        one = nbinom.pmf(np.arange(most), shape, success)
        chances = np.maximum(fftconvolve(one, one[::-1])[most - 1 :], 0.0)
        return np.asarray(np.append(np.cumsum(chances[::-1])[::-1], 0.0))
