"""The sum or mean of numbers (Balle et al. 2019, Algorithms 2 and 3): round to a grid of k + 1
points, randomized response on those, shuffle.

With y the reported multiple of 1/k and gamma the chance of a uniformly random report, z = (sum of y
- n gamma / 2) / (1 - gamma) is unbiased; Var(y) is in ``rounding``. A finer grid rounds less but
needs more noise, as gamma is about c (k + 1) / n for one c.
"""

from __future__ import annotations

import inspect
import math
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp._types import Floats
from shuffledp.domain import MOST_LABELS, as_list, check_bounds, check_numbers, check_size, on_grid
from shuffledp.errors import DoesNotApply, InvalidInput, check_count, check_delta, check_epsilon, check_users
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.mechanisms.grids import best_grid
from shuffledp.mechanisms.rows import Scaled
from shuffledp.mechanisms.split_and_mix import Split
from shuffledp.protocols.bag import Bag, notes_of
from shuffledp.protocols.message_protocol import MessageProtocol
from shuffledp.protocols.protocol import FOUND, Family, Protocol, ShuffledProtocol
from shuffledp.questions.mean.question import MeanQuestion
from shuffledp.questions.sum.question import SumQuestion
from shuffledp.randomizers import KRR
from shuffledp.randomizers.messages import MessageLaw, SplitShares
from shuffledp.randomizers.messages.split_shares import bits_to_hold
from shuffledp.randomizers.support import VotingRandomizer
from shuffledp.sampling import Source
from shuffledp.wording import rounded
from shuffledp.workload import Ranges, Weights

__all__ = [
    "Mean",
    "Numbers",
    "Rounding",
    "SplitMean",
    "SplitSum",
    "StatisticalQuery",
    "Sum",
    "Summation",
    "lower_bound",
    "reachable",
]

Rounding = Literal["worst", "even", "none"]
ROUNDING = {"worst": 1.0 / 4.0, "even": 1.0 / 6.0, "none": 0.0}  # the mean of f (1 - f)


@dataclass(frozen=True, kw_only=True, eq=False)
class Numbers(Protocol):
    """Numbers from ``lower`` to ``upper``, rounded at random to a grid of ``k`` steps, whatever
    hides them.
    """

    assumed: ClassVar[tuple[Rounding, ...]] = ("worst",)
    mean: ClassVar[bool] = True  # the sum is divided by the number of people

    k: int = FOUND
    lower: float = 0.0
    upper: float = 1.0

    def _ask(self) -> None:
        low, high = check_bounds(self.lower, self.upper)
        self._set(lower=low, upper=high)

    @property
    def question(self) -> MeanQuestion | None:
        return (MeanQuestion if self.mean else SumQuestion)(lower=self.lower, upper=self.upper)

    def _unit(self, people: int) -> float:
        """What a sum of numbers in [0, 1] is multiplied by."""
        return (self.upper - self.lower) / (people if self.mean else 1)

    def _asked(self) -> dict[str, object]:
        return {"lower": self.lower, "upper": self.upper}

    def _numbers(self, values: Any) -> Floats:
        return check_numbers(values, self.lower, self.upper)

    def _places(self, values: Any, source: Source) -> NDArray[Any]:
        """Each number is rounded at random to one of its two neighbors on the grid, preserving its
        mean.
        """
        return on_grid(self._numbers(values), self.lower, self.upper, self.randomizer.k - 1, source)

    def workload(self, rounding: Rounding = "worst") -> Weights:
        return Weights.grid(
            type(self).__name__.lower().removeprefix("split"), self.randomizer.k - 1, drawn=ROUNDING[rounding]
        )

    def analyse_counts(
        self, counts: ArrayLike, *, rounding: Rounding = "worst", secure: bool = True, notes: tuple[str, ...] = ()
    ) -> Estimate:
        """The same from how often each grid point was reported: all that the bag says."""
        if rounding not in self.assumed:
            raise InvalidInput(
                f'rounding must be one of {", ".join(self.assumed)}, got {rounding!r}. "worst" assumes nothing.'
            )
        tally = self._opened(counts)
        found = self.hiding.estimate(tally, self.workload(rounding), secure=secure, notes=notes)
        base = self.lower * (1 if self.mean else tally.people)
        return replace(found, rows=Scaled(found.rows, self._unit(tally.people), base))

    def sway(self, estimate: Estimate) -> Floats:
        """A report is one point of the grid."""
        return super().sway(estimate) * self._unit(estimate.n)

    def worst_stderr(self) -> float:
        return super().worst_stderr() * self._unit(self.n)

    def predicted_stderr(self) -> float:
        """The standard error with all n users, for the worst data."""
        return self.worst_stderr()


@dataclass(frozen=True, kw_only=True, eq=False)
class Summation(Numbers, ShuffledProtocol):
    """Numbers by one noisy message of each user; k left out is the best for the worst data."""

    randomizer: VotingRandomizer = FOUND

    assumed = ("worst", "even", "none")

    def _ask(self) -> None:
        super()._ask()
        k = self.k
        if "randomizer" not in self._found:
            steps = self._check_randomizer(self.randomizer).k - 1
            if "k" not in self._found and k != steps:
                raise InvalidInput(f"k must be one less than the randomizer's, {steps}, got {k!r}. Leave it out.")
            k = steps
        elif "k" in self._found and self.epsilon is None:
            raise InvalidInput(
                "k must be given with epsilon0, got none. A grid can only be chosen for a promised epsilon and delta."
            )
        elif "k" in self._found:
            k = check_size("k", best_grid(self._target))
        self._set(
            k=check_count(
                "k",
                k,
                least=1,
                most=MOST_LABELS,
                remedy="It counts the steps of the grid; leave it out for the best.",
                beyond="It counts the steps of the grid; a coarser one rounds the numbers without bias, too.",
            )
        )

    def _check_randomizer(self, given: object) -> VotingRandomizer:
        """A report must name one point of the grid: how often each was named gives the mean."""
        randomizer = super()._check_randomizer(given)
        if not randomizer.single:
            raise InvalidInput(
                f"the randomizer of a {type(self).__name__} must name one point in each report, got {given!r}. Use "
                f"KRR(k=..., epsilon0=...)."
            )
        return randomizer

    def _family(self) -> tuple[Family, dict[str, int]]:
        return KRR, {"k": self.k + 1}

    @property
    def gamma(self) -> float:
        """The probability that a report is uniformly random, and says nothing."""
        return (self.k + 1) * self.randomizer.miss

    def analyse(self, bag: Bag, *, rounding: Rounding = "worst") -> Estimate:
        """The estimate and its standard error.

        Reports do not show how much of their spread is rounding; ``rounding`` says what to assume.
        "worst": every number may lie half-way between grid points, so the interval covers at least
        as often as it says, whatever the data. "even": numbers lie anywhere between grid points, as
        measurements do. "none": all are multiples of (upper - lower) / k, and the interval is exact
        again.
        """
        return self.analyse_counts(
            self.tally(self._open(bag)), rounding=rounding, secure=bag.secure, notes=notes_of(bag, self.n)
        )

    def at_ends(self, counts: ArrayLike) -> Estimate:
        """How many users' numbers were rounded to ``lower`` and to ``upper``, from the counts that
        ``analyse_counts`` takes: it costs no more privacy.

        These are all users at an end, to which wider numbers were perhaps clipped, and some of
        those less than a step, (upper - lower) / k, away from it. So each count is at least that of
        the numbers that were clipped there, and at most that of the numbers within a step of the
        end.

        >>> tight = Mean(n=1000, epsilon0=8.0, k=4, lower=0.0, upper=60.0)
        >>> reports = tight.encode(
        ...     np.minimum(np.arange(1000.0), 60.0), rng=np.random.default_rng(7)
        ... )
        >>> low, high = tight.at_ends(tight.tally(reports.rows)).interval()
        >>> bool(low[1] <= 940 + 15 and 940 <= high[1])
        True
        """
        ends = Ranges((self.lower, self.upper), ((0, 1), (self.k, self.k + 1)))
        return self.hiding.estimate(self._opened(counts), ends)

    @property
    def _noise_variance(self) -> float:
        """What random reports add to the variance of one report: gamma (k + 2) / (12 k)."""
        return self.gamma * (self.k + 2) / (12.0 * self.k)

    def predicted_stderr(self, values: Any = None) -> float:
        """The standard error with all n users: exact for given ``values``, and without them exact
        for the worst data.
        """
        if values is None:
            return self.worst_stderr()
        x = (self._numbers(values) - self.lower) / (self.upper - self.lower)
        part = x * self.k - np.floor(x * self.k)
        each = (1.0 - self.gamma) * (
            part * (1.0 - part) / self.k**2 + self.gamma * (x - 0.5) ** 2
        ) + self._noise_variance
        return math.sqrt(float(each.sum())) / self.randomizer.contrast * self._unit(len(x))

    @classmethod
    def printed(cls, *, n: int, epsilon: float, delta: float, **more: Any) -> Self:
        """The paper's own choice: k = ceil((n / c)^(1/3)) and gamma = c (k + 1) / n, with the c of
        Theorem 1, for comparison.
        """
        (n, _), epsilon, delta = check_users(n), check_epsilon(epsilon), check_delta(delta)
        if n < 2 or not 0.0 < epsilon <= 1.0:
            raise DoesNotApply(
                f"does not apply here: n must be at least 2 and epsilon in (0, 1], got {n} and {epsilon:g}."
            )
        c = max(14.0 * math.log(2.0 / delta) / epsilon**2, 27.0 / epsilon) * n / (n - 1)
        k = math.ceil((n / c) ** (1.0 / 3.0))
        if (gamma := c * (k + 1) / n) >= 1.0:
            raise DoesNotApply(
                f"does not apply here: gamma must be below 1, so n must be larger, got gamma = {gamma:.3g}."
            )
        return cls(n=n, epsilon0=KRR.from_gamma(k=k + 1, gamma=gamma).epsilon0, delta=delta, k=k, **more)

    def theorem_2(self) -> float:
        """The paper's bound on the error, as a standard error: sqrt(n ((1 - gamma) / (4 k^2) +
        gamma / 2)) / (1 - gamma), whatever the data.
        """
        variance = self.n * ((1.0 - self.gamma) / (4.0 * self.k**2) + self.gamma / 2.0)
        return math.sqrt(variance) / self.randomizer.contrast * self._unit(self.n)

    def theorem_3(self) -> float:
        """The least error of any protocol with one message per user, for the worst data, at the
        promised epsilon and delta.
        """
        if self.epsilon is None or self.delta is None:
            raise DoesNotApply("does not apply here: epsilon and delta must be promised, got only epsilon0.")
        return lower_bound(self.n, self.epsilon, self.delta) * self._unit(self.n)


@dataclass(frozen=True, kw_only=True, eq=False)
class Sum(Summation):
    """The sum of the users' numbers.

    >>> tally = Sum(n=1000, epsilon0=4.0, k=5)
    >>> estimate = tally.analyse(
    ...     tally.shuffle(
    ...         tally.encode(np.linspace(0.0, 1.0, 1000), rng=np.random.default_rng(7))
    ...     )
    ... )
    >>> abs(estimate.value - 500.0) < 4 * tally.predicted_stderr()
    True
    """

    mean = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Mean(Summation):
    """The mean of the numbers of the users who report.

    >>> Mean(n=1000, epsilon0=4.0, k=5, lower=-1.0, upper=1.0).bits
    3
    """


@dataclass(frozen=True, kw_only=True, eq=False)
class StatisticalQuery(Summation):
    """The mean over the users' records of ``query``, a function into [lower, upper] (Balle et al.
    2019, Corollary 1).

    ``name`` tells queries apart, and is by default where the function is defined. A lambda, or
    anything else that carries values of its own, is taken to be unlike all others unless it is
    named, so that no bag is analyzed as the answer to another question.

    >>> adults = StatisticalQuery(
    ...     query=lambda person: float(person["age"] >= 18), n=1000, epsilon0=4.0, k=1
    ... )
    >>> adults.shuffle(adults.encode([{"age": 30}] * 1000)).rows.dtype
    dtype('uint8')
    """

    query: Callable[[Any], float]
    name: str | None = None

    def _ask(self) -> None:
        if not callable(self.query):
            raise InvalidInput(f"query must be a function of one record, got {self.query!r}. Pass a def or a lambda.")
        self._set(name=_name_of(self.query) if self.name is None else _check_name(self.name))
        super()._ask()

    @property
    def question(self) -> None:
        """None: what it asks is code, and is not written down."""

    def _asked(self) -> dict[str, object]:
        return {**super()._asked(), "query": self.name}

    def _numbers(self, values: Iterable[Any]) -> Floats:
        if isinstance(values, np.ndarray):
            answers = [self.query(record) for record in values]
        else:
            answers = [
                self.query(record)
                for record in as_list("values", values, remedy="Pass a list with one record per user.")
            ]
        return check_numbers(answers, self.lower, self.upper)


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitSummation(Numbers, MessageProtocol):
    """Numbers with the accuracy of a trusted curator; k left out is fine enough for rounding to add
    little.

    Messages must be sealed to the analyst. One malicious person can move the answer anywhere: a
    share may be any number, and no share says whose it is.
    """

    makes = SplitShares

    def _ask(self) -> None:
        super()._ask()
        if "k" not in self._found:
            self._set(k=check_count("k", self.k, least=1, remedy="It counts the steps of the grid."))

    def _answers(self, law: MessageLaw) -> bool:
        if isinstance(law, SplitShares) and law.most_people < self.n:
            raise InvalidInput(
                f"share_bits must be at least {bits_to_hold(self.n, law.k, law.reach)} for {self.n:,} people, got "
                f"{law.share_bits}. Use more: a sum that wraps around would be another sum."
            )
        return isinstance(law, SplitShares) and self.k in (None, law.k - 1)

    def _calibrated(self) -> Split:
        return Split.calibrated(self._target, steps=self.k)


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitSum(SplitSummation):
    """The sum of the users' numbers.

    >>> total = SplitSum(n=10_000, epsilon=1.0, delta=1e-6)
    >>> bool(total.predicted_stderr() < 1.2 * 2.0**0.5), total.messages
    (True, 8)
    """

    mean = False


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitMean(SplitSummation):
    """The mean of the numbers of the users who report.

    >>> mean = SplitMean(n=10_000, epsilon=1.0, delta=1e-6, lower=0.0, upper=120.0)
    >>> sent = mean.encode(np.full(10_000, 35.0), rng=np.random.default_rng(7))
    >>> bool(abs(mean.analyse(mean.shuffle(sent)).value - 35.0) < 0.1)
    True
    """


def _name_of(query: Callable[[Any], float]) -> str:
    named = inspect.isclass(query) or inspect.isfunction(query) or inspect.isbuiltin(query)
    name = getattr(query, "__qualname__", "")
    if named and name and "<" not in name:
        return f"{query.__module__}.{name}"
    return f"unnamed {secrets.token_hex(8)}"


def _check_name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"name must be a string that tells queries apart, got {name!r}. Name what the query asks.")
    return name


def lower_bound(n: int, epsilon: float, delta: float) -> float:
    """Theorem 3 with its constants: a one-message (epsilon, delta)-DP protocol for sums of n
    numbers in [0, 1] errs at least this much.

    The proof holds for every k >= 2: MSE >= n k min(e^-eps / (8 k^3), (1 - 1/k^2) (1/2 - delta) /
    (48 n)); the best k is taken.
    """
    if delta >= 0.5:
        raise DoesNotApply(f"does not apply here: delta must be below 1/2, got {delta:g}.")
    crossing = (6.0 * n * math.exp(-epsilon) / (0.5 - delta)) ** (1.0 / 3.0)
    candidates = np.maximum(2.0, np.array([math.floor(crossing), math.ceil(crossing), math.ceil(crossing) + 1]))
    mse = (
        n
        * candidates
        * np.minimum(math.exp(-epsilon) / (8.0 * candidates**3), (1.0 - candidates**-2.0) * (0.5 - delta) / (48.0 * n))
    )
    return math.sqrt(float(mse.max()))


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
