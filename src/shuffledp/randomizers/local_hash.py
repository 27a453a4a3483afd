"""Local hashing: randomized response on a hash of the input, with a fresh hash function per user."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from shuffledp.errors import check_count
from shuffledp.randomizers.checks import check_domain, check_epsilon0
from shuffledp.randomizers.support import Overlap, SupportRandomizer, independent

__all__ = ["BLH", "OLH", "LocalHash"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalHash(SupportRandomizer):
    """Draw a hash function h from the k inputs to g values, and report h with g-RR of h(input) (Wang et al. 2017).

    The report (h, v) supports x if h(x) = v. With h uniform among *all* functions every input is supported independently
    with probability 1/g, and 1/g^k of the outputs support everything. A pseudo-random family with long keys approaches
    this; a small family does not (two inputs that collide under many functions are told apart less, others more).

    >>> LocalHash(k=1000, g=8, epsilon0=2.0).describe()
    {'randomizer': 'olh', 'k': 1000, 'g': 8, 'epsilon0': 2.0}
    """

    k: int
    g: int
    epsilon0: float = field()

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_domain(self.k))
        object.__setattr__(self, "g", check_count("g", self.g, least=2, remedy="It counts the hash values; e^epsilon0 + 1, as in OLH, estimates best."))
        object.__setattr__(self, "epsilon0", check_epsilon0(self.epsilon0))

    @property
    def assumptions(self) -> tuple[str, ...]:
        return ("every user draws an ideal, uniformly random hash function",)

    def overlaps(self) -> tuple[Overlap, ...]:
        return (independent(self.k, 1.0 / self.g),)

    def describe(self) -> dict[str, object]:
        name = "olh" if self.g == _best_g(self.epsilon0) else "blh" if self.g == 2 else "local_hash"
        return {"randomizer": name, "k": self.k, "g": self.g, "epsilon0": self.epsilon0}


def OLH(*, k: int, epsilon0: float) -> LocalHash:
    """Optimal local hashing: g = e^epsilon0 + 1, rounded, minimises the variance (Wang et al. 2017, section 4.4).

    >>> OLH(k=1000, epsilon0=2.0).g
    8
    """
    return LocalHash(k=k, g=_best_g(check_epsilon0(epsilon0)), epsilon0=epsilon0)


def BLH(*, k: int, epsilon0: float) -> LocalHash:
    """Binary local hashing: one bit per report (Bassily and Smith 2015).

    >>> BLH(k=1000, epsilon0=2.0).describe()
    {'randomizer': 'blh', 'k': 1000, 'g': 2, 'epsilon0': 2.0}
    """
    return LocalHash(k=k, g=2, epsilon0=epsilon0)


def _best_g(epsilon0: float) -> int:
    return max(2, round(math.exp(epsilon0) + 1.0))
