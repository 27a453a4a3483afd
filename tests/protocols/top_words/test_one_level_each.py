"""A person answers at one level, drawn whatever their word is: the promise is that of one level."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import product

from shuffledp.protocols.top_words.level_places import LevelPlaces

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


def delta(one: Law, other: Law, odds: float) -> float:
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
