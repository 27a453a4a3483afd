"""What numbers people hold: their mean, their sum, and how they are distributed."""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

from shuffledp.domain import as_list
from shuffledp.release.answered import answered
from shuffledp.release.arguments import column_name, cut_pair, finite_numbers, given_bins, hiding_of
from shuffledp.release.central_questions import SumRequest
from shuffledp.release.options import MeanOptions, QuantileOptions, keywords
from shuffledp.release.released import Release
from shuffledp.release.request import Request
from shuffledp.sampling import Rng

__all__ = ["mean", "quantile", "sum"]

SUMMED = ("title", "lower", "upper", "clip", "messages", "error")


def _added(read: dict[str, Any], column: object, given: dict[str, Any], *, asks: str) -> Request:
    own = {name: given[name] for name in SUMMED}
    return SumRequest(question=asks, **read, column=column_name("column", column), **own)


_mean, _sum = partial(_added, asks="mean"), partial(_added, asks="sum")


@keywords(MeanOptions, _mean)
def mean(data: object, column: str | None = None, *, rng: Rng = None, **given: Unpack[MeanOptions]) -> Release:
    """The mean of a number that people hold, from ``lower`` to ``upper``: bounds that must not come
    from the data.

    Numbers outside are refused, or with ``clip`` moved to the nearest bound; missing ones are left
    out. Everything else is as for ``histogram``.

    Each person sends one message, unless more ``messages`` are allowed, or a standard ``error`` is
    asked for that takes several: those are shares, which say nothing one by one (see
    ``Split``), and the answer is as accurate as a curator's. They need more trust: all messages
    must be sealed to the analyst, and one malicious person can move the answer anywhere.

    ``gamma`` or ``epsilon0`` may stand in place of ``epsilon``, as for ``histogram``, with ``k``:
    the steps of the grid that numbers are rounded to (Balle et al. 2019, Algorithms 2 and 3).

    >>> age = mean([30.0, 40.0] * 2000, lower=0, upper=120, epsilon=1.0, delta=1e-6)
    >>> (row,) = age.estimates
    >>> abs(row.estimate - 35.0) < 6 * row.stderr
    True
    """
    return answered(_mean, data, column, given, rng)


@keywords(MeanOptions, _sum)
def sum(data: object, column: str | None = None, *, rng: Rng = None, **given: Unpack[MeanOptions]) -> Release:
    """The sum of a number that people hold: everything is as for ``mean``.

    >>> hours = sum(
    ...     [30.0, 40.0] * 2000, lower=0, upper=60, messages=12, epsilon=1.0, delta=1e-6
    ... )
    >>> (row,) = hours.estimates
    >>> abs(row.estimate - 140_000) < 10 * row.stderr, row.stderr < 100
    (True, True)
    """
    return answered(_sum, data, column, given, rng)


def _quantile(read: dict[str, Any], column: object, given: dict[str, Any]) -> Request:
    at, cuts, ranges = given["at"], given["cuts"], given["ranges"]
    known = given_bins(
        **{name: given[name] for name in ("lower", "upper", "bins", "scale")},
        cuts=None if cuts is None else finite_numbers("cuts", cuts),
        at=finite_numbers("at", [at] if isinstance(at, (int, float)) else at),
        ranges=[cut_pair(each) for each in as_list("ranges", ranges, remedy="Pass a list of pairs of cut points.")],
    )
    return Request(
        question="quantile",
        **read,
        column=column_name("column", column),
        title=given["title"],
        bins=known,
        clip=given.get("clip", False),
        hiding=hiding_of("quantile", given),
    )


@keywords(QuantileOptions, _quantile)
def quantile(data: object, column: str | None = None, *, rng: Rng = None, **given: Unpack[QuantileOptions]) -> Release:
    """The quantiles ``at`` of a number that people hold, the median if left out, and how many
    people are below each cut point and in each of the ``ranges``, which are pairs of cut points.

    The bins between cut points must not come from the data: ``bins`` of them from ``lower`` to
    ``upper``, on a ``scale`` that may be "log", or every one of the ``cuts``. Numbers outside are
    refused, or with ``clip`` counted in the first or the last bin. ``record.estimates.quantiles``
    of the release has the quantiles; everything else is as for ``histogram``.

    >>> age = quantile(
    ...     [30.0, 40.0] * 2000, lower=0, upper=120, at=0.75, epsilon=1.0, delta=1e-6
    ... )
    >>> found = age.record.estimates.quantiles
    >>> found.lower[0] <= 40.0 <= found.upper[0]
    True
    """
    return answered(_quantile, data, column, given, rng)
