"""The rules that several randomizers share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shuffledp.errors import InvalidInput, Refusal, check_count, check_positive

SMALLEST_EPSILON0, LARGEST_EPSILON0 = 1e-12, 50.0


def checked(check: Callable[[Any], Any]) -> dict[str, Any]:
    """The metadata of a dataclass's field that is to be what ``check`` makes of what was given."""
    return {"check": check}


def check_fields(instance: object) -> None:
    """Put every field that is ``checked`` in its place, in their order."""
    kind: Any = type(instance)
    for name, check in _checks(kind):
        given = getattr(instance, name)
        made = check(given)
        if made is not given:  # mostly it is, and calibration builds randomizers by the dozen
            object.__setattr__(instance, name, made)


@cache
def _checks(kind: type) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
    """What a class declares stays the same, so that it is looked up once."""
    return tuple((each.name, each.metadata["check"]) for each in dataclasses.fields(kind) if "check" in each.metadata)


def check_between(name: str, value: object, least: float, most: float, *, remedy: str) -> float:
    """Return ``value`` as a positive number from ``least`` to ``most``."""
    number = check_positive(name, value, remedy=remedy)
    if not least <= number <= most:
        raise InvalidInput(Refusal(f"{name} must lie in [{least:g}, {most:g}]", repr(number), remedy))
    return number


def check_epsilon0(value: object) -> float:
    """Return ``value`` as a local privacy parameter in [1e-12, 50].

    >>> check_epsilon0(4)
    4.0
    """
    remedy = "It bounds the log-ratio of two reports' laws; 0.5 to 8 is usual."
    return check_between("epsilon0", value, SMALLEST_EPSILON0, LARGEST_EPSILON0, remedy=remedy)


def check_domain(k: object) -> int:
    """Return ``k`` as the number of possible inputs, at least two.

    >>> check_domain(16.0)
    16
    """
    return check_count(
        "k", k, least=2, remedy="k counts the possible inputs; with a single one there is nothing to hide."
    )


def check_values(values: ArrayLike, k: int) -> NDArray[Any]:
    """Return ``values`` as a vector of categories 0, ..., k - 1, one per user.

    >>> check_values([0, 2], 3).tolist()
    [0, 2]
    """
    return check_indices(
        "values", values, k, remedy=f"Number the categories 0 to {k - 1}, one whole number per person."
    )


def check_indices(name: str, given: ArrayLike, k: int, *, remedy: str) -> NDArray[Any]:
    """Return ``given`` as a non-empty vector of integers in [0, k)."""
    return check_range(name, given, 0, k - 1, remedy=remedy)


def check_range(name: str, given: ArrayLike, least: int, most: int, *, remedy: str) -> NDArray[Any]:
    """Return ``given`` as a non-empty vector of integers from ``least`` to ``most``."""
    array = _vector(name, given, remedy)
    if not np.issubdtype(array.dtype, np.integer):
        raise InvalidInput(f"{name} must be whole numbers, got an array of {array.dtype}. {remedy}")
    low, high = int(array.min()), int(array.max())
    if low < least or high > most:
        raise InvalidInput(f"{name} must be from {least} to {most}, got {low if low < least else high}. {remedy}")
    return array


def check_table(name: str, given: ArrayLike, width: int, *, remedy: str) -> NDArray[Any]:
    """Return ``given`` as a non-empty table with ``width`` columns."""
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise InvalidInput(f"{name} must be a table, got rows of different lengths. {remedy}") from error
    if array.ndim != 2 or array.shape[1] != width:
        raise InvalidInput(f"{name} must be a table of {width} columns, got shape {array.shape}. {remedy}")
    if not len(array):
        raise InvalidInput(f"{name} must not be empty. {remedy}")
    return array


def check_numbers(values: ArrayLike) -> NDArray[np.float64]:
    """Return ``values`` as a vector of numbers in [0, 1], one per user.

    >>> check_numbers([0, 0.5]).tolist()
    [0.0, 0.5]
    """
    remedy = (
        "Give one number per person, scaled to [0, 1]; decide beforehand what to do with missing and extreme values."
    )
    array = _vector("values", values, remedy)
    if not (np.issubdtype(array.dtype, np.integer) or np.issubdtype(array.dtype, np.floating)):
        raise InvalidInput(f"values must be numbers, got an array of {array.dtype}. {remedy}")
    numbers = array.astype(np.float64, copy=False)
    low, high = float(numbers.min()), float(numbers.max())
    if not (low >= 0.0 and high <= 1.0):
        raise InvalidInput(f"values must lie in [0, 1], got {high if low >= 0.0 else low}. {remedy}")
    return numbers


def _vector(name: str, given: ArrayLike, remedy: str) -> NDArray[Any]:
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise InvalidInput(f"{name} must be a vector, got rows of different lengths. {remedy}") from error
    if array.ndim != 1:
        raise InvalidInput(f"{name} must be a vector, got shape {array.shape}. {remedy}")
    if not len(array):
        raise InvalidInput(f"{name} must not be empty. {remedy}")
    return array


GRID = 1 << 53  # probabilities that run are multiples of 1 / GRID, which floats hold exactly


def on_grid(chances: Iterable[float]) -> list[int]:
    """Probabilities as whole numbers that sum to ``GRID``: at least 1 for what can happen, and the
    largest takes up rounding.
    """
    weights = [max(round(Fraction(each) * GRID), 1) if each else 0 for each in chances]
    weights[weights.index(max(weights))] += GRID - sum(weights)
    return weights


def read_fraction(text: str) -> Fraction:
    """A decimal or a fraction, exactly; refuses exponents that would fill the memory.

    >>> read_fraction("1/3"), read_fraction("0.25")
    (Fraction(1, 3), Fraction(1, 4))
    """
    if "/" not in text:
        value = Decimal(text)
        if not value.is_finite() or (value and abs(value.adjusted()) > 300):
            raise ValueError(text)
    return Fraction(text)
