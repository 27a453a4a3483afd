"""From the tallies so far to the next level, or to the end: a function of public numbers alone, so
that whoever has the tallies arrives at the same levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput
from shuffledp.protocols.design import Design
from shuffledp.protocols.tasks import TopTask
from shuffledp.protocols.top_words.alphabet import Alphabet
from shuffledp.protocols.top_words.level_places import Beginning, Codes, LevelPlaces
from shuffledp.protocols.top_words.search import Group, TopSearch

__all__ = ["AskedLevel", "NextLevel", "Progress", "progress_of"]


@dataclass(frozen=True, eq=False)
class NextLevel:
    """A level that can be asked: who is, and from how many votes on a value goes on."""

    task: TopTask
    group: Group
    threshold: int
    counting: bool

    @property
    def places(self) -> LevelPlaces:
        """The values that it tells apart."""
        return self.task.places


@dataclass(frozen=True, eq=False)
class AskedLevel(NextLevel):
    """A level that was asked: the votes for its values, and which of them went on, those with most
    votes first. ``fell_out`` others reached the threshold too, with at most ``fell_votes`` votes.
    """

    votes: NDArray[np.int64]
    reports: int
    passed: tuple[int, ...]
    fell_out: int
    fell_votes: int

    @property
    def went_on(self) -> list[Beginning]:
        """The values that went on."""
        return [self.places.beginning(place) for place in self.passed]


@dataclass(frozen=True, eq=False)
class Progress:
    """A search as far as it has come: ``next`` is the level to ask, or None at the end."""

    search: TopSearch
    asked: tuple[AskedLevel, ...]
    next: NextLevel | None

    def design(self) -> Design:
        """The next level, written down."""
        if self.next is None:
            raise InvalidInput("a search must have a level left to be asked, got one that is over. Read its words.")
        return self.search.design(self.next.task, self.next.group)

    @property
    def counted(self) -> AskedLevel | None:
        """The level at which the words were counted, if there were any, and it was asked."""
        last = self.asked[-1] if self.asked else None
        return last if last is not None and last.counting else None


def progress_of(search: TopSearch, tallies: Sequence[Any]) -> Progress:
    """Where a search stands when its first levels gave these ``tallies``."""
    asked, words, depth = list[AskedLevel](), list[tuple[int, Codes]](), 0
    open_prefixes: list[Codes] = [()]
    for span in search.spans:
        if not open_prefixes:
            break
        level = _level(search, (), open_prefixes, span, len(asked), counting=False)
        if len(asked) == len(tallies):
            return Progress(search, tuple(asked), level)
        done = _count(search, level, tallies[len(asked)], most=search.candidates)
        asked.append(done)
        depth += span
        beginnings = [(int(done.votes[place]), done.places.beginning(place)) for place in done.passed]
        words += [(votes, each.codes) for votes, each in beginnings if each.whole]
        open_prefixes = [each.codes for _, each in beginnings if not each.whole]
    longer = open_prefixes if depth == search.longest else []
    room = 2 * search.candidates - len(longer)
    known = [*longer, *(codes for _, codes in sorted(words, key=lambda each: -each[0]))][:room]
    if not known:
        return _over(search, asked, tallies)
    level = _level(search, known, longer, 0, len(asked), counting=True)
    if len(asked) == len(tallies):
        return Progress(search, tuple(asked), level)
    return _over(search, [*asked, _count(search, level, tallies[len(asked)], most=search.k)], tallies)


def _over(search: TopSearch, asked: list[AskedLevel], tallies: Sequence[Any]) -> Progress:
    if len(tallies) > len(asked):
        raise InvalidInput(
            f"tallies must be of the {len(asked)} levels that were asked, got {len(tallies)}. Each level is asked once."
        )
    return Progress(search, tuple(asked), None)


def _level(
    search: TopSearch,
    words: Sequence[Codes],
    prefixes: Sequence[Codes],
    span: int,
    asked: int,
    *,
    counting: bool,
) -> NextLevel:
    text = search.alphabet.text
    group = search.group(asked, counting=counting)
    task = TopTask(
        search.tokens, search.longest, tuple(map(text, words)), tuple(map(text, prefixes)), span, group.law.k
    ).checked()
    return NextLevel(task, group, search.threshold(group, task.places.other), counting)


def _count(search: TopSearch, level: NextLevel, tally: Any, *, most: int) -> AskedLevel:
    """Which values go on: those that reach the threshold, at most so many, those with most votes
    first. What nobody can have written does not: it got there by chance.
    """
    votes, group = np.asarray(tally), level.group
    fits = votes.shape == (group.law.k,) and votes.dtype.kind in "iu"
    if not fits or votes.min() < 0 or not group.least <= votes.sum() <= group.most:
        raise InvalidInput(
            f"a tally must count from {group.least} to {group.most} reports about {group.law.k} values, "
            f"got shape {votes.shape} and sum {votes.sum()}. Take that of the level's own design."
        )
    own = votes[: level.places.other]
    order = np.argsort(-own, kind="stable")
    high = [int(place) for place in order if own[place] >= level.threshold]
    possible = [place for place in high if _possible(search.alphabet, level.places.beginning(place))]
    kept, fallen = possible[:most], possible[most:]
    return AskedLevel(
        level.task,
        group,
        level.threshold,
        level.counting,
        own,
        int(votes.sum()),
        tuple(kept),
        len(fallen),
        int(own[fallen[0]]) if fallen else 0,
    )


def _possible(alphabet: Alphabet, beginning: Beginning) -> bool:
    """Whether it can be somebody's: it is not empty, and can be written; a whole word, to its
    end.
    """
    codes, whole = beginning
    return bool(codes) and alphabet.possible(codes) and (not whole or alphabet.whole(codes))
