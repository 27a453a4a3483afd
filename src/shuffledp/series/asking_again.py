"""The question of a week: that of the series' design, about the column of a table."""

from __future__ import annotations

from typing import Any

from shuffledp.errors import Argument, InvalidInput, Refusal
from shuffledp.protocols.tasks import CrosstabTask
from shuffledp.protocols.tasks.crossing import Missing, one_name, per_column
from shuffledp.release.question import Question
from shuffledp.release.settled_question import question_about
from shuffledp.series.weeks import Week

__all__ = ["question_of"]

ORIGIN = "the design of the series"


def question_of(week: Week, *, missing: Missing = None, clip: bool = False, **reading: Any) -> Question:
    """What is asked of a table in a week; ``reading`` says how it is read."""
    task = week.series.design.task
    if clip and task.bounds is None:
        rule = (Argument("clip"), f" must be left out for a {task.name}, which has no bounds")
        raise InvalidInput(Refusal(rule, "it", "Leave it out."))
    if isinstance(task, CrosstabTask):
        reading |= {"columns": reading.pop("column") or task.columns, "by": week.series.by}
        for gap, part in zip(per_column(Argument("missing"), missing, reading["columns"]), task.parts, strict=True):
            _check_listed(gap, part.labels)
    elif task.bounds is None:
        _check_listed(one_name(Argument("missing"), missing), task.labels)
    elif missing is not None:
        rule = (Argument("missing"), f" must be left out for a {task.name}")
        raise InvalidInput(Refusal(rule, repr(missing), "Leave it out."))
    return question_about(task, origin=ORIGIN, missing=missing, clip=clip, series=week.said, **reading)


def _check_listed(missing: str | None, labels: tuple[str, ...]) -> None:
    """Refuse to count missing values as anything but one of the categories that were settled."""
    if missing is not None and missing not in labels:
        rule = (Argument("missing"), f" must be one of the {len(labels)} categories of the series")
        remedy = "Name one of them, or leave it out: rows without a value then do not take part."
        raise InvalidInput(Refusal(rule, repr(missing), remedy))
