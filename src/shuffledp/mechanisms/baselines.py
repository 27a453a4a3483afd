"""The best mechanisms known here under other trust, by name: what every page, plan and planner
compares with.

**A curator is trusted.** Counts get discrete Laplace or Gaussian noise, a number staircase or
Gaussian noise, whichever errs less. Replacing one person's value moves two counts of a histogram by
1, or the one count that tells two values apart where the number of people is public. With more
values, that number makes the noisy counts add up, which costs no privacy.

**Nobody is trusted.** Every report must hide its sender by itself. Of counts that is subset
selection, of the best size (Ye and Barg 2018); a set of one value is k-ary randomized response. No
other encoding of this package errs less in one round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from shuffledp._types import Floats
from shuffledp.accounting import analytic_gaussian as gaussian
from shuffledp.accounting.calibration import loss_of_each
from shuffledp.mechanisms.grids import best_grid
from shuffledp.mechanisms.levels import level_sizes, of_levels
from shuffledp.mechanisms.mechanism import Target
from shuffledp.mechanisms.one_message import OneMessage, strongest
from shuffledp.mechanisms.tree import Tree, tree_shapes
from shuffledp.randomizers import KRR, SubsetSelection
from shuffledp.randomizers.messages import TreeDummies
from shuffledp.randomizers.support import bits_for
from shuffledp.workload import Weights, below

LAPLACE, GAUSSIAN, STAIRCASE = "discrete Laplace noise", "Gaussian noise", "staircase noise"
MOST_MOVED = 4096  # counts that one person moves over all rounds: with more, Gaussian noise errs less
NUMBER_BITS = 64
MANY = 2_700  # people: the grids tried for them have at most 64 steps, as `verify` tries
GRID, HYBRID, LONE_STAIRCASE = "randomized response on a grid", "hybrid mechanism", "staircase noise on every number"

Errors = Callable[[SubsetSelection, int], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A known mechanism that keeps a promise under other trust: ``error`` and ``worst`` are what
    ``Option`` says, and the same for all data but of lone reports.
    """

    name: str
    error: float
    worst: float
    bits: int
    epsilon0: float | None = None


@dataclass(frozen=True, slots=True)
class _NoisyCounts:
    """Noisy counts: how many of them one person moves by 1, and how much larger than a count's the
    error of an answer is that is made of them.
    """

    on: str
    moved: int
    spread: float = 1.0


def best_curator(question: Any, *, n: int, epsilon: float, delta: float, rounds: int = 1) -> Baseline:
    """The least error with which a curator answers ``task``, and how."""
    terms: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "rounds": rounds}
    if question.size is None:
        return number_by_curator(question.scale(n) / n, **terms)
    counts = question.domain(0).bounds is None
    return (counts_by_curator if counts else cuts_by_curator)(question.size, **terms)


def counts_by_curator(k: int, *, epsilon: float, delta: float, rounds: int = 1) -> Baseline:
    """How many people hold each of k values.

    >>> found = counts_by_curator(16, epsilon=1.0, delta=1e-6)
    >>> found.name, round(found.error, 2)
    ('discrete Laplace noise, counts made to add up', 2.71)
    >>> found = counts_by_curator(2, epsilon=1.0, delta=1e-6)
    >>> found.name, round(found.error, 2)
    ('discrete Laplace noise on one count', 1.36)
    """
    # By least squares: every count gives up the mean excess, and with it 1/k of its variance.
    added_up = _NoisyCounts(", counts made to add up", 2, math.sqrt(1.0 - 1.0 / k))
    released = _NoisyCounts(" on one count", 1) if k == 2 else added_up
    return _least([released], bits_for(k), epsilon, delta, rounds)


def cuts_by_curator(bins: int, *, epsilon: float, delta: float, rounds: int = 1) -> Baseline:
    """How many people are below each cut point: noise on these counts, on all bins, or on all
    nodes of a tree of bins, added up by least squares.

    >>> found = cuts_by_curator(12, epsilon=1.0, delta=1e-6)
    >>> found.name, round(found.error, 2)
    ('discrete Laplace noise on all bins', 4.85)
    """
    released = [_NoisyCounts(" on the counts below cut points", bins - 1)]
    for levels, branches in tree_shapes(bins):
        on = " on all bins" if levels == 1 else f" on a tree of {levels} levels"
        released.append(_NoisyCounts(on, 2 * levels, _added_up(bins, levels, branches)))
    best = _least(released, bits_for(bins), epsilon, delta, rounds)
    # The square root of the matrix that adds up bins (Henzinger, Upadhyay and Upadhyay 2023): its
    # entries are binom(2j, j) / 4^j, j bins before.
    places = np.arange(1, bins)
    squares = np.cumprod(np.concatenate([[1.0], (2.0 * places - 1.0) / (2.0 * places)])) ** 2
    moved = math.sqrt(2.0 * rounds * float(squares.sum()))
    error = gaussian.sigma(epsilon=epsilon, delta=delta, sensitivity=moved) * math.sqrt(float(squares[:-1].sum()))
    return best if best.error <= error else Baseline(f"{GAUSSIAN} on square-root sums", error, error, best.bits)


def number_by_curator(width: float, *, epsilon: float, delta: float, rounds: int = 1) -> Baseline:
    """A sum of numbers from a range of this ``width``; that of the range over n, for a mean.

    >>> found = number_by_curator(1.0, epsilon=1.0, delta=1e-6)
    >>> found.name, round(found.error, 3)
    ('staircase noise', 1.385)
    """
    errors = {GAUSSIAN: gaussian.sigma(epsilon=epsilon, delta=delta, sensitivity=width * math.sqrt(rounds))}
    if rounds <= MOST_MOVED:
        errors[STAIRCASE] = width * staircase(loss_of_each(rounds, epsilon, delta))
    name = min(errors, key=lambda each: errors[each])
    return Baseline(name, errors[name], errors[name], NUMBER_BITS)


def staircase(epsilon: float) -> float:
    """The least standard error of noise that hides a change by 1 with a pure epsilon (Geng and
    Viswanath 2014).
    """
    b = math.exp(-epsilon)
    return math.sqrt((b * (1.0 + b) / 2.0) ** (2.0 / 3.0) + b) / -math.expm1(-epsilon)


def _least(released: list[_NoisyCounts], bits: int, epsilon: float, delta: float, rounds: int) -> Baseline:
    errors = {}
    for each in released:
        moved = each.moved * rounds
        errors[GAUSSIAN + each.on] = each.spread * gaussian.sigma(
            epsilon=epsilon, delta=delta, sensitivity=math.sqrt(moved)
        )
        if moved <= MOST_MOVED:
            loss = loss_of_each(moved, epsilon, delta)
            errors[LAPLACE + each.on] = each.spread * math.sqrt(2.0) * math.exp(-loss / 2.0) / -math.expm1(-loss)
    name = min(errors, key=lambda each: errors[each])
    return Baseline(name, errors[name], errors[name], bits)


@lru_cache(maxsize=64)
def _added_up(bins: int, levels: int, branches: int) -> float:
    """The largest error of a count below any cut point, in errors of a node's count."""
    tree = Tree(TreeDummies(k=bins, levels=levels, branches=branches, kind="poisson", rate=1.0))
    return tree.worst(below(tuple(range(1, bins))), 0) / math.sqrt(float(tree.law.numbers.variance))


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
