"""The parts of a record: every name, its type and its range, said once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from shuffledp.collection.record.forms import (
    CHANCE,
    EPSILON,
    REMEDY,
    SIZE,
    Part,
    Reading,
    between,
    count,
    either,
    needed,
    needed_by,
    number,
    or_none,
    part,
    perhaps,
    some,
    text,
    time,
    truth,
    usual,
    whole,
)
from shuffledp.errors import InvalidInput

__all__ = [
    "Alternative",
    "Asked",
    "AtQuantiles",
    "Certificate",
    "Collected",
    "Counted",
    "Curve",
    "DeltaBound",
    "Designed",
    "Ends",
    "EpsilonBound",
    "Estimates",
    "Hashes",
    "InRanges",
    "LedgerEntry",
    "Limit",
    "Made",
    "Tally",
    "Total",
    "WrittenLaw",
]

COUNTS, MEANS = ("histogram", "frequency"), ("mean",)  # the tasks that count people, and the others
DISTRIBUTIONS = ("quantile",)  # those that count people below cut points
CLIPPED_TO_BOUNDS = "clipped to the bounds"
CLIPPED_MEAN = "mean of the clipped values"
MOST_NUMERICAL_ERROR = 0.1

Floats = tuple[float, ...]
Category = str | int


def _pairs(value: Any) -> bool:
    """Pairs of cut points."""
    return isinstance(value, list) and all(
        isinstance(each, list) and len(each) == 2 and all(map(number, each)) for each in value
    )


def _levels(value: Any) -> bool:
    """The laws of several levels, none with others inside."""
    return (
        isinstance(value, list)
        and len(value) > 0
        and all(isinstance(each, dict) and set(each) == {"randomizer", "k", "epsilon0", "integers"} for each in value)
    )


def _named(value: Any) -> bool:
    """How many categories there are, or their list."""
    return count(value) or (isinstance(value, list) and all(text(each) or whole(each) for each in value))


@part
class Made(Part):
    """When a release was made, and with which versions."""

    when: str = needed(time)
    shuffledp: str = needed(text)
    python: str = needed(text)
    numpy: str = needed(text)
    scipy: str = needed(text)
    cryptography: str = needed(text)
    pyarrow: str = needed(text)


@part
class Asked(Part):
    """The question in the words of whoever asked, and what happened to values that answer it in no
    usual way.
    """

    task: str = needed(text)
    what: str | None = usual(text, default=None)
    title: str | None = usual(text, default=None)
    source: str | None = usual(text, default=None)
    column: str | None = usual(text, default=None)
    cleaned: str | None = perhaps(or_none(text), default=None)
    categories: str | None = perhaps(or_none(text), default=None)
    outside: str | None = perhaps(or_none(text), default=None)
    missing: str | None = perhaps(or_none(text), default=None)
    learned: bool = needed(truth)

    @property
    def clips(self) -> bool:
        """Whether values outside the range of a mean were moved to its ends."""
        return self.outside == CLIPPED_TO_BOUNDS

    @property
    def may_be_clipped(self) -> bool:
        """Whether they were, or nobody said that they were not."""
        return self.outside is None or self.clips


@part
class WrittenLaw(Part):
    """How one report is drawn: a family of randomizers, its parameters, and the whole numbers out
    of 2^64 that decide every draw, as text. Every family has parameters of its own; epsilon0 is
    null where a report is the truth, which only fakes hide.
    """

    randomizer: str = needed(text)
    k: int | None = perhaps(whole, default=None)
    epsilon0: float | None = needed(or_none(number))
    integers: tuple[str, ...] = needed([text])
    weights: Floats = perhaps([CHANCE], default=())
    questions: list[dict[str, Any]] | None = perhaps(_levels, default=None)

    others = (number, text)

    @classmethod
    def read(cls, value: object, reading: Reading, where: str = "") -> Self:
        """Of one of several levels, ``questions`` are the laws of the levels, the ``weights`` how
        likely each is; any other law has ``k`` values.
        """
        law = Part.read.__func__(cls, value, reading, where)  # type: ignore[attr-defined]
        read: Self = law
        if (read.k is None) == (read.questions is None):
            raise InvalidInput(
                f"the record of a release must have its usual form, got a difference in {f'{where}k'!r}. {REMEDY}"
            )
        return read

    @property
    def parameters(self) -> dict[str, Any]:
        """All that its family is told, in the order of the design."""
        return {name: value for name, value in self.as_json().items() if name not in ("randomizer", "integers")}


@part
class Designed(Part):
    """The design, as every device has it: as it was written, also if no device would run it. That
    is for ``protocols.design`` to refuse, and for ``verify`` to notice.
    """

    version: int = needed(whole)
    task: str = needed(text)
    n: int = needed(some)
    least: int = needed(some)
    rounds: int = needed(some)
    epsilon: float | None = needed(or_none(SIZE))
    delta: float = needed(CHANCE)
    law: WrittenLaw = needed(WrittenLaw)
    learned: bool = needed(truth)
    categories: int | list[Category] | None = needed_by(("histogram",), _named, default=None)
    domain: int | list[Category] | None = needed_by(("frequency",), _named, default=None)
    method: str | None = needed_by(("frequency",), text, default=None)
    other: Category | None = needed_by(COUNTS, or_none(either(text, whole)), default=None)
    lower: float | None = needed_by(MEANS, number, default=None)
    upper: float | None = needed_by(MEANS, number, default=None)
    cuts: Floats | None = needed_by(DISTRIBUTIONS, [number], default=None)
    at: Floats | None = needed_by(DISTRIBUTIONS, [CHANCE], default=None)
    ranges: list[list[float]] | None = needed_by(DISTRIBUTIONS, _pairs, default=None)

    @classmethod
    def from_json(cls, design: Mapping[str, Any]) -> Self:
        """What a design writes."""
        return cls.read(dict(design), Reading(design["task"]), "design.")

    @property
    def counts(self) -> bool:
        """Whether the task is to count people, and not a mean."""
        return self.task in COUNTS

    @property
    def distributes(self) -> bool:
        """Whether the task is to count people below cut points."""
        return self.task in DISTRIBUTIONS

    @property
    def people(self) -> bool:
        """Whether estimates are numbers of people."""
        return self.counts or self.distributes

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of a mean, or of a distribution function."""
        if self.cuts is not None:
            return self.cuts[0], self.cuts[-1]
        assert self.lower is not None
        assert self.upper is not None
        return self.lower, self.upper

    @property
    def listed(self) -> range | list[Category]:
        """The categories; a mean has none."""
        own = self.domain if self.categories is None else self.categories
        if own is None:
            return []
        return range(own) if isinstance(own, int) else own

    @property
    def labels(self) -> list[str]:
        """The categories as text."""
        return [str(each) for each in self.listed]


@part
class Collected(Part):
    """Which collection over the network reports came from: its ``digest`` and its round. So many
    envelopes ``arrived``; the ``invalid`` ones did not open, or held no report of the design.
    """

    digest: str = needed(text)
    round: int = needed(some)
    arrived: int = needed(count)
    invalid: int = needed(count)


@part
class Counted(Part):
    """What may be known of everybody: how many reports there were, how many values were missing,
    how many rows were left out since their person has another one, and how reports came over the
    network, if they did; editions 1 to 3 had no such.
    """

    reports: int = needed(count)
    missing: int | None = needed(or_none(count))
    repeated: int | None = perhaps(count, default=None)
    collected: Collected | None = perhaps(Collected, default=None)


@part
class EpsilonBound(Part):
    """Between which ends epsilon lies, at a delta."""

    delta: float = needed(CHANCE)
    lower: float = needed(EPSILON)
    upper: float = needed(EPSILON)


@part
class DeltaBound(Part):
    """Between which ends delta lies, at an epsilon."""

    epsilon: float = needed(SIZE)
    lower: float = needed(CHANCE)
    upper: float = needed(CHANCE)


@part
class Curve(Part):
    """Delta at many an epsilon, between two ends."""

    epsilon: Floats = needed([EPSILON])
    lower: Floats = needed([CHANCE])
    upper: Floats = needed([CHANCE])


@part
class Certificate(Part):
    """What a privacy officer signs. ``delta`` is what is certified at the promised epsilon, if one
    was promised; ``alone`` the epsilon0 of one report without the shuffler, null where nothing is
    left without it. The ids are of the sentences in ``wording.WORDINGS`` that ``method`` and
    ``assumptions`` say; editions 1 and 2 had the words alone.
    """

    epsilon: EpsilonBound = needed(EpsilonBound)
    delta: DeltaBound | None = needed(or_none(DeltaBound))
    curve: Curve = needed(Curve)
    method: str = needed(text)
    assumptions: tuple[str, ...] = needed([text])
    adversary: str = needed(text)
    adjacency: str = needed(text)
    users: int = needed(count)
    honest: int = needed(count)
    rounds: int = needed(count)
    alone: float | None = needed(or_none(EPSILON))
    numerical_error: float | None = needed(or_none(between(0.0, MOST_NUMERICAL_ERROR)))
    theorem_ids: tuple[str, ...] = perhaps([text], default=())
    assumption_ids: tuple[str, ...] = perhaps([text], default=())


@part
class Alternative(Part):
    """One kind of trust, and the error that it would bring under the same promise."""

    trust: str = needed(text)
    epsilon0: float | None = needed(or_none(EPSILON))
    stderr: float = needed(SIZE)


@part
class Tally(Part):
    """What the shuffler released, as far as the listed estimates depend on it; of a list that is
    cut, ``digest`` binds all votes.
    """

    reports: int = needed(count)
    blocks: tuple[int, ...] | None = needed_by(COUNTS, [whole], default=None)
    votes: tuple[int, ...] = needed([whole])
    digest: str | None = perhaps(text, default=None, tasks=COUNTS)


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
    lies at the level of the estimates.
    """

    at: Floats = needed([CHANCE])
    value: Floats = needed([number])
    lower: Floats = needed([number])
    upper: Floats = needed([number])


@part
class InRanges(Part):
    """How many people are in each range that was asked for, and between which limits."""

    value: Floats = needed([number])
    stderr: Floats = needed([number])
    lower: Floats = needed([number])
    upper: Floats = needed([number])


@part
class Estimates(Part):
    """What was learned: columns of equal length, one row per label. ``lower`` to ``upper`` is the
    interval of each, ``all_lower`` to ``all_upper`` the one that holds for all ``of`` them at once.
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

    @property
    def clipped(self) -> bool:
        """Whether this is known to be the mean of values that were clipped; pages of the first
        edition do not say it here.
        """
        return self.label == (CLIPPED_MEAN,)


@part
class Limit(Part):
    """What all releases about a population may add up to."""

    epsilon: float = needed(SIZE)
    delta: float = needed(CHANCE)


@part
class Total(Part):
    """Between which ends lies what they add up to."""

    lower: float = needed(SIZE)
    upper: float = needed(SIZE)


@part
class LedgerEntry(Part):
    """What the ledger said when the release was charged; ``record`` is its seal in the chain."""

    population: str = needed(text)
    id: int | None = needed(or_none(count))
    record: str | None = needed(or_none(text))
    releases: int = needed(count)
    limit: Limit = needed(Limit)
    total: Total = needed(Total)


@part
class Hashes(Part):
    """SHA-256 of every part, as sorted JSON without spaces."""

    made: str = needed(text)
    asked: str = needed(text)
    design: str = needed(text)
    counted: str = needed(text)
    certificate: str = needed(text)
    comparison: str = needed(text)
    tally: str = needed(text)
    estimates: str = needed(text)
    secure: str = needed(text)
    notes: str = needed(text)
    ledger: str = needed(text)
