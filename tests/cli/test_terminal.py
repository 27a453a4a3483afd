"""Colours and progress are for terminals: a pipe gets plain text."""

import io
import os
import pty
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from rich.console import Console

from shuffledp.cli import show
from tests.cli.people import CITIES

COMMAND = [sys.executable, "-m", "shuffledp"]
ESCAPE = b"\x1b"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """So many rows that reading them takes longer than the first sign of progress."""
    path = tmp_path_factory.mktemp("many") / "many.csv"
    path.write_text("city\n" + "".join(f"{city}\n" for city in CITIES) * 500_000, encoding="utf-8")
    return path


def asked(table: Path) -> list[str]:
    return [
        *COMMAND,
        "histogram",
        str(table),
        "--categories",
        ",".join(CITIES),
        "--epsilon",
        "0.1",
        "--delta",
        "1e-6",
        "--dry-run",
    ]


def test_a_pipe_gets_neither_colours_nor_progress(many: Path) -> None:
    surroundings = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR")}
    said = subprocess.run(asked(many), capture_output=True, env=surroundings | {"TERM": "xterm-256color"}, check=True)
    assert said.stderr == b""
    assert ESCAPE not in said.stdout
    assert b"2,000,000 people" in said.stdout


def test_a_terminal_gets_colours_and_progress_with_rate_and_time_left(many: Path) -> None:
    ours, theirs = pty.openpty()
    seen: list[bytes] = []

    def listen() -> None:
        try:
            while part := os.read(ours, 4096):
                seen.append(part)
        except OSError:  # the other end is closed
            pass

    listener = threading.Thread(target=listen)
    listener.start()
    surroundings = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR")}
    try:
        code = subprocess.run(
            asked(many),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=surroundings | {"TERM": "xterm", "COLUMNS": "120"},
            check=False,
        )
    finally:
        os.close(theirs)
        listener.join()
        os.close(ours)
    screen = b"".join(seen)
    assert code.returncode == 0, screen
    assert ESCAPE in screen
    plain = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", screen).decode()
    assert "reading" in plain
    assert re.search(r"[\d,]+ rows, \d+\.\d million a second", plain), plain
    assert re.search(r"\d:\d\d:\d\d", plain), "time left"
    assert "2,000,000 people" in plain


@pytest.mark.parametrize("columns", [20, 40, 80])
def test_a_command_to_be_copied_is_never_wrapped(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    command = (
        "shuffledp histogram 'a folder/affairs.csv' --column affair --categories yes,no --epsilon 1 --delta 1e-6 "
        "--out result"
    )
    words = "Three thousand reports were written to a file with a long name. Next:"
    show.sentences(
        [
            f"{words} {command}",
            f"\nTry: {command}",
            command,
            "No command is at the end of these words about shuffledp itself, which are wrapped.",
        ]
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines.count(command) == 3
    assert all(len(line) <= columns for line in lines if line != command)
    assert " ".join(words.split()) in " ".join(" ".join(lines).split())


def test_a_command_that_fits_stays_in_its_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    show.sentences(["Written to a.json. Next: shuffledp stage encode FILE --design a.json"])
    assert capsys.readouterr().out == "Written to a.json. Next: shuffledp stage encode FILE --design a.json\n"


def test_what_follows_the_last_row_is_said_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Certificate, figure and page take longer than the rows of a small table, and the bar stood
    still at its end.
    """
    screen = io.StringIO()
    monkeypatch.setattr(show, "Console", lambda **_: Console(file=screen, force_terminal=True, width=120))
    with show.progress("randomizing", then="certifying and writing") as watched:
        tick = watched(10, lambda: None)
        tick(4)
        tick(6)
    assert "certifying and writing" in screen.getvalue()


@pytest.mark.parametrize("sign", ["\u2028", "\x85", "\x1c"])
def test_a_name_with_a_sign_that_is_no_new_line_stays_in_its_row(sign: str, capsys: pytest.CaptureFixture[str]) -> None:
    show.table(["name", "count"], [(f"a{sign}b", "1")], numbers=1)
    assert len(capsys.readouterr().out.split("\n")) == 3
