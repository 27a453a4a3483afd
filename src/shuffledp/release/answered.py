"""From a question to its answer: its column is opened and read, a protocol designed for as many
people as have a value, and the release made.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from shuffledp.errors import spelled
from shuffledp.release.arguments import budget_of, promise_of, reading
from shuffledp.release.released import Release
from shuffledp.release.request import Request
from shuffledp.release.stages import release
from shuffledp.release.top_question import TopRequest
from shuffledp.sampling import Rng
from shuffledp.tables import Values
from shuffledp.tables.memory import VALUES

__all__ = ["answered", "opened"]

Open = TypeVar("Open", bound=Request | TopRequest)


@contextmanager
def opened(question: Open, rng: Rng) -> Iterator[tuple[Open, Values]]:
    """The values of the column that is asked about, and the question with its name, if it has
    one.
    """
    column = question.open()
    named = None if column.bare and column.name == VALUES else column.name
    settled = replace(question, column=named)
    with settled.values(column, rng=rng) as values:
        for each in values.remarks:
            warnings.warn(spelled((each, ".")), stacklevel=6)  # where somebody calls sdp.count
        yield settled, values


def answered(build: Any, data: object, column: object, given: Any, rng: Rng) -> Release:
    """The release that answers a question of one round of reports; ``build`` makes it of the
    options that were ``given``.
    """
    question: Request = build(reading(data, given), column, given)
    promise, budget = promise_of(given), budget_of(given)
    question.check(promise)
    with opened(question.settled(), rng) as (settled, values):
        design = settled.design(values.count, promise)
        return release(settled, values, design, budget=budget, rng=rng)
