"""Unary encoding: one bit per possible input, each bit flipped at random. ``BitLaw`` is one of
these bits: how often it is set by those who hold its value, and by all others.
"""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.errors import InvalidInput, check_probability
from shuffledp.randomizers.family import Family, register
from shuffledp.randomizers.parameters import (
    SMALLEST_EPSILON0,
    check_domain,
    check_epsilon0,
    check_fields,
    check_table,
    checked,
)
from shuffledp.randomizers.support import Form, Ints, Overlap, SupportRandomizer, chunks, independent
from shuffledp.sampling import WORD, Source, bernoulli
from shuffledp.sampling.draws import flip_threshold, log_at_least

UNIT = 2.0**-52


@dataclass(frozen=True, slots=True)
class BitLaw:
    """The chances of a 1: ``p`` in the report of a user who holds the value, ``q`` < p in others'.

    ``not_p`` and ``not_q`` are their complements, ``up`` = log(p / q) and ``down`` = log(not_q /
    not_p), which is off by at most ``doubt``, relative to itself. All are given with a relative
    accuracy of a few units in the last place, which near 0 and 1 they would not have if they were
    computed from two of them.
    """

    p: float
    q: float
    not_p: float
    not_q: float
    up: float
    down: float
    doubt: float = 16.0 * UNIT

    @classmethod
    def symmetric(cls, epsilon0: float) -> BitLaw:
        """Binary randomized response: a bit is kept with odds e^epsilon0.

        >>> BitLaw.symmetric(math.log(3)).p
        0.75
        """
        kept, flipped = 1.0 / (math.exp(-epsilon0) + 1.0), 1.0 / (math.exp(epsilon0) + 1.0)
        return cls(kept, flipped, flipped, kept, epsilon0, epsilon0, doubt=0.0)

    @classmethod
    def half(cls, epsilon0: float) -> BitLaw:
        """p = 1/2 and q = 1 / (e^epsilon0 + 1).

        >>> BitLaw.half(math.log(3)).q
        0.25
        """
        q, not_q = 1.0 / (math.exp(epsilon0) + 1.0), 1.0 / (math.exp(-epsilon0) + 1.0)
        return cls(0.5, q, 0.5, not_q, math.log1p(0.5 * math.expm1(epsilon0)), -math.log1p(0.5 * math.expm1(-epsilon0)))

    @classmethod
    def of(cls, p: float, q: float) -> BitLaw:
        """From two chances that mean what they say.

        >>> law = BitLaw.of(0.5, 0.25)
        >>> round(math.exp(law.up), 9), round(math.exp(law.down), 9)
        (2.0, 1.5)
        """
        return cls(p, q, 1.0 - p, 1.0 - q, math.log1p((p - q) / q), math.log1p((p - q) / (1.0 - p)))

    def flipped(self) -> BitLaw:
        """The law of the bit's complement, of which holders and others have exchanged roles."""
        return BitLaw(self.not_q, self.not_p, self.q, self.p, self.down, self.up, self.doubt)


CHANCES = "p and q are the chances that a person's own bit and another bit are sent as 1, with q below p."


class UnaryEncoding(SupportRandomizer):
    """k bits, packed into bytes, the first value's bit foremost; bits beyond the k-th are 0.

    The input's own bit is 1 with probability P / 2^64 and every other bit with probability Q /
    2^64, so that exactly e^epsilon0 = P (2^64 - Q) / (Q (2^64 - P)).
    """

    __slots__ = ()

    summed = "oue"
    q: float

    @property
    @abstractmethod
    def thresholds(self) -> tuple[int, int]:
        """P and Q, rounded towards more noise."""

    @property
    @abstractmethod
    def bit(self) -> BitLaw:
        """How often one bit is set, as it is accounted."""

    def overlaps(self) -> tuple[Overlap, ...]:
        return (independent(self.k, self.q),)

    @property
    def hit(self) -> float:
        return self.thresholds[0] / WORD

    @property
    def miss(self) -> float:
        return self.thresholds[1] / WORD

    @property
    def contrast(self) -> float:
        own, other = self.thresholds
        return (own - other) / WORD

    @property
    def integers(self) -> tuple[int, ...]:
        return self.thresholds

    @property
    def form(self) -> Form:
        return Form(np.dtype(np.uint8), width=-(-self.k // 8))

    @property
    def bits(self) -> int:
        return self.k

    def check_reports(self, reports: ArrayLike) -> NDArray[Any]:
        width = -(-self.k // 8)
        remedy = (
            f"A report of unary encoding is {self.k} bits packed into {width} bytes (numpy.packbits), padded with "
            f"zeros."
        )
        table = check_table("reports", reports, width, remedy=remedy)
        if table.dtype != np.uint8:
            raise InvalidInput(f"reports must be uint8, got an array of {table.dtype}. {remedy}")
        if self.k % 8 and int(np.bitwise_or.reduce(table[:, -1])) & (0xFF >> self.k % 8):
            raise InvalidInput(f"reports must have zeros after bit {self.k}, got ones. {remedy}")
        return table

    def favours(self, reports: NDArray[Any], values: NDArray[np.intp]) -> NDArray[np.bool_]:
        return np.asarray(reports[np.arange(len(reports)), values // 8] >> (7 - values % 8) & 1 == 1)

    def extreme_reports(self, people: int) -> NDArray[Any]:
        """No bit, and all bits."""
        return np.packbits(np.repeat(np.array([[0], [1]], dtype=np.uint8), self.k, axis=1), axis=1)

    @property
    def _words(self) -> int:
        return self.k

    def _draw(self, source: Source, values: NDArray[Any]) -> NDArray[Any]:
        own, other = self.thresholds
        bits = bernoulli(source, other, len(values) * self.k).reshape(len(values), self.k)
        bits[np.arange(len(values)), values] = bernoulli(source, own, len(values))
        return np.packbits(bits, axis=1)

    def _tally(self, reports: NDArray[Any]) -> Ints:
        votes = np.zeros(self.k, dtype=np.int64)
        for chunk in chunks(len(reports), self.k):
            votes += np.unpackbits(reports[chunk], axis=1, count=self.k).sum(axis=0, dtype=np.int64)
        return votes


@dataclass(frozen=True, slots=True, kw_only=True)
class Unary(UnaryEncoding):
    """Report k bits: the input's own is 1 with probability ``p``, any other with ``q`` < p.

    Wang et al. 2017, section 4.2: e^epsilon0 = p (1 - q) / ((1 - p) q). The base law is k
    independent Bernoulli(q) bits, and an output supports the inputs whose bits are 1; the all-ones
    report supports everything.

    >>> round(Unary(k=10, p=0.5, q=0.25).epsilon0, 6)  # log 3
    1.098612
    """

    k: int = field(metadata=checked(check_domain))
    p: float = field(metadata=checked(partial(check_probability, "p", remedy=CHANCES)))
    q: float = field(metadata=checked(partial(check_probability, "q", remedy=CHANCES)))

    def __post_init__(self) -> None:
        check_fields(self)
        if self.q >= self.p:
            raise InvalidInput(
                f"q must be below p = {self.p!r}, got {self.q!r}. Swap p and q; equal chances say nothing."
            )
        check_epsilon0(self.epsilon0)

    @property
    def epsilon0(self) -> float:
        """log(p (1 - q) / ((1 - p) q)), rounded up."""
        p, q = Fraction(self.p), Fraction(self.q)
        return log_at_least(p * (1 - q) / (q * (1 - p)))

    @property
    def thresholds(self) -> tuple[int, int]:
        own, other = math.floor(Fraction(self.p) * WORD), math.ceil(Fraction(self.q) * WORD)
        if other >= own:
            raise InvalidInput(f"q must be below p = {self.p!r} by more than 2**-64 to run, got {self.q!r}. Raise p.")
        return own, other

    @property
    def realised(self) -> Unary:
        """Exact: P / 2^64 and Q / 2^64 have at most 53 bits, as p and q have."""
        own, other = self.thresholds
        return dataclasses.replace(self, p=own / WORD, q=other / WORD)

    @property
    def bit(self) -> BitLaw:
        return BitLaw.of(self.p, self.q)

    def describe(self) -> dict[str, object]:
        return {"randomizer": "unary", "k": self.k, "p": self.p, "q": self.q, "epsilon0": self.epsilon0}


@dataclass(frozen=True, slots=True, kw_only=True)
class OfStrength(UnaryEncoding):
    """An encoding that epsilon0 determines: another binary channel of every bit lowers it."""

    power: ClassVar[int]  # of (1 - q) / q that epsilon0 goes by

    k: int = field(metadata=checked(check_domain))
    epsilon0: float = field(metadata=checked(check_epsilon0))

    @property
    def gentler(self) -> Hashable:
        return self.k

    @property
    @abstractmethod
    def p(self) -> float:
        """The probability that the input's own bit is sent as 1."""

    @property
    def q(self) -> float:  # type: ignore[override]
        """The probability that another bit is sent as 1."""
        return _logistic(-self.epsilon0 / self.power)

    @property
    def realised(self) -> Self:
        return dataclasses.replace(self, epsilon0=max(flip_threshold(self.epsilon0, self.power)[1], SMALLEST_EPSILON0))

    def describe(self) -> dict[str, object]:
        return {"randomizer": type(self).__name__.lower(), "k": self.k, "epsilon0": self.epsilon0}


@dataclass(frozen=True, slots=True, kw_only=True)
class RAPPOR(OfStrength):
    """Basic one-time RAPPOR: every bit is flipped with probability q = 1 / (e^(epsilon0/2) + 1).

    Erlingsson, Pihur and Korolova 2014; only the permanent randomized response, without a Bloom
    filter.

    >>> RAPPOR(k=10, epsilon0=2.0).describe()
    {'randomizer': 'rappor', 'k': 10, 'epsilon0': 2.0}
    """

    power = 2

    @classmethod
    def from_flip(cls, *, k: int, flip: float) -> RAPPOR:
        """The encoding that flips every bit with probability ``flip`` < 1/2: epsilon0 = 2 log((1 -
        flip) / flip).

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
        return _logistic(self.epsilon0 / 2.0)

    @property
    def bit(self) -> BitLaw:
        return BitLaw.symmetric(self.epsilon0 / 2.0)

    @property
    def thresholds(self) -> tuple[int, int]:
        flip, _ = flip_threshold(self.epsilon0, 2)
        return WORD - flip, flip


@dataclass(frozen=True, slots=True, kw_only=True)
class OUE(OfStrength):
    """Optimized unary encoding: p = 1/2 and q = 1 / (E + 1) (Wang et al. 2017, section 4.3).

    From q to q' a binary channel that keeps (1 - q - q') / (1 - 2 q) of the bits lowers epsilon0.

    >>> OUE(k=10, epsilon0=math.log(3)).q
    0.25
    """

    power = 1

    @property
    def p(self) -> float:
        return 0.5

    @property
    def bit(self) -> BitLaw:
        return BitLaw.half(self.epsilon0)

    @property
    def thresholds(self) -> tuple[int, int]:
        return WORD // 2, flip_threshold(self.epsilon0, 1)[0]


register(Family(make=OUE, law="oue", parameters=("k", "epsilon0")))
register(Family(make=RAPPOR, law="rappor", parameters=("k", "epsilon0")))
register(Family(make=Unary))


def _logistic(exponent: float) -> float:
    """1 / (1 + e^-exponent), bit by bit as scipy's ``expit``: clients load no scipy."""
    return 1.0 / (1.0 + math.exp(-exponent))
