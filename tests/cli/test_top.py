"""``shuffledp top``: what it says, and what it refuses before anything is spent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shuffledp.cli import main

PROMISE = ["--epsilon", "1", "--delta", "1e-6"]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    rows = ["ab"] * 6000 + ["b"] * 3000 + ["c"] * 1000
    path.write_text("\n".join(["who,word", *(f"{place},{word}" for place, word in enumerate(rows))]))
    (tmp_path / "letters.txt").write_text("a\nb\nc\n")
    return path


def test_a_plan_in_numbers(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokens = ["--tokens", str(log.parent / "letters.txt"), "--longest", "2", "--words", "3"]
    assert main(["top", str(log), "--column", "word", *tokens, *PROMISE, "--dry-run", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["search"]["people"] == 10_000
    assert 50 < said["found_from"] < 3000
    assert said["epsilon"] <= 1.0
    assert main(["top", str(log), "--column", "word", *tokens, *PROMISE, "--dry-run"]) == 0
    assert "people or more have each listed word" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--words", "0"], "words must be"),
        (["--longest", "400"], "at most 255"),
        (["--tokens", "twice.txt"], "distinct, got 'a' twice"),
        (["--tokens", "none.txt"], "--tokens must name a file"),
        (["--tokens", "bytes.txt"], "UTF-8"),
        (["--rounds", "2"], "No such option: --rounds"),
        (["--candidates", "5", "--words", "9"], "candidates must be"),
        (["--error", "2"], "error must"),
        (["--least-holders", "20000"], "at most the 10000 people"),
    ],
)
def test_one_sentence_and_nothing_spent(
    options: list[str], words: str, log: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(log.parent)
    Path("twice.txt").write_text("a\nb\na\n")
    Path("bytes.txt").write_bytes(b"\xff\n")
    budget = ["--ledger", "budget.sqlite", "--population", "p", "--limit-epsilon", "1", "--limit-delta", "1e-6"]
    asked = ["top", str(log), "--column", "word", *PROMISE, *budget, "--out", "out", *options]
    if "--longest" not in options:
        asked += ["--longest", "2"]
    assert main(asked) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") <= 6
    assert not Path("out").exists()
    assert not Path("budget.sqlite").exists()
