"""Tables that are in memory already: data frames, series, arrays and lists, read like a file.

pandas and polars are recognized by what somebody else has loaded, and never imported here. Only the
columns that are asked for become Arrow arrays, so an odd column elsewhere in a frame does no harm.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.interchange
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput
from shuffledp.tables.formats import ROWS, Kind, Table

ACCEPTED = (
    "the path of a CSV, Parquet or Arrow file, a pandas or polars DataFrame or Series, an Arrow table or array, a "
    "NumPy array, or a list"
)
VALUES = "values"  # what the only column is called that nobody gave a name
Arrow = Any  # an Array or a ChunkedArray; pyarrow ships no types
Read = Callable[[Sequence[str]], Sequence[Arrow]]


class HeldTable(Table):
    """Columns of a Python object: ``read`` turns those of the given names into Arrow, and is asked
    once for each choice of them, as a lazy frame may not answer twice alike.

    ``bare`` says that it is a single column without a table around it, whose name may be nobody's.
    """

    def __init__(self, title: str, names: Sequence[str], rows: int | None, read: Read, *, bare: bool = False) -> None:
        self.title, self.names, self.rows, self.bare = f"the {title}", list(names), rows, bare
        self._read, self._known = read, dict[tuple[str, ...], pa.Table]()

    def column_title(self, name: str) -> str:
        return self.title if self.bare else super().column_title(name)

    def batches(self, wanted: list[str], kind: Kind) -> Iterator[pa.RecordBatch]:
        chosen = tuple(wanted)
        if chosen not in self._known:
            with _convertible(self.title if self.rows is None else self.column_title(wanted[0])):
                if self.rows is not None:
                    wanted = [name for name in wanted if name not in self.watched or self._converts(name)]
                table = pa.table(list(self._read(wanted)), names=wanted)
                table.validate(full=True)  # whoever made it need not have looked
            self._known[chosen] = table
        return iter(self._known[chosen].to_batches(max_chunksize=ROWS))

    def _converts(self, name: str) -> bool:
        """Whether a column can be read that nobody asks about."""
        try:
            return len(self._read([name])) == 1
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return False


def held_table(data: object) -> HeldTable:
    """The table that ``data`` is, or a sentence that says what it might have been.

    >>> held_table(["tea", None, "coffee"]).names
    ['values']
    """
    for known in (_pandas, _polars, _arrow, _array, _sequence, _exchanged):
        if (table := known(data)) is not None:
            return table
    raise InvalidInput(f"data must be {ACCEPTED}, got {_called(data)}. {_remedy(data)}")


def _pandas(data: Any) -> HeldTable | None:
    if _is(data, "pandas", "DataFrame"):
        names = [str(name) for name in data.columns]
        return HeldTable(
            "pandas DataFrame",
            names,
            len(data),
            lambda wanted: [pa.array(data.iloc[:, names.index(name)], from_pandas=True) for name in wanted],
        )
    if _is(data, "pandas", "Series") or _is(data, "pandas", "Index"):
        return _single(f"pandas {type(data).__name__}", data.name, lambda: pa.array(data, from_pandas=True), len(data))
    return None


def _polars(data: Any) -> HeldTable | None:
    if _is(data, "polars", "DataFrame"):
        return HeldTable(
            "polars DataFrame",
            data.columns,
            len(data),
            lambda wanted: [data.get_column(name).to_arrow() for name in wanted],
        )
    if _is(data, "polars", "LazyFrame"):
        return _lazy(data)
    if _is(data, "polars", "Series"):
        return _single("polars Series", data.name, data.to_arrow, len(data))
    return None


def _lazy(data: Any) -> HeldTable:
    by_name = sys.modules["polars"].selectors.by_name  # which takes no name for a pattern

    def read(wanted: Sequence[str]) -> list[Arrow]:
        frame = data.select(by_name(*wanted)).collect()
        return [frame.get_column(name).to_arrow() for name in wanted]

    with _convertible("the polars LazyFrame"):
        names = data.collect_schema().names()
    return HeldTable("polars LazyFrame", names, None, read)


def _arrow(data: Any) -> HeldTable | None:
    if isinstance(data, pa.RecordBatchReader):
        with _convertible("the Arrow stream"):
            data = data.read_all()
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        return _columns_of("Arrow table", data)
    if isinstance(data, (pa.Array, pa.ChunkedArray)):
        return _single("Arrow array", None, lambda: data, len(data))
    return None


def _array(data: object) -> HeldTable | None:
    if not isinstance(data, np.ndarray):
        return None
    if data.ndim != 1 or data.dtype.names is not None:
        shape = f"one of shape {data.shape}" if data.dtype.names is None else "one with several fields"
        raise InvalidInput(
            f"an array must hold one value per person, in one dimension, got {shape}. Pass one column of it, for "
            f"example data[:, 0]."
        )
    return _single("array", None, lambda: _from_numpy(data), len(data))


def _from_numpy(data: NDArray[Any]) -> pa.Array:
    mask = np.ma.getmaskarray(data) if isinstance(data, np.ma.MaskedArray) else None
    plain = np.ascontiguousarray(data)
    return pa.array(plain.astype(plain.dtype.newbyteorder("=")), mask=mask, from_pandas=True)


def _sequence(data: object) -> HeldTable | None:
    if not isinstance(data, (list, tuple)):
        return None
    return _single(type(data).__name__, None, lambda: pa.array(data, from_pandas=True), len(data))


def _exchanged(data: Any) -> HeldTable | None:
    """Whatever else hands itself over by one of the protocols for that, such as a DuckDB
    relation.
    """
    if isinstance(data, type):
        return None
    if hasattr(data, "__arrow_c_stream__"):
        take: Callable[[Any], pa.Table] = pa.table
    elif hasattr(data, "__dataframe__"):
        take = pyarrow.interchange.from_dataframe
    else:
        return None
    with _convertible(f"the {type(data).__name__}"):
        return _columns_of(type(data).__name__, take(data))


def _columns_of(title: str, table: pa.Table | pa.RecordBatch) -> HeldTable:
    names = table.schema.names
    return HeldTable(title, names, len(table), lambda wanted: [table.column(names.index(name)) for name in wanted])


def _single(title: str, name: object, read: Callable[[], Arrow], rows: int) -> HeldTable:
    """A single column; only a text is taken for its name."""
    named = name if isinstance(name, str) and name else VALUES
    return HeldTable(title, [named], rows, lambda wanted: [read() for _ in wanted], bare=True)


def _is(data: object, module: str, name: str) -> bool:
    """Whether ``data`` is of a class of a library that is loaded, as it then must be."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(data, kind)


@contextmanager
def _convertible(title: str) -> Iterator[None]:
    """Say in a sentence what a library says of values that it cannot hand over."""
    try:
        yield
    except (InvalidInput, MemoryError):
        raise
    except (pa.ArrowException, TypeError, ValueError, OverflowError, OSError, *_polars_errors()) as error:
        said = str(error).strip().partition("\n")[0].rstrip(".")
        lazy = title.endswith("LazyFrame")
        rule = "be computable" if lazy else "hold values of one kind that Arrow can hold"
        remedy = "Call its collect() to see more." if lazy else "Convert them first, for example all to text."
        raise InvalidInput(f"{title} must {rule}, got: {said}. {remedy}") from None


def _polars_errors() -> tuple[type[Exception], ...]:
    polars = sys.modules.get("polars")
    return () if polars is None else (polars.exceptions.PolarsError,)


def _called(data: object) -> str:
    name = type(data).__name__
    return "None" if data is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _remedy(data: object) -> str:
    if isinstance(data, dict):
        return "Make a table of it: pyarrow.table(data) has a column for each key."
    if isinstance(data, (set, frozenset)):
        return "A set keeps equal values only once, so people would be lost: pass a list."
    if isinstance(data, Iterable):
        return "Make a list of it: list(data)."
    return "Pass one value per person."
