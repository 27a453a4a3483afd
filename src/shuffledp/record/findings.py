"""What was learned, what is certified of it, what other kinds of trust would bring, and what the
ledger said.
"""

from __future__ import annotations

from typing import Annotated

from shuffledp.record.question_kinds import COUNTS, CROSSTABS, DISTRIBUTIONS, MEANS
from shuffledp.schema import Chance, Count, Epsilon, Floats, Limits, Mark, Number, Part, Size, Text, Texts, part

CLIPPED_MEAN, CLIPPED_SUM = "mean of the clipped values", "sum of the clipped values"

Gaps = tuple[Chance | None, ...]


@part
class Ends(Part):
    """How many people's numbers were rounded to the lower and to the upper end of a range, and the
    step of the grid that they were rounded to.
    """

    step: Number
    value: Floats
    lower: Floats
    upper: Floats


@part
class AtQuantiles(Part):
    """The quantiles that were asked for: each ``value``, and the ends of the bins between which it
    lies at the level of the estimates. From ``one_lower`` to ``one_upper`` it would have been had
    one malicious person not cheated, from ``some_lower`` to ``some_upper`` had 1 % not.
    """

    at: tuple[Chance, ...]
    value: Floats
    lower: Floats
    upper: Floats
    one_lower: Floats | None = None
    one_upper: Floats | None = None
    some_lower: Floats | None = None
    some_upper: Floats | None = None

    @property
    def swayed(self) -> list[Floats | None]:
        """How far malicious people could have moved them, column by column."""
        return [self.one_lower, self.one_upper, self.some_lower, self.some_upper]


@part
class InRanges(Part):
    """How many people are in each range that was asked for, and between which limits."""

    value: Floats
    stderr: Floats
    lower: Floats
    upper: Floats


@part
class GroupShares(Part):
    """Of those in a group of a crosstab, which share is in each of its cells: a row per cell, null
    where too few are in the group to say. ``all_lower`` to ``all_upper`` hold at once, with the
    intervals of all counts.
    """

    value: Gaps
    lower: Gaps
    upper: Gaps
    all_lower: Gaps
    all_upper: Gaps


# What stands beside the estimates, by its field there.
FINDINGS: dict[str, type[Part]] = {"ends": Ends, "quantiles": AtQuantiles, "ranges": InRanges, "shares": GroupShares}


@part
class Estimates(Part):
    """What was learned: columns of equal length, one row per label. ``lower`` to ``upper`` is the
    interval of each, ``all_lower`` to ``all_upper`` the one that holds for all ``of`` them at once.
    ``sway`` is how far one malicious person could have moved each, null without a limit.
    """

    unit: Text
    level: Chance
    of: Count
    label: Texts
    value: Floats
    stderr: Floats
    lower: Floats
    upper: Floats
    all_lower: Floats
    all_upper: Floats
    together: Annotated[bool, Mark(questions=COUNTS)] = False
    ends: Annotated[Ends | None, Mark(questions=MEANS)] = None
    quantiles: Annotated[AtQuantiles | None, Mark(questions=DISTRIBUTIONS)] = None
    ranges: Annotated[InRanges | None, Mark(questions=DISTRIBUTIONS)] = None
    shares: Annotated[GroupShares | None, Mark(questions=CROSSTABS)] = None
    sway: tuple[Size | None, ...] | None = None

    @property
    def clipped(self) -> bool:
        """Whether this is known to be the mean of values that were clipped."""
        return self.label in ((CLIPPED_MEAN,), (CLIPPED_SUM,))


POINTS = Limits(0, 400)  # of a curve; shuffledp writes 49
# Relative: of randomized values among dummies, the lower end of delta may be far off.
NumericalError = Chance


@part
class EpsilonBound(Part):
    """Between which ends epsilon lies, at a delta."""

    delta: Chance
    lower: Epsilon
    upper: Epsilon


@part
class DeltaBound(Part):
    """Between which ends delta lies, at an epsilon."""

    epsilon: Size
    lower: Chance
    upper: Chance


@part
class Curve(Part):
    """Delta at many an epsilon, between two ends: each point costs time to verify."""

    epsilon: Annotated[tuple[Epsilon, ...], POINTS]
    lower: Annotated[tuple[Chance, ...], POINTS]
    upper: Annotated[tuple[Chance, ...], POINTS]


@part
class Certificate(Part):
    """What a privacy officer signs. ``delta`` is what is certified at the promised epsilon, if one
    was promised; ``alone`` the epsilon0 of one report without the shuffler, null where nothing is
    left without it. The ids are of the sentences in ``wording.SENTENCES`` that ``method`` and
    ``assumptions`` say.
    """

    epsilon: EpsilonBound
    delta: DeltaBound | None
    curve: Curve
    method: Text
    assumptions: Texts
    adversary: Text
    adjacency: Text
    users: Count
    honest: Count
    rounds: Count
    alone: Epsilon | None
    numerical_error: NumericalError | None
    theorem_ids: Texts = ()
    assumption_ids: Texts = ()


@part
class Alternative(Part):
    """One kind of trust, and the error that it would bring under the same promise: where nobody or
    a curator is trusted, that of the best ``mechanism`` known here.
    """

    trust: Text
    mechanism: Text
    epsilon0: Epsilon | None
    stderr: Size


@part
class Limit(Part):
    """What all releases about a population may add up to."""

    epsilon: Size
    delta: Chance


@part
class Total(Part):
    """Between which ends lies what they add up to."""

    lower: Size
    upper: Size


@part
class LedgerEntry(Part):
    """What the ledger said when the release was charged; ``record`` is its seal in the chain."""

    population: Text
    id: Count | None
    record: Text | None
    releases: Count
    limit: Limit
    total: Total
