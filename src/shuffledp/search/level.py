"""One level of a search as a protocol: k-ary randomized response over its values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from shuffledp.errors import InvalidInput
from shuffledp.protocols.histogram import RandomizedResponse
from shuffledp.sampling import Source
from shuffledp.search.question import LevelQuestion

__all__ = ["TopLevel"]


@dataclass(frozen=True, kw_only=True, eq=False)
class TopLevel(RandomizedResponse):
    """How many people's words begin in which way; see ``LevelQuestion`` for the fields."""

    categories: Iterable[Hashable] = field(init=False, repr=False, default=())
    tokens: tuple[str, ...] | None = None
    longest: int
    words: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ("",)
    span: int = 1
    room: int

    def _ask(self) -> None:
        self.question.checked()
        self._set(categories=self.room)
        super()._ask()

    @property
    def question(self) -> LevelQuestion:
        """The question, for a design."""
        return LevelQuestion(**{name: getattr(self, name) for name in LevelQuestion.field_names()})

    def _places(self, values: Iterable[Any], source: Source) -> NDArray[Any]:
        words = list(values)
        if not words or not all(isinstance(word, str) for word in words):
            raise InvalidInput("values must be words, one text for each person, got others. Pass a list of texts.")
        level = self.question.level
        return level.places(level.alphabet.rows([str(word) for word in words], longest=self.longest))
