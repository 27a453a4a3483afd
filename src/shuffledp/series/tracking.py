"""A series from Python: ``sdp.Series.new``, ``sdp.Series(folder)``, and what the command ``series``
does.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from pathlib import Path
from typing import Any, Self, Unpack, cast

from shuffledp.accounting.curves import Bound
from shuffledp.client import column_for
from shuffledp.design import Design
from shuffledp.domain import as_list
from shuffledp.errors import InvalidInput
from shuffledp.page.svg import SvgFigure
from shuffledp.poll import Poll, certify
from shuffledp.release.arguments import budget_of, column_name, reading
from shuffledp.release.options import Budgeted, PathLike, WeekOptions, keywords
from shuffledp.release.pipeline import opened, release
from shuffledp.release.released import Release
from shuffledp.sampling import Rng
from shuffledp.series.pausing import Pace, paces, spent_after
from shuffledp.series.trend import Trend, trend_of
from shuffledp.series.trend_page import trend_svg, write_pages
from shuffledp.series.weeks import Tracked, new_series, next_week, question_of, tracked

NAMES = 'Pass a name, or for a crosstab a list such as ["region", "smoker"].'


class Series:
    """One design, asked every week, in a folder. Each week is released once; with a ledger, also
    where the folder is copied.

    >>> import tempfile
    >>> from shuffledp import Poll
    >>> poll = Poll(
    ...     "histogram",
    ...     categories=["tea", "coffee"],
    ...     n=500,
    ...     honest=400,
    ...     rounds=3,
    ...     epsilon=2.0,
    ...     delta=1e-6,
    ... )
    >>> series = Series.new(Path(tempfile.mkdtemp()) / "drinks", poll)
    >>> week = series.add(["tea"] * 300 + ["coffee"] * 150)
    >>> str(week.record.asked.series), series.left, series.spent.upper < 2.0
    ('week 1 of 3 of series drinks', 2, True)
    """

    def __init__(self, folder: PathLike, *, ledger: PathLike | None = None) -> None:
        self._folder, self._ledger = Path(folder), None if ledger is None else Path(ledger)
        self._state()

    @classmethod
    @keywords(Budgeted)
    def new(
        cls,
        folder: PathLike,
        poll: Poll | Design,
        *,
        name: str | None = None,
        title: str | None = None,
        by: str | None = None,
        **given: Unpack[Budgeted],
    ) -> Self:
        """Start a series of a poll with several rounds, which are its weeks. With a ``ledger``,
        all of them are paid for at once. With ``by``, a column of a crosstab, shares within its
        groups are followed.
        """
        place = Path(folder)
        budget = budget_of(cast(Any, given))
        design = Design.of(poll) if isinstance(poll, Poll) else poll
        named = place.name if name is None else name
        new_series(place, certify(design), named, title=title, by=by, budget=budget)
        return cls(place)

    @keywords(WeekOptions)
    def add(
        self,
        data: object,
        column: str | Iterable[str] | None = None,
        *,
        period: str | None = None,
        week: int | None = None,
        rng: Rng = None,
        **given: Unpack[WeekOptions],
    ) -> Release:
        """Release one more week: the next, or the one that is named. What it takes is what
        ``sdp.histogram``, ``sdp.mean`` or ``sdp.crosstab`` takes, the latter a list of columns;
        what the series says already is not asked again.
        """
        with next_week(self._folder, week=week, period=period, ledger=self._ledger) as one:
            question = question_of(
                one,
                **reading(data, given) | {"column": column_for(one.series.design, _names(column))},
                missing=given["missing"],
                clip=given["clip"],
            )
            with opened(question, rng) as (named, values):
                one.check_people(values.count)
                made = release(named, values, one.series.design, one.folder, budget=one.budget, rng=rng)
        write_pages(self._state())
        return made

    @property
    def left(self) -> int:
        """How many weeks may still be released."""
        return self._state().left

    @property
    def spent(self) -> Bound | None:
        """What the weeks that were released have spent together; None before the first."""
        state = self._state()
        return spent_after(state.series.design, len(state.taken))

    def paces(self) -> list[Pace]:
        """What it would mean to ask the rest every week, every second, or every fourth."""
        state = self._state()
        return paces(state.series.design, len(state.taken))

    @property
    def trend(self) -> Trend:
        """The estimates of all weeks, and how they change."""
        return trend_of(self._state())

    def plot(self) -> SvgFigure:
        """The chart of its page, which a notebook shows; ``.save("trend.svg")`` writes it."""
        found = self.trend
        if not found.lines:
            raise InvalidInput("a series must have a week to draw, got none. Release one: series.add(...).")
        return trend_svg(found)

    def _state(self) -> Tracked:
        return tracked(self._folder, ledger=self._ledger)

    def __repr__(self) -> str:
        """In a line: what is asked, and how far it is."""
        state = self._state()
        series = state.series
        return f"<Series {series.name}: {series.design.question.type}, {len(state.taken)} of {series.weeks} weeks>"


def _names(column: object) -> list[str]:
    """The columns that were named: none, one, or a list of them."""
    if column is None:
        return []
    listed = [column] if isinstance(column, (str, Integral)) else as_list("column", column, remedy=NAMES)
    return [str(column_name("column", each)) for each in listed]
