"""The trend: shares with intervals for each week and for all at once, gaps, and changes."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shuffledp import Poll, __version__
from shuffledp.record import Record
from shuffledp.series import checking
from shuffledp.series.checking import check_series
from shuffledp.series.trend import Point, Trend, trend_of
from shuffledp.series.trend_page import PAGE, compared, in_words, series_html, trend_svg, write_pages
from shuffledp.series.weeks import Tracked, tracked
from shuffledp.verify.verification import Verification
from tests.page.test_page import Reading
from tests.page.test_true_sentences import BANNED
from tests.series.conftest import PEOPLE, WEEKS

pytestmark = pytest.mark.long

Add = Callable[..., object]


@pytest.fixture
def state(folder: Path, add: Add) -> Tracked:
    for yes, people, period in ((50, PEOPLE, "2026-W52"), (60, 350, "2026-W53"), (380, PEOPLE, "2027-W02")):
        add(folder, yes, people, period=period)
    return tracked(folder)


def test_a_trend_is_of_shares_with_limits_from_the_votes(state: Tracked) -> None:
    trend = trend_of(state)
    assert list(trend.lines) == ["yes", "no"]
    points = trend.lines["yes"]
    assert [(point.week, point.period, point.reports) for point in points] == [
        (1, "2026-W52", 400),
        (2, "2026-W53", 350),
        (3, "2027-W02", 400),
    ]
    record, design = state.standing[2], state.series.design
    estimate = design.poll.analyse_counts(np.asarray(record.tally.votes))
    low, high = estimate.limits(0.025 / (2 * WEEKS))
    assert points[1].band == pytest.approx((low[0] / 350, high[0] / 350))
    assert (points[1].lower, points[1].upper) == pytest.approx(
        (record.estimates.lower[0] / 350, record.estimates.upper[0] / 350)
    )
    assert points[1].band is not None
    assert points[1].band[0] < points[1].lower < points[1].value < points[1].upper < points[1].band[1]
    assert [point.place - points[0].place for point in points] == [0, 1, 3], "week 1 of 2027 is missing"


def test_a_change_that_is_more_than_noise_is_told(state: Tracked) -> None:
    trend = trend_of(state)
    first, second = trend.changes("yes")
    assert (first.told, second.told) == (False, True)
    assert second.value == pytest.approx(trend.lines["yes"][2].value - trend.lines["yes"][1].value)
    facts = trend.as_json()
    assert len(facts["points"]) == 6
    assert [each["told"] for each in facts["changes"]] == [False, True, False, True]


def test_limits_of_a_change_are_those_of_two_normal_weeks() -> None:
    """Of symmetric limits, the recovered ones are those of the difference of two normal laws."""
    one = Point(1, None, 1, 100, 0.3, 0.02, 0.26, 0.34, None)
    other = replace(one, week=2, place=2, value=0.4, lower=0.34, upper=0.46)
    trend = Trend(None, {"yes": [one, other]}, {"yes": "share of people"}, {"yes": 1}, 0.95, True)  # type: ignore[arg-type]
    (change,) = trend.changes("yes")
    assert (change.lower, change.upper) == pytest.approx((0.1 - math.hypot(0.04, 0.06), 0.1 + math.hypot(0.04, 0.06)))
    assert (change.band, change.told) == (None, False)


def test_intervals_of_changes_cover() -> None:
    """Of 600 pairs of weeks, 95 % of the intervals cover the change, to six standard errors; half
    as wide ones, the control, do not.
    """
    rng = np.random.default_rng(5)
    poll = Poll("histogram", categories=["yes", "no"], n=2_000, epsilon0=1.0)
    covered = narrow = 0
    pairs = 600
    law = poll.randomizer
    for _ in range(pairs):
        points = []
        for held in (500, 560):
            hit = rng.binomial(held, law.hit) + rng.binomial(2_000 - held, law.miss)
            found = poll.analyse_counts([hit, 2_000 - hit])
            low, high = (each[0] for each in found.interval(0.95))
            points.append(Point(1, None, 1, 2_000, float(found.values[0]), 0.0, float(low), float(high), None))
        trend = Trend(None, {"yes": points}, {"yes": "share of people"}, {"yes": 1}, 0.95, True)  # type: ignore[arg-type]
        (change,) = trend.changes("yes")
        covered += change.lower <= 60.0 <= change.upper
        narrow += abs(change.value - 60.0) <= (change.upper - change.lower) / 4.0
    error = math.sqrt(0.95 * 0.05 / pairs)
    assert abs(covered / pairs - 0.95) < 6.0 * error
    assert narrow / pairs < 0.95 - 6.0 * error


def test_the_page_says_what_the_weeks_say_and_a_changed_one_is_found(
    state: Tracked, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pages(state)
    page = state.folder / PAGE
    text = page.read_text(encoding="utf-8")
    assert text == series_html(state)
    for words in ("2027-W02", "week 3", "Every week", "Not covered", "weeks/003/page.html", "Not for release."):
        assert words in text
    drawn = trend_svg(trend_of(state))
    assert [words for words, _ in drawn.charts] == ["yes, share of people", "no, share of people"]
    assert all(chart in text and chart in drawn._repr_svg_() for _, chart in drawn.charts)
    assert [chart.count('class="upper"') for _, chart in drawn.charts] == [1, 1], "no line where a week is missing"
    assert "3 of 4 weeks" in drawn.promise
    assert "not for release" in drawn.promise
    assert "<script" not in text
    assert BANNED.findall(Reading(text).text) == []
    assert (state.folder / "trend.csv").read_text(encoding="utf-8").count("\n") == 7
    monkeypatch.setattr(checking, "verify", lambda *_, **__: Verification(()))
    assert check_series(state).verdict == "pass"
    page.write_text(text.replace("2027-W02", "2027-W01").replace("\n", " \r\n "), encoding="utf-8")
    (fault,) = check_series(state).failed
    assert (fault.what, "2027-W01" in fault.claimed, "2027-W02" in fault.found) == ("the page", True, True)
    page.write_text(text.replace("\n", " \r\n "), encoding="utf-8")
    assert check_series(state).verdict == "pass", "white space is nothing that a reader sees"


def test_a_page_of_another_version_is_not_checked_and_never_passes(
    state: Tracked, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pages(state)
    page = state.folder / PAGE
    other = page.read_text(encoding="utf-8").replace(f"Made by shuffledp {__version__}", "Made by shuffledp 9.9.9")
    page.write_text(other, encoding="utf-8")
    monkeypatch.setattr(checking, "verify", lambda *_, **__: Verification(()))
    found = check_series(state)
    assert (found.verdict, found.of_record) == ("incomplete", "pass")
    assert found.unread is not None
    assert "shuffledp 9.9.9 wrote it" in found.unread.how
    for active in ("<script>alert(1)</script>", '<a href="https://example.org">', '<p onclick="alert(1)">'):
        page.write_text(other.replace("<footer", f"{active}<footer"), encoding="utf-8")
        assert check_series(state).verdict == "FAIL", active


def test_weeks_are_of_one_design_in_order_and_each_once(state: Tracked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "verify", lambda *_, **__: Verification(()))

    def faults(**weeks: Record) -> set[str]:
        standing = {int(name.removeprefix("week")): record for name, record in weeks.items()}
        found = check_series(replace(state, standing=standing))
        every = {check.what for check in found.checks if check.outcome == "FAIL" or check.vital}
        return {each for each in every if "estimates.json" not in each and "page" not in each}

    one, two, three = (state.standing[week] for week in (1, 2, 3))
    assert faults(week1=one, week2=two, week3=three) == set()
    assert faults(week1=one, week3=three) == {"week 2"}, "the ledger knows that it was released"
    other = replace(two, design=replace(two.design, target=replace(two.design.target, rounds=9)))
    assert faults(week1=one, week2=other, week3=three) == {"week 2: the design of the series"}
    said = replace(two.asked, series=replace(two.asked.series, period="2027-W05"))  # type: ignore[type-var]
    late = faults(week1=one, week2=replace(two, asked=said), week3=three)
    assert late == {"week 2: the period", "week 3: the period"}
    again = replace(one, secure=True)
    twice = replace(two, secure=True, made=one.made, tally=one.tally)
    assert faults(week1=again, week2=twice, week3=three) == {"week 2"}


def test_what_is_said_of_all_changes_agrees_with_the_rows_below(state: Tracked) -> None:
    """Each row has the interval that holds for all changes at once: as many as are said to be
    distinguishable leave out 0, as they are shown; and a difference of shares is in percentage
    points.
    """
    for standing, distinct in ((state.standing, 2), ({week: state.standing[week] for week in (1, 2)}, 0)):
        shown = replace(state, standing=standing)
        text = " ".join(series_html(shown).split())
        rows = re.findall(r"<td>([^<]*)</td><td>([^<]*) to ([^<]*)</td></tr>", text.partition('id="weeks"')[0])
        ends = [[float(end.replace("−", "-").replace(",", "")) for end in row[1:]] for row in rows]
        assert f"{distinct} of {2 * (len(standing) - 1)} changes from one week to the next can be" in text
        assert len(rows) == (distinct or 2)
        assert sum(not low <= 0.0 <= high for low, high in ends) == distinct
        for (value, *_), (low, high) in zip(rows, ends, strict=True):
            assert low <= float(value.replace("−", "-").removesuffix("percentage points")) <= high


def test_an_end_of_a_change_that_is_told_is_not_rounded_to_0() -> None:
    band = (0.2999, 0.3001)
    one = Point(1, None, 1, 100, 0.3, 0.0, 0.2, 0.4, band)
    other = Point(2, None, 2, 100, 0.4, 0.0, 0.3, 0.5, (0.30012, 0.5))
    trend = Trend(None, {"yes": [one, other]}, {"yes": "share of people"}, {"yes": 1}, 0.95, True)  # type: ignore[arg-type]
    _, ((label, change),) = compared(trend)
    value, between = in_words(trend, label, change)
    assert value == "+10.000\u00a0percentage points"
    assert float(between.partition(" to ")[0]) > 0.0


def test_a_week_that_was_changed_is_found(state: Tracked) -> None:
    place = state.folder / "weeks" / "002" / "page.html"
    two = replace(state, standing={week: state.standing[week] for week in (1, 2)})
    whole = place.read_text(encoding="utf-8")
    for forged in (whole.replace("week 2 of 4", "week 3 of 4").encode(), b"\xff\xfe", whole[:-9].encode(), None):
        place.unlink() if forged is None else place.write_bytes(forged)
        found = check_series(two)
        assert found.verdict == "FAIL"
        assert {check.what.partition(":")[0] for check in found.failed} == {"week 2"}


def test_a_changed_table_of_the_series_is_found(state: Tracked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "verify", lambda *_, **__: Verification(()))
    write_pages(state)
    table = state.folder / "trend.csv"
    whole = table.read_text(encoding="utf-8")
    assert check_series(state).verdict == "pass"
    table.write_text(whole.replace(",", ";"), encoding="utf-8")
    assert [check.what for check in check_series(state).failed] == ["trend.csv"]
    for forged in (whole.rpartition('\n"')[0], whole.replace("1", "2"), whole + whole, ""):
        table.write_text(forged, encoding="utf-8")
        assert [check.what for check in check_series(state).failed] == ["trend.csv"]


def test_a_folder_without_weeks_never_passes(state: Tracked) -> None:
    empty = replace(state, standing={}, paid=None)
    assert check_series(empty).verdict == "incomplete"


def test_without_a_ledger_the_last_weeks_may_be_missing(state: Tracked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "verify", lambda *_, **__: Verification(()))

    def said(state: Tracked) -> list[str]:
        return [check.claimed for check in check_series(state).checks if check.what == "the last week"]

    unpaid = replace(state, series=replace(state.series, ledger=None), paid=None)
    assert said(state) == [], "the ledger knows"
    assert said(unpaid) == ["week 3 of 4"]
    fewer = replace(unpaid, standing={week: state.standing[week] for week in (1, 2)})
    assert (said(fewer), check_series(fewer).verdict) == (["week 2 of 4"], "pass")
