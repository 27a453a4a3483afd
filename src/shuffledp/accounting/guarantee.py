"""What is certified about a mechanism, whatever it is made of: intervals for delta, epsilon, and
the curves between them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np

from shuffledp.accounting.curves import SOLVE_GAP, Band, Bound, convex, crossing, minorant
from shuffledp.accounting.explanation import Explanation
from shuffledp.accounting.haystack import DEFAULT_GAP
from shuffledp.accounting.pld import LossDistribution
from shuffledp.errors import CertificateError, InvalidInput, check_count, check_finite, check_probability
from shuffledp.randomizers.randomizer import End, Floats

__all__ = [
    "CURVE_GAP",
    "MOST_ROUNDS",
    "Guarantee",
    "check_delta",
    "check_epsilon",
    "check_order",
    "check_rounds",
    "check_users",
]

CURVE_GAP = 2e-4  # for curves of many points, such as PLDs are made of
FARTHEST_DELTA = 1e-9  # trade-off curves are drawn from the epsilons up to the one that meets this
CURVE_POINTS = 65  # of them, closer to 0, where most of the curve comes from
MOST_USERS = 10**15
MOST_ROUNDS = 10**7
LARGEST_EPSILON = 700.0
LARGEST_ORDER = 1024.0


class Guarantee(ABC):
    """What is certified about a mechanism: every answer is an interval that contains the true
    value.
    """

    method: str
    assumptions: tuple[str, ...]

    @abstractmethod
    def _end(self, end: End, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        """One end of delta at every epsilon >= 0."""

    @property
    @abstractmethod
    def ceiling(self) -> float:
        """An epsilon at which delta is certainly 0 (``math.inf`` if there is none)."""

    @abstractmethod
    def compose(self, rounds: int) -> Guarantee:
        """The same mechanism run ``rounds`` times over the same users, with fresh randomness every
        time.
        """

    @abstractmethod
    def pessimistic_loss(self, *, spacing: float) -> LossDistribution:
        """A privacy loss distribution on the grid of multiples of ``spacing`` that dominates the
        mechanism, in both orders.
        """

    @abstractmethod
    def rdp(self, *, order: float) -> Bound:
        """The Renyi divergence of ``order`` > 1, the larger of both directions."""

    @abstractmethod
    def explain(self, *, delta: float) -> Explanation:
        """Which theorem, its assumptions, and every other bound beside it."""

    def delta(self, *, epsilon: float) -> Bound:
        """The smallest delta for which the mechanism is (epsilon, delta)-DP."""
        epsilon = check_epsilon(epsilon)
        lower, upper = (float(self._end(end, np.array([epsilon]))[0]) for end in ("lower", "upper"))
        return self._bound(lower, upper)

    def epsilon(self, *, delta: float) -> Bound:
        """The smallest epsilon for which the mechanism is (epsilon, delta)-DP."""
        delta = check_delta(delta)
        return self._bound(self._epsilon_end("lower", delta), self._epsilon_end("upper", delta))

    def _epsilon_end(self, end: End, delta: float) -> float:
        """One end of the epsilon that meets ``delta``."""
        return crossing(lambda epsilons, gap: self._both(end, epsilons, gap), delta, self.ceiling, end=end)

    def _both(self, end: End, epsilons: Floats, gap: float) -> tuple[Floats, Floats]:
        """Both numerical ends of the curve behind ``_end``; here it is taken for exact."""
        values = self._end(end, epsilons, gap)
        return values, values

    def delta_at_most(self, *, epsilon: float, gap: float = DEFAULT_GAP) -> float:
        """The upper end of ``delta(epsilon=...)`` alone, for those who read nothing else: half the
        work.

        With a wider ``gap`` it is larger by about that share, still valid, and sooner there.
        """
        return float(self._end("upper", np.array([check_epsilon(epsilon)]), gap)[0])

    def epsilon_at_most(self, *, delta: float) -> float:
        """The upper end of ``epsilon(delta=...)`` alone."""
        return self._epsilon_end("upper", check_delta(delta))

    def profile(self, epsilons: Floats, *, gap: float = SOLVE_GAP) -> Band:
        """delta at many epsilons at once; each end is decreasing and convex in e^epsilon. For
        ``gap`` see ``delta_at_most``.
        """
        epsilons = _numbers("epsilons", epsilons)
        for epsilon in epsilons.ravel():
            check_epsilon(float(epsilon))
        points, back = np.unique(epsilons, return_inverse=True)
        lower, upper = (
            convex(points, self._end(end, points, gap))[back].reshape(epsilons.shape) for end in ("lower", "upper")
        )
        return Band(epsilons, np.minimum(lower, upper), upper)

    def tradeoff(self, alphas: Floats) -> Band:
        """The f-DP curve (Dong, Roth and Su 2022): the largest convex f such that no test with
        false alarms alpha misses less than f(alpha).

        It is the dual of delta(epsilon). Where different datasets are worst at different alpha,
        each one's own curve lies above it.
        """
        alphas = _numbers("alphas", alphas)
        for alpha in alphas.ravel():
            check_probability(
                "alpha", float(alpha), zero=True, one=True, remedy="alpha is the probability of a false alarm."
            )
        far = self._epsilon_end("upper", FARTHEST_DELTA)
        points = (far if math.isfinite(far) else 50.0) * np.linspace(0.0, 1.0, CURVE_POINTS) ** 1.5
        x = np.exp(points)
        upper = self._end("upper", points, CURVE_GAP)
        lower = minorant(x, self._end("lower", points, CURVE_GAP), upper)
        lower[-1] = 0.0  # nothing is claimed beyond the last point
        low, high = (_dual(alphas, x, curve) for curve in (upper, lower))
        return Band(alphas, np.minimum(low, high), high)

    def _bound(self, lower: float, upper: float) -> Bound:
        if not lower <= upper * (1.0 + 1e-9) + 1e-300:
            raise CertificateError(
                f"the certified ends contradict each other: lower {lower!r}, upper {upper!r}. This is a bug in "
                f"shuffledp; please report the call."
            )
        return Bound(min(lower, upper), upper, self.method, self.assumptions)


def _numbers(name: str, values: object) -> Floats:
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


def check_epsilon(value: object) -> float:
    """Return ``value`` as a privacy parameter epsilon >= 0."""
    epsilon = check_finite("epsilon", value, remedy="epsilon is the privacy loss to test, 0 or more.")
    if not 0.0 <= epsilon <= LARGEST_EPSILON:
        raise InvalidInput(
            f"epsilon must lie in [0, {LARGEST_EPSILON:g}], got {epsilon!r}. At 0 delta is the total variation; nobody "
            f"needs more than 50."
        )
    return epsilon


def check_delta(value: object) -> float:
    """Return ``value`` as a delta in (0, 1)."""
    delta = check_probability("delta", value, remedy="delta is a small probability, such as 1e-6, well below 1/n.")
    if delta < 1e-250:
        raise InvalidInput(
            f"delta must be at least 1e-250, got {delta!r}. Below that, use epsilon0: the local guarantee has delta = "
            f"0."
        )
    return delta


def check_users(n: object, honest: object = None) -> tuple[int, int]:
    """Return the number of users and how many of them are honest, by default all."""
    users = check_count("n", n, least=1, remedy="n counts the users whose reports are shuffled together.")
    if users > MOST_USERS:
        shown = users if users < 10**30 else "far more"
        raise InvalidInput(
            f"n must be at most {MOST_USERS:g}, got {shown}. Answers are not certified beyond; use a smaller n, which "
            f"is safe."
        )
    if honest is None:
        return users, users
    some = check_count("honest", honest, least=1, remedy="The target itself is honest, so it is at least 1.")
    if some > users:
        raise InvalidInput(
            f"honest must be at most n = {users}, got {some}. It counts the users, among the n, who follow the "
            f"protocol."
        )
    return users, some


def check_rounds(value: object) -> int:
    """Return ``value`` as a number of rounds."""
    rounds = check_count("rounds", value, least=1, remedy="rounds counts how often the same users report.")
    if rounds > MOST_ROUNDS:
        raise InvalidInput(
            f"rounds must be at most {MOST_ROUNDS}, got {rounds}. Nobody reports that often; split the population "
            f"instead."
        )
    return rounds


def check_order(value: object) -> float:
    """Return ``value`` as a Renyi order above 1."""
    order = check_finite("order", value, remedy="Renyi orders are above 1; 2 to 64 is usual.")
    if not 1.0 < order <= LARGEST_ORDER:
        raise InvalidInput(
            f"order must exceed 1 and be at most {LARGEST_ORDER:g}, got {order!r}. 2 to 64 is usual; epsilon0 is the "
            f"divergence of order infinity."
        )
    return order
