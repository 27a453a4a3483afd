"""The sum or mean of numbers with the accuracy of a trusted curator: split and mix (Balle, Bell,
Gascon and Nissim 2020).

Each number is rounded at random to a grid of k points, gets its sender's share of discrete Laplace
noise, and is cut into shares that say nothing one by one. Rounding errs by sqrt(n) / 2 steps at
most and the noise by sqrt(2) (k - 1) / epsilon, so a grid of a few times epsilon sqrt(n / 8) steps
costs little; a finer one needs longer tables and more bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shuffledp.accounting.messages.sums import least_messages
from shuffledp.accounting.shuffled import shuffle
from shuffledp.errors import InvalidInput, check_count
from shuffledp.protocols.bag import Reports
from shuffledp.protocols.estimate import Estimate, Noise
from shuffledp.protocols.lazily import settled
from shuffledp.protocols.message_protocol import MessageProtocol
from shuffledp.protocols.rounding import check_bounds, check_numbers, on_grid
from shuffledp.protocols.shared_noise_limits import SharedNoise, noise_reach
from shuffledp.protocols.tasks import MeanTask, SumTask
from shuffledp.randomizers.messages import MessageLaw, SplitShares
from shuffledp.randomizers.messages.message import LARGEST_DECAY
from shuffledp.randomizers.messages.split_shares import MOST_BITS, bits_to_hold
from shuffledp.sampling import Rng, source_of
from shuffledp.wording import rounded

__all__ = ["SplitMean", "SplitSum", "SplitSummation", "reachable"]

FINE = 3.0  # the grid's steps over those at which rounding errs as much as the noise
LONGEST = 1 << 20  # entries of a table of noise
CUT = 0.02  # the share of delta that may go to what a table cuts off
MIXED = 0.9  # the share that may go to what mixed shares show beyond their sum
LEAST_PEOPLE = 19
NEAR = 1e-3  # how far from the largest loss of a round that keeps a promise for several, relatively
HOPELESS = 1e-6  # of epsilon: no round gives away less
SURE = 1e-9  # honest people's sum is refused so rarely


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitSummation(MessageProtocol):
    """Numbers from ``lower`` to ``upper``, rounded at random to a grid of ``k`` steps; k left out
    is fine enough for rounding to add little.

    Messages must be sealed to the analyst. One malicious person can move the answer anywhere: a
    share may be any number, and no share says whose it is.
    """

    randomizer: SplitShares = settled()
    k: int | None = None
    lower: float = 0.0
    upper: float = 1.0

    def _prepare(self) -> None:
        low, high = check_bounds(self.lower, self.upper)
        if self.k is not None:
            self._set(k=check_count("k", self.k, least=1, remedy="It counts the steps of the grid."))
        self._set(lower=low, upper=high)
        super()._prepare()

    def _answers(self, law: MessageLaw) -> bool:
        if isinstance(law, SplitShares) and law.most_people < self.n:
            raise InvalidInput(
                f"share_bits must be at least {bits_to_hold(self.n, law.k, law.reach)} for {self.n:,} people, got "
                f"{law.share_bits}. Use more: a sum that wraps around would be another sum."
            )
        return isinstance(law, SplitShares) and self.k in (None, law.k - 1)

    def _calibrated(self) -> SplitShares:
        epsilon, delta, rounds = self._promised()
        honest = self._crowd(self.honest)
        if honest < LEAST_PEOPLE:
            raise InvalidInput(
                f"honest people must number at least {LEAST_PEOPLE} for shares to hide a number, got {honest}. Ask "
                f"more people, or take a mean of one message each."
            )
        return _fewest(self.n, honest, min(epsilon, LARGEST_DECAY), delta, rounds, self.k)

    @property
    def _steps(self) -> int:
        return self.randomizer.k - 1

    @property
    def _width(self) -> float:
        return self.upper - self.lower

    def _divisor(self, reports: int) -> int:
        """1 for a sum, the number of people for a mean."""
        return 1

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "lower": self.lower, "upper": self.upper}

    def encode(self, values: Any, *, rng: Rng = None) -> Reports:
        """The shares of each number, which is first rounded at random to one of its two neighbors
        on the grid, preserving its mean.
        """
        numbers, source = check_numbers(values, self.lower, self.upper), source_of(rng)
        places = on_grid(numbers, self.lower, self.upper, self._steps, source)
        return Reports(self.describe(), self.randomizer.randomize(places, rng=source), source.secure)

    def check_noise(self, counts: ArrayLike) -> None:
        """Refuse a sum that honest people's numbers and noise make once in a billion times."""
        law, tally = self.randomizer, np.asarray(counts)
        people, total = law.opened(tally).people, law.total(tally)
        far = noise_reach(people / law.honest, float(law.ratio), 0, SURE)
        if not -far <= total <= people * self._steps + far:
            raise InvalidInput(
                f"shares must add up to what {people:,} people's numbers can, got {total / self._steps:,.6g} where at "
                f"most {people:,} are possible. Somebody sent other shares than the law's, and one such person can "
                f"move the sum anywhere: collect again."
            )

    def analyse_counts(self, counts: ArrayLike, *, secure: bool = True, notes: tuple[str, ...] = ()) -> Estimate:
        """The estimate from the tally of a bag. Its interval covers at least as often as it says,
        whatever the numbers are: each may lie half-way between two points of the grid.
        """
        law, tally, people = self.randomizer, np.asarray(counts), self._opened(counts).people
        step = self._width / self._steps / self._divisor(people)
        value = np.array([people * self.lower / self._divisor(people) + step * law.total(tally)])
        exact = SharedNoise(value, people, shape=people / law.honest, ratio=float(law.ratio), step=step, rounded=people)
        variance = (law.noise_variance(people) + people / 4.0) * step**2
        noise = replace(Noise.constant(np.array([variance])), law=exact)
        name = self.task.name
        return Estimate((name,), value, noise.stderr(value), people, value, noise, secure, notes)

    @property
    def task(self) -> MeanTask:
        """The question, for a design."""
        return SumTask(self.lower, self.upper)

    def predicted_stderr(self) -> float:
        """The standard error with all n users, for the worst data."""
        return self.randomizer.expected_stderr(self.n) * self._width / self._divisor(self.n)


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitSum(SplitSummation):
    """The sum of the users' numbers.

    >>> total = SplitSum(n=10_000, epsilon=1.0, delta=1e-6)
    >>> bool(total.predicted_stderr() < 1.2 * math.sqrt(2.0)), total.messages
    (True, 8)
    """


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitMean(SplitSummation):
    """The mean of the numbers of the users who report.

    >>> mean = SplitMean(n=10_000, epsilon=1.0, delta=1e-6, lower=0.0, upper=120.0)
    >>> sent = mean.encode(np.full(10_000, 35.0), rng=np.random.default_rng(7))
    >>> bool(abs(mean.analyse(mean.shuffle(sent)).value - 35.0) < 0.1)
    True
    """

    def _divisor(self, reports: int) -> int:
        return reports

    @property
    def task(self) -> MeanTask:
        return MeanTask(self.lower, self.upper)


@lru_cache(maxsize=64)
def _fewest(n: int, honest: int, epsilon: float, delta: float, rounds: int, steps: int | None) -> SplitShares:
    """The law with the least noise, and the fewest messages for it, that keeps a promise."""

    def law(loss: float) -> SplitShares:
        return _law(n, honest, epsilon, loss, delta / rounds, steps)

    for whole in (epsilon, epsilon * (1.0 - 1e-9)):  # of one round; the second is for what rounding costs
        if _keeps(law(whole), epsilon, delta, rounds):
            return law(whole)
    low, high, found = 0.0, epsilon, None
    while high - low > NEAR * high and high > HOPELESS * epsilon:
        middle = (low + high) / 2.0
        if _keeps(tried := law(middle), epsilon, delta, rounds):
            low, found = middle, tried
        else:
            high = middle
    if found is None:
        raise InvalidInput(
            f"epsilon and delta must leave room for an answer, got {epsilon:g} and {delta:g} for {rounds} rounds. "
            f"Allow more."
        )
    return found


def _keeps(law: SplitShares, epsilon: float, delta: float, rounds: int) -> bool:
    return shuffle(law, n=law.honest).compose(rounds).delta_at_most(epsilon=epsilon) <= delta


def _law(n: int, honest: int, epsilon: float, loss: float, delta: float, steps: int | None) -> SplitShares:
    """The law whose noise gives away ``loss``, on a grid that is fine enough, with room for
    ``delta``.
    """
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


def reachable(protocols: list[Any], *, most_messages: int | None, most_error: float | None) -> Any:
    """Of protocols for one question the one with the fewest messages that errs by at most
    ``most_error``, or, where none is asked for, the one that errs least.
    """
    short = [each for each in protocols if most_messages is None or each.messages <= most_messages]
    if not short:
        few = min(each.messages for each in protocols)
        raise InvalidInput(f"messages must be at least {few} here, got {most_messages}. Allow more.")
    if most_error is None:
        return min(short, key=lambda each: each.predicted_stderr())
    sharp = [each for each in short if each.predicted_stderr() <= most_error]
    if not sharp:
        best = min(short, key=lambda each: each.predicted_stderr())
        raise InvalidInput(
            f"error must be at least {rounded(best.predicted_stderr(), up=True)}, which {best.messages} message"
            f"{'s' * (best.messages > 1)} of each person reach{'es' * (best.messages == 1)}, got {most_error:g}. Allow "
            f"a larger error or epsilon, more messages, or ask more people."
        )
    return min(sharp, key=lambda each: each.messages)
