"""From a domain to what reads a table's columns by it; of a search, words as rows of symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shuffledp.domain import Cells, Labels, Prefixes, Stored
from shuffledp.errors import Argument, InvalidInput, Refusal, Words
from shuffledp.search.alphabet import Alphabet
from shuffledp.tables.cleaning import AS_WRITTEN, Cleaning, numpy_values
from shuffledp.tables.values import JoinedPlaces, Numbers, Places, Reader, coded_texts

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


@dataclass(frozen=True)
class Spelled:
    """The first ``longest`` symbols of each word, and whether it goes on (``Alphabet.rows``).

    >>> Spelled(Alphabet(("a", "b")), 2).prepare(pa.array(["ab", None, "c"]), "column 'x'")[
    ...     0
    ... ].tolist()
    [[1, 2, 0], [0, 0, 0]]
    """

    alphabet: Alphabet
    longest: int
    cleaning: Cleaning = AS_WRITTEN

    def prepare(self, values: pa.Array, title: str) -> tuple[NDArray[Any], NDArray[np.bool_] | None, int]:
        coded, present = coded_texts(values, title, self.cleaning), None
        if coded.null_count:
            present = numpy_values(coded.is_valid())
            coded = coded.drop_null()
        texts = self.cleaning.keys(coded.dictionary) if self.cleaning.changes_text else coded.dictionary
        return self._rows(texts).take(numpy_values(coded.indices), axis=0), present, 0

    def admits(self, text: str) -> bool:
        return False

    def _rows(self, texts: pa.Array) -> NDArray[Any]:
        """The rows of a dictionary; an entry that means a missing value is nobody's."""
        if self.alphabet.tokens is not None:
            return self.alphabet.rows([text or "" for text in texts.to_pylist()], longest=self.longest)
        whole = pa.concat_arrays([texts.fill_null("").cast(pa.large_string())])
        _, ends, written = whole.buffers()
        letters = np.zeros(0, np.uint8) if written is None else np.frombuffer(written, np.uint8)
        return self.alphabet.rows_of_bytes(
            letters, np.frombuffer(ends, np.int64)[: len(whole) + 1], longest=self.longest
        )


@dataclass(frozen=True)
class LevelWords:
    """The value of each word at one level of a search."""

    domain: Prefixes
    cleaning: Cleaning = AS_WRITTEN

    def prepare(self, values: pa.Array, title: str) -> tuple[NDArray[Any], NDArray[np.bool_] | None, int]:
        level = self.domain.level
        rows, present, _ = Spelled(level.alphabet, level.longest, self.cleaning).prepare(values, title)
        return level.places(rows), present, 0

    def admits(self, text: str) -> bool:
        return False
