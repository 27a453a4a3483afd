"""What a histogram takes, on the command line and as ``sdp.histogram``."""

from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from shuffledp.errors import Argument, InvalidInput, Refusal
from shuffledp.release import options as shared
from shuffledp.release.options import LISTS, QUESTION, Listed, Option, keywords

if TYPE_CHECKING:
    from shuffledp.release.released import Release
    from shuffledp.release.request import Request
    from shuffledp.sampling import Rng


class Listing(TypedDict, total=False):
    """The values there are."""

    categories: Annotated[
        Listed | None,
        Option(f"{LISTS}.", kind="text", metavar="FILE|LIST", example="yes,no", instead=()),
    ]


class Mechanism(TypedDict, total=False):
    """How answers are hidden, long lists of values too."""

    mechanism: Annotated[
        str,
        Option(
            "How reports hide answers: krr; hadamard, hash, subset or oue for long lists; fakes or dummies, which need "
            "more trust.",
            QUESTION,
            "krr",
        ),
    ]


class Options(
    Listing,
    shared.Other,
    shared.Missing,
    shared.Noise,
    shared.Common,
    shared.Texts,
    shared.Titled,
    Mechanism,
    shared.Choices,
    total=False,
):
    """How many people have each value."""


def request(rows: dict[str, Any], column: object, given: dict[str, Any]) -> "Request":
    """The histogram of a column that the options describe."""
    from shuffledp.questions.histogram.question import HistogramQuestion
    from shuffledp.release.arguments import column_name, hiding_of
    from shuffledp.release.categories import categories_of
    from shuffledp.release.request import Request

    listed = categories_of(given["categories"], other=given["other"], missing=given["missing"])
    hiding = hiding_of("histogram", given)
    if hiding and shared.by_noise(given):
        work = " work for histograms by krr, and for sums and means of one message"
        rule, got = (Argument("gamma"), " and ", Argument("epsilon0"), work), Argument("mechanism", given["mechanism"])
        raise InvalidInput(Refusal(rule, got, ("Use ", Argument("epsilon"), ".")))
    return Request(
        question=HistogramQuestion(categories=listed.checked(), other=listed.other),
        column=column_name("column", column),
        missing=listed.missing,
        origins=(listed.origin,),
        hiding=hiding,
        **rows,
    )


@keywords(Options)
def histogram(data: object, column: str | None = None, *, rng: "Rng" = None, **given: Unpack[Options]) -> "Release":
    """How many people hold each category, with a certified (epsilon, delta).

    ``data`` is the path of a CSV, Parquet or Arrow file, a pandas or polars DataFrame or Series, an
    Arrow table or array, a NumPy array or a list, with one row or value for each person; a table
    with several columns needs a ``column``. ``categories`` is a list, the path of a file with one
    category per line, or a number k for 0, ..., k - 1; it must not come from the data. Values
    that are not listed count as ``other``, and missing ones as ``missing``; without these, the
    former are refused and the latter left out.

    The promise holds as long as ``honest`` of the people, a number or a share such as 0.9, follow
    the protocol. With a ``ledger``, a file, the release is
    charged to the budget of its ``population`` before anything is shown, or refused; the first
    release about them sets the limits. ``ids`` names the column that says whose row it is; without
    it, a column that is named like an id and repeats is refused unless ``one_row_per_person`` is
    said. ``rng`` is for tests: anyone who knows its seed knows the noise.

    ``mechanism`` is how answers are hidden: "krr", noise in every report; where categories are very
    many, "hadamard", whose reports are short, "hash", or "subset" and "oue", which err least;
    "fakes", random values that people send beside their own, in ``slots`` messages;
    or "dummies", which the shuffler adds, after it has handed on each message with probability
    ``kept``. Fakes and dummies need more trust, and err less where values are many or frequent;
    ``kind`` is the law of the fakes, and ``light_epsilon0`` has true values randomized a little as
    well.

    In place of ``epsilon`` the noise may be given, as in Balle et al. 2019: ``gamma``, the
    probability that a report is uniformly random, or ``epsilon0`` of one report. Then the epsilon
    that is certified of it is what is promised.

    >>> answers = ["tea"] * 600 + ["coffee"] * 400
    >>> drinks = histogram(
    ...     answers, categories=["tea", "coffee", "water"], epsilon=1.0, delta=1e-6
    ... )
    >>> row = drinks.estimates["tea"]
    >>> abs(row.estimate - 600) < 6 * row.stderr, drinks.certificate.epsilon.upper <= 1.0
    (True, True)
    >>> pages = histogram(
    ...     [7] * 3000 + [8] * 2000,
    ...     categories=500,
    ...     mechanism="hadamard",
    ...     epsilon=1.0,
    ...     delta=1e-6,
    ... )
    >>> len(pages.estimates), max(pages.estimates, key=lambda row: row.estimate).label
    (500, '7')
    """
    from shuffledp.release.pipeline import answered

    return answered("histogram", data, column, given, rng)
