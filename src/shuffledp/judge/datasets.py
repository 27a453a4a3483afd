"""Binary randomized response on every dataset.

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
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np

from shuffledp.judge.lattice import Array, TooLarge

__all__ = ["binary_dataset", "binary_datasets"]

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
