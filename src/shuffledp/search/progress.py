"""From the tallies so far to the next level, or to the words that were found, with how many people
hold them, and what may have been missed: a function of public numbers alone, so that whoever has
the tallies arrives at the same levels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.mechanisms.rows import TwoCoins
from shuffledp.randomizers.randomizer import GroupLaw
from shuffledp.search.alphabet import Alphabet, Beginning, Codes, LevelPlaces
from shuffledp.search.level import SplitVotes
from shuffledp.search.question import LevelQuestion
from shuffledp.search.search import MISS, Group, TopSearch
from shuffledp.wording import rounded

__all__ = [
    "GOES_ON",
    "AskedLevel",
    "FoundWord",
    "NextLevel",
    "Progress",
    "TopWords",
    "found_words",
    "progress_of",
]


@dataclass(frozen=True, eq=False)
class NextLevel:
    """A level that can be asked: who is, and from how many votes on a value goes on."""

    question: LevelQuestion
    group: Group
    threshold: int
    counting: bool

    @property
    def places(self) -> LevelPlaces:
        """The values that it tells apart."""
        return self.question.level


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
        return self.search.design(self.next.question, self.next.group)

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
    question = LevelQuestion(
        tokens=search.tokens,
        longest=search.longest,
        words=tuple(map(text, words)),
        prefixes=tuple(map(text, prefixes)),
        span=span,
        room=group.law.values,
    ).checked()
    return NextLevel(question, group, search.threshold(group, question.level.other), counting)


def _count(search: TopSearch, level: NextLevel, tally: Any, *, most: int) -> AskedLevel:
    """Which values go on: those that reach the threshold, at most so many, those with most votes
    first. What nobody can have written does not: it got there by chance.
    """
    votes, group = np.asarray(tally), level.group
    fits = votes.shape == (group.law.values,) and votes.dtype.kind in "iu"
    if not fits or votes.min() < 0 or not group.honest <= votes.sum() <= group.most:
        raise InvalidInput(
            f"a tally must count from {group.honest} to {group.most} reports about {group.law.values} values, "
            f"got shape {votes.shape} and sum {votes.sum()}. Take that of the level's own design."
        )
    own = votes[: level.places.other]
    order = np.argsort(-own, kind="stable")
    high = [int(place) for place in order if own[place] >= level.threshold]
    possible = [place for place in high if _possible(search.alphabet, level.places.beginning(place))]
    kept, fallen = possible[:most], possible[most:]
    return AskedLevel(
        level.question,
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


GOES_ON = "…"
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class FoundWord:
    """A word, or (not ``whole``) all longer words that begin with it, and how many of all people
    hold it: an estimate, and limits that hold for all listed words at once.
    """

    word: str
    whole: bool
    estimate: float
    stderr: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class TopWords:
    """The end of a search. ``estimate`` is of all that was counted, in its order, scaled to
    everybody; the places of those that are listed are in ``listed``, the most frequent first.
    """

    progress: Progress
    estimate: Estimate | None
    listed: tuple[int, ...]
    secure: bool = True

    @property
    def search(self) -> TopSearch:
        """What was agreed on."""
        return self.progress.search

    @cached_property
    def words(self) -> tuple[FoundWord, ...]:
        if self.estimate is None:
            return ()
        counted = self.progress.counted
        assert counted is not None
        lower, upper = self.estimate.simultaneous(LEVEL)
        return tuple(
            FoundWord(
                str(self.estimate.labels[place]),
                counted.places.beginning(place).whole,
                float(self.estimate.values[place]),
                float(self.estimate.stderr[place]),
                float(lower[place]),
                float(upper[place]),
            )
            for place in self.listed
        )

    def __iter__(self) -> Iterator[FoundWord]:
        return iter(self.words)

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def found_from(self) -> int | None:
        """Each word that so many people hold passes all thresholds except with probability
        ``MISS``; None if no number of holders is enough.
        """
        return self._passing([self.search.votes(level.group) for level in self.progress.asked])

    @cached_property
    def faked_from(self) -> int | None:
        """About so many malicious people, who draw their levels like all others but vote for one
        word at each, get it past all thresholds that way, though nobody holds it.
        """
        votes = [self.search.votes(level.group) for level in self.progress.asked]
        certain = zip(votes, self.progress.asked, strict=True)
        return self._passing([replace(each, hit=level.group.share) for each, level in certain])

    def _passing(self, votes: list[SplitVotes]) -> int | None:
        asked = self.progress.asked
        levels = zip(votes, asked, strict=True)
        needed = [each.found_from(level.threshold, MISS / len(asked)) for each, level in levels]
        known = [each for each in needed if each is not None]
        return min(self.search.people, max(known)) if len(known) == len(needed) and known else None

    def meaning(self) -> list[str]:
        """What a list like this says."""
        search = self.search
        return [
            f"With probability {1.0 - search.error:.10g}, every listed word is held by at least "
            f"{search.least_holders:,} of the {search.people:,} people, and so is every beginning that was followed.",
            "The counts are estimates of how many of all people hold a word, though each was asked at one level only; "
            f"with probability {LEVEL:g} all intervals hold at once.",
        ]

    def missed(self) -> list[str]:
        """What may be missing from it."""
        search, said = self.search, list[str]()
        if self.found_from is None:
            said.append("No number of holders is enough for a word to be found for sure: ask more people.")
        else:
            said.append(
                f"A word that {self.found_from:,} or more people hold is found with probability {1.0 - MISS:g} or "
                f"more, if it is not crowded out; rarer ones may be missing."
            )
        for number, level in enumerate(self.progress.asked, 1):
            if level.fell_out:
                said.append(
                    f"Level {number}: {level.fell_out:,} more reached the threshold and fell out, as only "
                    f"{search.k if level.counting else search.candidates:,} are kept; the most frequent of them is "
                    f"held by about {rounded(_held(search, level, level.fell_votes), up=True)} people."
                )
        said.append(
            f"Of words longer than {search.longest} {search.symbols}, beginnings alone are listed, with {GOES_ON}; "
            f"words that cannot be written with the {search.alphabet.size} {search.symbols} that are known are not."
        )
        return said


def found_words(progress: Progress, *, secure: bool = True) -> TopWords:
    """The words of a search that is over."""
    if progress.next is not None:
        raise InvalidInput(
            f"a search must be over for its words to be read, got one with {len(progress.asked)} levels asked. Ask the "
            f"next one."
        )
    search, counted = progress.search, progress.counted
    if counted is None:
        return TopWords(progress, None, (), secure)
    law, share = counted.group.randomizer, counted.group.share
    coins = GroupLaw(share * law.hit, share * law.miss, share * law.contrast)
    rows = TwoCoins(counted.votes, search.people, coins)
    labels = tuple(label_of(search.alphabet, each) for each in counted.places.beginnings())
    every = _every(search, rows.values, counted.passed)
    estimate = Estimate(labels, search.people, rows, secure, of=every)
    return TopWords(progress, estimate, counted.passed, secure)


def _every(search: TopSearch, values: Floats, listed: tuple[int, ...]) -> int:
    """Among how many words the limits must hold at once: all that as many people hold as the rarest
    listed one seems to have, for others might have been counted in its place.

    Whoever was asked before is missing at the last level, so a word that barely got there is
    counted a little short: limits for the counted words alone would fail too often.
    """
    rarest = min((float(values[place]) for place in listed), default=float(search.people))
    return max(len(values), math.ceil(search.people / max(1.0, rarest)))


def label_of(alphabet: Alphabet, beginning: Beginning) -> str:
    """A word to be read, with a mark if it goes on."""
    return alphabet.word(beginning.codes) + ("" if beginning.whole else GOES_ON)


def _held(search: TopSearch, level: AskedLevel, votes: int) -> float:
    """How many people hold what got so many votes."""
    law, share = level.group.randomizer, level.group.share
    return (votes - search.people * share * law.miss) / (share * law.contrast)
