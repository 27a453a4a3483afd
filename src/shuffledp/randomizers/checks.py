"""The rules that several randomizers share."""

from __future__ import annotations

from shuffledp.errors import InvalidInput, check_count, check_positive

__all__ = ["check_domain", "check_epsilon0"]

SMALLEST_EPSILON0, LARGEST_EPSILON0 = 1e-12, 50.0


def check_epsilon0(value: object) -> float:
    """Return ``value`` as a local privacy parameter in [1e-12, 50].

    >>> check_epsilon0(4)
    4.0
    """
    epsilon0 = check_positive("epsilon0", value, remedy="It bounds the log-ratio of two reports' laws; 0.5 to 8 is usual.")
    if epsilon0 < SMALLEST_EPSILON0:
        raise InvalidInput(
            f"epsilon0 must be at least {SMALLEST_EPSILON0:g}, got {epsilon0!r}. Less cannot be told from 0 in floating point; use {SMALLEST_EPSILON0:g}."
        )
    if epsilon0 > LARGEST_EPSILON0:
        raise InvalidInput(
            f"epsilon0 must be at most {LARGEST_EPSILON0:g}, got {epsilon0!r}. "
            "A report with epsilon0 above 50 hides nothing; lower epsilon0, or treat the reports as public."
        )
    return epsilon0


def check_domain(k: object) -> int:
    """Return ``k`` as the number of possible inputs, at least two.

    >>> check_domain(16.0)
    16
    """
    return check_count("k", k, least=2, remedy="k counts the possible inputs; with a single one there is nothing to hide.")
