"""What a release has of its own, task by task: its labels, and what is told beside the estimates.

released_answer  what every task has
released_values  histogram, count, crosstab, top
released_number  mean, sum
released_cuts    quantile

A task that derives from one of these needs nothing; one of its own kind, a module and a line in
``RELEASED``.
"""

from shuffledp.protocols.tasks import (
    CountingTask,
    CrosstabTask,
    MeanTask,
    QuantileTask,
    SumTask,
    TopTask,
    by_task,
)
from shuffledp.release.by_task.released_answer import LEVEL, ReleasedAnswer
from shuffledp.release.by_task.released_cuts import ReleasedCuts
from shuffledp.release.by_task.released_number import ReleasedMean, ReleasedSum
from shuffledp.release.by_task.released_values import ReleasedCells, ReleasedValues

__all__ = ["LEVEL", "RELEASED", "ReleasedAnswer", "released_by"]

# A task that is not here is like the nearest one that it derives from.
RELEASED: dict[type, ReleasedAnswer] = {
    CountingTask: ReleasedValues(),
    CrosstabTask: ReleasedCells(),
    MeanTask: ReleasedMean(),
    SumTask: ReleasedSum(),
    QuantileTask: ReleasedCuts(),
    TopTask: ReleasedValues(),
}


def released_by(task: str) -> ReleasedAnswer:
    """What a release of the task of this name has of its own."""
    return by_task(RELEASED, task)
