"""Unary encoding: one bit per possible input, each bit flipped at random."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from scipy.special import expit

from shuffledp.errors import InvalidInput, check_probability
from shuffledp.randomizers.checks import check_domain, check_epsilon0
from shuffledp.randomizers.support import Overlap, SupportRandomizer, independent

__all__ = ["OUE", "RAPPOR", "Unary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unary(SupportRandomizer):
    """Report k bits: the input's own bit is 1 with probability ``p``, every other bit with probability ``q`` < p.

    Wang et al. 2017, section 4.2: e^epsilon0 = p (1 - q) / ((1 - p) q). The base law is k independent Bernoulli(q) bits, and
    an output supports the inputs whose bits are 1; the all-ones report supports everything.

    >>> round(Unary(k=10, p=0.5, q=0.25).epsilon0, 6)  # log 3
    1.098612
    """

    k: int
    p: float
    q: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_domain(self.k))
        for name in ("p", "q"):
            remedy = "p and q are the chances that the own bit and another bit are sent as 1, with q below p."
            object.__setattr__(self, name, check_probability(name, getattr(self, name), remedy=remedy))
        if self.q >= self.p:
            raise InvalidInput(f"q must be below p = {self.p!r}, got {self.q!r}. Exchange p and q; equal chances say nothing of the input.")
        check_epsilon0(self.epsilon0)

    @property
    def epsilon0(self) -> float:
        """log(p (1 - q) / ((1 - p) q)), written so that nothing cancels when p and q are close."""
        return math.log1p((self.p - self.q) / ((1.0 - self.p) * self.q))

    def overlaps(self) -> tuple[Overlap, ...]:
        return (independent(self.k, self.q),)

    def describe(self) -> dict[str, object]:
        return {"randomizer": "unary", "k": self.k, "p": self.p, "q": self.q, "epsilon0": self.epsilon0}


@dataclass(frozen=True, slots=True, kw_only=True)
class RAPPOR(SupportRandomizer):
    """Basic one-time RAPPOR: symmetric unary encoding, every bit flipped with probability q = 1 / (e^(epsilon0/2) + 1).

    Erlingsson, Pihur and Korolova 2014; only the permanent randomized response, without a Bloom filter.

    >>> RAPPOR(k=10, epsilon0=2.0).describe()
    {'randomizer': 'rappor', 'k': 10, 'epsilon0': 2.0}
    """

    k: int
    epsilon0: float = field()

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_domain(self.k))
        object.__setattr__(self, "epsilon0", check_epsilon0(self.epsilon0))

    @classmethod
    def from_flip(cls, *, k: int, flip: float) -> RAPPOR:
        """The encoding that flips every bit with probability ``flip`` < 1/2: epsilon0 = 2 log((1 - flip) / flip).

        >>> round(RAPPOR.from_flip(k=10, flip=0.25).epsilon0, 6)  # 2 log 3
        2.197225
        """
        remedy = "flip is the probability that a bit is sent wrongly; 1/2 would make every report noise."
        flip = check_probability("flip", flip, remedy=remedy)
        if flip >= 0.5:
            raise InvalidInput(f"flip must be below 1/2, got {flip!r}. {remedy}")
        return cls(k=k, epsilon0=2.0 * math.log1p((1.0 - 2.0 * flip) / flip))

    @property
    def p(self) -> float:
        """The probability that the input's own bit is sent as 1."""
        return float(expit(self.epsilon0 / 2.0))

    @property
    def q(self) -> float:
        """The probability that another bit is sent as 1: the flip probability."""
        return float(expit(-self.epsilon0 / 2.0))

    def overlaps(self) -> tuple[Overlap, ...]:
        return (independent(self.k, self.q),)

    def describe(self) -> dict[str, object]:
        return {"randomizer": "rappor", "k": self.k, "epsilon0": self.epsilon0}


@dataclass(frozen=True, slots=True, kw_only=True)
class OUE(SupportRandomizer):
    """Optimised unary encoding: p = 1/2 and q = 1 / (E + 1), the least variance for rare values (Wang et al. 2017, section 4.3).

    >>> OUE(k=10, epsilon0=math.log(3)).q
    0.25
    """

    k: int
    epsilon0: float = field()

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_domain(self.k))
        object.__setattr__(self, "epsilon0", check_epsilon0(self.epsilon0))

    @property
    def p(self) -> float:
        """The probability that the input's own bit is sent as 1."""
        return 0.5

    @property
    def q(self) -> float:
        """The probability that another bit is sent as 1."""
        return float(expit(-self.epsilon0))

    def overlaps(self) -> tuple[Overlap, ...]:
        return (independent(self.k, self.q),)

    def describe(self) -> dict[str, object]:
        return {"randomizer": "oue", "k": self.k, "epsilon0": self.epsilon0}
