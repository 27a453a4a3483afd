"""The recheck of a question, found by the exact name that the design has. Where another
distribution wrote it, it is code of a stranger: whatever goes wrong in it, and whatever it returns,
no page passes by it, and it is named with its package.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from traceback import format_exception_only
from typing import get_args

from shuffledp.errors import InvalidInput
from shuffledp.questions import OURS, folder_of, origin_of
from shuffledp.record import embedded_json
from shuffledp.verify.handed import Judge, Part
from shuffledp.verify.outcomes import Check, Outcome, unchecked, vital

ANSWER = "the estimates"
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
    checks = _mistrusted(ANSWER, whose, lambda: _recheck(name, text, judge))
    judge.last = {part: partial(_mistrusted, part, whose, each) for part, each in judge.last.items()}
    return [unchecked("who judged the answer", whose, THEIRS.format(whose)), *checks]


def _recheck(name: str, text: str, judge: Judge) -> list[Check]:
    """What the module says of a record that is parsed for it alone."""
    checks: list[Check] = import_module(f"{folder_of(name)}.recheck").recheck(embedded_json(text), judge)
    return checks


def _mistrusted(part: str, whose: str, checks: Part) -> list[Check]:
    """What is none of the lines of a verification says nothing, and neither do none at all."""
    try:
        found = checks()
        if isinstance(found, list) and found and all(map(_is_check, found)):
            return found
        why = "returned something other than checks"
    except (Exception, SystemExit) as error:
        why = f"broke down: {format_exception_only(error)[-1].strip()[:80]}"
    return [vital(unchecked(part, "", f"the recheck of {whose} {why}"))]


def _is_check(each: object) -> bool:
    if type(each) is not Check or each.outcome not in get_args(Outcome):
        return False
    return all(type(words) is str for words in (each.what, each.claimed, each.found, each.how))
