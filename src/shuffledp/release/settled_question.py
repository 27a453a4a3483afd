"""A question that was settled before there was a table: that of a design, asked of a column."""

from __future__ import annotations

from typing import Any

from shuffledp.errors import Argument
from shuffledp.protocols.tasks import CrosstabTask, QuantileTask, Task
from shuffledp.protocols.tasks.crossing import Missing, one_name, per_column
from shuffledp.release.arguments import Bins, Categories
from shuffledp.release.crossed import CrossQuestion
from shuffledp.release.question import Question

__all__ = ["question_about"]


def question_about(
    task: Task,
    *,
    origin: str,
    missing: Missing,
    clip: bool,
    columns: tuple[str, ...] | None = None,
    by: str | None = None,
    **reading: Any,
) -> Question:
    """The question of a design's task. ``origin`` says where its categories came from, ``missing``
    what rows without a value count as, ``clip`` whether numbers outside are moved to the nearest
    bound, and ``reading`` how the table is read. A crosstab is asked of ``columns``, if the table
    calls them otherwise, and with ``by`` has shares within groups.
    """
    if isinstance(task, CrosstabTask):
        columns = columns or task.columns
        gaps = per_column(Argument("missing"), missing, columns)
        parts = tuple(
            Categories(part.labels, origin, part.rest, gap) for part, gap in zip(task.parts, gaps, strict=True)
        )
        return CrossQuestion(columns=columns, parts=parts, by=by, **reading)
    own: dict[str, Any]
    if task.bounds is None:
        gap = one_name(Argument("missing"), missing)
        own = {"categories": Categories(task.labels, origin, task.rest, gap)}
    else:
        own = {"lower": task.bounds[0], "upper": task.bounds[1], "clip": clip}
    if isinstance(task, QuantileTask):
        own |= {"bins": Bins(cuts=task.cuts, at=task.at, ranges=task.ranges)}
    return Question(task=task.name, **own, **reading)
