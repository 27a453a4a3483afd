"""The recheck of a question, found by the exact name that the design has. Where another
distribution wrote it, it is code of a stranger: whatever goes wrong in it, and whatever it returns,
no page passes by it, and it is named with its package.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from functools import partial
from importlib import import_module
from threading import Thread
from traceback import format_exception_only
from typing import Any, get_args

from shuffledp.errors import InvalidInput, printable
from shuffledp.questions import OURS, folder_of, origin_of
from shuffledp.record import embedded_json
from shuffledp.verify.check_page import PAGE
from shuffledp.verify.handed import Judge, Part
from shuffledp.verify.outcomes import Check, Outcome, unchecked, vital

ANSWER = "the estimates"
LEAST, LONGEST = 1.0, 1000  # seconds that a stranger's code may take; letters of what it says
THEIRS = "code of {} judged it, which is not part of shuffledp, and neither epsilon, delta nor the tally"


def check_answer(text: str, judge: Judge) -> list[Check]:
    """All that the question itself can say: its labels, its domain, and every estimate."""
    name = judge.record.design.question.type
    if name in OURS:
        return _recheck(name, text, judge)
    try:
        whose = str(origin_of(name))
    except InvalidInput as error:
        return [vital(unchecked(ANSWER, name, f"no code that is installed here judges them: {error}"))]
    seconds, last = max(LEAST, judge.effort.seconds), judge.last
    checks = _mistrusted(ANSWER, whose, seconds, lambda: _recheck(name, text, judge))
    judge.last = {part: partial(_mistrusted, part, whose, seconds, each) for part, each in last.items()}
    return [unchecked("who judged the answer", whose, THEIRS.format(whose)), *checks]


def _recheck(name: str, text: str, judge: Judge) -> list[Check]:
    """What the module says of a record that is parsed for it alone."""
    checks: list[Check] = import_module(f"{folder_of(name)}.recheck").recheck(embedded_json(text), judge)
    return checks


def _mistrusted(part: str, whose: str, seconds: float, checks: Part) -> list[Check]:
    """What is none of the lines of a verification says nothing, and neither do none at all. Code
    that does not come back is left to itself, and what it prints is none of the answer.
    """
    said: list[Check] = []
    why = f"took more than {seconds:g} seconds"

    def listen() -> None:
        nonlocal why
        try:
            found = checks()
            right = type(found) is list and all(map(_is_check, found))
            said.extend(found if right else [])
            why = "returned something other than checks"
        except BaseException as error:  # SystemExit, and any other that a stranger thinks of
            why = f"broke down: {printable(format_exception_only(error)[-1].strip()[:80])}"

    with redirect_stdout(sys.stderr):
        listener = Thread(target=listen, daemon=True)
        listener.start()
        listener.join(seconds)
    return (
        [*said] if said and not listener.is_alive() else [vital(unchecked(part, "", f"the recheck of {whose} {why}"))]
    )


def _is_check(each: object) -> bool:
    if type(each) is not Check:
        return False
    line: Any = each  # whatever its fields are declared to be, a stranger filled them
    if type(line.outcome) is not str or line.outcome not in get_args(Outcome) or type(line.vital) is not bool:
        return False
    texts = (line.what, line.claimed, line.found, line.how)
    if line.what == PAGE:
        return False
    return all(type(words) is str and len(words) <= LONGEST and words.isprintable() for words in texts)
