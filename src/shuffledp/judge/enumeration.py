"""Exact laws of shuffled reports for a handful of users, by brute force: slow and obvious.

A randomizer is a row-stochastic matrix: `rows[x, y]` is the probability that input x sends report
y. The matrices of the finite randomizers are built output by output from their descriptions in
words. What the shuffler releases is the histogram of the reports, so a dataset's law is built by
adding one user at a time: adding report y to histogram h gives h + e_y. All sums have positive
terms, so every probability is good to about 1e-15 relative. Nothing here uses the haystack formula
(docs/theory.md) or anything outside the judge.

*Binary randomized response on every dataset.*

The law of the count of ones adds up two binomial laws. A report is wrong with probability p. With z
of the others holding 0 and j holding 1 the others report S = Bin(z, p) + Bin(j, 1 - p) ones. The
target adds a one with probability p (holding 0) or q = 1 - p (holding 1), so with x = e^eps

    delta = sum over y of ((q - x p) P(S = y) - (x q - p) P(S = y - 1))_+ .

Removing users from the view only helps the adversary: a dataset with at least z zeros and j ones
leaks at most what (z, j) does. So one evaluation bounds a whole block of datasets, and exchanging 0
and 1 turns one order of the target's values into the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import hadamard as sylvester

from shuffledp.judge.effort import TooLarge
from shuffledp.judge.lattice import Array

Law = Mapping[tuple[int, ...], float]


@lru_cache(maxsize=8)
def _histograms(outputs: int, n: int) -> tuple[list[NDArray[np.int64]], list[NDArray[np.intp]]]:
    """For m = 0..n: the codes of histograms of m reports, and where h + e_y is among the next.

    The code of a histogram is its counts read as digits in base n + 1.
    """
    if (n + 1) ** outputs >= 2**63:
        raise ValueError(f"{outputs} outputs and n = {n} do not fit a 64-bit code; use fewer of either")
    unit = (n + 1) ** np.arange(outputs, dtype=np.int64)
    codes, successor = [np.zeros(1, dtype=np.int64)], []
    for _ in range(n):
        bigger = codes[-1][:, None] + unit
        codes.append(np.unique(bigger))
        successor.append(np.searchsorted(codes[-1], bigger))
    return codes, successor


def _matrix(rows: ArrayLike) -> Array:
    matrix = np.asarray(rows, dtype=np.float64)
    if matrix.ndim != 2 or (matrix < 0).any() or not np.allclose(matrix.sum(axis=1), 1.0, rtol=0, atol=1e-12):
        raise ValueError("rows must be a matrix of probabilities, each row summing to one")
    return matrix


def _add_user(law: Array, row: Array, successor: NDArray[np.intp], size: int) -> Array:
    out = np.zeros(size)
    for y in np.flatnonzero(row):
        out[successor[:, y]] += row[y] * law  # h -> h + e_y never sends two histograms to one
    return out


def _law(rows: Sequence[Array], n_max: int) -> Array:
    """The law of the histogram of one report per row, over the codes of `_histograms`."""
    codes, successor = _histograms(len(rows[0]), n_max) if rows else ([], [])
    law = np.ones(1)
    for m, row in enumerate(rows):
        law = _add_user(law, row, successor[m], len(codes[m + 1]))
    return law


def shuffled_law(rows: ArrayLike, dataset: Sequence[int]) -> dict[tuple[int, ...], float]:
    """The law of the histogram of outputs when person i holds input dataset[i]."""
    matrix, n = _matrix(rows), len(dataset)
    outputs = matrix.shape[1]
    codes, _ = _histograms(outputs, n)
    digits = codes[n][:, None] // (n + 1) ** np.arange(outputs, dtype=np.int64) % (n + 1)
    return {tuple(h): float(p) for h, p in zip(digits.tolist(), _law([matrix[x] for x in dataset], n), strict=True)}


def hockey_stick(P: ArrayLike | Law, Q: ArrayLike | Law, eps: float) -> float:
    """sum_y max(P(y) - e^eps Q(y), 0). Two arrays over the same outcomes, or two dictionaries."""
    if isinstance(P, Mapping) and isinstance(Q, Mapping):
        outcomes = list({**P, **Q})
        P, Q = [P.get(y, 0.0) for y in outcomes], [Q.get(y, 0.0) for y in outcomes]
    p, q = np.asarray(P, dtype=np.float64), np.asarray(Q, dtype=np.float64)
    if math.isinf(eps) and eps > 0:
        return float(p[q == 0].sum())
    return float(np.maximum(p - math.exp(eps) * q, 0.0).sum())


def neighbouring_laws(rows: ArrayLike, n: int) -> Iterator[list[Array]]:
    """For every multiset of the n-1 others: the laws for each input of the target."""
    matrix = _matrix(rows)
    inputs = len(matrix)
    codes, successor = _histograms(matrix.shape[1], n)

    def others(law: Array, m: int, smallest: int) -> Iterator[Array]:
        if m == n - 1:
            yield law
            return
        for x in range(smallest, inputs):  # non-decreasing inputs: each multiset once
            yield from others(_add_user(law, matrix[x], successor[m], len(codes[m + 1])), m + 1, x)

    for law in others(np.ones(1), 0, 0):
        yield [_add_user(law, row, successor[n - 1], len(codes[n])) for row in matrix]


def worst_delta(rows: ArrayLike, n: int, epsilons: ArrayLike) -> Array:
    """The largest divergence over all neighbors of n people, both orders, per epsilon."""
    return rounds_delta([rows], n, epsilons)


def worst_epsilon(rows: ArrayLike, n: int, delta: float) -> float:
    """The smallest eps >= 0 with worst_delta <= delta, to 1e-13; infinite if none."""
    worst = 0.0
    for laws in neighbouring_laws(rows, n):
        for P, Q in permutations(laws, 2):
            if hockey_stick(P, Q, worst) <= delta:
                continue
            if hockey_stick(P, Q, math.inf) > delta:
                return math.inf
            low, high = worst, worst + 1.0
            while hockey_stick(P, Q, high) > delta:
                low, high = high, 2 * high
            while high - low > 1e-13 * max(1.0, high):
                middle = (low + high) / 2
                low, high = (middle, high) if hockey_stick(P, Q, middle) > delta else (low, middle)
            worst = high
    return worst


def rounds_delta(rows_per_round: Sequence[ArrayLike], n: int, epsilons: ArrayLike) -> Array:
    """One round per matrix, over the same users and data, with fresh randomness: the worst
    divergence between product laws, both orders.

    Rounds may use different randomizers of the same inputs. The outer product is formed in full, so
    keep n and the number of rounds small.
    """
    grid = np.atleast_1d(np.asarray(epsilons, dtype=np.float64))
    worst = np.zeros(len(grid))
    for laws_per_round in zip(*(neighbouring_laws(rows, n) for rows in rows_per_round), strict=True):
        products = [
            reduce(lambda P, Q: np.multiply.outer(P, Q).ravel(), laws) for laws in zip(*laws_per_round, strict=True)
        ]
        for P, Q in permutations(products, 2):
            worst = np.maximum(worst, [hockey_stick(P, Q, eps) for eps in grid])
    return worst


def blanket(rows: ArrayLike) -> tuple[float, Array, Array]:
    """gamma, omega, nu of mu_x = gamma omega + (1 - gamma) nu_x with the largest gamma."""
    matrix = _matrix(rows)
    common = matrix.min(axis=0)
    gamma = math.fsum(common)
    omega = common / gamma if gamma > 0 else common
    nu = (matrix - common) / (1 - gamma) if gamma < 1 else np.zeros_like(matrix)
    return gamma, omega, nu


def _blanket_view(law0: Array, law1: Array, gamma: float, omega: Array, n: int, eps: float) -> float:
    """(m, histogram of law0 or law1 and m from omega), m ~ Bin(n-1, gamma)."""
    terms = []
    for m in range(n):
        weight = math.comb(n - 1, m) * gamma**m * (1 - gamma) ** (n - 1 - m)
        if weight > 0:
            P, Q = (_law([*[omega] * m, law], n) for law in (law0, law1))
            terms.append(weight * hockey_stick(P, Q, eps))
    return math.fsum(terms)


def weak_delta(rows: ArrayLike, n: int, pair: tuple[int, int], eps: float) -> float:
    """Koskela's weak adversary: reports of others outside the blanket are removed."""
    matrix = _matrix(rows)
    gamma, omega, _ = blanket(matrix)
    return _blanket_view(matrix[pair[0]], matrix[pair[1]], gamma, omega, n, eps)


def strong_delta(rows: ArrayLike, n: int, pair: tuple[int, int], eps: float) -> float:
    """The strong adversary also sees the target's coin: blanket, or the rest nu_x."""
    gamma, omega, nu = blanket(rows)
    return gamma * max(1 - math.exp(eps), 0.0) + (1 - gamma) * _blanket_view(
        nu[pair[0]], nu[pair[1]], gamma, omega, n, eps
    )


def haystack_delta(hay: ArrayLike, needle0: ArrayLike, needle1: ArrayLike, n: int, eps: float) -> float:
    """One report from needle0 or needle1, hidden among n-1 users who each add one report from the
    sub-probability `hay` or nothing.

    An absent user counts as one more output, which the needle never takes: the histogram then has n
    entries in every case.
    """
    hay_row = np.append(np.asarray(hay, dtype=np.float64), 0.0)
    hay_row[-1] = max(1.0 - math.fsum(hay_row), 0.0)
    P, Q = (
        _law([*[hay_row] * (n - 1), np.append(np.asarray(needle, dtype=np.float64), 0.0)], n)
        for needle in (needle0, needle1)
    )
    return hockey_stick(P, Q, eps)


def _favoured(k: int, outputs: Sequence[object], supports: Callable[[Any, int], bool], e0: float) -> Array:
    """Every row: outputs that support the input are e^e0 times as likely as the others."""
    weights = np.array([[math.exp(e0) if supports(y, x) else 1.0 for y in outputs] for x in range(k)])
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def krr(k: int, e0: float) -> Array:
    """The truth with probability E / (E + k - 1)."""
    return subset(k, 1, e0)


def unary(k: int, p: float, q: float) -> Array:
    """All bit vectors; the user's own bit is Bernoulli(p), the others Bernoulli(q)."""
    outputs = list(product((0, 1), repeat=k))

    def bit(one: float, value: int) -> float:
        return one if value else 1.0 - one

    return np.array(
        [[math.prod(bit(p if i == x else q, value) for i, value in enumerate(y)) for y in outputs] for x in range(k)]
    )


def local_hash(k: int, g: int, e0: float) -> Array:
    """All g^k hash functions, drawn uniformly, each with g-RR of the hash of the input."""
    outputs = [(h, v) for h in product(range(g), repeat=k) for v in range(g)]
    return _favoured(k, outputs, lambda y, x: y[0][x] == y[1], e0)


def subset(k: int, w: int, e0: float) -> Array:
    """All w-subsets; those that hold the input are favored."""
    return _favoured(k, list(combinations(range(k), w)), lambda y, x: x in y, e0)


def hadamard(k: int, e0: float) -> Array:
    """B blocks of b columns; the +1 columns of the input's row (Acharya, Sun, Zhang 2019)."""
    blocks = 2 ** (math.ceil(math.log2(min(math.exp(e0), 2 * k))) - 1)
    b = 2 ** math.ceil(math.log2(k / blocks + 1))
    signs = sylvester(b)

    def supports(y: tuple[int, int], x: int) -> bool:
        return y[0] == x // (b - 1) and bool(signs[1 + x % (b - 1), y[1]] == 1)

    return _favoured(k, list(product(range(blocks), range(b))), supports, e0)


LEFT_OUT = 1e-24  # of each binomial law
DIGITS = 50  # of the factors: where epsilon is close to epsilon0 they cancel
ROUNDING, PROBABILITY, ADDED = 1e-10, 2e-13, 2.3e-16  # relative: of a sum, of a probability, of a product that is added
WORK, MOST_BLOCKS, FEWEST_BLOCKS = 1 << 35, 1 << 13, 16  # products to add up, datasets to look at


def binary_dataset(p: float | Fraction, zeros: int, ones: int, epsilons: Array) -> tuple[Array, Array]:
    """Two ends of delta at every epsilon >= 0, for the target's values 0 and 1 in this order.

    >>> low, high = binary_dataset(
    ...     0.25, 1, 0, np.array([0.0])
    ... )  # 2 users: (9/16, 6/16, 1/16) ones against (3/16, 10/16, 3/16)
    >>> bool(low[0] <= 0.375 <= high[0])
    True
    """
    laws = _binomial(zeros, Fraction(p)), _binomial(ones, Fraction(p))[::-1]
    law = np.convolve(*laws)  # of S, wherever it begins: of those who hold 1, Bin(ones, p) report 0
    x, gain, loss = _factors(Fraction(p), tuple(epsilons.tolist()))
    here, before = gain * np.append(law, 0.0), loss * np.append(0.0, law)
    doubt = (PROBABILITY + ADDED * min(map(len, laws))) * (np.abs(here) + before)
    below, above = (np.maximum(here - before + side * doubt, 0.0).sum(axis=1) for side in (-1.0, 1.0))
    # Of the gain; what is missing of the loss makes the sum too large.
    missing = 2.0 * LEFT_OUT if len(law) < zeros + ones + 1 else 0.0
    return np.maximum(below * (1.0 - ROUNDING) - missing * x, 0.0), np.minimum(above * (1.0 + ROUNDING) + missing, 1.0)


@lru_cache(maxsize=8)
def _factors(p: Fraction, epsilons: tuple[float, ...]) -> tuple[Array, Array, Array]:
    """e^eps, and the factors of gain and loss at each epsilon, rounded once."""
    with localcontext(prec=DIGITS):
        wrong = Decimal(p.numerator) / p.denominator
        xs = [Decimal(eps).exp() for eps in epsilons]
        rows = [(float(x), float(1 - wrong - x * wrong), float(x * (1 - wrong) - wrong)) for x in xs]
    x, gain, loss = np.array(rows).reshape(-1, 3).T
    return x, gain[:, None], loss[:, None]


def binary_datasets(
    p: float | Fraction, n: int, epsilons: Array, check: Callable[[], None] = lambda: None
) -> tuple[Array, Array, int, int]:
    """Two ends of the largest delta over all datasets of n users and both orders, the number of
    blocks, and the worst dataset's ones at the first epsilon. ``check`` is called before each
    block, and may stop them.

    With as many blocks as datasets the answer is exact.
    """
    width = min(_reach(n, float(p)) * 2.0, n)
    if width**2 > WORK / FEWEST_BLOCKS:
        raise TooLarge(f"laws of {width:.3g} counts are too long to be added up")
    length = -(-n // min(n, MOST_BLOCKS, int(WORK / width**2)))
    lower, upper, worst = np.zeros(len(epsilons)), np.zeros(len(epsilons)), 0
    for ones in range(0, n, length):
        check()
        low, high = binary_dataset(p, n - 1 - ones, ones, epsilons)
        worst = ones if low[0] > lower[0] else worst
        lower = np.maximum(lower, low)
        if length > 1:
            _, high = binary_dataset(p, max(n - length - ones, 0), ones, epsilons)
        upper = np.maximum(upper, high)
    return lower, upper, -(-n // length), worst


def _reach(n: int, p: float) -> float:
    """Bernstein: Bin(n, p) is farther than this from its mean with probability at most LEFT_OUT."""
    log = math.log(2.0 / LEFT_OUT)
    return log / 3.0 + math.sqrt((log / 3.0) ** 2 + 2.0 * n * p * (1.0 - p) * log)


def _binomial(n: int, p: Fraction) -> Array:
    """The probabilities of Bin(n, p) around its mean, all but LEFT_OUT of them."""
    from scipy.stats import binom  # slow to import, and needed for two values only

    near = float(p)
    reach = _reach(n, near)
    low, high = max(0, math.floor(n * near - reach)), min(n, math.ceil(n * near + reach))
    counts = np.arange(low, high + 1)
    rest = float(p - Fraction(near)) / (near * (1.0 - near)) if 0.0 < near < 1.0 else 0.0
    chances: Array = binom.pmf(counts, n, near) * np.exp((counts - n * near) * rest)  # what rounding p has moved
    return chances
