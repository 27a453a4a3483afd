"""Numbers as they are typed."""

from contextlib import suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import typer

from shuffledp.errors import InvalidInput

__all__ = ["read_count", "read_number", "read_numbers", "read_people", "read_range", "read_sizes"]


def read_number(text: str) -> float:
    """A real number.

    >>> read_number("1e-6")
    1e-06
    """
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number. Write it as 0.5 or 1e-6.") from None


def read_numbers(name: str, text: str) -> list[float]:
    """Numbers with commas between them.

    >>> read_numbers("--at", "0.1, 0.5")
    [0.1, 0.5]
    """
    try:
        return [float(each) for each in text.split(",")]
    except ValueError:
        raise InvalidInput(
            f"{name} must be numbers with commas between them, got {text!r}. Write it as 0.1,0.5,0.9."
        ) from None


def read_range(text: str) -> tuple[float, float]:
    """Two numbers with a colon between them.

    >>> read_range("18:65")
    (18.0, 65.0)
    """
    low, colon, high = text.partition(":")
    try:
        if colon:
            return float(low), float(high)
    except ValueError:
        pass
    raise InvalidInput(f"--range must be two cut points with a colon between them, got {text!r}. Write it as 18:65.")


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


def read_sizes(text: str) -> int | str:
    """How many categories: a count, or one for each of several columns.

    >>> read_sizes("1e3"), read_sizes("4x3")
    (1000, '4x3')
    """
    return text if "x" in text.lower() else read_count(text)


def read_people(text: str) -> int | Fraction:
    """How many users: a count, or a share of them all.

    >>> read_people("900"), read_people("90%")
    (900, Fraction(9, 10))
    """
    if not text.endswith("%"):
        with suppress(InvalidOperation):
            if Decimal("1e-9") < (part := Decimal(text)) < 1:
                percent = (part * 100).normalize()
                raise typer.BadParameter(f"{text!r} is not a count. Write that share of the users as {percent:f}%.")
        return read_count(text)
    from shuffledp.randomizers.parameters import read_fraction

    try:
        share = read_fraction(text[:-1]) / 100
        if 0 < share <= 1:
            return share
    except (ValueError, ArithmeticError):
        pass
    raise typer.BadParameter(
        f"{text!r} is not a share of the users. Write a count such as 9000, or a share such as 90%."
    )
