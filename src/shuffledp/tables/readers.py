"""From a domain to what reads a table's columns by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shuffledp.domain import Cells, Labels, Prefixes, Stored
from shuffledp.errors import Argument, InvalidInput, Refusal, Words
from shuffledp.tables.cleaning import AS_WRITTEN, Cleaning
from shuffledp.tables.spelled import LevelWords
from shuffledp.tables.values import JoinedPlaces, Numbers, Places, Reader

__all__ = ["Missing", "one_name", "per_column", "reader_of"]

Missing = str | Mapping[str, str] | None  # a name for all columns, or names by column


def reader_of(
    domain: Stored, *, missing: Missing = None, clip: bool = False, cleaning: Cleaning = AS_WRITTEN
) -> Reader:
    """From what a table holds to the values that have a place in the domain; ``missing`` and
    ``clip`` say what it does not: what missing values count as, and whether numbers outside are
    moved to the nearest bound.
    """
    if isinstance(domain, Labels):
        return _places(domain, one_name(Argument("missing"), missing), cleaning)
    if isinstance(domain, Cells):
        gaps = per_column(Argument("missing"), missing, domain.column_names)
        columns = zip(domain.columns, gaps, strict=True)
        return JoinedPlaces(tuple(_places(column, gap, cleaning) for column, gap in columns))
    if isinstance(domain, Prefixes):
        return LevelWords(domain, cleaning)
    return Numbers(*domain.bounds, clip=clip or domain.clip, cleaning=cleaning)


def _places(labels: Labels, missing: str | None, cleaning: Cleaning) -> Places:
    gap = labels.gap if missing is None else missing
    return Places(labels.names, other=labels.rest, missing=gap, cleaning=cleaning)


def one_name(option: Words, given: Missing) -> str | None:
    """A name for the one column that is asked about."""
    if given is None or isinstance(given, str):
        return given
    raise InvalidInput(
        Refusal((option, " must be one name where one column is asked about"), repr(given), "Pass a string.")
    )


def per_column(option: Words, given: object, columns: Sequence[str]) -> tuple[str | None, ...]:
    """A name for every column, or for some: one text for all of them, COLUMN=NAME with commas
    between several, or a mapping of columns to names. What stands before = is meant to be a column,
    so a name with = in it is given by column.

    >>> per_column("other", "region=elsewhere", ["region", "smoker"])
    ('elsewhere', None)
    >>> per_column("missing", "unknown", ["region", "smoker"])
    ('unknown', 'unknown')
    """
    if given is None:
        return (None,) * len(columns)
    if isinstance(given, str):
        parts = [part.partition("=") for part in given.split(",")]
        if not any(sign for _, sign, _ in parts):
            return (given,) * len(columns)
        given = {name.strip(): value.strip() for name, _, value in parts}
    if not isinstance(given, Mapping) or not all(isinstance(each, str) for each in given.values()):
        rule = (option, " must be one name for all columns, or COLUMN=NAME with commas between several")
        raise InvalidInput(Refusal(rule, repr(given), f"For instance {columns[0]}=elsewhere."))
    if unknown := [name for name in given if name not in columns]:
        rule = (option, " must name columns of the question")
        raise InvalidInput(Refusal(rule, repr(unknown[0]), f"They are {', '.join(columns)}."))
    return tuple(given.get(name) for name in columns)
