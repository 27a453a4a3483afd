"""A randomizer's law from the whole numbers in a record, by counting: fractions, not floats, and
none of the code that drew the reports.

The law of one of several levels is that of each level, as often as the level is chosen. What a
design says of a law of several messages is read and refused here too.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self

from shuffledp.errors import InvalidInput
from shuffledp.judge.effort import LARGEST_EPSILON, MOST_VALUES
from shuffledp.judge.supports import (
    Classes,
    Supports,
    Table,
    coin_patterns,
    set_patterns,
    sign_patterns,
    sign_tables,
)

WORD = 2**64
DIGITS = Context(prec=60)
NEGLIGIBLE = 2000  # binary digits: what is smaller than 2^-2000 is left out
SIZES = {"krr": "", "hadamard": "", "hash": "g", "subset": "size", "oue": "", "rappor": ""}  # what a size is called
REMEDY = "Pass a page that shuffledp wrote, unchanged."


def read_integers(law: Mapping[str, Any]) -> tuple[int, ...]:
    """The words of a design; none if written otherwise than shuffledp does (" 1_0")."""
    integers = tuple(int(each) for each in law["integers"])
    return integers if [str(each) for each in integers] == law["integers"] else ()


def not_run(law: Mapping[str, Any]) -> InvalidInput:
    """The refusal of a law that no design of shuffledp has."""
    return InvalidInput(f"the law of a design must be one that shuffledp runs, got {str(law)[:200]!r}. {REMEDY}")


@dataclass(frozen=True)
class CountedLaw:
    """The law of one report; ``size`` is g for hashing, w for subsets, else 0."""

    family: str
    k: int
    integers: tuple[int, ...]
    size: int
    epsilon0: float

    @classmethod
    def of(cls, law: Mapping[str, Any]) -> Self:
        """Read what a design says; refused unless shuffledp runs such a law."""
        try:
            made = cls._read(law)
            if type(made.k) is int and 2 <= made.k <= MOST_VALUES and made._sound():
                return made
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            pass
        raise not_run(law)

    @classmethod
    def _read(cls, law: Mapping[str, Any]) -> Self:
        family = law["type"]
        size = law[SIZES[family]] if SIZES[family] else 0
        return cls(family, law["k"], read_integers(law), size, float(law["epsilon0"]))

    def _sound(self) -> bool:
        """Whether its parameters and integers are such as shuffledp runs."""
        least, most = {"hash": (2, math.inf), "subset": (1, self.k - 1)}.get(self.family, (0, 0))
        sized = type(self.size) is int and least <= self.size <= most
        words = len(self.integers) == 1 + self.unary and all(0 < each < WORD for each in self.integers)
        falling = not self.unary or (words and self.integers[0] > self.integers[1])
        return sized and words and falling and 0.0 <= self.epsilon0 <= LARGEST_EPSILON

    @property
    def names(self) -> set[str]:
        """Of all that a design says of such a law."""
        return {"type", "k", "epsilon0", "integers"} | {SIZES[self.family]} - {""}

    @property
    def binary(self) -> bool:
        """Whether this is randomized response with two values, whose datasets can be scanned."""
        return self.family == "krr" and self.k == 2

    @property
    def unary(self) -> bool:
        """Whether a report is one bit per input."""
        return self.family in {"oue", "rappor"}

    @property
    def signed(self) -> bool:
        """Whether a vote is for a value or against it, among those of its block."""
        return self.family == "hadamard"

    @property
    def faked(self) -> bool:
        """Whether fakes are among the votes, which have no normal law."""
        return False

    @property
    def places(self) -> int:
        """How many different votes there are."""
        return self.k

    @property
    def messages(self) -> int:
        """How many messages a person sends."""
        return 1

    @property
    def theorems(self) -> tuple[tuple[str, ...], ...]:
        """Any may be behind the upper end: a swap needs a blanket that is not as good."""
        return (("scan",),) if self.binary else (("blanket", "swap"), ("blanket",))

    @property
    def shuffler(self) -> str:
        """What is asked of the shuffler, by the name of the premise."""
        return "shuffler"

    @property
    def premises(self) -> list[str]:
        """What is asked of everybody, by the names of the sentences."""
        also = ["sealed"] * (self.alone is None) + ["ideal hash"] * (self.family == "hash")
        drawn = ["fresh randomness"] * (self.alone is not None or self.shuffler != "honest dummies")
        return [self.shuffler, *drawn, *also]

    @property
    def cuts(self) -> bool:
        """Whether the law is that of a longer table, and what was cut off is counted in delta."""
        return False

    @property
    def alone(self) -> float | None:
        """epsilon0, as a record has it: nothing where a message is the truth."""
        return self.epsilon0 if self.epsilon0 < math.inf else None

    @property
    def support(self) -> int | None:
        """How many values every report votes for; None if that differs from report to report."""
        return {"krr": 1, "subset": self.size}.get(self.family)

    def moments(self, people: int, size: int = 1) -> tuple[Fraction, Fraction]:
        """Mean and variance of the fakes of ``size`` values, as fractions."""
        return Fraction(0), Fraction(0)

    def most_votes(self, people: int) -> int:
        """That one value can have."""
        return people * self.messages

    @cached_property
    def share(self) -> Fraction:
        """The base probability that a report supports a given input."""
        if self.unary:
            return Fraction(self.integers[1], WORD)
        whole = {
            "krr": Fraction(1, self.k),
            "subset": Fraction(self.size, self.k),
            "hash": Fraction(1, max(self.size, 1)),
        }
        return whole[self.family] if self.family in whole else Fraction(1, 2 * self.blocks[0])

    @cached_property
    def factors(self) -> tuple[Fraction, Fraction]:
        """high and low."""
        if self.unary:
            own, other = (Fraction(each, WORD) for each in self.integers)
            return own / other, (1 - own) / (1 - other)
        noise = Fraction(self.integers[0], WORD)
        return noise + (1 - noise) / self.share, noise

    @cached_property
    def blocks(self) -> tuple[int, int]:
        """For Hadamard response: B blocks of b columns, with 2 B the least power of two from
        min(e^epsilon0, 2 k) on, and b the least above k / B.
        """
        smaller = min(DIGITS.exp(Decimal(self.epsilon0)), Decimal(2 * self.k))
        double = 2
        while double < smaller:
            double *= 2
        columns = 2
        while columns * (double // 2) < self.k + double // 2:
            columns *= 2
        return double // 2, columns

    @cached_property
    def implied(self) -> Decimal:
        """epsilon0 as the integers imply it, to 55 digits."""
        ratio = self.factors[0] / self.factors[1]
        return DIGITS.ln(DIGITS.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)))

    @cached_property
    def least_integers(self) -> tuple[int, ...]:
        """The integers with the least noise that keeps epsilon0: e^epsilon0 = 1 + (1 - t) / (t f)
        for a share f and noise t, and of bits that are 1 with probability 1 - q and q, or 1/2 and
        q, ((1 - q) / q)^2 or (1 - q) / q.
        """
        epsilon0 = Decimal(self.epsilon0)
        if self.family == "oue":
            return WORD // 2, _upwards(DIGITS.add(DIGITS.exp(epsilon0), Decimal(1)))
        if self.family == "rappor":
            other = _upwards(DIGITS.add(DIGITS.exp(DIGITS.divide(epsilon0, Decimal(2))), Decimal(1)))
            return WORD - other, other
        return (least_noise(self.epsilon0, self.share),)

    @cached_property
    def hit(self) -> Fraction:
        """How often a report supports its sender's value; of Hadamard response, its mean vote."""
        if self.family == "hadamard":
            return 1 - Fraction(self.integers[0], WORD)
        return self.share * self.factors[0]

    @cached_property
    def miss(self) -> Fraction:
        """How often a report supports a given other value; for Hadamard response, its mean vote."""
        if self.family == "hadamard":
            return Fraction(0)
        both: Fraction = self.patterns((0, 1))[1, 1]
        return both * self.factors[0] + (self.share - both) * self.factors[1]

    @cached_property
    def supports(self) -> Supports:
        """Whom its reports support."""
        universal, tested = Fraction(0), min(self.k, 3)
        tables: tuple[Table, ...] = (self.patterns(range(tested)),)  # all inputs are alike
        if self.signed:
            universal, tables = sign_tables(self.k, *self.blocks)
        elif self.unary or self.family == "hash":
            if self.k * -math.log2(float(self.share)) < NEGLIGIBLE:
                universal = self.share**self.k
            every = (1,) * tested
            tables = ({**tables[0], every: tables[0][every] - universal},)
        return Supports(*self.factors, universal, tables, Fraction)

    @cached_property
    def blankets(self) -> tuple[Classes, ...]:
        """One haystack per kind of ordered pair, with what all inputs have in common."""
        return self.supports.blankets

    @cached_property
    def datasets(self) -> tuple[Classes, ...]:
        """One haystack per kind of pair, order and value that all others hold."""
        return self.supports.datasets

    def patterns(self, inputs: Sequence[int]) -> Table:
        """The base probability of every pattern of which ``inputs`` are supported."""
        if self.signed:
            return sign_patterns(inputs, *self.blocks)
        if self.unary or self.family == "hash":
            return coin_patterns(self.share, len(inputs))
        return set_patterns(self.k, self.size or 1, len(inputs))


def least_noise(epsilon0: float, share: Fraction) -> int:
    """How many words mean noise, if a report supports an input with this base probability."""
    base = DIGITS.divide(Decimal(share.numerator), Decimal(share.denominator))
    gain = DIGITS.subtract(DIGITS.exp(Decimal(epsilon0)), Decimal(1))
    return _upwards(DIGITS.add(Decimal(1), DIGITS.multiply(base, gain)))


def _upwards(divisor: Decimal) -> int:
    """2^64 / divisor, rounded up."""
    return math.ceil(DIGITS.divide(Decimal(WORD), divisor))


LEVELS = "one of"
GRID = 2**53  # of which weights are multiples
FEWEST, MOST_LEVELS, MOST_BINS = 3, 16, 1024


@dataclass(frozen=True)
class CountedLevels(CountedLaw):
    """``levels`` of k-ary randomized response about the same bins, coarse ones first; the words out
    of 2^64 that mean each level are the ``integers``, of the ``weights`` that were written.
    """

    levels: tuple[CountedLaw, ...] = ()
    weights: tuple[float, ...] = ()

    @classmethod
    def _read(cls, law: Mapping[str, Any]) -> Self:
        levels = tuple(CountedLaw.of(each) for each in law["questions"])
        weights = tuple(float(Fraction(each)) for each in law["weights"])
        k = levels[-1].k if levels else 0
        return cls(LEVELS, k, read_integers(law), 0, float(law["epsilon0"]), levels, weights)

    def _sound(self) -> bool:
        sizes = [level.k for level in self.levels]
        return (
            0 < len(sizes) <= MOST_LEVELS
            and len(sizes) == len(self.weights) == len(self.integers)
            and all(level.family == "krr" for level in self.levels)
            and all(coarse < fine for coarse, fine in pairwise(sizes))
            and FEWEST <= min(sizes) <= max(sizes) <= MOST_BINS
            and 0.0 <= self.epsilon0 <= LARGEST_EPSILON
            and all(0 < each <= WORD for each in self.integers)
            and sum(self.integers) == WORD
        )

    @property
    def places(self) -> int:
        return sum(level.k for level in self.levels)

    @property
    def names(self) -> set[str]:
        return {"type", "epsilon0", "weights", "questions", "integers"}

    @property
    def support(self) -> int | None:
        return 1

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """How likely each level is."""
        return tuple(Fraction(each, WORD) for each in self.integers)

    @cached_property
    def implied(self) -> Decimal:
        """The largest of the levels'."""
        return max(level.implied for level in self.levels)

    @cached_property
    def least_integers(self) -> tuple[int, ...]:
        """The weights in multiples of 2^-53; what rounding leaves over goes to the likeliest."""
        rounded = [max(round(Fraction(each) * GRID), 1) for each in self.weights]
        rounded[rounded.index(max(rounded))] += GRID - sum(rounded)
        return tuple(each * (WORD // GRID) for each in rounded)

    @cached_property
    def rows(self) -> list[list[Fraction]]:
        """For every bin x of k, the chance of each report: node floor(x m / k) or another."""
        chances = [
            (level.k, share * level.hit, share * level.miss)
            for level, share in zip(self.levels, self.shares, strict=True)
        ]
        made = []
        for value in range(self.k):
            row = []
            for nodes, hit, miss in chances:
                own = value * nodes // self.k
                row += [*[miss] * own, hit, *[miss] * (nodes - 1 - own)]
            made.append(row)
        return made

    @cached_property
    def blankets(self) -> tuple[Classes, ...]:
        """Two bins that no level has in one node."""
        return (self._mixture(None),)

    @cached_property
    def datasets(self) -> tuple[Classes, ...]:
        """All others in the bin of one of the pair, or in a third that no level has in a node with
        either: there is one, as every level has three nodes.
        """
        return tuple(map(self._mixture, range(3)))

    def _mixture(self, holder: int | None) -> Classes:
        mass: defaultdict[tuple[Fraction, Fraction], Fraction] = defaultdict(Fraction)
        for level, share in zip(self.levels, self.shares, strict=True):
            supports, growth = level.supports, level.factors[0] / level.factors[1]
            for (u, v), part in supports.masses(supports.tables[0], holder).items():
                mass[growth**u, growth**v] += share * part
        return tuple((hay, hay * u, hay * v) for (u, v), hay in sorted(mass.items()))


@dataclass(frozen=True)
class CountedMessages(CountedLaw):
    """A law of several messages; epsilon0 is infinite where they are the plain truth."""

    parameters: ClassVar[Mapping[str, tuple[str, ...]]]  # by family

    own: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def _read(cls, law: Mapping[str, Any]) -> Self:
        own = {name: law[name] for name in cls.parameters[law["type"]]}
        epsilon0 = math.inf if law["epsilon0"] is None else float(law["epsilon0"])
        return cls(law["type"], law["k"], read_integers(law), 0, epsilon0, own)

    @abstractmethod
    def _sound(self) -> bool: ...

    @property
    def names(self) -> set[str]:
        return {"type", "k", "epsilon0", "integers", *self.parameters[self.family]}

    @property
    def binary(self) -> bool:
        return False

    @property
    def support(self) -> int | None:
        return None
