"""The question of a week: that of the series' design, about the column of a table."""

from __future__ import annotations

from typing import Any

from shuffledp.collection.release.crossed import CrossQuestion
from shuffledp.collection.release.question import Question
from shuffledp.collection.release.terms import Bins, Categories
from shuffledp.collection.series.weeks import Week
from shuffledp.errors import InvalidInput
from shuffledp.protocols.tasks import CrosstabTask, QuantileTask
from shuffledp.protocols.tasks.crossing import Missing, one_name, per_column

__all__ = ["question_of"]

ORIGIN = "the design of the series"


def question_of(week: Week, *, missing: Missing = None, clip: bool = False, **reading: Any) -> Question:
    """What is asked of a table in a week; ``reading`` says how it is read."""
    series, task = week.series, week.series.design.task
    if clip and task.bounds is None:
        raise InvalidInput(f"--clip must be left out for a {task.name}, which has no bounds, got it. Leave it out.")
    if isinstance(task, CrosstabTask):
        columns = reading.pop("column") or task.columns
        gaps = per_column("--missing", missing, columns)
        parts = tuple(
            Categories(part.labels, ORIGIN, part.rest, _listed(gap, part.labels))
            for part, gap in zip(task.parts, gaps, strict=True)
        )
        return CrossQuestion(series=week.said, columns=columns, parts=parts, by=series.by, **reading)
    own: dict[str, Any] = {}
    if task.bounds is not None:
        if missing is not None:
            raise InvalidInput(f"--missing must be left out for a {task.name}, got {missing!r}. Leave it out.")
        own |= {"lower": task.bounds[0], "upper": task.bounds[1], "clip": clip}
        if isinstance(task, QuantileTask):
            own |= {"bins": Bins(cuts=task.cuts, at=task.at, ranges=task.ranges)}
    else:
        gap = _listed(one_name("--missing", missing), task.labels)
        own |= {"categories": Categories(task.labels, ORIGIN, task.rest, gap)}
    if "method" in task.field_names():
        own |= {"method": getattr(task, "method")}  # noqa: B009
    return Question(task=task.name, series=week.said, **own, **reading)


def _listed(missing: str | None, labels: tuple[str, ...]) -> str | None:
    """What missing values count as: one of the categories that were settled."""
    if missing is not None and missing not in labels:
        raise InvalidInput(
            f"--missing must be one of the {len(labels)} categories of the series, got {missing!r}. Name one of "
            f"them, or leave it out: rows without a value then do not take part."
        )
    return missing
