"""The mean of a function of people's records (Balle et al. 2019, Corollary 1)."""

from __future__ import annotations

import inspect
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from shuffledp.domain import as_list
from shuffledp.errors import InvalidInput
from shuffledp.questions.mean.question import MeanQuestion
from shuffledp.schema import Number, part

if TYPE_CHECKING:
    from numpy.typing import NDArray


@part
class StatisticalQuery(MeanQuestion):
    """The mean over people's records of ``query``, a function into [lower, upper].

    ``name`` tells queries apart, and is by default where the function is defined. A lambda, or
    anything else that carries values of its own, is taken to be unlike all others unless it is
    named, so that no bag is analyzed as the answer to another question.

    >>> from shuffledp import Poll
    >>> adults = StatisticalQuery(query=lambda person: float(person["age"] >= 18))
    >>> poll = Poll(adults, n=1000, epsilon0=4.0, k=1)
    >>> poll.shuffle(poll.encode([{"age": 30}] * 1000)).rows.dtype
    dtype('uint8')
    """

    compared = ("lower", "upper", "name")

    lower: Number = 0.0
    upper: Number = 1.0
    query: Callable[[Any], float]
    name: str | None = None

    @classmethod
    def of(cls, *, query: Any = None, name: Any = None, **bounds: Any) -> Self:
        if not callable(query):
            raise InvalidInput(f"query must be a function of one record, got {query!r}. Pass a def or a lambda.")
        if name is not None and (not isinstance(name, str) or not name):
            raise InvalidInput(
                f"name must be a string that tells queries apart, got {name!r}. Name what the query asks."
            )
        return super().of(query=query, name=_name_of(query) if name is None else name, **bounds)

    def numbers(self, values: Any) -> NDArray[Any]:
        import numpy as np

        remedy = "Pass a list with one record per user."
        records = values if isinstance(values, np.ndarray) else as_list("values", values, remedy=remedy)
        return super().numbers([self.query(record) for record in records])

    def checked(self) -> Self:
        """Refused: what it asks is code, and is not written down."""
        raise InvalidInput(
            "the poll must answer a question that a design can hold, got a StatisticalQuery. Ask for a histogram, a "
            "count, a crosstab, quantiles, a mean or a sum."
        )


def _name_of(query: Callable[[Any], float]) -> str:
    named = inspect.isclass(query) or inspect.isfunction(query) or inspect.isbuiltin(query)
    name = getattr(query, "__qualname__", "")
    if named and name and "<" not in name:
        return f"{query.__module__}.{name}"
    return f"unnamed {secrets.token_hex(8)}"
