"""How many people hold each of the values of a column, or one of them."""

from __future__ import annotations

from collections.abc import Iterable

from shuffledp.release.answered import answered
from shuffledp.release.arguments import (
    Listed,
    PathLike,
    budget_of,
    categories_of,
    label_text,
    promised,
    reading,
    text_cleaning,
)
from shuffledp.release.central_questions import CountQuestion
from shuffledp.release.question import Question
from shuffledp.release.released import Release
from shuffledp.release.terms import Hiding
from shuffledp.sampling import Rng
from shuffledp.tables import Keep
from shuffledp.tables.formats import Format

__all__ = ["count", "histogram"]


def histogram(
    data: object,
    column: str | None = None,
    *,
    categories: Listed | None = None,
    epsilon: float | None = None,
    delta: float,
    gamma: float | None = None,
    epsilon0: float | None = None,
    rounds: int = 1,
    honest: float | None = None,
    ledger: PathLike | None = None,
    population: str | None = None,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    other: str | None = None,
    missing: str | None = None,
    strip: bool = False,
    ignore_case: bool = False,
    na: str | Iterable[str] = (),
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
    """How many people hold each category, with a certified (epsilon, delta).

    ``data`` is the path of a CSV, Parquet or Arrow file, a pandas or polars DataFrame or Series, an
    Arrow table or array, a NumPy array or a list, with one row or value for each person; a table
    with several columns needs a ``column``. ``categories`` is a list, the path of a file with one
    category per line, or a number k for 0, ..., k - 1; it must not come from the data. Values
    that are not listed count as ``other``, and missing ones as ``missing``; without these, the
    former are refused and the latter left out.

    The promise holds as long as ``honest`` of the people, a number or a share such as 0.9, follow
    the protocol; it is ``--honest`` on the command line. With a ``ledger``, a file, the release is
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
    known = categories_of(categories, other=other, missing=missing)
    question = Question(
        task="histogram",
        **reading(data, column, ids=ids, keep=keep, alone=one_row_per_person, format=format, encoding=encoding),
        title=title,
        categories=known,
        cleaning=text_cleaning(strip, ignore_case, na),
        hiding=Hiding("histogram", mechanism, slots=slots, kept=kept, kind=kind, light_epsilon0=light_epsilon0),
    )
    promise = promised(epsilon, delta, rounds, honest, gamma=gamma, epsilon0=epsilon0)
    return answered(question, promise, budget_of(ledger, population, limit_epsilon, limit_delta), rng)


def count(
    data: object,
    column: str | None = None,
    *,
    value: object,
    categories: PathLike | Iterable[object] | None = None,
    other: str | None = None,
    epsilon: float,
    delta: float,
    rounds: int = 1,
    honest: float | None = None,
    ledger: PathLike | None = None,
    population: str | None = None,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    strip: bool = False,
    ignore_case: bool = False,
    na: str | Iterable[str] = (),
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
    """How many people hold ``value``, as accurately as a curator would tell (see ``SignedCount``).

    Each person sends some twenty messages, most of them blank; ``messages`` is how many there may
    be at most, and ``error`` a standard error to stay below. All must be sealed to the analyst.
    With ``categories``, values outside that list are refused, or count as ``other``; without them,
    a ``value`` that no row holds is refused. Everything else is as for ``histogram``.

    >>> yes = count(["yes"] * 700 + ["no"] * 300, value="yes", epsilon=1.0, delta=1e-6)
    >>> (row,) = yes.estimates
    >>> abs(row.estimate - 700) < 10 * row.stderr, row.stderr < 1.6
    (True, True)
    """
    question = CountQuestion(
        **reading(data, column, ids=ids, keep=keep, alone=one_row_per_person, format=format, encoding=encoding),
        title=title,
        value=label_text(value),
        listed=None if categories is None else categories_of(categories, other=other, missing=None),
        cleaning=text_cleaning(strip, ignore_case, na),
        messages=messages,
        error=error,
    )
    promise = promised(epsilon, delta, rounds, honest)
    return answered(question, promise, budget_of(ledger, population, limit_epsilon, limit_delta), rng)
