"""What a release has of its own, question by question: its labels, and what is told beside the
estimates.

released_answer  what every question has
released_values  histogram, count, crosstab, top
released_number  mean, sum
released_cuts    quantile

A question that derives from one of these needs nothing; one of its own kind, a module and a line in
``RELEASED``.
"""

from shuffledp.questions.question import by_kind
from shuffledp.release.by_task.released_answer import LEVEL, ReleasedAnswer
from shuffledp.release.by_task.released_cuts import ReleasedCuts
from shuffledp.release.by_task.released_number import ReleasedMean, ReleasedSum
from shuffledp.release.by_task.released_values import ReleasedCells, ReleasedValues

__all__ = ["LEVEL", "RELEASED", "ReleasedAnswer", "released_by"]

# A question that is not here is like the nearest one that it derives from.
RELEASED: dict[str, ReleasedAnswer] = {
    "histogram": ReleasedValues(),
    "count": ReleasedValues(),
    "crosstab": ReleasedCells(),
    "mean": ReleasedMean(),
    "sum": ReleasedSum(),
    "quantile": ReleasedCuts(),
    "top": ReleasedValues(),
}


def released_by(question: str) -> ReleasedAnswer:
    """What a release of the question of this name has of its own."""
    return by_kind(RELEASED, question)
