"""Processes that help: their answers in order, their ends in one sentence, and none that outlives us."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from shuffledp.errors import ShuffledpError
from shuffledp.survey import all_cores
from shuffledp.survey.all_cores import on_all_cores
from shuffledp.survey.envelopes import Envelopes
from tests.survey.studies import KEY, study

KILLED = """
import os, signal
from shuffledp.survey import all_cores

started, usual = [], all_cores._start
all_cores._start = lambda: started.append(usual()) or started[-1]
answers = all_cores.on_all_cores(abs, range(100), processes=2)
next(answers)
print(*(each.pid for each in started), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[all_cores.Process]:
    """All processes that were started."""
    found: list[all_cores.Process] = []
    usual = all_cores._start

    def start() -> all_cores.Process:
        found.append(usual())
        return found[-1]

    monkeypatch.setattr(all_cores, "_start", start)
    return found


def test_answers_come_in_order_and_few_parts_are_done_here(started: list[all_cores.Process]) -> None:
    assert list(on_all_cores(abs, [-1, 2], processes=2)) == [1, 2]
    assert list(on_all_cores(abs, [-1, 2, -3, 4], processes=1)) == [1, 2, 3, 4]
    assert started == []
    assert list(on_all_cores(abs, range(-30, 0), processes=2)) == list(range(30, 0, -1))
    assert 1 <= len(started) <= 2
    assert all(each.poll() is not None for each in started)


def test_a_system_that_does_not_say_which_cores_are_ours_has_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """As macOS: there is no such function."""
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert list(on_all_cores(abs, range(-4, 0))) == [4, 3, 2, 1]


def test_reports_are_sealed_in_their_order_whoever_seals_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_cores, "SLICE", 3)
    reports = np.arange(20, dtype=np.uint8) % 3
    for processes in (1, 2):
        found = all_cores.sealed(study(), [reports[:11], reports[11:]], processes=processes)
        envelopes = [each for some in found for each in some]
        assert Envelopes(study()).opened(envelopes, KEY).tolist() == reports.tolist()


def test_no_more_parts_are_taken_than_processes_are_busy_with(started: list[all_cores.Process]) -> None:
    taken: list[int] = []

    def parts() -> Iterator[int]:
        for part in range(1000):
            taken.append(part)
            yield part

    answers = on_all_cores(abs, parts(), processes=2)
    assert next(answers) == 0
    assert len(taken) <= 2 * 2 + 1
    answers.close()  # type: ignore[attr-defined]
    assert started
    assert all(each.poll() is not None for each in started), "nobody wants the rest"


def test_what_goes_wrong_there_is_said_here(started: list[all_cores.Process]) -> None:
    with pytest.raises(TypeError, match="bad operand type"):
        list(on_all_cores(abs, [1, 2, "three", 4], processes=2))  # type: ignore[arg-type, list-item]
    assert all(each.poll() is not None for each in started)


def test_a_process_that_dies_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_cores.sys, "executable", "/bin/false")
    with pytest.raises(ShuffledpError, match="must live to its end, got one that ended with code"):
        list(on_all_cores(abs, range(5), processes=2))


def test_they_end_when_we_are_killed() -> None:
    """They would hold what they were to seal, for ever, in the memory of nobody's process."""
    ended = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    assert ended.stdout.split()
    for pid in ended.stdout.split():
        wait_for_end(int(pid))


def wait_for_end(pid: int) -> None:
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([watched], [], [], 60.0)[0], "readable when the process has ended"
    finally:
        os.close(watched)
