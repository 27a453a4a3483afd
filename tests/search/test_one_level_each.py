"""A person answers at one level, drawn whatever their word is: the promise is that of one level."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import pytest
from scipy.special import bdtr, bdtrc

from shuffledp.search.alphabet import LevelPlaces
from shuffledp.search.planning import planned_search
from shuffledp.search.search import OUT_OF, SHORT_GROUPS

Law = dict[tuple[tuple[int, ...], ...], float]
WORDS = ("a", "ab", "ba")
TRUE = 0.7  # how often a report is the true value
ROOMS = (4, 4), (4, 3), (3, 4)  # values of a report at the first level, and at the second


def report(value: int, room: int) -> list[float]:
    return [(1 - TRUE) / room + (TRUE if each == value else 0) for each in range(room)]


@cache
def tallies(values: tuple[int, ...], room: int) -> dict[tuple[int, ...], float]:
    """The law of how often each value is reported."""
    law: dict[tuple[int, ...], float] = {(0,) * room: 1.0}
    for value in values:
        more = defaultdict[tuple[int, ...], float](float)
        for tally, chance in law.items():
            for each, share in enumerate(report(min(value, room - 1), room)):
                more[*tally[:each], tally[each] + 1, *tally[each + 1 :]] += chance * share
        law = dict(more)
    return law


@cache
def question(prefix: str) -> LevelPlaces:
    return LevelPlaces.of(("a", "b"), 2, (), (prefix,), 1)


@cache
def transcript(words: tuple[str, ...], levels: tuple[tuple[int, ...], ...], rooms: tuple[int, int]) -> Law:
    """Both tallies, where the second question depends on the first tally; ``levels`` are those at
    which each person answers, and a law of as many values as there is room for is that of a level.
    """

    def group(level: int, places: LevelPlaces) -> tuple[int, ...]:
        return tuple(places.place(word) for word, mine in zip(words, levels, strict=True) if level in mine)

    law: Law = {}
    for first, chance in tallies(group(0, question("")), rooms[0]).items():
        followed = "a" if first[1] >= first[2] else "b"
        for second, share in tallies(group(1, question(followed)), rooms[1]).items():
            law[first, second] = chance * share
    return law


def delta(one: Mapping[Any, float], other: Mapping[Any, float], odds: float) -> float:
    return sum((max(chance - odds * other.get(seen, 0.0), 0.0) for seen, chance in one.items()), 0.0)


def one_level(others: int, odds: float, rooms: tuple[int, int]) -> float:
    """The delta of the worse level with so many others: at most this is promised."""
    return max(
        delta(
            {(key,): p for key, p in tallies((x, *rest), room).items()},
            {(key,): p for key, p in tallies((y, *rest), room).items()},
            odds,
        )
        for room in rooms
        for rest in product(range(3), repeat=others)
        for x, y in product(range(3), repeat=2)
    )


ODDS = (1.5, 3.0)


def test_two_levels_cost_what_one_costs() -> None:
    """For every split and all words: the other level adds nothing. Where the levels have laws of
    their own, they cost what the worse of them costs.
    """
    for odds, rooms in product(ODDS, ROOMS):
        promised = one_level(1, odds, rooms)
        for mine, rest in product((0, 1), repeat=2):
            levels = ((mine,), (mine,), (rest,))
            for x, y, *others in product(WORDS, repeat=4):
                one, other = (transcript((word, *others), levels, rooms) for word in (x, y))
                found = delta(one, other, odds)
                assert found <= promised + 1e-12


def test_whoever_answers_twice_pays_twice() -> None:
    """The control: the same bound fails for a person who is in both groups."""
    odds, rooms, both = ODDS[0], ROOMS[0], ((0, 1), (0, 1), (1,))
    worst = max(
        delta(transcript((x, *others), both, rooms), transcript((y, *others), both, rooms), odds)
        for x, y, *others in product(WORDS, repeat=4)
    )
    assert worst > 1.1 * one_level(1, odds, rooms)


def drawn(words: tuple[str, ...], share: float, *, told: bool) -> dict[object, float]:
    """What an analyst sees of the honest people, each of whom draws a level: with the reports of
    those who help, these are known. ``told``, all levels are known, too.
    """
    seen = defaultdict[object, float](float)
    for levels in product((0, 1), repeat=len(words)):
        chance = share ** levels.count(0) * (1.0 - share) ** levels.count(1)
        view = levels if told else sum(levels)
        for tallied, each in transcript(words, tuple((level,) for level in levels), ROOMS[0]).items():
            seen[view, tallied] += chance * each
    return seen


@pytest.mark.parametrize("honest", [4, 3])
def test_a_search_shows_at_most_its_smallest_level_and_the_chance_of_a_smaller_one(honest: int) -> None:
    """The theorem of ``search``, for four people, all honest or one of them helping, for all words,
    and for every number of honest people that a level may be certified for.
    """
    share, odds = 0.5, ODDS[0]

    def worst(*, told: bool) -> float:
        return max(
            delta(drawn((x, *others), share, told=told), drawn((y, *others), share, told=told), odds)
            for others in product(WORDS, repeat=honest - 1)
            for x, y in (("a", "ba"), ("ba", "a"))
        )

    known, unknown = worst(told=True), worst(told=False)
    for least in range(1, honest + 1):
        short = float(bdtr(least - 2, honest - 1, share)) if least > 1 else 0.0
        assert known <= one_level(least - 1, odds, ROOMS[0]) + short + 1e-12
    # What a level shows with the fewest people that it may have is no lower end of what runs.
    assert unknown < known < one_level(0, odds, ROOMS[0])
    assert unknown < 0.9 * one_level(1, odds, ROOMS[0])


@pytest.mark.parametrize(
    ("people", "honest", "delta"), [(40_000, 32_000, 1e-6), (10**9, 10**9 // 2, 1e-2), (3000, 2999, 1e-9)]
)
def test_a_group_is_short_of_honest_people_as_rarely_as_is_counted(people: int, honest: int, delta: float) -> None:
    """Also if those who count are fewer, and where sizes that no level was made for are drawn
    again.
    """
    whole = planned_search(people=10**6, epsilon=1.0, delta=1e-6, k=5, longest=4, tokens=("a", "b"))
    search = replace(whole, people=people, honest=honest, delta=delta, spans=(1, 1, 1, 1), share=OUT_OF // 5)
    level, last = search.group(0), search.group(4, counting=True)
    odd = sum(
        float(bdtr(group.honest - 1, people, group.share) + bdtrc(group.most, people, group.share))
        for group in (level, *(search.group(asked, counting=True) for asked in range(1, 5)))
        for _ in range(2)
    )
    short = float(bdtr(level.honest - 2, honest - 1, level.share))
    early = float(bdtr(last.honest - 2, honest - 1, level.share + last.share))
    assert (short + early) / (1.0 - odd) <= SHORT_GROUPS * delta
