"""Randomizers as they are typed: how a parameter is read, and a name found."""

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path

import typer

from shuffledp.errors import InvalidInput
from shuffledp.randomizers.family import NAMES, Named, Parameter
from shuffledp.randomizers.parameters import read_fraction

__all__ = ["READERS", "find", "parameters", "read_count", "read_number", "read_people"]


def read_number(text: str) -> float:
    """A real number.

    >>> read_number("1e-6")
    1e-06
    """
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number. Write it as 0.5 or 1e-6.") from None


def read_count(text: str) -> int:
    """A whole number, however it is written.

    >>> read_count("1e6"), read_count("10_000"), read_count("10,000")
    (1000000, 10000, 10000)
    """
    try:
        value = Decimal(text.replace(",", ""))
        if value.is_finite() and value.adjusted() <= 30 and value == value.to_integral_value():
            return int(value)
    except InvalidOperation:
        pass
    raise typer.BadParameter(f"{text!r} is not a whole number of reasonable size. Write it as 10000 or 1e4.")


def read_people(text: str) -> int | Fraction:
    """How many users: a count, or a share of them all.

    >>> read_people("900"), read_people("90%")
    (900, Fraction(9, 10))
    """
    if not text.endswith("%"):
        return read_count(text)
    try:
        share = read_fraction(text[:-1]) / 100
        if 0 < share <= 1:
            return share
    except (ValueError, ArithmeticError):
        pass
    raise typer.BadParameter(
        f"{text!r} is not a share of the users. Write a count such as 9000, or a share such as 90%."
    )


# How each kind of parameter is read, and what the help calls it.
READERS: Mapping[str, tuple[Callable[[str], object], str]] = {
    "count": (read_count, "COUNT"),
    "number": (read_number, "NUMBER"),
    "file": (Path, "FILE"),
}


def parameters() -> dict[str, Parameter]:
    """Every parameter of some randomizer.

    >>> list(parameters())[:3]
    ['k', 'epsilon0', 'gamma']
    """
    return {name: each for kind in NAMES.values() for name, each in kind.parameters.items()}


def find(name: str) -> Named:
    """The randomizer of that name, in its usual spelling.

    >>> find("Local_Hash").name
    'local-hash'
    """
    wanted = name.strip().lower().replace("_", "-")
    if wanted not in NAMES:
        close = get_close_matches(wanted, NAMES, n=1)
        suggestion = f"Did you mean {close[0]}? " if close else ""
        raise InvalidInput(f"--randomizer must be a known name, got {name!r}. {suggestion}Known: {', '.join(NAMES)}.")
    return NAMES[wanted]
