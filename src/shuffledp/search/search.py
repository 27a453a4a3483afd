"""What everybody agrees on before anybody is asked, in one file: how many people, in how many
levels, with which laws, and from which votes on a prefix is followed. From the tallies so far
follows the next level's design, or the end: a function of public numbers alone, so that whoever has
the tallies arrives at the same levels.

**Theorem.** Let ``honest`` people follow the protocol, chosen before levels are drawn. Then the
whole search has at every epsilon at most the delta of ``first_design`` plus that of ``besides``,
even for an analyst who knows the level of every person and every report of all but these.

*Proof.* Take two data sets that differ in the word of one honest person. Levels do not depend on
words, so fix them. Only the person's own level depends on that word; later ones follow from its
tally and from other people. With h = ``honest`` and share s, 1 + Bin(h - 1, s) honest people are at
that level. They are fewer than ``Group.honest`` with a probability below ``SHORT_GROUPS`` of delta
(Chernoff's bound, which is loose enough for sizes that are drawn again); if all are honest, never,
since sizes are looked at. Those who count when a search ends early include all of a level. More
honest people show less, and those who count by another law show no more (``gentler``). QED

Nothing is said from below. A level usually has more people than ``Group.honest``, and an analyst
who does not see the levels learns less: the search that runs shows less than the certified level.
And the helpers must not be chosen by level: if all that a level may lack help, delta is exceeded.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.accuracy import DRAWN_GAP
from shuffledp.accounting.shuffled import Shuffled, shuffle
from shuffledp.design import SEARCH, Design, Law, Target
from shuffledp.errors import (
    InvalidInput,
    check_count,
    check_delta,
    check_epsilon,
    check_positive,
    check_probability,
    check_users,
)
from shuffledp.randomizers.any_ldp import AnyLDP
from shuffledp.randomizers.law_file import from_law
from shuffledp.randomizers.randomizer import GroupLaw
from shuffledp.randomizers.support import VotingRandomizer
from shuffledp.schema import NEEDED, Epsilon, File, Some, Texts, Whole, check_format, part
from shuffledp.search.alphabet import LONGEST, Alphabet, Beginning, check_tokens, extensions
from shuffledp.search.question import Level
from shuffledp.search.terms import SearchLevel, Terms
from shuffledp.search.votes import SplitVotes
from shuffledp.storage.canonical import canonical, digest_of, digest_of_votes

if TYPE_CHECKING:
    from shuffledp.search.found import Found

VERSION = 1
OUT_OF = 1 << 32  # a person's level is drawn with a number below this
SHORT_GROUPS = 1e-3  # of delta: that a group has fewer honest people than its law was made for
SECOND_LAW = 1e-3  # of delta: what those who count may show more than those who are asked before them
MISS = 0.05  # how often a word that is said to be found may be missed
MOST_WORDS = 4096
NEARLY_NONE = 1e-12  # epsilon0 of what is seen with a small probability, and hidden else
KNOTS = 65
REMEDY = "Take a search that shuffledp wrote, as with `shuffledp stage design top`, unchanged."


class Group(NamedTuple):
    """The people of one level: each is in it with probability ``share``, and reports by ``law``.
    Reports number at most ``most``, and ``honest`` honest ones but for a probability that the
    promise has in it.
    """

    share: float
    honest: int
    most: int
    law: Law

    @property
    def randomizer(self) -> VotingRandomizer:
        """The law, ready to be drawn from."""
        return _randomizer(self.law)

    @property
    def votes(self) -> GroupLaw:
        """What the votes for a value say of how many of all people hold it."""
        law = self.randomizer
        return GroupLaw(self.share * law.hit, self.share * law.miss, self.share * law.contrast)


@cache
def _randomizer(law: Law) -> VotingRandomizer:
    return cast(VotingRandomizer, from_law(law.as_json()))


@part
class Search(Terms):
    """``Terms``, and how they are kept: a level looks at ``longest`` symbols of a word at most,
    which are ``tokens``, or bytes. All levels draw their reports by one ``law``, which keeps the
    promise of (epsilon, delta) in the smallest group. Those who count have more people, and fewer
    values to tell apart: they draw by ``counting``, or by the same law if that is None.
    """

    format: Annotated[Literal["shuffledp-search"], NEEDED] = SEARCH
    version: Annotated[Whole, NEEDED] = VERSION
    epsilon: Epsilon
    longest: Some
    tokens: Texts | None
    law: Law
    counting: Law | None = None

    @classmethod
    def from_json(cls, written: object) -> Self:
        """The search of ``as_json``; every rule is checked again."""
        file = File("a search", REMEDY)
        return cls.read(check_format(file.title, written, SEARCH, VERSION, REMEDY), file)._checked()

    def _checked(self) -> Self:
        check_positive("epsilon", check_epsilon(self.epsilon), remedy=REMEDY)
        check_delta(self.delta)
        check_users(self.people, self.honest)
        check_terms(vars(self), self.people)
        if sum(self.spans) != self.longest:
            raise InvalidInput(f"spans must add up to longest, got {self.spans!r}. {REMEDY}")
        if not 1 <= self.share <= OUT_OF // (len(self.spans) + 1):
            raise InvalidInput(
                f"share must leave as many people to count as a level has, got {self.share} of {OUT_OF} for each of "
                f"{len(self.spans)} levels: fewer would be less hidden than the promise says. {REMEDY}"
            )
        room, known = room_of(self.alphabet.size, self.candidates, self.spans), Level.mechanisms
        if self.law.values != room or self.law.type not in known:
            raise InvalidInput(f"the law of a search must fit its levels, got {self.law.as_json()!r}. {REMEDY}")
        if (counting := self.counting) is not None:
            fits = counting.type in known and counting.values == counting_room(self.candidates)
            if not fits or not gentler(self):
                raise InvalidInput(
                    f"those who count must show no more than the first level, got {counting.as_json()!r}. {REMEDY}"
                )
        for law in (self.law, counting):
            if law is not None:
                law.checked()
        return self

    @cached_property
    def alphabet(self) -> Alphabet:
        """The symbols that words are made of."""
        return Alphabet(self.tokens)

    def file_text(self) -> str:
        """The file, letter by letter."""
        return canonical(self.as_json()) + "\n"

    @cached_property
    def digest(self) -> str:
        """What tells searches apart."""
        return digest_of(self.as_json())

    @property
    def level_delta(self) -> float:
        """The delta of the first level. The rest is for what that level does not show of others:
        ``besides``.
        """
        return self.delta * (1.0 - self._besides)

    @property
    def _besides(self) -> float:
        """Of delta: where some people are not honest, the chance that a group has too few who are;
        if all are, the size of a group is looked at. And what those who count may show more.
        """
        short = 0.0 if self.honest == self.people else SHORT_GROUPS
        return short if self.counting is None else short + SECOND_LAW

    @property
    def besides(self) -> Shuffled | None:
        """What ``level_delta`` leaves out, as a mechanism of its own, for sums over several
        releases: with so small a probability all is seen. None if nothing is left out.

        What a short group shows of a person is at most that. Those who count show no more than the
        first level at each epsilon up to that of the promise, and beyond it less than their part of
        this (``gentler``): a curve that is nowhere below another is that of a mechanism from whose
        output the other's can be made (Blackwell).
        """
        return shuffle(AnyLDP(epsilon0=NEARLY_NONE, delta0=self._besides * self.delta), n=1) if self._besides else None

    @property
    def charge(self) -> tuple[Design, Shuffled | None]:
        """What a ledger records of the whole search: its first level, and what is shown besides."""
        return self.first_design, self.besides

    def group(self, asked: int, *, counting: bool = False) -> Group:
        """The people of the next level when ``asked`` levels were asked; those who count are all
        that are left.
        """
        share = (OUT_OF - asked * self.share if counting else self.share) / OUT_OF
        law = self.counting if counting and self.counting is not None else self.law
        rare = math.log(1.0 / (SHORT_GROUPS * self.delta))
        fewest = self.honest * share - math.sqrt(2.0 * self.honest * share * rare)  # Chernoff
        most = self.people * share + rare + math.sqrt(2.0 * self.people * share * rare)
        return Group(share, max(1, math.floor(fewest)), min(self.people, math.ceil(most)), law)

    def levels_of(self, numbers: NDArray[np.uint32]) -> NDArray[np.intp]:
        """The level of each person, from 0 on, by a number that was drawn for them."""
        return np.minimum(numbers.astype(np.int64) // self.share, len(self.spans)).astype(np.intp)

    def votes(self, group: Group) -> SplitVotes:
        """The law of a word's votes in a group."""
        return SplitVotes(self.people, *group.votes[:2])

    def threshold(self, group: Group, values: int) -> int:
        """From how many votes on one of so many ``values`` goes on, or is listed."""
        return self.votes(group).threshold(self.least_holders - 1, self.error / (len(self.spans) + 1) / values)

    def next(self, tallies: Sequence[Any]) -> Design | Found:
        """The design of the next level, when the first ones gave these ``tallies``; or, when all is
        known, the words.
        """
        levels = list[SearchLevel]()
        for tally in tallies:
            question = self._question(levels)
            if question is None:
                raise InvalidInput(
                    f"tallies must be of the {len(levels)} levels that were asked, got {len(tallies)}. Each level is "
                    f"asked once."
                )
            levels.append(self._asked(question, tally, len(levels)))
        question = self._question(levels)
        if question is not None:
            return self._design(question, self.group(len(levels), counting=question.counting))
        from shuffledp.search.found import Found

        return Found(self, tuple(levels), np.asarray(tallies[-1]))

    @cached_property
    def first_design(self) -> Design:
        """The first level. No other has fewer people, and those who draw by another law show no
        more than it, so what it keeps all keep. With what is shown ``besides`` it bounds the whole
        search from above, in a certificate and in a ledger.
        """
        return self._design(self._told((), ("",), self.spans[0], self.law.values), self.group(0))

    def _design(self, question: Level, group: Group) -> Design:
        """A level, written down."""
        target = Target(n=group.most, epsilon=self.epsilon, delta=self.level_delta, honest=group.honest, rounds=1)
        return Design.asked(question, group.law, target)

    def _question(self, levels: Sequence[SearchLevel]) -> Level | None:
        """What is asked after these levels, if anything: prefixes as far as they go, and then every
        whole word that was met, those with most votes first.
        """
        if levels and levels[-1].words:
            return None
        passed = [list(zip(each.passed, each.whole, each.votes, strict=True)) for each in levels]
        prefixes = tuple(text for text, whole, _ in passed[-1] if not whole) if passed else ("",)
        if prefixes and len(levels) < len(self.spans):
            return self._told((), prefixes, self.spans[len(levels)], self.law.values)
        words = sorted((each for level in passed for each in level if each[1]), key=lambda each: -each[2])
        known = (*prefixes, *(text for text, _, _ in words))[: 2 * self.candidates - len(prefixes)]
        return self._told(known, prefixes, 0, self.group(0, counting=True).law.values) if known else None

    def _told(self, words: tuple[str, ...], prefixes: tuple[str, ...], span: int, room: int) -> Level:
        own: dict[str, Any] = {"words": words, "prefixes": prefixes, "span": span, "room": room}
        return Level(tokens=self.tokens, longest=self.longest, **own).checked()

    def _asked(self, question: Level, tally: Any, asked: int) -> SearchLevel:
        """A level that was asked. Those of its values go on that reach the threshold, at most so
        many, those with most votes first. What nobody can have written does not: it got there by
        chance.
        """
        votes, counting, places = np.asarray(tally), question.counting, question.level
        group = self.group(asked, counting=counting)
        fits = votes.shape == (question.room,) and votes.dtype.kind in "iu"
        if not fits or votes.min() < 0 or not group.honest <= votes.sum() <= group.most:
            raise InvalidInput(
                f"a tally must count from {group.honest} to {group.most} reports about {question.room} values, "
                f"got shape {votes.shape} and sum {votes.sum()}. Take that of the level's own design."
            )
        own, threshold = votes[: places.other], self.threshold(group, places.other)
        order = np.argsort(-own, kind="stable")
        high = [(places.beginning(place), int(own[place])) for place in order.tolist() if own[place] >= threshold]
        possible = [each for each in high if _possible(self.alphabet, each[0])]
        most = self.k if counting else self.candidates
        kept, fallen = possible[:most], possible[most:]
        return SearchLevel(
            share=group.share,
            reports=int(votes.sum()),
            words=question.words,
            prefixes=question.prefixes,
            span=question.span,
            threshold=threshold,
            passed=tuple(self.alphabet.text(each.codes) for each, _ in kept),
            whole=tuple(each.whole for each, _ in kept),
            votes=tuple(number for _, number in kept),
            fell_out=len(fallen),
            fell_votes=fallen[0][1] if fallen else 0,
            digest=digest_of_votes(own),
        )


def _possible(alphabet: Alphabet, beginning: Beginning) -> bool:
    """Whether it can be somebody's: it is not empty, and can be written; a whole word, to its
    end.
    """
    codes, whole = beginning
    return bool(codes) and alphabet.possible(codes) and (not whole or alphabet.whole(codes))


def room_of(size: int, candidates: int, spans: tuple[int, ...]) -> int:
    """How many values the law must tell apart: those of the widest level, and one for the rest."""
    first, later = extensions(size, spans[0]), [candidates * extensions(size, span) for span in spans[1:]]
    return max(first, *later, counting_room(candidates) - 1) + 1


def counting_room(candidates: int) -> int:
    """The same where words are counted: all that went on from one level, and as many whole ones."""
    return 2 * candidates + 1


def gentler(search: Search) -> bool:
    """Whether those who count show no more than the first level: alone, no larger epsilon0; among
    others, at each epsilon up to that of the promise a smaller delta, and beyond it less than their
    part of ``besides``.

    Both curves fall, so between two knots it is enough that the one is at the first of them no
    higher than the other is at the second.
    """
    assert search.counting is not None
    first, last = search.group(0), search.group(len(search.spans), counting=True)
    knots = np.linspace(0.0, search.epsilon, KNOTS)
    above, below = (
        shuffle(group.randomizer, n=group.most, honest=group.honest).profile(knots, gap=DRAWN_GAP)
        for group in (first, last)
    )
    hidden = below.upper[-1] <= SECOND_LAW * search.delta and last.law.alone <= first.law.alone
    return bool(hidden and np.all(below.upper[:-1] <= above.lower[1:]))


WHOLE = {  # of the terms: the most, what is usual, and what to do beyond
    "k": (MOST_WORDS, "It is how many words to list; 50 is usual.", "No more words are followed; ask for fewer."),
    "longest": (
        LONGEST,
        "It is how many symbols words have; 16 is usual.",
        "Every symbol is asked of other people; ask for fewer.",
    ),
    "candidates": (
        2 * MOST_WORDS,
        "It is how many prefixes to keep; at least as many as words.",
        "Ask for fewer.",
    ),
    "least_holders": (math.inf, "A listed word is held by so many; 50 is usual.", None),
}


def check_terms(given: Mapping[str, Any], people: int | None = None) -> dict[str, Any]:
    """What was asked for, if it can be; ``people`` is None before a table was read."""
    known: dict[str, Any] = {}
    for name, (most, usual, beyond) in WHOLE.items():
        least = known["k"] if name == "candidates" else 1
        called = "words" if name == "k" else name
        known[name] = check_count(called, given[name], least=least, most=most, remedy=usual, beyond=beyond)
    if people is not None and (holders := known["least_holders"]) > people:
        raise InvalidInput(f"least_holders must be at most the {people} people, got {holders}. Ask for fewer.")
    error = "It is the chance that anything is listed that few people hold; 0.001 is usual."
    known["error"] = check_probability("error", given["error"], remedy=error)
    return known | {"tokens": None if given["tokens"] is None else check_tokens(given["tokens"])}
