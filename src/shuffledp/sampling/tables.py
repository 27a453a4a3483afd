"""Integer tables of symmetric noise on the whole numbers (no floating-point noise, whose low bits
leak the input: Mironov 2012), of counts of fakes and dummies, and of one person's share of noise
that many people add up.

A table of noise lists the weights of -reach, ..., reach; what lies beyond is counted at the two
ends. The weights sum to a power of 2^64 so large that each is at least 2^64: what is accounted is
the table itself, and it differs from the ideal law by about 2^-64 relatively, weight by weight.

A table for fakes or dummies is a first count, and weights out of 2^64. Terms are computed as whole
multiples of 2^-BITS, from the likeliest count outwards, so that every machine finds the same table.
What a table gives no weight has a probability of about 2^-64; what is accounted is the table
itself.

A person's share of noise is little, mostly nothing, and all shares together are a geometric or a
Poisson variable. The table of a share begins with the probability of nothing, as a multiple of
2^-128 rounded down, and goes on by whole-number arithmetic alone, rounding down: whoever has the
few integers has the table. What is missing to 1 then goes to nothing, so the distance (total
variation) between a table and the ideal law is at most what nothing has gained: ``gained``. How
much that is at most, ``geometric_cut`` and ``joined_cut`` say without the table, of which a fine
grid has a million entries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput
from shuffledp.sampling.draws import WORD, Table, exp_at_most, log_at_least

BITS = 256  # of a term; those below 2^-BITS of the likeliest are nothing
MOST_COUNTS = 1 << 13  # a table is written down with its law


class CountTable(NamedTuple):
    """``first + i`` has probability weights[i] / 2^64."""

    first: int
    weights: tuple[int, ...]

    @property
    def last(self) -> int:
        return self.first + len(self.weights) - 1

    @property
    def chances(self) -> Floats:
        """The probabilities, as floats."""
        return np.array([weight / WORD for weight in self.weights])

    @property
    def mean(self) -> Fraction:
        return self.first + Fraction(sum(i * weight for i, weight in enumerate(self.weights)), WORD)

    @property
    def variance(self) -> Fraction:
        square = Fraction(sum(i * i * weight for i, weight in enumerate(self.weights)), WORD)
        return square - (self.mean - self.first) ** 2

    @property
    def sampler(self) -> Table:
        """What draws from it, less ``first``."""
        return _sampler(self.weights)


@lru_cache(maxsize=64)
def _sampler(weights: tuple[int, ...]) -> Table:
    return Table(weights)


@lru_cache(maxsize=64)
def poisson_table(mean: float, most: int | None = None) -> CountTable:
    """A Poisson number; what lies above ``most`` counts as ``most``.

    >>> table = poisson_table(0.5, 2)
    >>> table.first, [round(float(chance), 4) for chance in table.chances]
    (0, [0.6065, 0.3033, 0.0902])
    """
    _check_size(18.0 * math.sqrt(mean) + 60.0)
    mode = math.floor(mean)
    rate, unit = mean.as_integer_ratio()
    below = _terms(lambda step: ((mode + 1 - step) * unit, rate), mode)
    above = _terms(lambda step: (rate, (mode + step) * unit))
    return _table(mode, below, above, most)


@lru_cache(maxsize=64)
def geometric_table(center: int, left: float, right: float) -> CountTable:
    """Two-sided geometric: ``center`` is the likeliest count, and the probability falls by the
    factor ``left`` with every step below it, to 0 at the least, and by ``right`` above.

    >>> table = geometric_table(1, 0.5, 0.25)
    >>> table.first, [round(float(chance), 4) for chance in table.chances[:4]]
    (0, [0.2727, 0.5455, 0.1364, 0.0341])
    """
    _check_size(sum(64.0 * math.log(2.0) / -math.log(each) for each in (left, right) if each))
    lower, upper = left.as_integer_ratio(), right.as_integer_ratio()
    return _table(center, _terms(lambda _: lower, center), _terms(lambda _: upper), None)


def _terms(ratio: Callable[[int], tuple[int, int]], most: int | None = None) -> list[int]:
    """What follows 1, as multiples of 2^-BITS: each is ``ratio(i)`` times the one before."""
    terms: list[int] = []
    term = 1 << BITS
    while most is None or len(terms) < most:
        above, below = ratio(len(terms) + 1)
        term = term * above // below
        if not term:
            break
        terms.append(term)
    return terms


def _table(likeliest: int, below: list[int], above: list[int], most: int | None) -> CountTable:
    """The terms as weights; what rounding leaves over goes to the likeliest count."""
    terms = [*reversed(below), 1 << BITS, *above]
    first = likeliest - len(below)
    if most is not None and most < first + len(terms) - 1:
        place = max(most - first, 0)
        first, terms = min(first, most), [*terms[:place], sum(terms[place:])]
    whole = sum(terms)
    weights = [term * WORD // whole for term in terms]
    weights[weights.index(max(weights))] += WORD - sum(weights)
    empty = next(place for place, weight in enumerate(weights) if weight)
    while not weights[-1]:
        weights.pop()
    return CountTable(first + empty, tuple(weights[empty:]))


def _check_size(size: float) -> None:
    if size > MOST_COUNTS:
        raise InvalidInput(
            f"fakes of a value must range over at most {MOST_COUNTS:,} counts, got {size:,.0f}. Allow a larger epsilon."
        )


FINE = 1 << 128  # what a table sums to: for a billion people rounding adds up to less than 1e-16
BLOCK, BLOCKS = 0.01, 4096  # of a tail, in units of 1 / (1 - q): the last block is e^-40 of it
ROUNDED = 1e-6  # more than floats lose of e^-1e8, relatively
DIGITS = Context(prec=80)


def ratio_of(decay: float) -> int:
    """The least Q above 2^64 e^-decay: a geometric variable with ratio Q / 2^64 hides at least as
    much as one with ratio e^-decay.

    >>> ratio_of(1.0) / WORD
    0.36787944117144233
    """
    return math.floor(exp_at_most(-Fraction(decay)) * WORD) + 1


def geometric_none(ratio: int, people: int) -> int:
    """(1 - q)^(1/people), q = ratio / 2^64: an empty geometric share, out of 2^128, down."""
    log = DIGITS.ln(DIGITS.divide(Decimal(WORD - ratio), Decimal(WORD)))
    # Right to 1e-77 or so absolutely: log is below 45, and 1e-70 is more than all roundings.
    return math.floor(exp_at_most(Fraction(log) / people - Fraction(1, 10**70)) * FINE)


def geometric_share(none: int, ratio: int, people: int, reach: int) -> list[int]:
    """The chances of 0, ..., reach in a share: negative binomial with shape 1 / people, so that the
    shares of as many people add up to a geometric variable.

    P(j) = P(j - 1) q (j - 1 + 1/people) / j.
    """
    chances = [none]
    for j in range(1, reach + 1):
        chances.append(chances[-1] * ratio * (1 + (j - 1) * people) // (WORD * j * people))
    return chances


def geometric_cut(none: int, ratio: int, people: int, reach: int) -> Fraction:
    """At least what ``geometric_share`` leaves out of 1, and little more.

    With t = 1/people, P(j) = P(0) q^j Gamma(j + t) / (Gamma(t) j!) <= P(0) q^j t / Gamma(1 + t)
    j^(t-1), for 0 < t <= 1 (Wendel 1948): beyond the reach this is added up block by block, each
    with the power of j at its beginning. An entry that is rounded down misses 1 of 2^128 and q
    times what the one before it does: 1 / (1 - q) at most, but for the first one's 2.
    """
    t, fall = 1.0 / people, (WORD - ratio) / WORD  # 1 - q
    log = -log_at_least(Fraction(WORD, ratio))
    length = math.ceil(BLOCK / fall)
    begin = reach + 1.0 + length * np.arange(BLOCKS)
    share = np.append(np.full(BLOCKS - 1, -math.expm1(length * log)), 1.0)  # the last block has no end
    beyond = float(np.sum(begin ** (t - 1.0) * np.exp(begin * log) * share)) / fall
    tail = none / FINE * t / math.gamma(1.0 + t) * beyond * (1.0 + ROUNDED)
    rounded = (reach + 1) * (min(reach, math.ceil(1.0 / fall) + 1) + 2)
    return Fraction(tail) + Fraction(rounded, FINE)


def poisson_none(mean: int, people: int) -> int:
    """e^(-mean / people): that a Poisson share is 0, out of 2^128, rounded down."""
    return math.floor(exp_at_most(Fraction(-mean, people)) * FINE)


def poisson_share(none: int, mean: int, people: int, reach: int) -> list[int]:
    """The chances of 0, ..., reach in a share: Poisson, with P(j) = P(j - 1) mean / (people j)."""
    chances = [none]
    for j in range(1, reach + 1):
        chances.append(chances[-1] * mean // (people * j))
    return chances


def joined(single: Sequence[int], both: Sequence[int], cells: Sequence[tuple[int, int]]) -> list[int]:
    """(A + C, B + C) by cells; A, B are ``single``, C ``both``; out of 2^128, down."""
    most = max((c for c, chance in enumerate(both) if chance), default=0)  # of many people, few draw more
    return [
        sum(both[c] * single[a - c] * single[b - c] for c in range(min(a, b, most) + 1)) // FINE**2 for a, b in cells
    ]


def joined_cut(single: Sequence[int], both: Sequence[int], most: int) -> Fraction:
    """At least what ``joined`` leaves out of 1 where the cells are all that hold ``most`` messages:
    the chance that A + B + 2C is more, and what rounding takes from every cell.
    """
    below = list(accumulate(single))

    def within(room: int) -> int:
        """The chance that A + B <= room, out of 2^256."""
        return sum(single[a] * below[room - a] for a in range(room + 1))

    whole = sum(chance * within(most - 2 * c) for c, chance in enumerate(both[: most // 2 + 1]) if chance)
    cells = (most + 1) * (most + 2) // 2
    return Fraction(FINE - whole // FINE**2 + cells, FINE)


def filled(chances: list[int]) -> tuple[int, ...]:
    """A whole table: what is missing to 2^128 goes to the first entry."""
    gained = FINE - sum(chances)
    return (chances[0] + gained, *chances[1:])


SPARE = 128  # bits of the fixed-point numbers beyond those of the total
HERMITE = 8  # terms of the series of a rounded Gaussian's masses, good to 30 digits
FIGURES = Context(prec=50)


def discrete_laplace(exponent: Fraction, reach: int) -> list[int]:
    """Weights proportional to e^(-exponent |j|)."""
    return _symmetric(float(exponent) * reach, reach, exponent, bend=Fraction(0))


def discrete_gaussian(variance: Fraction, reach: int) -> list[int]:
    """Weights proportional to e^(-j^2 / (2 variance)) (Canonne, Kamath and Steinke 2020)."""
    return _symmetric(reach**2 / (2.0 * float(variance)), reach, 1 / (2 * variance), bend=1 / variance)


def rounded_gaussian(deviation: int, reach: int, total_bits: int) -> list[int]:
    """Weights of a real Gaussian of that deviation, rounded to whole numbers: its probabilities
    times 2^total_bits, each rounded down; what is left over goes to 0.
    """
    half = [int(_rounded_mass(j, deviation) * (1 << total_bits)) for j in range(reach + 1)]
    both = half[:0:-1] + half
    both[reach] += (1 << total_bits) - sum(both)
    return both


def _rounded_mass(j: int, deviation: int) -> Decimal:
    """The probability that a Gaussian rounds to j: phi(m) w times the sum of He_2i(m) (w/2)^2i /
    (2i + 1)!, at m = j w, w = 1 / deviation.

    The even derivatives of phi are phi times Hermite polynomials.
    """
    m, h = Decimal(j) / deviation, Decimal(1) / (2 * deviation)
    before, here, total = Decimal(0), Decimal(1), Decimal(0)  # He_(i-1), He_i
    for i in range(2 * HERMITE):
        if i % 2 == 0:
            total += FIGURES.divide(here * h**i, Decimal(math.factorial(i + 1)))
        before, here = here, FIGURES.subtract(FIGURES.multiply(m, here), i * before)
    pi = Decimal("3.14159265358979323846264338327950288419716939937510")
    return FIGURES.divide(FIGURES.exp(-m * m / 2) * 2 * h * total, FIGURES.sqrt(2 * pi))


def _symmetric(farthest: float, reach: int, first: Fraction, bend: Fraction) -> list[int]:
    """Terms whose log falls by ``first``, ``first + bend``, ...; e^-farthest at ``reach``."""
    total_bits = 64 * math.ceil((farthest / math.log(2.0) + math.log2(reach) + 64.0) / 64.0 + 1.0)
    terms = list(_noise_terms(first, bend, total_bits + SPARE))
    terms += [0] * (reach + 1 - len(terms))
    terms[reach:] = [sum(terms[reach:])]
    whole = terms[0] + 2 * sum(terms[1:])
    half = [(term << total_bits) // whole for term in terms[1:]]
    return [*reversed(half), (1 << total_bits) - 2 * sum(half), *half]


def _noise_terms(first: Fraction, bend: Fraction, bits: int) -> Iterator[int]:
    """1 and what follows, as multiples of 2^-bits, until nothing is left."""
    term, ratio, factor = 1 << bits, _fixed(first, bits), _fixed(bend, bits)
    while term:
        yield term
        term = term * ratio >> bits
        ratio = ratio * factor >> bits


def _fixed(exponent: Fraction, bits: int) -> int:
    """e^-exponent, as a multiple of 2^-bits, rounded down."""
    return math.floor(exp_at_most(-exponent, bits // 3) * (1 << bits)) if exponent else 1 << bits
