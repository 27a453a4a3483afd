"""How many people hold each of the values of a column, or one of them."""

from __future__ import annotations

from typing import Any, Unpack

from shuffledp.errors import Argument, InvalidInput, Refusal
from shuffledp.release.answered import answered
from shuffledp.release.arguments import categories_of, column_name, hiding_of, label_text
from shuffledp.release.central_questions import CountRequest
from shuffledp.release.options import CountOptions, HistogramOptions, keywords
from shuffledp.release.released import Release
from shuffledp.release.request import Request
from shuffledp.sampling import Rng

__all__ = ["count", "histogram"]


def _histogram(read: dict[str, Any], column: object, given: dict[str, Any]) -> Request:
    return Request(
        question="histogram",
        **read,
        column=column_name("column", column),
        title=given["title"],
        categories=categories_of(given["categories"], other=given["other"], missing=given["missing"]),
        hiding=hiding_of("histogram", given),
    )


@keywords(HistogramOptions, _histogram)
def histogram(
    data: object, column: str | None = None, *, rng: Rng = None, **given: Unpack[HistogramOptions]
) -> Release:
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
    many, "hadamard", whose reports are short, "hash", or "subset" and "oue", which err least (see
    ``Histogram``); "fakes", random values that people send beside their own, in ``slots`` messages;
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
    return answered(_histogram, data, column, given, rng)


def _count(read: dict[str, Any], column: object, given: dict[str, Any]) -> Request:
    if given["categories"] is None and given["other"] is not None:
        remedy = "Without them every other value is else."
        raise InvalidInput(Refusal((Argument("other"), " must come with ", Argument("categories")), "none", remedy))
    listed = given["categories"]
    return CountRequest(
        **read,
        column=column_name("column", column),
        title=given["title"],
        value=label_text(given["value"]),
        listed=None if listed is None else categories_of(listed, other=given["other"], missing=None),
        messages=given.get("messages"),
        error=given["error"],
    )


@keywords(CountOptions, _count)
def count(data: object, column: str | None = None, *, rng: Rng = None, **given: Unpack[CountOptions]) -> Release:
    """How many people hold ``value``, as accurately as a curator would tell (see ``Signed``).

    Each person sends some twenty messages, most of them blank; ``messages`` is how many there may
    be at most, and ``error`` a standard error to stay below. All must be sealed to the analyst.
    With ``categories``, values outside that list are refused, or count as ``other``; without them,
    a ``value`` that no row holds is refused. Everything else is as for ``histogram``.

    >>> yes = count(["yes"] * 700 + ["no"] * 300, value="yes", epsilon=1.0, delta=1e-6)
    >>> (row,) = yes.estimates
    >>> abs(row.estimate - 700) < 10 * row.stderr, row.stderr < 1.6
    (True, True)
    """
    return answered(_count, data, column, given, rng)
