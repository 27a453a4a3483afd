"""One level of a search for frequent words."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from shuffledp.domain import OneLevel, Prefixes
from shuffledp.errors import InvalidInput
from shuffledp.questions.question import Question
from shuffledp.schema import NEEDED, part
from shuffledp.workload import Each

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shuffledp.sampling import Source


@part
class Level(OneLevel, Question):
    """How many people's words count as which value, at a level of a search."""

    unit = "people"
    alone = False
    mechanisms = ("krr",)
    recorded = ("search", "blocks")

    type: Annotated[Literal["top"], NEEDED] = "top"

    @cached_property
    def prefix_domain(self) -> Prefixes:
        """The same, which no mechanism changes."""
        return Prefixes(**{name: getattr(self, name) for name in self.field_names()})

    @classmethod
    def of(cls, **fields: Any) -> Self:
        """The first level, unless its words and prefixes are given."""
        first: dict[str, Any] = {"tokens": None, "words": (), "prefixes": ("",), "span": 1}
        return super().of(**first | fields)

    def places(self, values: Any, size: int, source: Source) -> NDArray[Any]:
        words = list(values)
        if not words or not all(isinstance(word, str) for word in words):
            raise InvalidInput("values must be words, one text for each person, got others. Pass a list of texts.")
        return self.level.places(self.level.alphabet.rows(words, longest=self.longest))

    def workload(self, size: int) -> Each:
        return Each(tuple(range(self.room)))

    def checked(self) -> Self:
        """The same, if it is a level of some search."""
        self.prefix_domain.checked()
        return self

    def domain(self, size: int) -> Prefixes:
        return self.prefix_domain

    @property
    def counting(self) -> bool:
        """Whether words are counted, by all who were asked at no level before."""
        return bool(self.words)

    def scale(self, n: int) -> float:
        return n


QUESTION = Level
