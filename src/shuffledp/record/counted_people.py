"""What was counted: the people, how their reports came, the levels of a search, and the votes."""

from __future__ import annotations

from typing import Annotated

from shuffledp.design import Law
from shuffledp.record.question_kinds import COUNTS, LISTS, TOP
from shuffledp.schema import Chance, Count, Mark, Part, Some, Text, Texts, Whole, part

__all__ = ["Collected", "Counted", "SearchLevel", "Searched", "Tally"]


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
class SearchLevel(Part):
    """One level of a search for frequent words: which beginnings were followed for ``span`` symbols
    more, or which words were counted, in a group that each person was in with probability
    ``share``. The values in ``passed`` reached the threshold, whole words or beginnings, with so
    many ``votes``; ``fell_out`` others did too, and were too many. ``digest`` binds all votes.
    """

    share: Chance
    reports: Some
    words: Texts
    prefixes: Texts
    span: Count
    threshold: Some
    passed: Texts
    whole: tuple[bool, ...]
    votes: tuple[Count, ...]
    fell_out: Count
    fell_votes: Count
    digest: Text


@part
class Searched(Part):
    """A search for frequent words: what was agreed on, and its levels. ``delta`` is what the search
    promises; its levels promise a little less, and the rest is the chance that a group is smaller
    than they assume. Words of ``found_from`` holders or more are missed with probability ``miss``
    at most, and so is one that nobody holds but ``faked_from`` malicious people vote for. Those who
    count draw by ``counting_law``, or, if there is none, by the law of the design, as all others.
    """

    people: Some
    honest: Some
    delta: Chance
    k: Some
    candidates: Some
    least_holders: Some
    error: Chance
    spans: tuple[Some, ...]
    share: Some
    found_from: Count | None
    miss: Chance
    faked_from: Count | None = None
    counting_law: Law | None = None
    levels: tuple[SearchLevel, ...]

    @property
    def counting(self) -> SearchLevel | None:
        """The level at which words were counted, if any had been found."""
        last = self.levels[-1]
        return last if last.words else None


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
    search: Annotated[Searched | None, Mark(questions=TOP)] = None

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
    blocks: Annotated[tuple[Whole, ...] | None, Mark(questions=LISTS, needed=True)] = None
    votes: tuple[Whole, ...]
    digest: Annotated[Text | None, Mark(questions=COUNTS)] = None
