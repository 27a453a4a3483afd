"""A collection over the network as a week of a series, by `shuffledp open --series`."""

import json
from pathlib import Path

import numpy as np
import pytest

from shuffledp.cli import main
from shuffledp.collection.ledger import Ledger
from shuffledp.collection.record import read_record
from shuffledp.collection.release.budget import Budget
from shuffledp.collection.series.weeks import new_series, tracked
from shuffledp.collection.verify import verify
from tests.collection.network.released import LEAST, announced, answers, poll, write_sealed


@pytest.mark.long
def test_the_round_of_a_collection_is_the_week(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    budget, folder = Budget(tmp_path / "budget.sqlite", "p", 5.0, 0.05), tmp_path / "poll"
    new_series(folder, poll(3), "poll", budget=budget)

    def opened(study: str, *more: object) -> int:
        place = [tmp_path / study, tmp_path / f"{study}.bin", "--series", folder, *more]
        return main(["open", *map(str, place)])

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
