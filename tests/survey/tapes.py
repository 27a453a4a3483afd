"""Random words that are written down, so that Python and a browser draw from the same ones; and the
words at which a draw changes its mind.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from shuffledp.client import Reporter
from shuffledp.design import Design, Law, Target
from shuffledp.questions.count.question import CountQuestion
from shuffledp.questions.crosstab.question import CrosstabQuestion
from shuffledp.questions.histogram.question import HistogramQuestion
from shuffledp.questions.mean.question import MeanQuestion
from shuffledp.questions.question import Question
from shuffledp.questions.sum.question import SumQuestion
from shuffledp.randomizers import KRR, OUE, CheckIn, Hadamard, LocalHash, SubsetSelection
from shuffledp.randomizers.law_file import from_law, law_of
from shuffledp.randomizers.messages import ShufflerDummies, SignedUnits, SplitShares, UserFakes
from shuffledp.sampling import Source
from shuffledp.survey.collection import Collection
from tests.survey.studies import ADDRESS, KEY

Asks = list[tuple[int, list[int]]]  # how many bits, and the words


@dataclass
class Tape(Source):
    """Words that ``choose`` gives for the number of an ask and its bits; ``asks`` are those that
    were.
    """

    secure = False
    choose: Callable[[int, int], int]
    asks: Asks = field(default_factory=list)

    def words(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        bits = 8 * np.dtype(dtype).itemsize
        words = [self.choose(len(self.asks), bits) for _ in range(count)]
        if words:
            self.asks.append((bits, words))
        return np.array(words, dtype=dtype)


def replay(asks: Asks) -> Tape:
    """A tape of these very words, that must be asked for as they were."""
    left = [(bits, word) for bits, words in asks for word in words][::-1]

    def choose(_: int, bits: int) -> int:
        written, word = left.pop()
        assert written == bits
        return word

    return Tape(choose)


def encoded(reporter: Reporter, value: float, tape: Tape) -> bytes:
    """The report of one person, as it is sealed."""
    (report,) = reporter.encode([value], rng=tape)
    kind = reporter.randomizer.form.dtype.newbyteorder("<")
    return np.asarray(report, dtype=kind).tobytes()


def file(name: str, **changed: Any) -> Collection:
    """A collection of the design with that name."""
    return Collection(design=encoder_of(name).design, key=KEY.public, shuffler=ADDRESS, **changed)


def _of(k: int) -> HistogramQuestion:
    return HistogramQuestion(categories=k)


def _cells(categories: Any, other: Any = (None, None)) -> CrosstabQuestion:
    return CrosstabQuestion(columns=("a", "b"), categories=categories, other=other)


def written(question: Question, randomizer: Any) -> Design:
    """A design with that law; whether it keeps a promise is not asked here."""
    law = Law.from_json(law_of(randomizer))
    target = Target(n=1000, honest=500, rounds=3, epsilon=1.0, delta=1e-6)
    return Design.asked(question, law, target)


def _krr(k: int, epsilon0: float = 1.5) -> tuple[Question, Any]:
    return _of(k), KRR(k=k, epsilon0=epsilon0)


def _mean(k: int, lower: float, upper: float) -> tuple[Question, Any]:
    return MeanQuestion(lower=lower, upper=upper), KRR(k=k, epsilon0=2.5)


def _fakes(**law: Any) -> tuple[Question, Any]:
    return _of(law["k"]), UserFakes(**law)


def _dummies(**law: Any) -> tuple[Question, Any]:
    return _of(law["k"]), ShufflerDummies(**law)


def _signed(**law: Any) -> tuple[Question, Any]:
    return CountQuestion(value="yes"), SignedUnits(**law)


def _split(**law: Any) -> tuple[Question, Any]:
    return MeanQuestion(lower=0.0, upper=120.0), SplitShares(**law)


def _histogram(randomizer: Any) -> tuple[Question, Any]:
    return _of(randomizer.k), randomizer


def _check_in(question: Question, inside: Any, probability: float = 0.3) -> tuple[Question, Any]:
    return question, CheckIn(inside, probability=probability)


# One of every way to draw: powers of two and others, all widths of words and reports, borders of types.
MADE: dict[str, Callable[[], tuple[Question, Any]]] = {
    "krr 2": lambda: _krr(2),
    "krr 3": lambda: _krr(3),
    "krr 255": lambda: _krr(255, 4.0),
    "krr 256": lambda: _krr(256, 4.0),
    "krr 257": lambda: _krr(257, 4.0),
    "krr 65536": lambda: _krr(1 << 16, 9.0),
    "krr 70001": lambda: _krr(70_001, 9.0),
    "krr nearly silent": lambda: _krr(5, 1e-12),
    "krr nearly open": lambda: _krr(5, 44.0),
    "crosstab 3 x 5": lambda: (_cells((3, tuple("vwxyz")), (None, "z")), KRR(k=15, epsilon0=2.0)),
    "crosstab, fakes": lambda: (
        _cells((3, 2)),
        UserFakes(k=6, slots=1, chance=0.4),
    ),
    "crosstab, dummies": lambda: (_cells((2, 2)), ShufflerDummies(k=4, center=9)),
    "mean 2": lambda: _mean(2, 0.0, 1.0),
    "mean 7": lambda: _mean(7, 0.1, 0.3),
    "mean 1001": lambda: _mean(1001, -3.7, 1e-3),
    "mean of huge numbers": lambda: _mean(300, -1e100, 1e100),
    "mean of tiny numbers": lambda: _mean(300, 5e-324, 1e-310),
    "mean on 2^33 + 9 points": lambda: _mean((1 << 33) + 9, -273.15, 1e4),
    "mean on 2^40 points": lambda: _mean(1 << 40, 0.0, 120.0),
    "hadamard 2": lambda: _histogram(Hadamard(k=2, epsilon0=0.5)),
    "hadamard 5": lambda: _histogram(Hadamard(k=5, epsilon0=1.0)),
    "hadamard 255": lambda: _histogram(Hadamard(k=255, epsilon0=0.5)),  # one block of 2^8 columns
    "hadamard 300": lambda: _histogram(Hadamard(k=300, epsilon0=3.0)),
    "hadamard 100000": lambda: _histogram(Hadamard(k=100_000, epsilon0=6.0)),
    "hash to 2": lambda: _histogram(LocalHash(k=300, g=2, epsilon0=1.0)),
    "hash to 8": lambda: _histogram(LocalHash(k=300, g=8, epsilon0=2.0)),
    "hash to 855": lambda: _histogram(LocalHash(k=5000, g=855, epsilon0=6.75)),
    "hash to 2^32": lambda: _histogram(LocalHash(k=300, g=1 << 32, epsilon0=22.5)),
    "subset 1 of 5": lambda: _histogram(SubsetSelection(k=5, epsilon0=1.0, size=1)),
    "subset 2 of 5": lambda: _histogram(SubsetSelection(k=5, epsilon0=1.0, size=2)),
    "subset 4 of 5": lambda: _histogram(SubsetSelection(k=5, epsilon0=1.0, size=4)),
    "subset 3 of 300": lambda: _histogram(SubsetSelection(k=300, epsilon0=4.0, size=3)),
    "oue 2": lambda: _histogram(OUE(k=2, epsilon0=1.0)),
    "oue nearly silent": lambda: _histogram(OUE(k=5, epsilon0=1e-11)),
    "oue 10": lambda: _histogram(OUE(k=10, epsilon0=3.0)),
    "check-in, krr 3": lambda: _check_in(_of(3), KRR(k=3, epsilon0=1.0)),
    "check-in, krr 256": lambda: _check_in(_of(256), KRR(k=256, epsilon0=5.0)),  # a blank needs a second byte
    "check-in, hash": lambda: _check_in(_of(300), LocalHash(k=300, g=8, epsilon0=2.0)),
    "check-in, subset": lambda: _check_in(_of(6), SubsetSelection(k=6, epsilon0=1.0, size=2)),
    "check-in, oue": lambda: _check_in(_of(10), OUE(k=10, epsilon0=3.0)),
    "check-in twice, krr 3": lambda: _check_in(_of(3), CheckIn(KRR(k=3, epsilon0=1.0), probability=0.5)),
    "fakes 3": lambda: _fakes(k=3, slots=2, chance=0.3),
    "fakes 256": lambda: _fakes(k=256, slots=3, chance=0.75),  # a blank needs a second byte
    "fakes always": lambda: _fakes(k=5, slots=1, chance=1.0),
    "fakes rarely": lambda: _fakes(k=5, slots=4, chance=2.0**-40),
    "fakes, light": lambda: _fakes(k=4, slots=2, chance=0.5, epsilon0=3.0),
    "fakes, poisson": lambda: _fakes(k=3, slots=5, chance=0.2, kind="poisson"),
    "fakes, poisson, light": lambda: _fakes(k=300, slots=3, chance=0.9, kind="poisson", epsilon0=6.0),
    "dummies": lambda: _dummies(k=3, keep=0.5, center=28, left=0.6, right=0.6),
    "dummies 300, light": lambda: _dummies(k=300, kind="poisson", rate=42.7, epsilon0=5.0),
    "signed 2": lambda: _signed(honest=2, decay=0.5, pairs=2, messages=3),
    "signed 24": lambda: _signed(honest=10_000, decay=0.9, pairs=2_000, messages=24),
    "split in 2": lambda: _split(k=2, honest=2, decay=2.0, share_bits=4, messages=2, reach=1),
    "split in 5": lambda: _split(k=101, honest=100, decay=0.3, share_bits=30, messages=5, reach=30),
    "split, 52 bits": lambda: _split(k=1001, honest=100, decay=0.3, share_bits=52, messages=3, reach=20),
    "split, a sum": lambda: (
        SumQuestion(lower=-1.0, upper=5.0),
        _split(k=7, honest=9, decay=1.0, share_bits=9, messages=3, reach=9)[1],
    ),
    "check-in twice, oue": lambda: _check_in(_of(4), CheckIn(OUE(k=4, epsilon0=1.0), probability=0.7)),
}


@cache
def encoder_of(name: str) -> Reporter:
    """The law of the design with that name."""
    return Reporter.of(written(*MADE[name]()))


def integers_of(law: Law) -> tuple[int, ...]:
    """The whole numbers of a law, which are text in a file."""
    return tuple(map(int, law.integers))


def thresholds(law: Law) -> list[int]:
    """Every threshold of a coin, of a check-in and of what is inside, and every border of a table, out
    of 2^64: what one person's draws compare words with.
    """
    inside, integers = [] if law.of is None else thresholds(law.of), integers_of(law)
    if law.type == "dummies":
        return [integers[0]]  # all others are the shuffler's
    if law.type == "fakes" and law.parameters["kind"] == "poisson":
        return [integers[0], *list(accumulate(integers[2:]))[:-1]]
    if law.type in ("signed", "split"):
        return [border >> 64 for border in list(accumulate(from_law(law.as_json()).weights))[:-1]]
    return [*integers, *inside]


def borders(design: Design, value: float) -> dict[int, set[int]]:
    """By their bits, the words on both sides of every place where a draw about ``value`` changes."""
    found: dict[int, set[int]] = {bits: {0, (1 << bits) - 1} for bits in (8, 16, 32, 64)}
    for threshold in thresholds(design.mechanism):
        found[16] |= set(_around(threshold >> 48))
    for size in _sizes(design.mechanism.inside):
        for bits, words in _rejected(size).items():
            found[bits] |= words
    if design.domain.bounds is not None:
        lower, upper = design.domain.bounds
        position = (value - lower) / (upper - lower) * (design.mechanism.values - 1)
        up = int((position - math.floor(position)) * 2.0**64)
        found[64] |= set(_around(up))
    return {bits: {word for word in words if 0 <= word < 1 << bits} for bits, words in found.items()}


def _around(border: int) -> tuple[int, ...]:
    return (border - 1, border, border + 1) if border else ()


def _sizes(law: Law) -> list[int]:
    """From how many values something is drawn uniformly."""
    k = law.values
    if law.type in ("krr", "fakes", "dummies"):
        return [k]
    if law.type == "hash":
        return [law.parameters["g"]]
    return [*range(k - law.parameters["size"] + 1, k + 1)] if law.type == "subset" else []


def _rejected(k: int) -> dict[int, set[int]]:
    """The words around those that are drawn again, by Lemire's rule or beyond 2^32 by a mask."""
    if k & (k - 1) == 0:
        return {}
    if k > 1 << 32:
        unused = 64 - k.bit_length()
        return {64: {(k - 1) << unused, k << unused, (k << unused) - 1}}
    bits = 16 if k <= 256 else 32
    even = k & -k  # w k is a multiple of it
    limit = (1 << bits) % k
    lows = {limit // even * even + step * even for step in (-1, 0, 1)}
    undo = pow(k // even, -1, 1 << bits)
    words = {low // even * undo % ((1 << bits) // even) for low in lows if 0 <= low < 1 << bits}
    return {bits: words | {-(-(1 << bits) * value // k) - side for value in (1, k - 1) for side in (0, 1)}}


def ties(law: Law) -> list[tuple[int, int]]:
    """The first words of coins that leave them open, each with the words around what settles them."""
    parts = [divmod(threshold, 1 << 48) for threshold in thresholds(law)]
    looks = [(high, later << 16 | end) for high, low in parts for later in _around(low) for end in (0, 0xFFFF)]
    return sorted(looks)


def tapes_of(reporter: Reporter, values: Sequence[float], rng: random.Random) -> list[tuple[float, Asks, bytes]]:
    """What Python reports about some values, and the words it drew: at every place of a draw every
    border once, and after a coin's first look that leaves it open every border of the second.
    """
    made, later = [], ties(reporter.design.mechanism)
    for value in values:
        found = {bits: sorted(words) for bits, words in borders(reporter.design, value).items()}
        encoded(reporter, value, usual := Tape(lambda _, bits: rng.getrandbits(bits)))
        plans = [Planned(rng, 0, 0, found)] * 10
        for place, (bits, _) in enumerate(usual.asks):
            before = [each for each, _ in usual.asks[:place]].count(bits)
            plans += [Planned(rng, bits, before, {bits: [word]}) for word in found[bits]]
            if bits == 16:
                plans += [Planned(rng, 16, before, {16: [high], 64: [more]}) for high, more in later]
        for plan in plans:
            tape = Tape(plan)
            made.append((value, tape.asks, encoded(reporter, value, tape)))
    return made


@dataclass
class Planned:
    """Words of a kind for the ask that has so many of the same bits ``before`` it, and for the one
    after that; everything else is random. Without bits, all are of that kind.
    """

    rng: random.Random
    bits: int
    before: int
    kind: dict[int, list[int]]
    at: int | None = None  # where that ask was
    seen: int = -1

    def __call__(self, place: int, bits: int) -> int:
        if place > self.seen and bits == self.bits:
            self.before -= 1
            self.at = place if self.before == -1 else self.at
        self.seen = place
        planned = not self.bits or (self.at is not None and place - self.at in (0, 1))
        return self.rng.choice(self.kind[bits]) if planned and bits in self.kind else self.rng.getrandbits(bits)
