"""What the Gaussian mechanism of a trusted curator gives away: exact, so both ends meet."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from shuffledp._types import End, Floats
from shuffledp.accounting import analytic_gaussian as gaussian
from shuffledp.accounting.accuracy import DEFAULT_GAP, FARTHEST_LOSS, RAREST_LOSS
from shuffledp.accounting.curves import Bound
from shuffledp.accounting.guarantee import Explanation, Guarantee, Row, check_order
from shuffledp.accounting.pld import LossDistribution, knot_indices, pessimistic
from shuffledp.accounting.rounds import Parts
from shuffledp.errors import check_rounds

__all__ = ["CentralGaussian"]

ROUNDING = gaussian.SLACK / 2.0


@dataclass(frozen=True, eq=False)
class CentralGaussian(Guarantee):
    """``rounds`` answers, each with noise ``sigma`` and moved by at most ``sensitivity``: one
    answer moved by sqrt(rounds) as much (Balle and Wang 2018).

    >>> round(CentralGaussian(3.7306, 1.0).epsilon(delta=1e-5).upper, 4)
    1.0
    """

    sigma: float
    sensitivity: float
    rounds: int = 1

    @property
    def parts(self) -> Parts:  # type: ignore[override]
        """None: nothing is shuffled."""
        return ()

    def describe(self) -> str:
        """The noise, and what it is added to."""
        return f"Gaussian noise of sigma = {self.sigma:g} on {self.rounds} answers of sensitivity {self.sensitivity:g}"

    @property
    def method(self) -> str:  # type: ignore[override]
        """The theorem behind both ends."""
        return "analytic Gaussian mechanism (Balle and Wang 2018, Thm 8)"

    @property
    def assumptions(self) -> tuple[str, ...]:  # type: ignore[override]
        """What must hold for the answers to hold."""
        return (
            "the curator sees all values and is trusted",
            "the noise is a real number, which floating point only imitates",
        )

    @property
    def ceiling(self) -> float:
        return math.inf

    @property
    def moved(self) -> float:
        """How far one user's value moves all answers together, in Euclidean distance."""
        return self.sensitivity * math.sqrt(self.rounds)

    def _end(self, end: End, epsilons: Floats, gap: float = DEFAULT_GAP) -> Floats:
        exact = np.array(
            [gaussian.delta(sigma=self.sigma, epsilon=float(each), sensitivity=self.moved) for each in epsilons]
        )
        return np.minimum(exact * (1.0 + ROUNDING if end == "upper" else 1.0 - ROUNDING), 1.0)

    def _epsilon_end(self, end: End, delta: float) -> float:
        exact = gaussian.epsilon(sigma=self.sigma, delta=delta, sensitivity=self.moved)
        return exact if end == "upper" else exact * (1.0 - ROUNDING)

    def compose(self, rounds: int) -> CentralGaussian:
        return CentralGaussian(self.sigma, self.sensitivity, check_rounds(self.rounds * check_rounds(rounds)))

    def pessimistic_loss(self, *, spacing: float) -> LossDistribution:
        loss = self.moved / self.sigma
        reach = min(8.0 * loss, FARTHEST_LOSS)
        probes: Floats = np.geomspace(reach, FARTHEST_LOSS, 200)
        values = self._end("upper", probes)
        last = int(np.argmax((values <= RAREST_LOSS) | (probes >= FARTHEST_LOSS))) + 1
        return pessimistic(
            lambda e: self._end("upper", e), knot_indices(spacing, reach, probes[:last], values[:last]), spacing
        )

    def rdp(self, *, order: float) -> Bound:
        exact = check_order(order) * (self.moved / self.sigma) ** 2 / 2.0
        return self._bound(exact * (1.0 - ROUNDING), exact * (1.0 + ROUNDING))

    def explain(self, *, delta: float) -> Explanation:
        bound = self.epsilon(delta=delta)
        return Explanation(
            self.describe(),
            delta,
            bound,
            (Row("upper", bound.upper, self.method), Row("lower", bound.lower, self.method)),
        )
