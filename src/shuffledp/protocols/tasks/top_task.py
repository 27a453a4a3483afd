"""One level of a search for frequent words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

from shuffledp.errors import InvalidInput
from shuffledp.protocols.tasks.task import MOST_LABELS, REMEDY, Task, register
from shuffledp.schema import Count, Some, Texts

if TYPE_CHECKING:
    from shuffledp.search.alphabet import LevelPlaces

__all__ = ["SEARCH", "TopTask"]

SEARCH = "shuffledp-search"  # the format of what is settled for all levels


@register
@dataclass(frozen=True)
class TopTask(Task):
    """One level of a search for frequent words (``search``): how many people's words
    are one of ``words``, or begin with one of ``prefixes`` and go on in which way for ``span``
    symbols; all others count as one value more.

    Symbols are ``tokens``, or bytes of UTF-8; only the first ``longest`` of a word are looked at,
    and whether it goes on. Reports are about ``room`` values, the same at every level: the last
    ones are nobody's.
    """

    name: ClassVar[str] = "top"
    unit: ClassVar[str] = "people"

    tokens: Texts | None
    longest: Some
    words: Texts
    prefixes: Texts
    span: Count
    room: Some

    @cached_property
    def places(self) -> LevelPlaces:
        """Which word counts as which value."""
        from shuffledp.search.alphabet import LevelPlaces

        return LevelPlaces.of(self.tokens, self.longest, self.words, self.prefixes, self.span)

    def checked(self) -> Self:
        for name in ("longest", "span", "room"):
            if type(getattr(self, name)) is not int or getattr(self, name) < 0:
                raise InvalidInput(f"{name} must be a whole number, got {getattr(self, name)!r}. {REMEDY}")
        for name in ("tokens", "words", "prefixes"):
            listed = getattr(self, name)
            if not (name == "tokens" and listed is None) and not (
                isinstance(listed, tuple) and all(isinstance(each, str) for each in listed)
            ):
                raise InvalidInput(f"{name} must be a list of texts, got {listed!r}. {REMEDY}")
        if not self.places.count <= self.room <= MOST_LABELS:
            raise InvalidInput(
                f"room must be at least the {self.places.count} values that are told apart, and at most {MOST_LABELS}, "
                f"got {self.room}. {REMEDY}"
            )
        return self

    def fits(self, family: str, k: int) -> bool:
        return family == "krr" and k == self.room

    @property
    def labels(self) -> tuple[str, ...]:
        return ()

    @property
    def size(self) -> int:
        return self.room

    def scale(self, n: int) -> float:
        return n
