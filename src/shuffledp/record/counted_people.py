"""What was counted: the people, how their reports came, and the votes."""

from __future__ import annotations

from typing import Annotated

from shuffledp.record.question_kinds import COUNTS, LISTS, TOP
from shuffledp.schema import Count, Mark, Part, Some, Text, Whole, part
from shuffledp.search.terms import Searched


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
