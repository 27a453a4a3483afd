"""Every week of a series is released once, wherever it is released, and however often it is
killed.
"""

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from shuffledp.design import Design
from shuffledp.errors import InvalidInput
from shuffledp.ledger import Ledger
from shuffledp.release.budget import Budget, Spent
from shuffledp.series.series_file import SeriesFile, read_series
from shuffledp.series.weeks import new_series, next_week, tracked
from shuffledp.storage import files
from tests.series.conftest import LEAST, PEOPLE, WEEKS, published

Add = Callable[..., object]


def states(ledger: Ledger) -> list[str]:
    return [each.state for each in ledger.releases("p")]


def test_weeks_follow_each_other_until_none_is_left(folder: Path, add: Add, ledger: Ledger) -> None:
    for number in range(1, WEEKS + 1):
        made = add(folder)
        series = made.record.asked.series  # type: ignore[attr-defined]
        assert (series.week, series.weeks, series.name, str(series)) == (
            number,
            WEEKS,
            "cities",
            f"week {number} of 4 of series cities",
        )
        assert str(series) in (folder / "weeks" / f"{number:03d}" / "page.html").read_text(encoding="utf-8")
    with pytest.raises(InvalidInput, match="must have a week left, got all 4 released"):
        add(folder)
    assert states(ledger) == ["paid in advance", *["published"] * WEEKS]
    assert ledger.check().faults == ()


def test_what_is_wrong_uses_up_no_week(folder: Path, add: Add, ledger: Ledger) -> None:
    for people, words in ((LEAST - 1, "at least the 300"), (PEOPLE + 1, "at most the 400")):
        with pytest.raises(InvalidInput, match=f"{words}.*[Ww]eek 1 of 4 of series cities was not used up"):
            add(folder, yes=0, people=people)
    with pytest.raises(InvalidInput, match="at least one value, got no rows"):
        add(folder, yes=0, people=0)
    add(folder, people=LEAST)
    for week, words in ((1, "must be released once"), (5, "at most 4"), (0, "at least 1")):
        with pytest.raises(InvalidInput, match=words):
            add(folder, week=week)
    with pytest.raises(InvalidInput, match="must be the folder of a series"):
        add(folder.parent)
    assert states(ledger) == ["paid in advance", "published"]


def test_a_copied_folder_is_used_once_with_a_ledger_and_twice_without(
    folder: Path, add: Add, weekly: Design, tmp_path: Path
) -> None:
    new_series(tmp_path / "free", weekly, "cities", budget=None)
    for place, again in ((folder, 2), (tmp_path / "free", 1)):
        copy = shutil.copytree(place, place.with_name(f"{place.name}-copy"))
        add(place)
        made = add(copy)
        assert made.record.asked.series.week == again, "a copy knows of the other only through the ledger"  # type: ignore[attr-defined]
    copy = folder.with_name("cities-copy")
    with pytest.raises(InvalidInput, match="it was released elsewhere, says the ledger"):
        add(copy, week=1)
    state = tracked(copy)
    assert (sorted(state.taken), sorted(state.standing), state.left) == ([1, 2], [2], 2)


def test_two_runs_at_once_get_one_week(folder: Path, add: Add) -> None:
    copy = shutil.copytree(folder, folder.with_name("copy"))
    with next_week(folder) as mine:
        assert mine.said.week == 1
        with pytest.raises(InvalidInput, match="must be free, got another run"):
            add(folder)
        add(copy)
        with pytest.raises(InvalidInput, match="week 1 of 4 of series cities must be released once"):
            published(mine, 100)
    assert not mine.folder.exists()


def test_a_series_is_what_its_file_says_and_nothing_else(folder: Path, weekly: Design, budget: Budget) -> None:
    series = read_series(folder)
    assert SeriesFile.from_json(series.as_json()) == series
    assert json.loads((folder / "design.json").read_text(encoding="utf-8")) == weekly.as_json()
    with pytest.raises(InvalidInput, match="must not exist yet"):
        new_series(folder, weekly, "cities", budget=budget)
    moved = budget.path.rename(budget.path.with_name("moved.sqlite"))
    with pytest.raises(InvalidInput, match="the ledger of series 'cities' must be there"):
        tracked(folder)
    assert tracked(folder, ledger=moved).left == WEEKS
    new_series(folder.with_name("other"), weekly, "other", budget=Budget(folder.with_name("o.sqlite"), "p", 3.0, 1e-5))
    with pytest.raises(InvalidInput, match="must hold the payment of series 'cities'"):
        tracked(folder, ledger=folder.with_name("o.sqlite"))
    for change, words in (
        ({"name": "towns"}, None),
        ({"version": 2}, "must have version 1"),
        ({"more": 1}, "a difference in .more."),
        ({"format": "x"}, "must have the format"),
        ({"ledger": {}}, "a difference in .ledger.path."),
    ):
        (folder / "series.json").write_text(json.dumps(series.as_json() | change), encoding="utf-8")
        with pytest.raises(InvalidInput, match=words or "another spelling"):
            tracked(folder, ledger=moved)


def test_a_killed_start_is_paid_for_once(tmp_path: Path, weekly: Design, budget: Budget) -> None:
    budget.pay(weekly, "cities")  # and then it was killed
    series = new_series(tmp_path / "cities", weekly, "cities", budget=budget)
    assert series.ledger is not None
    assert series.ledger.release == 1
    assert states(Ledger(budget.path)) == ["paid in advance"]


def killed(moment: str, add: Add, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGKILL to a run after its week was recorded, after it was begun, or after its folder
    stands.
    """

    def die(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    if child := os.fork():
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL
        return
    place, name = {"recorded": (Spent, "begin"), "begun": (files, "_put"), "standing": (Spent, "publish")}[moment]
    monkeypatch.setattr(place, name, die)
    try:
        add(folder)
    finally:
        os._exit(3)


@pytest.mark.parametrize("moment", ["recorded", "begun", "standing"])
def test_a_run_that_is_killed_uses_up_no_second_week(
    folder: Path, add: Add, ledger: Ledger, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(moment, add, folder, monkeypatch)
    assert (folder / "weeks" / "001").exists() == (moment == "standing")
    assert ledger.releases("p")[-1].state == "recorded"
    made = add(folder)
    seen = {"recorded": 1, "begun": 2, "standing": 2}[moment]
    assert made.record.asked.series.week == seen  # type: ignore[attr-defined]
    assert sorted(tracked(folder).standing) == list(range(1, seen + 1)), "what had begun was finished, not drawn again"
    left = ["recorded"] * (moment == "recorded")  # of which nobody has seen anything, and which costs nothing
    assert states(ledger) == ["paid in advance", *left, *["published"] * seen]
    assert not list((folder / "weeks").glob(".*.part"))
    assert ledger.check().faults == ()


def test_a_week_that_has_begun_is_kept_where_something_else_is_in_its_place(
    folder: Path, add: Add, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed("begun", add, folder, monkeypatch)
    place = folder / "weeks" / "001"
    place.mkdir()
    with pytest.raises(InvalidInput, match="Move it away"):
        add(folder)
    place.rmdir()
    add(folder)
    assert sorted(tracked(folder).standing) == [1, 2], "it was paid for, and can not be drawn again"
    assert states(ledger) == ["paid in advance", "published", "published"]


@pytest.mark.parametrize("moment", ["begun", "standing"])
def test_what_another_run_has_drawn_of_a_week_that_began_elsewhere_is_never_seen(
    folder: Path, add: Add, ledger: Ledger, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two runs in copies of the folder, both killed: one that had drawn week 1 and not begun it,
    and one that had begun it. Only what began may be finished, where it lies.
    """
    copy = shutil.copytree(folder, folder.with_name("copy"))
    killed("recorded", add, copy, monkeypatch)
    assert list((copy / "weeks").glob(".001.*.part")), "its answer is there, whole, and hidden"
    killed(moment, add, folder, monkeypatch)
    spent = ledger.total("p").epsilon(delta=1e-6)
    made = add(copy)
    assert made.record.asked.series.week == 2  # type: ignore[attr-defined]
    assert sorted(tracked(copy).standing) == [2], "another draw of week 1 would be a second release of it"
    assert sorted(tracked(copy).taken) == [1, 2]
    assert not list((copy / "weeks").glob(".*.part")), "what nobody may see is gone"
    add(folder)
    assert sorted(tracked(folder).standing) == [1, 3]
    assert ledger.check().faults == ()
    assert ledger.total("p").epsilon(delta=1e-6) == spent, "weeks were paid for, however often they were recorded"
