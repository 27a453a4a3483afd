"""The command reproduce: what it writes, what it lists, and how it refuses."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from shuffledp.cli import main
from shuffledp.papers import EXPERIMENTS

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)


def refusal(capsys: Capture, *arguments: str) -> str:
    code = main(["reproduce", *arguments])
    out, err = capsys.readouterr()
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: ")
    return err


def test_the_list_has_every_experiment(capsys: Capture) -> None:
    assert main(["reproduce", "--list"]) == 0
    out = capsys.readouterr().out
    assert main(["reproduce", "--list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["experiments"]
    assert [row["name"] for row in rows] == [experiment.name for experiment in EXPERIMENTS]
    for experiment in EXPERIMENTS:
        assert experiment.name in out
    assert set(rows[0]) == {"name", "paper", "title", "parameters"}


def test_a_table_is_reproduced_then_kept(capsys: Capture, tmp_path: Path) -> None:
    out = tmp_path / "figures"
    assert main(["reproduce", "biswas-table1", "--out", str(out), "--json"]) == 0
    printed, err = capsys.readouterr()
    (row,) = json.loads(printed)["experiments"]
    assert (row["name"], row["state"], err) == ("biswas-table1", "computed", "")
    assert sorted(row["files"]) == sorted(str(path) for path in out.iterdir())
    assert main(["reproduce", "biswas-table1", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "kept" in printed
    assert "csv png svg json" in printed
    assert f"The files are in {str(out)!r}." in printed


def test_refusals(capsys: Capture, tmp_path: Path) -> None:
    assert "Did you mean biswas-table1?" in refusal(capsys, "biswas-tabel1")
    assert "names of figures or tables are missing. Give some, or --all" in refusal(capsys)
    assert "either names or --all, got both" in refusal(capsys, "biswas-table1", "--all")
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert "must be writable" in refusal(capsys, "biswas-table1", "--out", str(tmp_path / "file"))
    assert "--out must name a folder, got ''. Write . for the current one" in refusal(
        capsys, "biswas-table1", "--out", ""
    )
    (tmp_path / "biswas-table1.csv").mkdir()
    assert "must be free for a file, got a folder. Move it away" in refusal(
        capsys, "biswas-table1", "--out", str(tmp_path)
    )


def test_help_does_not_load_matplotlib() -> None:
    program = (
        "import sys; from shuffledp.cli import main; main(['reproduce', '--help']); print('matplotlib' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.returncode, run.stdout.splitlines()[-1]) == (0, "False")
    assert "shuffledp reproduce --all --out figures" in run.stdout
