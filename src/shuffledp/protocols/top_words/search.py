"""What everybody agrees on before anybody is asked: how many people, in how many levels, with which
law, and from which votes on a beginning is followed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.mechanism import Shuffled, shuffle
from shuffledp.errors import InvalidInput, check_count, check_probability, check_users
from shuffledp.protocols.design import Design, Law
from shuffledp.protocols.tasks import TopTask
from shuffledp.protocols.top_words.alphabet import LONGEST, Alphabet, check_tokens
from shuffledp.protocols.top_words.level_places import extensions
from shuffledp.protocols.top_words.top_level import TopLevel
from shuffledp.protocols.top_words.vote_tails import SplitVotes
from shuffledp.randomizers.votes import VotingRandomizer
from shuffledp.randomizers.wrappers.check_in import CheckIn
from shuffledp.randomizers.written_law import from_law
from shuffledp.storage.canonical import digest_of

__all__ = ["MISS", "OUT_OF", "Group", "TopSearch", "check_asked", "planned_search", "rarest_found"]

FORMAT, VERSION = "shuffledp-search", 1
OUT_OF = 1 << 32  # a person's level is drawn with a number below this
COUNTING = 0.25  # the least share of the people who count what was found
MOST_ROOM = 1 << 17  # values of a level, unless a single symbol needs more
SHORT_GROUPS = 1e-3  # of delta: that a group has fewer honest people than its law was made for
COIN = 2.0**-63  # more than what a coin of 64 bits, rounded down, leaves out of a chance
MISS = 0.05
MOST_WORDS, MOST_PEOPLE = 4096, 1 << 40
REMEDY = "Take a search that shuffledp wrote, unchanged."


class Group(NamedTuple):
    """The people of one level: each is in it with probability ``share``. Reports number at most
    ``most``, and ``least`` honest ones but for a probability that the promise has in it.
    """

    share: float
    least: int
    most: int


@dataclass(frozen=True, kw_only=True)
class TopSearch:
    """A search for the ``k`` most frequent words of ``people`` people, ``least`` of them honest.

    The first level tells the beginnings of ``spans[0]`` symbols apart, the next those of
    ``spans[1]`` more, and so on to ``longest``; at most ``candidates`` beginnings go on from each.
    Every level but the last has ``share`` of ``OUT_OF`` people, drawn person by person; whoever is
    left counts what was found. All draw their reports by one ``law``, which keeps the promise of
    (epsilon, delta) in the smallest group.

    A beginning goes on, and a word is listed, from so many votes on that with probability 1 -
    ``error`` none does, at any level, that fewer than ``least_holders`` people hold.
    """

    people: int
    least: int
    epsilon: float
    delta: float
    k: int
    longest: int
    tokens: tuple[str, ...] | None
    candidates: int
    least_holders: int
    error: float
    spans: tuple[int, ...]
    share: int
    law: Law

    @property
    def alphabet(self) -> Alphabet:
        """The symbols that words are made of."""
        return Alphabet(self.tokens)

    @property
    def symbols(self) -> str:
        """What they are called."""
        return "bytes" if self.tokens is None else "tokens"

    @cached_property
    def randomizer(self) -> VotingRandomizer:
        """The law that all levels draw by."""
        law = from_law(self.law.as_json())
        assert isinstance(law, VotingRandomizer)
        return law

    @property
    def level_delta(self) -> float:
        """The delta of one level. Where some people are not honest, the rest is the chance that a
        group has too few who are; if all are, the size of a group is looked at.
        """
        return self.delta if self.least == self.people else self.delta * (1.0 - SHORT_GROUPS)

    @property
    def short_group(self) -> Shuffled | None:
        """What ``level_delta`` leaves out, as a mechanism of its own, for sums over several
        releases: with the probability of a short group a person's report is seen by itself, which
        is the worst that such a group shows. None if all people are honest.
        """
        if self.least == self.people:
            return None
        return shuffle(CheckIn(self.randomizer, probability=SHORT_GROUPS * self.delta + COIN), n=1)

    def group(self, asked: int, *, counting: bool = False) -> Group:
        """The people of the next level when ``asked`` levels were asked; those who count are all
        that are left.
        """
        share = (OUT_OF - asked * self.share if counting else self.share) / OUT_OF
        rare = math.log(1.0 / (SHORT_GROUPS * self.delta))
        fewest = self.least * share - math.sqrt(2.0 * self.least * share * rare)  # Chernoff
        most = self.people * share + rare + math.sqrt(2.0 * self.people * share * rare)
        return Group(share, max(1, math.floor(fewest)), min(self.people, math.ceil(most)))

    def levels_of(self, numbers: NDArray[np.uint32]) -> NDArray[np.intp]:
        """The level of each person, from 0 on, by a number that was drawn for them."""
        return np.minimum(numbers.astype(np.int64) // self.share, len(self.spans)).astype(np.intp)

    def design(self, task: TopTask, group: Group) -> Design:
        """A level, written down."""
        level = TopLevel(
            **{name: getattr(task, name) for name in task.field_names()},
            n=group.most,
            least=group.least,
            delta=self.level_delta,
            randomizer=self.randomizer,
        )
        return replace(Design.of(level), epsilon=self.epsilon)

    def first_design(self) -> Design:
        """The first level. No other has fewer people, and all draw by one law, so what it keeps all
        keep: it stands for the whole search in a certificate, and in a ledger.
        """
        task = TopTask(self.tokens, self.longest, (), ("",), self.spans[0], self.law.k)
        return self.design(task, self.group(0))

    def votes(self, group: Group) -> SplitVotes:
        """The law of a word's votes in a group."""
        return SplitVotes(self.people, group.share * self.randomizer.hit, group.share * self.randomizer.miss)

    def threshold(self, group: Group, values: int) -> int:
        """From how many votes on one of so many ``values`` goes on, or is listed."""
        return self.votes(group).threshold(self.least_holders - 1, self.error / (len(self.spans) + 1) / values)

    def count_error(self, held: int) -> float:
        """The standard error of the count of a listed word that so many of all people hold."""
        law, share = self.randomizer, self.group(len(self.spans), counting=True).share
        hit, miss = share * law.hit, share * law.miss
        votes = held * hit * (1.0 - hit) + (self.people - held) * miss * (1.0 - miss)
        return math.sqrt(votes) / (share * law.contrast)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        written = {name: list(value) if isinstance(value, tuple) else value for name, value in own.items()}
        return {"format": FORMAT, "version": VERSION, **written, "law": self.law.as_json()}

    @classmethod
    def from_json(cls, written: object) -> Self:
        """The search of ``as_json``; every rule is checked again."""
        names = [each.name for each in fields(cls)]
        if not isinstance(written, Mapping) or set(written) != {"format", "version", *names}:
            raise InvalidInput(f"a search must have its own fields, got something else. {REMEDY}")
        if written["format"] != FORMAT or written["version"] != VERSION:
            raise InvalidInput(f"a search must be of version {VERSION}, got {written['version']!r}. {REMEDY}")
        own: dict[str, Any] = {name: written[name] for name in names}
        for name in ("tokens", "spans"):
            own[name] = None if own[name] is None else tuple(own[name])
        return cls(**own | {"law": Law.from_json(own["law"])})._checked()

    def _checked(self) -> Self:
        terms = checked_terms(
            {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("spans", "share", "law")}
        )
        if sum(self.spans) != self.longest or min(self.spans) < 1 or not 1 <= self.share * len(self.spans) < OUT_OF:
            raise InvalidInput(f"spans must add up to longest, got {self.spans!r}. {REMEDY}")
        if self.law.k != room_of(self.alphabet.size, self.candidates, self.spans) or self.law.family != "krr":
            raise InvalidInput(f"the law of a search must fit its levels, got {self.law.as_json()!r}. {REMEDY}")
        return replace(self, **terms)

    @cached_property
    def digest(self) -> str:
        """What tells searches apart."""
        return digest_of(self.as_json())


def room_of(size: int, candidates: int, spans: tuple[int, ...]) -> int:
    """How many values the law must tell apart: those of the widest level, and one for the rest."""
    first, later = extensions(size, spans[0]), [candidates * extensions(size, span) for span in spans[1:]]
    return max(first, *later, 2 * candidates, 1) + 1


def planned_search(
    *,
    people: int,
    least: int | None = None,
    epsilon: float,
    delta: float,
    k: int,
    longest: int = 16,
    tokens: tuple[str, ...] | None = None,
    candidates: int | None = None,
    least_holders: int = 50,
    error: float = 1e-3,
) -> TopSearch:
    """The search whose rarest word that is found is as rare as possible, whatever its length.

    >>> search = planned_search(
    ...     people=100_000, epsilon=1.0, delta=1e-6, k=5, longest=4, tokens=("a", "b", "c")
    ... )
    >>> search.spans, search.law.k
    ((4,), 122)
    """
    terms = checked_terms(
        {
            "people": people,
            "least": people if least is None else least,
            "epsilon": epsilon,
            "delta": delta,
            "k": k,
            "longest": longest,
            "tokens": tokens,
            "candidates": 2 * k if candidates is None else candidates,
            "least_holders": least_holders,
            "error": error,
        }
    )
    best = _best(terms)
    if best is None:
        enough = terms["people"]
        while best is None and enough < MOST_PEOPLE:
            enough *= 2
            best = _best(terms | {"people": enough, "least": enough})
        raise InvalidInput(
            f"people must be enough for the levels of a search, got {terms['people']:,}, of whom not even a word that "
            f"all hold would be found. Ask about {enough:,} or more, for words of fewer symbols (--longest), or of a "
            f"few tokens (--tokens)."
        )
    return best


def _best(terms: dict[str, Any]) -> TopSearch | None:
    """The shape that finds the rarest words, if one finds any."""
    found = [(rarest, search) for search in _shapes(terms) if (rarest := rarest_found(search)) is not None]
    return min(found, key=lambda each: each[0])[1] if found else None


def rarest_found(search: TopSearch, miss: float = MISS) -> int | None:
    """How many holders a word needs to pass every level except with probability ``miss``, as long
    as no level has more candidates than go on; None if nobody is found.
    """
    levels, most = len(search.spans), search.law.k - 1
    groups = [search.group(0), search.group(levels, counting=True)]
    needed = [search.votes(group).found_from(search.threshold(group, most), miss / (levels + 1)) for group in groups]
    return None if None in needed else max(each for each in needed if each is not None)


def _shapes(terms: dict[str, Any]) -> Iterator[TopSearch]:
    """Searches that differ in how many symbols a level has."""
    size, longest, candidates = Alphabet(terms["tokens"]).size, terms["longest"], terms["candidates"]
    firsts = [span for span in range(1, longest + 1) if span == 1 or extensions(size, span) <= MOST_ROOM]
    laters = [span for span in range(1, longest + 1) if span == 1 or candidates * extensions(size, span) <= MOST_ROOM]
    shapes = {_spans(longest, first, later) for first in firsts for later in laters}
    for spans in sorted(shapes):
        share = math.floor(min((1.0 - COUNTING) / len(spans), 1.0 / (len(spans) + 1)) * OUT_OF)
        draft = TopSearch(**terms, spans=spans, share=share, law=Law("krr", {"k": 2, "epsilon0": 1.0}, (1,)))
        smallest = draft.group(0)  # those who count are no fewer
        level = TopLevel(
            tokens=terms["tokens"],
            longest=longest,
            span=1,
            room=room_of(size, candidates, spans),
            n=smallest.most,
            least=smallest.least,
            epsilon=terms["epsilon"],
            delta=draft.level_delta,
        )
        yield replace(draft, law=level.settle().law)


def _spans(longest: int, first: int, later: int) -> tuple[int, ...]:
    rest = longest - first
    return (first, *[later] * (rest // later), *([rest % later] if rest % later else []))


def checked_terms(terms: dict[str, Any]) -> dict[str, Any]:
    """What was asked for, if it can be."""
    people, least = check_users(terms["people"], terms["least"])
    own = check_asked(**{name: terms[name] for name in ("k", "longest", "tokens", "candidates", "error")})
    holders = check_count(
        "least_holders", terms["least_holders"], least=1, remedy="A listed word is held by so many; 50 is usual."
    )
    if holders > people:
        raise InvalidInput(f"least_holders must be at most the {people} people, got {holders}. Ask for fewer.")
    return terms | own | {"people": people, "least": least, "least_holders": holders}


def check_asked(
    *, k: object, longest: object, tokens: Iterable[object] | None, candidates: object, error: object
) -> dict[str, Any]:
    """The part of it that needs no people."""
    words = check_count("k", k, least=1, remedy="It is how many words to list; 50 is usual.")
    if words > MOST_WORDS:
        raise InvalidInput(f"k must be at most {MOST_WORDS}, got {words}. No more words are followed; ask for fewer.")
    symbols = check_count("longest", longest, least=1, remedy="It is how many symbols words have; 16 is usual.")
    if symbols > LONGEST:
        raise InvalidInput(
            f"longest must be at most {LONGEST}, got {symbols}. Every symbol is asked of other people; ask for fewer."
        )
    followed = check_count(
        "candidates", candidates, least=words, remedy="So many beginnings go on; at least as many as words."
    )
    if followed > 2 * MOST_WORDS:
        raise InvalidInput(f"candidates must be at most {2 * MOST_WORDS}, got {followed}. Ask for fewer.")
    wrong = check_probability(
        "error", error, remedy="It is the chance that anything is listed that few people hold; 0.001 is usual."
    )
    known = None if tokens is None else check_tokens(tokens)
    return {"k": words, "longest": symbols, "tokens": known, "candidates": followed, "error": wrong}
