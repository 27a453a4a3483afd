"""A program that runs commands of shuffledp, kills them, and says what it saw: one JSON object a
line in, one out.

It has imported and computed everything once, and forks for every run. So a kill falls into reading,
randomising, spending, writing and renaming, not into the loading of libraries, and a hundred of
them cost seconds.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

from shuffledp.cli import main

ROOT = Path(__file__).parents[2]
STEPS = ("mkdir", "fsync", "rename", "replace", "unlink", "rmdir")  # the calls by which outputs come to be
LONGEST = 60  # seconds after which a run counts as hanging


class Runner:
    """The program, from outside."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.faults.runner"]
        self._program = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self) -> None:
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self._program.stdin.close()
        self._program.wait()
        self._program.stdout.close()

    def _ask(self, **asked: object) -> Any:
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        print(json.dumps(asked), file=self._program.stdin, flush=True)
        return json.loads(self._program.stdout.readline())

    def warm(self, *arguments: object) -> None:
        """Run a command in the program itself, which then knows its calibration."""
        assert self._ask(do="warm", runs=[[str(each) for each in arguments]]) == 0

    def run(self, *arguments: object) -> tuple[int, str, float]:
        """The exit code of a command, all it said, and the seconds it took."""
        ((code, said, seconds),) = self.together(arguments)
        return code, said, seconds

    def together(self, *commands: Sequence[object]) -> list[tuple[int, str, float]]:
        """The same for several at once."""
        return [
            tuple(each) for each in self._ask(do="run", runs=[[str(each) for each in command] for command in commands])
        ]

    def one_by_one(self, *commands: Sequence[object]) -> list[tuple[int, str]]:
        """The exit codes of commands, and what they said, all in one child: quick, and shorter than
        ``commands`` if one of them ended it.
        """
        return [
            tuple(each)
            for each in self._ask(do="series", runs=[[str(each) for each in command] for command in commands])
        ]

    def kill_after(self, seconds: float, *arguments: object) -> int:
        """Kill a command after a time; its exit code, or the negative signal."""
        code: int = self._ask(do="time", seconds=seconds, runs=[[str(each) for each in arguments]])
        return code

    def kill_at(self, step: int, *arguments: object) -> int:
        """Kill a command just before it makes one of the calls in ``STEPS``, for the ``step``-th
        time; with fewer, it runs to its end.
        """
        code: int = self._ask(do="step", step=step, runs=[[str(each) for each in arguments]])
        return code


def fork(arguments: list[str], said: IO[bytes], prepare: Callable[[], object] = lambda: None) -> int:
    """Run a command in a child, which writes all it says to a file."""
    process = os.fork()
    if process == 0:
        code = 70
        try:
            for stream in (sys.stdout, sys.stderr):
                os.dup2(said.fileno(), stream.fileno())
            signal.alarm(LONGEST)
            prepare()
            code = main(arguments)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)
    return process


def ended(process: int) -> int:
    """The exit code of a child; below 0, the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def run(commands: list[list[str]]) -> list[tuple[int, str, float]]:
    """Run commands at once, each in a child."""
    began = time.monotonic()
    files = [tempfile.TemporaryFile() for _ in commands]  # noqa: SIM115
    children = [fork(command, file) for command, file in zip(commands, files, strict=True)]
    answers = []
    for process, file in zip(children, files, strict=True):
        code = ended(process)
        with file:
            file.seek(0)
            answers.append((code, file.read().decode(), time.monotonic() - began))
    return answers


def series(commands: list[list[str]]) -> list[tuple[int, str]]:
    """Run commands one after the other, in one child that writes what came of each to a file."""
    with tempfile.TemporaryFile() as results:
        process = os.fork()
        if process == 0:
            signal.alarm(LONGEST)
            try:
                for command in commands:
                    said = io.StringIO()
                    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                        code = main(command)
                    os.write(results.fileno(), json.dumps((code, said.getvalue())).encode() + b"\n")
            finally:
                os._exit(0)
        ended(process)
        results.seek(0)
        return [json.loads(line) for line in results]


def killed(arguments: list[str], *, seconds: float | None = None, prepare: Callable[[], object] = lambda: None) -> int:
    """Run a command in a child that is killed after a time, or that kills itself."""
    with tempfile.TemporaryFile() as said:
        process = fork(arguments, said, prepare)
        if seconds is not None:
            time.sleep(seconds)
            os.kill(process, signal.SIGKILL)
        return ended(process)


def deadly(step: int) -> Callable[[], None]:
    """Make one of the calls in ``STEPS`` kill the process instead."""

    def prepare() -> None:
        count = iter(range(1 << 30))

        def watched(call: Callable[..., Any]) -> Callable[..., Any]:
            def run(*given: Any, **named: Any) -> Any:
                if next(count) == step:
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*given, **named)

            return run

        for name in STEPS:
            setattr(os, name, watched(getattr(os, name)))

    return prepare


def serve(questions: IO[str], answers: IO[str]) -> None:
    """Answer until nobody asks."""
    for line in questions:
        asked = json.loads(line)
        first = asked["runs"][0]
        answer: object
        if asked["do"] == "warm":
            answer = main(first)
        elif asked["do"] == "run":
            answer = run(asked["runs"])
        elif asked["do"] == "series":
            answer = series(asked["runs"])
        elif asked["do"] == "time":
            answer = killed(first, seconds=asked["seconds"])
        else:
            answer = killed(first, prepare=deadly(asked["step"]))
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    with os.fdopen(os.dup(sys.stdout.fileno()), "w") as answers:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        serve(sys.stdin, answers)
