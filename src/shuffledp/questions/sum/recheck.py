"""The sum of numbers: a mean, times how many people there are."""

from __future__ import annotations

from typing import Any

from shuffledp.questions.mean.recheck import number


def recheck(record: dict[str, Any], judge: Any) -> list[Any]:
    """One row."""
    return number(record, judge, "sum", record["tally"]["reports"], 1)
