"""One person's answer, as it is typed, as the encoder takes it. No table and no Arrow is needed for
that.
"""

from __future__ import annotations

import difflib
import math

from shuffledp.errors import Argument, InvalidInput, Refusal
from shuffledp.protocols.tasks import CrosstabTask, Task, TopTask

__all__ = ["read_answer"]

SHOWN = 12  # answers that a message lists


def read_answer(task: Task, value: object, *, clip: bool = False) -> int | float:
    """The place of ``value`` among the labels of a task, or a number within its bounds; a crosstab
    takes an answer for each of its columns, and a level of a search any word.

    Whole numbers and truth values compare by their usual text, as in tables; what is not listed
    counts as the label for the rest, where the task has one.
    """
    if isinstance(task, CrosstabTask):
        return _cell(task, value, clip=clip)
    if isinstance(task, TopTask):
        return task.places.place(_text(value))
    if task.bounds is not None:
        return _number(*task.bounds, value, clip=clip)
    if clip:
        rule = (Argument("clip"), " must be left out where the answer is no number")
        raise InvalidInput(Refusal(rule, "it", "It is for means."))
    text, labels, rest = _text(value), task.labels, task.rest
    if text in labels:
        return labels.index(text)
    if rest is not None:
        return labels.index(rest)
    close = difflib.get_close_matches(text, labels[:100_000], n=1)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    listed = ", ".join(map(repr, labels[:SHOWN]))
    more = f" and {len(labels) - SHOWN:,} more" if len(labels) > SHOWN else ""
    raise InvalidInput(
        f"the answer must be one of the {len(labels):,} that the collection lists, got {text[:80]!r}. {hint}They are "
        f"{listed}{more}."
    )


def _cell(task: CrosstabTask, value: object, *, clip: bool) -> int:
    """Which cell somebody is in, who answers about every column of a crosstab."""
    if not isinstance(value, (tuple, list)) or len(value) != len(task.columns):
        raise InvalidInput(
            f"an answer must be given about each of {', '.join(task.columns)}, in this order, got "
            f"{str(value)[:80]!r}. Pass a tuple of {len(task.columns)} answers."
        )
    cell = 0
    for part, answer in zip(task.parts, value, strict=True):
        cell = cell * part.size + int(read_answer(part, answer, clip=clip))
    return cell


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (str, int)):
        return str(value)
    raise InvalidInput(f"an answer must be a text or a whole number, got {type(value).__name__}. Write it as listed.")


def _number(lower: float, upper: float, value: object, *, clip: bool) -> float:
    try:
        number = float(value) if isinstance(value, (str, int, float)) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if math.isnan(number) or not (clip or lower <= number <= upper):
        remedy = ("Correct it, or move it to the nearest bound: ", Argument("clip", True), ".")
        rule = f"the answer must be a number in [{lower:g}, {upper:g}]"
        raise InvalidInput(Refusal(rule, repr(str(value)[:80]), remedy))
    return min(max(number, lower), upper)
