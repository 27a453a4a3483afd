"""Votes in, numbers out: values, standard errors, limits of each and of all at once."""

from __future__ import annotations

import inspect
import sys
from types import CodeType, FrameType, ModuleType
from typing import Any

import pytest

from shuffledp.domain import ENCODINGS
from shuffledp.mechanisms import (
    exact_limits,
    fakes,
    levels,
    rows,
    shares,
    tree,
)
from tests.pins import asked
from tests.pins.pinned import Pin, expect, of_errors, pins

PINS = pins("estimates")
EXACT = (exact_limits, rows, shares, fakes, levels, tree)
# Lines that no right answer needs: refusals, and planning.
EXCUSED = ("raise ", 'f"', "usual = sent", "numbers = each")
PLANNING = ("checked_levels", "level_sizes", "tree_shapes", "of_levels", "best_levels")
CHOSEN = ("calibrate", "calibrated", "best", "of_shape", "worst")  # methods that look for noise


@pytest.mark.parametrize("pin", PINS, ids=lambda pin: pin["id"])
def test_votes_give_the_same_numbers(pin: Pin) -> None:
    expect(pin, asked.estimated(pin, pin["tallies"]), of_errors(pin["found"]))


def test_every_question_and_mechanism_is_among_them() -> None:
    kinds = {(pin["question"]["ask"], pin.get("mechanism", {}).get("name", "search")) for pin in PINS}
    assert kinds >= {*asked.ASKED} - {(ask, "") for ask, _ in asked.ASKED} | {("top", "search"), ("quantile", "levels")}
    assert kinds >= {("histogram", name) for name in ("krr", *ENCODINGS)}
    assert {len(pin["tallies"]) for pin in PINS if pin["question"]["ask"] != "top"} == {1, 3}
    assert sum("honest" in pin for pin in PINS) >= 8
    assert len(PINS) >= 60


def test_every_line_of_the_exact_laws_is_executed() -> None:
    """No pin means much for a branch that none of them takes."""
    seen = executed([module.__file__ for module in EXACT if module.__file__])
    missed = []
    for module in EXACT:
        text = inspect.getsource(module).splitlines()
        for code in functions_of(module):
            if code.co_qualname in PLANNING or code.co_name in CHOSEN:
                continue
            lines = {line for _, _, line in code.co_lines() if line and line > code.co_firstlineno}
            left = {line: text[line - 1].strip() for line in lines - seen.get(code.co_filename, set())}
            missed += [
                f"{module.__name__}:{line} {said}" for line, said in left.items() if not said.startswith(EXCUSED)
            ]
    assert not missed, "\n".join(missed)


def executed(files: list[str]) -> dict[str, set[int]]:
    """The lines of these files that the pins run."""
    seen: dict[str, set[int]] = {file: set() for file in files}

    def line(frame: FrameType, *_: object) -> Any:
        seen[frame.f_code.co_filename].add(frame.f_lineno)
        return line

    def call(frame: FrameType, *_: object) -> Any:
        return line(frame) if frame.f_code.co_filename in seen else None

    before = sys.gettrace()
    exact_limits.noise_above.cache_clear()
    sys.settrace(call)
    try:
        for pin in PINS:
            asked.estimated(pin, pin["tallies"])
    finally:
        sys.settrace(before)
    return seen


def functions_of(module: ModuleType) -> list[CodeType]:
    """The code of every function and method that a module defines."""

    def inside(code: CodeType) -> list[CodeType]:
        own = [each for each in code.co_consts if isinstance(each, CodeType)]
        return [each for part in own for each in (part, *inside(part))]

    file = str(module.__file__)
    every = inside(compile(inspect.getsource(module), file, "exec"))
    return [code for code in every if code.co_flags & inspect.CO_OPTIMIZED]  # a class body is none
