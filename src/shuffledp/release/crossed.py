"""A question about several columns of a table at once: who is in which cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shuffledp.domain import as_list
from shuffledp.errors import Argument, InvalidInput, Refusal
from shuffledp.questions.crosstab.question import CrosstabQuestion
from shuffledp.record import Asked
from shuffledp.release.arguments import Categories, check_labels, check_words, given_categories
from shuffledp.release.request import Request
from shuffledp.tables import Cleaning, Column, JoinedPlaces, Places, open_column
from shuffledp.tables.columns import joined_name
from shuffledp.tables.readers import Missing, per_column

__all__ = ["CrossRequest", "check_columns", "crossed_columns", "crossed_reader"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossRequest(Request):
    """One question about several columns: the categories of each in ``parts``. With ``by``, one of
    the columns, shares within its groups are told beside the counts.
    """

    question: str = "crosstab"
    columns: tuple[str, ...]
    parts: tuple[Categories, ...]
    by: str | None = None

    def settled(self) -> CrossRequest:
        """The same with categories that are known, of each column."""
        check_words(Argument("title"), self.title)
        check_columns(self.columns)
        known = [replace(part, labels=part.of(part.labels)) for part in self.parts]
        settled = replace(self, parts=tuple(known), column=joined_name(self.columns))
        settled._question()
        for part in known:
            check_labels(part.labels)
        return settled

    def open(self) -> Column:
        return self._open(self.columns)

    def _open(self, name: str | tuple[str, ...]) -> Column:
        return open_column(
            self.source,
            name,
            kind="text",
            format=self.format,
            ids=self.ids,
            encoding=self.encoding,
            one_row_per_person=self.one_row_per_person,
        )

    @property
    def names(self) -> tuple[str, ...]:
        return self.columns

    @property
    def gaps(self) -> Missing:
        known = {name: part.missing for name, part in zip(self.columns, self.parts, strict=True)}
        return {name: gap for name, gap in known.items() if gap is not None} or None

    @property
    def leaves_out(self) -> bool:
        """Whether a row without a value in some column may not take part; such are then counted."""
        return any(part.missing is None for part in self.parts)

    def reader(self) -> JoinedPlaces:
        return JoinedPlaces(
            tuple(
                Places(part.labels, other=part.other, missing=part.missing, cleaning=self.cleaning)
                for part in self.parts
            )
        )

    def asked(self) -> Asked:
        return replace(
            Request.asked(self),
            categories=_each(self.columns, [part.origin for part in self.parts]),
            outside=_each(self.columns, [_rule("refused", part.other) for part in self.parts]),
            missing=_each(self.columns, [_rule("left out", part.missing) for part in self.parts]),
            by=self.by,
        )

    def _question(self) -> CrosstabQuestion:
        listed, other = tuple(part.labels for part in self.parts), tuple(part.other for part in self.parts)
        return CrosstabQuestion(columns=self.columns, categories=listed, other=other).checked()


def crossed_reader(
    columns: Sequence[str], categories: Iterable[Any], *, other: Missing, missing: Missing, cleaning: Cleaning
) -> JoinedPlaces:
    """How several columns are read where there is no table yet."""
    remedy = 'Pass a list of lists such as [["north", "south"], ["yes", "no"]].'
    listed = [as_list("categories", each, remedy=remedy) for each in as_list("categories", categories, remedy=remedy)]
    names = check_columns(columns)
    if len(listed) != len(names):
        raise InvalidInput(f"categories must have a list for each of {', '.join(names)}, got {len(listed)}. {remedy}")
    rests, gaps = per_column("other", other, names), per_column("missing", missing, names)
    parts = tuple(
        given_categories([str(label) for label in each], other=rest, missing=gap)
        for each, rest, gap in zip(listed, rests, gaps, strict=True)
    )
    return CrossRequest(source="a table", columns=names, parts=parts, cleaning=cleaning).settled().reader()


def check_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """Refuse fewer than two columns, and one that is named twice, before anything is read."""
    if len(columns) < 2:
        named = ", ".join(columns) or "none"
        remedy = ("Repeat ", Argument("column"), ", or ask about one column with a histogram.")
        raise InvalidInput(Refusal("a crosstab must have at least two columns", named, remedy))
    if twice := [name for name in columns if columns.count(name) > 1]:
        raise InvalidInput(f"columns must be distinct, got {twice[0]!r} twice. Name each column once.")
    return tuple(columns)


def crossed_columns(columns: Sequence[str], by: str | None) -> tuple[str, ...]:
    """The columns of a crosstab, that of the groups first if it is not among them already."""
    return (*columns,) if by is None or by in columns else (by, *columns)


def _each(columns: Sequence[str], said: Sequence[str]) -> str:
    """What holds for every column: once if it is the same, else column by column."""
    if len(set(said)) == 1:
        return said[0]
    return "; ".join(f"{column}: {words}" for column, words in zip(columns, said, strict=True))


def _rule(usual: str, label: str | None) -> str:
    return usual if label is None else f"counted as {label}"
