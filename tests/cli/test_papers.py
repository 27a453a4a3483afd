"""The commands about papers: what they print and write, and how they refuse."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from shuffledp.cli import main
from shuffledp.literature.bounds import LITERATURE
from shuffledp.papers import FOUR, PAPERS
from shuffledp.papers.experiments import EXPERIMENTS

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)


def refusal(capsys: Capture, *arguments: str) -> str:
    code = main(["papers", *arguments])
    out, err = capsys.readouterr()
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: ")
    return err


def test_the_list_has_every_experiment(capsys: Capture) -> None:
    assert main(["papers", "reproduce", "--list"]) == 0
    out = capsys.readouterr().out
    assert main(["papers", "reproduce", "--list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["experiments"]
    assert [row["name"] for row in rows] == [experiment.name for experiment in EXPERIMENTS]
    for experiment in EXPERIMENTS:
        assert experiment.name in out
    assert set(rows[0]) == {"name", "paper", "title", "parameters"}


def test_a_table_is_reproduced_then_kept(capsys: Capture, tmp_path: Path) -> None:
    out = tmp_path / "figures"
    assert main(["papers", "reproduce", "biswas-table1", "--out", str(out), "--json"]) == 0
    printed, err = capsys.readouterr()
    (row,) = json.loads(printed)["experiments"]
    assert (row["name"], row["state"], err) == ("biswas-table1", "computed", "")
    assert "agree within 2 %" in row["verdict"]
    assert sorted(row["files"]) == sorted(str(path) for path in out.iterdir())
    assert main(["papers", "reproduce", "biswas-table1", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "kept" in printed
    assert "agree within 2 % with Theorem 1 as printed" in printed
    assert "csv png svg json" in printed
    assert f"The files are in {str(out)!r}." in printed


def test_refusals(capsys: Capture, tmp_path: Path) -> None:
    assert "Did you mean biswas-table1?" in refusal(capsys, "reproduce", "biswas-tabel1")
    assert "Did you mean balle-2019?" in refusal(capsys, "reproduce", "balle-2091")
    assert "no figure of cheu-2019 is computed here" in refusal(capsys, "reproduce", "cheu-2019")
    assert "name a paper, a figure or a table, or pass --all" in refusal(capsys, "reproduce")
    assert "either names or --all, got both" in refusal(capsys, "reproduce", "biswas-table1", "--all")
    for missing in (str(tmp_path / "nothing.txt"), 300 * "a", "", str(tmp_path)):
        said = refusal(capsys, "reproduce", "biswas-2023", "--gowalla", missing)
        assert "the check-ins must be in a file" in said
        assert "loc-gowalla_totalCheckins.txt" in said
    (tmp_path / "file").write_text("", encoding="utf-8")
    said = refusal(capsys, "reproduce", "biswas-table1", "biswas-table4", "--gowalla", str(tmp_path / "file"))
    assert "none of these figures and tables is about check-ins" in said
    assert "must be writable" in refusal(capsys, "reproduce", "biswas-table1", "--out", str(tmp_path / "file"))
    assert "--out must name a folder, got ''. Write . for the current one" in refusal(
        capsys, "reproduce", "biswas-table1", "--out", ""
    )
    (tmp_path / "biswas-table1.csv").mkdir()
    assert "must be free for a file, got a folder. Move it away" in refusal(
        capsys, "reproduce", "biswas-table1", "--out", str(tmp_path)
    )


def test_help_does_not_load_matplotlib() -> None:
    call = "main(['papers', 'reproduce', '--help'])"
    program = f"import sys; from shuffledp.cli import main; {call}; print('matplotlib' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.returncode, run.stdout.splitlines()[-1]) == (0, "False")
    assert "shuffledp papers reproduce balle-2019 --out figures" in run.stdout


def printed(capsys: Capture, *arguments: str) -> str:
    assert main(["papers", *arguments]) == 0
    return capsys.readouterr().out


def test_every_paper_is_listed_and_shown(capsys: Capture) -> None:
    listed = printed(capsys, "list")
    rows = json.loads(printed(capsys, "list", "--json"))["papers"]
    assert [row["name"] for row in rows] == [paper.name for paper in PAPERS]
    assert all(paper.name in listed and paper.brought in listed for paper in PAPERS)
    for paper in PAPERS:
        text, facts = printed(capsys, "show", paper.name), json.loads(printed(capsys, "show", paper.name, "--json"))
        assert [row["name"] for row in facts["statements"]] == [each.names[0] for each in paper]
        assert paper.title in text
        assert all(f"{each.title}: {each.verdict}" in text and each.says in text for each in paper)
    (only,) = json.loads(printed(capsys, "show", "koskela-2021", "Theorem 8", "--json"))["statements"]
    assert (only["label"], only["verdict"]) == ("Theorem 8", "paper errs")
    assert "Did you mean koskela-2021?" in refusal(capsys, "show", "koskela")
    assert "Did you mean theorem-8?" in refusal(capsys, "show", "koskela-2021", "theorem-88")


@pytest.mark.parametrize("group", ["papers", "survey", "series", "stage", "audit", "ledger"])
def test_a_group_alone_prints_its_help(group: str, capsys: Capture) -> None:
    assert main([group]) == 0
    alone = capsys.readouterr()
    assert main([group, "--help"]) == 0
    assert (alone.out, alone.err) == (capsys.readouterr().out, "")
    assert f"Usage: shuffledp {group}" in alone.out


def test_the_bounds_of_a_paper_are_listed(capsys: Capture) -> None:
    everything = json.loads(printed(capsys, "bounds", "--json"))["bounds"]
    assert [row["name"] for row in everything] == [bound.name for bound in LITERATURE]
    for paper in FOUR:
        rows = json.loads(printed(capsys, "bounds", paper.name, "--json"))["bounds"]
        assert rows == [row for row in everything if row["paper"] == paper.cited] != []
        assert all(row["name"] in printed(capsys, "bounds", paper.name) for row in rows)


@pytest.mark.parametrize(
    ("paper", "instead"), [("chen-2024", "sdp.accounting.shuffle_groups"), ("feldman-2022", "shuffledp-any")]
)
def test_a_paper_without_bounds_leads_to_its_erratum(capsys: Capture, paper: str, instead: str) -> None:
    for command in ("show", "bounds"):
        said = printed(capsys, command, paper)
        assert f"No bound of {paper} is here; see erratum" in said
        assert f"Use instead: {instead}" in said
        assert "shuffledp papers" not in said


@pytest.mark.parametrize("paper", [None, *(paper.name for paper in PAPERS)])
def test_the_command_that_bounds_proposes_works(capsys: Capture, paper: str | None) -> None:
    last = printed(capsys, "bounds", *filter(None, [paper])).splitlines()[-1]
    _, proposed, command = last.partition("One of them, to start with: shuffledp ")
    assert bool(proposed) == (paper not in ("feldman-2022", "wang-2023", "chen-2024"))
    if proposed:
        assert main(command.split()) == 0
        assert "(invalid)" not in capsys.readouterr().out


def test_a_number_of_both_versions_is_said_to_be_one(capsys: Capture) -> None:
    said = printed(capsys, "show", "koskela-2021", "theorem-10")
    other = "Theorem 10 of the first version is another: shuffledp papers show koskela-2021 first-theorem-10"
    assert other in said.splitlines()
    assert "is another" not in printed(capsys, "show", "koskela-2021", "theorem-8", "first-theorem-10")
