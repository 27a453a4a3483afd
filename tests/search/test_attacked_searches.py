"""Data that were made to break what a list says. ``make top-words`` runs hundreds of each; here a
few are run, and the same with the protection off.
"""

from __future__ import annotations

import pytest

from benchmarks.attacked_searches import ATTACKS, attacked
from benchmarks.top_words import attacked_once
from shuffledp.search.alphabet import Alphabet
from shuffledp.search.search import Search

RUNS = 10
FEW_HOLD, NESTED = ATTACKS[0], ATTACKS[6]


@pytest.mark.parametrize("attack", [FEW_HOLD, NESTED], ids=lambda each: each.name)
def test_what_a_list_says_is_true(attack: object) -> None:
    found = attacked(attack, RUNS, attacked_once)  # type: ignore[arg-type]
    assert (found.too_few, found.wrong, found.missed) == (0, 0, 0)
    assert found.together == found.listing


def test_without_thresholds_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Search, "threshold", lambda *_: 1)
    assert attacked(FEW_HOLD, 1, attacked_once).too_few == 1


def test_no_two_words_are_written_alike() -> None:
    """Not even one of letters that cannot be printed, and one that is written as it is shown."""
    alphabet = Alphabet()
    words = ["a\u200b", "a%E2%80%8B", "a%25E2%2580%258B", "5%", "5%25", "%C3", "é", "e\u0301", "\ufffd", "\U0001f600"]
    codes = [alphabet.codes(word, most=40) for word in words]
    labels = [alphabet.word(each) for each in codes]
    assert len(set(labels)) == len(words)
    assert all(label.isprintable() for label in labels)
    assert [alphabet.read(alphabet.text(each)) for each in codes] == codes
    assert all(map(alphabet.whole, codes))
    assert not any(alphabet.whole(codes[-1][:cut]) for cut in (1, 2, 3))
