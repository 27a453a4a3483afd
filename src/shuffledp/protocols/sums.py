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
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from shuffledp._types import Floats
from shuffledp.errors import DoesNotApply, InvalidInput, check_count, check_delta, check_epsilon, check_users
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.mechanisms.one_message import strongest
from shuffledp.mechanisms.rows import Scaled
from shuffledp.protocols.bag import Bag, Reports, notes_of
from shuffledp.protocols.categories import LARGEST, as_list, check_size
from shuffledp.protocols.lazily import settled
from shuffledp.protocols.protocol import Family, ShuffledProtocol
from shuffledp.protocols.rounding import check_bounds, check_numbers, on_grid, worst_variance
from shuffledp.protocols.tasks import MeanTask, SumTask
from shuffledp.randomizers import KRR
from shuffledp.randomizers.support import VotingRandomizer
from shuffledp.sampling import Rng, source_of
from shuffledp.workload import Ranges, Weights

__all__ = [
    "LocalMean",
    "Mean",
    "Rounding",
    "StatisticalQuery",
    "Sum",
    "guessed_grid",
    "lower_bound",
]

Rounding = Literal["worst", "even", "none"]
ROUNDING = {"worst": 1.0 / 4.0, "even": 1.0 / 6.0, "none": 0.0}  # the mean of f (1 - f)
COARSE = 4
TINY = 1e-12
HARDLY_ONE = 2.0 - 1e-9  # random reports on average: with fewer, most collections hold none, or one


@dataclass(frozen=True, kw_only=True, eq=False)
class Summation(ShuffledProtocol):
    """Numbers from ``lower`` to ``upper``, rounded at random to a grid of ``k`` steps; k left out
    is the best for the worst data.
    """

    k: int = settled()
    lower: float = 0.0
    upper: float = 1.0

    def _prepare(self) -> None:
        low, high = check_bounds(self.lower, self.upper)
        k, randomizer = vars(self)["k"], vars(self)["randomizer"]
        if randomizer is not None:
            steps = self._check_randomizer(randomizer).k - 1
            if k not in (None, steps):
                raise InvalidInput(f"k must be one less than the randomizer's, {steps}, got {k!r}. Leave it out.")
            k = steps
        if k is not None:
            k = check_count(
                "k",
                k,
                least=1,
                most=LARGEST,
                remedy="It counts the steps of the grid; leave it out for the best.",
                beyond="It counts the steps of the grid; a coarser one rounds the numbers without bias, too.",
            )
        elif self.epsilon is None:
            raise InvalidInput(
                "k must be given with epsilon0, got none. A grid can only be chosen for a promised epsilon and delta."
            )
        self._set(lower=low, upper=high, k=k)
        super()._prepare()

    def settle(self) -> Self:
        """Choose the grid, if it was left out, and then the noise."""
        if vars(self)["k"] is None:
            self._set(k=check_size("k", self._best_k()))
        return super().settle()

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

    def _best_k(self) -> int:
        """The grid with the least error for the worst data, under the noise that each grid is
        certified to need.

        c = n gamma / (k + 1) changes slowly with k: it is interpolated between the grids calibrated
        so far, until the best grid is one of those.
        """
        epsilon, delta, _ = self._promised()
        first = guessed_grid(self.n, epsilon, delta)
        known = {k: self._constant(k) for k in (first, 2 * first)}
        while True:
            k = _argmin(self.n, known)
            # coarse grids are few and far between, so their neighbours are calibrated, not
            # interpolated
            wanted = [each for each in ((k - 1, k, k + 1) if k <= COARSE else (k,)) if each >= 1 and each not in known]
            if not wanted:
                return k
            known.update((each, self._constant(each)) for each in wanted)

    def _constant(self, k: int) -> float:
        """c = n gamma / (k + 1) for the largest epsilon0 that is certified to keep the promise with
        k steps.
        """
        epsilon0 = strongest(KRR, (("k", k + 1),), self._crowd(self.honest), *self._promised())
        return self.n * KRR(k=k + 1, epsilon0=epsilon0).gamma / (k + 1)

    @property
    def gamma(self) -> float:
        """The probability that a report is uniformly random, and says nothing."""
        return (self.k + 1) * self.randomizer.miss

    @property
    def _width(self) -> float:
        return self.upper - self.lower

    def describe(self) -> dict[str, object]:
        bounds = {"lower": self.lower, "upper": self.upper}
        return {"protocol": type(self).__name__, "n": self.n, **bounds, **self.randomizer.describe()}

    def encode(self, values: Any, *, rng: Rng = None) -> Reports:
        """One report per number; each is first rounded at random to one of its two neighbors on
        the grid, preserving its mean.
        """
        numbers, source = self._numbers(values), source_of(rng)
        places = on_grid(numbers, self.lower, self.upper, self.k, source)
        return Reports(self.describe(), self.randomizer.randomize(places, rng=source), source.secure)

    def _numbers(self, values: Any) -> Floats:
        return check_numbers(values, self.lower, self.upper)

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

    def analyse_counts(
        self, counts: ArrayLike, *, rounding: Rounding = "worst", secure: bool = True, notes: tuple[str, ...] = ()
    ) -> Estimate:
        """The same from how often each grid point was reported: all that the bag says."""
        if rounding not in ROUNDING:
            raise InvalidInput(
                f'rounding must be one of {", ".join(ROUNDING)}, got {rounding!r}. "worst" assumes nothing.'
            )
        estimate = self.hiding.estimate(self._opened(counts), self.workload(rounding), secure=secure, notes=notes)
        m = estimate.n
        rows = Scaled(estimate.rows, self._width / self._divisor(m), m * self.lower / self._divisor(m))
        return replace(estimate, rows=rows)

    def workload(self, rounding: Rounding = "worst") -> Weights:
        return Weights.grid(type(self).__name__.lower(), self.k, drawn=ROUNDING[rounding])

    def sway(self, estimate: Estimate) -> Floats:
        """A report is one point of the grid."""
        return super().sway(estimate) * self._width / self._divisor(estimate.n)

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

    def _divisor(self, reports: int) -> int:
        """1 for a sum, the number of reports for a mean."""
        return reports

    def worst_stderr(self) -> float:
        return super().worst_stderr() * self._width / self._divisor(self.n)

    def predicted_stderr(self, values: Any = None) -> float:
        """The standard error with all n users: exact for given ``values``, and without them exact
        for the worst data.
        """
        if values is None:
            return self.worst_stderr()
        x = (self._numbers(values) - self.lower) / self._width
        part = x * self.k - np.floor(x * self.k)
        each = (1.0 - self.gamma) * (
            part * (1.0 - part) / self.k**2 + self.gamma * (x - 0.5) ** 2
        ) + self._noise_variance
        return math.sqrt(float(each.sum())) / self.randomizer.contrast * self._width / self._divisor(len(x))

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
        return math.sqrt(variance) / self.randomizer.contrast * self._width / self._divisor(self.n)

    def theorem_3(self) -> float:
        """The least error of any protocol with one message per user, for the worst data, at the
        promised epsilon and delta.
        """
        if self.epsilon is None or self.delta is None:
            raise DoesNotApply("does not apply here: epsilon and delta must be promised, got only epsilon0.")
        return lower_bound(self.n, self.epsilon, self.delta) * self._width / self._divisor(self.n)


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

    @property
    def task(self) -> SumTask:
        """The question, for a design."""
        return SumTask(self.lower, self.upper)

    def _divisor(self, reports: int) -> int:
        return 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Mean(Summation):
    """The mean of the numbers of the users who report.

    >>> Mean(n=1000, epsilon0=4.0, k=5, lower=-1.0, upper=1.0).bits
    3
    """

    @property
    def task(self) -> MeanTask:
        """The question, for a design."""
        return MeanTask(self.lower, self.upper)


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalMean(Summation):
    """The same reports without a shuffler, for comparison: every report must hide its sender by
    itself.

    >>> LocalMean(n=1000, epsilon=1.0, delta=1e-6).k
    1
    """

    def _crowd(self, honest: int | None) -> int:
        """Whoever sees the reports sees who sent which."""
        return 1


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

    def _prepare(self) -> None:
        if not callable(self.query):
            raise InvalidInput(f"query must be a function of one record, got {self.query!r}. Pass a def or a lambda.")
        self._set(name=_name_of(self.query) if self.name is None else _check_name(self.name))
        super()._prepare()

    def describe(self) -> dict[str, object]:
        return {**super().describe(), "query": self.name}

    def _numbers(self, values: Iterable[Any]) -> Floats:
        if isinstance(values, np.ndarray):
            answers = [self.query(record) for record in values]
        else:
            answers = [
                self.query(record)
                for record in as_list("values", values, remedy="Pass a list with one record per user.")
            ]
        return check_numbers(answers, self.lower, self.upper)


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


def guessed_grid(n: int, epsilon: float, delta: float) -> int:
    """About the best number of steps for a promise, before anything is calibrated."""
    constant = 3.0 * math.log(1.0 / delta) / max(min(epsilon, epsilon**2), TINY)
    return max(2, _argmin(n, {1: constant}))


def _argmin(n: int, known: dict[int, float]) -> int:
    """The k with the least worst-case error when gamma = c (k + 1) / n, and log c is interpolated
    in log k between ``known`` ones.
    """
    grids, (steps, constants) = np.arange(1.0, 8.0 + 4.0 * n ** (1.0 / 3.0)), zip(*sorted(known.items()), strict=True)
    gammas = np.exp(np.interp(np.log(grids), np.log(steps), np.log(constants))) * (grids + 1.0) / n
    allowed = gammas < 1.0
    if not allowed.any():
        return 1
    errors = worst_variance(grids[allowed], gammas[allowed]) / (1.0 - gammas[allowed]) ** 2
    return int(grids[allowed][np.argmin(errors)])
