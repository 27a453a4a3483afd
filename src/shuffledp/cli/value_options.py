"""The options of which answers count: categories, bounds, or bins."""

from typing import Annotated

from shuffledp.cli.numbers import read_count, read_number, read_numbers, read_range
from shuffledp.cli.options import QUESTION, flag, number
from shuffledp.cli.sharing import option
from shuffledp.cli.table_options import TABLE
from shuffledp.release.terms import Bins, given_bins

__all__ = [
    "BINNED",
    "BIN_OPTIONS",
    "BOUND_OPTIONS",
    "CATEGORY_OPTIONS",
    "HIDING",
    "LISTS",
    "Clipping",
    "LowerBound",
    "MissingName",
    "UpperBound",
    "binned",
]

CATEGORY_OPTIONS = [
    option("categories", TABLE, "A file with one category per line, or a list such as yes,no.", metavar="FILE|LIST"),
    option("domain", TABLE, "The number of categories, if they are 0, 1, 2, and so on.", parser=read_count),
    option("other", TABLE, "Count all other values as this category; if left out, they are refused.", metavar="NAME"),
    option(
        "missing",
        TABLE,
        "Count missing values as this category; if left out, those rows do not take part.",
        metavar="NAME",
    ),
]
HIDING = option(
    "mechanism",
    QUESTION,
    "How answers are hidden: krr, noise in every report; of a histogram also hadamard, hash, subset or oue, for very "
    "many categories; fakes, that people send; or dummies, that the shuffler adds. If left out, krr, which asks for "
    "the least trust.",
    default="krr",
    metavar="NAME",
)
LISTS = option(
    "categories",
    TABLE,
    "A file with one category per line, or a list such as yes,no; for a crosstab once for each column.",
    annotation=list[str],
    metavar="FILE|LIST",
)
BOUND_OPTIONS = [
    option("lower", TABLE, "The smallest possible value, known without the data.", parser=read_number),
    option("upper", TABLE, "The largest possible value, known without the data.", parser=read_number),
]
BIN_OPTIONS = [
    option(
        "bins",
        TABLE,
        "How many bins to cut the range into; if left out 64, or one for each whole number of a short range.",
        parser=read_count,
        metavar="N",
    ),
    option("scale", TABLE, "linear, or log: bins that grow with the value, as incomes want them.", metavar="NAME"),
    option("cuts", TABLE, "Every cut point instead, such as 0,1000,2000,5000.", metavar="LIST"),
    option("at", QUESTION, "The quantiles to ask for; 0.5 is the median.", default="0.5", metavar="LIST"),
    option(
        "ranges",
        QUESTION,
        "How many people are from one cut point to below another, such as 18:65; may be repeated.",
        annotation=list[str],
        flag="range",
        metavar="LOW:HIGH",
    ),
]
BINNED = ("bins", "scale", "cuts", "at", "ranges")
# Of a question that is settled before there is a table.
LowerBound = Annotated[float | None, number("lower", TABLE, "For a mean or quantiles: the smallest possible value.")]
UpperBound = Annotated[float | None, number("upper", TABLE, "For a mean or quantiles: the largest possible value.")]
MissingName = Annotated[str | None, flag("missing", TABLE, "Count missing values as this category.", metavar="NAME")]
Clipping = Annotated[bool, flag("clip", TABLE, "For a mean: move values outside the range to the nearest bound.")]


def binned(
    *,
    lower: float | None,
    upper: float | None,
    bins: int | None,
    scale: str | None,
    cuts: str | None,
    at: str | None,
    ranges: list[str] | None,
) -> Bins:
    """The bins, quantiles and ranges as they are typed."""
    return given_bins(
        lower=lower,
        upper=upper,
        bins=bins,
        scale=scale,
        cuts=None if cuts is None else read_numbers("--cuts", cuts),
        at=(0.5,) if at is None else read_numbers("--at", at),
        ranges=[read_range(each) for each in ranges or []],
    )
