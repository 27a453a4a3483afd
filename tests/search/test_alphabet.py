"""Words as rows of symbols, and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shuffledp.errors import InvalidInput
from shuffledp.search.alphabet import MOST_TOKENS, Alphabet, check_tokens

TOKENS = Alphabet(("a", "ab", "b", "ba", "é"))


@given(st.text(min_size=1, max_size=12), st.integers(1, 8))
@settings(deadline=None, max_examples=100)
def test_many_words_at_once_are_cut_as_one_is(word: str, longest: int) -> None:
    alphabet = Alphabet()
    written = word.encode(errors="ignore")
    word = written.decode()
    one = alphabet.rows([word, "x"], longest=longest)
    ends = np.array([0, len(written), len(written) + 1])
    many = alphabet.rows_of_bytes(np.frombuffer(written + b"x", np.uint8), ends, longest=longest)
    np.testing.assert_array_equal(one, many)


@given(st.text(alphabet="aébcx", min_size=1, max_size=9), st.integers(1, 9))
def test_a_beginning_has_the_symbols_of_the_whole(word: str, most: int) -> None:
    """So the text of a beginning tells its symbols, whatever followed."""
    for alphabet in (TOKENS, Alphabet()):
        codes = alphabet.codes(word, most=most)
        if codes:
            assert alphabet.read(alphabet.text(codes)) == codes
            assert alphabet.possible(codes)


def test_the_longest_token_comes_first() -> None:
    assert TOKENS.codes("aba", most=9) == (2, 1)
    assert TOKENS.codes("abc", most=9) == ()
    assert TOKENS.codes("abc", most=1) == (2,)  # what is not looked at may be anything
    assert not TOKENS.possible((1, 3))  # "a" and "b" would be cut as "ab"


def test_half_a_letter_can_be_written_down() -> None:
    alphabet = Alphabet()
    half = alphabet.codes("né", most=2)
    assert alphabet.text(half) == "n%C3"
    assert alphabet.read("n%C3") == half
    assert alphabet.possible(half)
    assert not alphabet.whole(half)
    assert alphabet.word(alphabet.codes("100%", most=9)) == "100%"
    assert alphabet.text(alphabet.codes("100%", most=9)) == "100%25"


def test_bytes_that_are_no_text_are_nobodys() -> None:
    alphabet = Alphabet()
    stray = alphabet.read("a%80b")
    assert not alphabet.possible(stray)
    assert alphabet.codes("a\tb", most=9) == ()
    assert alphabet.codes("a\ud800", most=9) == ()


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (("a", "b", "a"), "distinct, got 'a' twice"),
        ((), "at least 1"),
        (("a", ""), "printable text, got ''"),
        (("a", "\n"), "printable text"),
        (tuple(map(str, range(MOST_TOKENS + 1))), f"at most {MOST_TOKENS}"),
    ],
)
def test_tokens_that_are_none(tokens: tuple[str, ...], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        check_tokens(tokens)
