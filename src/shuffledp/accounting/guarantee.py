"""What is certified about a mechanism, whatever it is made of: intervals for delta, epsilon, and
the curves between them, and the same in words: the theorem in use, what it assumes, and the other
bounds beside it.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from shuffledp._types import End, Floats
from shuffledp.accounting.accuracy import CURVE_GAP, DEFAULT_GAP, FARTHEST_DELTA, LARGEST_ORDER, SLACK, SOLVE_GAP
from shuffledp.accounting.curves import Band, Bound, Proof, convex, minorant
from shuffledp.accounting.inversion import crossing
from shuffledp.accounting.pld import LossDistribution
from shuffledp.errors import (
    LARGEST_EPSILON,
    LEAST_DELTA,
    CertificateError,
    InvalidInput,
    check_delta,
    check_epsilon,
    check_finite,
    check_probability,
    check_rounds,
    check_users,
)
from shuffledp.wording import reserved

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shuffledp.accounting.rounds import Parts

__all__ = [
    "Explanation",
    "Goal",
    "Guarantee",
    "Row",
    "check_delta",
    "check_epsilon",
    "check_order",
    "check_rounds",
    "check_users",
]

ALL = "shuffledp compare ... --patience inf"


@dataclass(frozen=True, slots=True)
class Row:
    """A bound on epsilon: which end, from where, and whether it holds without reserve."""

    side: str
    epsilon: float
    source: str
    unreserved: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """The certified epsilon at ``delta`` and how it came about; ``print`` it."""

    title: str
    delta: float
    bound: Bound
    rows: tuple[Row, ...]
    skipped: tuple[str, ...] = ()
    """The proven bounds that were not computed, as they take long."""

    @property
    def left(self) -> str:
        """Which bounds are missing from the rows, and how to see them."""
        return f"Left out, as they take long: {', '.join(self.skipped)}. For all bounds: {ALL}" if self.skipped else ""

    def source(self, row: Row) -> str:
        """Where a row comes from, and what it rests on that is not proven."""
        only = "" if row.side == "lower" or row.unreserved else reserved(self.bound.assumptions)
        return f"{row.source}, {only}" if only else row.source

    def __str__(self) -> str:
        """The answer in about twenty lines."""
        lines = [
            self.title,
            f"  epsilon lies in [{self.bound.lower:.6g}, {self.bound.upper:.6g}] at delta = {self.delta:g}"
            + (f", {only}" if (only := reserved(self.bound.assumptions)) else ""),
            f"  by the {self.bound.method}",
            "",
            "Every bound that was computed",
            *(f"  {row.side:<6} {row.epsilon:<12.6g} {self.source(row)}" for row in self.rows),
            *([self.left] if self.left else []),
            "",
            "It holds if",
            *(f"  - {assumption}" for assumption in self.bound.assumptions),
        ]
        return "\n".join(lines)

    __repr__ = __str__


Answer = TypeVar("Answer")
CURVE_POINTS = 65  # of a trade-off curve, closer to 0, where most of it comes from


class Guarantee(ABC):
    """What is certified about a mechanism: every answer is an interval with the true value."""

    method: str
    assumptions: tuple[str, ...]
    parts: Parts
    """The mechanisms in it, each with the number of its rounds; none in a curator's."""

    @abstractmethod
    def _end(self, end: End, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        """One end of delta at every epsilon >= 0."""

    @property
    @abstractmethod
    def ceiling(self) -> float:
        """An epsilon at which delta is certainly 0 (``math.inf`` if there is none)."""

    @abstractmethod
    def compose(self, rounds: int) -> Guarantee:
        """The same mechanism run ``rounds`` times over the same people, with fresh randomness."""

    @abstractmethod
    def pessimistic_loss(self, *, spacing: float) -> LossDistribution:
        """A loss distribution on multiples of ``spacing`` that dominates, in both orders."""

    @abstractmethod
    def rdp(self, *, order: float) -> Bound:
        """The Renyi divergence of ``order`` > 1, the larger of both directions."""

    def explain(self, *, delta: float) -> Explanation:
        """Which theorem, its assumptions, and every other bound beside it."""
        delta = check_delta(delta)
        bound = self.epsilon(delta=delta)
        rows, skipped = self._rows(delta, bound)
        return Explanation(self.describe(), delta, bound, tuple(sorted(rows, key=lambda row: -row.epsilon)), skipped)

    def _rows(self, delta: float, bound: Bound) -> tuple[list[Row], tuple[str, ...]]:
        """The bounds that ``explain`` lists, and the names of those that take too long."""
        return [Row("upper", bound.upper, bound.method), Row("lower", bound.lower, "explicit laws")], ()

    @abstractmethod
    def describe(self) -> str:
        """What it is, in one line; ``str`` says the same."""

    def __str__(self) -> str:
        """See ``describe``."""
        return self.describe()

    def delta(self, *, epsilon: float) -> Bound:
        """The smallest delta for which the mechanism is (epsilon, delta)-DP."""
        ends = self.delta_at_least(epsilon=epsilon), self.delta_at_most(epsilon=epsilon)
        return self._bound(*ends, self._method_at(epsilon), Goal(self, "delta", epsilon))

    def delta_at_most(self, *, epsilon: float, gap: float = DEFAULT_GAP) -> float:
        """The upper end of ``delta(epsilon=...)`` alone: half the work.

        With a wider ``gap`` it is larger by about that share, still valid, and sooner computed.
        """
        return self._delta_end("upper", check_epsilon(epsilon), gap)

    def delta_at_least(self, *, epsilon: float, gap: float = DEFAULT_GAP) -> float:
        """The lower end of ``delta(epsilon=...)`` alone; a wider ``gap`` makes it smaller."""
        return self._delta_end("lower", check_epsilon(epsilon), gap)

    def _delta_end(self, end: End, epsilon: float, gap: float) -> float:
        """One end of delta at one epsilon, computed once."""
        return self._once((end, epsilon, gap), lambda: float(self._end(end, np.array([epsilon]), gap)[0]))

    @cached_property
    def _answers(self) -> dict[tuple[object, ...], Any]:
        """What was asked already: certificate, ledger and page ask the same of one guarantee."""
        return {}

    def _once(self, asked: tuple[object, ...], answer: Callable[[], Answer]) -> Answer:
        if asked not in self._answers:
            self._answers[asked] = answer()
        found: Answer = self._answers[asked]
        return found

    def deltas(self, epsilons: ArrayLike, *, end: End, gap: float = DEFAULT_GAP) -> Floats:
        """One end of delta at many epsilons, as it is computed: valid at each of them, and not
        smoothed into a curve as ``profile`` does. For ``gap`` see ``delta_at_most``.

        Epsilons beyond all that ``delta`` answers are allowed here, where a curve may run on: delta
        falls, so that its upper end stays as it is there, and its lower end is 0.
        """
        at = _numbers("epsilons", epsilons)
        if not np.all(at >= 0.0):
            check_epsilon(float(at[~(at >= 0.0)][0]))
        values = self._end(end, np.minimum(at, LARGEST_EPSILON), gap)
        return np.where(at > LARGEST_EPSILON, 0.0, values) if end == "lower" else values

    def epsilon(self, *, delta: float) -> Bound:
        """The smallest epsilon for which the mechanism is (epsilon, delta)-DP."""
        lower, upper = self.epsilon_at_least(delta=delta), self.epsilon_at_most(delta=delta)
        return self._bound(lower, upper, self._method_at(upper), Goal(self, "epsilon", delta))

    def epsilon_at_most(self, *, delta: float) -> float:
        """The upper end of ``epsilon(delta=...)`` alone: half the work."""
        return self._solved("upper", check_delta(delta))

    def epsilon_at_least(self, *, delta: float) -> float:
        """The lower end of ``epsilon(delta=...)`` alone."""
        return self._solved("lower", check_delta(delta))

    def _solved(self, end: End, delta: float) -> float:
        """One end of epsilon, solved for once."""
        return self._once((end, delta), lambda: self._epsilon_end(end, delta))

    def _epsilon_end(self, end: End, delta: float) -> float:
        """One end of the epsilon that meets ``delta``; the curve behind it is taken for exact."""

        def exact(epsilons: Floats, gap: float) -> tuple[Floats, Floats]:
            values = self._end(end, epsilons, gap)
            return values, values

        return crossing(exact, delta, self.ceiling, end=end)

    def profile(self, epsilons: ArrayLike, *, gap: float = SOLVE_GAP) -> Band:
        """delta at many epsilons at once, decreasing and convex in e^epsilon at each end."""
        at = _epsilons(epsilons)
        points, back = np.unique(at, return_inverse=True)
        lower, upper = (
            convex(points, self._end(end, points, gap))[back].reshape(at.shape) for end in ("lower", "upper")
        )
        return Band(at, np.minimum(lower, upper), upper)

    def tradeoff(self, alphas: ArrayLike) -> Band:
        """The f-DP curve (Dong, Roth and Su 2022): the largest convex f such that no test with
        false alarms alpha misses less than f(alpha).

        It is the dual of delta(epsilon). Where different datasets are worst at different alpha,
        each one's own curve lies above it.
        """
        rates = _numbers("alphas", alphas)
        for alpha in rates.ravel():
            check_probability(
                "alpha", float(alpha), zero=True, one=True, remedy="alpha is the probability of a false alarm."
            )
        far = self._epsilon_end("upper", FARTHEST_DELTA)
        points = (far if math.isfinite(far) else 50.0) * np.linspace(0.0, 1.0, CURVE_POINTS) ** 1.5
        x = np.exp(points)
        upper = self._end("upper", points, CURVE_GAP)
        lower = minorant(x, self._end("lower", points, CURVE_GAP), upper)
        lower[-1] = 0.0  # nothing is claimed beyond the last point
        low, high = (_dual(rates, x, curve) for curve in (upper, lower))
        return Band(rates, np.minimum(low, high), high)

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        epsilons: ArrayLike | None = None,
        delta: float = 1e-6,
        title: str | None = None,
    ) -> Figure:
        """delta against epsilon, with and without a shuffler, as a matplotlib figure; with a
        ``path`` it is also written there. See ``shuffledp.figures.draw_curve``.
        """
        from shuffledp.figures.curve import draw_curve, save  # loaded when called

        figure = draw_curve(self, epsilons=epsilons, delta=delta, title=title)
        if path is not None:
            save(figure, path)
        return figure

    def _method_at(self, epsilon: float) -> str:
        """The theorem behind the upper end at epsilon, where there are several."""
        return self.method

    def _bound(self, lower: float, upper: float, method: str | None = None, goal: Goal | None = None) -> Bound:
        if not lower <= upper * (1.0 + SLACK) + 1e-300:
            raise CertificateError(
                f"the ends contradict each other: lower {lower!r}, upper {upper!r}. Please report this bug."
            )
        bound = Bound(min(lower, upper), upper, method or self.method, self.assumptions)
        return bound.answering(goal)


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """What a bound answers: ``asked`` of ``guarantee``, ``at`` this delta or epsilon."""

    guarantee: Guarantee
    asked: Literal["epsilon", "delta"]
    at: float

    @classmethod
    def of(cls, guarantee: Guarantee, delta: float | None, epsilon: float | None) -> Goal:
        """That of the one that is given."""
        if delta is not None and epsilon is None:
            return cls(guarantee, "epsilon", check_delta(delta))
        if epsilon is not None and delta is None:
            return cls(guarantee, "delta", check_epsilon(epsilon))
        raise InvalidInput(
            f"exactly one of delta and epsilon must be given, got {'neither' if delta is None else 'both'}. Pass one."
        )

    @property
    def given(self) -> Literal["epsilon", "delta"]:
        """The one that ``at`` is a value of."""
        return "delta" if self.asked == "epsilon" else "epsilon"

    def answer(self, scale: float = 1.0) -> Bound:
        """The certified ends, at a multiple of ``at``, or as close to it as may be asked."""
        if self.asked == "epsilon":
            return self.guarantee.epsilon(delta=min(max(self.at * scale, LEAST_DELTA), math.nextafter(1.0, 0.0)))
        return self.guarantee.delta(epsilon=min(self.at * scale, LARGEST_EPSILON))

    def proven(self, bound: Bound) -> Proof:
        """See ``Bound.proven``."""
        from shuffledp.literature.proof import prove  # loaded when called

        return prove(self, bound)


def _epsilons(values: ArrayLike) -> Floats:
    """Return ``values`` as an array of epsilons."""
    epsilons = _numbers("epsilons", values)
    for end in (epsilons.min(), epsilons.max()):
        check_epsilon(float(end))
    return epsilons


def _numbers(name: str, values: ArrayLike) -> Floats:
    """Return ``values`` as an array of at least one number."""
    try:
        array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be numbers, got {values!r}. Pass a list or an array of floats.") from None
    if array.size == 0:
        raise InvalidInput(f"{name} must hold at least one number, got none. Pass a list or an array of floats.")
    return array


def _dual(alphas: Floats, x: Floats, delta: Floats) -> Floats:
    """sup over x >= 1 of the two lines that (log x, delta)-DP puts under the trade-off curve."""
    flat = alphas.reshape(-1, 1)
    steep = 1.0 - delta - x * flat
    shallow = (1.0 - delta - flat) / x
    return np.asarray(np.clip(np.maximum(steep, shallow).max(axis=1), 0.0, 1.0).reshape(alphas.shape))


def check_order(value: object) -> float:
    """Return ``value`` as a Renyi order above 1."""
    order = check_finite("order", value, remedy="Renyi orders are above 1; 2 to 64 is usual.")
    if not 1.0 < order <= LARGEST_ORDER:
        raise InvalidInput(f"order must exceed 1 and be at most {LARGEST_ORDER:g}, got {order!r}. 2 to 64 is usual.")
    return order
