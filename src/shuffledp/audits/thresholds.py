"""The integers that decide every draw, found by feeding the sampler chosen words, against those
that the account implies.

No number of runs can see a threshold that is off by one in 2^64. But a sampler is a function of
random words: with the word just below its threshold it must send noise, and with the threshold
itself the truth. The thresholds are derived here from the accounted law, in exact arithmetic, and
by other means than where the sampler has them from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import Context, Decimal
from fractions import Fraction
from functools import singledispatch
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from shuffledp.audits.census import Finding
from shuffledp.audits.reading import votes_for
from shuffledp.randomizers import OUE, RAPPOR, FromMatrix, Unary
from shuffledp.randomizers.location import OnGrid
from shuffledp.randomizers.randomizer import Randomizer
from shuffledp.randomizers.support import MixingRandomizer
from shuffledp.randomizers.unary import UnaryEncoding
from shuffledp.sampling import WORD, Source

__all__ = ["Scripted", "integers"]

Encode = Callable[[Any, Source], NDArray[Any]]  # the report of one input of the randomizer
MOST_INPUTS, MOST_BORDERS = 24, 300
PATIENCE = 32  # requests that are answered by the script; who asks more often has rejected its answer
DIGITS = Context(prec=120)
EXPONENT = 16  # bits of a word that samplers look at first


class Scripted(Source):
    """A source whose words begin with given bits: 16 of them for whoever asks for 16, then the
    others for whoever asks for more.
    """

    secure = False

    def __init__(self, word: int, bits: int = 64, *, seed: int = 0) -> None:
        self.word, self.bits, self.generator = word, bits, np.random.default_rng(seed)
        self.told = self.asked = 0

    def words(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        kind = np.dtype(dtype)
        if kind.itemsize == 2 and self.asked < PATIENCE:
            self.asked, self.told = self.asked + 1, EXPONENT
            return np.full(count, self._piece(0, EXPONENT), dtype=kind)
        if kind.itemsize == 8 and self.told == EXPONENT:
            self.told = 64
            return np.full(count, self._piece(EXPONENT, 64) << EXPONENT, dtype=kind)
        if kind.itemsize == 8 and 64 <= self.told <= self.bits - 64 * count:
            self.told += 64 * count
            return np.array(
                [self._piece(self.told - 64 * (count - i), self.told - 64 * (count - i - 1)) for i in range(count)],
                dtype=kind,
            )
        return self.generator.integers(0, (1 << 8 * kind.itemsize) - 1, count, dtype=kind.type, endpoint=True)

    def _piece(self, start: int, stop: int) -> int:
        return self.word >> (self.bits - stop) & ((1 << (stop - start)) - 1)


class Border(NamedTuple):
    """The word before ``at`` must have one effect, and ``at`` another; ``seen`` is what a sampler
    does with a word.

    ``far`` are words well inside of what has the one effect and the other.
    """

    name: str
    at: int
    below: object
    above: object
    seen: Callable[[int], object]
    far: tuple[int, int]


def integers(randomizer: Randomizer, encode: Encode, generator: np.random.Generator) -> Finding | None:
    """Compare all borders, or some of very many; None if the sampler draws its words in a way that
    a script cannot follow.
    """
    borders = list(_borders(randomizer, encode))
    if len(borders) > MOST_BORDERS:
        borders = [borders[i] for i in sorted(generator.choice(len(borders), MOST_BORDERS, replace=False).tolist())]
    wrong = [border for border in borders if not _as_wanted(border, (border.at - 1, border.at))]
    if not borders or not all(_as_wanted(border, border.far) for border in wrong):
        return None
    where = (
        f"{len(wrong)} of {len(borders)} borders, the first: {wrong[0].name}"
        if wrong
        else f"{len(borders)} borders are exact"
    )
    return (
        "integers",
        "the integers that the sampler draws with are not those of the accounted law",
        0.0 if wrong else 1.0,
        where,
    )


def _as_wanted(border: Border, words: tuple[int, int]) -> bool:
    return [border.seen(word) for word in words] == [border.below, border.above]


@singledispatch
def _borders(randomizer: Randomizer, encode: Encode) -> Iterator[Border]:
    """Where a sampler's answer must change; none are known of one that we did not write."""
    return iter(())


@_borders.register
def _mixing(randomizer: MixingRandomizer, encode: Encode) -> Iterator[Border]:
    """T is the least whole number with 1 + (2^64 - T) / (T f) <= e^epsilon0, so T = ceil(2^64 / (1
    + f (e^epsilon0 - 1))).
    """
    wanted = 1 + randomizer.share * (_power(Fraction(randomizer.epsilon0)) - 1)
    inputs = _some(randomizer.k)

    def seen(word: int) -> Literal["noise", "truth", "unclear"]:
        reports = np.stack([encode(x, Scripted(word)) for x in inputs])
        if not np.all(votes_for(randomizer, reports, np.array(inputs))):
            return "noise" if np.all(reports == reports[0]) else "unclear"
        return "unclear" if np.all(reports == reports[0]) else "truth"

    at = math.ceil(WORD / wanted)
    if "unclear" not in (seen(at - 1), seen(at)):
        yield Border(f"noise below {at}", at, "noise", "truth", seen, (at // 2, (at + WORD) // 2))


@_borders.register
def _unary(randomizer: UnaryEncoding, encode: Encode) -> Iterator[Border]:
    """P = floor(p 2^64) and Q = ceil(q 2^64), where for RAPPOR P = 2^64 - Q."""
    own, other = _own_and_other(randomizer)
    for x in (0, randomizer.k - 1):
        for at, asked in ((own, x), (other, randomizer.k - 1 - x)):

            def seen(word: int, x: int = x, asked: int = asked) -> bool:
                return bool(votes_for(randomizer, encode(x, Scripted(word))[None, :], np.array([asked]))[0])

            yield Border(
                f"bit {asked} of value {x} is 1 below {at}", at, True, False, seen, (at // 2, (at + WORD) // 2)
            )


@_borders.register
def _matrix(randomizer: FromMatrix, encode: Encode) -> Iterator[Border]:
    for x, row in enumerate(np.asarray(randomizer.rows, dtype=np.float64).tolist()):
        ends = list(accumulate(int(Fraction(chance) * WORD) for chance in row))
        sent = [y for y, chance in enumerate(row) if chance > 0.0]

        def seen(word: int, x: int = x) -> int:
            return int(encode(x, Scripted(word)))

        for y, after in pairwise(sent):
            far = (ends[y] - int(Fraction(row[y]) * WORD) // 2, (ends[y] + ends[after]) // 2)
            yield Border(f"report {y} of value {x}", ends[y], y, after, seen, far)


@_borders.register
def _grid(randomizer: OnGrid, encode: Encode) -> Iterator[Border]:
    """Seen from input 1 the noise is cut off above, from input 0 below."""
    m, c = randomizer.steps, randomizer.margin
    ends = list(accumulate(randomizer.ideal.noise_weights(m, m + c)))
    bits = ends[-1].bit_length() - 1
    for j, end in enumerate(ends[:-1]):
        x, start = (1.0, -c) if j + 1 <= m + 2 * c else (0.0, -m - c)

        def seen(word: int, x: float = x) -> int:
            return int(encode(x, Scripted(word, bits)))

        far = ((end + (ends[j - 1] if j else 0)) // 2, (end + ends[j + 1]) // 2)
        yield Border(f"noise of {j - m - c} steps", end, start + j, start + j + 1, seen, far)


def _own_and_other(randomizer: UnaryEncoding) -> tuple[int, int]:
    """P and Q, from what is said of p and q."""
    if isinstance(randomizer, Unary):
        return math.floor(Fraction(randomizer.p) * WORD), math.ceil(Fraction(randomizer.q) * WORD)
    if isinstance(randomizer, OUE):
        return WORD // 2, math.ceil(WORD / (1 + _power(Fraction(randomizer.epsilon0))))
    if isinstance(randomizer, RAPPOR):
        other = math.ceil(WORD / (1 + _power(Fraction(randomizer.epsilon0) / 2)))
        return WORD - other, other
    return randomizer.thresholds


def _some(k: int) -> list[int]:
    """A few inputs, the first and the last among them."""
    return sorted({*range(min(k, MOST_INPUTS // 2)), *range(max(0, k - MOST_INPUTS // 2), k)})


def _power(exponent: Fraction) -> Fraction:
    """e^exponent to more than 100 digits, from below as the account has it: it must not promise too
    little noise.
    """
    power = DIGITS.exp(DIGITS.divide(Decimal(exponent.numerator), Decimal(exponent.denominator)))
    return Fraction(power) * (1 - Fraction(1, 10**110))
