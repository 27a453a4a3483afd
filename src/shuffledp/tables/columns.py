"""One column of a table, in batches: one value per person. Several columns are joined to one, whose
values are structs.
"""

from __future__ import annotations

import difflib
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

from shuffledp.domain import CROSS
from shuffledp.errors import Argument, InvalidInput, Refusal, Words
from shuffledp.schema import Format
from shuffledp.tables.formats import Kind, Table, open_table
from shuffledp.tables.people import SeveralRows, like_ids

T = TypeVar("T")
ColumnName = str | tuple[str, ...]  # of one column, or of several that are joined
SHOWN = 20  # names of columns in a message


class Batch(NamedTuple):
    """Some people's values, and who they are if that was asked for."""

    values: pa.Array
    ids: pa.Array | None


@dataclass(eq=False)
class Column:
    """The column ``named`` of a table, or several, joined; and beside it perhaps the column of
    ``ids``.

    ``unsure`` is true where nobody named the column and its name is merely the first line of a CSV
    file: if that line is a value, somebody would be lost. Without ids, columns that are named like
    some are ``watched``.
    """

    table: Table
    named: ColumnName
    kind: Kind
    ids: str | None
    unsure: bool
    watched: Sequence[str] = ()
    used: bool = False

    def __post_init__(self) -> None:
        self.table.watched = self.watched

    @property
    def name(self) -> str:
        """What it is called, or several together."""
        return joined_name(self.named)

    @property
    def title(self) -> str:
        """How messages call it."""
        return self.table.column_title(self.name)

    def batches(self) -> Iterator[Batch]:
        """All rows in their order; the next batch is decoded while this one is used. A file can be
        read again, standard input cannot.
        """
        if self.used and self.table.once:
            raise InvalidInput(
                "standard input must be read only once, got a second reading. Write it to a file and name that."
            )
        self.used, names = True, (self.named,) if isinstance(self.named, str) else self.named
        wanted = list(dict.fromkeys([*names, *([] if self.ids is None else [self.ids]), *self.watched]))
        with SeveralRows(self.watched, self.table.title) as several:
            for batch in _ahead(self.table.batches(wanted, self.kind)):
                for name in (each for each in self.watched if each in batch.schema.names):
                    several.add(name, batch.column(name))
                values = joined([batch.column(name) for name in names], names)
                yield Batch(values, None if self.ids is None else batch.column(self.ids))
            several.check()


def joined(columns: Sequence[pa.Array], names: Sequence[str]) -> pa.Array:
    """One column as it is; several as structs, whose parts ``JoinedPlaces`` reads in order."""
    return columns[0] if len(columns) == 1 else pa.StructArray.from_arrays(columns, names=list(names))


def joined_name(name: ColumnName) -> str:
    """What a column is called, or several together.

    >>> joined_name(("region", "smoker"))
    'region × smoker'
    """
    return name if isinstance(name, str) else CROSS.join(name)


def open_column(
    source: str | Table,
    column: ColumnName | None = None,
    *,
    kind: Kind,
    format: Format | None = None,
    ids: str | None = None,
    encoding: str | None = None,
    one_row_per_person: bool = False,
) -> Column:
    """The column of that name in a CSV, Parquet or Arrow file, "-" for standard input, or a table
    that is open already; a table with a single column needs no name, and several are joined.

    ``kind`` is "text" for categories, which are never taken for numbers ("01" stays "01"), or
    "number". ``encoding`` is that of a CSV file, UTF-8 if it is left out. Without ``ids``, a value
    that comes twice in another column that is named like one is refused, unless
    ``one_row_per_person`` is said.
    """
    table = source if isinstance(source, Table) else open_table(source, format, encoding)
    if not table.names:
        raise InvalidInput(f"{table.title} must have at least one column, got none. Pass the table that holds values.")
    for option, given in ((Argument("column"), column), (Argument("id"), ids)):
        if table.bare and given is not None:
            got = f"{given!r} for {table.title}, which is a single column"
            remedy = "Leave it out, or pass the whole table."
            raise InvalidInput(Refusal((option, " must name a column of a table"), got, remedy))
    if column is None and len(table.names) > 1:
        rule = (Argument("column"), " must be named where there are several")
        raise InvalidInput(Refusal(rule, "none", _there_are(table.names)))
    name: ColumnName
    if isinstance(column, tuple):
        name = tuple(check_column(table.names, each, "column", table.title) for each in column)
    else:
        name = check_column(table.names, table.names[0] if column is None else column, "column", table.title)
    return Column(
        table,
        name,
        kind,
        ids=None if ids is None else check_column(table.names, ids, Argument("id"), table.title),
        unsure=column is None and table.headed,
        watched=like_ids(
            [each for each in table.names if each not in table.nested],
            (name,) if isinstance(name, str) else name,
            ids,
            one_row_per_person=one_row_per_person,
        ),
    )


def check_column(names: Sequence[str], name: str, option: Words, title: str = "the table") -> str:
    """Return ``name`` if exactly one column has it; ``option`` is how messages call it."""
    if (times := names.count(name)) != 1:
        one, got = ("one", f"{name!r}, a name that {times} columns have") if times else ("a", repr(name))
        remedy = "Rename them." if times else nearest(name, names)
        raise InvalidInput(Refusal((option, f" must name {one} column of {title}"), got, remedy))
    return name


def nearest(name: str, names: Sequence[str]) -> str:
    """The column that somebody may have meant, and all there are."""
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    return f"{hint}{_there_are(names)}"


def _there_are(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:SHOWN])
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"The columns are {shown}{more}."


def _ahead(items: Iterator[T]) -> Generator[T, None, None]:
    """The same items, each made in another thread while its predecessor is used."""
    end: Any = object()
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(next, items, end)
        try:
            while (item := following.result()) is not end:
                following = pool.submit(next, items, end)
                yield item
        finally:
            following.cancel() or following.exception()  # no generator can be closed while it runs
            if isinstance(items, Generator):
                pool.submit(items.close).result()
