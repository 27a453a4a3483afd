"""What the votes of a release tell, task by task: which randomizers answer it, what is estimated
and how, and what else is told beside the estimates.

answer_kind  what is checked of the estimates of any task
told_values  histogram, frequency, count, crosstab
told_number  mean, sum
told_cuts    quantile
told_words   top

A task of a kind that is here needs a line in ``TOLD``; one of its own, a room beside the others.
"""

from shuffledp.collection.record import Designed
from shuffledp.collection.verify.by_task.answer_kind import LOOSER, AnswerKind, Measure, places_of, tails_of
from shuffledp.collection.verify.by_task.told_cuts import Cuts
from shuffledp.collection.verify.by_task.told_number import MeanNumber, SumNumber
from shuffledp.collection.verify.by_task.told_values import Cells, OneValue, Values
from shuffledp.collection.verify.by_task.told_words import Words

__all__ = ["LOOSER", "TOLD", "AnswerKind", "Measure", "places_of", "tails_of", "told_by"]

TOLD: dict[str, AnswerKind] = {
    "histogram": Values(),
    "frequency": Values(),
    "count": OneValue(),
    "crosstab": Cells(),
    "mean": MeanNumber(),
    "sum": SumNumber(),
    "quantile": Cuts(),
    "top": Words(),
}


def told_by(design: Designed) -> AnswerKind:
    """What a release of this design tells."""
    return TOLD[design.task]
