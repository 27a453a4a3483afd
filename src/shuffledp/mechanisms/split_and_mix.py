"""The sum or mean of numbers with the accuracy of a trusted curator: split and mix (Balle, Bell,
Gascon and Nissim 2020).

Each number is rounded at random to a grid of k points, gets its sender's share of discrete Laplace
noise, and is cut into shares that say nothing one by one. Rounding errs by sqrt(n) / 2 steps at
most and the noise by sqrt(2) (k - 1) / epsilon, so a grid of a few times epsilon sqrt(n / 8) steps
costs little; a finer one needs longer tables and more bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput, check_count
from shuffledp.mechanisms.mechanism import Messages, Target, keeps
from shuffledp.mechanisms.results import Tally
from shuffledp.randomizers.messages import SplitShares
from shuffledp.randomizers.messages.message import LARGEST_DECAY
from shuffledp.randomizers.messages.split_shares import MOST_BITS, bits_to_hold
from shuffledp.randomizers.randomizer import Ints
from shuffledp.workload import Weights, Workload

if TYPE_CHECKING:
    from shuffledp.mechanisms.rows import Rows

FINE = 3.0  # the grid's steps over those at which rounding errs as much as the noise
LONGEST = 1 << 20  # entries of a table of noise
CUT = 0.02  # the share of delta that may go to what a table cuts off
MIXED = 0.9  # the share that may go to what mixed shares show beyond their sum
LEAST_PEOPLE = 19
NEAR = 1e-3  # how far from the largest loss of a round that keeps a promise for several, relatively
HOPELESS = 1e-6  # of epsilon: no round gives away less
SURE = 1e-9  # honest people's sum is refused so rarely


@dataclass(frozen=True, eq=False)
class Split(Messages):
    """Messages must be sealed to the analyst. One malicious person can move the answer anywhere: a
    share may be any number, and no share says whose it is.
    """

    title = "split and mix (sealed; anybody can move it)"

    law: SplitShares

    @classmethod
    def calibrate(cls, question: Any, target: Target, name: str, *, k: int | None = None) -> Self:
        """On a grid of ``k`` steps, or of enough for rounding to add little."""
        if k is not None:
            k = check_count("k", k, least=1, remedy="It counts the steps of the grid.")
        if target.honest < LEAST_PEOPLE:
            raise InvalidInput(
                f"honest people must number at least {LEAST_PEOPLE} for shares to hide a number, got {target.honest}. "
                f"Ask more people, or take a mean of one message each."
            )
        honest, epsilon, delta, rounds = target.terms
        return cls(_fewest(target.n, honest, min(epsilon, LARGEST_DECAY), delta, rounds, k))

    def answering(self, question: Any, n: int) -> Self:
        law = super().answering(question, n).law
        if law.most_people < n:
            raise InvalidInput(
                f"share_bits must be at least {bits_to_hold(n, law.k, law.reach)} for {n:,} people, got "
                f"{law.share_bits}. Use more: a sum that wraps around would be another sum."
            )
        return self

    def answers(self, workload: Workload) -> bool:
        return isinstance(workload, Weights)

    def _rows(self, tally: Tally, workload: Workload) -> Rows:
        """Limits cover at least as often as they say, whatever the numbers are: each may lie
        half-way between two points of the grid. Shares of several rounds could wrap around: their
        totals are added up.
        """
        from shuffledp.mechanisms.rows import Scaled, SharedNoise

        law, reports = self.law, tally.reports
        total = np.array([float(sum(law.total(each) for each in tally.checked().rounds))])
        variance = law.noise_variance(reports) + reports / 4.0
        steps = SharedNoise(total, reports / law.honest, float(law.ratio), variance, reports)
        return Scaled(steps, workload.spread / (law.k - 1))

    def predicted(self, workload: Workload, held: Any) -> Floats:
        """For the worst data."""
        return np.array([self.law.expected_stderr(round(float(np.sum(held)))) * workload.spread])

    def check(self, counts: Ints, honest: int) -> None:
        """Refuse a sum that least people's numbers and noise make once in a billion times."""
        from shuffledp.mechanisms.exact_limits import noise_reach

        law, steps = self.law, self.law.k - 1
        people, total = law.opened(counts)[0], law.total(counts)
        far = noise_reach(people / law.honest, float(law.ratio), 0, SURE)
        if not -far <= total <= people * steps + far:
            raise InvalidInput(
                f"shares must add up to what {people:,} people's numbers can, got {total / steps:,.6g} where at most "
                f"{people:,} are possible. Somebody sent other shares than the law's, and one such person can move "
                f"the sum anywhere: collect again."
            )


@lru_cache(maxsize=64)
def _fewest(n: int, honest: int, epsilon: float, delta: float, rounds: int, steps: int | None) -> SplitShares:
    """The law with the least noise, and the fewest messages for it, that keeps a promise."""

    def law(loss: float) -> SplitShares:
        return _law(n, honest, epsilon, loss, delta / rounds, steps)

    for whole in (epsilon, epsilon * (1.0 - 1e-9)):  # of one round; the second is for what rounding costs
        if keeps(law(whole), honest, epsilon, delta, rounds):
            return law(whole)
    low, high, found = 0.0, epsilon, None
    while high - low > NEAR * high and high > HOPELESS * epsilon:
        middle = (low + high) / 2.0
        if keeps(tried := law(middle), honest, epsilon, delta, rounds):
            low, found = middle, tried
        else:
            high = middle
    if found is None:
        raise InvalidInput(
            f"epsilon and delta must leave room for an answer, got {epsilon:g} and {delta:g} for {rounds} rounds. "
            f"Allow more."
        )
    return found


def _law(n: int, honest: int, epsilon: float, loss: float, delta: float, steps: int | None) -> SplitShares:
    """The law whose noise gives away ``loss``, on a grid that is fine enough, with room for
    ``delta``.
    """
    from shuffledp.accounting.messages.sums import least_messages

    rare = CUT * delta / (1.0 + math.exp(epsilon))
    scales = math.log(4.0 / rare) + 1.0  # so many times 1 / decay and no farther
    if steps is None:
        steps = _fine_enough(n, loss, scales)
    decay = loss / steps
    reach = math.ceil(scales / decay)
    bits = bits_to_hold(n, steps + 1, reach)
    if bits > MOST_BITS:
        raise InvalidInput(
            f"people and steps of the grid must be few enough for sums of {MOST_BITS} bits, got {n:,} people and "
            f"{steps:,} steps. Use a coarser grid (k), a larger epsilon, or fewer people."
        )
    messages = least_messages(honest, 1 << bits, MIXED * delta / (1.0 + math.exp(epsilon)))
    return SplitShares(k=steps + 1, honest=honest, decay=decay, share_bits=bits, messages=messages, reach=reach)


def _fine_enough(n: int, loss: float, scales: float) -> int:
    """The steps of a grid that rounds by little against the noise; fewer where a table would be too
    long, or where sums of so many people would not fit: rounding then errs more, which the standard
    error says.
    """
    longest = LONGEST * loss / scales
    fitting = ((1 << MOST_BITS) / n - 2.0) / (1.0 + 2.0 * scales / loss)  # bits_to_hold, reach = scales steps / loss
    return max(1, math.floor(min(math.ceil(FINE * loss * math.sqrt(n / 8.0)), longest, fitting)))
