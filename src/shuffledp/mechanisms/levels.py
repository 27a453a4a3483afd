"""Bins in levels, coarse ones and fine ones: each person answers about one level, and least squares
brings the levels together.

A level of k nodes cuts the bins into k runs of the same length, up to one bin. What is reported is
a node of one level, so with c people in each bin the mean number of reports of each node is B c,
where the column of a bin is the law of its people's reports. Weighted least squares, each node's
reports weighted by the inverse of their mean if people are spread evenly,

    c^ = (B' D^-1 B)^-1 B' D^-1 reports,

is unbiased for all data, and the best of all unbiased linear estimates if people are spread evenly:
the covariance of the reports is D - B diag(c) B', and a term B K B' changes no generalized least
squares (Rao 1967). The weights depend on the law alone, so every estimate is a fixed sum of the
reports' weights, and its variance is exact: with weights a, a person in bin x adds

    sum of B_x a^2 - (sum of B_x a)^2,

and the last sum is what is estimated, 1 or 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from shuffledp._types import Floats
from shuffledp.domain import as_list
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.mechanism import Mechanism, Target
from shuffledp.mechanisms.one_message import Family, OneMessage
from shuffledp.mechanisms.report_sums import ReportSums
from shuffledp.mechanisms.results import Tally
from shuffledp.randomizers.krr import KRR
from shuffledp.randomizers.wrappers.levels import OneLevel
from shuffledp.workload import Workload

if TYPE_CHECKING:
    from shuffledp.mechanisms.rows import Rows

BRANCHES = 4  # runs of bins that a run of the next coarser level is cut into
COARSEST = 4  # nodes of the coarsest level, at least
MOST_LEVELS = 4
GAIN = 0.75  # levels are chosen if they err so much less for people spread evenly: where these crowd, they gain less


@dataclass(frozen=True, eq=False)
class Levels(Mechanism):
    """Everybody answers about one of several levels of bins."""

    trust = "shuffler"

    law: OneLevel

    def answering(self, question: Any, n: int) -> Self:
        if not question.ordered:
            raise InvalidInput(
                f"the randomizer of a {question} must not be one of several levels, which are of bins, got "
                f"{self.law!r}. Use k-ary randomized response."
            )
        return self.checked(question)

    def sums(self, workload: Workload) -> ReportSums:
        """What each report adds to each row, by weighted least squares."""
        laws = self.law.rows.T
        weighted = (laws / laws.sum(axis=1, keepdims=True)).T
        return ReportSums(self.law.rows, np.linalg.solve(weighted @ laws, weighted), workload.dense(self.size))

    def _rows(self, tally: Tally, workload: Workload) -> Rows:
        return self.sums(workload).rows(tally.reports, tally.votes)

    def predicted(self, workload: Workload, held: Any) -> Floats:
        errors: Floats = np.sqrt(self.sums(workload).variances @ np.asarray(held, dtype=np.float64))
        return errors

    def worst(self, workload: Workload, people: int) -> float:
        return float(np.sqrt(people * self.sums(workload).variances.max()))

    def influence(self, workload: Workload) -> Floats:
        """The largest less the smallest weight that a report of any node has."""
        spread: Floats = np.ptp(self.sums(workload).weights, axis=1)
        return spread


def checked_levels(given: Iterable[int] | None, question: Any, target: Target) -> tuple[int, ...]:
    """How many nodes each level has, as they are given, or the best for a target; none for all bins
    at once.
    """
    if given is None:
        return () if target.epsilon is None else best_levels(target, question.workload(question.size), question.size)
    levels: tuple[Any, ...] = tuple(as_list("levels", given, remedy="Pass sizes."))
    if levels and levels[-1:] != (question.size,):
        raise InvalidInput(
            f"the last of the levels must be all {question.size} bins, got {levels}. Leave levels out to have them "
            f"chosen."
        )
    if levels:
        OneLevel.of_sizes(sizes=levels, epsilon0=1.0)
    return levels


def of_levels(target: Target, sizes: tuple[int, ...], k: int) -> Mechanism:
    """The least noise on levels of so many nodes; without levels, on all ``k`` bins at once."""
    family: tuple[Family, dict[str, Any]] = (OneLevel.of_sizes, {"sizes": sizes}) if sizes else (KRR, {"k": k})
    return OneMessage.calibrated(target, family[0], **family[1])


def best_levels(target: Target, workload: Workload, k: int) -> tuple[int, ...]:
    """All bins at once, unless levels err less by a quarter for people who are spread evenly, each
    shape with the noise that it is certified to need.
    """
    even = np.full(k, target.n / k)
    shapes = [(), *level_sizes(k)]
    errors = {sizes: float(of_levels(target, sizes, k).predicted(workload, even).max()) for sizes in shapes}
    flat = errors.pop(())
    best = min(errors, key=lambda sizes: errors[sizes], default=())
    return best if best and errors[best] < GAIN * flat else ()


def level_sizes(bins: int) -> list[tuple[int, ...]]:
    """The shapes to choose from, beside all bins at once: two levels or more, each about four times
    as fine as the one before.

    >>> level_sizes(256)
    [(64, 256), (16, 64, 256), (4, 16, 64, 256)]
    """
    sizes: tuple[int, ...] = (bins,)
    shapes: list[tuple[int, ...]] = []
    while len(sizes) < MOST_LEVELS and (coarser := -(-sizes[0] // BRANCHES)) >= COARSEST:
        sizes = (coarser, *sizes)
        shapes.append(sizes)
    return shapes
