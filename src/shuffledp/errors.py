"""What can go wrong, and the checks that say so.

    ShuffledpError
    ├── InvalidInput (also a ValueError)   the request itself is wrong: the message names the rule
                                           and a remedy
    │   ├── DoesNotApply                   a theorem's condition fails here, so it gives no number
    │   ├── Unwritable                     a figure cannot be written (experiments.make)
    │   ├── Unreadable                     a file of check-ins cannot be read (experiments.cities)
    │   ├── OverLimit                      a release would exceed its population's budget
        (ledger.spend)
    │   └── Damaged                        a ledger is not what it was (ledger.schema)
    ├── CertificateError                   an answer failed its own check and is withheld: a bug of
                                           ours
    ├── Unnoted                            a release stands, and the ledger could not note that it
                                           does (release.budget)
    └── ReproductionError                  a figure could not be computed (experiments.run)

Every message reads: name, rule, the value that broke it, remedy.
"""

import math
from numbers import Integral, Real

__all__ = [
    "CertificateError",
    "DoesNotApply",
    "InvalidInput",
    "ShuffledpError",
    "check_count",
    "check_finite",
    "check_positive",
    "check_probability",
]


class ShuffledpError(Exception):
    """Base class of everything this package raises on purpose."""


class InvalidInput(ShuffledpError, ValueError):
    """A parameter breaks a rule; the message is one sentence with a remedy."""


class DoesNotApply(InvalidInput):
    """A published theorem says nothing here; the message names the condition that fails."""


class CertificateError(ShuffledpError):
    """Two certified ends contradict each other, or a calibrated plan misses its target; no answer
    is better than a wrong one.
    """


def check_finite(name: str, value: object, *, remedy: str) -> float:
    """Return ``value`` as a float, or refuse anything that is not a finite real number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidInput(f"{name} must be a number, got {value!r}. {remedy}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidInput(f"{name} must be finite, got {number!r}. {remedy}")
    return number


def check_positive(name: str, value: object, *, remedy: str) -> float:
    """Return ``value`` as a float greater than zero."""
    number = check_finite(name, value, remedy=remedy)
    if number <= 0.0:
        raise InvalidInput(f"{name} must be positive, got {number!r}. {remedy}")
    return number


def check_probability(name: str, value: object, *, remedy: str, zero: bool = False, one: bool = False) -> float:
    """Return ``value`` as a float in (0, 1); ``zero`` and ``one`` admit the end points."""
    number = check_finite(name, value, remedy=remedy)
    low = number >= 0.0 if zero else number > 0.0
    high = number <= 1.0 if one else number < 1.0
    if not (low and high):
        interval = f"{'[' if zero else '('}0, 1{']' if one else ')'}"
        raise InvalidInput(f"{name} must lie in {interval}, got {number!r}. {remedy}")
    return number


def check_count(name: str, value: object, *, least: int, remedy: str) -> int:
    """Return ``value`` as an int of at least ``least``; 3.0 counts as an integer, 3.5 does not."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidInput(f"{name} must be a whole number, got {value!r}. {remedy}")
    if not isinstance(value, Integral) and not (math.isfinite(value) and float(value).is_integer()):
        raise InvalidInput(f"{name} must be a whole number, got {value!r}. {remedy}")
    count = int(value) if isinstance(value, Integral) else int(float(value))
    if count < least:
        raise InvalidInput(f"{name} must be at least {least}, got {count}. {remedy}")
    return count
