"""The question of a week: that of the series' design, about the column of a table."""

from __future__ import annotations

from typing import Any

from shuffledp.collection.release.crossed import CrossQuestion
from shuffledp.collection.release.question import Question
from shuffledp.collection.release.terms import Categories
from shuffledp.collection.series.weeks import Week
from shuffledp.errors import InvalidInput
from shuffledp.protocols.tasks import CrosstabTask
from shuffledp.protocols.tasks.crossing import per_column

__all__ = ["question_of"]

ORIGIN = "the design of the series"


def question_of(week: Week, *, missing: str | None = None, clip: bool = False, **reading: Any) -> Question:
    """What is asked of a table in a week; ``reading`` says how it is read."""
    task = week.series.design.task
    if isinstance(task, CrosstabTask):
        columns = reading.pop("column")
        gaps = per_column("--missing", missing, columns)
        parts = tuple(
            Categories(part.labels, ORIGIN, part.rest, gap) for part, gap in zip(task.parts, gaps, strict=True)
        )
        return CrossQuestion(series=week.said, columns=columns, parts=parts, **reading)
    own: dict[str, Any] = {}
    if task.bounds is not None:
        if missing is not None:
            raise InvalidInput(f"--missing must be left out for a {task.name}, got {missing!r}. Leave it out.")
        own |= {"lower": task.bounds[0], "upper": task.bounds[1], "clip": clip}
    elif clip:
        raise InvalidInput(f"--clip must be left out for a {task.name}, which has no bounds, got it. Leave it out.")
    else:
        labels = task.labels
        if missing is not None and missing not in labels:
            raise InvalidInput(
                f"--missing must be one of the {len(labels)} categories of the series, got {missing!r}. Name one of "
                f"them, or leave it out: rows without a value then do not take part."
            )
        own |= {"categories": Categories(labels, ORIGIN, task.rest, missing)}
    if "method" in task.field_names():
        own |= {"method": getattr(task, "method")}  # noqa: B009
    return Question(task=task.name, series=week.said, **own, **reading)
