"""How much work a verification may be: a file from a stranger must not keep anybody's machine
busy.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from shuffledp.errors import InvalidInput

__all__ = ["SECONDS", "Effort", "TooMuch"]

SECONDS = 120.0  # of computing


class TooMuch(Exception):
    """The sums would take longer than was allowed."""


@dataclass(frozen=True, slots=True)
class Effort:
    """So many ``seconds`` of computing, from now on."""

    seconds: float = SECONDS
    began: float = field(default_factory=time.process_time)

    def __post_init__(self) -> None:
        if not 0.0 <= self.seconds < float("inf"):
            raise InvalidInput(
                f"the seconds of a verification must be a number from 0 on, got {self.seconds!r}. Leave them out for "
                f"{SECONDS:g}."
            )

    def check(self) -> None:
        """Stop here if they are used up."""
        if time.process_time() - self.began > self.seconds:
            raise TooMuch(f"more than {self.seconds:g} seconds of computing are needed; allow more with --seconds")
