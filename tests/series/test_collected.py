"""A collection over the network as a week of a series, by `shuffledp survey open --series`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shuffledp import Poll
from shuffledp.cli import main
from shuffledp.design import Design
from shuffledp.ledger import Ledger
from shuffledp.record import read_record
from shuffledp.release.budget import Budget
from shuffledp.series.trend import trend_of
from shuffledp.series.weeks import new_series, tracked
from shuffledp.verify import verify
from tests.survey.released import LEAST, announced, answers, poll, write_sealed


@pytest.mark.long
def test_the_round_of_a_collection_is_the_week(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    budget, folder = Budget(tmp_path / "budget.sqlite", "p", 5.0, 0.05), tmp_path / "poll"
    new_series(folder, poll(3), "poll", budget=budget)

    def opened(study: str, *more: object) -> int:
        place = [tmp_path / study, tmp_path / f"{study}.bin", "--series", folder, *more]
        return main(["survey", "open", *map(str, place)])

    for study, round in (("first", 1), ("second", 2), ("again", 2), ("few", 3)):
        collection = announced(tmp_path / study, design=poll(3), round=round, question=study)
        values = np.zeros(LEAST - (study == "few"), dtype=np.intp)
        write_sealed(tmp_path / f"{study}.bin", collection, answers(collection, values))
    announced(tmp_path / "other")
    write_sealed(tmp_path / "other.bin", announced(tmp_path / "same"), [])
    assert opened("second", "--period", "2026-W48") == 0
    capsys.readouterr()
    assert opened("first", "--period", "2026-W47", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["asked"]["series"]["week"] == said["counted"]["collected"]["round"] == 1
    for study, words in (
        ("again", "week 2 of series 'poll' must be released once"),
        ("few", "at least the 100 that the design promises"),
        ("other", "must be of the design of series 'poll'"),
    ):
        assert opened(study, "--period", "2026-W49") == 2
        assert words in " ".join(capsys.readouterr().err.split())
    assert opened("few", "--out", "x") == 2
    assert "--out must be left out with --series" in capsys.readouterr().err
    assert sorted(tracked(folder).taken) == [1, 2]
    ledger = Ledger(budget.path)
    assert [each.state for each in ledger.releases("p")] == ["paid in advance", "published", "published"]
    page = (folder / "weeks" / "002" / "page.html").read_text(encoding="utf-8")
    assert verify(page, ledger=ledger).verdict == "pass"
    assert str(read_record(page).asked.series) == "week 2 of 3 of series poll (2026-W48)"
    assert (folder / "trend.html").is_file()


@pytest.mark.fleet
def test_a_collected_table_of_several_messages_is_followed_by_group(tmp_path: Path) -> None:
    """The shuffler and the people know nothing of groups: the analyst looks at them in the series."""
    parts = {"columns": ["region", "smoker"], "categories": [["north", "south"], ["yes", "no"]]}
    promise: dict[str, Any] = {"n": 200, "honest": 100, "rounds": 2, "epsilon": 3.0, "delta": 1e-2}
    design, folder = Design.of(Poll("crosstab", mechanism="fakes", **parts, **promise)), tmp_path / "table"
    new_series(folder, design, "table", by="region", budget=None)
    cells = np.array([0] * 60 + [1] * 40 + [3] * 50)
    for round in (1, 2):
        study = tmp_path / f"study{round}"
        collection = announced(study, design=design, round=round)
        write_sealed(tmp_path / f"{round}.bin", collection, answers(collection, cells, seed=round))
        assert main(["survey", "open", str(study), str(tmp_path / f"{round}.bin"), "--series", str(folder)]) == 0
    trend = trend_of(tracked(folder))
    assert [point.week for point in trend.lines["north: yes"]] == [1, 2]
    assert trend.largest(8) == ["north: yes", "north: no", "south: yes", "south: no"]
    for point in trend.lines["north: yes"]:
        assert point.band is not None
        assert point.band[0] <= 0.6 <= point.band[1], "seeds 1 and 2"
