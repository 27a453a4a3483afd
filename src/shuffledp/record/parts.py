"""The parts of a record: what was asked, counted and learned, what is certified of it, what other
kinds of trust would bring, and what the ledger said.
"""

from __future__ import annotations

from typing import Annotated

from shuffledp.schema import (
    NULL,
    USUAL,
    Chance,
    Count,
    Epsilon,
    Limits,
    Mark,
    Part,
    Size,
    Some,
    Text,
    Texts,
    Time,
    Whole,
    part,
)
from shuffledp.search.terms import Searched

CLIPPED_TO_BOUNDS = "clipped to the bounds"
SPECIAL, LISTED = Mark(special=True), Mark(special=True, needed=True)  # fields that not every question has


@part
class Made(Part):
    """When a release was made, and with which versions."""

    when: Time
    shuffledp: Text
    python: Text
    numpy: Text
    scipy: Text
    cryptography: Text
    pyarrow: Text


@part
class InSeries(Part):
    """Which week of which series a release is, and of which period, if that was said. ``digest`` is
    that of the series' file: its name, its design, its number of weeks.
    """

    name: Text
    week: Some
    weeks: Some
    period: Text | None = None
    digest: Text

    def __str__(self) -> str:
        period = "" if self.period is None else f" ({self.period})"
        return f"week {self.week:,} of {self.weeks:,} of series {self.name}{period}"


@part
class Context(Part):
    """The question in the words of whoever asked, and what happened to values that answer it in no
    usual way; and of which series it is a week, if it is of one. ``engine`` is where the table was,
    if it was not on one computer.
    """

    question: Text
    what: Annotated[Text | None, USUAL] = None
    title: Annotated[Text | None, USUAL] = None
    source: Annotated[Text | None, USUAL] = None
    column: Annotated[Text | None, USUAL] = None
    cleaned: Annotated[Text | None, NULL] = None
    categories: Annotated[Text | None, NULL] = None
    outside: Annotated[Text | None, NULL] = None
    missing: Annotated[Text | None, NULL] = None
    by: Annotated[Text | None, SPECIAL] = None
    engine: Text | None = None
    series: InSeries | None = None

    @property
    def clips(self) -> bool:
        """Whether values outside the range of a mean were moved to its ends."""
        return self.outside == CLIPPED_TO_BOUNDS

    @property
    def may_be_clipped(self) -> bool:
        """Whether they were, or nobody said that they were not."""
        return self.outside is None or self.clips


@part
class Collected(Part):
    """Which collection over the network reports came from: its ``digest`` and its round. The
    reports of so many people ``arrived``, each in an envelope; or, where a person sends several or
    the shuffler adds some, ``messages`` in all, each in one. The ``invalid`` envelopes did not
    open, or held nothing that the design sends. Where the shuffler adds
    some, whoever is known to have sent an invalid one did not arrive.
    """

    digest: Text
    round: Some
    arrived: Count
    invalid: Count
    messages: Count | None = None

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
class Counted(Part):
    """What may be known of everybody: how many reports there were, how many values were missing,
    how many rows were left out since their person has another one, and how reports came over the
    network, if they did. Of a search for frequent words the reports
    are those of its first level, which has the smallest group, and ``search`` has all levels.
    """

    reports: Count
    missing: Count | None
    repeated: Count | None = None
    collected: Collected | None = None
    search: Annotated[Searched | None, SPECIAL] = None

    @property
    def people(self) -> int:
        """How many people the estimates speak of."""
        return self.reports if self.search is None else self.search.people


@part
class Tally(Part):
    """What the shuffler released, as far as the listed estimates depend on it; of a list that is
    cut, ``digest`` binds all votes.
    """

    reports: Count
    blocks: Annotated[tuple[Whole, ...] | None, LISTED] = None
    votes: tuple[Whole, ...]
    digest: Annotated[Text | None, SPECIAL] = None


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
