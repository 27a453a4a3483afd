"""Who is who: rows of the same person are found by their ids, however many rows there are, and one
of them is kept.

An id becomes 16 bytes, by AES in CBC-MAC with a key that is drawn for one run and never leaves it:
two different ids among a billion share theirs with a probability below 2^-56 (``sampling.tags``),
and what lies in a temporary file names nobody. Rows are compared a share of all fingerprints at a
time, so memory stays bounded but for one byte a row.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shuffledp.errors import Argument, InvalidInput, Refusal
from shuffledp.sampling import Rng, source_of, uniform
from shuffledp.sampling.tags import Blocks, Strings, cbc_mac
from shuffledp.schema import Keep
from shuffledp.tables.cleaning import arrow_mask, arrow_texts, as_texts, numpy_values
from shuffledp.tables.spool import Closing, Spool

KEEPING = get_args(Keep)
ALONE = (Argument("one-row-per-person", True), " if every row is another person.")
MEMORY = 1 << 28
COMPARING = 64  # bytes that comparing one fingerprint takes
AT_ONCE = 1 << 18  # ids that are read at once
LONGEST = 1024  # bytes of an id
PERSON = (
    "user|person|individual|customer|client|consumer|member|patient|employee|student|respondent|participant|"
    "subscriber|visitor|voter|account|login"
)
COUNTED = (  # only with a number
    "subject|passenger|worker|staff|player|record|case|device|panelist|citizen|resident|reviewer|anon|acct|cust|emp|usr"
)
NUMBER = "id|uid|uuid|guid|no|nr|num|number|code|key|hash"
NAMED_ID = re.compile(
    rf"(?:hashed|anonymous|unique)?(?:(?:{PERSON})?(?:unique)?(?:id|uid|uuid|guid|identifier)(?:hash|hashed)?|"
    rf"(?:{PERSON})(?:{NUMBER})?|id(?:{PERSON})|"
    rf"(?:{COUNTED})(?:{NUMBER})|(?:{PERSON})?e?mail(?:address|id)?|username|ssn)"
)
APART = re.compile(r"[\W_]+")
FLAGS = ("yes", "no", "y", "n", "true", "false", "t", "f", "0", "1", "0.0", "1.0")  # whether, not who


class Chosen(NamedTuple):
    """Which rows are ``kept``, one for each of ``people`` people; ``absent`` of them have no row
    that holds a value, and none is kept.
    """

    kept: NDArray[np.bool_]
    people: int
    absent: int


class Persons(Closing):
    """The persons behind rows that are added in pieces. Beyond ``memory`` bytes their fingerprints
    lie in a nameless file in ``folder``.
    """

    def __init__(self, *, memory: int = MEMORY, folder: Path | None = None) -> None:
        self._key = os.urandom(32)
        self._spool, self._memory = Spool(memory=memory, folder=folder), memory
        self._present: list[NDArray[np.bool_]] = []

    def add(self, ids: pa.Array, present: NDArray[np.bool_] | None, title: str) -> None:
        """Rows with their ids, and which of them hold a value (None for all); ``title`` names the
        table in messages.
        """
        for prints in fingerprints(self._key, ids, title):
            self._spool.append(prints)
        self._present.append(np.ones(len(ids), dtype=np.bool_) if present is None else present)

    def choose(self, keep: Keep, *, rng: Rng = None) -> Chosen:
        """One row for each person who has one with a value: the first, or any with the same
        probability, drawn by ``rng``.
        """
        check_keep(keep, "ids")
        source, present = source_of(rng), self.holding
        kept, people, absent = np.zeros(len(present), dtype=np.bool_), 0, 0
        for rows, starts in self._groups(present):
            ends = np.append(starts[1:], len(rows))
            holding = (
                np.add.reduceat(present[rows], starts, dtype=np.int64) if len(rows) else np.zeros(0, dtype=np.int64)
            )
            drawn = np.zeros(len(starts), dtype=np.int64)
            if keep == "random":
                for size in np.unique(holding[holding > 1]).tolist():
                    several = np.flatnonzero(holding == size)
                    drawn[several] = uniform(source, size, len(several))
            some = holding > 0
            kept[rows[(starts + drawn)[some]]] = True
            people, absent = people + len(ends), absent + int(np.count_nonzero(~some))
        return Chosen(kept, people, absent)

    def repeated(self) -> NDArray[np.int64]:
        """The rows whose person had a row before, in ascending order."""
        parts = [np.delete(rows, starts) for rows, starts in self._groups(self.holding)]
        return np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *parts]))

    def count_repeated(self) -> int:
        """How many rows are of people who had a row before."""
        return 0 if self._surely_alone() else len(self.repeated())

    def _surely_alone(self) -> bool:
        """Whether half of a fingerprint tells all people apart, where that is quickly seen: hardly
        ever two of them share a half.
        """
        if len(self._spool) * COMPARING > self._memory:
            return False
        halves = np.sort(np.concatenate([np.zeros(0, dtype=np.uint64), *(each[:, 0] for each in self._spool.blocks())]))
        return not np.any(halves[1:] == halves[:-1])

    def close(self) -> None:
        """Give memory and disk back."""
        self._spool.close()

    @property
    def holding(self) -> NDArray[np.bool_]:
        """Which rows hold a value."""
        return np.concatenate([np.zeros(0, dtype=np.bool_), *self._present])

    def _groups(self, present: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Rows sorted by person, those with a value first and else in their order, and where each
        person begins: a share of all people at a time.
        """
        shares = np.uint64(max(1, -(-len(self._spool) * COMPARING // self._memory)))
        for share in range(int(shares)):
            found, places, at = list[NDArray[Any]](), list[NDArray[np.int64]](), 0
            for block in self._spool.blocks():
                mine = np.flatnonzero(block[:, 0] % shares == share) if shares > 1 else np.arange(len(block))
                found.append(block[mine])
                places.append(mine + at)
                at += len(block)
            if not found or not (rows := np.concatenate(places)).size:
                continue
            prints = np.concatenate(found)
            order = np.lexsort((~present[rows], prints[:, 1], prints[:, 0]))
            prints, rows = prints[order], rows[order]
            new = np.append(True, np.any(prints[1:] != prints[:-1], axis=1))
            yield rows, np.flatnonzero(new)


class SeveralRows(Closing):
    """Columns ``names`` that seem to say whose row it is, watched while every row is taken for a
    person: a value that comes twice is refused. One that holds only words for yes and no is none.
    """

    def __init__(self, names: Sequence[str], title: str) -> None:
        self._persons, self._title = {name: Persons() for name in names}, title
        self._rows, self._named = dict.fromkeys(names, 0), set[str]()

    def add(self, name: str, values: pa.Array) -> None:
        """The next rows of a column; those without a value, or with a whole text, say nothing."""
        if pa.types.is_dictionary(values.type) and pa.types.is_string(values.type.value_type):  # before it is long
            short = numpy_values(pc.binary_length(values.dictionary)) <= LONGEST
            values = values.filter(arrow_mask(short).take(values.indices))
        try:
            texts = _any_texts(values)
        except pa.ArrowException:
            return  # a column of lists and the like names no one
        lengths = numpy_values(pc.binary_length(texts))
        texts = texts.filter(arrow_mask((lengths > 0) & (lengths <= LONGEST)))
        distinct = texts.unique()
        if pc.any(pc.invert(pc.is_in(pc.utf8_lower(distinct), value_set=arrow_texts(FLAGS)))).as_py():
            self._named.add(name)
        self._rows[name] += len(texts)
        if len(distinct) < len(texts) and name in self._named:
            self._refuse(name, f"{len(distinct):,} different values in {len(texts):,} rows")
        self._persons[name].add(texts, None, self._title)

    def check(self) -> None:
        """Refuse what comes again in a later part of the table."""
        for name in self._named:
            if again := self._persons[name].count_repeated():
                self._refuse(name, f"{self._rows[name] - again:,} different values in {self._rows[name]:,} rows")

    def close(self) -> None:
        """Give memory and disk back."""
        for each in self._persons.values():
            each.close()

    def _refuse(self, name: str, found: str) -> None:
        got = f"{found} of column {name!r}, which is named like an id"
        remedy = ("Add ", Argument("id"), " with the column that says whose row it is, or ", ALONE)
        raise InvalidInput(Refusal(f"each row of {self._title} must be another person", got, remedy))


def names_people(name: str) -> bool:
    """Whether a column is named like one that says whose row it is.

    >>> [names_people(each) for each in ("User ID", "customerId", "e-mail", "_id", "#")]
    [True, True, True, True, False]
    >>> [names_people(each) for each in ("product_id", "user type", "members", "idea", "name")]
    [False, False, False, False, False]
    """
    return NAMED_ID.fullmatch(APART.sub("", name.casefold())) is not None


def like_ids(names: Sequence[str], asked: Sequence[str], ids: str | None, *, one_row_per_person: bool) -> list[str]:
    """The columns to watch: those that are not ``asked`` about and are named like ids, where it was
    not said whose rows they are.
    """
    if ids is not None and one_row_per_person:
        rule = (Argument("one-row-per-person"), " must be left out beside ", Argument("id"))
        raise InvalidInput(Refusal(rule, f"both, and {ids!r}", "Leave one of them out."))
    if ids is not None or one_row_per_person:
        return []
    watched = [name for name in dict.fromkeys(names) if name not in asked and names_people(name)]
    for name in watched:
        if (times := names.count(name)) > 1:
            got = f"{times} columns of the name {name!r}, which is named like an id"
            remedy = ("Rename them, or add ", ALONE)
            raise InvalidInput(Refusal("each row of the table must be another person", got, remedy))
    return watched


def check_keep(keep: str | None, ids: str | None) -> Keep:
    """Which of a person's rows to keep, by the options: the first, unless something else is said
    where there are ids.
    """
    if keep is None:
        return "first"
    if ids is None:
        remedy = "Name the column that says whose row it is."
        raise InvalidInput(Refusal((Argument("keep"), " must come with ", Argument("id")), "none", remedy))
    if keep not in KEEPING:
        rule = (Argument("keep"), f" must be one of {', '.join(KEEPING)}")
        raise InvalidInput(Refusal(rule, repr(keep), "A random row is fair where the order of rows means something."))
    return cast(Keep, keep)


def id_texts(ids: pa.Array) -> pa.Array:
    """Ids of any usual kind as text."""
    try:
        return as_texts(_unpacked(ids))
    except pa.ArrowException:
        remedy = ("Convert it to text first, or leave out ", Argument("id"), ".")
        got = f"others in a column of {ids.type}"
        raise InvalidInput(Refusal("ids must be numbers or text in UTF-8", got, remedy)) from None


def _unpacked(ids: pa.Array) -> pa.Array:
    """Ids without a dictionary; one that is not a number is missing."""
    plain = ids.cast(ids.type.value_type) if pa.types.is_dictionary(ids.type) else ids
    return pc.if_else(pc.is_nan(plain), pa.NULL, plain) if pa.types.is_floating(plain.type) else plain


def _any_texts(ids: pa.Array) -> pa.Array:
    """Ids as text, also those that are not in UTF-8: their other bytes are spelled."""
    try:
        return id_texts(ids)
    except InvalidInput:
        found = _unpacked(ids).cast(pa.binary()).to_pylist()
    spelled = [None if each is None else each[: LONGEST + 1].decode(errors="backslashreplace") for each in found]
    return arrow_texts(spelled)


def fingerprints(key: bytes, ids: pa.Array, title: str) -> Iterator[Blocks]:
    """Sixteen bytes for each id, some ids at a time; whoever does not have the key learns nothing
    from them but who is the same.
    """
    texts = named_ids(ids, title)
    for start in range(0, len(texts), AT_ONCE):
        yield cbc_mac(key, _strings(texts.slice(start, AT_ONCE)))


def named_ids(ids: pa.Array, title: str) -> pa.Array:
    """The ids as text, if they name everybody."""
    texts = id_texts(ids)
    lengths = numpy_values(pc.binary_length(texts))
    if nameless := len(texts) - np.count_nonzero(lengths):
        raise InvalidInput(
            f"ids in {title} must name everybody, got {nameless:,} rows without one. Fill them in, or remove those "
            f"rows: nobody can tell whose they are."
        )
    if (longest := lengths.max(initial=0)) > LONGEST:
        raise InvalidInput(
            f"ids in {title} must have at most {LONGEST:,} bytes, got one of {longest:,}. Take shorter ones: an id "
            f"is a name, not a text."
        )
    return texts


def _strings(texts: pa.Array) -> Strings:
    """The bytes of Arrow's texts, where they lie."""
    binary = texts.cast(pa.large_binary())
    ends = np.frombuffer(binary.buffers()[1] or bytes(8), dtype=np.int64)[
        binary.offset : binary.offset + len(binary) + 1
    ]
    return Strings(ends, np.frombuffer(binary.buffers()[2] or b"", dtype=np.uint8))
