"""From a question to its answer: its column is opened and read, a protocol designed for as many
people as have a value, and the release made.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from shuffledp.errors import spelled
from shuffledp.questions import options_module
from shuffledp.release.arguments import Promise, budget_of, promise_of, reading
from shuffledp.release.budget import Budget
from shuffledp.release.released import Release
from shuffledp.sampling import Rng
from shuffledp.tables import Values
from shuffledp.tables.memory import VALUES

__all__ = ["answered", "described", "opened"]

Open = TypeVar("Open", bound=Any)  # a request, also one for a search


@contextmanager
def opened(question: Open, rng: Rng) -> Iterator[tuple[Open, Values]]:
    """The values of the column that is asked about, and the question with its name, if it has
    one.
    """
    column = question.open()
    named = None if column.bare and column.name == VALUES else column.name
    settled = question.named(named)
    with settled.values(column, rng=rng) as values:
        for each in values.remarks:
            warnings.warn(spelled((each, ".")), stacklevel=6)  # where somebody calls sdp.count
        yield settled, values


def described(name: str, data: object, column: object, given: Mapping[str, Any]) -> tuple[Any, Promise, Budget | None]:
    """The request of the question of that name, what is promised, and whose budget it takes."""
    request = options_module(name).request(reading(data, given), column, given)
    return request, promise_of(given), budget_of(given)


def answered(name: str, data: object, column: object, given: Mapping[str, Any], rng: Rng) -> Release:
    """The release that answers the question of that name with the options that were ``given``."""
    request, promise, budget = described(name, data, column, given)
    with opened(request, rng) as (settled, values):
        design = settled.design(values.count, promise)
        return settled.release(values, design, budget=budget, rng=rng)
