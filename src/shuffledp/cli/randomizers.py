"""Randomizers as they are typed: their names, the parameters they take, and how a parameter is
read.
"""

import csv
import functools
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from shuffledp.errors import InvalidInput

if TYPE_CHECKING:  # the help lists them all, and computes with none
    from shuffledp.randomizers import FromMatrix, Randomizer

__all__ = ["EQUIVALENTS", "KINDS", "PARAMETERS", "Kind", "find", "read_count", "read_number", "read_people"]


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


class Parameter(NamedTuple):
    """One thing that a randomizer is made of: how it is read, an example, and what it means."""

    read: Callable[[str], object]
    example: str
    meaning: str


PARAMETERS = {
    "k": Parameter(read_count, "16", "how many different values a user can hold"),
    "epsilon0": Parameter(read_number, "4", "the privacy parameter of one report on its own, usually 0.5 to 8"),
    "gamma": Parameter(read_number, "0.25", "the probability of a uniformly random answer"),
    "sigma": Parameter(read_number, "1", "the standard deviation of the Gaussian noise, for values in [0, 1]"),
    "scale": Parameter(read_number, "0.5", "the scale of the Laplace noise, for values in [0, 1]"),
    "flip": Parameter(read_number, "0.1", "the probability that RAPPOR flips a bit"),
    "size": Parameter(read_count, "3", "how many values a report of subset selection names; left out, the best"),
    "delta0": Parameter(read_number, "1e-12", "the local delta, if a report is only (epsilon0, delta0)-private"),
    "p": Parameter(read_number, "0.5", "the probability that a user's own bit is sent as 1"),
    "q": Parameter(read_number, "0.1", "the probability that any other bit is sent as 1"),
    "g": Parameter(read_count, "8", "how many hash values there are"),
    "matrix": Parameter(Path, "noise.csv", "a CSV file: a line per value, and in it the probability of every report"),
}


# What may be given in place of epsilon0, as a function of a randomizer that is known by epsilon0.
EQUIVALENTS: dict[str, Callable[[Any], float]] = {
    "gamma": lambda krr: krr.gamma,
    "scale": lambda laplace: 1.0 / laplace.epsilon0,
    "flip": lambda rappor: rappor.q,
}


def _from_file(*, matrix: Path) -> "FromMatrix":
    """The randomizer of a CSV file: one line per input, one probability per output, possibly as
    1/3.
    """
    from shuffledp.randomizers import FromMatrix

    rows: list[list[float]] = []
    try:
        with matrix.open(newline="", encoding="utf-8-sig") as lines:
            reader = csv.reader(lines)
            for line in reader:
                if line and not line[0].lstrip().startswith("#"):
                    rows.append([float(read_fraction(cell.strip())) for cell in line])
    except OSError as error:
        raise InvalidInput(
            f"--matrix must be a readable file, got {str(matrix)!r} ({error.strerror}). Check the path."
        ) from None
    except (ValueError, ArithmeticError, csv.Error):
        rule = "--matrix must hold a line per value, with the probability of every report, separated by commas"
        raise InvalidInput(
            f"{rule}; line {reader.line_num} of {str(matrix)!r} does not. Write numbers such as 0.25 or 1/3, and no "
            f"header."
        ) from None
    try:
        return FromMatrix(rows)
    except InvalidInput as error:
        raise InvalidInput(f"{str(matrix)!r}, rows counted from 0: {error}") from None


Load = Callable[[], Callable[..., "Randomizer"]]
Way = tuple[tuple[str, ...], Load]


class Kind(NamedTuple):
    """A randomizer in words, and the ways to build it, loaded when used; the last parameter of a
    way says how much one report hides.
    """

    title: str
    ways: tuple[Way, ...]
    optional: tuple[str, ...] = ()
    solvable: bool = True

    @property
    def takes(self) -> set[str]:
        """Every parameter of some way."""
        return {name for names, _ in self.ways for name in names} | set(self.optional)

    @property
    def strengths(self) -> tuple[str, ...]:
        """The parameters that say how much one report hides; one of them is enough."""
        return tuple(names[-1] for names, _ in self.ways)

    def usage(self) -> str:
        """The options, in a few words.

        >>> KINDS["krr"].usage(), KINDS["any"].usage()
        ('--k --epsilon0 or --k --gamma', '--epsilon0 [--delta0]')
        """
        ways = " or ".join(" ".join(f"--{name}" for name in names) for names, _ in self.ways)
        return ways + "".join(f" [--{name}]" for name in self.optional)


def _load(name: str, way: str | None = None, **fixed: object) -> Load:
    """A class of ``shuffledp.randomizers``, or another way to build it."""

    def load() -> Callable[..., "Randomizer"]:
        from shuffledp import randomizers

        family: Any = getattr(randomizers, name)
        builder = family if way is None else getattr(family, way)
        return functools.partial(builder, **fixed) if fixed else builder

    return load


def _over_domain(name: str) -> Way:
    return ("k", "epsilon0"), _load(name)


KINDS = {
    "krr": Kind("k-ary randomized response", (_over_domain("KRR"), (("k", "gamma"), _load("KRR", "from_gamma")))),
    "rr": Kind(
        "binary randomized response", ((("epsilon0",), _load("RR")), (("gamma",), _load("KRR", "from_gamma", k=2)))
    ),
    "any": Kind("any randomizer with that epsilon0", ((("epsilon0",), _load("AnyLDP")),), optional=("delta0",)),
    "laplace": Kind(
        "Laplace noise on [0, 1]", ((("epsilon0",), _load("Laplace")), (("scale",), _load("Laplace", "from_scale")))
    ),
    "gaussian": Kind("Gaussian noise on [0, 1]", ((("sigma",), _load("Gaussian")),)),
    "hadamard": Kind("Hadamard response", (_over_domain("Hadamard"),)),
    "oue": Kind("optimised unary encoding", (_over_domain("OUE"),)),
    "rappor": Kind("basic RAPPOR", (_over_domain("RAPPOR"), (("k", "flip"), _load("RAPPOR", "from_flip")))),
    "olh": Kind("optimal local hashing", (_over_domain("OLH"),)),
    "blh": Kind("binary local hashing", (_over_domain("BLH"),)),
    "local-hash": Kind("local hashing", ((("k", "g", "epsilon0"), _load("LocalHash")),)),
    "subset": Kind("subset selection", (_over_domain("SubsetSelection"),), optional=("size",)),
    "unary": Kind("unary encoding", ((("k", "p", "q"), _load("Unary")),), solvable=False),
    "matrix": Kind("your own table of probabilities", ((("matrix",), lambda: _from_file),), solvable=False),
}


def find(name: str) -> tuple[str, Kind]:
    """The randomizer of that name, in its usual spelling.

    >>> find("Local_Hash")[0]
    'local-hash'
    """
    wanted = name.strip().lower().replace("_", "-")
    if wanted not in KINDS:
        close = get_close_matches(wanted, KINDS, n=1)
        suggestion = f"Did you mean {close[0]}? " if close else ""
        raise InvalidInput(f"--randomizer must be a known name, got {name!r}. {suggestion}Known: {', '.join(KINDS)}.")
    return wanted, KINDS[wanted]
