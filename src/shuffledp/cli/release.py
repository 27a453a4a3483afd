"""The commands histogram, mean, sum, count and quantile: from a table to a folder with a defended
answer.
"""

from typing import Annotated, Any

from shuffledp.cli.answering import answer
from shuffledp.cli.asking import Asking, with_asking, with_binning, with_counting, with_listing
from shuffledp.cli.listing import RUN, app, examples
from shuffledp.cli.options import LOWER, TABLE, UPPER, flag, number

__all__ = ["PROMISED"]

PROMISED = "--epsilon 1 --delta 1e-6"


@app.command(
    "histogram",
    rich_help_panel=RUN,
    epilog=examples(
        f"histogram people.parquet --column city --categories cities.txt {PROMISED} --out result",
        f"histogram survey.csv --column answer --categories yes,no {PROMISED} --dry-run",
        f"histogram visits.parquet --column page --categories pages.txt --mechanism hadamard {PROMISED} --out result",
        "histogram survey.csv --column answer --categories yes,no --gamma 0.25 --delta 1e-6 --out result",
        f"histogram 'visits/*.parquet' --column city --categories cities.txt {PROMISED} --out result --engine spark",
    ),
)
@with_counting
def histogram(asking: Asking) -> None:
    """How many people hold each category: from a table to estimates, a figure and a page."""
    _answer(asking, task="histogram", categories=asking.categories, hiding=asking.hiding)


Lower = Annotated[float, LOWER]
Upper = Annotated[float, UPPER]
Clip = Annotated[
    bool, flag("clip", TABLE, "Move values outside the range to the nearest bound; if left out, they are refused.")
]
Error = Annotated[
    float | None,
    number(
        "error",
        TABLE,
        "The standard error to stay below, with as few messages as will do: several are as accurate as a curator, and "
        "need more trust.",
    ),
]


@app.command(
    "mean",
    rich_help_panel=RUN,
    epilog=examples(
        f"mean people.parquet --column age --lower 0 --upper 120 {PROMISED} --out result",
        f"mean people.parquet --column age --lower 0 --upper 120 {PROMISED} --error 0.1 --out result",
    ),
)
@with_asking
def mean(
    asking: Asking,
    lower: Lower,
    upper: Upper,
    clip: Clip = False,
    error: Error = None,
) -> None:
    """The mean of a number that people hold."""
    _sum(asking, task="mean", lower=lower, upper=upper, clip=clip, error=error)


@app.command(
    "sum",
    rich_help_panel=RUN,
    epilog=examples(
        f"sum people.parquet --column hours --lower 0 --upper 60 {PROMISED} --error 500 --out result",
        "sum people.parquet --column hours --lower 0 --upper 60 --k 6 --gamma 0.1 --delta 1e-6 --out result",
    ),
)
@with_asking
def sum_(
    asking: Asking,
    lower: Lower,
    upper: Upper,
    clip: Clip = False,
    error: Error = None,
) -> None:
    """The sum of a number that people hold."""
    _sum(asking, task="sum", lower=lower, upper=upper, clip=clip, error=error)


@app.command(
    "count",
    rich_help_panel=RUN,
    epilog=examples(
        f"count survey.csv --column answer --value yes {PROMISED} --out result",
        f"count survey.csv --column answer --value yes --categories yes,no {PROMISED} --out result",
    ),
)
@with_listing
def count(
    asking: Asking,
    value: Annotated[str, flag("value", TABLE, "The value to count; all others are else.", metavar="NAME")],
    error: Error = None,
) -> None:
    """How many people hold one value, as accurately as a trusted curator would tell."""
    from shuffledp.release.central_questions import CountQuestion

    answer(asking, CountQuestion, value=value, listed=asking.categories, error=error)


def _sum(asking: Asking, **asked: Any) -> None:
    from shuffledp.release.central_questions import SumQuestion

    answer(asking, SumQuestion, **asked)


@app.command(
    "quantile",
    rich_help_panel=RUN,
    epilog=examples(
        f"quantile people.parquet --column age --lower 0 --upper 120 --at 0.1,0.5,0.9 {PROMISED} --out result",
        f"quantile people.parquet --column age --lower 0 --upper 120 --range 18:65 {PROMISED} --out result",
        f"quantile pay.csv --column income --lower 100 --upper 1e7 --scale log --clip {PROMISED} --out result",
    ),
)
@with_binning
def quantile(
    asking: Asking,
    clip: Annotated[
        bool,
        flag("clip", TABLE, "Count values outside the range in its first or last bin; if left out, they are refused."),
    ] = False,
) -> None:
    """The median and other quantiles of a number that people hold, and how many lie in a range."""
    _answer(asking, task="quantile", bins=asking.bins, clip=clip, hiding=asking.hiding)


def _answer(asking: Asking, **asked: Any) -> None:
    from shuffledp.release.question import Question

    answer(asking, Question, **asked)
