"""What the code of a question says of a record: its page, its figure, and whether the answer is
right. It is found by the exact name that the design has.

Where another distribution wrote it, it is code of a stranger: it runs in a process of its own,
which is handed the record alone and answers in lines of JSON. Whatever it does there, no page
passes by it, and it is named with its package.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import cached_property, partial
from importlib import import_module
from tempfile import TemporaryFile
from traceback import format_exception_only
from typing import Any, get_args

from shuffledp.errors import InvalidInput, printable
from shuffledp.judge.effort import Effort
from shuffledp.page import html, release_svg
from shuffledp.questions import OURS, folder_of, origin_of
from shuffledp.record import Record, read_record
from shuffledp.verify.handed import Judge
from shuffledp.verify.outcomes import PAGE, Check, Outcome, unchecked, vital

ANSWER, REST, PART = "the estimates", "the rest of the recheck", "part "
LEAST, LONGEST = 10.0, 1000  # seconds that a stranger's code may take; letters of what it says
MOST, LARGEST = 10_000, 1 << 27  # lines of its answer, and checks of a part; bytes of all lines
THEIRS = "code of {} judged it, which is not part of shuffledp, and neither epsilon, delta nor the tally"
WORKER = "import sys; sys.path[:] = sys.argv[2:]; from shuffledp.verify.rechecks import work; work(float(sys.argv[1]))"
DEEDS: dict[str, Callable[[Record], Any]] = {
    "page": html,
    "figure": lambda record: release_svg(record)._repr_svg_(),
}


@dataclass(eq=False)
class Rechecker:
    """The code of the question of one record."""

    judge: Judge
    unsaid: str = ""

    @property
    def ours(self) -> bool:
        return self.judge.record.design.question.type in OURS

    @property
    def whose(self) -> str | None:
        """The package that it comes from, if not ours; refused where none is installed."""
        return origin_of(self.judge.record.design.question.type)

    def said(self, deed: str, form: type) -> Any:
        """The ``page`` or the ``figure``, in this form."""
        if self.ours:
            return DEEDS[deed](self.judge.record)
        done, value = self._told.get(deed, (False, self.unsaid))
        if not (done and isinstance(value, form)):
            raise InvalidInput(f"the code of {self.whose} {value if not done else 'returned something else'}")
        return value

    def answer(self) -> list[Check]:
        """All that the question itself can say: its labels, its domain, and every estimate."""
        judge, name = self.judge, self.judge.record.design.question.type
        if self.ours:
            return _recheck(judge)
        try:
            whose = str(self.whose)
        except InvalidInput as error:
            return [vital(unchecked(ANSWER, name, f"no code that is installed here judges them: {error}"))]
        told = {each.removeprefix(PART): said for each, said in self._told.items() if each.startswith(PART)}
        found = {part: _checks(part, whose, *said) for part, said in told.items()}
        done, measure = self._told.get("measure", (False, None))
        judge.measure = measure if done else None
        checks = [unchecked("who judged the answer", whose, THEIRS.format(whose)), *found.pop(ANSWER, [])]
        if self.unsaid:
            checks.append(vital(unchecked(REST, "", f"the recheck of {whose} {self.unsaid}")))
        judge.last = {part: partial(list, each) for part, each in found.items()}
        return checks

    @cached_property
    def _told(self) -> dict[str, tuple[bool, Any]]:
        """What a stranger's code answered, or why not; ``unsaid`` is why that is not all."""
        seconds, told = max(LEAST, self.judge.effort.seconds), dict[str, tuple[bool, Any]]()
        line = [sys.executable, "-I", "-c", WORKER, str(seconds), *sys.path]
        facts = json.dumps(self.judge.record.as_json()).encode()
        with TemporaryFile() as answer:  # no pipe, which whatever it leaves running would keep open
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": answer, "stderr": subprocess.DEVNULL}
            with subprocess.Popen(line, **pipes, start_new_session=True) as worker:
                try:
                    worker.communicate(facts, timeout=seconds)
                    self.unsaid = f"ended before it had answered, with code {worker.returncode}"
                except subprocess.TimeoutExpired:
                    self.unsaid = f"took more than {seconds:g} seconds"
                finally:
                    with suppress(ProcessLookupError, PermissionError):
                        os.killpg(worker.pid, signal.SIGKILL)
            answer.seek(0)
            lines = answer.read(LARGEST).splitlines()
        for each in lines[:MOST]:
            try:
                what, done, value = json.loads(each)
                told[_tame(what)] = (True, value) if done is True else (False, _tame(value))
            except (ValueError, TypeError, RecursionError):
                continue  # the half of a line
        if "end" in told:
            self.unsaid = ""
        return told


def work(seconds: float) -> None:
    """In the process of a stranger's code: each thing that is asked of it, in a line; what it
    prints itself is none of the answer.
    """
    with suppress(ValueError):  # there is a lower limit already
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, LARGEST))
    lines = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)

    def tell(what: str, deed: Callable[[], Any]) -> None:
        try:
            line = json.dumps([what, True, deed()])
        except BaseException as error:  # SystemExit, and any other that a stranger thinks of
            line = json.dumps([what, False, f"broke down: {printable(format_exception_only(error)[-1].strip()[:300])}"])
        print(line, file=lines, flush=True)

    record = read_record(sys.stdin.read())
    judge = Judge.of(record, Effort(seconds))
    for name, deed in DEEDS.items():
        tell(name, partial(deed, record))
    tell(PART + ANSWER, lambda: _rows(_recheck(judge)))
    for part, checks in judge.last.items():
        tell(PART + str(part), lambda checks=checks: _rows(checks()))  # type: ignore[misc]
    tell("measure", lambda: judge.measure)
    tell("end", lambda: True)


def _tame(words: object) -> str:
    """What it calls a part, or says of a failure: it may have written any line by itself."""
    return printable(str(words)[:LONGEST])


def _recheck(judge: Judge) -> list[Check]:
    """What the module says of a record, of which it gets a copy."""
    name = judge.record.design.question.type
    checks: list[Check] = import_module(f"{folder_of(name)}.recheck").recheck(judge.record.as_json(), judge)
    return checks


def _rows(found: object) -> list[tuple[Any, ...]] | None:
    """Checks, as they are handed over; of anything else none."""
    right = type(found) is list and all(type(each) is Check for each in found)
    return [astuple(each) for each in found] if right else None  # type: ignore[attr-defined]


def _checks(part: str, whose: str, done: bool, rows: Any) -> list[Check]:
    """What is none of the lines of a verification says nothing, and neither do none at all."""
    if done and type(rows) is list and 0 < len(rows) <= MOST and all(map(_is_check, rows)):
        return [Check(*each) for each in rows]
    why = "returned something other than checks" if done else rows
    return [vital(unchecked(part, "", f"the recheck of {whose} {why}"))]


def _is_check(row: Any) -> bool:
    if type(row) is not list or len(row) != 6:
        return False
    *texts, outcome, needed = row
    if type(outcome) is not str or outcome not in get_args(Outcome) or type(needed) is not bool or texts[0] == PAGE:
        return False
    return all(type(words) is str and len(words) <= LONGEST and words.isprintable() for words in texts)
