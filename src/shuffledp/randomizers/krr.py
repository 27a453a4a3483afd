"""k-ary randomized response: tell the truth, or a uniformly random value."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.errors import InvalidInput, check_probability
from shuffledp.randomizers.family import Family, register
from shuffledp.randomizers.parameters import LARGEST_EPSILON0, check_domain, check_epsilon0, check_indices, checked
from shuffledp.randomizers.support import Form, Ints, MixingRandomizer, Overlap, bits_for, histogram, hypergeometric
from shuffledp.sampling import Source, bernoulli, smallest_dtype, uniform


@dataclass(frozen=True, slots=True, kw_only=True)
class KRR(MixingRandomizer):
    """k-ary randomized response: the input with probability E / (E + k - 1), else another value.

    Equivalently it is uniform on all k values with probability ``gamma`` = k / (E + k - 1), else
    the input: the blanket is uniform (Balle et al. 2019, section 3.1). An output supports one
    input, itself.

    >>> KRR(k=16, epsilon0=4.0).describe()
    {'randomizer': 'krr', 'k': 16, 'epsilon0': 4.0}
    >>> round(KRR.from_gamma(k=4, gamma=0.25).epsilon0, 6)
    2.564949
    """

    k: int = field(metadata=checked(check_domain))
    epsilon0: float = field(metadata=checked(check_epsilon0))

    @classmethod
    def from_gamma(cls, *, k: int, gamma: float) -> KRR:
        """The k-RR that answers uniformly at random with probability ``gamma``.

        >>> KRR.from_gamma(k=2, gamma=0.5).gamma
        0.5
        """
        k = check_domain(k)
        gamma = check_probability(
            "gamma",
            gamma,
            remedy="gamma is the probability of a uniformly random answer; 1 reveals nothing at all, 0 hides nothing.",
        )
        epsilon0 = math.log1p(k * (1.0 - gamma) / gamma)
        if epsilon0 > LARGEST_EPSILON0:
            least = k / (math.expm1(LARGEST_EPSILON0) + k)
            raise InvalidInput(
                f"gamma must be at least {least:.3g} for {k} values, got {gamma!r}. Raise it: less noise hides nothing."
            )
        return cls(k=k, epsilon0=epsilon0)

    @property
    def binary(self) -> bool:
        return self.k == 2

    def overlaps(self) -> tuple[Overlap, ...]:
        return (hypergeometric(self.k, 1),)

    @property
    def share(self) -> Fraction:
        return Fraction(1, self.k)

    @property
    def single(self) -> bool:
        return True

    @property
    def form(self) -> Form:
        return Form(smallest_dtype(self.k), outputs=self.k)

    @property
    def bits(self) -> int:
        return bits_for(self.k)

    def check_reports(self, reports: ArrayLike) -> NDArray[Any]:
        return check_indices(
            "reports", reports, self.k, remedy="A report of k-ary randomized response is one of the k values."
        )

    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        reports, kind = uniform(source, self.k, len(values)), smallest_dtype(self.k)
        kept = values.astype(kind, copy=False)
        # kept where the coin fell on the truth, without a branch: noise is 0 or all ones
        noise = np.negative(bernoulli(source, self.threshold, len(values)).view(np.uint8).astype(kind, copy=False))
        reports ^= kept
        reports &= noise
        reports ^= kept
        return reports

    def _tally(self, reports: NDArray[Any]) -> Ints:
        return histogram(reports, self.k)

    def describe(self) -> dict[str, object]:
        return {"randomizer": "rr" if self.binary else "krr", "k": self.k, "epsilon0": self.epsilon0}


def RR(*, epsilon0: float) -> KRR:
    """Warner's randomized response: ``KRR`` on two values.

    >>> RR(epsilon0=1.0).binary
    True
    """
    return KRR(k=2, epsilon0=epsilon0)


register(Family(make=KRR, law="krr", parameters=("k", "epsilon0")))
