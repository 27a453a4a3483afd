"""The command verify, from a file to an exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import shuffledp.cli.verify  # noqa: F401
from shuffledp.cli import main
from shuffledp.record import read_record
from tests.verify.releases import as_page, facts, rehashed


def test_a_report_passes_with_exit_code_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "page.html").write_text(as_page(facts("tiny")), encoding="utf-8")
    assert main(["verify", str(tmp_path / "page.html")]) == 0
    shown = capsys.readouterr().out
    assert "FAIL" not in shown
    assert shown.lstrip().startswith("pass:")


def test_a_wrong_report_fails_with_exit_code_1_and_says_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = facts("tiny")
    made["certificate"]["epsilon"]["upper"] *= 0.99
    (tmp_path / "estimates.json").write_text(json.dumps(rehashed(made)), encoding="utf-8")
    assert main(["verify", str(tmp_path / "estimates.json"), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "FAIL"
    assert "epsilon at delta = 0.001, upper" in told["failed"]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"<html>", b'{"format": "shuffledp-release"', None])
def test_what_is_no_report_is_one_line_and_exit_code_2(
    content: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "page.html"
    if content is not None:
        file.write_bytes(content)
    assert main(["verify", str(file)]) == 2
    told = capsys.readouterr()
    assert not told.out
    assert told.err.startswith("error: ")
    assert told.err.count("\n") == 1
    assert main(["verify", str(tmp_path)]) == 2


def test_a_device_without_an_end_is_no_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shuffledp.cli.verify.LARGEST", 1000)
    assert main(["verify", "/dev/zero"]) == 2
    assert "must be a page, got a file of more than 1000 bytes" in capsys.readouterr().err


def test_a_ledger_that_is_none_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "page.html").write_text(as_page(facts("tiny")), encoding="utf-8")
    (tmp_path / "ledger.sqlite").write_text("not a ledger", encoding="utf-8")
    assert main(["verify", str(tmp_path / "page.html"), "--ledger", str(tmp_path / "ledger.sqlite")]) == 2
    told = capsys.readouterr()
    assert not told.out
    assert "must be a ledger of shuffledp" in told.err


def test_json_that_is_called_a_page_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A browser would show what its notes hold, and the verdict was about its numbers alone."""
    made = facts("tiny")
    made["notes"] = ["<h1>epsilon = 0.001, certified</h1><!--"]
    for name in ("page.html", "PAGE.HTM", ".html"):
        (tmp_path / name).write_text(json.dumps(made), encoding="utf-8")
        assert main(["verify", str(tmp_path / name)]) == 2
        assert "must be a page, as its name says, got JSON" in " ".join(capsys.readouterr().err.split())


def another_version() -> str:
    """A page that shuffledp 9 wrote, in its own words."""
    made = facts("tiny")
    made["made"]["shuffledp"] = "9.0.0"
    return as_page(rehashed(made)).replace("How answers were protected", "How we hid them", 1)


def test_a_page_of_another_version_is_not_checked_says_its_first_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, new = tmp_path / "page.html", tmp_path / "new.html"
    page.write_text(another_version(), encoding="utf-8")
    assert main(["verify", str(page)]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("THE PAGE WAS NOT CHECKED: shuffledp 9.0.0 wrote it, says its record, and this is")
    assert "The record inside it: pass: everything that was computed again agrees" in said
    assert main(["verify", str(page), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["verdict"] == "incomplete"
    assert main(["verify", str(page), "--rewrite", str(new)]) == 3
    assert f"Wrote{new}" in "".join(capsys.readouterr().out.split())  # a long path is cut into lines
    assert main(["verify", str(new)]) == 0
    assert read_record(new.read_text(encoding="utf-8")) == read_record(page.read_text(encoding="utf-8"))
    capsys.readouterr()
    assert main(["verify", str(page), "--rewrite", str(new)]) == 2
    assert "exists. Name a new file" in capsys.readouterr().err


def test_no_page_is_written_of_a_record_that_does_not_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = facts("tiny")
    made["certificate"]["epsilon"]["upper"] *= 0.99
    (tmp_path / "estimates.json").write_text(json.dumps(rehashed(made)), encoding="utf-8")
    assert main(["verify", str(tmp_path / "estimates.json"), "--rewrite", str(tmp_path / "new.html")]) == 2
    assert "a page is written only of a record that holds, got FAIL" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "new.html").exists()
    (tmp_path / "estimates.json").write_text(json.dumps(facts("tiny")), encoding="utf-8")
    assert main(["verify", str(tmp_path / "estimates.json"), "--rewrite", str(tmp_path / "new.html")]) == 0
    assert (tmp_path / "new.html").read_text(encoding="utf-8") == as_page(facts("tiny"))
