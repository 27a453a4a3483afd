"""What was learned: the estimates, and what some tasks add to them."""

from __future__ import annotations

from shuffledp.record.forms import (
    CHANCE,
    SIZE,
    Floats,
    Part,
    count,
    needed,
    number,
    or_none,
    part,
    perhaps,
    text,
    truth,
)
from shuffledp.record.task_kinds import COUNTS, CROSSTABS, DISTRIBUTIONS, MEANS

__all__ = [
    "CLIPPED_MEAN",
    "CLIPPED_SUM",
    "AtQuantiles",
    "Ends",
    "Estimates",
    "GroupShares",
    "InRanges",
]

CLIPPED_MEAN, CLIPPED_SUM = "mean of the clipped values", "sum of the clipped values"

Gaps = tuple[float | None, ...]


@part
class Ends(Part):
    """How many people's numbers were rounded to the lower and to the upper end of a range, and the
    step of the grid that they were rounded to.
    """

    step: float = needed(number)
    value: Floats = needed([number])
    lower: Floats = needed([number])
    upper: Floats = needed([number])


@part
class AtQuantiles(Part):
    """The quantiles that were asked for: each ``value``, and the ends of the bins between which it
    lies at the level of the estimates. From ``one_lower`` to ``one_upper`` it would have been had
    one malicious person not cheated, from ``some_lower`` to ``some_upper`` had 1 % not.
    """

    at: Floats = needed([CHANCE])
    value: Floats = needed([number])
    lower: Floats = needed([number])
    upper: Floats = needed([number])
    one_lower: Floats | None = perhaps([number], default=None)
    one_upper: Floats | None = perhaps([number], default=None)
    some_lower: Floats | None = perhaps([number], default=None)
    some_upper: Floats | None = perhaps([number], default=None)

    @property
    def swayed(self) -> list[Floats | None]:
        """How far malicious people could have moved them, column by column."""
        return [self.one_lower, self.one_upper, self.some_lower, self.some_upper]


@part
class InRanges(Part):
    """How many people are in each range that was asked for, and between which limits."""

    value: Floats = needed([number])
    stderr: Floats = needed([number])
    lower: Floats = needed([number])
    upper: Floats = needed([number])


@part
class GroupShares(Part):
    """Of those in a group of a crosstab, which share is in each of its cells: a row per cell, null
    where too few are in the group to say. ``all_lower`` to ``all_upper`` hold at once, with the
    intervals of all counts.
    """

    value: Gaps = needed([or_none(CHANCE)])
    lower: Gaps = needed([or_none(CHANCE)])
    upper: Gaps = needed([or_none(CHANCE)])
    all_lower: Gaps = needed([or_none(CHANCE)])
    all_upper: Gaps = needed([or_none(CHANCE)])


@part
class Estimates(Part):
    """What was learned: columns of equal length, one row per label. ``lower`` to ``upper`` is the
    interval of each, ``all_lower`` to ``all_upper`` the one that holds for all ``of`` them at once.
    ``sway`` is how far one malicious person could have moved each, null without a limit.
    """

    unit: str = needed(text)
    level: float = needed(CHANCE)
    of: int = needed(count)
    label: tuple[str, ...] = needed([text])
    value: Floats = needed([number])
    stderr: Floats = needed([number])
    lower: Floats = needed([number])
    upper: Floats = needed([number])
    all_lower: Floats = needed([number])
    all_upper: Floats = needed([number])
    together: bool = perhaps(truth, default=False, tasks=COUNTS)
    ends: Ends | None = perhaps(Ends, default=None, tasks=MEANS)
    quantiles: AtQuantiles | None = perhaps(AtQuantiles, default=None, tasks=DISTRIBUTIONS)
    ranges: InRanges | None = perhaps(InRanges, default=None, tasks=DISTRIBUTIONS)
    shares: GroupShares | None = perhaps(GroupShares, default=None, tasks=CROSSTABS)
    sway: tuple[float | None, ...] | None = perhaps([or_none(SIZE)], default=None)

    @property
    def clipped(self) -> bool:
        """Whether this is known to be the mean of values that were clipped."""
        return self.label in ((CLIPPED_MEAN,), (CLIPPED_SUM,))
