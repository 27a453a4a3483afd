"""What a sum takes, on the command line and as ``sdp.sum``: what a mean does."""

from typing import TYPE_CHECKING, Any, Unpack

from shuffledp.questions.mean.options import Options, requested
from shuffledp.release.options import keywords

if TYPE_CHECKING:
    from shuffledp.release.released import Release
    from shuffledp.release.request import Request
    from shuffledp.sampling import Rng

__all__ = ["Options", "request", "sum"]


def request(rows: dict[str, Any], column: object, given: dict[str, Any]) -> "Request":
    """The sum of a column that the options describe."""
    from shuffledp.questions.sum.question import SumQuestion

    return requested(SumQuestion(lower=given["lower"], upper=given["upper"]), rows, column, given)


@keywords(Options)
def sum(data: object, column: str | None = None, *, rng: "Rng" = None, **given: Unpack[Options]) -> "Release":
    """The sum of a number that people hold: everything is as for ``mean``.

    >>> hours = sum(
    ...     [30.0, 40.0] * 2000, lower=0, upper=60, messages=12, epsilon=1.0, delta=1e-6
    ... )
    >>> (row,) = hours.estimates
    >>> abs(row.estimate - 140_000) < 10 * row.stderr, row.stderr < 100
    (True, True)
    """
    from shuffledp.release.pipeline import answered

    return answered("sum", data, column, given, rng)
