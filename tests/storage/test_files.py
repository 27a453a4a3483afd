"""A file or a folder that shuffledp writes is there as a whole or not at all."""

from __future__ import annotations

import csv
import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.storage.files import (
    LONGEST,
    check_new_folder,
    new_folder,
    plain_cell,
    read_secret,
    replace_file,
    write_table,
)

SLOW_WRITER = """
import sys, time
from pathlib import Path
from shuffledp.storage.files import new_folder

def fill(place):
    for number in range(40):
        (place / f"{number}.txt").write_text("x" * 1000)
        print(number, flush=True)
        time.sleep(0.002)

new_folder(Path(sys.argv[1]), fill, replacing=sys.argv[2:])
"""


def leftovers(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir() if each.name.endswith(".part")]


def complete(place: Path) -> None:
    for number in range(40):
        (place / f"{number}.txt").write_text("x" * 1000)


def kill_after(lines: int, arguments: list[str]) -> None:
    """Run the slow writer and kill it once it has printed so many lines; -1 lets it end."""
    process = subprocess.Popen([sys.executable, "-c", SLOW_WRITER, *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for _ in range(lines):
        process.stdout.readline()
    if lines == 40:
        time.sleep(0.002)  # somewhere between the last file and the renaming
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()


@pytest.mark.parametrize("lines", [0, 1, 7, 23, 39, 40])
def test_a_killed_writer_leaves_no_folder_or_a_whole_one_and_the_next_run_works(tmp_path: Path, lines: int) -> None:
    target = tmp_path / "result"
    kill_after(lines, [str(target)])
    if target.exists():
        assert len(list(target.iterdir())) == 40
    else:
        new_folder(target, complete)
        assert len(list(target.iterdir())) == 40
        assert leftovers(tmp_path) == []


@pytest.mark.parametrize("lines", [1, 39, 40])
def test_a_killed_replacement_loses_neither_the_old_folder_nor_the_new(tmp_path: Path, lines: int) -> None:
    target = tmp_path / "result"
    new_folder(target, lambda place: (place / "old").write_text("old"))
    kill_after(lines, [str(target), "old"])
    with pytest.raises(InvalidInput, match="must not exist yet"):  # sweeping brings back what had stepped aside
        new_folder(target, complete)
    names = {each.name for each in target.iterdir()}
    assert names == {"old"} or len(names) == 40
    assert leftovers(tmp_path) == []


def test_an_old_folder_that_stepped_aside_for_a_dead_run_comes_back(tmp_path: Path) -> None:
    aside = tmp_path / ".result.0123456789abcdef.old.part"
    aside.mkdir()
    (aside / "old").write_text("old")
    with pytest.raises(InvalidInput, match="must not exist yet"):
        new_folder(tmp_path / "result", complete)
    assert (tmp_path / "result" / "old").read_text() == "old"


def test_what_a_living_run_has_begun_is_left_alone(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_WRITER, str(tmp_path / "result")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    os.kill(process.pid, signal.SIGSTOP)
    (theirs,) = leftovers(tmp_path)
    new_folder(tmp_path / "result", complete)
    assert leftovers(tmp_path) == [theirs]
    os.kill(process.pid, signal.SIGCONT)
    process.communicate()
    assert process.returncode != 0, "the second one finds the folder there"
    assert len(list((tmp_path / "result").iterdir())) == 40


def test_two_writers_of_one_file_in_one_process_never_mix(tmp_path: Path) -> None:
    """The name of a temporary file says nothing about its process: containers share a folder and a
    process id.
    """
    target, begun, go = tmp_path / "answer", threading.Event(), threading.Event()

    def slow(place: Path) -> None:
        place.write_text("A" * 10)
        begun.set()
        go.wait(10)

    first = threading.Thread(target=replace_file, args=(target, slow))
    first.start()
    begun.wait(10)
    replace_file(target, lambda place: place.write_text("B" * 10))
    assert target.read_text() == "B" * 10
    go.set()
    first.join()
    assert target.read_text() == "A" * 10
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("name", [".result.my-notes.part", ".result.v2.0123456789abcdef.old.part", ".result.123.part"])
def test_files_that_merely_look_like_ours_are_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    new_folder(tmp_path / "result", complete)
    assert (tmp_path / name).is_dir()


def test_a_replaced_file_keeps_who_may_read_it(tmp_path: Path) -> None:
    target = tmp_path / "answer.json"
    target.write_text("old")
    target.chmod(0o600)
    replace_file(target, lambda place: place.write_text("new"))
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("new", 0o600)


def test_what_is_not_in_place_yet_is_nobody_elses_to_read(tmp_path: Path) -> None:
    """A release may be held back until its file is in place; what a killed run leaves beside it
    must not give it away.
    """
    modes: list[int] = []

    def look(*_: Path) -> None:
        modes.extend(each.stat().st_mode & 0o777 for each in tmp_path.glob(".*.part"))

    before = os.umask(0o022)
    try:
        replace_file(tmp_path / "answer", look, last=look)
        new_folder(tmp_path / "result", look)
    finally:
        os.umask(before)
    assert modes == [0o600, 0o600, 0o700], (
        "as little when it is complete, and waits for the ledger, as when it is filled"
    )
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("answer", "result")] == [0o644, 0o755]


def test_an_error_while_filling_leaves_nothing(tmp_path: Path) -> None:
    def fail(place: Path) -> None:
        (place / "half").write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(InvalidInput, match="must be writable, got: No space left on device"):
        new_folder(tmp_path / "result", fail)
    assert list(tmp_path.iterdir()) == []


def test_a_replaced_folder_is_the_new_one(tmp_path: Path) -> None:
    target = tmp_path / "result"
    new_folder(target, lambda place: (place / "old").write_text("old"))
    new_folder(target, lambda place: (place / "new").write_text("new"), replacing={"old"})
    assert [each.name for each in target.iterdir()] == ["new"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.mkdir(), "must not exist yet"),
        (lambda path: path.write_text("x"), "must not exist yet"),
        (lambda path: path.symlink_to("nowhere"), "must not exist yet"),
    ],
)
def test_what_is_there_is_never_overwritten_unasked(tmp_path: Path, make: object, words: str) -> None:
    make(tmp_path / "result")  # type: ignore[operator]
    with pytest.raises(InvalidInput, match=words):
        check_new_folder(tmp_path / "result")


@pytest.mark.parametrize("replacing", [(), ("answer",)])
def test_what_came_there_at_the_last_moment_is_not_replaced_unasked(
    tmp_path: Path, replacing: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the last look and the renaming another run may put its own answer there."""
    target = tmp_path / "result"
    if replacing:
        new_folder(target, lambda place: (place / "answer").write_text("old"))

    def another(*_: object) -> None:
        target.mkdir(exist_ok=True)
        (target / "precious").write_text("theirs")

    monkeypatch.setattr("shuffledp.storage.files.os.chmod", another)
    with pytest.raises(
        InvalidInput,
        match=(
            r"must be writable, got: Directory not empty|result' must hold nothing else to be replaced, got "
            r"'precious'"
        ),
    ):
        new_folder(target, lambda place: (place / "answer").write_text("mine"), replacing=replacing)
    assert sorted(each.name for each in target.iterdir()) == sorted({"precious", *replacing})
    assert [each.name for each in tmp_path.iterdir()] == ["result"]


def test_a_folder_with_the_longest_name_can_be_replaced(tmp_path: Path) -> None:
    """The name under which it steps aside is longer still, and nobody asks for that one."""
    path = tmp_path / ("n" * LONGEST)
    for text in ("old", "new"):
        new_folder(path, lambda place, text=text: (place / "a").write_text(text), replacing=("a",))  # type: ignore[misc]
    assert [each.read_text() for each in tmp_path.rglob("a")] == ["new"]


def test_a_folder_that_stepped_aside_comes_back_when_the_run_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "result"
    new_folder(path, lambda place: (place / "a").write_text("old"))
    rename = os.rename

    def interrupted(source: Path, target: Path) -> None:
        if target == path and not source.name.endswith(".old.part"):
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(os, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        new_folder(path, lambda place: (place / "a").write_text("new"), replacing=("a",))
    assert [each.read_text() for each in tmp_path.rglob("*") if each.is_file()] == ["old"]
    assert (path / "a").exists()


def test_only_a_folder_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "result").write_text("precious")
    with pytest.raises(InvalidInput, match="must be a folder to be replaced"):
        check_new_folder(tmp_path / "result", replacing={"old"})
    with pytest.raises(InvalidInput, match="mkdir -p"):
        check_new_folder(tmp_path / "nowhere" / "result")


def test_a_name_with_wildcards_sweeps_only_its_own(tmp_path: Path) -> None:
    other = tmp_path / ".a.999999999.part"
    other.mkdir()
    new_folder(tmp_path / "*", complete)
    assert other.is_dir()


def test_a_file_that_cannot_be_written_keeps_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "answer.json"
    target.write_text("old")

    def fail(place: Path) -> None:
        place.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(InvalidInput, match="No space left on device"):
        replace_file(target, fail)
    assert target.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["answer.json"]


def test_a_folder_with_anything_else_in_it_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "result").mkdir()
    for name in ("old", "thesis.tex"):
        (tmp_path / "result" / name).write_text("precious")
    with pytest.raises(InvalidInput, match=r"got 'thesis\.tex' in it"):
        new_folder(tmp_path / "result", complete, replacing={"old"})
    assert (tmp_path / "result" / "thesis.tex").read_text() == "precious"


def test_a_disk_without_locks_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: int) -> None:
        raise OSError(errno.EBADF, "Bad file descriptor")

    monkeypatch.setattr("shuffledp.storage.files.fcntl.flock", refuse)
    new_folder(tmp_path / "result", complete)
    replace_file(tmp_path / "answer", lambda place: place.write_text("yes"))
    assert (tmp_path / "answer").read_text() == "yes"
    assert leftovers(tmp_path) == []


def test_a_pipe_or_a_link_named_like_a_temporary_file_holds_nobody_up(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("mine")
    pipes = [tmp_path / f".{name}.0123456789abcdef.part" for name in ("answer", "result")]
    links = [tmp_path / f".{name}.fedcba9876543210.old.part" for name in ("answer", "result")]
    for pipe, link in zip(pipes, links, strict=True):
        os.mkfifo(pipe)
        link.symlink_to(precious)
    waiting = threading.Thread(target=lambda: os.close(os.open(pipes[0], os.O_RDONLY)))
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive(), "the positive control: whoever opens such a pipe as a file waits for ever"
    os.close(os.open(pipes[0], os.O_WRONLY))
    waiting.join()
    signal.alarm(20)
    try:
        replace_file(tmp_path / "answer", lambda place: place.write_text("yes"))
        new_folder(tmp_path / "result", complete)
    finally:
        signal.alarm(0)
    assert (tmp_path / "answer").read_text() == "yes"
    assert not (tmp_path / "result").is_symlink()
    assert (precious / "file").read_text() == "mine"
    assert all(pipe.is_fifo() for pipe in pipes), "not ours, so left alone"
    assert all(link.is_symlink() for link in links)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder that belongs to somebody else")
def test_what_somebody_else_put_there_is_neither_removed_nor_taken_for_an_old_answer(tmp_path: Path) -> None:
    for name in (".result.0123456789abcdef.part", ".result.0123456789abcdef.old.part"):
        (tmp_path / name).mkdir()
        os.chown(tmp_path / name, 4321, 4321)
    new_folder(tmp_path / "result", complete)
    assert len(list((tmp_path / "result").iterdir())) == 40
    assert len(leftovers(tmp_path)) == 2


def test_a_lock_that_somebody_keeps_on_a_new_file_does_not_hold_us_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keepers, token = [], iter(["aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"])

    def make(name: str) -> str:
        (tmp_path / f".answer.{name}.part").unlink(missing_ok=True)
        return name

    real = os.open

    def watched(path: object, flags: int, mode: int = 0o777) -> int:
        handle = real(path, flags, mode)  # type: ignore[arg-type]
        if str(path).endswith("aaaa.part") and flags & os.O_CREAT:
            keepers.append(real(path, os.O_RDONLY))  # type: ignore[arg-type]
            fcntl.flock(keepers[0], fcntl.LOCK_EX)
        return handle

    monkeypatch.setattr("shuffledp.storage.files.TRIES", 2)
    monkeypatch.setattr("shuffledp.storage.files.secrets.token_hex", lambda _: make(next(token)))
    monkeypatch.setattr("shuffledp.storage.files.os.open", watched)
    replace_file(tmp_path / "answer", lambda place: place.write_text("yes"))
    assert (tmp_path / "answer").read_text() == "yes"
    os.close(keepers[0])


FORMULAS = [
    "=cmd|' /C calc'!A0",
    "+1+cmd",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "\uff1d1+1",
    "\uff0b1",
    "'quoted",
    "''twice",
    "=",
    "-",
]
HARMLESS = ["Oslo", "a=b", "3", "-5", "+1.5", "-1e-3", "1e5", "", " =1", "caf\u00e9", 'say "hi"', "a,b;c"]


def test_a_spreadsheet_runs_nothing_and_everything_can_be_read_back(tmp_path: Path) -> None:
    texts = [*FORMULAS, *HARMLESS, "a;=cmd|' /C calc'!A0"]
    write_table(tmp_path / "table.csv", ["=label", "number"], [(text, -1.5) for text in texts])
    with (tmp_path / "table.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    cells = [row[0] for row in rows]
    assert all(cell.startswith("'") for cell in cells[: len(FORMULAS)])
    assert cells[len(FORMULAS) : -1] == HARMLESS, "what is no formula is as it was"
    assert [cell.removeprefix("'") for cell in cells] == texts
    assert {row[1] for row in rows} == {"-1.5"}, "a number stays one"
    assert header == ["=label", "number"], "columns are named by us"
    assert '"a;=cmd' in (tmp_path / "table.csv").read_text(encoding="utf-8"), (
        "quoted: where ; parts cells, it parts none of ours"
    )
    plain = [text for text in FORMULAS if text[0] in "=+-@"]
    assert all(plain_cell(text) != text for text in plain), "the positive control: without it these begin a formula"


def test_too_few_open_files_is_said_as_such(tmp_path: Path) -> None:
    def fail(_: Path) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    with pytest.raises(InvalidInput, match=r"Too many open files\. .*ulimit -n"):
        replace_file(tmp_path / "answer", fail)


WORDS = {"what": "a secret", "whence": "Ask.", "instead": "make another.", "damaged": "Restore it."}


def test_a_secret_is_read_or_refused_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("0a1b\n")
    path.chmod(0o600)
    assert read_secret(path, 4, **WORDS) == "0a1b"
    for damaged in ("", "0a1", "0A1B", "0a1b\n\n", "0a1b0", "zzzz", "\ufeff0a1b"):
        path.write_text(damaged)
        with pytest.raises(InvalidInput, match=r"must hold 4 hexadecimal digits, got something else\. Restore it\."):
            read_secret(path, 4, **WORDS)
    path.chmod(0o604)
    with pytest.raises(InvalidInput, match=r"got permissions 604\. .* otherwise make another\."):
        read_secret(path, 4, **WORDS)
    with pytest.raises(InvalidInput, match=r"must be a secret, got none that can be read: .* Ask\."):
        read_secret(tmp_path / "none", 4, **WORDS)


def test_a_pipe_without_a_writer_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(InvalidInput, match="must hold 4 hexadecimal digits"):
        read_secret(tmp_path / "pipe", 4, **WORDS)
