"""The sum or mean of numbers with the accuracy of a trusted curator: split and mix (Balle, Bell,
Gascon and Nissim 2020).

Each number is rounded at random to a grid of k points, gets its sender's share of discrete Laplace
noise, and is cut into shares that say nothing one by one. Rounding errs by sqrt(n) / 2 steps at
most and the noise by sqrt(2) (k - 1) / epsilon, so a grid of a few times epsilon sqrt(n / 8) steps
costs little; a finer one needs longer tables and more bits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput, check_count
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.mechanisms.rows import Scaled
from shuffledp.mechanisms.split_and_mix import Split
from shuffledp.protocols.bag import Reports
from shuffledp.protocols.lazily import settled
from shuffledp.protocols.message_protocol import MessageProtocol
from shuffledp.protocols.rounding import check_bounds, check_numbers, on_grid
from shuffledp.protocols.tasks import MeanTask, SumTask
from shuffledp.randomizers.messages import MessageLaw, SplitShares
from shuffledp.randomizers.messages.split_shares import bits_to_hold
from shuffledp.sampling import Rng, source_of
from shuffledp.wording import rounded
from shuffledp.workload import Weights

__all__ = ["SplitMean", "SplitSum", "SplitSummation", "reachable"]


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
        return Split.calibrated(self._target, steps=self.k).law

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

    def workload(self) -> Weights:
        return Weights.grid(self.task.name, self._steps)

    def analyse_counts(self, counts: ArrayLike, *, secure: bool = True, notes: tuple[str, ...] = ()) -> Estimate:
        """The estimate from the tally of a bag."""
        estimate = super().analyse_counts(counts, secure=secure, notes=notes)
        scale = 1.0 / self._divisor(estimate.n)
        rows = Scaled(estimate.rows, self._width * scale, estimate.n * self.lower * scale)
        return replace(estimate, rows=rows)

    def sway(self, estimate: Estimate) -> Floats:
        return super().sway(estimate) * self._width / self._divisor(estimate.n)

    @property
    def task(self) -> MeanTask:
        """The question, for a design."""
        return SumTask(self.lower, self.upper)

    def predicted_stderr(self) -> float:
        """The standard error with all n users, for the worst data."""
        return self.worst_stderr()

    def worst_stderr(self) -> float:
        return super().worst_stderr() * self._width / self._divisor(self.n)


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitSum(SplitSummation):
    """The sum of the users' numbers.

    >>> total = SplitSum(n=10_000, epsilon=1.0, delta=1e-6)
    >>> bool(total.predicted_stderr() < 1.2 * 2.0**0.5), total.messages
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
