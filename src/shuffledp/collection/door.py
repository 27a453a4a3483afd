"""The questions of the command line, asked from Python: values in memory or in a file go in, a
release comes out.

The same code answers both, so what is refused there is refused here, in the same sentence; only
where that names an option, an argument stands (``spoken``). Nothing is written but the ledger,
until somebody saves the release.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shuffledp.collection.arguments import in_python
from shuffledp.collection.release.budget import Budget
from shuffledp.collection.release.central_questions import CountQuestion, SumQuestion
from shuffledp.collection.release.crossed import CrossQuestion, crossed_columns
from shuffledp.collection.release.question import Question
from shuffledp.collection.release.released import Release
from shuffledp.collection.release.stages import release
from shuffledp.collection.release.terms import (
    Categories,
    Hiding,
    Promise,
    given_bins,
    given_categories,
    read_categories,
)
from shuffledp.collection.release.top_question import TopQuestion, read_tokens
from shuffledp.collection.release.top_release import TopRelease, release_search
from shuffledp.collection.tables import Cleaning, Keep
from shuffledp.collection.tables.cleaning import check_encoding
from shuffledp.collection.tables.formats import Format
from shuffledp.collection.tables.memory import VALUES, held_table
from shuffledp.collection.tables.persons import check_keep
from shuffledp.errors import InvalidInput, called_as, check_finite, shown
from shuffledp.protocols.binning import Scale
from shuffledp.protocols.categories import as_list
from shuffledp.protocols.frequency import Method
from shuffledp.protocols.tasks.crossing import per_column
from shuffledp.sampling import Rng

__all__ = ["count", "crosstab", "frequency", "histogram", "mean", "quantile", "sum", "top"]

PathLike = str | os.PathLike[str]
LARGEST_LABEL = 10**18  # of whole numbers as categories
Listed = int | PathLike | Iterable[object]


@called_as('sdp.histogram(frame, "city", categories=["yes", "no"], epsilon=1, delta=1e-6)')
def histogram(
    data: object,
    column: str | None = None,
    *,
    categories: Listed | None = None,
    epsilon: float,
    delta: float,
    rounds: int = 1,
    least: float | None = None,
    ledger: PathLike | None = None,
    population: str | None = None,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    other: str | None = None,
    missing: str | None = None,
    learn_categories: bool = False,
    strip: bool = False,
    ignore_case: bool = False,
    na: str | Iterable[str] = (),
    ids: str | None = None,
    keep: Keep | None = None,
    format: Format | None = None,
    encoding: str | None = None,
    title: str | None = None,
    protocol: str = "krr",
    slots: int | None = None,
    kept: float | None = None,
    kind: str | None = None,
    light_epsilon0: float | None = None,
    rng: Rng = None,
) -> Release:
    """How many people hold each of a few categories, with a certified (epsilon, delta).

    ``data`` is the path of a CSV, Parquet or Arrow file, a pandas or polars DataFrame or Series, an
    Arrow table or array, a NumPy array or a list, with one row or value for each person; a table
    with several columns needs a ``column``. ``categories`` is a list, the path of a file with one
    category per line, or a number k for 0, ..., k - 1; it must not come from the data; to
    take it from there, use ``learn_categories``. Values that are not listed count as ``other``, and
    missing ones as ``missing``; without these, the former are refused and the latter left out.

    The promise holds as long as ``least`` of the people, a number or a share such as 0.9, follow
    the protocol; it is ``--honest`` on the command line. With a ``ledger``, a file, the release is
    charged to the budget of its ``population`` before anything is shown, or refused; the first
    release about them sets the limits. ``ids`` names the column that says whose row it is. ``rng``
    is for tests: anyone who knows its seed knows the noise.

    ``protocol`` is what hides a value: "krr", noise in every report; "fakes", random values that
    people send beside their own, in ``slots`` messages; "dummies", which the shuffler adds, after
    it has handed on each message with probability ``kept``. The latter two need more trust, and err
    less where values are many or frequent; ``kind`` is the law of the fakes, and ``light_epsilon0``
    has true values randomized a little as well.

    >>> answers = ["tea"] * 600 + ["coffee"] * 400
    >>> drinks = histogram(
    ...     answers, categories=["tea", "coffee", "water"], epsilon=1.0, delta=1e-6
    ... )
    >>> row = drinks.estimates["tea"]
    >>> abs(row.estimate - 600) < 6 * row.stderr, drinks.certificate.epsilon.upper <= 1.0
    (True, True)
    """
    with in_python():
        known = _categories(
            categories, learn=_switch("learn_categories", learn_categories), other=other, missing=missing
        )
        question = Question(
            task="histogram",
            **_reading(data, column, ids=ids, keep=keep, format=format, encoding=encoding),
            title=title,
            categories=known,
            cleaning=_cleaning(strip, ignore_case, na),
            hiding=Hiding(protocol=protocol, slots=slots, kept=kept, kind=kind, light_epsilon0=light_epsilon0),
        )
        promise = _promise(epsilon, delta, rounds, least)
        return _answer(question, promise, _budget(ledger, population, limit_epsilon, limit_delta), rng)


@called_as('sdp.frequency(frame, "page", domain=5000, epsilon=1, delta=1e-6)')
def frequency(
    data: object,
    column: str | None = None,
    *,
    domain: Listed | None = None,
    method: Method = "hadamard",
    epsilon: float,
    delta: float,
    rounds: int = 1,
    least: float | None = None,
    ledger: PathLike | None = None,
    population: str | None = None,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    other: str | None = None,
    missing: str | None = None,
    learn_domain: bool = False,
    strip: bool = False,
    ignore_case: bool = False,
    na: str | Iterable[str] = (),
    ids: str | None = None,
    keep: Keep | None = None,
    format: Format | None = None,
    encoding: str | None = None,
    title: str | None = None,
    rng: Rng = None,
) -> Release:
    """How many people hold each of very many values: ``histogram`` for large domains.

    ``domain`` is what ``categories`` is there, ``learn_domain`` takes it from the data, and
    ``method`` is one of "hadamard", "hashing",
    "subset" and "unary" (see ``Frequency``).

    >>> pages = frequency([7] * 3000 + [8] * 2000, domain=500, epsilon=1.0, delta=1e-6)
    >>> len(pages.estimates), max(pages.estimates, key=lambda row: row.estimate).label
    (500, '7')
    """
    with in_python(categories="domain", learn_categories="learn_domain"):
        question = Question(
            task="frequency",
            **_reading(data, column, ids=ids, keep=keep, format=format, encoding=encoding),
            title=title,
            categories=_categories(domain, learn=_switch("learn_domain", learn_domain), other=other, missing=missing),
            method=method,
            cleaning=_cleaning(strip, ignore_case, na),
        )
        promise = _promise(epsilon, delta, rounds, least)
        return _answer(question, promise, _budget(ledger, population, limit_epsilon, limit_delta), rng)


@called_as('sdp.crosstab(frame, ["region", "smoker"], categories=[regions, ["yes", "no"]], epsilon=1, delta=1e-6)')
def crosstab(
    data: object,
    columns: Iterable[str],
    *,
    categories: Iterable[Listed | None] | None = None,
    by: str | None = None,
    epsilon: float,
    delta: float,
    rounds: int = 1,
    least: float | None = None,
    ledger: PathLike | None = None,
    population: str | None = None,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    other: str | Mapping[str, str] | None = None,
    missing: str | Mapping[str, str] | None = None,
    learn_categories: bool = False,
    strip: bool = False,
    ignore_case: bool = False,
    na: str | Iterable[str] = (),
    ids: str | None = None,
    keep: Keep | None = None,
    format: Format | None = None,
    encoding: str | None = None,
    title: str | None = None,
    protocol: str = "krr",
    slots: int | None = None,
    kept: float | None = None,
    kind: str | None = None,
    light_epsilon0: float | None = None,
    rng: Rng = None,
) -> Release:
    """How many people hold each combination of the categories of several ``columns``, with all sums
    over some of them.

    ``categories`` has an entry for each column, as ``histogram`` takes it; with
    ``learn_categories``, those that are None, or all, come from the data. ``other`` and ``missing``
    are one name for all columns, or names by column, such as {"region": "elsewhere"}. With ``by``,
    a column, shares within its groups are told beside the counts; it is added to the columns if it
    is not among them. A row without a value in any column is left out, unless that column counts
    it. Everything else is as for ``histogram``.

    >>> rows = {"region": ["north", "south"] * 2000, "smoker": ["no", "no", "yes", "no"] * 1000}
    >>> table = crosstab(
    ...     pa.table(rows),
    ...     ["region", "smoker"],
    ...     categories=[["north", "south"], ["yes", "no"]],
    ...     epsilon=1.0,
    ...     delta=1e-6,
    ... )
    >>> row = table.estimates["north × yes"]
    >>> abs(row.estimate - 1000) < 6 * row.stderr, len(table.estimates)
    (True, 8)
    """
    with in_python():
        listed = as_list("columns", columns, remedy='Pass a list such as ["region", "smoker"].')
        names = [str(_name("columns", each)) for each in listed]
        group, learn = _name("by", by), _switch("learn_categories", learn_categories)
        asked = crossed_columns(names, group)
        known = [None] * len(asked) if categories is None else list(categories)
        question = CrossQuestion(
            **_reading(data, None, ids=ids, keep=keep, format=format, encoding=encoding),
            title=title,
            columns=asked,
            parts=_parts(asked, known, learn=learn, other=other, missing=missing),
            by=group,
            cleaning=_cleaning(strip, ignore_case, na),
            hiding=Hiding(protocol=protocol, slots=slots, kept=kept, kind=kind, light_epsilon0=light_epsilon0),
        )
        promise = _promise(epsilon, delta, rounds, least)
        return _answer(question, promise, _budget(ledger, population, limit_epsilon, limit_delta), rng)


@called_as('sdp.mean(frame, "age", lower=0, upper=120, epsilon=1, delta=1e-6)')
def mean(
    data: object,
    column: str | None = None,
    *,
    lower: float,
    upper: float,
    clip: bool = False,
    epsilon: float,
    delta: float,
    rounds: int = 1,
    least: float | None = None,
    ledger: PathLike | None = None,
    population: str | None = None,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    na: str | Iterable[str] = (),
    decimal: str = ".",
    thousands: str | None = None,
    ids: str | None = None,
    keep: Keep | None = None,
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

    >>> age = mean([30.0, 40.0] * 2000, lower=0, upper=120, epsilon=1.0, delta=1e-6)
    >>> (row,) = age.estimates
    >>> abs(row.estimate - 35.0) < 6 * row.stderr
    True
    """
    with in_python():
        question = SumQuestion(
            task="mean",
            **_reading(data, column, ids=ids, keep=keep, format=format, encoding=encoding),
            title=title,
            lower=lower,
            upper=upper,
            clip=_switch("clip", clip),
            cleaning=Cleaning(na=_words(na), decimal=decimal, thousands=thousands),
            messages=messages,
            error=error,
        )
        promise = _promise(epsilon, delta, rounds, least)
        return _answer(question, promise, _budget(ledger, population, limit_epsilon, limit_delta), rng)


@called_as('sdp.sum(frame, "age", lower=0, upper=120, epsilon=1, delta=1e-6)')
def sum(
    data: object,
    column: str | None = None,
    *,
    lower: float,
    upper: float,
    clip: bool = False,
    epsilon: float,
    delta: float,
    rounds: int = 1,
    least: float | None = None,
    ledger: PathLike | None = None,
    population: str | None = None,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    na: str | Iterable[str] = (),
    decimal: str = ".",
    thousands: str | None = None,
    ids: str | None = None,
    keep: Keep | None = None,
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
    with in_python():
        question = SumQuestion(
            task="sum",
            **_reading(data, column, ids=ids, keep=keep, format=format, encoding=encoding),
            title=title,
            lower=lower,
            upper=upper,
            clip=_switch("clip", clip),
            cleaning=Cleaning(na=_words(na), decimal=decimal, thousands=thousands),
            messages=messages,
            error=error,
        )
        promise = _promise(epsilon, delta, rounds, least)
        return _answer(question, promise, _budget(ledger, population, limit_epsilon, limit_delta), rng)


@called_as('sdp.count(frame, "answer", value="yes", epsilon=1, delta=1e-6)')
def count(
    data: object,
    column: str | None = None,
    *,
    value: object,
    epsilon: float,
    delta: float,
    rounds: int = 1,
    least: float | None = None,
    ledger: PathLike | None = None,
    population: str | None = None,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    strip: bool = False,
    ignore_case: bool = False,
    na: str | Iterable[str] = (),
    ids: str | None = None,
    keep: Keep | None = None,
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
    Everything else is as for ``histogram``.

    >>> yes = count(["yes"] * 700 + ["no"] * 300, value="yes", epsilon=1.0, delta=1e-6)
    >>> (row,) = yes.estimates
    >>> abs(row.estimate - 700) < 10 * row.stderr, row.stderr < 1.6
    (True, True)
    """
    with in_python():
        question = CountQuestion(
            **_reading(data, column, ids=ids, keep=keep, format=format, encoding=encoding),
            title=title,
            value=_text(value),
            cleaning=_cleaning(strip, ignore_case, na),
            messages=messages,
            error=error,
        )
        promise = _promise(epsilon, delta, rounds, least)
        return _answer(question, promise, _budget(ledger, population, limit_epsilon, limit_delta), rng)


@called_as('sdp.top(frame, "query", k=50, epsilon=1, delta=1e-6)')
def top(
    data: object,
    column: str | None = None,
    *,
    k: int = 50,
    longest: int = 16,
    tokens: PathLike | Iterable[str] | None = None,
    least_holders: int = 50,
    error: float = 1e-3,
    candidates: int | None = None,
    epsilon: float,
    delta: float,
    least: float | None = None,
    ledger: PathLike | None = None,
    population: str | None = None,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    strip: bool = False,
    ignore_case: bool = False,
    na: str | Iterable[str] = (),
    ids: str | None = None,
    keep: Keep | None = None,
    format: Format | None = None,
    encoding: str | None = None,
    title: str | None = None,
    rng: Rng = None,
) -> TopRelease:
    """The ``k`` most frequent words that people hold, when nobody has listed them.

    Beginnings that many people share are followed, symbol by symbol, up to ``longest`` of them;
    each step is asked of other people, who drew it at random, so that the promise to everybody is
    that of one step. Symbols are bytes, or ``tokens``: a list, or a file with one per line. With
    probability 1 - ``error`` no word is listed, and no beginning followed, that fewer than
    ``least_holders`` people hold. ``found`` of what is returned says what may have been missed.
    Everything else is as for ``histogram``.

    >>> fruit = ["fig"] * 9000 + ["kiwi"] * 6000 + [f"rare{i}" for i in range(2000)]
    >>> found = top(fruit, k=5, longest=4, epsilon=1.0, delta=1e-6)
    >>> [row.label for row in found.estimates][:2]
    ['fig', 'kiwi']
    """
    with in_python():
        known = read_tokens(Path(_path("tokens", tokens))) if isinstance(tokens, (str, os.PathLike)) else tokens
        question = TopQuestion(
            **_reading(data, column, ids=ids, keep=keep, format=format, encoding=encoding),
            title=title,
            k=k,
            longest=longest,
            tokens=None if known is None else tuple(known),
            least_holders=least_holders,
            error=error,
            candidates=candidates,
            cleaning=_cleaning(strip, ignore_case, na),
        ).checked()
        promise = _promise(epsilon, delta, 1, least)
        budget = _budget(ledger, population, limit_epsilon, limit_delta)
        opened = question.open()
        named = None if opened.bare and opened.name == VALUES else opened.name
        settled = replace(question, column=named)
        with settled.values(opened, rng=rng) as values:
            return release_search(
                settled.search(values.count, promise), values, settled.asked(), budget=budget, rng=rng
            )


@called_as('sdp.quantile(frame, "age", lower=0, upper=120, at=[0.1, 0.5], epsilon=1, delta=1e-6)')
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
    least: float | None = None,
    ledger: PathLike | None = None,
    population: str | None = None,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    na: str | Iterable[str] = (),
    decimal: str = ".",
    thousands: str | None = None,
    ids: str | None = None,
    keep: Keep | None = None,
    format: Format | None = None,
    encoding: str | None = None,
    title: str | None = None,
    protocol: str = "krr",
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
    with in_python(range="ranges"):
        known = given_bins(
            lower=_number("lower", lower),
            upper=_number("upper", upper),
            bins=bins,
            scale=scale,
            cuts=None if cuts is None else _numbers("cuts", cuts),
            at=_numbers("at", [at] if isinstance(at, (int, float)) else at),
            ranges=[_pair(each) for each in as_list("ranges", ranges, remedy="Pass a list of pairs of cut points.")],
        )
        question = Question(
            task="quantile",
            **_reading(data, column, ids=ids, keep=keep, format=format, encoding=encoding),
            title=title,
            bins=known,
            clip=_switch("clip", clip),
            cleaning=Cleaning(na=_words(na), decimal=decimal, thousands=thousands),
            hiding=Hiding(protocol=protocol, slots=slots, kept=kept, kind=kind, light_epsilon0=light_epsilon0),
        )
        promise = _promise(epsilon, delta, rounds, least)
        return _answer(question, promise, _budget(ledger, population, limit_epsilon, limit_delta), rng)


def _number(argument: str, given: float | None) -> float | None:
    return None if given is None else check_finite(argument, given, remedy="Pass a number.")


def _numbers(argument: str, given: object) -> list[float]:
    listed = as_list(argument, given, remedy="Pass a list of numbers.")
    return [check_finite(f"each of {argument}", each, remedy="Pass a list of numbers.") for each in listed]


def _pair(given: object) -> tuple[float, float]:
    pair = _numbers("ranges", given)
    if len(pair) != 2:
        raise InvalidInput(f"a range must be two cut points, got {given!r}. Pass pairs such as (18, 65).")
    return pair[0], pair[1]


def _answer(question: Question, promise: Promise, budget: Budget | None, rng: Rng) -> Release:
    settled = question.settled()
    column = settled.open()
    named = None if column.bare and column.name == VALUES else column.name
    settled = replace(settled, column=named)
    with settled.values(column, rng=rng) as values:
        design = settled.design(values.count, promise)
        return release(settled, values, design, budget=budget, rng=rng)


def _reading(
    data: object, column: object, *, ids: object, keep: Keep | None, format: Format | None, encoding: str | None
) -> dict[str, Any]:
    """The part of a question that says what is read."""
    whose = _name("ids", ids)
    names = {"column": _name("column", column), "ids": whose, "keep": check_keep(keep, whose)}
    if isinstance(data, (str, os.PathLike)):
        known = None if encoding is None else check_encoding(encoding)
        return {"source": _path("data", data), "format": format, "encoding": known, **names}
    source = held_table(data)
    for name, given in (("format", format), ("encoding", encoding)):
        if given is not None:
            raise InvalidInput(
                f"{name} must be left out for values in memory, got {given!r} for {source.title}. It is for files."
            )
    return {"source": source, **names}


def _name(argument: str, given: object) -> str | None:
    """The name of a column; pandas also numbers them."""
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, Integral):
        return str(given)
    raise InvalidInput(f"{argument} must be the name of a column, got {given!r}. Pass a string.")


def _categories(given: object, *, learn: bool, other: str | None, missing: str | None) -> Categories:
    """The categories as Python gives them: a list, a number, a file, or asked of the data."""
    other, missing = (None if each is None else _text(each) for each in (other, missing))
    if isinstance(given, (str, os.PathLike)):
        return read_categories(_path("categories", given), learn=learn, domain=None, other=other, missing=missing)
    if isinstance(given, Integral):
        return read_categories(None, learn=learn, domain=int(given), other=other, missing=missing)
    if given is None:
        return read_categories(None, learn=learn, domain=None, other=other, missing=missing)
    listed = as_list("categories", given, remedy='Pass a list such as ["yes", "no"].')
    return given_categories([_text(label) for label in listed], learn=learn, other=other, missing=missing)


def _parts(
    columns: Sequence[str], given: Sequence[object], *, learn: bool, other: object, missing: object
) -> tuple[Categories, ...]:
    """The same for each column of a crosstab."""
    if len(given) != len(columns):
        raise InvalidInput(
            f"categories must have an entry for each of the columns {', '.join(columns)}, got {len(given)}. The column "
            f"of the groups comes first if only by names it."
        )
    rests, gaps = per_column("other", other, columns), per_column("missing", missing, columns)
    return tuple(
        _categories(listed, learn=learn and listed is None, other=rest, missing=gap)
        for listed, rest, gap in zip(given, rests, gaps, strict=True)
    )


def _text(label: Any) -> str:
    """A category as the text that values are compared by."""
    plain = label.item() if isinstance(label, np.generic) else label
    plain = plain.as_py() if isinstance(plain, pa.Scalar) else plain
    if isinstance(plain, float) and plain.is_integer():
        plain = int(plain)
    if isinstance(plain, bool):
        return str(plain).lower()
    if isinstance(plain, str) or (isinstance(plain, int) and abs(plain) < LARGEST_LABEL):
        return str(plain)
    if type(plain) is date:
        return plain.isoformat()
    given = "a larger one" if isinstance(plain, int) else repr(label)
    raise InvalidInput(
        f"a category must be text, a whole number of at most 18 digits, a boolean or a date, got {given}. Write it "
        f"as text; missing values are counted with --missing NAME."
    )


def _cleaning(strip: object, ignore_case: object, na: str | Iterable[str]) -> Cleaning:
    return Cleaning(strip=_switch("strip", strip), ignore_case=_switch("ignore_case", ignore_case), na=_words(na))


def _switch(argument: str, given: object) -> bool:
    """True or False; a text such as "no" would pass for True."""
    if not isinstance(given, (bool, np.bool_)):
        raise InvalidInput(f"{argument} must be True or False, got {shown(given)}. Leave it out for False.")
    return bool(given)


def _path(argument: str, given: object) -> str:
    """The path of a file, as text."""
    if not isinstance(given, (str, os.PathLike)) or "\0" in (path := os.fsdecode(given)):
        seen = repr(given) if isinstance(given, os.PathLike) else shown(given)
        raise InvalidInput(f"{argument} must be the path of a file, got {seen}. Pass a text or a pathlib.Path.")
    return path


def _words(na: str | Iterable[str]) -> tuple[str, ...]:
    """The words that mean a missing value."""
    listed = [na] if isinstance(na, str) else as_list("na", na, remedy='Pass a list such as ["NA", "?"].')
    if wrong := [word for word in listed if not isinstance(word, str)]:
        raise InvalidInput(f"na must list texts, got {wrong[0]!r}. None and NaN are missing anyway.")
    return tuple(str(word) for word in listed)


def _promise(epsilon: float, delta: float, rounds: int, least: float | None) -> Promise:
    """What is promised. A share of the people is meant as it is written: 0.9 is nine tenths."""
    for name, given in (("epsilon", epsilon), ("delta", delta)):
        if given is None:
            raise InvalidInput(f"{name} must be a number, got None. It is half of what is promised.")
    honest: Any = least
    if isinstance(least, float) and 0.0 < least <= 1.0:
        honest = Fraction(repr(float(least)))
    return Promise(epsilon=epsilon, delta=delta, rounds=rounds, honest=honest)


def _budget(
    ledger: PathLike | None, population: str | None, limit_epsilon: float | None, limit_delta: float | None
) -> Budget | None:
    path = None if ledger is None else Path(_path("ledger", ledger))
    return Budget.of(path, population, limit_epsilon, limit_delta)
