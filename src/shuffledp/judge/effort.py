"""Every limit of a verification: no file may keep a machine busy or fill its memory."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from shuffledp.errors import InvalidInput

SECONDS = 120.0  # of computing
LARGEST_EPSILON = 700.0  # what e^epsilon can be computed of
MOST_VALUES = 1 << 26  # that a report can name
LISTED = 10_000  # rows of estimates in a record, at most
MOST_STRAY_VOTES = 1 << 20  # that are summed over; where votes are rare they are a few hundred
MOST_KNOTS = 1 << 14  # of the curve of one round
MOST_LONE_ROUNDS = 20_000  # whose losses are added up
MOST_GRID_STEPS = 64  # of a mean without a shuffler
FEW_USERS, FEW_VALUES, FEW_ROUNDS = 7, 4, 3  # of which all datasets are enumerated


class TooLarge(Exception):
    """A sum that is needed has too many terms."""


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
                f"the seconds of a verification must be at least 0, got {self.seconds!r}. Default: {SECONDS:g}."
            )

    def check(self) -> None:
        """Stop here if they are used up."""
        if time.process_time() - self.began > self.seconds:
            raise TooMuch(f"more than {self.seconds:g} seconds of computing are needed; allow more with --seconds")
