"""What laws have in common whose people each add a share of the noise, calibrated for as many as
are honest.
"""

from __future__ import annotations

import math

from shuffledp.errors import MOST_USERS, InvalidInput, check_count, check_positive

__all__ = [
    "LARGEST_DECAY",
    "check_decay",
    "check_no_epsilon0",
    "check_people",
    "check_shares",
    "words_of",
]

SMALLEST_DECAY, LARGEST_DECAY = 1e-9, 45.0  # noise that decays faster is none, and keeps what this keeps


def check_decay(value: object) -> float:
    """Return ``value`` as the logarithm by which noise gets rarer from one step to the next."""
    remedy = "It is what one step of the answer gives away: epsilon, or a little less, over the steps."
    decay = check_positive("decay", value, remedy=remedy)
    if not SMALLEST_DECAY <= decay <= LARGEST_DECAY:
        raise InvalidInput(f"decay must lie in [{SMALLEST_DECAY:g}, {LARGEST_DECAY:g}], got {decay!r}. {remedy}")
    return decay


def check_people(value: object) -> int:
    """Return ``value`` as the number of people whose shares add up to the whole noise."""
    remedy = "It counts the honest people whose shares add up to the noise."
    people = check_count("least", value, least=1, remedy=remedy)
    if people > MOST_USERS:
        raise InvalidInput(f"least must be at most {MOST_USERS:g}, got {people}. {remedy}")
    return people


def check_shares(value: object) -> int:
    """Return ``value`` as a number of messages that a person sends."""
    remedy = "One message shows its sender's answer; ask for a protocol of one message instead."
    beyond = "Nobody sends so many; use fewer."
    return check_count("messages", value, least=2, most=1024, remedy=remedy, beyond=beyond)


def check_no_epsilon0(value: object) -> float:
    """A message of these laws hides nothing from whoever knows its sender."""
    if value != math.inf:
        raise InvalidInput(
            f"epsilon0 must be left out of a law whose people share the noise, got {value!r}. Its messages hide "
            f"nothing by themselves."
        )
    return math.inf


def words_of(number: int) -> tuple[int, int]:
    """A number out of 2^128 as two out of 2^64."""
    return number >> 64, number & ((1 << 64) - 1)
