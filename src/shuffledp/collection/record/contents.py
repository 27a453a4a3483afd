"""The parts of a record: every name, its type and its range, said once."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
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
from shuffledp.protocols.tasks.crossing import fits_a_page, row_labels
from shuffledp.protocols.tasks.quantile_task import MOST_ASKED

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
    "GroupShares",
    "Hashes",
    "InRanges",
    "InSeries",
    "LedgerEntry",
    "Limit",
    "Made",
    "SearchLevel",
    "Searched",
    "Tally",
    "Total",
    "WrittenLaw",
]

COUNTS = ("histogram", "frequency", "crosstab", "count")  # the tasks that count people
MEANS = ("mean", "sum")  # and the others
CATEGORIES, CROSSTABS = ("histogram", "crosstab"), ("crosstab",)  # those with categories, and with several columns
TOP = ("top",)  # the search for frequent words, which counts people too
DISTRIBUTIONS = ("quantile",)  # those that count people below cut points
CLIPPED_TO_BOUNDS = "clipped to the bounds"
CLIPPED_MEAN, CLIPPED_SUM = "mean of the clipped values", "sum of the clipped values"
MOST_NUMERICAL_ERROR = 1.0  # relative: of randomized values among dummies, the lower end of delta may be far off

Floats = tuple[float, ...]
Gaps = tuple[float | None, ...]
Category = str | int
Listed = int | list[Category]


def _pairs(value: Any) -> bool:
    """Pairs of cut points, as many as may be asked about."""
    return (
        isinstance(value, list)
        and len(value) <= MOST_ASKED
        and all(isinstance(each, list) and len(each) == 2 and all(map(number, each)) for each in value)
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


def _crossed(value: Any) -> bool:
    """The same for each of several columns."""
    return isinstance(value, list) and len(value) > 1 and all(map(_named, value))


def _rests(value: Any) -> bool:
    """What everything else counts as; of each column of a crosstab, perhaps nothing."""
    if isinstance(value, list):
        return all(each is None or text(each) or whole(each) for each in value)
    return text(value) or whole(value)


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
class InSeries(Part):
    """Which week of which series a release is, and of which period, if that was said. ``digest`` is
    that of the series' file: its name, its design, its number of weeks.
    """

    name: str = needed(text)
    week: int = needed(some)
    weeks: int = needed(some)
    period: str | None = perhaps(text, default=None)
    digest: str = needed(text)

    def __str__(self) -> str:
        period = "" if self.period is None else f" ({self.period})"
        return f"week {self.week:,} of {self.weeks:,} of series {self.name}{period}"


@part
class Asked(Part):
    """The question in the words of whoever asked, and what happened to values that answer it in no
    usual way; and of which series it is a week, if it is of one: editions 1 to 4 had no such.
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
    by: str | None = perhaps(text, default=None, tasks=CROSSTABS)
    learned: bool = needed(truth)
    series: InSeries | None = perhaps(InSeries, default=None)

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

    @classmethod
    def from_json(cls, law: Mapping[str, Any]) -> Self:
        """What a law writes."""
        return cls.read(dict(law), Reading(""), "law.")

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
    columns: tuple[str, ...] | None = needed_by(CROSSTABS, [text], default=None)
    categories: Listed | list[Listed] | None = needed_by(CATEGORIES, either(_named, _crossed), default=None)
    domain: int | list[Category] | None = needed_by(("frequency",), _named, default=None)
    method: str | None = needed_by(("frequency",), text, default=None)
    other: Category | list[Category | None] | None = needed_by(COUNTS, or_none(_rests), default=None)
    value: Category | None = needed_by(("count",), either(text, whole), default=None)
    lower: float | None = needed_by(MEANS, number, default=None)
    upper: float | None = needed_by(MEANS, number, default=None)
    cuts: Floats | None = needed_by(DISTRIBUTIONS, [number], default=None)
    at: Floats | None = needed_by(DISTRIBUTIONS, [CHANCE], default=None)
    ranges: list[list[float]] | None = needed_by(DISTRIBUTIONS, _pairs, default=None)
    tokens: tuple[str, ...] | None = needed_by(TOP, or_none([text]), default=None)
    longest: int | None = needed_by(TOP, some, default=None)
    words: tuple[str, ...] | None = needed_by(TOP, [text], default=None)
    prefixes: tuple[str, ...] | None = needed_by(TOP, [text], default=None)
    span: int | None = needed_by(TOP, count, default=None)
    room: int | None = needed_by(TOP, some, default=None)

    def __post_init__(self) -> None:
        """Refuse a table that no page could list, before anything spells it out."""
        listed: Any = self.categories if self.columns is not None else []
        sizes = [each if isinstance(each, int) else len(each) for each in listed] if isinstance(listed, list) else []
        if not fits_a_page(sizes):
            raise InvalidInput(
                f"the record of a release must have its usual form, got {str(sizes)[:60]} for the sizes of "
                f"design.categories. {REMEDY}"
            )

    @classmethod
    def from_json(cls, design: Mapping[str, Any]) -> Self:
        """What a design writes."""
        return cls.read(dict(design), Reading(design["task"]), "design.")

    @property
    def counts(self) -> bool:
        """Whether the task is to count people, and not a mean."""
        return self.task in (*COUNTS, *TOP)

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
        """All that is counted: the categories, or the cells of a crosstab and their sums; a mean
        has none.
        """
        if self.columns is not None:
            return list(row_labels(self.crossed))
        if self.value is not None:
            return [self.value]
        own: Any = self.domain if self.categories is None else self.categories
        if own is None:
            return []
        return range(own) if isinstance(own, int) else own

    @property
    def crossed(self) -> list[list[str]]:
        """The categories of each column of a crosstab, as text."""
        own: Any = self.categories if self.columns is not None else []
        return [[str(each) for each in (range(listed) if isinstance(listed, int) else listed)] for listed in own]

    @property
    def values(self) -> int:
        """How many values a report can be about: the categories, or the cells."""
        if self.value is not None:
            return 2  # the one that is counted, and anything else
        return prod(map(len, self.crossed)) if self.columns is not None else len(self.listed)

    @property
    def labels(self) -> list[str]:
        """What is counted, as text."""
        return [str(each) for each in self.listed]


@part
class Collected(Part):
    """Which collection over the network reports came from: its ``digest`` and its round. The
    reports of so many people ``arrived``, each in an envelope; or, where a person sends several or
    the shuffler adds some, ``messages`` in all, each in one. The ``invalid`` envelopes did not
    open, or held nothing that the design sends. ``messages`` came with edition 5; where the
    shuffler adds some, whoever is known to have sent an invalid one did not arrive.
    """

    digest: str = needed(text)
    round: int = needed(some)
    arrived: int = needed(count)
    invalid: int = needed(count)
    messages: int | None = perhaps(count, default=None)

    @property
    def envelopes(self) -> int:
        """How many the analyst opened."""
        return self.arrived if self.messages is None else self.messages

    @property
    def people(self) -> int:
        """Of how many the answer is: where they send several messages, an invalid one is a
        blank.
        """
        return self.arrived - self.invalid if self.messages is None else self.arrived


@part
class SearchLevel(Part):
    """One level of a search for frequent words: which beginnings were followed for ``span`` symbols
    more, or which words were counted, in a group that each person was in with probability
    ``share``. The values in ``passed`` reached the threshold, whole words or beginnings, with so
    many ``votes``; ``fell_out`` others did too, and were too many. ``digest`` binds all votes.
    """

    share: float = needed(CHANCE)
    reports: int = needed(some)
    words: tuple[str, ...] = needed([text])
    prefixes: tuple[str, ...] = needed([text])
    span: int = needed(count)
    threshold: int = needed(some)
    passed: tuple[str, ...] = needed([text])
    whole: tuple[bool, ...] = needed([truth])
    votes: tuple[int, ...] = needed([count])
    fell_out: int = needed(count)
    fell_votes: int = needed(count)
    digest: str = needed(text)


@part
class Searched(Part):
    """A search for frequent words: what was agreed on, and its levels. ``delta`` is what the search
    promises; its levels promise a little less, and the rest is the chance that a group is smaller
    than they assume. Words of ``found_from`` holders or more are missed with probability ``miss``
    at most, and so is one that nobody holds but ``faked_from`` malicious people vote for. Those who
    count draw by ``counting_law``, or, if there is none, by the law of the design, as all others.
    """

    people: int = needed(some)
    least: int = needed(some)
    delta: float = needed(CHANCE)
    k: int = needed(some)
    candidates: int = needed(some)
    least_holders: int = needed(some)
    error: float = needed(CHANCE)
    spans: tuple[int, ...] = needed([some])
    share: int = needed(some)
    found_from: int | None = needed(or_none(count))
    miss: float = needed(CHANCE)
    faked_from: int | None = perhaps(count, default=None)
    counting_law: WrittenLaw | None = perhaps(WrittenLaw, default=None)
    levels: tuple[SearchLevel, ...] = needed([SearchLevel])

    @property
    def counting(self) -> SearchLevel | None:
        """The level at which words were counted, if any had been found."""
        last = self.levels[-1]
        return last if last.words else None


@part
class Counted(Part):
    """What may be known of everybody: how many reports there were, how many values were missing,
    how many rows were left out since their person has another one, and how reports came over the
    network, if they did; editions 1 to 3 had no such. Of a search for frequent words the reports
    are those of its first level, which has the smallest group, and ``search`` has all levels.
    """

    reports: int = needed(count)
    missing: int | None = needed(or_none(count))
    repeated: int | None = perhaps(count, default=None)
    collected: Collected | None = perhaps(Collected, default=None)
    search: Searched | None = perhaps(Searched, default=None, tasks=TOP)

    @property
    def people(self) -> int:
        """How many people the estimates speak of."""
        return self.reports if self.search is None else self.search.people


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
    blocks: tuple[int, ...] | None = needed_by((*COUNTS, *TOP), [whole], default=None)
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
    ``sway`` is how far one malicious person could have moved each, null without a limit; editions 1
    to 4 did not say.
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
        """Whether this is known to be the mean of values that were clipped; pages of the first
        edition do not say it here.
        """
        return self.label in ((CLIPPED_MEAN,), (CLIPPED_SUM,))


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
