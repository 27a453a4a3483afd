"""One level of the tree of beginnings: which word counts as which value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput
from shuffledp.search.alphabet import LONGEST, Alphabet, check_tokens

__all__ = ["Beginning", "Codes", "LevelPlaces", "extensions"]

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

    def beginnings(self) -> Iterator[Beginning]:
        """All values in their order, but for everything else."""
        return map(self.beginning, range(self.other))


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
