"""What the votes of a release tell, task by task: which randomizers answer it, what is estimated
and how, and what else is told beside the estimates.

told_answer  what is checked of the estimates of any task
told_values  histogram, count, crosstab
told_number  mean, sum
told_cuts    quantile
told_words   top

A task that derives from one of these needs nothing; one of its own kind, a module and a line in
``TOLD``.
"""

from shuffledp.protocols.tasks import (
    CountingTask,
    CountTask,
    CrosstabTask,
    MeanTask,
    QuantileTask,
    SumTask,
    TopTask,
    by_task,
)
from shuffledp.record import Designed
from shuffledp.verify.by_task.told_answer import LOOSER, Measure, Told, places_of, tails_of
from shuffledp.verify.by_task.told_cuts import ToldCuts
from shuffledp.verify.by_task.told_number import ToldMean, ToldSum
from shuffledp.verify.by_task.told_values import ToldCells, ToldValue, ToldValues
from shuffledp.verify.by_task.told_words import ToldWords

__all__ = ["LOOSER", "TOLD", "Measure", "Told", "places_of", "tails_of", "told_by"]

# A task that is not here is like the nearest one that it derives from.
TOLD: dict[type, Told] = {
    CountingTask: ToldValues(),
    CountTask: ToldValue(),
    CrosstabTask: ToldCells(),
    MeanTask: ToldMean(),
    SumTask: ToldSum(),
    QuantileTask: ToldCuts(),
    TopTask: ToldWords(),
}


def told_by(design: Designed) -> Told:
    """What a release of this design tells."""
    return by_task(TOLD, design.task)
