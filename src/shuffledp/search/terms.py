"""What is recorded of a search for frequent words: what everybody agreed on, and its levels."""

from __future__ import annotations

from shuffledp.design import Law
from shuffledp.schema import Chance, Count, Part, Some, Text, Texts, part


@part
class Terms(Part):
    """A search for the ``k`` most frequent words of ``people`` people, ``honest`` of them so.

    The first level tells the prefixes of ``spans[0]`` symbols apart, the next those of ``spans[1]``
    more, and so on; at most ``candidates`` prefixes go on from each. Every level but the last has
    ``share`` of 2^32 people, drawn person by person; whoever is left counts what was found. With
    probability 1 - ``error`` nothing goes on, at any level, that fewer than ``least_holders``
    people hold. The whole search promises ``delta``; its levels promise a little less, and the rest
    is the chance that a group is smaller than they assume.
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


@part
class SearchLevel(Part):
    """One level: which prefixes were followed for ``span`` symbols more, or which words were
    counted, in a group that each person was in with probability ``share``. The values in ``passed``
    reached the threshold, whole words or prefixes, with so many ``votes``; ``fell_out`` others did
    too, and were too many. ``digest`` binds all votes.
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
class Searched(Terms):
    """A search for frequent words that is over: what was agreed on, and its levels. ``delta`` is
    that of the whole search; its levels promise a little less. Words of ``found_from`` holders or
    more are missed with probability ``miss`` at most, and so is one that nobody holds but
    ``faked_from`` malicious people vote for. Those who count draw by ``counting_law``, or, if there
    is none, by the law of the design, as all others.
    """

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
