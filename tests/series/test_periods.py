"""Periods: of one kind, in the order of the weeks, each once."""

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.series.series_file import check_order, period_of

KNOWN = {1: "2026-W10", 3: "2026-W13"}


@pytest.mark.parametrize(
    ("week", "text", "words"),
    [
        (2, "2026-W10", "must be after 2026-W10"),
        (2, "2026-W13", "must be before 2026-W13"),
        (4, "2026-W12", "must be after 2026-W13"),
        (4, "2026-11", "must be a week, as 2026-W10 of week 1 is"),
        (4, None, "must be given"),
        (4, "2026-W54", "a week, a month or a day of the calendar"),
        (4, "2026-13", "a week, a month or a day of the calendar"),
        (4, "2026-02-30", "a week, a month or a day of the calendar"),
        (4, "next", "a week, a month or a day of the calendar"),
        (4, "0000-01", "a week, a month or a day of the calendar"),
    ],
)
def test_a_period_that_contradicts_the_others_is_refused(week: int, text: str | None, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        check_order(week, text, KNOWN)


def test_a_week_may_come_late_and_a_period_may_be_left_out() -> None:
    check_order(2, "2026-W11", KNOWN)
    check_order(4, "2027-W01", KNOWN)
    check_order(2, None, {1: None})
    with pytest.raises(InvalidInput, match="must be left out"):
        check_order(2, "2026-W11", {1: None})


def test_periods_are_counted_without_a_gap_over_years() -> None:
    assert period_of("2027-W01").number - period_of("2026-W53").number == 1
    assert period_of("2027-01").number - period_of("2026-12").number == 1
    assert period_of("2027-01-01").number - period_of("2026-12-31").number == 1
