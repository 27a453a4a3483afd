"""Searches for frequent words on data that were made to break what their lists say: how often
something is listed or followed that too few people hold, how often all intervals hold at once, and
how often a word is missed that is said to be found. ``benchmarks/top_words.py`` writes it down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shuffledp.search.alphabet import Beginning, Codes
from shuffledp.search.found import Found
from shuffledp.search.planning import planned_search
from shuffledp.search.search import Search
from shuffledp.search.terms import SearchLevel

Run = Callable[[Search, "Attack", int], Found]

LETTERS = tuple("abcdefgh")
ERROR = 0.05  # so large that too many would be seen
FEW = 49  # holders: one fewer than a listed word has
EMOJI = "\U0001f600"


class Attack(NamedTuple):
    """Words, and how many people hold each of them; everybody else holds none."""

    name: str
    held: dict[str, int]
    people: int
    terms: dict[str, Any]

    @property
    def words(self) -> list[str]:
        return [*self.held, ""]

    @property
    def places(self) -> NDArray[np.int64]:
        """Of each person's word among ``words``."""
        counts = [*self.held.values(), self.people - sum(self.held.values())]
        return np.repeat(np.arange(len(counts)), counts)

    def search(self) -> Search:
        return planned_search(people=self.people, delta=1e-6, least_holders=FEW + 1, error=ERROR, **self.terms)


def numbered(number: int, length: int) -> str:
    """A word of so many letters."""
    return "".join(LETTERS[number // 8**place % 8] for place in range(length))


FOUR = {"k": 20, "longest": 4, "tokens": LETTERS, "epsilon": 2.0}
SIX = {"k": 20, "longest": 6, "tokens": tuple("abcdefghijklmnopqrstuvwxyz"), "epsilon": 4.0}
NESTED = {"k": 10, "longest": 3, "tokens": ("a", "ab", "b", "ba", "aba"), "epsilon": 2.0}
BYTES = {"k": 20, "longest": 10, "epsilon": 6.0}
STRANGE = (EMOJI, f"x{EMOJI}", "é", "e\u0301", "a\u200b", "a%E2%80%8B", "a%", "日本語", "tab\t", "…", "a…", "\ufffd")

ATTACKS = (
    Attack("205 words of 49 holders each", {numbered(each, 4): FEW for each in range(0, 4100, 20)}, 20_000, FOUR),
    Attack("400 beginnings of 49 holders each", {numbered(each, 4): FEW for each in range(400)}, 20_000, FOUR),
    Attack("130 words at the threshold", {numbered(13 * each % 4096, 4): 150 for each in range(130)}, 20_000, FOUR),
    Attack(
        "one beginning that most share, and 64 words of 49 holders from it",
        {**{f"aaa{numbered(each, 2)}": FEW for each in range(64)}, "aaa": 9000, "aaaa": 3000},
        20_000,
        FOUR | {"longest": 5},
    ),
    Attack(
        "100 words at the thresholds of four levels",
        {numbered(41 * each + 7, 6): 170 for each in range(100)},
        50_000,
        SIX,
    ),
    Attack(
        "from 900 holders down to 49, four levels",
        {numbered(41 * each + 7, 6): each_held for each, each_held in enumerate([900] * 8 + [300] * 20 + [FEW] * 60)},
        50_000,
        SIX,
    ),
    Attack(
        "tokens that begin others, words that are too long, or of other letters",
        {"a": 900, "ab": 800, "aba": 700, "abab": 600, "b": 500, "ba": 400, "aab": 300, "abba": 250, "ab" * 5: 400}
        | {"xyz": 200},
        20_000,
        NESTED,
    ),
    Attack("bytes: letters cut in two, look-alikes, spaces", dict.fromkeys(STRANGE, 1400), 40_000, BYTES),
)


class Withstood(NamedTuple):
    """Over many searches: in how many too little was held, how many listed something, in how many
    of those all intervals held, and how many words of enough holders were missed.
    """

    searches: int
    too_few: int
    listing: int
    together: int
    enough: int
    missed: int
    wrong: int  # labels that are no text, or twice in a list


def attacked(attack: Attack, runs: int, run: Run) -> Withstood:
    search = attack.search()
    followed, true = holders(search, attack)
    found = Counter[str]()
    for seed in range(runs):
        words = run(search, attack, seed)
        held = [(true if level.words else followed)[each] for level in words.levels for each in went_on(search, level)]
        found["too_few"] += min(held, default=FEW + 1) <= FEW
        labels = list(map(str, words.listed.labels))
        found["wrong"] += len(set(labels)) < len(labels) or not all(each and each.isprintable() for each in labels)
        listed = [] if words.counted is None else went_on(search, words.counted)
        if listed:
            found["listing"] += 1
            limits = zip(*words.listed.simultaneous(), listed, strict=True)
            found["together"] += all(lower <= true[which] <= upper for lower, upper, which in limits)
        if words.found_from is not None and not any(level.fell_out for level in words.levels):
            enough = [each for each, count in true.items() if count >= words.found_from]
            found["enough"] += len(enough)
            found["missed"] += len(set(enough) - set(listed))
    return Withstood(runs, *(found[name] for name in Withstood._fields[1:]))


def went_on(search: Search, level: SearchLevel) -> list[Beginning]:
    """What did at a level, with most votes first."""
    return [Beginning(search.alphabet.read(text), whole) for text, whole in zip(level.passed, level.whole, strict=True)]


def holders(search: Search, attack: Attack) -> tuple[Counter[Beginning], Counter[Beginning]]:
    """How many people hold what may be followed, and what may be counted: whole words, and
    beginnings; where words are counted, those alone that are too long.
    """
    followed, counted = Counter[Beginning](), Counter[Beginning]()
    rows = search.alphabet.rows(attack.words, longest=search.longest)
    counts = np.bincount(attack.places)
    for row, count in zip(rows.tolist(), counts.tolist(), strict=True):
        codes: Codes = tuple(code for code in row if code)
        if not codes:
            continue
        whole = len(codes) <= search.longest
        counted[Beginning(codes[: search.longest], whole=whole)] += count
        followed[Beginning(codes, whole=True)] += count
        for depth in range(1, min(len(codes), search.longest) + 1):
            followed[Beginning(codes[:depth], whole=False)] += count
    return followed, counted
