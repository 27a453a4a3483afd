"""One measured line, and the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Result:
    """What was measured, beside its target; ``met`` is None where there is none."""

    what: str
    measured: str
    target: str = ""
    met: bool | None = None


def clock(call: Callable[[], T], repeats: int = 3, now: Callable[[], float] = time.perf_counter) -> tuple[T, float]:
    """The value of a call and the shortest of its times in seconds; of CPU with ``process_time``."""
    best, value = float("inf"), call()
    for _ in range(repeats):
        start = now()
        value = call()
        best = min(best, now() - start)
    return value, best
