"""The answers that a question admits, and people's answers as places in that list."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from shuffledp.errors import InvalidInput, Refusal, Words
from shuffledp.randomizers.parameters import check_domain

__all__ = ["LARGEST", "Categories", "as_list", "check_size"]

LARGEST = 1 << 22
NO_VALUES = "values must hold at least one value, got none. Pass one value per user."


@dataclass(frozen=True)
class Categories:
    """Distinct, hashable labels; ``other`` is the one that stands for everything that is not among
    them.

    >>> Categories(("tea", "coffee", "none of these"), other="none of these").indices(
    ...     ["tea", "water"]
    ... ).tolist()
    [0, 2]
    """

    labels: tuple[Hashable, ...] | range
    other: Hashable | None = None

    def __post_init__(self) -> None:
        if self.other is not None and not _is_hashable(self.other):
            raise InvalidInput(f"other must be hashable, got {self.other!r}. Use a string, a number or a tuple.")
        if len(self.labels) < 2:
            raise InvalidInput(
                f"categories must number at least two, got {len(self.labels)}. With a single one there is nothing to "
                f"hide; "
                f'add an "other".'
            )
        if self.other is not None and self.other not in self._places:
            raise InvalidInput(
                f"other must be one of the categories, got {self.other!r}. Add it to the list: it is estimated like "
                f"the rest."
            )

    @classmethod
    def of(cls, labels: object, other: Hashable | None = None) -> Categories:
        """Check a user's list, or a number k, which stands for 0, ..., k - 1."""
        if isinstance(labels, Real):
            if other is not None:
                raise InvalidInput(
                    f"other must be left out when the domain is a number, got {other!r}. List the categories to "
                    f"declare one."
                )
            return cls(range(check_size("categories", check_domain(labels))))
        listed = as_list("categories", labels, remedy='Pass a list such as ["yes", "no"].')
        check_size("categories", len(listed))
        seen: set[Hashable] = set()
        for label in listed:
            if not _is_hashable(label):
                raise InvalidInput(f"categories must be hashable, got {label!r}. Use strings, numbers or tuples.")
            if _is_missing(label):
                raise InvalidInput(
                    f'categories must not hold NaN, NaT or None, got {label!r}. Name it, for instance "missing".'
                )
            if label in seen:
                raise InvalidInput(f"categories must be distinct, got {label!r} twice. Merge the two.")
            seen.add(label)
        return cls(tuple(listed), other)

    @property
    def written(self) -> tuple[Hashable, ...] | int:
        """As a design lists them: a number stands for 0, ..., k - 1."""
        return len(self.labels) if isinstance(self.labels, range) else self.labels

    def __len__(self) -> int:
        """How many there are."""
        return len(self.labels)

    @cached_property
    def _places(self) -> Mapping[Hashable, int]:
        return {label: place for place, label in enumerate(self.labels)}

    def indices(self, values: object) -> NDArray[np.intp]:
        """Where each value is in the list; unknown values are ``other``, or refused."""
        if isinstance(values, np.ma.MaskedArray):
            raise InvalidInput(
                "values must not be a masked array, got one. Drop the masked users before counting n, or name a "
                'category "missing".'
            )
        if isinstance(self.labels, range):
            return self._numbers(values)
        if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "biufUS":
            distinct, back = np.unique(values, return_inverse=True)
            return self._look_up(distinct.tolist())[back]
        return self._look_up(as_list("values", values, remedy="Pass a list or an array with one value per user."))

    def _numbers(self, values: object) -> NDArray[np.intp]:
        try:
            array = np.asarray(
                values
                if isinstance(values, np.ndarray)
                else as_list("values", values, remedy="Pass one whole number per user.")
            )
        except ValueError:
            raise InvalidInput(
                "values must be whole numbers, got rows of different lengths. Pass one whole number per user."
            ) from None
        if array.size == 0:
            raise InvalidInput(NO_VALUES)
        k = len(self.labels)
        whole = array.ndim == 1 and array.dtype.kind in "iu"
        if not whole or array.min() < 0 or array.max() >= k:
            wrong = array.ravel()[np.argmax((array < 0) | (array >= k))] if whole else array.ravel()[0]
            raise InvalidInput(
                f"values must be whole numbers from 0 to {k - 1}, got {wrong!r}. List the categories instead of giving "
                f"their number."
            )
        return array.astype(np.intp)

    def _look_up(self, values: Sequence[Hashable]) -> NDArray[np.intp]:
        if not values:
            raise InvalidInput(NO_VALUES)
        fallback = -1 if self.other is None else self._places[self.other]
        try:
            found = np.fromiter(
                (self._places.get(value, fallback) for value in values), dtype=np.intp, count=len(values)
            )
        except TypeError as error:
            raise InvalidInput(
                f"values must be hashable like the categories, got {error}. Pass a flat list with one value per user."
            ) from None
        for value in values:
            if _is_missing(value):
                raise InvalidInput(
                    f"values must not be NaN, NaT or None, got {value!r}. Drop that user before counting n, or name a "
                    f'category "missing".'
                )
        if (unknown := np.flatnonzero(found < 0)).size:
            raise InvalidInput(
                f"values must be among the {len(self.labels)} categories, got {values[unknown[0]]!r}. Add it, or "
                f"declare other=<a category>."
            )
        return found


def as_list(name: Words, values: object, *, remedy: Words) -> list[Hashable]:
    """Return the items of a list-like thing; strings, sets and mappings are refused, as they rarely
    mean one item per user.
    """
    single = isinstance(values, np.ndarray) and values.ndim == 0
    if single or isinstance(values, (str, bytes, Mapping, Set)) or not isinstance(values, Iterable):
        raise InvalidInput(Refusal((name, " must be a list"), type(values).__name__, remedy))
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def check_size(name: str, size: int) -> int:
    """Refuse more values than tables of them fit into memory."""
    if size > LARGEST:
        raise InvalidInput(
            f"{name} must be at most {LARGEST}, got {size}. Every one is estimated; merge rare ones, or hash them to "
            f"fewer."
        )
    return size


def _is_missing(value: object) -> bool:
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # some libraries' missing values cannot even be compared
        return True


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:  # a tuple that holds a list claims to be Hashable
        return False
    return True
