"""The arguments of a question as Python gives them, read into its parts: data, columns, categories,
numbers, the promise and whose budget it takes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import date
from fractions import Fraction
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shuffledp.errors import Argument, InvalidInput, Refusal, check_finite, shown
from shuffledp.protocols.categories import as_list
from shuffledp.protocols.tasks.crossing import per_column
from shuffledp.release.budget import Budget
from shuffledp.release.terms import Categories, Promise, given_categories, read_categories
from shuffledp.tables import Cleaning, Keep
from shuffledp.tables.cleaning import check_encoding
from shuffledp.tables.formats import Format
from shuffledp.tables.memory import held_table
from shuffledp.tables.people import check_keep

__all__ = [
    "Listed",
    "PathLike",
    "budget_of",
    "categories_of",
    "column_name",
    "cut_pair",
    "finite_number",
    "finite_numbers",
    "label_text",
    "number_cleaning",
    "parts_of",
    "path_text",
    "promised",
    "reading",
    "switch",
    "text_cleaning",
]

PathLike = str | os.PathLike[str]
Listed = int | PathLike | Iterable[object]
LARGEST_LABEL = 10**18  # of whole numbers as categories


def reading(
    data: object,
    column: object,
    *,
    ids: object,
    keep: Keep | None,
    format: Format | None,
    encoding: str | None,
    alone: object,
) -> dict[str, Any]:
    """The part of a question that says what is read."""
    whose = column_name("ids", ids)
    names: dict[str, Any] = {"column": column_name("column", column), "ids": whose, "keep": check_keep(keep, whose)}
    names |= {"one_row_per_person": switch("one_row_per_person", alone)}
    if isinstance(data, (str, os.PathLike)):
        known = None if encoding is None else check_encoding(encoding)
        return {"source": path_text("data", data), "format": format, "encoding": known, **names}
    source = held_table(data)
    for name, given in (("format", format), ("encoding", encoding)):
        if given is not None:
            raise InvalidInput(
                f"{name} must be left out for values in memory, got {given!r} for {source.title}. It is for files."
            )
    return {"source": source, **names}


def column_name(argument: str, given: object) -> str | None:
    """The name of a column; pandas also numbers them."""
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, Integral):
        return str(given)
    raise InvalidInput(f"{argument} must be the name of a column, got {given!r}. Pass a string.")


def categories_of(given: object, *, other: str | None, missing: str | None) -> Categories:
    """The categories as Python gives them: a list, a number or a file."""
    other, missing = (None if each is None else label_text(each) for each in (other, missing))
    if isinstance(given, (str, os.PathLike)):
        return read_categories(path_text("categories", given), domain=None, other=other, missing=missing)
    if isinstance(given, Integral):
        return read_categories(None, domain=int(given), other=other, missing=missing)
    if given is None:
        return read_categories(None, domain=None, other=other, missing=missing)
    listed = as_list("categories", given, remedy='Pass a list such as ["yes", "no"].')
    return given_categories([label_text(label) for label in listed], other=other, missing=missing)


def parts_of(
    columns: Sequence[str], given: Sequence[object], *, other: object, missing: object
) -> tuple[Categories, ...]:
    """The same for each column of a crosstab."""
    if len(given) != len(columns):
        raise InvalidInput(
            f"categories must have an entry for each of the columns {', '.join(columns)}, got {len(given)}. The column "
            f"of the groups comes first if only by names it."
        )
    rests, gaps = per_column("other", other, columns), per_column("missing", missing, columns)
    return tuple(
        categories_of(listed, other=rest, missing=gap) for listed, rest, gap in zip(given, rests, gaps, strict=True)
    )


def label_text(label: Any) -> str:
    """A category as the text that values are compared by."""
    plain = label.item() if isinstance(label, np.generic) else label
    plain = plain.as_py() if isinstance(plain, pa.Scalar) else plain
    if isinstance(plain, float) and plain.is_integer():
        plain = int(plain)
    if isinstance(plain, bool):
        return str(plain).lower()
    if isinstance(plain, str) or (isinstance(plain, int) and abs(plain) < LARGEST_LABEL):
        return str(plain)
    if type(plain) is date:
        return plain.isoformat()
    given = "a larger one" if isinstance(plain, int) else repr(label)
    rule = "a category must be text, a whole number of at most 18 digits, a boolean or a date"
    raise InvalidInput(
        Refusal(rule, given, ("Write it as text; missing values are counted with ", Argument("missing", "NAME"), "."))
    )


def text_cleaning(strip: object, ignore_case: object, na: str | Iterable[str]) -> Cleaning:
    """What is forgiven in a column of text."""
    return Cleaning(strip=switch("strip", strip), ignore_case=switch("ignore_case", ignore_case), na=_words(na))


def number_cleaning(na: str | Iterable[str], decimal: str, thousands: str | None) -> Cleaning:
    """The same for a column of numbers."""
    return Cleaning(na=_words(na), decimal=decimal, thousands=thousands)


def switch(argument: str, given: object) -> bool:
    """True or False; a text such as "no" would pass for True."""
    if not isinstance(given, (bool, np.bool_)):
        raise InvalidInput(f"{argument} must be True or False, got {shown(given)}. Leave it out for False.")
    return bool(given)


def finite_number(argument: str, given: float | None) -> float | None:
    """A number, if one is given."""
    return None if given is None else check_finite(argument, given, remedy="Pass a number.")


def finite_numbers(argument: str, given: object) -> list[float]:
    """A list of them."""
    listed = as_list(argument, given, remedy="Pass a list of numbers.")
    return [check_finite(f"each of {argument}", each, remedy="Pass a list of numbers.") for each in listed]


def cut_pair(given: object) -> tuple[float, float]:
    """From which cut point to below which."""
    pair = finite_numbers("ranges", given)
    if len(pair) != 2:
        raise InvalidInput(f"a range must be two cut points, got {given!r}. Pass pairs such as (18, 65).")
    return pair[0], pair[1]


def path_text(argument: str, given: object) -> str:
    """The path of a file, as text."""
    if not isinstance(given, (str, os.PathLike)) or "\0" in (path := os.fsdecode(given)):
        seen = repr(given) if isinstance(given, os.PathLike) else shown(given)
        raise InvalidInput(f"{argument} must be the path of a file, got {seen}. Pass a text or a pathlib.Path.")
    return path


def _words(na: str | Iterable[str]) -> tuple[str, ...]:
    """The words that mean a missing value."""
    listed = [na] if isinstance(na, str) else as_list("na", na, remedy='Pass a list such as ["NA", "?"].')
    if wrong := [word for word in listed if not isinstance(word, str)]:
        raise InvalidInput(f"na must list texts, got {wrong[0]!r}. None and NaN are missing anyway.")
    return tuple(str(word) for word in listed)


def promised(epsilon: float | None, delta: float, rounds: int, honest: float | None, **noise: Any) -> Promise:
    """What is promised, or the ``noise`` where that may be given instead. A share of the people is
    meant as it is written: 0.9 is nine tenths.
    """
    for name, given in (("epsilon", epsilon), ("delta", delta)):
        if given is None and not (noise and name == "epsilon"):
            raise InvalidInput(f"{name} must be a number, got None. It is half of what is promised.")
    people: Any = honest
    if isinstance(honest, float) and 0.0 < honest <= 1.0:
        people = Fraction(repr(float(honest)))
    return Promise(epsilon=epsilon, delta=delta, rounds=rounds, honest=people, **noise)


def budget_of(
    ledger: PathLike | None, population: str | None, limit_epsilon: float | None, limit_delta: float | None
) -> Budget | None:
    """Whose budget it takes, if there is a ledger."""
    path = None if ledger is None else Path(path_text("ledger", ledger))
    return Budget.of(path, population, limit_epsilon, limit_delta)
