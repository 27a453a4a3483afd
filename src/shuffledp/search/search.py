"""What everybody agrees on before anybody is asked: how many people, in how many levels, with which
laws, and from which votes on a beginning is followed.

**Theorem.** Let ``honest`` people follow the protocol, settled before levels are drawn. Then the
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

How many symbols a level has, and which laws keep the promise, is chosen so that the search finds
the rarest words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache, cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from shuffledp.accounting.accuracy import DRAWN_GAP
from shuffledp.accounting.inversion import halve, within
from shuffledp.accounting.shuffled import Shuffled, shuffle
from shuffledp.design import SEARCH, Design, Law
from shuffledp.errors import (
    Argument,
    CertificateError,
    InvalidInput,
    Refusal,
    check_count,
    check_delta,
    check_epsilon,
    check_positive,
    check_probability,
    check_users,
    shown,
)
from shuffledp.poll import Poll
from shuffledp.randomizers.any_ldp import AnyLDP
from shuffledp.randomizers.krr import KRR
from shuffledp.randomizers.law_file import from_law, law_of
from shuffledp.randomizers.support import VotingRandomizer
from shuffledp.search.alphabet import LONGEST, Alphabet, check_tokens, extensions
from shuffledp.search.level import SplitVotes
from shuffledp.search.question import LevelQuestion
from shuffledp.storage.canonical import digest_of

__all__ = [
    "MISS",
    "OUT_OF",
    "SECOND_LAW",
    "Group",
    "TopSearch",
    "check_asked",
    "checked_terms",
    "counting_room",
    "gentler",
    "planned_search",
    "rarest_found",
    "room_of",
]

VERSION = 1
OUT_OF = 1 << 32  # a person's level is drawn with a number below this
SHORT_GROUPS = 1e-3  # of delta: that a group has fewer honest people than its law was made for
SECOND_LAW = 1e-3  # of delta: what those who count may show more than those who are asked before them
MISS = 0.05
MOST_WORDS = 4096
LAWS = ("law", "counting")
NEARLY_NONE = 1e-12  # epsilon0 of what is seen with a small probability, and hidden else
KNOTS = 65
REMEDY = "Take a search that shuffledp wrote, as with `shuffledp design top`, unchanged."


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


@cache
def _randomizer(law: Law) -> VotingRandomizer:
    drawn = from_law(law.as_json())
    assert isinstance(drawn, VotingRandomizer)
    return drawn


@dataclass(frozen=True, kw_only=True)
class TopSearch:
    """A search for the ``k`` most frequent words of ``people`` people, ``honest`` of them so.

    The first level tells the beginnings of ``spans[0]`` symbols apart, the next those of
    ``spans[1]`` more, and so on to ``longest``; at most ``candidates`` beginnings go on from each.
    Every level but the last has ``share`` of ``OUT_OF`` people, drawn person by person; whoever is
    left counts what was found. Levels draw their reports by one ``law``, which keeps the promise of
    (epsilon, delta) in the smallest group. Those who count have more people, and fewer values to
    tell apart: they draw by ``counting``, or by the same law if that is None.

    A beginning goes on, and a word is listed, from so many votes on that with probability 1 -
    ``error`` none does, at any level, that fewer than ``least_holders`` people hold.
    """

    people: int
    honest: int
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
    counting: Law | None = None

    @property
    def alphabet(self) -> Alphabet:
        """The symbols that words are made of."""
        return Alphabet(self.tokens)

    @property
    def symbols(self) -> str:
        """What they are called."""
        return "bytes" if self.tokens is None else "tokens"

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

    def design(self, question: LevelQuestion, group: Group) -> Design:
        """A level, written down."""
        terms: dict[str, Any] = {"n": group.most, "honest": group.honest, "delta": self.level_delta}
        return Design.of(Poll(question, randomizer=group.randomizer, **terms), epsilon=self.epsilon)

    def first_design(self) -> Design:
        """The first level. No other has fewer people, and those who draw by another law show no
        more than it, so what it keeps all keep. With what is shown ``besides`` it bounds the whole
        search from above, in a certificate and in a ledger.
        """
        first: Any = {"words": (), "prefixes": ("",), "span": self.spans[0], "room": self.law.values}
        return self.design(LevelQuestion(tokens=self.tokens, longest=self.longest, **first), self.group(0))

    def votes(self, group: Group) -> SplitVotes:
        """The law of a word's votes in a group."""
        return SplitVotes(self.people, group.share * group.randomizer.hit, group.share * group.randomizer.miss)

    def threshold(self, group: Group, values: int) -> int:
        """From how many votes on one of so many ``values`` goes on, or is listed."""
        return self.votes(group).threshold(self.least_holders - 1, self.error / (len(self.spans) + 1) / values)

    def count_error(self, held: int) -> float:
        """The standard error of the count of a listed word that so many of all people hold."""
        group = self.group(len(self.spans), counting=True)
        law, share = group.randomizer, group.share
        hit, miss = share * law.hit, share * law.miss
        votes = held * hit * (1.0 - hit) + (self.people - held) * miss * (1.0 - miss)
        return math.sqrt(votes) / (share * law.contrast)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in LAWS}
        written = {name: list(value) if isinstance(value, tuple) else value for name, value in own.items()}
        laws = {name: law.as_json() for name in LAWS if (law := getattr(self, name)) is not None}
        return {"format": SEARCH, "version": VERSION, **written, **laws}

    @classmethod
    def from_json(cls, written: object) -> Self:
        """The search of ``as_json``; every rule is checked again."""
        needed = {each.name for each in fields(cls) if each.default is MISSING}
        if not isinstance(written, Mapping) or set(written) - {"counting"} != {"format", "version", *needed}:
            raise InvalidInput(f"a search must have its own fields, got something else. {REMEDY}")
        if written["format"] != SEARCH or written["version"] != VERSION:
            raise InvalidInput(f"a search must be of version {VERSION}, got {written['version']!r}. {REMEDY}")
        own: dict[str, Any] = {name: value for name, value in written.items() if name not in ("format", "version")}
        return cls(**_plain(own) | {name: Law.from_json(own[name]) for name in LAWS if name in own})._checked()

    def _checked(self) -> Self:
        agreed = ("spans", "share", *LAWS)
        terms = checked_terms({each.name: getattr(self, each.name) for each in fields(self) if each.name not in agreed})
        if sum(self.spans) != self.longest:
            raise InvalidInput(f"spans must add up to longest, got {self.spans!r}. {REMEDY}")
        if not 1 <= self.share <= OUT_OF // (len(self.spans) + 1):
            raise InvalidInput(
                f"share must leave as many people to count as a level has, got {self.share} of {OUT_OF} for each of "
                f"{len(self.spans)} levels: fewer would be less hidden than the promise says. {REMEDY}"
            )
        if self.law.values != room_of(self.alphabet.size, self.candidates, self.spans) or self.law.type != "krr":
            raise InvalidInput(f"the law of a search must fit its levels, got {self.law.as_json()!r}. {REMEDY}")
        if (counting := self.counting) is not None:
            fits = counting.type == "krr" and counting.values == counting_room(self.candidates)
            if not fits or not gentler(self):
                raise InvalidInput(
                    f"those who count must show no more than the first level, got {counting.as_json()!r}. {REMEDY}"
                )
        return replace(self, **terms)

    @cached_property
    def digest(self) -> str:
        """What tells searches apart."""
        return digest_of(self.as_json())


def _plain(own: Mapping[str, Any]) -> dict[str, Any]:
    """The same, if numbers are numbers and lists are lists: a stranger may have written others."""
    for name in ("tokens", "spans"):
        if not isinstance(own[name], list) and not (name == "tokens" and own[name] is None):
            raise InvalidInput(f"{name} of a search must be a list, got {shown(own[name])}. {REMEDY}")
    numbers = {name: check_count(name, own[name], least=0, remedy=REMEDY) for name in ("people", "honest", "share")}
    spans = [check_count("each of spans", each, least=1, most=LONGEST, remedy=REMEDY) for each in own["spans"]]
    epsilon, delta = check_positive("epsilon", check_epsilon(own["epsilon"]), remedy=REMEDY), check_delta(own["delta"])
    tokens = None if own["tokens"] is None else tuple(own["tokens"])
    return {**own, **numbers, "spans": tuple(spans), "tokens": tokens, "epsilon": epsilon, "delta": delta}


def room_of(size: int, candidates: int, spans: tuple[int, ...]) -> int:
    """How many values the law must tell apart: those of the widest level, and one for the rest."""
    first, later = extensions(size, spans[0]), [candidates * extensions(size, span) for span in spans[1:]]
    return max(first, *later, counting_room(candidates) - 1) + 1


def counting_room(candidates: int) -> int:
    """The same where words are counted: all that went on from one level, and as many whole ones."""
    return 2 * candidates + 1


def gentler(search: TopSearch) -> bool:
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


def checked_terms(terms: dict[str, Any]) -> dict[str, Any]:
    """What was asked for, if it can be."""
    people, honest = check_users(terms["people"], terms["honest"])
    own = check_asked(**{name: terms[name] for name in ("k", "longest", "tokens", "candidates", "error")})
    holders = check_count(
        "least_holders", terms["least_holders"], least=1, remedy="A listed word is held by so many; 50 is usual."
    )
    if holders > people:
        raise InvalidInput(f"least_holders must be at most the {people} people, got {holders}. Ask for fewer.")
    return terms | own | {"people": people, "honest": honest, "least_holders": holders}


def check_asked(
    *, k: object, longest: object, tokens: Iterable[object] | None, candidates: object, error: object
) -> dict[str, Any]:
    """The part of it that needs no people."""
    listed, beyond = "It is how many words to list; 50 is usual.", "No more words are followed; ask for fewer."
    words = check_count("k", k, least=1, most=MOST_WORDS, remedy=listed, beyond=beyond)
    counted, beyond = (
        "It is how many symbols words have; 16 is usual.",
        "Every symbol is asked of other people; ask for fewer.",
    )
    symbols = check_count("longest", longest, least=1, most=LONGEST, remedy=counted, beyond=beyond)
    going, most = "So many beginnings go on; at least as many as words.", 2 * MOST_WORDS
    followed = check_count("candidates", candidates, least=words, most=most, remedy=going, beyond="Ask for fewer.")
    wrong = check_probability(
        "error", error, remedy="It is the chance that anything is listed that few people hold; 0.001 is usual."
    )
    known = None if tokens is None else check_tokens(tokens)
    return {"k": words, "longest": symbols, "tokens": known, "candidates": followed, "error": wrong}


COUNTING = 0.2  # the least share of the people who count what was found
MOST_ROOM = 1 << 17  # values of a level, unless a single symbol needs more
MOST_PEOPLE = 10**10  # more than there are
CLOSE, FEWER = 4e-3, 0.95  # relative: how closely it is said how many people are enough, for one shape and for all
TINY, MORE = 1e-3, 64
NEARLY = 0.95  # of what those who count may show beyond epsilon: the rest is for rounding
GENTLER = (1.0, 0.8, 0.6)  # of epsilon: for which the law of those who count is tried, until it is
NO_LAW = Law(type="krr", k=2, epsilon0=1.0, integers=("1",))


def planned_search(
    *,
    people: int,
    honest: int | None = None,
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
    >>> search.spans, search.law.values
    ((4,), 122)
    """
    terms = checked_terms(
        {
            "people": people,
            "honest": people if honest is None else honest,
            "epsilon": check_positive("epsilon", check_epsilon(epsilon), remedy="A search with 0 finds nothing."),
            "delta": check_delta(delta),
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
        enough = _enough(terms)
        got, more = f"{terms['people']:,}", f"Ask about {enough or 0:,} or more"
        if enough is None:
            got, more = f"{got}, and even {MOST_PEOPLE:,} are not", "Allow a larger epsilon or delta"
        words = (f"{more}, or ask for words of fewer symbols (", Argument("longest"), "), or of a few tokens (")
        got += ": not even a word that all hold would be found"
        remedy = (*words, Argument("tokens"), ").")
        raise InvalidInput(Refusal("people must be enough for the levels of a search", got, remedy))
    return _with_counting(best)


def _best(terms: dict[str, Any]) -> TopSearch | None:
    """The shape that finds the rarest words, if one finds any."""
    # With a tiny epsilon it takes long to find the law of few people, and more rarely find a word.
    more = min(MORE * terms["people"], max(MOST_PEOPLE, terms["people"]))
    first = [_grown(terms, more)] if terms["epsilon"] < TINY else []
    if not any(all(_finds(each, spans) for each in (*first, terms)) for spans in _front(terms)):
        return None
    searches = [search for spans in _shapes(terms) if (search := _shaped(terms, spans)) is not None]
    found = [(rarest, search) for search in searches if (rarest := rarest_found(search)) is not None]
    return min(found, key=lambda each: each[0])[1] if found else None


def _grown(terms: dict[str, Any], people: int) -> dict[str, Any]:
    """The same of so many people, as large a part of them honest."""
    return terms | {"people": people, "honest": max(1, people * terms["honest"] // terms["people"])}


def _finds(terms: dict[str, Any], spans: tuple[int, ...]) -> bool:
    search = _shaped(terms, spans)
    return search is not None and rarest_found(search) is not None


def _enough(terms: dict[str, Any]) -> int | None:
    """How many people would be enough, as large a part of them honest: the fewest that a shape
    needs, rounded up to three digits; None if no shape finds a word among ``MOST_PEOPLE``.
    """
    people, most = terms["people"], MOST_PEOPLE
    enough: int | None = None
    for spans in _front(terms):

        def finds(people: int, spans: tuple[int, ...] = spans) -> bool:
            return _finds(_grown(terms, people), spans)

        good = most if enough is None else round(FEWER * most)
        if people < good and finds(good):
            most, _ = halve(finds, good, people, middle=_between, close=within(CLOSE))
            digits = 10 ** max(0, len(str(most)) - 3)
            enough = most = math.ceil(most / digits) * digits
    return enough


def _between(one: int, other: int) -> int:
    return round(math.sqrt(one * other))


def rarest_found(search: TopSearch, miss: float = MISS) -> int | None:
    """How many holders a word needs to pass every level except with probability ``miss``, as long
    as no level has more candidates than go on; None if nobody is found.
    """
    levels = len(search.spans)

    def needed(group: Group) -> int | None:
        return search.votes(group).found_from(search.threshold(group, group.law.values - 1), miss / (levels + 1))

    each = [needed(search.group(0)), needed(search.group(levels, counting=True))]
    return None if None in each else max(holders for holders in each if holders is not None)


def _shapes(terms: dict[str, Any]) -> list[tuple[int, ...]]:
    """How many symbols each level may have."""
    size, longest, candidates = Alphabet(terms["tokens"]).size, terms["longest"], terms["candidates"]
    firsts = [span for span in range(1, longest + 1) if span == 1 or extensions(size, span) <= MOST_ROOM]
    laters = [span for span in range(1, longest + 1) if span == 1 or candidates * extensions(size, span) <= MOST_ROOM]
    return sorted({_spans(longest, first, later) for first in firsts for later in laters})


def _front(terms: dict[str, Any]) -> list[tuple[int, ...]]:
    """The shapes of which one finds a word, if any does: with as many levels, fewer values are
    better, and so are fewer levels with as many values. Those with many levels need few people, and
    come first.
    """
    size, candidates, found = Alphabet(terms["tokens"]).size, terms["candidates"], list[tuple[int, ...]]()
    smallest = math.inf
    for _, room, spans in sorted((len(each), room_of(size, candidates, each), each) for each in _shapes(terms)):
        if room < smallest:
            found, smallest = [spans, *found], room
    return found


def _shaped(terms: dict[str, Any], spans: tuple[int, ...]) -> TopSearch | None:
    """The search of a shape, all levels with one law yet; None if no law keeps the promise."""
    share = math.floor(min((1.0 - COUNTING) / len(spans), 1.0 / (len(spans) + 1)) * OUT_OF)
    draft = TopSearch(**terms, spans=spans, share=share, law=NO_LAW, counting=NO_LAW)
    room = room_of(draft.alphabet.size, terms["candidates"], spans)
    try:  # those who count are no fewer than the first group
        law = _law(draft, draft.group(0), room, 1.0, draft.level_delta)
    except (CertificateError, InvalidInput):
        return None
    return replace(draft, law=law, counting=None)


def _with_counting(search: TopSearch) -> TopSearch:
    """The same, but whoever counts has a law of their own, if there is one that shows no more than
    the first level and errs less.
    """
    group = search.group(len(search.spans), counting=True)
    rarest = rarest_found(search) or 0
    for part in GENTLER:
        law = _law(search, group, counting_room(search.candidates), part, NEARLY * SECOND_LAW * search.delta)
        found = replace(search, counting=_no_louder(law, search.law))
        if found.count_error(rarest) >= search.count_error(rarest):
            break
        if gentler(found):
            return found
    return search


def _law(search: TopSearch, group: Group, room: int, part: float, delta: float) -> Law:
    """The law that keeps a part of epsilon, at a delta of its own, in a group."""
    about: Any = {"words": (), "prefixes": (), "span": 0, "room": room}
    question = LevelQuestion(tokens=search.tokens, longest=search.longest, **about)
    return Poll(question, n=group.most, honest=group.honest, epsilon=part * search.epsilon, delta=delta).law


def _no_louder(law: Law, other: Law) -> Law:
    """A law of the same values whose epsilon0 is not above that of the other."""
    if law.alone <= other.alone:
        return law
    return Law.from_json(law_of(KRR(k=law.values, epsilon0=other.alone)))


def _spans(longest: int, first: int, later: int) -> tuple[int, ...]:
    rest = longest - first
    return (first, *[later] * (rest // later), *([rest % later] if rest % later else []))
