"""Every word counts as one value of a level, and every value is known by its place."""

from __future__ import annotations

import json
from itertools import product

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.search.alphabet import LevelPlaces
from shuffledp.search.question import Level

LETTERS = ("a", "b", "c")
WORDS = ["".join(letters) for length in range(6) for letters in product("abcx", repeat=length)]


def slow_place(level: LevelPlaces, word: str) -> int:
    """From the definition: the first value that the word fits."""
    if not word or "x" in word[: level.longest + 1]:
        return level.other
    for place, (codes, whole) in enumerate(map(level.beginning, range(level.other))):
        text = level.alphabet.text(codes)
        if word == text if whole else word.startswith(text):
            return place
    return level.other


@pytest.mark.parametrize(
    ("words", "prefixes", "span"),
    [
        ((), ("",), 1),
        ((), ("",), 3),
        (("b",), ("a", "c"), 1),
        ((), ("ab", "bc"), 2),
        (("abca", "cab"), ("abca",), 0),
        (("a",), (), 0),
    ],
)
def test_all_short_words(words: tuple[str, ...], prefixes: tuple[str, ...], span: int) -> None:
    level = LevelPlaces.of(LETTERS, 4, words, prefixes, span)
    rows = level.alphabet.rows(WORDS, longest=4)
    assert level.places(rows).tolist() == [slow_place(level, word) for word in WORDS]
    assert len(set(map(level.beginning, range(level.other)))) == level.other == level.count - 1


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"prefixes": ("a", "a")}, "distinct"),
        ({"prefixes": ("a", "ab")}, "equally long"),
        ({"words": ("",)}, "no word empty"),
        ({"span": 9}, "at most 4"),
        ({"room": 4}, "room must be at least the 5 values"),
        ({"longest": 0}, "longest"),
        ({"longest": "4"}, "usual form, got '4' for longest"),
        ({"tokens": ("a", "a")}, "distinct"),
        ({"prefixes": (1,)}, "usual form, got '1' for prefixes"),
    ],
)
def test_a_level_that_is_none(changed: dict[str, object], words: str) -> None:
    usual = {"tokens": LETTERS, "longest": 4, "words": (), "prefixes": ("",), "span": 1, "room": 20}
    with pytest.raises(InvalidInput, match=words):
        Level.read({"type": "top"} | json.loads(json.dumps(usual | changed))).checked()
