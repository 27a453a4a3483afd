"""What quantiles take, on the command line and as ``sdp.quantile``."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from shuffledp.errors import Argument, InvalidInput, Refusal, joined
from shuffledp.release import options as shared
from shuffledp.release.options import QUESTION, Option, keywords
from shuffledp.schema import Scale

if TYPE_CHECKING:
    from shuffledp.release.released import Release
    from shuffledp.release.request import Request
    from shuffledp.sampling import Rng


class Cut(TypedDict, total=False):
    """The bins, and what is asked of them."""

    lower: Annotated[float | None, Option("Smallest possible value, known without the data.")]
    upper: Annotated[float | None, Option("Largest possible value, known without the data.")]
    bins: Annotated[
        int | None,
        Option("Number of bins. If left out, 64, or one for each whole number of a short range.", metavar="N"),
    ]
    spacing: Annotated[Scale | None, Option("linear, or log: bins that grow with the value, for example for incomes.")]
    cuts: Annotated[
        Iterable[float] | None,
        Option("All cut points, such as 0,1000,2000,5000, instead of a range.", kind="numbers", metavar="LIST"),
    ]
    at: Annotated[
        float | Iterable[float],
        Option("Quantiles to estimate; 0.5 is the median.", QUESTION, 0.5, kind="numbers", metavar="LIST"),
    ]
    ranges: Annotated[
        Iterable[tuple[float, float]],
        Option(
            "Count the people from one cut point to below another, such as 18:65. May be repeated.",
            QUESTION,
            (),
            kind="ranges",
            metavar="LOW:HIGH",
        ),
    ]
    clip: Annotated[
        bool, Option("Count values outside the range in its first or last bin. If left out, they are refused.")
    ]


class Options(
    Cut, shared.Epsilon, shared.Common, shared.Figures, shared.Titled, shared.Mechanism, shared.Choices, total=False
):
    """How a number is distributed."""


def request(rows: dict[str, Any], column: object, given: dict[str, Any]) -> "Request":
    """The quantiles of a column that the options describe."""
    from shuffledp.questions.quantile.question import QuantileQuestion
    from shuffledp.release.arguments import column_name, hiding_of
    from shuffledp.release.request import Request

    at = given["at"]
    listed = [at] if isinstance(at, (int, float)) else at
    question = QuantileQuestion.of(cuts=_cuts(given), at=listed, ranges=given["ranges"])
    return Request(
        question=question,
        column=column_name("column", column),
        clip=given["clip"],
        hiding=hiding_of("quantile", given),
        **rows,
    )


def _cuts(given: dict[str, Any]) -> Iterable[float]:
    """The cut points as options give them: a range and how many bins, or every one of them."""
    from shuffledp.questions.quantile.cuts import cut_points

    counted = [Argument(name) for name in ("lower", "upper", "bins", "spacing") if given[name] is not None]
    if given["cuts"] is not None:
        if counted:
            largest = "The cut points begin with the smallest possible value and end with the largest."
            got = joined([Argument("cuts"), *counted])
            raise InvalidInput(Refusal("the bins must be given in one way", got, largest))
        cuts: Iterable[float] = given["cuts"]
        return cuts
    if given["lower"] is None or given["upper"] is None:
        both, every = (Argument("lower"), " and ", Argument("upper")), Argument("cuts", (0, 1000, 2000, 5000))
        remedy = ("Add ", both, ", known without the data, or list all cut points: ", every, ".")
        raise InvalidInput(Refusal("the range must be given", "none", remedy))
    spacing: Scale = "linear" if given["spacing"] is None else given["spacing"]
    return cut_points(given["lower"], given["upper"], bins=given["bins"], spacing=spacing)


@keywords(Options)
def quantile(data: object, column: str | None = None, *, rng: "Rng" = None, **given: Unpack[Options]) -> "Release":
    """The quantiles ``at`` of a number that people hold, the median if left out, and how many
    people are below each cut point and in each of the ``ranges``, which are pairs of cut points.

    The bins between cut points must not come from the data: ``bins`` of them from ``lower`` to
    ``upper``, with ``spacing="log"`` or without, or every one of the ``cuts``. Numbers outside are
    refused, or with ``clip`` counted in the first or the last bin. ``record.table("quantiles")`` of
    the release has the quantiles; everything else is as for ``histogram``.

    >>> age = quantile(
    ...     [30.0, 40.0] * 2000, lower=0, upper=120, at=0.75, epsilon=1.0, delta=1e-6
    ... )
    >>> found = age.record.table("quantiles")
    >>> found.lower[0] <= 40.0 <= found.upper[0]
    True
    """
    from shuffledp.release.pipeline import answered

    return answered("quantile", data, column, given, rng)
