"""Bounds of a stranger's beside everyone else's, and tables for a paper."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shuffledp.cli import main

SETTING = ["--randomizer", "krr", "--k", "4", "--epsilon0", "1", "--n", "1000", "--delta", "1e-6", "--patience", "0"]
MINE = """
from shuffledp.literature.bounds import Published

MINE = Published(
    name="mine-2026", paper="Me 2026", where="Thm 1", covers="anything", status="STATUS",
    epsilon_at=lambda setting, delta: FACTOR * setting.epsilon0,
)
AGAIN = MINE
"""


def written(folder: Path, *, status: str = "unproven", factor: float = 0.9) -> str:
    path = folder / "my_bound.py"
    path.write_text(MINE.replace("STATUS", status).replace("FACTOR", str(factor)))
    return str(path)


def test_a_bound_of_ones_own_stands_among_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *SETTING, "--also", written(tmp_path), "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["bounds"]}
    assert rows["mine-2026"]["epsilon"] == pytest.approx(0.9)
    assert rows["mine-2026"]["status"] == "unproven"
    assert not rows["mine-2026"]["refuted"]


def test_one_that_is_too_small_to_be_true_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *SETTING, "--also", written(tmp_path, factor=1e-4)]) == 0
    assert "Too small to be true here: mine-2026" in " ".join(capsys.readouterr().out.split())


def test_one_that_claims_to_be_proven_and_is_false_is_named_and_does_not_win(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    false = written(tmp_path, status="proven", factor=1e-4)
    assert main(["compare", *SETTING, "--also", false]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Warning: mine-2026 claims to be proven, and says upper 0.0001" in said
    assert main(["compare", *SETTING, "--also", false, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["contradictions"] == ["mine-2026"]
    assert told["best"] == "shuffledp"


@pytest.mark.parametrize(
    "content, words",
    [
        (None, "must name a Python file, got"),
        ("raise KeyError('x')", "must name a Python file that runs, got KeyError"),
        ("x = 1", "must name a file that defines a bound, got none"),
        ("import sys; sys.exit(3)", "must name a Python file that runs, got SystemExit"),
    ],
)
def test_what_is_no_bound_is_one_sentence(
    content: str | None, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.py"
    if content is not None:
        path.write_text(content)
    assert main(["compare", *SETTING, "--also", str(path)]) == 2
    said = capsys.readouterr().err
    assert words in " ".join(said.split())
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "command",
    [
        ["compare", *SETTING],
        ["curve", *SETTING[:-4], "--points", "3"],
        ["plan", "histogram", "--categories", "4", "--n", "1000", "--epsilon", "1", "--delta", "1e-6"],
    ],
    ids=lambda command: command[0],
)
def test_a_table_for_a_paper_is_one_tabular(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--latex"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(r"\begin{tabular}{r")
    assert lines[-1] == r"\end{tabular}" or lines[-1].startswith("% left out, as it takes long: ")
    columns = lines[0].split("{")[-1].rstrip("}")
    body = [line for line in lines if line.endswith(r"\\")]
    assert len(body) > 2
    assert all(line.count(" & ") == len(columns) - 1 for line in body)
    assert main([*command, "--latex", "--json"]) == 2
    assert "--json and --latex" in capsys.readouterr().err
