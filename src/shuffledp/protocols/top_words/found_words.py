"""The words that were found, with how many people hold them, and what may have been missed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shuffledp._types import Floats
from shuffledp.errors import InvalidInput
from shuffledp.protocols.estimate import Estimate
from shuffledp.protocols.estimators import inversion
from shuffledp.protocols.top_words.alphabet import Alphabet
from shuffledp.protocols.top_words.level_places import Beginning
from shuffledp.protocols.top_words.progress import AskedLevel, Progress
from shuffledp.protocols.top_words.search import MISS, TopSearch
from shuffledp.protocols.top_words.vote_tails import SplitVotes
from shuffledp.wording import rounded

__all__ = ["GOES_ON", "FoundWord", "TopWords", "found_words"]

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
        """The listed words."""
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
        """How many words are listed."""
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
    values, noise = inversion(counted.votes, search.people, share * law.hit, share * law.miss, share * law.contrast)
    stderr = noise.stderr(np.clip(values, 0.0, search.people))
    labels = tuple(label_of(search.alphabet, each) for each in counted.places.beginnings())
    every = _every(search, values, counted.passed)
    estimate = Estimate(labels, values, stderr, search.people, values, noise, secure, of=every)
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
