"""Top words on Spark: a person's level is a keyed hash of their id, so nobody is asked twice,
whatever runs again.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shuffledp.cli import main
from shuffledp.engines import spark
from shuffledp.engines.spark import at_level
from shuffledp.search.planning import planned_search

PEOPLE = 12_000
ASKED = ("--column", "word", "--words", "3", "--longest", "2", "--epsilon", "1", "--delta", "1e-5", "--engine", "spark")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("words")
    person = np.arange(PEOPLE + 500) % PEOPLE  # some have two rows
    words = np.array(["ab", "ab", "b", "caba", "c"])[person % 5]
    pq.write_table(pa.table({"word": words, "who": person}), folder / "log.parquet")
    (folder / "letters.txt").write_text("a\nb\nc\n")
    return folder / "log.parquet"


def test_a_search_that_ended_early_goes_on(
    session: Any,  # noqa: ARG001
    table: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ["top", str(table), *ASKED, "--tokens", str(table.parent / "letters.txt"), "--id", "who"]
    words += ["--out", str(tmp_path / "out"), "--work", str(tmp_path / "work"), "--json"]

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(spark, "finished_search", killed)
        assert main(words) == 130
    assert not (tmp_path / "out").exists()
    drawn = {path: path.read_text() for path in sorted((tmp_path / "work").rglob("claim.json"))}
    assert len(drawn) >= 3
    capsys.readouterr()
    assert main(words) == 0
    made = json.loads(capsys.readouterr().out)
    assert drawn == {path: path.read_text() for path in sorted((tmp_path / "work").rglob("claim.json"))}
    assert (made["counted"]["search"]["people"], made["counted"]["repeated"]) == (PEOPLE, 500)
    estimates, true = made["tables"][0], {"ab": 0.4, "b": 0.2, "c": 0.2, "ca…": 0.2}
    assert estimates["label"][0] == "ab"
    for label, value, stderr in zip(estimates["label"], estimates["value"], estimates["stderr"], strict=True):
        assert abs(value - true[label] * PEOPLE) < 6 * stderr
    levels = made["counted"]["search"]["levels"]
    assert sum(level["reports"] for level in levels) == PEOPLE
    assert main(["verify", str(tmp_path / "out" / "page.html")]) == 0


def test_every_person_has_one_level(session: Any, table: Path) -> None:
    search = planned_search(people=PEOPLE, epsilon=1.0, delta=1e-5, k=3, longest=3, tokens=("a", "b", "c"))
    frame, key = session.read.parquet(str(table)), "0" * 32
    found: dict[int, int] = {}
    for level in range(len(search.spans) + 1):
        counting = level == len(search.spans)
        rows = frame.where(at_level("who", key, search, level, onwards=counting)).select("who").distinct().collect()
        for (who,) in rows:
            assert found.setdefault(who, level) == level  # the same people at two levels would be found here
    assert len(found) == PEOPLE
    numbers = [int(sha256(f"{key}:{who}".encode()).hexdigest()[:8], 16) for who in range(PEOPLE)]
    expected = search.levels_of(np.array(numbers, dtype=np.uint32)).tolist()
    assert [found[who] for who in range(PEOPLE)] == expected


def test_rows_without_ids_are_refused(
    session: Any,  # noqa: ARG001
    table: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["top", str(table), *ASKED, "--out", str(tmp_path / "out")]) == 2
    assert "--id must be given" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
