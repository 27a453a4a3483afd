"""What is checked of the estimates of any task, column by column, against the votes they were made
of; and what a kind of answer adds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shuffledp.judge.lattice import Array
from shuffledp.judge.laws import CountedLaw
from shuffledp.judge.rows import Estimated
from shuffledp.judge.shares import CountedShares
from shuffledp.record import Designed, Record
from shuffledp.verify.outcomes import Check, agree, equal

__all__ = ["AMONG_FAKES", "LOOSER", "Measure", "Told", "places_of", "tails_of"]

LEVEL = 0.95
LOOSER = 10.0  # limits may be so many times farther off than estimates: they are found by halving
AMONG_FAKES = ("fakes", "dummies")
INVERTED = "the test that defines it, inverted by halving"
MOVED = "what one malicious person can move"


@dataclass(frozen=True, slots=True)
class Measure:
    """How an error is measured: ``width`` is that of the range of a mean, and None where people are
    counted; ``bins`` how many there are, where people are counted below cut points.
    """

    width: float | None = None
    bins: int | None = None
    among: int = 1  # a mean is divided by so many
    single: bool = False  # one count, which one person moves by 1


class Told(ABC):
    """The answer to one or several tasks, as the votes tell it."""

    same: float  # how far off, relatively, the sway may be

    @abstractmethod
    def families(self, design: Designed) -> tuple[str, ...]:
        """The randomizers that answer the task; the usual one first."""

    @abstractmethod
    def size(self, design: Designed, law: CountedLaw) -> int:
        """How many values a report can name."""

    def known_rest(self, design: Designed) -> bool:
        """Whether what is not listed counts as something that is, or is refused."""
        return design.other is None

    @abstractmethod
    def measure(self, design: Designed) -> Measure:
        """How an error to expect is measured."""

    @abstractmethod
    def of(self, design: Designed) -> int:
        """How many numbers are estimated."""

    def unit(self, design: Designed) -> str:
        """What the estimates count."""
        return "people"

    @abstractmethod
    def labels(self, record: Record) -> list[str]:
        """What they are called."""

    @abstractmethod
    def misshapen(self, record: Record, law: CountedLaw) -> Check | None:
        """What a stranger wrote instead of columns that can be compared, if so."""

    @abstractmethod
    def estimated(self, record: Record, law: CountedLaw) -> Estimated:
        """The estimates, from the votes."""

    @abstractmethod
    def sway(self, record: Record, law: CountedLaw) -> Array:
        """How far one person's report can move each."""

    def further(self, record: Record, found: Estimated, law: CountedLaw) -> list[Check]:
        """Whatever else is told beside them."""
        return []

    def check(self, record: Record, law: CountedLaw) -> list[Check]:
        """Every column of the table of estimates."""
        misshapen = self.misshapen(record, law)
        if misshapen is not None:
            return [misshapen]
        claimed, found, design = record.estimates, self.estimated(record, law), record.design
        loosely = found.within + found.rounding
        variance = "the variance of the votes, as fractions"
        checks = [
            equal("labels of the estimates", list(claimed.label), self.labels(record), "the design"),
            equal("how many were estimated", claimed.of, self.of(design), "the design"),
            equal("what is estimated", claimed.unit, self.unit(design), "the task"),
            equal("level of the limits", claimed.level, LEVEL, "what shuffledp writes"),
            agree("estimates", claimed.value, found.values, "votes and integers, as fractions", within=found.within),
            agree("standard errors", claimed.stderr, found.errors, variance, within=loosely),
        ]
        each, together = tails_of(record, self.of(design))
        low, high = found.limits(each)
        all_low, all_high = found.limits(together)
        for what, said, limit in (
            ("each: lower", claimed.lower, low),
            ("each: upper", claimed.upper, high),
            ("all together: lower", claimed.all_lower, all_low),
            ("all together: upper", claimed.all_upper, all_high),
        ):
            checks.append(agree(f"limits, {what}", said, limit, INVERTED, within=LOOSER * loosely))
        return [*checks, *self._check_sway(record, law), *self.further(record, found, law)]

    def _check_sway(self, record: Record, law: CountedLaw) -> list[Check]:
        """How far one malicious person could have moved an estimate: the weights that a report can
        have, from the design.
        """
        claimed = record.estimates.sway
        if claimed is None:
            return []
        if isinstance(law, CountedShares):
            how = "all messages of one person alike; shares without a limit"
            return [equal(MOVED, list(claimed), [law.sway(1.0)], how)]
        how = "the largest less the smallest weight of a report, as fractions"
        said, found = [np.nan if each is None else each for each in claimed], self.sway(record, law)
        return [agree(MOVED, said, found, how, within=self.same * found)]


def tails_of(record: Record, of: int) -> tuple[float, float]:
    """What each limit may miss by itself, and what it may miss if all are to hold at once."""
    missed = 1.0 - record.estimates.level
    return missed / 2.0, missed / (2.0 * of)


def places_of(labels: Sequence[str], design: Designed) -> list[int]:
    """Where these categories stand in the design; what is none is left out."""
    if isinstance(design.listed, range):
        size = len(design.listed)
        short = (label for label in labels if label.isdecimal() and len(label) <= len(str(size)))
        return [int(label) for label in short if int(label) < size and str(int(label)) == label]
    known = {label: place for place, label in enumerate(design.labels)}
    return [known[label] for label in labels if label in known]
