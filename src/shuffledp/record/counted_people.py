"""What was counted: the people, how their reports came, the levels of a search, and the votes."""

from __future__ import annotations

from shuffledp.record.designed import WrittenLaw
from shuffledp.record.forms import (
    CHANCE,
    Part,
    count,
    needed,
    needed_by,
    or_none,
    part,
    perhaps,
    some,
    text,
    truth,
    whole,
)
from shuffledp.record.task_kinds import COUNTS, LISTS, TOP

__all__ = ["Collected", "Counted", "SearchLevel", "Searched", "Tally"]


@part
class Collected(Part):
    """Which collection over the network reports came from: its ``digest`` and its round. The
    reports of so many people ``arrived``, each in an envelope; or, where a person sends several or
    the shuffler adds some, ``messages`` in all, each in one. The ``invalid`` envelopes did not
    open, or held nothing that the design sends. Where the shuffler adds
    some, whoever is known to have sent an invalid one did not arrive.
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
    network, if they did. Of a search for frequent words the reports
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
class Tally(Part):
    """What the shuffler released, as far as the listed estimates depend on it; of a list that is
    cut, ``digest`` binds all votes.
    """

    reports: int = needed(count)
    blocks: tuple[int, ...] | None = needed_by(LISTS, [whole], default=None)
    votes: tuple[int, ...] = needed([whole])
    digest: str | None = perhaps(text, default=None, tasks=COUNTS)
