"""The privacy of epochs whose steps get noise from a trusted trainer: random allocation, and what
the noise that runs adds to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from shuffledp.accounting.accuracy import MARGIN
from shuffledp.accounting.guarantee import Guarantee
from shuffledp.accounting.training import RandomAllocation
from shuffledp.errors import LARGEST_EPSILON
from shuffledp.protocols.sgd.passes import Account, despite

__all__ = ["Allocation"]


@dataclass(frozen=True)
class Allocation:
    """``epochs`` of ``steps`` steps with this ``noise``, in units of the clipping norm; all the
    noise that runs is within ``flaw`` of a Gaussian, in total variation.
    """

    noise: float
    steps: int
    epochs: int
    flaw: float

    @cached_property
    def guarantee(self) -> Guarantee:
        """For Gaussian noise."""
        return RandomAllocation(sigma=self.noise, steps=self.steps, epochs=self.epochs)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What must hold for the answers to hold."""
        return (
            "the trainer sees every user's data and is trusted",
            *self.guarantee.assumptions,
        )

    def fits(self, epsilon: float, delta: float) -> bool:
        """Whether it is (epsilon, delta)-DP, with a margin for whoever solves for epsilon."""
        left = delta - (1.0 + math.exp(min(epsilon, LARGEST_EPSILON))) * self.flaw
        return left > 0.0 and self.guarantee.delta_at_most(epsilon=epsilon * (1.0 - MARGIN)) <= left * (1.0 - MARGIN)

    def account(self, delta: float, local: float) -> Account:
        """What is certified at ``delta``."""
        epsilon = despite(self.flaw, delta, lambda left: self.guarantee.epsilon_at_most(delta=left))
        return Account(min(epsilon, local), delta, local, self.guarantee)
