"""The command send, for one person and for a table."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from shuffledp.cli import main
from shuffledp.storage.canonical import canonical
from shuffledp.survey.courier import Courier
from shuffledp.survey.envelopes import Envelopes
from shuffledp.survey.wire import code_text, hash_of_code
from tests.survey.pretended import HTML, Pretended
from tests.survey.studies import KEY, study

CODES = [bytes([number]) * 16 for number in range(1, 9)]
ANSWERS = (
    "id,answer\na,yes\nb,no\nc,\nd,yes\na,no\ne,no\nf,yes\ng,yes\n"  # eight rows, seven people, one without a value
)


class Device:
    """A folder, and a shuffler that answers whatever is sent from there."""

    def __init__(self, folder: Path, shuffler: Pretended) -> None:
        self.folder, self.shuffler, self.file = folder, shuffler, folder / "collection.json"
        self.file.write_bytes(shuffler.collection.content)
        (folder / "people.csv").write_text(ANSWERS)

    def send(self, *words: str) -> int:
        return main(["survey", "send", str(self.file), "--outbox", str(self.folder / "box"), *words])

    def table(self, *words: str) -> int:
        rows = () if "--id" in words else ("--one-row-per-person",)
        return self.send("--table", str(self.folder / "people.csv"), "--column", "answer", *rows, *words)


@pytest.fixture
def device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    usual = Courier.to

    def made(*first: Any, codes: int | None = None, **named: Any) -> Device:
        asked = study(**named, codes=codes is not None)
        hashes = None if codes is None else [hash_of_code(asked.digest, code) for code in CODES[:codes]]
        shuffler = Pretended(asked, *first, codes=hashes)
        monkeypatch.setattr(Courier, "to", lambda given, **_: usual(given, transport=shuffler.transport))
        return Device(tmp_path, shuffler)

    monkeypatch.setattr(Courier, "pause", lambda *_: None)
    return made


def test_an_answer_is_sent_once_and_what_it_means_is_said(device: Any, capsys: pytest.CaptureFixture[str]) -> None:
    mine = device()
    assert mine.send("--value", "yes", "--certify", "--digest", mine.shuffler.collection.digest) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "1 report is acknowledged" in said
    assert "Promised to you, and checked: epsilon at most 2" in said
    assert "e^epsilon0" in said
    assert mine.send("--value", "yes") == 0
    assert "has reported to this collection already, and nothing was sent" in " ".join(capsys.readouterr().out.split())
    assert len(mine.shuffler.seen) == mine.shuffler.posted == 1


def test_an_answer_can_come_from_standard_input(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = device()
    monkeypatch.setattr("sys.stdin", io.StringIO("rather not say\n"))
    assert mine.send("--value", "-") == 0
    assert len(mine.shuffler.envelopes) == 1


def test_on_a_terminal_an_answer_is_asked_for_and_not_shown(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, asked = device(), list[str]()
    terminal = io.StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr("sys.stdin", terminal)

    def typed(prompt: str) -> str:
        asked.append(prompt)
        if len(asked) == 1:
            raise EOFError
        return "no"

    monkeypatch.setattr("shuffledp.cli.send.getpass", typed)
    assert mine.send("--value", "-") == 2
    assert mine.send("--value", "-") == 0
    assert asked == ["Your answer: "] * 2


def test_a_dry_run_leaves_nothing(device: Any, capsys: pytest.CaptureFixture[str]) -> None:
    mine = device(codes=1)
    assert mine.send("--value", "yes", "--code", code_text(CODES[0]), "--dry-run") == 0
    assert "nothing sent" in capsys.readouterr().out
    assert mine.send("--value", "maybe", "--code", code_text(CODES[0]), "--dry-run") == 2
    (mine.folder / "codes.txt").write_text("".join(f"{code_text(code)}\n" for code in CODES))
    assert mine.table("--codes", str(mine.folder / "codes.txt"), "--dry-run", "--json") == 0
    (mine.folder / "codes.txt").write_text(f"{code_text(CODES[0])}\n")
    assert mine.table("--codes", str(mine.folder / "codes.txt"), "--dry-run") == 2
    assert "a line for every row of the table, got 1 for 8 rows" in capsys.readouterr().err
    assert not (mine.folder / "box").exists()
    assert mine.shuffler.requests == []


def test_what_could_not_be_sent_ends_with_1_and_goes_on(device: Any, capsys: pytest.CaptureFixture[str]) -> None:
    mine = device(HTML, *[httpx.ConnectError("refused")] * 6)
    assert mine.send("--value", "yes", "--json") == 1
    assert "no shuffler" in json.loads(capsys.readouterr().err)["error"]
    assert mine.send("--value", "yes") == 1
    assert "run the same command again" in capsys.readouterr().err
    assert mine.send("--value", "yes", "--json") == 0
    assert json.loads(capsys.readouterr().out)["drawn"] is False
    assert len(mine.shuffler.seen) == 1


@pytest.mark.parametrize(
    "words, named",
    [
        ((), "either --value or --table"),
        (("--value", "yes", "--table", "people.csv"), "either --value or --table"),
        (("--value", "yes", "--column", "answer"), "--column must be left out"),
        (("--value", "yes", "--strip"), "--strip must be left out"),
        (("--table", "people.csv", "--code", "A"), "--code must be left out"),
        (("--value", "yess"), "Did you mean 'yes'"),
        (("--value", "yes", "--digest", "00"), "must have the digest"),
        (("--value", "yes", "--most-epsilon0", "0.1"), "--most-epsilon0"),
        (("--value", "yes", "--code", "AAAQ-EAYE-AUDA-OCAJ-BIFQ-YDIO-B4"), "--code must be left out"),
        (("--table", "nowhere.csv"), "nowhere.csv"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    device: Any, words: tuple[str, ...], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = device()
    assert mine.send(*words) == 2
    said = capsys.readouterr().err
    assert named in said
    assert said.count("\n") == 1
    assert mine.shuffler.requests == []


def test_a_table_is_sent_row_by_row_in_one_go(device: Any, capsys: pytest.CaptureFixture[str]) -> None:
    mine = device()
    assert mine.table("--id", "id", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["acknowledged"], said["missing"], said["repeated"], said["waiting"]) == (6, 1, 1, 0)
    assert len(Envelopes(mine.shuffler.collection).opened(mine.shuffler.envelopes, KEY)) == 6
    assert mine.shuffler.posted == 1
    assert mine.table("--id", "id") == 2
    assert mine.shuffler.posted == 1


def test_a_table_that_was_interrupted_sends_the_same_bytes(device: Any) -> None:
    """Also if the answers have been deleted since."""
    mine = device(HTML)
    assert mine.table() == 1
    (mine.folder / "people.csv").unlink()
    assert mine.table() == 0
    assert len(mine.shuffler.seen) == 7
    assert mine.shuffler.seen == mine.shuffler.envelopes


def test_codes_of_a_table_that_are_refused_hold_no_other_up(device: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows 0, 1, 3, 4, 5, 6 and 7 have a value; the shuffler knows the codes of rows 0 to 5."""
    mine = device(codes=6)
    (mine.folder / "codes.txt").write_text("".join(f"{code_text(code)}\n" for code in CODES))
    given = ("--codes", str(mine.folder / "codes.txt"))
    assert mine.table(*given) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "5 reports are acknowledged" in said
    assert "2 more wait, since their codes were refused (2 times: this code is unknown.)" in said
    known = {hash_of_code(mine.shuffler.collection.digest, code) for code in CODES}
    assert mine.shuffler.unused == {hash_of_code(mine.shuffler.collection.digest, CODES[2])}, "nobody is shifted"
    mine.shuffler.unused = known - mine.shuffler.used
    assert mine.table(*given, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["acknowledged"], said["before"], said["drawn"], said["waiting"]) == (7, 5, False, 0)
    assert mine.shuffler.seen == mine.shuffler.envelopes
    assert len(mine.shuffler.seen) == 7


def test_codes_of_a_table_are_checked_before_anything_is_drawn(device: Any, capsys: pytest.CaptureFixture[str]) -> None:
    mine = device(codes=8)
    file = mine.folder / "codes.txt"
    assert mine.table() == 2
    for content, named in (
        ("", "for 8 rows"),
        (f"{code_text(CODES[0])}\n" * 8, "every code once"),
        ("x\n", "26 letters"),
        ("\u00e4\n", "no text"),
        ("".join(f"{code_text(bytes([each]) * 16)}\n" for each in range(9)), "got 9 for 8 rows"),
    ):
        capsys.readouterr()
        file.write_text(content)
        assert mine.table("--codes", str(file)) == 2
        assert named in capsys.readouterr().err
    assert mine.shuffler.requests == []
    assert [each for each in (mine.folder / "box").iterdir() if each.suffix == ".outbox"] == []


def test_a_table_without_values_sends_nothing(device: Any, capsys: pytest.CaptureFixture[str]) -> None:
    mine = device()
    (mine.folder / "people.csv").write_text("id,answer\na,\n")
    assert mine.table() == 2
    assert "at least one value" in capsys.readouterr().err
    (mine.folder / "people.csv").write_text("id,answer\na,yes\nb,maybe\n")
    assert mine.table() == 2
    assert "must hold only the 3 categories" in capsys.readouterr().err
    assert mine.shuffler.requests == []


def test_one_person_does_not_send_what_a_table_left(device: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor is their code spent on somebody else's report."""
    mine = device(codes=7)
    (mine.folder / "codes.txt").write_text("".join(f"{code_text(code)}\n" for code in CODES))
    assert mine.table("--codes", str(mine.folder / "codes.txt")) == 1, "one report waits for its code"
    sent = mine.shuffler.posted
    capsys.readouterr()
    assert mine.send("--value", "yes", "--code", code_text(CODES[2])) == 2
    assert "holds the reports of a table" in capsys.readouterr().err
    assert mine.shuffler.posted == sent
    assert hash_of_code(mine.shuffler.collection.digest, CODES[2]) in mine.shuffler.unused


def test_another_table_is_not_taken_for_one_that_was_sent(device: Any, capsys: pytest.CaptureFixture[str]) -> None:
    mine = device()
    assert mine.table() == 0
    (mine.folder / "people.csv").write_text("id,answer\nx,yes\ny,no\n")
    capsys.readouterr()
    assert mine.table() == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "got one whose 7 reports to this collection were all acknowledged before: nothing was sent" in said
    assert "nobody may be in both" in said
    assert len(mine.shuffler.seen) == 7


def test_what_a_report_says_is_shown_before_an_answer_is_asked_for(
    device: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = device()
    before: list[str] = []

    def asked() -> str:
        before.append(capsys.readouterr().out)
        assert mine.shuffler.requests == []
        return "yes"

    monkeypatch.setattr("shuffledp.cli.send._asked", asked)
    assert mine.send("--value", "-") == 0
    assert "Without that: epsilon0 =" in before[0]
    assert "1 report is acknowledged" in capsys.readouterr().out


def test_a_code_that_is_none_is_found_by_its_line(device: Any, capsys: pytest.CaptureFixture[str]) -> None:
    mine = device(codes=8)
    file = mine.folder / "codes.txt"
    file.write_text(f"{code_text(CODES[0])}\nnone\n")
    assert mine.table("--codes", str(file)) == 2
    assert f"line 2 of {str(file)!r} must be a code" in capsys.readouterr().err


def test_names_in_a_file_do_not_steer_the_terminal(device: Any, capsys: pytest.CaptureFixture[str]) -> None:
    mine = device()
    facts = mine.shuffler.collection.as_json()
    facts["design"]["\x1b[2J\u202e"] = 1
    mine.file.write_text(canonical(facts) + "\n")
    assert mine.send("--value", "yes") == 2
    said = capsys.readouterr().err
    assert r"\x1b[2J\u202e" in said
    assert said.rstrip("\n").isprintable()
