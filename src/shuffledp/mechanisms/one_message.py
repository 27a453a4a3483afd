"""Everybody sends one noisy message, drawn by any randomizer whose reports vote, or which has a
matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats, View
from shuffledp.domain import NAMING
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms import mechanism_of
from shuffledp.mechanisms.mechanism import Mechanism, Target, Voting
from shuffledp.mechanisms.report_sums import ReportSums
from shuffledp.mechanisms.results import Tally
from shuffledp.mechanisms.shuffler import Bag, SummedBag
from shuffledp.randomizers.hadamard import Hadamard
from shuffledp.randomizers.krr import KRR
from shuffledp.randomizers.local_hash import OLH
from shuffledp.randomizers.parameters import check_epsilon0
from shuffledp.randomizers.randomizer import GroupLaw
from shuffledp.randomizers.subset import SubsetSelection
from shuffledp.randomizers.support import VotingRandomizer
from shuffledp.randomizers.unary import OUE, RAPPOR
from shuffledp.randomizers.wrappers.levels import OneLevel, voting
from shuffledp.sampling import Rng
from shuffledp.workload import Each, Weights, Workload

if TYPE_CHECKING:
    from shuffledp.mechanisms.rows import Rows

Family = Callable[..., VotingRandomizer]
# How a message hides its sender. "krr": it names the own value or a random one. "hadamard": a
# column of a Hadamard matrix, decoded by a fast Walsh-Hadamard transform. "hash": optimal local
# hashing; decoding looks at every pair of report and value. "subset" and "oue" err least or nearly
# so among many values, but their reports grow with these.
ENCODERS: dict[str, Family] = {"krr": KRR, "hadamard": Hadamard, "hash": OLH, "subset": SubsetSelection, "oue": OUE}
HARDLY_ONE = 2.0 - 1e-9  # random reports on average: with fewer, most collections hold none, or one


@dataclass(frozen=True, eq=False)
class OneMessage(Voting):
    """Reports that name one place count groups of places, and sums of numbers; others count every
    place by itself. In the view "sums" the shuffler adds up reports that are bits, and hands on no
    report: that reveals much less, so the same promise needs less noise.
    """

    trust = "shuffler"

    law: VotingRandomizer

    @classmethod
    def calibrated(cls, target: Target, family: Family, *, view: View = "reports", **parameters: Any) -> Mechanism:
        """The law with the least noise of its family that keeps a promise."""
        epsilon0 = strongest(family, tuple(parameters.items()), *target.terms, view)
        return mechanism_of(family(**parameters, epsilon0=epsilon0).realised, view)

    @classmethod
    def calibrate(  # type: ignore[override]
        cls,
        question: Any,
        target: Target,
        name: str,
        *,
        view: View = "reports",
        k: int | None = None,
        levels: Iterable[int] | None = None,
    ) -> Mechanism:
        """Numbers are reported on a grid of ``k`` steps, bins in ``levels`` of so many runs of
        them, or, where ``levels`` is empty, all at once; what is left out is chosen.
        """
        family, parameters = _family(question, name, view, target, k, levels)
        if target.epsilon0 is None:
            return cls.calibrated(target, family, view=view, **parameters)
        return mechanism_of(family(**parameters, epsilon0=check_epsilon0(target.epsilon0)).realised, view)

    @classmethod
    def variants(cls, question: Any, name: str) -> dict[str, dict[str, Any]]:
        if not question.ordered:
            return {name: {}}
        from shuffledp.mechanisms.levels import level_sizes

        levels = {f"{name}, {len(sizes)} levels": {"levels": sizes} for sizes in level_sizes(question.size)}
        return {f"{name}, all bins": {"levels": ()}, **levels}

    def answering(self, question: Any, n: int) -> Mechanism:  # type: ignore[override]
        """Any law whose reports vote, or that has a matrix, may stand in for k-ary randomized
        response.
        """
        law = voting(self.law, ordered=question.ordered)
        if law is None or NAMING[0] not in question.mechanisms:
            raise InvalidInput(
                f"randomizer must be one whose reports vote, such as OUE(k=16, epsilon0=4.0), or one with a matrix, "
                f"got {self.law!r}. To choose its noise for a promise, call calibrate(...)."
            )
        found = mechanism_of(law.realised, self.view)
        return found.checked(question) if type(found) is OneMessage else found.answering(question, n)

    @classmethod
    def has_sums(cls, name: str) -> bool:
        return getattr(ENCODERS.get(name), "summed", None) == name

    def adds_up(self, question: Any) -> bool:
        return self.law.summed in question.mechanisms

    def bag(self, description: Mapping[str, object], rows: NDArray[Any], *, secure: bool, rng: Rng = None) -> Bag:
        if self.view == "sums":
            return SummedBag(description, self.law.tally(rows), secure)
        return super().bag(description, rows, secure=secure)

    def counted(self, bag: Bag) -> Tally:
        if self.view == "reports":
            return super().counted(bag)
        if not isinstance(bag, SummedBag):
            raise InvalidInput(
                f'the bag must hold sums only where view="sums" is promised, got {type(bag).__name__}. Take the one '
                f"that shuffle(...) of this poll makes."
            )
        return Tally.handed_on(self.law, bag.rows, secure=bag.secure)

    def check_numbers(self, seen: NDArray[Any], n: int, honest: int) -> None:
        law, head = self.law, 1 + self.law.blocks
        if law.single:
            return super().check_numbers(seen, n, honest)
        if seen.shape != (law.tally_size,) or seen.dtype.kind not in "iu" or not 1 <= seen[0] <= n:
            raise InvalidInput(
                f"counts must be what tally(...) adds up to for at most n = {n} reports, got shape {seen.shape}. Add "
                f"up the tallies of a bag."
            )
        blocks = seen[1:head]
        if len(blocks) and (blocks.min() < 0 or blocks.max() > n or blocks.sum() != seen[0]):
            raise InvalidInput(
                f"counts must say of every report in which block it is, got {seen[0]} reports and others in the "
                f"blocks. Add up the tallies of a bag."
            )
        return None

    def answers(self, workload: Workload) -> bool:
        return isinstance(workload, Each) or self.law.single

    @property
    def _sums(self) -> ReportSums | None:
        """How reports that vote for nothing are decoded."""
        decoding = self.law.decoding
        return None if decoding is None else ReportSums(*decoding, np.eye(self.law.k))

    def _group(self, size: int, people: int) -> GroupLaw:
        law = self.law
        return super()._group(size, people) if law.single else GroupLaw(law.hit, law.miss, law.contrast)

    def _rows(self, tally: Tally, workload: Workload) -> Rows:
        if self._sums is not None:
            return self._sums.rows(tally.reports, tally.blocks)
        if self.law.blocks:
            return _signs(self.law, tally)
        return self._sum(tally, workload) if isinstance(workload, Weights) else super()._rows(tally, workload)

    def _sum(self, tally: Tally, workload: Weights) -> Rows:
        """A sum of numbers (Balle et al. 2019, Algorithm 2). With the mean weight taken off, random
        reports add nothing on average. What people's squared weights sum to is estimated, too: of
        that, ``drawn`` is due to rounding, and the rest is no more than the data can have.

        The variance is estimated from all reports. Where hardly one is random that says nothing,
        and a bound for all data stands in.
        """
        from shuffledp.mechanisms.exact_limits import Deviations
        from shuffledp.mechanisms.rows import Weighted

        law, people, contrast = self.law, tally.reports, self.law.contrast
        middle, weights, strays = self._centred(workload)
        gamma, rounded = law.k * law.miss, people * workload.drawn
        value = people * middle + float(tally.votes @ weights) / contrast
        spread = (float(tally.votes @ weights**2) - people * strays) / contrast - rounded
        spread = min(max(spread, 0.0), people * float((weights**2).max()))
        variance = (contrast * (rounded + gamma * spread) + people * strays) / contrast**2
        line, bound = np.array([variance]), None
        if people * gamma < HARDLY_ONE:
            most, far = self._worst_of_one(workload) / contrast**2, workload.spread / contrast
            bound = Deviations(people, *(np.array([each]) for each in (most, most, far, far)))
        return Weighted(
            np.array([value]),
            np.sqrt(line),
            line,
            grain=np.array([float(np.diff(workload.row).max()) / contrast]),
            skew=np.zeros(1),
            freedom=float(max(people - 1, 1)),
            deviations=bound,
            always=bound is not None,
        )

    def _centred(self, workload: Weights) -> tuple[float, Floats, float]:
        """The mean weight, the weights without it, and what random reports add to the variance."""
        middle = float(workload.row.mean())
        weights: Floats = workload.row - middle
        return middle, weights, self.law.miss * float(weights @ weights)

    def _worst_of_one(self, workload: Weights) -> float:
        """The largest variance of a report's weight, for any number between two points of the grid:
        it is concave between them.
        """
        _, weights, strays = self._centred(workload)
        contrast, noise = self.law.contrast, self.law.k * self.law.miss
        low, step = weights[:-1], np.diff(weights)
        part = np.clip((2.0 * noise * low + step) / (2.0 * contrast * step), 0.0, 1.0)
        found = noise * (low + part * step) ** 2 + part * (1.0 - part) * step**2
        return contrast * float(found.max()) + strays

    def predicted(self, workload: Workload, held: Any) -> Floats:
        if isinstance(workload, Each):
            return np.asarray(np.sqrt(self.law.count_variance(held)))
        if not isinstance(workload, Weights):
            return super().predicted(workload, held)
        inside, contrast = np.asarray(held, dtype=np.float64), self.law.contrast
        _, weights, strays = self._centred(workload)
        rounded = float(inside.sum()) * workload.drawn
        spread = float(inside @ weights**2) - rounded
        own = contrast * (rounded + self.law.k * self.law.miss * spread)
        return np.array([math.sqrt(own + float(inside.sum()) * strays) / contrast])

    def worst(self, workload: Workload, people: int) -> float:
        if isinstance(workload, Weights):
            return math.sqrt(people * self._worst_of_one(workload)) / self.law.contrast
        if self._sums is not None:
            return math.sqrt(people * float(self._sums.variances.max()))
        return super().worst(workload, people) if self.law.single else Mechanism.worst(self, workload, people)


def _signs(law: VotingRandomizer, tally: Tally) -> Rows:
    """Hadamard response: reports in a value's block vote for or against it."""
    from shuffledp.mechanisms.rows import Signs

    block = law.block_of
    alone = np.bincount(block)[block] == 1
    far = (1.0 - law.hit) / law.blocks
    return Signs(tally.votes, tally.blocks[block], alone, tally.reports, law.hit, far)


def _family(
    question: Any,
    name: str,
    view: View,
    target: Target,
    k: int | None,
    levels: Iterable[int] | None,
) -> tuple[Family, dict[str, Any]]:
    """The laws to choose from, and their parameters other than epsilon0. A shape that is left out
    is chosen for the target.
    """
    for wrong, given, fits in (("k", k, question.size is None), ("levels", levels, question.ordered)):
        if given is not None and not fits:
            raise InvalidInput(f"{wrong} must be left out for a {question}, got it. It says nothing of such reports.")
    if question.size is None:
        from shuffledp.mechanisms.grids import checked_steps

        return KRR, {"k": checked_steps(k, target) + 1}
    if question.ordered:
        from shuffledp.mechanisms.levels import checked_levels

        if sizes := checked_levels(levels, question, target):
            return OneLevel.of_sizes, {"sizes": sizes}
    if view == "sums":
        # Sums of any two encodings that leak alike err alike for rare values. Symmetric bits err no
        # more for common ones, and those of ``OUE`` do.
        return RAPPOR, {"k": question.size}
    return ENCODERS.get(name, KRR), {"k": question.size}


@lru_cache(maxsize=512)
def strongest(
    family: Family,
    parameters: tuple[tuple[str, Any], ...],
    crowd: int,
    epsilon: float,
    delta: float,
    rounds: int,
    view: View = "reports",
) -> float:
    """The largest epsilon0 that keeps the promise; a plan asks for the same one more than once."""
    from shuffledp.accounting.calibration import calibrate

    terms: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "rounds": rounds, "view": view}
    return calibrate(family, n=crowd, **terms, **dict(parameters)).value
