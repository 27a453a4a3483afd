"""A question about the frequent words of a column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any, ClassVar, Self

from shuffledp.errors import Argument, InvalidInput, Refusal, check_words, name_of
from shuffledp.record import Asked
from shuffledp.release.arguments import Promise
from shuffledp.sampling import Rng
from shuffledp.search.alphabet import Alphabet, check_tokens
from shuffledp.search.planning import planned_search
from shuffledp.search.search import Search, check_terms
from shuffledp.tables import AS_WRITTEN, Cleaning, Column, Keep, Spelled, Values, open_column, read
from shuffledp.tables.formats import Table

__all__ = ["TopRequest", "read_tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopRequest:
    """Which words of a column are most frequent; ``k`` of them at most."""

    kind: ClassVar[str] = "text"
    gaps: ClassVar[None] = None
    clip: ClassVar[bool] = False

    source: str | Table
    column: str | None = None
    format: Any = None
    title: str | None = None
    k: int = 50
    longest: int = 16
    tokens: tuple[str, ...] | None = None
    candidates: int | None = None
    least_holders: int = 50
    error: float = 1e-3
    cleaning: Cleaning = AS_WRITTEN
    encoding: str | None = None
    ids: str | None = None
    keep: Keep = "first"
    one_row_per_person: bool = False

    def checked(self) -> Self:
        """The same, if it can be asked at all: before a table is read."""
        check_words(Argument("title"), self.title)
        given = {name: getattr(self, name) for name in ("k", "longest", "tokens", "least_holders", "error")}
        known = check_terms(given | {"candidates": self.k if self.candidates is None else self.candidates})
        return replace(self, **known | ({"candidates": 2 * known["k"]} if self.candidates is None else {}))

    def named(self, column: str | None) -> Self:
        """The same, of a column with that name."""
        return replace(self, column=column)

    @property
    def names(self) -> tuple[str, ...]:
        """The column that is asked about, if it was named."""
        return () if self.column is None else (self.column,)

    def open(self) -> Column:
        """The column that is asked about."""
        return open_column(
            self.source,
            self.column,
            kind="text",
            format=self.format,
            ids=self.ids,
            encoding=self.encoding,
            one_row_per_person=self.one_row_per_person,
        )

    def reader(self) -> Spelled:
        """From what the table holds to rows of symbols."""
        return Spelled(Alphabet(self.tokens), self.longest, self.cleaning)

    def values(self, column: Column, *, rng: Rng = None, tick: Callable[[int], object] | None = None) -> Values:
        """Read the column once, and keep the beginnings of its words."""
        return read(column, self.reader(), keep=self.keep, rng=rng, tick=tick)

    def search(self, people: int, promise: Promise) -> Search:
        """The search among so many people that keeps the promise."""
        if promise.rounds != 1:
            raise InvalidInput(
                f"rounds must be 1 for top words, got {promise.rounds}. Each person is asked once; search again later, "
                f"as another release."
            )
        share = promise.honest
        honest = max(1, floor(people * share)) if isinstance(share, Fraction) else share
        assert promise.epsilon is not None
        return planned_search(
            people=people,
            honest=honest,
            epsilon=promise.epsilon,
            delta=promise.delta,
            k=self.k,
            longest=self.longest,
            tokens=self.tokens,
            candidates=self.candidates,
            least_holders=self.least_holders,
            error=self.error,
        )

    @property
    def what(self) -> str:
        """The question in a few words."""
        printable = "".join(letter if letter.isprintable() else " " for letter in self.column or "a column")
        return f"top words of {' '.join(printable.split())[:100] or 'a nameless column'}"

    def asked(self) -> Asked:
        """The same for the record."""
        source = self.source
        named = source.title.removeprefix("the ") if isinstance(source, Table) else name_of(Path(source))
        return Asked(
            question="top",
            what=self.what,
            title=self.title,
            source="standard input" if source == "-" else named,
            column=self.column,
            cleaned=self.cleaning.words() or None,
            missing="left out",
        )


def read_tokens(path: Path) -> tuple[str, ...]:
    """The tokens in a file, one per line; spaces are tokens like others."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise InvalidInput(
            f"{str(path)!r} must be a text file in UTF-8, got other bytes. Save it as UTF-8, one token per line."
        ) from None
    except OSError as error:
        rule, got = (
            (Argument("tokens"), " must name a file with one token per line"),
            f"{str(path)!r}: {error.strerror}",
        )
        remedy = "Check the name, or leave it out: words are then made of bytes."
        raise InvalidInput(Refusal(rule, got, remedy)) from None
    return check_tokens(line.removesuffix("\r") for line in lines if line.removesuffix("\r"))
