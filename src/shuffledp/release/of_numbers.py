"""What numbers people hold: their mean, their sum, and how they are distributed."""

from __future__ import annotations

from collections.abc import Iterable

from shuffledp.protocols.binning import Scale
from shuffledp.protocols.categories import as_list
from shuffledp.release.answered import answered
from shuffledp.release.arguments import (
    PathLike,
    budget_of,
    cut_pair,
    finite_number,
    finite_numbers,
    number_cleaning,
    promised,
    reading,
    switch,
)
from shuffledp.release.central_questions import SumQuestion
from shuffledp.release.question import Question
from shuffledp.release.released import Release
from shuffledp.release.terms import Hiding, given_bins
from shuffledp.sampling import Rng
from shuffledp.tables import Keep
from shuffledp.tables.formats import Format

__all__ = ["mean", "quantile", "sum"]


def mean(
    data: object,
    column: str | None = None,
    *,
    lower: float,
    upper: float,
    clip: bool = False,
    epsilon: float | None = None,
    delta: float,
    gamma: float | None = None,
    epsilon0: float | None = None,
    k: int | None = None,
    rounds: int = 1,
    honest: float | None = None,
    ledger: PathLike | None = None,
    population: str | None = None,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    na: str | Iterable[str] = (),
    decimal: str = ".",
    thousands: str | None = None,
    ids: str | None = None,
    keep: Keep | None = None,
    one_row_per_person: bool = False,
    format: Format | None = None,
    encoding: str | None = None,
    title: str | None = None,
    messages: int | None = None,
    error: float | None = None,
    rng: Rng = None,
) -> Release:
    """The mean of a number that people hold, from ``lower`` to ``upper``: bounds that must not come
    from the data.

    Numbers outside are refused, or with ``clip`` moved to the nearest bound; missing ones are left
    out. Everything else is as for ``histogram``.

    Each person sends one message, unless more ``messages`` are allowed, or a standard ``error`` is
    asked for that takes several: those are shares, which say nothing one by one (see
    ``SplitMean``), and the answer is as accurate as a curator's. They need more trust: all messages
    must be sealed to the analyst, and one malicious person can move the answer anywhere.

    ``gamma`` or ``epsilon0`` may stand in place of ``epsilon``, as for ``histogram``, with ``k``:
    the steps of the grid that numbers are rounded to (Balle et al. 2019, Algorithms 2 and 3).

    >>> age = mean([30.0, 40.0] * 2000, lower=0, upper=120, epsilon=1.0, delta=1e-6)
    >>> (row,) = age.estimates
    >>> abs(row.estimate - 35.0) < 6 * row.stderr
    True
    """
    question = SumQuestion(
        task="mean",
        **reading(data, column, ids=ids, keep=keep, alone=one_row_per_person, format=format, encoding=encoding),
        title=title,
        lower=lower,
        upper=upper,
        clip=switch("clip", clip),
        cleaning=number_cleaning(na, decimal, thousands),
        messages=messages,
        error=error,
    )
    promise = promised(epsilon, delta, rounds, honest, gamma=gamma, epsilon0=epsilon0, k=k)
    return answered(question, promise, budget_of(ledger, population, limit_epsilon, limit_delta), rng)


def sum(
    data: object,
    column: str | None = None,
    *,
    lower: float,
    upper: float,
    clip: bool = False,
    epsilon: float | None = None,
    delta: float,
    gamma: float | None = None,
    epsilon0: float | None = None,
    k: int | None = None,
    rounds: int = 1,
    honest: float | None = None,
    ledger: PathLike | None = None,
    population: str | None = None,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    na: str | Iterable[str] = (),
    decimal: str = ".",
    thousands: str | None = None,
    ids: str | None = None,
    keep: Keep | None = None,
    one_row_per_person: bool = False,
    format: Format | None = None,
    encoding: str | None = None,
    title: str | None = None,
    messages: int | None = None,
    error: float | None = None,
    rng: Rng = None,
) -> Release:
    """The sum of a number that people hold: everything is as for ``mean``.

    >>> hours = sum(
    ...     [30.0, 40.0] * 2000, lower=0, upper=60, messages=12, epsilon=1.0, delta=1e-6
    ... )
    >>> (row,) = hours.estimates
    >>> abs(row.estimate - 140_000) < 10 * row.stderr, row.stderr < 100
    (True, True)
    """
    question = SumQuestion(
        task="sum",
        **reading(data, column, ids=ids, keep=keep, alone=one_row_per_person, format=format, encoding=encoding),
        title=title,
        lower=lower,
        upper=upper,
        clip=switch("clip", clip),
        cleaning=number_cleaning(na, decimal, thousands),
        messages=messages,
        error=error,
    )
    promise = promised(epsilon, delta, rounds, honest, gamma=gamma, epsilon0=epsilon0, k=k)
    return answered(question, promise, budget_of(ledger, population, limit_epsilon, limit_delta), rng)


def quantile(
    data: object,
    column: str | None = None,
    *,
    lower: float | None = None,
    upper: float | None = None,
    bins: int | None = None,
    scale: Scale | None = None,
    cuts: Iterable[float] | None = None,
    at: float | Iterable[float] = 0.5,
    ranges: Iterable[tuple[float, float]] = (),
    clip: bool = False,
    epsilon: float,
    delta: float,
    rounds: int = 1,
    honest: float | None = None,
    ledger: PathLike | None = None,
    population: str | None = None,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    na: str | Iterable[str] = (),
    decimal: str = ".",
    thousands: str | None = None,
    ids: str | None = None,
    keep: Keep | None = None,
    one_row_per_person: bool = False,
    format: Format | None = None,
    encoding: str | None = None,
    title: str | None = None,
    mechanism: str = "krr",
    slots: int | None = None,
    kept: float | None = None,
    kind: str | None = None,
    light_epsilon0: float | None = None,
    rng: Rng = None,
) -> Release:
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
    known = given_bins(
        lower=finite_number("lower", lower),
        upper=finite_number("upper", upper),
        bins=bins,
        scale=scale,
        cuts=None if cuts is None else finite_numbers("cuts", cuts),
        at=finite_numbers("at", [at] if isinstance(at, (int, float)) else at),
        ranges=[cut_pair(each) for each in as_list("ranges", ranges, remedy="Pass a list of pairs of cut points.")],
    )
    question = Question(
        task="quantile",
        **reading(data, column, ids=ids, keep=keep, alone=one_row_per_person, format=format, encoding=encoding),
        title=title,
        bins=known,
        clip=switch("clip", clip),
        cleaning=number_cleaning(na, decimal, thousands),
        hiding=Hiding("quantile", mechanism, slots=slots, kept=kept, kind=kind, light_epsilon0=light_epsilon0),
    )
    promise = promised(epsilon, delta, rounds, honest)
    return answered(question, promise, budget_of(ledger, population, limit_epsilon, limit_delta), rng)
