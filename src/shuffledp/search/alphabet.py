"""Words as rows of symbols: bytes of UTF-8, or tokens of one's own.

A symbol has a code from 1 on; 0 stands for "the word is over". A word is cut into symbols from its
beginning, the longest token first; what is cut off its end leaves the symbols before it as they
are, so the text of a beginning tells its symbols.

At one level of the tree of beginnings, ``LevelPlaces`` says which word counts as which value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput, check_count

# The bytes of printable text: ASCII, and all that UTF-8 writes other letters with.
BYTES = (*range(0x20, 0x7F), *range(0x80, 0xC0), *range(0xC2, 0xF5))
LONGEST, MOST_TOKENS = 255, 4096
CUT = re.compile("[\udc80-\udcff]")  # how Python reads bytes that are no whole letter
PLACES = np.zeros(256, dtype=np.uint8)
PLACES[list(BYTES)] = np.arange(1, len(BYTES) + 1)


@dataclass(frozen=True)
class Alphabet:
    """The symbols of words: ``tokens``, or, if there are none, the bytes of printable UTF-8.

    >>> Alphabet().codes("ab", most=3), Alphabet(("a", "ab")).codes("aba", most=3)
    ((66, 67), (2, 1))
    >>> Alphabet().text(Alphabet().codes("café", most=4))
    'caf%C3'
    """

    tokens: tuple[str, ...] | None = None

    @property
    def size(self) -> int:
        """How many symbols there are."""
        return len(BYTES if self.tokens is None else self.tokens)

    def codes(self, word: str, *, most: int) -> tuple[int, ...]:
        """The first symbols of a word, at most so many; none if one of them is not in the
        alphabet.
        """
        if self.tokens is None:
            try:
                written = word.encode()[:most]
            except UnicodeEncodeError:  # half a character, as no text in UTF-8 has it
                return ()
            found = tuple(PLACES[list(written)].tolist())
            return found if all(found) else ()
        symbols, at = list[int](), 0
        while at < len(word) and len(symbols) < most:
            match = self._pattern.match(word, at)
            if match is None:
                return ()
            symbols.append(self._places[match[0]])
            at = match.end()
        return tuple(symbols)

    def rows(self, words: Sequence[str], *, longest: int) -> NDArray[Any]:
        """A row of ``longest`` + 1 codes for each word: whether it goes on is seen, and how is not.
        One that cannot be written is a row of zeros, like the empty word.
        """
        rows = np.zeros((len(words), longest + 1), dtype=self.dtype)
        for row, word in zip(rows, words, strict=True):
            codes = self.codes(word, most=longest + 1)
            row[: len(codes)] = codes
        return rows

    def rows_of_bytes(self, written: NDArray[np.uint8], ends: NDArray[np.int64], *, longest: int) -> NDArray[Any]:
        """The same for many words at once, whose bytes are ``written`` one after the other:
        word i from ``ends[i]`` to ``ends[i + 1]``.
        """
        assert self.tokens is None
        at = ends[:-1, None] + np.arange(longest + 1)
        inside = at < ends[1:, None]
        codes = PLACES[written[np.where(inside, at, 0)]] if len(written) else np.zeros(at.shape, dtype=np.uint8)
        wrong = np.any(inside & (codes == 0), axis=1)
        codes[~inside] = 0
        codes[wrong] = 0
        return codes

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of a code. Rows are compared byte by byte, so the larger half comes first."""
        return np.dtype(np.uint8 if self.size < 256 else ">u2")

    def text(self, codes: Iterable[int]) -> str:
        """The text of some symbols. Bytes that are no whole letter, and letters that cannot be
        printed, are written as in an address: %C3.
        """
        if self.tokens is not None:
            return "".join(self.tokens[code - 1] for code in codes)
        letters = self._bytes(codes).decode(errors="surrogateescape")
        return "".join(
            letter
            if letter.isprintable() and letter != "%"
            else "".join(f"%{byte:02X}" for byte in letter.encode(errors="surrogateescape"))
            for letter in letters
        )

    def word(self, codes: Iterable[int]) -> str:
        """The word of some symbols, to be read by people; no other word is written like that.

        >>> [Alphabet().word(Alphabet().codes(word, most=9)) for word in ("5%", "%20")]
        ['5%', '%2520']
        """
        known = tuple(codes)
        text = self.text(known)
        written = text.replace("%25", "%")
        return written if self.tokens is None and self.read(written) == known else text

    def read(self, text: str) -> tuple[int, ...]:
        """The symbols of ``text(codes)``; none if it is nobody's."""
        if self.tokens is not None:
            return self.codes(text, most=LONGEST)
        return tuple(PLACES[list(unquote_to_bytes(text))].tolist())

    def possible(self, codes: tuple[int, ...]) -> bool:
        """Whether a word can begin like that: tokens that would be cut otherwise, and bytes that
        are no UTF-8, are nobody's.
        """
        if self.tokens is not None:
            return self.codes(self.text(codes), most=len(codes) + 1) == codes
        written = self._bytes(codes)
        try:
            written.decode()
        except UnicodeDecodeError as error:
            return error.end == len(written) and error.reason == "unexpected end of data"
        return True

    def whole(self, codes: tuple[int, ...]) -> bool:
        """Whether a word can end there: not within a letter."""
        return self.tokens is not None or not CUT.search(self._bytes(codes).decode(errors="surrogateescape"))

    def _bytes(self, codes: Iterable[int]) -> bytes:
        return bytes(BYTES[code - 1] for code in codes)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        assert self.tokens is not None
        return re.compile("|".join(map(re.escape, sorted(self.tokens, key=len, reverse=True))))

    @cached_property
    def _places(self) -> dict[str, int]:
        assert self.tokens is not None
        return {token: place for place, token in enumerate(self.tokens, 1)}


def check_tokens(tokens: Iterable[object]) -> tuple[str, ...]:
    """The tokens, if each is a text of its own."""
    listed = tuple(tokens)
    check_count("the number of tokens", len(listed), least=1, remedy="List the symbols that words are made of.")
    if len(listed) > MOST_TOKENS:
        raise InvalidInput(
            f"tokens must number at most {MOST_TOKENS}, got {len(listed)}. Every step tells all of them apart; list "
            f"fewer, or leave them out: words are then made of bytes."
        )
    seen = set[str]()
    for token in listed:
        if not isinstance(token, str) or not token or not token.isprintable():
            raise InvalidInput(f"a token must be printable text, got {token!r}. Leave it out.")
        if token in seen:
            raise InvalidInput(f"tokens must be distinct, got {token!r} twice. Remove one.")
        seen.add(token)
    return tuple(map(str, listed))


Codes = tuple[int, ...]
REMEDY = "Take what a search wrote, unchanged."


class Beginning(NamedTuple):
    """What is told apart at a level: the word of these symbols (``whole``), or all words that
    begin with them.
    """

    codes: Codes
    whole: bool


def extensions(size: int, span: int) -> int:
    """In how many ways a beginning goes on: it ends after 0, ..., span - 1 symbols of ``size``, or
    has ``span`` more.

    >>> extensions(2, 1), extensions(2, 2)
    (3, 7)
    """
    return sum(size**length for length in range(span + 1))


@dataclass(frozen=True)
class LevelPlaces:
    """The values of a level in their order: ``words``, then each of ``prefixes`` with every way to
    go on for ``span`` symbols, and last everything else.

    A word of exactly as many symbols as are looked at is not told from one that goes on, except by
    ``words``: those come first.

    >>> level = LevelPlaces.of(("a", "b"), 3, ("b",), ("a",), 1)
    >>> level.place("b"), level.place("a"), level.place("abba"), level.place("c"), level.count
    (0, 1, 3, 4, 5)
    >>> level.alphabet.text(level.beginning(3).codes)
    'ab'
    """

    alphabet: Alphabet
    longest: int
    words: tuple[Codes, ...]
    prefixes: tuple[Codes, ...]
    span: int

    @classmethod
    def of(
        cls,
        tokens: Sequence[str] | None,
        longest: int,
        words: Sequence[str],
        prefixes: Sequence[str],
        span: int,
    ) -> LevelPlaces:
        """The level as a design writes it."""
        alphabet = Alphabet(None if tokens is None else check_tokens(tokens))
        if not 1 <= longest <= LONGEST:
            raise InvalidInput(f"longest must lie in [1, {LONGEST}], got {longest!r}. {REMEDY}")
        known, open_ends = (tuple(map(alphabet.read, listed)) for listed in (words, prefixes))
        for listed, codes in ((words, known), (prefixes, open_ends)):
            if len(set(codes)) < len(codes) or any(0 in each or len(each) > longest for each in codes):
                raise InvalidInput(f"beginnings must be distinct texts of the alphabet, got {listed!r}. {REMEDY}")
        if len(set(map(len, open_ends))) > 1 or not all(known):
            raise InvalidInput(f"beginnings must be equally long, and no word empty, got {prefixes!r}. {REMEDY}")
        level = cls(alphabet, longest, known, open_ends, span)
        if level.depth + span > longest:
            raise InvalidInput(f"span must lead to at most {longest} symbols, got {span}. {REMEDY}")
        return level

    @property
    def depth(self) -> int:
        """How many symbols the beginnings have."""
        return len(self.prefixes[0]) if self.prefixes else 0

    @property
    def count(self) -> int:
        """How many values are told apart, everything else included."""
        return self.other + 1

    @property
    def other(self) -> int:
        """The place of everything else."""
        return len(self.words) + len(self.prefixes) * self._each

    @property
    def _each(self) -> int:
        return extensions(self.alphabet.size, self.span)

    @cached_property
    def _offsets(self) -> NDArray[np.int64]:
        """Where the extensions of each length begin."""
        return np.cumsum([0, *(self.alphabet.size**length for length in range(self.span))])

    def place(self, word: str) -> int:
        """The value that a word counts as."""
        return int(self.places(self.alphabet.rows([word], longest=self.longest))[0])

    def places(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """The same for rows of symbols (``Alphabet.rows``)."""
        found = np.full(len(rows), self.other, dtype=np.int64)
        if self.prefixes:
            which, known = _look_up(rows[:, : self.depth], self.prefixes)
            going_on, length = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
            for column in rows[:, self.depth : self.depth + self.span].T.astype(np.int64):
                going_on = np.where(column > 0, going_on * self.alphabet.size + column - 1, going_on)
                length += column > 0
            places = len(self.words) + which * self._each + self._offsets[length] + going_on
            found[known] = places[known]
        if self.words:
            whole = [word + (0,) * (self.longest + 1 - len(word)) for word in self.words]
            which, known = _look_up(rows, whole)
            found[known] = which[known]
        found[rows[:, 0] == 0] = self.other  # no word, or none that can be written
        return found

    def beginning(self, place: int) -> Beginning:
        """What a value is; ``other`` is none."""
        if place < len(self.words):
            return Beginning(self.words[place], whole=True)
        which, extension = divmod(place - len(self.words), self._each)
        length = int(np.searchsorted(self._offsets, extension, side="right")) - 1
        rest = list[int]()
        number = extension - int(self._offsets[length])
        for _ in range(length):
            number, last = divmod(number, self.alphabet.size)
            rest.insert(0, last + 1)
        return Beginning((*self.prefixes[which], *rest), whole=length < self.span)


def _look_up(rows: NDArray[Any], known: Sequence[Codes]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Which of the known rows each row is, and whether it is one: rows are compared as bytes."""
    if not rows.shape[1]:
        return np.zeros(len(rows), dtype=np.int64), np.ones(len(rows), dtype=bool)
    kind = f"S{rows.shape[1] * rows.dtype.itemsize}"
    listed = np.array(known, dtype=rows.dtype).view(kind)[:, 0]
    order = np.argsort(listed)
    asked = np.ascontiguousarray(rows).view(kind)[:, 0]
    at = np.minimum(np.searchsorted(listed[order], asked), len(listed) - 1)
    return order[at], listed[order][at] == asked
