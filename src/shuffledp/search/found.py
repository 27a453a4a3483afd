"""The words at the end of a search: how many people hold each, and what may have been missed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shuffledp._types import Floats
from shuffledp.mechanisms.estimate import Estimate
from shuffledp.mechanisms.rows import Parts, TwoCoins
from shuffledp.schema import rules_of
from shuffledp.search.search import MISS, Group, Search
from shuffledp.search.terms import Searched, SearchLevel, Terms
from shuffledp.search.votes import SplitVotes, passing
from shuffledp.wording import rounded

GOES_ON = "…"


@dataclass(frozen=True, eq=False)
class Found:
    """A search that is over, with the levels that were asked, and the last tally."""

    search: Search
    levels: tuple[SearchLevel, ...]
    tally: NDArray[np.int64]

    @property
    def counted(self) -> SearchLevel | None:
        """The level at which the words were counted, if there were any."""
        return self.levels[-1] if self.levels[-1].words else None

    @cached_property
    def _groups(self) -> list[Group]:
        return [self.search.group(asked, counting=bool(each.words)) for asked, each in enumerate(self.levels)]

    @cached_property
    def estimate(self) -> Estimate:
        """How many of all people hold each word that was counted, though each person was asked at
        one level only. Limits hold at once for all words that might have been counted.
        """
        people, counted = self.search.people, self.counted
        if counted is None:
            return Estimate((), people, Parts((), 0, people), of=0)
        alphabet = self.search.alphabet
        rows = TwoCoins(self.tally[: len(_values(counted))], people, self._groups[-1].votes)
        labels = tuple(alphabet.word(alphabet.read(text)) + GOES_ON * (not whole) for text, whole in _values(counted))
        return Estimate(labels, people, rows, of=_every(self.search, rows.values, self._places))

    @cached_property
    def listed(self) -> Estimate:
        """The words that many enough hold, the most frequent first. A word with ``GOES_ON`` stands
        for all longer ones that begin with it.
        """
        return self.estimate.at(list(self._places))

    @cached_property
    def _places(self) -> tuple[int, ...]:
        """The places of the listed words among those that were counted."""
        counted = self.counted
        if counted is None:
            return ()
        places = {each: place for place, each in enumerate(_values(counted))}
        return tuple(places[each] for each in zip(counted.passed, counted.whole, strict=True))

    @property
    def influence(self) -> float:
        """How far one false report moves the count of a word."""
        return self._groups[-1].randomizer.influence / self._groups[-1].share

    @cached_property
    def found_from(self) -> int | None:
        """Each word that so many people hold passes all thresholds except with probability
        ``MISS``; None if no number of holders is enough.
        """
        return self._passing(map(self.search.votes, self._groups))

    @cached_property
    def faked_from(self) -> int | None:
        """About so many malicious people, who draw their levels like all others but vote for one
        word at each, get it past all thresholds that way, though nobody holds it.
        """
        return self._passing(replace(self.search.votes(group), hit=group.share) for group in self._groups)

    def _passing(self, votes: Iterable[SplitVotes]) -> int | None:
        return passing(zip(votes, (each.threshold for each in self.levels), strict=True), MISS / len(self.levels))

    def missed(self) -> list[str]:
        """What may be missing from the list."""
        search, said = self.search, list[str]()
        if self.found_from is None:
            said.append("Too few people took part for any word to be found for sure: ask more people.")
        else:
            said.append(
                f"A word that {self.found_from:,} or more people have is found with probability {1.0 - MISS:g} or "
                f"more, unless more frequent words take its place; rarer words may be missing."
            )
        for number, (level, group) in enumerate(zip(self.levels, self._groups, strict=True), 1):
            if level.fell_out:
                law, share = group.randomizer, group.share
                held = (level.fell_votes - search.people * share * law.miss) / (share * law.contrast)
                said.append(
                    f"Level {number}: {level.fell_out:,} more reached the threshold and were dropped, since only "
                    f"{search.k if level.words else search.candidates:,} are kept; about {rounded(held, up=True)} "
                    f"people have the most frequent of them."
                )
        symbols = "bytes" if search.tokens is None else "tokens"
        said.append(
            f"Words longer than {search.longest} {symbols} are listed by their beginning, followed by {GOES_ON}; words "
            f"with symbols other than the {search.alphabet.size} known {symbols} are not listed."
        )
        return said

    def searched(self) -> Searched:
        """All of it, for the record."""
        agreed: dict[str, Any] = {name: getattr(self.search, name) for name in rules_of(Terms)}
        return Searched(
            **agreed,
            found_from=self.found_from,
            miss=MISS,
            faked_from=self.faked_from,
            counting_law=self.search.counting,
            levels=self.levels,
        )


def _values(counted: SearchLevel) -> list[tuple[str, bool]]:
    """What was counted, in its order: words, and prefixes of longer ones."""
    return [*((text, True) for text in counted.words), *((text, False) for text in counted.prefixes)]


def _every(search: Search, values: Floats, listed: tuple[int, ...]) -> int:
    """Among how many words the limits must hold at once: all that as many people hold as the rarest
    listed one seems to have, for others might have been counted in its place.

    Whoever was asked before is missing at the last level, so a word that barely got there is
    counted a little short: limits for the counted words alone would fail too often.
    """
    rarest = min((float(values[place]) for place in listed), default=float(search.people))
    return max(len(values), math.ceil(search.people / max(1.0, rarest)))
