"""The mean or the sum of a number that people hold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from shuffledp.judge.lattice import Array
from shuffledp.judge.laws import CountedLaw
from shuffledp.judge.rows import Estimated, counted_at_ends, counted_mean
from shuffledp.judge.shares import CountedShares
from shuffledp.record import Designed, Record
from shuffledp.record.estimated import CLIPPED_MEAN, CLIPPED_SUM
from shuffledp.verify.by_task.told_answer import LOOSER, Measure, Told, tails_of
from shuffledp.verify.by_task.told_values import vote_weight
from shuffledp.verify.outcomes import Check, agree, holds

__all__ = ["ToldMean", "ToldSum"]


class ToldMean(Told):
    """The mean of a number."""

    same = 1e-9
    clipped = CLIPPED_MEAN  # what is estimated where values were moved to the ends
    adds_up = False

    def among(self, people: int) -> int:
        """By how many the sum of what they hold is divided."""
        return 1 if self.adds_up else people

    def times(self, people: int) -> int:
        """How many times their mean it is."""
        return people if self.adds_up else 1

    def families(self, design: Designed) -> tuple[str, ...]:
        return ("krr", "split")

    def size(self, design: Designed, law: CountedLaw) -> int:
        return law.k

    def measure(self, design: Designed) -> Measure:
        lower, upper = design.bounds
        return Measure(width=upper - lower, among=self.among(design.n))

    def of(self, design: Designed) -> int:
        return 1

    def unit(self, design: Designed) -> str:
        return design.task

    def labels(self, record: Record) -> list[str]:
        known = record.estimates.ends is not None or record.design.law.randomizer == "split"
        return [self.clipped if known and record.asked.clips else record.design.task]

    def misshapen(self, record: Record, law: CountedLaw) -> Check | None:
        """A stranger may write any number of points, and as many would be made."""
        votes = len(record.tally.votes)
        if votes == (2 if isinstance(law, CountedShares) else law.k):
            return None
        return holds("points of the grid", f"{votes} votes", f"{law.k} points", "the design", False)

    def estimated(self, record: Record, law: CountedLaw) -> Estimated:
        design, tally = record.design, record.tally
        if not isinstance(law, CountedShares):
            return counted_mean(tally.votes, law, design.bounds, self.times(sum(tally.votes)))
        lower, upper = map(Fraction, design.bounds)
        times = self.times(tally.reports)
        step = (upper - lower) * times / ((law.k - 1) * tally.reports)  # of the grid, in the answer
        return law.estimated(tally.votes, tally.reports, float(lower * times), float(step))

    def sway(self, record: Record, law: CountedLaw) -> Array:
        lower, upper = map(Fraction, record.design.bounds)
        weight = vote_weight(law) * (upper - lower) / self.among(record.tally.reports)
        return np.full(len(record.estimates.value), float(weight))

    def further(self, record: Record, found: Estimated, law: CountedLaw) -> list[Check]:
        """How many people's numbers were rounded to either end of the range."""
        claimed = record.estimates.ends
        if claimed is None:
            return []
        ends = counted_at_ends(record.tally.votes, law)
        low, high = ends.limits(tails_of(record, 1)[0] / 2.0)
        lower, upper = map(Fraction, record.design.bounds)
        step = float((upper - lower) / (law.k - 1))
        how, loosely = "the votes for the ends, as fractions", LOOSER * (ends.within + ends.rounding)
        return [
            agree(
                "a step of the grid", [claimed.step], np.array([step]), "the design", within=np.array([1e-12 * step])
            ),
            agree("people at the ends", claimed.value, ends.values, how, within=ends.within),
            agree("people at the ends, at least", claimed.lower, low, how, within=loosely),
            agree("people at the ends, at most", claimed.upper, high, how, within=loosely),
        ]


class ToldSum(ToldMean):
    """The sum of a number."""

    clipped = CLIPPED_SUM
    adds_up = True
