"""Which module shows the answer to which task."""

from __future__ import annotations

from shuffledp.page.answers import ShownNumber, ShownValue, ShownValues
from shuffledp.page.crosstabs import ShownCells
from shuffledp.page.distribution import ShownCuts
from shuffledp.page.markup import Markup
from shuffledp.page.searching import ShownWords
from shuffledp.page.shown_answer import ShownAnswer
from shuffledp.protocols.tasks import (
    CountingTask,
    CountTask,
    CrosstabTask,
    MeanTask,
    QuantileTask,
    TopTask,
    by_task,
)
from shuffledp.record import Record

__all__ = ["SHOWN_BY_TASK", "answer", "shown_by"]

# A task that is not here is like the nearest one that it derives from.
SHOWN_BY_TASK: dict[type, ShownAnswer] = {
    CountingTask: ShownValues(),
    CountTask: ShownValue(),
    CrosstabTask: ShownCells(),
    MeanTask: ShownNumber(),
    QuantileTask: ShownCuts(),
    TopTask: ShownWords(),
}


def shown_by(record: Record) -> ShownAnswer:
    """How this release's answer is shown."""
    return by_task(SHOWN_BY_TASK, record.design.task)


def answer(record: Record) -> Markup:
    """The section of the page that has the answer."""
    return shown_by(record).section(record)
