"""The best that a trusted curator does under a promise, of the mechanisms that are known here, by
name: what every page, plan and planner compares with.

Counts get discrete Laplace or Gaussian noise, a number staircase or Gaussian noise, whichever errs
less. Replacing one person's value moves two counts of a histogram by 1, or the one count that tells
two values apart where the number of people is public. With more values, that number makes the
noisy counts add up, which costs no privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from shuffledp.accounting import analytic_gaussian as gaussian
from shuffledp.accounting.calibration import loss_of_each
from shuffledp.mechanisms.tree import Tree, tree_shapes
from shuffledp.randomizers.messages import TreeDummies
from shuffledp.randomizers.support import bits_for
from shuffledp.workload import below

LAPLACE, GAUSSIAN, STAIRCASE = "discrete Laplace noise", "Gaussian noise", "staircase noise"
MOST_MOVED = 4096  # counts that one person moves over all rounds: with more, Gaussian noise errs less
NUMBER_BITS = 64


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
