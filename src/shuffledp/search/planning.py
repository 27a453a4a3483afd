"""How many symbols each level of a search has, and which laws keep the promise: chosen so that the
search finds the rarest words.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from shuffledp.accounting.inversion import halve, within
from shuffledp.design import Law
from shuffledp.domain import check_size
from shuffledp.errors import (
    Argument,
    CertificateError,
    InvalidInput,
    Refusal,
    check_delta,
    check_epsilon,
    check_positive,
    check_users,
)
from shuffledp.mechanisms.mechanism import Target
from shuffledp.mechanisms.one_message import OneMessage
from shuffledp.randomizers.krr import KRR
from shuffledp.randomizers.law_file import law_of
from shuffledp.search.alphabet import Alphabet, extensions
from shuffledp.search.search import (
    MISS,
    OUT_OF,
    SECOND_LAW,
    Group,
    Search,
    check_terms,
    counting_room,
    gentler,
    room_of,
)
from shuffledp.search.votes import passing

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
) -> Search:
    """The search whose rarest word that is found is as rare as possible, whatever its length.

    >>> search = planned_search(
    ...     people=100_000, epsilon=1.0, delta=1e-6, k=5, longest=4, tokens=("a", "b", "c")
    ... )
    >>> search.spans, search.law.values
    ((4,), 122)
    """
    many, honest = check_users(people, people if honest is None else honest)
    given = {"k": k, "longest": longest, "tokens": tokens, "least_holders": least_holders, "error": error}
    given["candidates"] = 2 * k if candidates is None else candidates
    terms: dict[str, Any] = {
        "people": many,
        "honest": honest,
        "epsilon": check_positive("epsilon", check_epsilon(epsilon), remedy="A search with 0 finds nothing."),
        "delta": check_delta(delta),
        **check_terms(given, many),
    }
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


def _best(terms: dict[str, Any]) -> Search | None:
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


def rarest_found(search: Search, miss: float = MISS) -> int | None:
    """How many holders a word needs to pass every level except with probability ``miss``, as long
    as no level has more candidates than go on; None if nobody is found.
    """
    levels = len(search.spans)
    groups = search.group(0), search.group(levels, counting=True)
    needed = ((search.votes(each), search.threshold(each, each.law.values - 1)) for each in groups)
    return passing(needed, miss / (levels + 1))


def count_error(search: Search, held: int) -> float:
    """The standard error of the count of a listed word that so many of all people hold."""
    return math.sqrt(search.group(len(search.spans), counting=True).votes.variance(held, search.people))


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


def _shaped(terms: dict[str, Any], spans: tuple[int, ...]) -> Search | None:
    """The search of a shape, all levels with one law yet; None if no law keeps the promise."""
    share = math.floor(min((1.0 - COUNTING) / len(spans), 1.0 / (len(spans) + 1)) * OUT_OF)
    draft = Search(**terms, spans=spans, share=share, law=NO_LAW, counting=NO_LAW)
    room = room_of(draft.alphabet.size, terms["candidates"], spans)
    try:  # those who count are no fewer than the first group
        law = _law(draft, draft.group(0), room, 1.0, draft.level_delta)
    except (CertificateError, InvalidInput):
        return None
    return replace(draft, law=law, counting=None)


def _with_counting(search: Search) -> Search:
    """The same, but whoever counts has a law of their own, if there is one that shows no more than
    the first level and errs less.
    """
    group = search.group(len(search.spans), counting=True)
    rarest = rarest_found(search) or 0
    for part in GENTLER:
        law = _law(search, group, counting_room(search.candidates), part, NEARLY * SECOND_LAW * search.delta)
        found = replace(search, counting=_no_louder(law, search.law))
        if count_error(found, rarest) >= count_error(search, rarest):
            break
        if gentler(found):
            return found
    return search


def _law(search: Search, group: Group, room: int, part: float, delta: float) -> Law:
    """The law that keeps a part of epsilon, at a delta of its own, in a group."""
    check_size("the values of a level", room)
    epsilon = part * search.epsilon
    target = Target(group.most, epsilon, delta, group.honest)
    found = OneMessage.calibrated(target, KRR, k=room)
    if not found.guarantee(group.honest).delta_at_most(epsilon=epsilon) <= delta:
        raise CertificateError("a law misses its own promise. This is a bug in shuffledp; please report the call.")
    return Law.from_json(law_of(found.law))


def _no_louder(law: Law, other: Law) -> Law:
    """A law of the same values whose epsilon0 is not above that of the other."""
    if law.alone <= other.alone:
        return law
    return Law.from_json(law_of(KRR(k=law.values, epsilon0=other.alone)))


def _spans(longest: int, first: int, later: int) -> tuple[int, ...]:
    rest = longest - first
    return (first, *[later] * (rest // later), *([rest % later] if rest % later else []))
