"""Arrays of draws whose probabilities are exactly the integers asked for, uniformly random orders,
and how real parameters become those integers.

All draws are lazy: a few bits decide almost every draw, and only those that they leave open look at
more. Nothing is rounded and nothing is reduced modulo k, so with uniform words the law is exact,
not approximate.

Real parameters become integers, and integers a logarithm that is never too small, by decimal
arithmetic: its logarithm and exponential are correctly rounded, so the margins below are far wider
than any error.

For an order, give everybody an endless string of independent, uniform digits and sort by it: by
symmetry every order is equally likely. Only as many digits as the order depends on are ever drawn.
Where there are many people the first digit parts them into groups, and the rest orders each group.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput
from shuffledp.sampling.source import Source

WORD = 1 << 64
LATER = 48  # a coin's first look is at 16 of 64 bits
FIRST = 1 << 16
Bools = NDArray[np.bool_]


def bernoulli(source: Source, threshold: int, size: int) -> Bools:
    """True with probability exactly threshold / 2^64, for a whole ``threshold`` from 0 to 2^64.

    A 64-bit word is below the threshold iff its first 16 bits are below the threshold's, or equal
    and the other 48 are below.
    """
    if not 0 <= threshold <= WORD:
        raise InvalidInput(f"threshold must be from 0 to 2**64, got {threshold}. It is a probability times 2**64.")
    high, low = divmod(threshold, 1 << LATER)
    if high == FIRST:
        return np.ones(size, dtype=np.bool_)
    words = source.words(size, np.uint16)
    below: Bools = words < high
    if low:
        ties = np.flatnonzero(words == high)
        below[ties] = (source.words(len(ties), np.uint64) >> np.uint64(64 - LATER)) < low
    return below


def smallest_dtype(k: int) -> np.dtype[Any]:
    """The smallest unsigned integers that hold 0, ..., k - 1.

    >>> smallest_dtype(256), smallest_dtype(257)
    (dtype('uint8'), dtype('uint16'))
    """
    return np.min_scalar_type(k - 1)


def uniform(source: Source, k: int, size: int) -> NDArray[Any]:
    """Exactly uniform on 0, ..., k - 1 for k from 1 to 2^64, in ``smallest_dtype(k)``.

    Powers of two mask bits. Otherwise a word w of b bits gives floor(w k / 2^b), unless w k mod 2^b
    < 2^b mod k: then every value has equally many words left, and the draw is repeated (Lemire
    2019).
    """
    if not 1 <= k <= WORD:
        raise InvalidInput(f"k must be from 1 to 2**64, got {k}. It counts the values to draw from.")
    kind = smallest_dtype(k)
    if k & (k - 1) == 0:
        words = source.words(size, kind)
        if k < 1 << 8 * kind.itemsize:
            words &= kind.type(k - 1)
        return words
    drawn = np.empty(size, dtype=kind)
    drawn[:], rejected = _multiply_shift(source, k, size)
    while len(rejected):
        drawn[rejected], again = _multiply_shift(source, k, len(rejected))
        rejected = rejected[again]
    return drawn


def _multiply_shift(source: Source, k: int, size: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Candidates, and the places of those to be drawn again."""
    if k > 1 << 32:  # no wider product to shift: mask to the next power of two and reject what is beyond k
        words = source.words(size, np.uint64) >> np.uint64(64 - k.bit_length())
        return words, np.flatnonzero(words >= k)
    narrow, wide = ("u2", "u4") if k <= 1 << 8 else ("u4", "u8")
    bits = 8 * np.dtype(narrow).itemsize
    products: NDArray[Any] = source.words(size, narrow).astype(wide)
    products *= k
    low: NDArray[Any] = products.astype(narrow)
    products >>= bits
    return products, np.flatnonzero(low < (1 << bits) % k)


class Table:
    """A finite law: value i has probability weights[i] / 2^(64 m), exactly. Build it once.

    16 bits decide a draw unless a border between values falls among the words that begin with them;
    then 48 more do, and where 64 bits meet a border and m > 1, all the others.
    """

    def __init__(self, weights: Sequence[int] | NDArray[Any]) -> None:
        self._ends = list(accumulate(int(weight) for weight in weights))
        total = self._ends[-1] if self._ends else 0
        if total < WORD or total & (total - 1) or total.bit_length() % 64 != 1 or any(weight < 0 for weight in weights):
            raise InvalidInput(
                f"weights must be whole numbers that sum to 2**64, or a power of it, got {total}. Raise the largest."
            )
        self._more = total.bit_length() // 64 - 1  # words beyond the first
        tops = (end >> 64 * self._more for end in self._ends)
        # A border at the very end is beyond every word.
        self._tops = np.array([top for top in tops if top < WORD], dtype=np.uint64)
        self._first = self._guide()

    def draw(self, source: Source, size: int) -> NDArray[np.intp]:
        """``size`` independent values, as indices into the weights."""
        words = source.words(size, np.uint16)
        drawn: NDArray[np.intp] = self._first[words]
        open_ = np.flatnonzero(drawn < 0)
        later = source.words(len(open_), np.uint64) >> np.uint64(64 - LATER)
        drawn[open_] = self._search(words[open_].astype(np.uint64) << np.uint64(LATER) | later, source)
        return drawn

    def _search(self, words: NDArray[np.uint64], source: Source) -> NDArray[np.intp]:
        """The number of borders at or below each word: the value that owns it."""
        found = np.searchsorted(self._tops, words, side="right")
        if self._more:
            touched = np.flatnonzero(np.searchsorted(self._tops, words, side="left") < found)
            further = source.words(len(touched) * self._more, np.uint64)
            for place, row in zip(touched.tolist(), further.reshape(-1, self._more).tolist(), strict=True):
                word = int(words[place])
                for more in row:
                    word = word << 64 | more
                found[place] = bisect_right(self._ends, word)
        return found

    def _guide(self) -> NDArray[np.intp]:
        """What 16 bits decide: a value, or -1."""
        begin = np.arange(FIRST, dtype=np.uint64) << np.uint64(LATER)
        last = begin | np.uint64((1 << LATER) - 1)
        # With further words to come, a border's own first word may fall on either side of it.
        low = np.searchsorted(self._tops, begin, side="left" if self._more else "right")
        high = np.searchsorted(self._tops, last, side="right")
        return np.where(low == high, low, -1)


DIGITS = Context(prec=80)
MARGIN = Fraction(1, 10**60)


def exp_at_most(exponent: Fraction, digits: int = 60) -> Fraction:
    """A rational number just below e^exponent, right to about ``digits`` digits."""
    context = Context(prec=digits + 20)
    power = Fraction(context.exp(context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))))
    return power * (1 - Fraction(1, 10**digits))


def float_at_least(number: Fraction) -> float:
    """The least float that is not below ``number``.

    >>> float_at_least(Fraction(1, 2)), float_at_least(Fraction(1, 3)) > Fraction(1, 3)
    (0.5, True)
    """
    nearest = float(number)
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)


@lru_cache(maxsize=1024)
def log_at_least(ratio: Fraction) -> float:
    """log(ratio) for ratio >= 1, rounded up to a float.

    >>> log_at_least(Fraction(1)), log_at_least(Fraction(3)) >= math.log(3)
    (0.0, True)
    """
    if ratio == 1:
        return 0.0
    log = Fraction(DIGITS.ln(DIGITS.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))))
    # The quotient is off by 1e-79 relatively, and so its logarithm by that much absolutely.
    return float_at_least(log * (1 + MARGIN) + Fraction(1, 10**75))


@lru_cache(maxsize=1024)
def mixing_threshold(epsilon0: float, share: Fraction) -> tuple[int, float]:
    """The least T such that noise with probability T / 2^64 gives at most epsilon0, and the
    epsilon0 that T implies, rounded up.

    A report is drawn from the base law with probability t = T / 2^64, and else from the outputs
    that support the input, a ``share`` f of the base law: the ratio of two inputs' laws is E = 1 +
    (1 - t) / (t f). The implied epsilon0 never exceeds the one asked for, and asking for it gives
    the same pair again.
    """
    implied = epsilon0
    for _ in range(2):  # a float holds fewer bits than T: the second look finds the least T of the implied epsilon0
        wanted = 1 + share * (exp_at_most(Fraction(implied)) - 1)
        threshold = math.ceil(WORD / wanted) if wanted > 1 else WORD
        implied = log_at_least(implied_ratio(threshold, share))
    return threshold, implied


def implied_ratio(threshold: int, share: Fraction) -> Fraction:
    """E = 1 + (2^64 - T) / (T f), exactly."""
    return 1 + Fraction(WORD - threshold, threshold) / share


@lru_cache(maxsize=1024)
def flip_threshold(epsilon0: float, bits: int) -> tuple[int, float]:
    """The least Q such that ``bits`` bits that are each flipped with probability q = Q / 2^64 give
    at most epsilon0, and the epsilon0 implied.

    e^epsilon0 = ((1 - q) / q)^bits, as in ``mixing_threshold``.
    """
    implied = epsilon0
    for _ in range(2):
        threshold = math.ceil(WORD / (1 + exp_at_most(Fraction(implied) / bits)))
        implied = log_at_least(Fraction(WORD - threshold, threshold) ** bits)
    return threshold, implied


PLACE_BITS = 16
FEW = 1 << PLACE_BITS  # people whose keys fit the second-level cache, and whose places fit the low bits of a word
DIGIT_VALUES = 256


def permutation(source: Source, n: int) -> NDArray[np.intp]:
    """A uniformly random order of 0, ..., n - 1.

    >>> from shuffledp.sampling import source_of
    >>> sorted(permutation(source_of(None), 5).tolist())
    [0, 1, 2, 3, 4]
    """
    if n <= FEW:
        return _few(source, n)
    digits = uniform(source, DIGIT_VALUES, n)
    order = np.argsort(digits, kind="stable")  # a radix sort, as digits are bytes
    ends = np.cumsum(np.bincount(digits, minlength=DIGIT_VALUES))
    for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        order[start:end] = order[start:end][permutation(source, end - start)]
    return order


def _few(source: Source, n: int) -> NDArray[np.intp]:
    """Sort by 48-bit keys with the place in 16 bits below; of equal keys, draw all anew.

    Keys without equals are exchangeable, so drawing until there are none leaves every order equally
    likely.
    """
    places: NDArray[Any] = np.arange(n, dtype=np.uint64)
    while n > 1:
        words = source.words(n, np.uint64)
        words >>= np.uint64(PLACE_BITS)
        words <<= np.uint64(PLACE_BITS)
        words |= places
        words.sort()
        order = (words & np.uint64(FEW - 1)).astype(np.intp)
        words >>= np.uint64(PLACE_BITS)
        if not np.any(words[1:] == words[:-1]):
            return order
    return places.astype(np.intp)
