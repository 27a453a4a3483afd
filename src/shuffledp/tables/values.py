"""A column's values as the randomizer takes them: places among the categories, or numbers within
bounds. Missing ones are counted.

No value is handled one at a time: text is looked up once per batch and distinct value, in the
batch's dictionary.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shuffledp.domain import Cells, Labels, Missing, Prefixes, Stored, one_name, per_column
from shuffledp.errors import Argument, InvalidInput, Refusal, Words, joined
from shuffledp.sampling import Rng, smallest_dtype
from shuffledp.schema import Keep
from shuffledp.tables.cleaning import AS_WRITTEN, Cleaning, arrow_mask, arrow_texts, as_texts, numpy_values
from shuffledp.tables.columns import Column
from shuffledp.tables.people import Chosen, Persons
from shuffledp.tables.spool import Closing, Spool

MEMORY = 1 << 28
LARGEST = 1 << 22  # as many categories as mechanisms estimate
SHOWN = 60
Tick = Callable[[int], object]


class Prepared(NamedTuple):
    """A batch that is ready: ``values`` of those who have one, ``ids`` of the same people, and how
    many were ``missing`` or ``clipped``.

    ``present`` says which rows hold a value (None for all), and ``owners`` is the id of every row,
    if there are ids.
    """

    values: NDArray[Any]
    ids: pa.Array | None
    missing: int
    clipped: int
    present: NDArray[np.bool_] | None
    owners: pa.Array | None


class Reader(Protocol):
    """What turns a batch into values."""

    def prepare(self, values: pa.Array, title: str) -> tuple[NDArray[Any], NDArray[np.bool_] | None, int]:
        """The values, who has one (None for all), and how many were clipped; ``title`` says in
        messages whose values they are.
        """

    def admits(self, text: str) -> bool:
        """Whether ``text`` could be somebody's value."""

    def remarks(self, title: str) -> list[Words]:
        """What the owner of the table must know of what was read; refused is what nobody means."""
        return []

    @property
    def sought(self) -> Reader | None:
        """What reads only the rows that hold a value which some row must hold, if there is one."""
        return None


@dataclass(frozen=True)
class Places(Reader):
    """Where each value stands among ``labels``; all others count as ``other``, missing ones as
    ``missing``, where those are declared.

    Whole numbers, booleans and dates compare by their usual text: "1", "true", "2026-01-31".
    Floating-point numbers do if they are whole, as in columns of integers with gaps. The empty text
    is a value, except in CSV, where it is missing. ``cleaning`` says which texts are the same.

    >>> Places(("tea", "coffee", "else"), other="else").prepare(
    ...     pa.array(["coffee", None, "water"]), "column 'drink'"
    ... )[0].tolist()
    [1, 2]
    """

    labels: tuple[str, ...]
    other: str | None = None
    missing: str | None = None
    cleaning: Cleaning = AS_WRITTEN

    def __post_init__(self) -> None:
        if len(set(self.labels)) < len(self.labels) or not self.labels:
            raise InvalidInput(
                f"categories must be distinct, and at least one must be given, got {len(self.labels)}. Merge those "
                f"that are the same."
            )
        for name, label in (("other", self.other), ("missing", self.missing)):
            if label is not None and label not in self.labels:
                raise InvalidInput(
                    f"{name} must be one of the categories, got {label!r}. Add it to the list: it is estimated like "
                    f"the rest."
                )
        seen = dict[str, str]()
        for label in self.labels:
            if (twin := seen.setdefault(self.cleaning.key(label), label)) != label:
                both = (Argument("strip"), " and ", Argument("ignore-case"))
                rule = ("categories must differ in more than ", both, " ignore")
                raise InvalidInput(Refusal(rule, f"{twin!r} and {label!r}", "Leave one out."))
            if self.cleaning.absent(label):
                got = (f"{label!r} in ", Argument("na"), " too")
                word = "a category must not be a word for a missing value"
                raise InvalidInput(Refusal(word, got, "Remove it from one of the two."))

    def prepare(self, values: pa.Array, title: str) -> tuple[NDArray[Any], NDArray[np.bool_] | None, int]:
        coded, present = coded_texts(values, title, self.cleaning), None
        if coded.null_count and self.missing is None:
            present = numpy_values(coded.is_valid())
            coded = coded.drop_null()
        places = self._look_up(coded, title)
        indices = coded.indices.cast(pa.int64())  # a byte may have no room for one more place
        return places.take(numpy_values(indices, len(coded.dictionary))), present, 0

    def admits(self, text: str) -> bool:
        return self.cleaning.key(text) in map(self.cleaning.key, self.labels)

    def _look_up(self, coded: pa.DictionaryArray, title: str) -> NDArray[Any]:
        """The place of each entry of the dictionary, and after them that of a missing value."""
        texts = self.cleaning.keys(coded.dictionary) if self.cleaning.changes_text else coded.dictionary
        found = pc.index_in(texts, value_set=self._labels)
        places = np.zeros(len(found) + 1, dtype=smallest_dtype(len(self.labels)))
        places[:-1] = numpy_values(found, 0 if self.other is None else self.labels.index(self.other))
        places[-1] = 0 if self.missing is None else self.labels.index(self.missing)
        if found.null_count and self.other is None:
            used = _used(coded)  # a dictionary may hold entries that nobody has
            unknown = used[numpy_values(found.is_null())[used]]
            if len(unknown):
                rule = f"{title} must hold only the {len(self.labels)} categories"
                together = ("Add it to the list, or count such values together: ", Argument("other", "elsewhere"), ".")
                raise InvalidInput(Refusal(rule, _short(coded.dictionary[int(unknown[0])].as_py()), together))
        return places

    @cached_property
    def _labels(self) -> pa.Array:
        return arrow_texts(map(self.cleaning.key, self.labels))


@dataclass(frozen=True, kw_only=True)
class OneValue(Places):
    """Whether somebody holds the second of two ``labels``. Where ``listed`` says which values there
    may be, others are read as it says; else what comes by is remembered: how many rows hold the
    value, which texts are ``near`` to it, and which hold it ``among`` several. With ``only``, all
    others are taken for missing.

    >>> yes = OneValue(labels=("else", "yes"), other="else")
    >>> yes.prepare(pa.array(["Yes", "no", "yes"]), "column 'answer'")[0].tolist(), yes.near
    ([0, 0, 1], Counter({'Yes': 1}))
    """

    listed: Places | None = None
    only: bool = False
    held: Counter[str] = dataclasses.field(default_factory=Counter, compare=False, repr=False)
    near: Counter[str] = dataclasses.field(default_factory=Counter, compare=False, repr=False)
    among: Counter[str] = dataclasses.field(default_factory=Counter, compare=False, repr=False)

    def prepare(self, values: pa.Array, title: str) -> tuple[NDArray[Any], NDArray[np.bool_] | None, int]:
        value = self.labels[1]
        if self.listed is None:
            places, present, _ = super().prepare(values, title)
        else:
            places, present, _ = self.listed.prepare(values, title)
            keys = [self.cleaning.key(label) for label in self.listed.labels]
            places = (places == keys.index(self.cleaning.key(value))).astype(np.uint8)
        self.held[value] += int(np.count_nonzero(places))
        if not self.only:
            return places, present, 0
        holding = np.ones(len(values), dtype=np.bool_) if present is None else present.copy()
        holding[holding] = places == 1
        return places[places == 1], holding, 0

    @property
    def sought(self) -> Reader | None:
        return replace(self, only=True) if self.listed is None else None

    def remarks(self, title: str) -> list[Words]:
        """What looks like the value, and is not counted; a value that no row holds is refused,
        where none are listed.
        """
        value, said = _short(self.labels[1]), list[Words]()
        if self.near:
            shown = ", ".join(map(_short, [*self.near][:5]))
            said.append(
                (
                    f"{self.near.total():,} rows hold {shown}, which may mean {value} and is not counted: add ",
                    *(Argument("ignore-case", True), " and ", Argument("strip", True), ", or correct the table"),
                )
            )
        if self.among:
            shown = _short(next(iter(self.among)))
            said.append(
                f"{self.among.total():,} rows hold {value} among several answers, as in {shown}, and are not counted: "
                f"make a column of each answer"
            )
        if self.listed is None and not self.held[self.labels[1]]:
            list_all = ("If that may be, list all values there can be: ", Argument("categories", "FILE"))
            rule, got = (Argument("value"), f" must be a value of {title}"), f"{value}, which no row holds"
            raise InvalidInput(Refusal(rule, got, (joined(said, "; ") or list_all, ".")))
        return said

    def _look_up(self, coded: pa.DictionaryArray, title: str) -> NDArray[Any]:
        places, wanted = super()._look_up(coded, title), self.cleaning.key(self.labels[1]).strip().lower()
        counts = np.bincount(numpy_values(coded.indices.drop_null()), minlength=len(coded.dictionary))
        whole, letter = re.escape(wanted), re.escape(wanted[:1])
        pattern = rf"(^|[;|,])\s*{whole}\s*([;|,]|$)|^\s*{letter}\s*$"
        looking = pc.match_substring_regex(coded.dictionary, pattern, ignore_case=True)
        for place in np.flatnonzero((counts > 0) & (places[:-1] == 0) & numpy_values(looking)).tolist():
            text = coded.dictionary[place].as_py()
            if text.strip().lower() in (wanted, wanted[:1]):
                self.near[text] += int(counts[place])
            else:
                self.among[text] += int(counts[place])
        return places


@dataclass(frozen=True)
class JoinedPlaces(Reader):
    """Which cell each row of several joined columns is in, in rows: the last column changes
    fastest. A row without a value in any of them is missing, unless that column counts it.

    >>> cells = JoinedPlaces((Places(("north", "south")), Places(("yes", "no"))))
    >>> rows = pa.array(
    ...     [{"region": "south", "smoker": "yes"}, {"region": "north", "smoker": None}]
    ... )
    >>> cells.prepare(rows, "the columns")[0].tolist()
    [2]
    """

    parts: tuple[Places, ...]

    def prepare(self, values: pa.Array, title: str) -> tuple[NDArray[Any], NDArray[np.bool_] | None, int]:
        many = values.type.num_fields if pa.types.is_struct(values.type) else 1
        if many != len(self.parts):
            raise InvalidInput(
                f"a crosstab of {len(self.parts)} columns must be asked of as many, got {title}. Name them all, in "
                f"the order of the question."
            )
        cells = np.zeros(len(values), dtype=np.int64)
        everywhere = np.ones(len(values), dtype=np.bool_)
        for part, field, name in zip(self.parts, values.flatten(), values.type.names, strict=True):
            places, present, _ = part.prepare(field, f"column {name!r}")
            cells *= len(part.labels)
            if present is None:
                cells += places
            else:
                cells[present] += places
                everywhere &= present
        narrow = cells.astype(smallest_dtype(math.prod(len(part.labels) for part in self.parts)))
        return (narrow, None, 0) if everywhere.all() else (narrow[everywhere], everywhere, 0)

    def admits(self, text: str) -> bool:
        """Several columns are always named, so no first line is taken for a name by mistake."""
        return False


@dataclass(frozen=True)
class Numbers(Reader):
    """Numbers from ``lower`` to ``upper``; with ``clip`` those outside are moved to the nearest
    bound, else refused. NaN is missing.

    A ``cleaning`` that reads numbers takes them from text, which the column must then hold.

    >>> Numbers(0.0, 1.0, clip=True).prepare(pa.array([0.5, None, 7.0]), "column 'x'")[
    ...     0
    ... ].tolist()
    [0.5, 1.0]
    """

    lower: float
    upper: float
    clip: bool = False
    cleaning: Cleaning = AS_WRITTEN

    def __post_init__(self) -> None:
        if not (math.isfinite(self.lower) and math.isfinite(self.upper) and self.lower < self.upper):
            raise InvalidInput(
                f"lower must be below upper, and both finite, got {self.lower!r} and {self.upper!r}. Choose them "
                f"before looking at the data."
            )

    def prepare(self, values: pa.Array, title: str) -> tuple[NDArray[Any], NDArray[np.bool_] | None, int]:
        numbers = _floats(values, title, self.cleaning)
        present = ~np.isnan(numbers)
        if absent := not present.all():
            numbers = numbers[present]
        outside = (numbers < self.lower) | (numbers > self.upper)
        clipped = int(np.count_nonzero(outside))
        if clipped and not self.clip:
            rule, got = f"{title} must lie in [{self.lower:g}, {self.upper:g}]", repr(float(numbers[outside.argmax()]))
            remedy = ("Widen the bounds, or move what is outside to the nearest one: ", Argument("clip", True), ".")
            raise InvalidInput(Refusal(rule, got, remedy))
        return np.clip(numbers, self.lower, self.upper) if clipped else numbers, present if absent else None, clipped

    def admits(self, text: str) -> bool:
        try:
            return not math.isnan(float(text))
        except ValueError:
            return False


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
        from shuffledp.tables.spelled import Spelled  # which only a search needs

        level = domain.level
        return Spelled(level.alphabet, level.longest, cleaning, level)
    return Numbers(*domain.bounds, clip=clip or domain.clip, cleaning=cleaning)


def _places(labels: Labels, missing: str | None, cleaning: Cleaning) -> Places:
    gap = labels.gap if missing is None else missing
    return Places(labels.names, other=labels.rest, missing=gap, cleaning=cleaning)


@dataclass(frozen=True, eq=False)
class Values(Closing):
    """A column that has been read: ``count`` values, ``missing`` people without one, and
    ``clipped`` values that were moved to a bound.

    ``repeated`` counts the rows that were left out since their person has another one; it is None
    if nobody asked who is who, and every row was taken for a person. The noise depends on how many
    people there are, and a column tells that, its gaps aside, only when all of it has been read. So
    it is passed once and kept: a byte a row for up to 256 categories. ``remarks`` are for the owner
    of the table, and for no page.
    """

    spool: Spool
    missing: int
    clipped: int
    kept: NDArray[np.bool_] | None = None
    repeated: int | None = None
    remarks: Sequence[Words] = ()

    @cached_property
    def count(self) -> int:
        """How many there are."""
        return len(self.spool) if self.kept is None else int(np.count_nonzero(self.kept))

    def chunks(self) -> Iterator[NDArray[Any]]:
        """The values in their order, about a million at a time; as often as wanted."""
        at = 0
        for block in self.spool.blocks():
            yield block if self.kept is None else block[self.kept[at : at + len(block)]]
            at += len(block)

    def close(self) -> None:
        """Give memory and disk back."""
        self.spool.close()


def prepared(column: Column, reader: Reader, *, tick: Tick | None = None) -> Iterator[Prepared]:
    """The column's batches, ready for the randomizer; ``tick`` is told how many rows each had."""
    if column.unsure and reader.admits(column.name):
        raise InvalidInput(
            f"the first line of a table must name its columns, got {_short(column.name)}, which is a value. Add a line "
            f"above it with a name."
        )
    for batch in column.batches():
        values, present, clipped = reader.prepare(batch.values, column.title)
        ids = batch.ids if present is None or batch.ids is None else batch.ids.filter(arrow_mask(present))
        yield Prepared(values, ids, len(batch.values) - len(values), clipped, present, batch.ids)
        if tick is not None:
            tick(len(batch.values))


def read(
    column: Column,
    reader: Reader,
    *,
    keep: Keep = "first",
    memory: int = MEMORY,
    folder: Path | None = None,
    rng: Rng = None,
    tick: Tick | None = None,
) -> Values:
    """Read a whole column; beyond ``memory`` bytes its values go to a nameless file in ``folder``.
    Close what this returns.

    If the column has ids, one row of each person is kept, of those that hold a value: the first, or
    any of them with the same probability.
    """
    spool = Spool(memory=memory, folder=folder)
    missing = clipped = 0
    try:
        with Persons(memory=memory, folder=folder) as persons:
            for batch in prepared(column, reader, tick=tick):
                spool.append(batch.values)
                missing, clipped = missing + batch.missing, clipped + batch.clipped
                if batch.owners is not None:
                    persons.add(batch.owners, batch.present, column.table.title)
            if not len(spool):
                found = f"{missing:,} rows that hold none" if missing else "no rows"
                raise InvalidInput(
                    f"{column.title} must hold at least one value, got {found}. Check that these are the right data."
                )
            remarks = reader.remarks(column.title)
            if column.ids is None:
                return Values(spool, missing, clipped, remarks=remarks)
            chosen = persons.choose(keep, rng=rng)
            kept, repeated = chosen.kept[persons.holding], len(chosen.kept) - chosen.people
            return Values(spool, chosen.absent, clipped, kept, repeated, remarks)
    except BaseException:
        spool.close()
        raise


def choose_rows(
    column: Column, reader: Reader, *, keep: Keep = "first", rng: Rng = None, tick: Tick | None = None
) -> Chosen:
    """Which rows of a column with ids to keep, so that every person has one; the column is read for
    that, and must be a file.
    """
    with Persons() as persons:
        for batch in prepared(column, reader, tick=tick):
            assert batch.owners is not None
            persons.add(batch.owners, batch.present, column.table.title)
        return persons.choose(keep, rng=rng)


def coded_texts(values: pa.Array, title: str, cleaning: Cleaning = AS_WRITTEN) -> pa.DictionaryArray:
    """Any column of categories as a dictionary of texts, without missing entries, and places in it;
    what ``cleaning`` takes for missing, is.
    """
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if pa.types.is_floating(kind):
        numbers = _floats(values, title)
        whole = pa.array(numbers, mask=np.isnan(numbers))
        try:
            values = whole.cast(pa.int64())
        except pa.ArrowInvalid:
            raise InvalidInput(
                f"{title} must hold text or whole numbers to be counted by category, got a column of {kind} with "
                f"others. "
                "Round the numbers, or put them into classes and name those."
            ) from None
    elif pa.types.is_null(kind):
        values = values.cast(pa.string())
    elif not any(test(kind) for test in TEXTUAL):
        raise InvalidInput(
            f"{title} must hold text, whole numbers, booleans or dates, got a column of {kind}. Convert it to text "
            f"first."
        )
    if pa.types.is_dictionary(values.type) and values.dictionary.null_count:
        values = values.dictionary_decode()
    if not pa.types.is_dictionary(values.type):
        if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
            values = _as_text(values, title)
        values = values.dictionary_encode()
    indices, texts = values.indices, _as_text(values.dictionary, title)
    if cleaning.changes_text and (none := cleaning.keys(texts).is_null()).true_count:
        indices = pc.if_else(none.take(indices), pa.NULL, indices)
    return pa.DictionaryArray.from_arrays(indices, texts)


def _as_text(values: pa.Array, title: str) -> pa.Array:
    try:
        return as_texts(values)
    except pa.ArrowException:
        raise InvalidInput(f"{title} must be text in UTF-8, got other bytes. Convert it first.") from None


def _used(coded: pa.DictionaryArray) -> NDArray[Any]:
    """The entries of the dictionary that somebody has."""
    return np.sort(numpy_values(coded.indices.drop_null().unique()))


def _floats(values: pa.Array, title: str, cleaning: Cleaning = AS_WRITTEN) -> NDArray[np.float64]:
    """Any column of numbers as floats; a missing one is NaN."""
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if cleaning.reads_numbers and any(test(kind) for test in TEXTS):
        coded = coded_texts(values, title)
        places = numpy_values(coded.indices.cast(pa.int64()), len(coded.dictionary))
        return np.append(cleaning.numbers(coded.dictionary, title), math.nan).take(places)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if not any(test(values.type) for test in NUMERIC):
        raise InvalidInput(
            f"{title} must hold numbers, got a column of {values.type}. Convert it, or count it by category, "
            f"with a histogram."
        )
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.int8())
    # a whole number beyond 2^53 becomes the nearest float
    return numpy_values(values.cast(pa.float64(), safe=False), math.nan)


def _short(value: str) -> str:
    return repr(value if len(value) <= SHOWN else value[:SHOWN] + "...")


NUMERIC = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_null)
TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
TEXTUAL = (
    *TEXTS,
    *(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view),
    *(pa.types.is_integer, pa.types.is_boolean, pa.types.is_date),
)
