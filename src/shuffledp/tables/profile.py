"""A first look at a table: what its columns hold, and what would go wrong. What it finds are true
values, for the owner of the table only.

The first rows are read, a million unless more are asked for; distinct values are counted up to a
limit, and beyond it only that there are more.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shuffledp.errors import InvalidInput
from shuffledp.schema import Format
from shuffledp.tables.cleaning import NO_NUMBER, Cleaning, as_texts
from shuffledp.tables.formats import Table, first_bytes, open_table, readable
from shuffledp.tables.people import FLAGS, names_people

FIRST_ROWS, DISTINCT, TOP = 1_000_000, 10_000, 10
LONG = 2000  # bytes of a text that is kept whole
NESTED = "lists or records"  # a kind of column
OFTEN = 0.5  # different values per row from which a column is not asked about first
WORDS = ("-", "--", "?", ".", "missing", "unknown", "none", "n.a.", "nil", "keine angabe", "k.a.")
ABSENT = {word.casefold() for word in (*NO_NUMBER, *WORDS) if word}  # what stands for no value
WHOLE = re.compile(r"[+-]?\d+")
PLAIN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+")
GROUPED = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
FORMULA = re.compile(r"[=+@\t\r-]")
AMERICAN = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
ENCODINGS = ("utf-8", "utf-16", "cp1252", "latin-1")
UNMARKED = {
    "utf-16-le": re.compile(rb"([^\0]\0){2}"),
    "utf-16-be": re.compile(rb"(\0[^\0]){2}"),
}  # how Latin letters begin where no mark says the order
FLOATING = ("double", "float", "decimal")
Tick = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Seen:
    """What one column holds. Spellings, words and marks are those of its ``DISTINCT`` most frequent
    values; ``top`` lists the first of them.
    """

    name: str
    kind: str
    rows: int
    missing: int
    distinct: int
    top: list[tuple[str, int]]
    alike: list[list[str]]
    absent: dict[str, int]
    blanks: int
    decimal_commas: int
    thousands: str | None
    formulas: int
    lowest: float | None
    highest: float | None
    labels: tuple[str, ...]

    @property
    def is_number(self) -> bool:
        """Whether there are numbers in it."""
        return self.kind in ("numbers", "whole numbers")

    @property
    def repeats(self) -> int:
        """Rows whose value another row before them has."""
        return self.rows - self.missing - self.distinct

    @property
    def names_people(self) -> bool:
        """Whether the column may say whose row it is: its name says so, and no values like yes and
        no say otherwise.
        """
        flags = self.labels and all(label.casefold() in FLAGS for label in self.labels)
        return self.kind in ("text", "whole numbers") and names_people(self.name) and not flags

    @property
    def mostly_different(self) -> bool:
        """Whether most of its values are different, as in texts that are free, and in numbers of
        rows: nothing to ask about first.
        """
        several = max(20, OFTEN * (self.rows - self.missing))
        return self.kind in ("text", "whole numbers") and self.distinct > several

    def cleaning(self) -> Cleaning:
        """The rules that would make one value of what seems to be one."""
        if self.is_number:
            words = tuple(dict.fromkeys(word.strip() for word in self.absent if word.strip() not in NO_NUMBER))
            return Cleaning(na=words, decimal="," if self.decimal_commas else ".", thousands=self.thousands)
        strip = self.blanks > 0
        as_is, caseless = Cleaning(strip=strip), Cleaning(strip=strip, ignore_case=True)
        ignore_case = any(len(set(map(as_is.key, group))) > len(set(map(caseless.key, group))) for group in self.alike)
        rules = Cleaning(strip=strip, ignore_case=ignore_case)
        return Cleaning(
            strip=strip,
            ignore_case=ignore_case,
            na=tuple({rules.key(word): word.strip() for word in self.absent}.values()),
        )

    def as_json(self) -> dict[str, Any]:
        """The same as plain facts."""
        first = Seen.__slots__.index("top")
        names = (*Seen.__slots__[:first], "repeats", "names_people", *Seen.__slots__[first:])
        return {name: getattr(self, name) for name in names if name != "labels"}


@dataclass(frozen=True, slots=True)
class Look:
    """What a table holds: ``rows`` were read, all of them unless ``more`` follow; ``encoding`` is
    what it seems to be written in, if not UTF-8.
    """

    title: str
    rows: int
    more: bool
    encoding: str | None
    columns: list[Seen]
    twice: list[str]


def look_at(
    path: str,
    *,
    format: Format | None = None,
    encoding: str | None = None,
    most: int = FIRST_ROWS,
    tick: Tick | None = None,
) -> Look:
    """Look at the first ``most`` rows of a table in a file. Where ``encoding`` is left out and the
    text is not UTF-8, the usual others are tried.
    """
    if path == "-":
        raise InvalidInput("look must be given a file, which it may read twice, got standard input. Save it first.")
    refused: InvalidInput | None = None
    for tried in _encodings(path) if encoding is None else (encoding,):
        try:
            table = open_table(path, format, None if tried == "utf-8" else tried)
            return _looked(table, None if tried == "utf-8" else tried, most, tick)
        except InvalidInput as error:
            refused = refused or error
            if encoding is None and not any(
                said in str(error) for said in ("UTF-8", "text in utf-16", "text in cp1252", "names no columns")
            ):
                raise
    assert refused is not None
    raise refused


def _encodings(path: str) -> list[str]:
    """The encodings to try, in this order."""
    with readable(repr(path), "file"):
        head = first_bytes(Path(path), repr(path))
    return [*ENCODINGS, *(name for name, beginning in UNMARKED.items() if beginning.match(head))]


def _looked(table: Table, encoding: str | None, most: int, tick: Tick | None) -> Look:
    counted = Counter(table.names)
    names = [name for name in counted if counted[name] == 1 and name]
    if not names:
        raise InvalidInput(
            f"{table.title} must have a column with a name of its own, got none. Name the columns in its first line."
        )
    columns, rows, more = [_Column(name) for name in names], 0, False
    for batch in table.batches([name for name in names if name not in table.nested] or names[:1], "text"):
        more = rows + len(batch) > most
        for column in (each for each in columns if each.name not in table.nested):
            column.add(batch.column(column.name).slice(0, most - rows), table.title)
        rows = min(most, rows + len(batch))
        if tick is not None:
            tick(len(batch))
        if more:
            break
    if not rows:
        raise InvalidInput(f"{table.title} must hold at least one row below the names of its columns, got none.")
    return Look(
        table.title,
        rows,
        more,
        encoding,
        [_unread(column.name, rows) if column.name in table.nested else column.seen() for column in columns],
        [name for name, times in counted.items() if times > 1],
    )


def _unread(name: str, rows: int) -> Seen:
    """A column of lists or records: however long they are, nothing can be asked about them."""
    return Seen(name, NESTED, rows, 0, 0, [], [], {}, 0, 0, None, 0, None, None, ())


class _Column:
    """One column as its rows go by."""

    def __init__(self, name: str) -> None:
        self.name, self._type, self._rows = name, "", 0
        self._counted: list[pa.Table] = []

    def add(self, values: pa.Array, title: str) -> None:
        """Some rows: each different value is kept once, since a long one may stand in all."""
        self._rows += len(values)
        coded = pa.types.is_dictionary(values.type)
        self._type = str(values.type.value_type if coded else values.type)
        values, counts = pc.value_counts(values.drop_null()).flatten()
        values = values.dictionary_decode() if coded else values
        try:
            texts = as_texts(values)
        except pa.ArrowException:
            if "string" in self._type or "binary" in self._type:
                raise InvalidInput(
                    f"column {self.name!r} of {title} must be text in UTF-8, got other bytes. Convert it first."
                ) from None
            texts = pa.array([None if value is None else str(value) for value in values.to_pylist()], pa.string())
        if (pc.max(pc.binary_length(texts)).as_py() or 0) > LONG:  # no category, and many of them need not be kept
            texts = pa.array(map(_shortened, texts.to_pylist()), pa.string())
        self._counted.append(pa.table({"text": texts, "count": counts}).filter(texts.is_valid()))

    def seen(self) -> Seen:
        """What came by."""
        together = pa.concat_tables(self._counted).group_by("text", use_threads=False).aggregate([("count", "sum")])
        counts = [together[name].combine_chunks() for name in ("text", "count_sum")]
        present = pc.sum(counts[1]).as_py() or 0
        largest = pc.sort_indices(counts[1], sort_keys=[("", "descending")])[:DISTINCT]
        values = dict(zip(counts[0].take(largest).to_pylist(), counts[1].take(largest).to_pylist(), strict=True))
        absent = {text: count for text, count in values.items() if text.strip().casefold() in ABSENT}
        others = [text.strip() for text in values if text not in absent and text.strip()]
        kind = self._kind(others)
        number = kind in ("numbers", "whole numbers")
        american = number and "string" in self._type and _all_american(others)
        commas = sum(
            count for text, count in values.items() if number and not american and COMMA.fullmatch(text.strip())
        )
        grouped = (
            number
            and "string" in self._type
            and any(GROUPED.fullmatch(text) for text in others)
            and (commas > 0 or _all_grouped(others))
        )
        found = Seen(
            name=self.name,
            kind=kind,
            rows=self._rows,
            missing=self._rows - present,
            distinct=len(counts[0]),
            top=list(values.items())[:TOP],
            alike=_alike([text for text in values if text not in absent]) if kind == "text" else [],
            absent=absent,
            blanks=sum(count for text, count in values.items() if text != text.strip()),
            decimal_commas=commas,
            thousands="," if american else "." if grouped else None,
            formulas=0
            if number
            else sum(count for text, count in values.items() if FORMULA.match(text) and len(text) > 1),
            lowest=None,
            highest=None,
            labels=tuple(values) if len(counts[0]) <= DISTINCT else (),
        )
        if not number:
            return found
        lowest, highest = _range(found.cleaning(), counts[0], self.name)
        return replace(found, lowest=lowest, highest=highest)

    def _kind(self, others: list[str]) -> str:
        if "string" not in self._type:
            kinds = {"bool": "true or false", "date": "dates", "time": "dates", "int": "whole numbers"} | dict.fromkeys(
                FLOATING, "numbers"
            )
            return next((kind for part, kind in kinds.items() if part in self._type), "text")
        if others and all(WHOLE.fullmatch(text) for text in others):
            return "whole numbers"
        if others and all(PLAIN.fullmatch(text) or COMMA.fullmatch(text) or GROUPED.fullmatch(text) for text in others):
            return "numbers"
        if _all_american(others):
            return "numbers"
        return "dates" if others and all(DATE.fullmatch(text) for text in others) else "text"


def _shortened(text: str | None) -> str | None:
    """A text that stands for a long one, and for no other."""
    if text is None or len(text) <= LONG:
        return text
    return f"{text[:LONG]}... {hashlib.sha256(text.encode()).hexdigest()}"


def _range(cleaning: Cleaning, texts: pa.Array, name: str) -> tuple[float | None, float | None]:
    """The least and the largest number, unless some of the rarer values are none."""
    try:
        numbers = cleaning.numbers(texts, name)
    except InvalidInput:
        return None, None
    numbers = numbers[np.isfinite(numbers)]
    return (float(numbers.min()), float(numbers.max())) if len(numbers) else (None, None)


def _all_grouped(texts: list[str]) -> bool:
    """Whether points can only stand between thousands: some number has two of them."""
    return all(GROUPED.fullmatch(text) or WHOLE.fullmatch(text) for text in texts) and any(
        text.count(".") > 1 for text in texts
    )


def _all_american(texts: list[str]) -> bool:
    """Whether commas can only stand between thousands: some number has two of them, or a point
    behind one.
    """
    whole = all(AMERICAN.fullmatch(text) or PLAIN.fullmatch(text) for text in texts)
    return whole and any(AMERICAN.fullmatch(text) and (text.count(",") > 1 or "." in text) for text in texts)


def _alike(texts: list[str]) -> list[list[str]]:
    """Texts that differ in blanks, case, accents or punctuation only."""
    groups = defaultdict[str, list[str]](list)
    for text in texts:
        letters = unicodedata.normalize("NFKD", text).casefold()
        key = "".join(letter for letter in letters if letter.isalnum())
        if key:
            groups[key].append(text)
    return sorted(sorted(group) for group in groups.values() if len(group) > 1)
