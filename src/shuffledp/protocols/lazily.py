"""A field of a frozen description that may be left out, and is then worked out once."""

from __future__ import annotations

from typing import Any

__all__ = ["settled"]


class Settled:
    """Given, or None: then whoever asks for it first has the whole thing settled.

    >>> class Guess:
    ...     answer: int = settled()
    ...
    ...     def settle(self) -> None:
    ...         print("thinking")
    ...         self.answer = 42
    >>> guess = Guess()
    >>> guess.answer, guess.answer
    thinking
    (42, 42)
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, thing: Any, owner: type | None = None) -> Any:
        if thing is None:
            return None  # what a dataclass takes for the default
        if vars(thing).get(self._name) is None:
            thing.settle()
        return vars(thing)[self._name]

    def __set__(self, thing: Any, value: object) -> None:
        vars(thing)[self._name] = value


def settled() -> Any:
    """The default of a field that ``settle`` works out if it is left out."""
    return Settled()
