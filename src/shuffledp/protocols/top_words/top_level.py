"""One level of a search as a protocol: k-ary randomized response over its values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from shuffledp.errors import InvalidInput
from shuffledp.protocols.bag import Reports
from shuffledp.protocols.histogram import RandomizedResponse
from shuffledp.protocols.tasks import TopTask
from shuffledp.sampling import Rng, source_of

__all__ = ["TopLevel"]


@dataclass(frozen=True, kw_only=True, eq=False)
class TopLevel(RandomizedResponse):
    """How many people's words begin in which way; see ``TopTask`` for the fields."""

    categories: Iterable[Hashable] = field(init=False, repr=False, default=())
    tokens: tuple[str, ...] | None = None
    longest: int
    words: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ("",)
    span: int = 1
    room: int

    def _prepare(self) -> None:
        self.task.checked()
        self._set(categories=self.room)
        super()._prepare()

    @property
    def task(self) -> TopTask:
        """The question, for a design."""
        return TopTask(self.tokens, self.longest, self.words, self.prefixes, self.span, self.room)

    def encode(self, values: Iterable[object], *, rng: Rng = None) -> Reports:
        """One report for each word."""
        words = list(values)
        if not words or not all(isinstance(word, str) for word in words):
            raise InvalidInput("values must be words, one text for each person, got others. Pass a list of texts.")
        level, source = self.task.places, source_of(rng)
        places = level.places(level.alphabet.rows([str(word) for word in words], longest=self.longest))
        return Reports(self.describe(), self.randomizer.randomize(places, rng=source), source.secure)
