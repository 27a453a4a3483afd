"""Several columns as one: every combination of their categories is a cell, in rows, so that the
last column changes fastest; beside the cells stand their sums over some of the columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from math import prod

from shuffledp.errors import InvalidInput, Refusal, Words

__all__ = [
    "ALL",
    "CROSS",
    "MOST_COLUMNS",
    "MOST_NUMBERS",
    "SPARSE",
    "Missing",
    "fits_a_page",
    "kept_columns",
    "numbers_in",
    "one_name",
    "per_column",
    "row_labels",
]

Missing = str | Mapping[str, str] | None  # a name for all columns, or names by column
CROSS, ALL = " × ", "(all)"  # between the categories of a cell, and in place of one that was summed over
SPARSE = 40  # people for each cell below which a table is called sparse
MOST_NUMBERS = 10_000  # cells and sums together: a page lists them all, so that anybody can add them up
MOST_COLUMNS = 8  # of two categories each, which make 3^8 - 1 numbers; of more columns nothing is even multiplied


def kept_columns(columns: int) -> list[tuple[int, ...]]:
    """Which columns the sums keep apart: every choice of some of them, more of them first.

    >>> kept_columns(2), len(kept_columns(3))
    ([(0,), (1,)], 6)
    """
    return [kept for many in range(columns - 1, 0, -1) for kept in combinations(range(columns), many)]


def numbers_in(sizes: Sequence[int]) -> int:
    """How many cells and sums there are.

    >>> numbers_in([4, 3])
    19
    """
    return prod(size + 1 for size in sizes) - 1


def fits_a_page(sizes: Sequence[int]) -> bool:
    """Whether a table of so many categories in each column is not too large; a stranger may have
    written any.

    >>> fits_a_page([4, 3]), fits_a_page([10**9, 2]), fits_a_page([2] * 10**6)
    (True, False, False)
    """
    return len(sizes) <= MOST_COLUMNS and numbers_in(sizes) <= MOST_NUMBERS


def row_labels(categories: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """What the cells are called, and after them the sums, in the order of ``kept_columns``.

    >>> row_labels([["north", "south"], ["yes", "no"]])[3:7]
    ('south × no', 'north × (all)', 'south × (all)', '(all) × yes')
    """
    places = range(len(categories))
    every = [tuple(places), *kept_columns(len(categories))]
    shown = ([categories[at] if at in kept else (ALL,) for at in places] for kept in every)
    return tuple(CROSS.join(names) for each in shown for names in product(*each))


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
