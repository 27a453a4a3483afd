"""The commands ledger show, check and export."""

import csv
import json
import shutil
from pathlib import Path

import pytest

from shuffledp import KRR, Accountant, shuffle
from shuffledp.cli import main
from shuffledp.ledger import Entry, Ledger
from shuffledp.randomizers.wrappers.check_in import CheckIn

DESIGN = "ab" * 32


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ledger") / "budget.sqlite"
    ledger, survey = Ledger(path), shuffle(KRR(k=16, epsilon0=4.0), n=10_000)
    for name, rounds in (("app-users", 1), ("app-users", 2), ("visitors", 1)):
        entry = Entry.of(survey.compose(rounds), what="histogram of 'city'", design=DESIGN, epsilon=1.0, delta=1e-6)
        receipt = ledger.spend(name, entry, limit_epsilon=2.0, limit_delta=1e-6)
    ledger.publish(receipt.id, DESIGN)
    return path


@pytest.fixture
def file(kept: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(kept, tmp_path))


def test_show_lists_releases_and_the_total_against_the_limit(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["ledger", "show", str(file), "--population", "app-users"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("histogram of 'city'") == 2
    assert "at most 0.6476, at least 0.6470, at delta = 1e-6. The limit is epsilon = 2" in said
    assert "more like the last fit." in said
    assert "recorded but not published counts as well" in said
    assert "visitors" not in said


def test_a_chance_that_is_counted_beside_the_people_is_no_round_of_one_user(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    law, file = KRR(k=3, epsilon0=1.0), tmp_path / "budget.sqlite"
    both = Accountant().add(shuffle(law, n=1_000)).add(shuffle(CheckIn(law, probability=1e-3), n=1)).total
    entry = Entry.of(both, what="top words", design=DESIGN, epsilon=1.0, delta=1e-6)
    Ledger(file).spend("app-users", entry, limit_epsilon=2.0, limit_delta=1e-6)
    assert main(["ledger", "show", str(file)]) == 0
    (row,) = [line.split() for line in capsys.readouterr().out.splitlines() if "top words" in line]
    assert row[2:4] == ["1,000", "1"]


def test_show_as_json_is_what_export_writes(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", "show", str(file), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert main(["ledger", "export", str(file)]) == 0
    assert shown == json.loads(capsys.readouterr().out)
    assert main(["ledger", "export", str(file), "--out", str(tmp_path / "budget.json")]) == 0
    assert shown == json.loads((tmp_path / "budget.json").read_text())
    assert [each["name"] for each in shown["populations"]] == ["app-users", "visitors"]
    assert [each["state"] for each in shown["populations"][1]["releases"]] == ["published"]


def test_export_as_csv_has_a_line_for_every_release(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "budget.csv"
    assert main(["ledger", "export", str(file), "--out", str(out)]) == 0
    with out.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["population"], row["id"], row["rounds"], row["state"]) for row in rows] == [
        ("app-users", "1", "1", "recorded"),
        ("app-users", "2", "2", "recorded"),
        ("visitors", "3", "1", "published"),
    ]


def test_check_says_ok_or_exits_with_one_line_for_every_fault(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", "check", str(file)]) == 0
    assert "ok: 3 releases" in capsys.readouterr().out
    content = file.read_bytes()
    file.write_bytes(content.replace(b'"rounds":2', b'"rounds":1'))
    assert main(["ledger", "check", str(file)]) == 1
    assert capsys.readouterr().out.startswith("fault: release 2, or the limits")
    file.write_bytes(content[:-5000])
    assert main(["ledger", "check", str(file), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["ok"] is False


def test_one_release_is_no_plural(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = shuffle(KRR(k=16, epsilon0=4.0), n=10_000)
    entry = Entry.of(one, what="histogram of 'city'", design=DESIGN, epsilon=1.0, delta=1e-6)
    Ledger(tmp_path / "one").spend("app-users", entry, limit_epsilon=2.0, limit_delta=1e-6)
    assert main(["ledger", "check", str(tmp_path / "one")]) == 0
    assert "ok: 1 release; every record" in capsys.readouterr().out


def test_check_finds_a_ledger_that_was_put_back(file: Path, kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    survey = Entry.of(shuffle(KRR(k=16, epsilon0=4.0), n=10_000), what="x", design=DESIGN, epsilon=1.0, delta=1e-6)
    seal = Ledger(file).spend("visitors", survey).record
    assert seal is not None
    assert main(["ledger", "check", str(file), "--last", seal.upper()]) == 0
    assert "release 4; no more were recorded after it" in capsys.readouterr().out
    shutil.copy(kept, file)
    assert main(["ledger", "check", str(file)]) == 0, "the positive control: by itself it looks whole"
    assert main(["ledger", "check", str(file), "--last", seal]) == 1
    assert f"fault: the record with the seal {seal} is not there" in capsys.readouterr().out
    assert main(["ledger", "check", str(file), "--last", "5e5e"]) == 2
    assert "last must be a SHA-256 digest" in capsys.readouterr().err


def test_export_as_csv_holds_no_formula(file: Path, tmp_path: Path) -> None:
    bad = Entry.of(
        shuffle(KRR(k=16, epsilon0=4.0), n=10_000), what="=cmd|' /C calc'!A0", design=DESIGN, epsilon=1.0, delta=1e-6
    )
    Ledger(file).spend("@SUM(A1:A9)", bad, limit_epsilon=2.0, limit_delta=1e-6)
    assert main(["ledger", "export", str(file), "--out", str(tmp_path / "budget.csv")]) == 0
    with (tmp_path / "budget.csv").open(newline="") as lines:
        row = next(iter(csv.DictReader(lines)))
    assert (row["population"], row["what"], row["id"]) == ("'@SUM(A1:A9)", "'=cmd|' /C calc'!A0", "4")


def test_a_ledger_without_a_release_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.sqlite").touch()
    assert main(["ledger", "show", str(tmp_path / "empty.sqlite")]) == 0
    assert "holds no release yet" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, reason",
    [
        (["show", "none.sqlite"], "must exist, got none"),
        (["check", "none.sqlite"], "must exist, got none"),
        (["export", "none.sqlite"], "must exist, got none"),
        (["show", "FILE", "--population", "app"], "population must be one of"),
        (["export", "FILE", "--out", "budget.xml"], "must end in .json or .csv"),
        (["export", "FILE", "--out", "nowhere/budget.csv"], "must exist, got none"),
        (["spend", "FILE"], "No such command"),
    ],
)
def test_a_wrong_request_is_answered_by_one_sentence(
    arguments: list[str], reason: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(file.parent.iterdir())
    assert main(["ledger", *(str(file) if each == "FILE" else each for each in arguments)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert reason in error
    assert sorted(file.parent.iterdir()) == before, "a question creates nothing"


@pytest.mark.parametrize("command", ["show", "check", "export"])
def test_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", command, "--help"]) == 0
    assert f"shuffledp ledger {command} budget.sqlite" in capsys.readouterr().out
