"""The best that lone reports are known to do under a promise, by name: where nobody is trusted,
every report must hide its sender by itself.

Of counts that is subset selection, of the best size (Ye and Barg 2018); a set of one value is k-ary
randomized response. No other encoding of this package errs less in one round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from shuffledp._types import Floats
from shuffledp.mechanisms.best_curator import NUMBER_BITS, Baseline, staircase
from shuffledp.mechanisms.grids import best_grid
from shuffledp.mechanisms.levels import level_sizes, of_levels
from shuffledp.mechanisms.mechanism import Target
from shuffledp.mechanisms.one_message import OneMessage, strongest
from shuffledp.randomizers import KRR, SubsetSelection
from shuffledp.workload import Weights, below

__all__ = ["best_alone", "best_size", "counts_alone", "cuts_alone", "number_alone", "number_named"]

MANY = 2_700  # people: the grids tried for them have at most 64 steps, as `verify` tries
GRID, HYBRID, LONE_STAIRCASE = "randomized response on a grid", "hybrid mechanism", "staircase noise on every number"


def best_alone(question: Any, *, n: int, epsilon: float, delta: float, rounds: int = 1) -> Baseline:
    """The least error with which lone reports answer ``question``, and how."""
    terms: dict[str, Any] = {"n": n, "epsilon": epsilon, "delta": delta, "rounds": rounds}
    if question.size is None:
        return number_alone(question.scale(n) / n, **terms)
    return (counts_alone if question.domain(0).bounds is None else cuts_alone)(question.size, **terms)


def counts_alone(k: int, *, n: int, epsilon: float, delta: float, rounds: int = 1) -> Baseline:
    """How many people hold each of k values.

    >>> found = counts_alone(1000, n=10_000, epsilon=1.0, delta=1e-6)
    >>> found.name, round(found.error)
    ('subset selection, sets of 269', 192)
    """
    return best_size(k, _calibrated(k, epsilon, delta, rounds), n)


def cuts_alone(bins: int, *, n: int, epsilon: float, delta: float, rounds: int = 1) -> Baseline:
    """How many people are below each cut point: subsets of the bins, or levels of randomized
    response, of which everybody answers one.

    >>> found = cuts_alone(100, n=10_000, epsilon=1.0, delta=1e-6)
    >>> found.name, round(found.error)
    ('subset selection, sets of 27', 953)
    """
    flat = best_size(bins, _calibrated(bins, epsilon, delta, rounds), n, _below_errors)
    target, rows = Target(n, epsilon, delta, 1, rounds), below(tuple(range(1, bins)))
    errors = {
        each: float(each.predicted(rows, np.full(bins, n / bins)).max())
        for each in (of_levels(target, sizes, bins) for sizes in level_sizes(bins))
    }
    lone = min(errors, key=lambda each: errors[each], default=None)
    if lone is None or flat.error <= errors[lone]:
        return flat
    name = f"randomized response in {len(lone.law.levels)} levels"
    return Baseline(name, errors[lone], lone.worst(rows, n), lone.law.bits, lone.law.epsilon0)


def number_alone(width: float, *, n: int, epsilon: float, delta: float, rounds: int = 1) -> Baseline:
    """A sum of numbers from a range of this ``width``; that of the range over n, for a mean. For
    the worst data.

    >>> found = number_alone(1.0, n=10_000, epsilon=1.0, delta=1e-6)
    >>> found.name, round(found.error)
    ('hybrid mechanism', 104)
    """
    # The best grid is the same for any number of people; for few, coarse ones are tried.
    target = Target(MANY, epsilon, delta, 1, rounds)
    k = best_grid(target)
    grid = OneMessage.calibrated(target, KRR, k=k + 1)
    pure = strongest(KRR, (("k", 2),), 1, epsilon, delta, rounds)  # composed, no pure epsilon loses more
    error = grid.worst(Weights.grid("sum", k), MANY) * math.sqrt(n / MANY)
    return number_named(width, n, pure, (error, grid.law.bits, grid.law.epsilon0))


def number_named(width: float, n: int, pure: float, grid: tuple[float, int, float]) -> Baseline:
    """The best way to report numbers alone with a ``pure`` epsilon0; a ``grid`` has its own error
    of a sum, bits and epsilon0.
    """
    found = [(GRID, *grid)]
    for name, noise in ((HYBRID, _hybrid), (LONE_STAIRCASE, staircase)):
        found.append((name, noise(pure) * math.sqrt(n), NUMBER_BITS, pure))
    name, error, bits, epsilon0 = min(found, key=lambda each: each[1])
    return Baseline(name, width * error, width * error, bits, epsilon0)


def _hybrid(epsilon0: float) -> float:
    """The standard error of one report of a number from [0, 1]: the piecewise mechanism with
    probability 1 - e^(-epsilon0/2), else one bit (Wang et al. 2019); the same for all numbers.
    """
    root = math.exp(min(epsilon0, 700.0) / 2.0)
    return math.sqrt(((root + 3.0) / (3.0 * (root - 1.0)) + math.tanh(epsilon0 / 2.0) ** -2) / root) / 2.0


Errors = Callable[[SubsetSelection, int], tuple[float, float]]


def _calibrated(k: int, epsilon: float, delta: float, rounds: int) -> Callable[[int | None], float]:
    """The largest epsilon0 of lone subsets of a size that keeps a promise."""

    def of_size(size: int | None) -> float:
        others = (("k", k),) if size is None else (("k", k), ("size", size))
        return strongest(SubsetSelection, others, 1, epsilon, delta, rounds)

    return of_size


def best_size(k: int, noise: Callable[[int | None], float], n: int, errors: Errors | None = None) -> Baseline:
    """Subset selection with the size that is best for counts of one round, and half of that as long
    as it helps: over several rounds the best is smaller.
    """

    def tried(size: int | None) -> tuple[SubsetSelection, tuple[float, float]]:
        law = SubsetSelection(k=k, epsilon0=noise(size), size=size)
        return law, (errors or _value_errors)(law, n)

    best, least = tried(None)
    while best.w > 1:
        other, smaller = tried(best.w // 2)
        if smaller[0] >= least[0]:
            break
        best, least = other, smaller
    return Baseline(_named(k, best.w), *least, best.bits, best.epsilon0)


def _named(k: int, size: int) -> str:
    """What reports of ``size`` of k values are called."""
    if size > 1:
        return f"subset selection, sets of {size}"
    return "randomized response" if k == 2 else "k-ary randomized response"


def _value_errors(law: SubsetSelection, n: int) -> tuple[float, float]:
    """The root mean square over values of the errors of counts, with people spread evenly, and the
    largest error for any data.
    """
    even, together = np.full(law.k, n / law.k), np.zeros(law.k)
    together[0] = n
    return math.sqrt(float(np.mean(law.count_variance(even)))), math.sqrt(float(law.count_variance(together).max()))


def _below_errors(law: SubsetSelection, n: int) -> tuple[float, float]:
    """The largest error of a count below any cut point, with people spread evenly, and for any
    data.
    """
    sizes = np.arange(1.0, law.k)
    own, others = (_votes(law, sizes - inside, inside) * n / law.contrast**2 for inside in (1.0, 0.0))
    even = (sizes * own + (law.k - sizes) * others) / law.k
    return math.sqrt(float(even.max())), math.sqrt(float(np.maximum(own, others).max()))


def _votes(law: SubsetSelection, known: Floats, inside: float) -> Floats:
    """The variance of how many of a report's values are in a group that holds its sender's or does
    not, and ``known`` others: hypergeometric, given whether the report holds the sender's.
    """
    rest = law.k - 1.0
    share = known / rest
    first = second = np.zeros_like(known)
    for chance, drawn, own in ((law.hit, law.w - 1.0, inside), (1.0 - law.hit, float(law.w), 0.0)):
        mean = own + drawn * share
        spread = drawn * share * (1.0 - share) * (rest - drawn) / max(rest - 1.0, 1.0)
        first, second = first + chance * mean, second + chance * (spread + mean**2)
    return second - first**2
