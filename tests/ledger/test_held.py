"""Locks that somebody else keeps, forks, and a process that may hardly open a file: nobody hangs,
and nothing is spent in silence.
"""

import fcntl
import os
import resource
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.ledger import Ledger
from shuffledp.ledger import file as store
from tests.ledger.made import LIMITS, entry


def in_child(act: Callable[[], object], *, seconds: int = 20) -> tuple[int, str]:
    """What a forked child says, and how it ended: 0, or the negative signal if it hung."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        try:
            said = str(act())
        except InvalidInput as error:
            said = str(error)
        os.write(writable, said.encode())
        os._exit(0)
    os.close(writable)
    with os.fdopen(readable) as lines:
        said = lines.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def test_a_child_forked_while_a_thread_holds_the_ledger_neither_hangs_nor_keeps_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "budget.sqlite"
    Ledger(path).spend("p", entry(), **LIMITS)
    plain, inside, leave = threading.RLock(), threading.Event(), threading.Event()

    def hold() -> None:
        with plain, store.held(path):
            inside.set()
            leave.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    assert inside.wait(30)
    ends, stay = os.pipe()
    child = os.fork()
    if child == 0:  # a daemon that outlives us
        os.close(stay)
        os.read(ends, 1)
        os._exit(0)
    assert in_child(lambda: plain.acquire(timeout=0.2)) == (0, "False"), (
        "the positive control: an ordinary lock stays locked in a child"
    )
    assert in_child(lambda: len(Ledger(path).releases())) == (0, "1")
    leave.set()
    thread.join()
    assert Ledger(path).spend("p", entry()).id == 2, "the daemon holds no copy of the lock"
    os.close(ends)
    os.close(stay)
    os.waitpid(child, 0)


def test_a_copy_of_the_handle_in_a_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    """Closing alone leaves the lock with whoever inherited the handle; the positive control shows
    it.
    """
    path = tmp_path / "file"
    path.touch()

    def locked_by_another() -> bool:
        probe = os.open(path, os.O_RDWR)
        try:
            fcntl.flock(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(probe)
        return False

    for let_go, kept in ((os.close, True), (store._let_go, False)):
        handle = os.open(path, os.O_RDWR)
        fcntl.flock(handle, fcntl.LOCK_EX)
        ends, stay = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(stay)
            os.read(ends, 1)
            os._exit(0)
        let_go(handle)
        assert locked_by_another() is kept
        os.close(stay)
        os.close(ends)
        os.waitpid(child, 0)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_lock_that_somebody_keeps_is_a_sentence_after_a_while(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "budget.sqlite"
    if what == "file":
        Ledger(path).spend("p", entry(), **LIMITS)
    monkeypatch.setattr(store, "WAIT", 0.1)
    keeper = os.open(path if what == "file" else tmp_path, os.O_RDONLY)
    fcntl.flock(keeper, fcntl.LOCK_EX)
    with pytest.raises(InvalidInput, match=r"must be free within 0\.1 s"):
        Ledger(path).spend("p", entry(), **LIMITS)
    os.close(keeper)
    assert Ledger(path).spend("p", entry(), **LIMITS).id == 1 + (what == "file")


def test_a_note_that_fails_does_not_say_that_nothing_was_released(tmp_path: Path) -> None:
    """By then the output stands."""
    path = tmp_path / "budget.sqlite"
    Ledger(path).spend("p", entry(), **LIMITS)
    taken = max(map(int, os.listdir("/proc/self/fd"))) + 1

    def publish_with(files: int) -> object:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        return Ledger(path).publish(1, "ab" * 32)

    said = [
        in_child(lambda files=files: publish_with(files))[1] for files in (3, *range(taken, taken + 6))
    ]  # numbers below may be free
    refusals = [each for each in said if each != "None"]
    assert refusals
    assert not any("released" in each for each in refusals)


def test_with_few_open_files_a_spend_succeeds_or_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "budget.sqlite"
    Ledger(path).spend("p", entry(n=10**9), limit_epsilon=5.0, limit_delta=1e-6)
    taken = len(os.listdir("/proc/self/fd"))

    def spend_with(files: int) -> object:
        while (last := os.open(os.devnull, os.O_RDONLY)) < taken:
            pass  # a limit is on the numbers of files, and other tests may have left gaps in them
        os.close(last)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        return Ledger(path).spend("p", entry(n=10**9)).id

    done, refused = 1, 0
    for files in range(taken - 2, taken + 10):
        code, said = in_child(lambda files=files: spend_with(files))
        assert code == 0
        recorded = len(Ledger(path).releases())
        if said.isdigit():
            assert recorded == int(said) == done + 1
            done += 1
            continue
        refused += 1
        assert "\n" not in said
        assert "Too many open files" in said or "ulimit" in said, said
        assert recorded == done or "it counts as spent" in said, "never in silence"
        done = recorded
    assert refused >= 2
    assert done >= 2
    assert Ledger(path).check().faults == ()
